// Tello's loops against its published constraints.

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <string_view>

#include "kempe/configuration.hpp"
#include "kempe/robots.hpp"

namespace kempe {
namespace {

using std::cos;
using std::sin;
using std::numbers::pi;
using Positions = std::map<std::string, double>;

constexpr double kGear = 6.0;
const std::array<std::string, 2> kLegs{"left-", "right-"};

/// φ of hip rod 1 (sign = −1) or 2 (sign = +1), as published: crank y, gimbal p, thigh r.
double publishedHip(double sign, double y, double p, double r) {
  return 0.0228 * sin(y) - 0.0098 * cos(p) + sign * 0.01995 * sin(p) - 0.0128 * cos(y) * cos(r) -
         0.0228 * cos(p) * sin(r) + sign * 0.0112 * sin(y) * sin(p) -
         sign * 0.0112 * sin(p) * sin(r) - 0.0128 * cos(p) * sin(y) * sin(r) + 0.01888125;
}

/// φ of the ankle, as published: motor outputs y1 and y2, ankle f.
double publishedAnkle(double y1, double y2, double f) {
  const double beta = (y1 - y2) / 2;
  return 0.00336 * cos(beta + 1979 * pi / 4500) - 0.0208 * cos(beta + 493 * pi / 1500) -
         0.02184 * cos(pi / 9) - 0.0028 * sin(beta + f + 231 * pi / 500) +
         0.0182 * sin(f + 2 * pi / 15) - 0.00294 * sin(f + pi / 45) + 0.02613584;
}

/// Where a point of a body is in the frame of a body above it.
Vector3 pointIn(const Mechanism& robot, const std::string& ancestor, std::string body,
                Vector3 point, const Positions& q) {
  while (body != ancestor) {
    const Joint& joint = *robot.jointAbove(body);
    point = joint.origin.point(rotationFromVector(q.at(joint.name) * joint.axis) * point);
    body = joint.parent;
  }
  return point;
}

double residual(const Coupling& coupling, const Positions& q) {
  double sum = -coupling.offset;
  for (const Coupling::Term& term : coupling.terms) {
    sum += term.coefficient * q.at(term.coordinate.joint);
  }
  return sum;
}

const Coupling& couplingNamed(const Mechanism& robot, std::string_view name) {
  return *std::ranges::find(robot.couplings, name, &Coupling::name);
}

class TelloLoops : public ::testing::Test {
 protected:
  double angle() { return angle_(generator_); }

  const Mechanism robot_ = robots::tello();
  std::mt19937 generator_{1};
  std::uniform_real_distribution<double> angle_{-pi, pi};
};

TEST_F(TelloLoops, HipRodsAreThePublishedConstraint) {
  ASSERT_EQ(robot_.rods.size(), 4u);
  for (const std::string& leg : kLegs) {
    for (const auto& [number, sign] : {std::pair{"1", -1.0}, std::pair{"2", 1.0}}) {
      const auto rod = std::ranges::find(robot_.rods, leg + "hip-rod-" + number, &Rod::name);
      ASSERT_NE(rod, robot_.rods.end());
      for (int trial = 0; trial < 100; ++trial) {
        const double y = angle(), p = angle(), r = angle();
        const std::string clamp = leg + "hip-clamp";
        const Positions q{{clamp + "-to-hip-crank-" + number, y},
                          {clamp + "-to-gimbal", p},
                          {leg + "gimbal-to-thigh", r}};
        const Vector3 a = pointIn(robot_, clamp, rod->predecessor.body, rod->predecessor.point, q);
        const Vector3 b = pointIn(robot_, clamp, rod->successor.body, rod->successor.point, q);
        EXPECT_NEAR(dot(a - b, a - b) - rod->length * rod->length, publishedHip(sign, y, p, r),
                    1e-15);
      }
    }
  }
}

TEST_F(TelloLoops, EachHipMotorTurnsItsCrankThroughAGear) {
  for (const std::string& leg : kLegs) {
    for (const char* number : {"1", "2"}) {
      const Coupling& gear = couplingNamed(robot_, leg + "hip-transmission-" + number);
      const double y = angle();
      const Positions q{{leg + "hip-clamp-to-hip-crank-" + number, y},
                        {leg + "hip-clamp-to-hip-rotor-" + number, kGear * y}};
      ASSERT_EQ(gear.terms.size(), 2u);
      EXPECT_NEAR(residual(gear, q), 0.0, 1e-14);
    }
  }
}

TEST_F(TelloLoops, KneeIsTheMeanOfItsMotors) {
  for (const std::string& leg : kLegs) {
    const Coupling& knee = couplingNamed(robot_, leg + "knee-differential");
    const double y1 = angle(), y2 = angle();
    const Positions q{{leg + "thigh-to-knee-ankle-rotor-1", kGear * y1},
                      {leg + "thigh-to-knee-ankle-rotor-2", kGear * y2},
                      {leg + "thigh-to-shin", (y1 + y2) / 2}};
    ASSERT_EQ(knee.terms.size(), 3u);
    EXPECT_NEAR(residual(knee, q), 0.0, 1e-13);
  }
}

TEST_F(TelloLoops, AnkleIsThePublishedConstraint) {
  ASSERT_EQ(robot_.functions.size(), 2u);
  for (const Function& ankle : robot_.functions) {
    for (int trial = 0; trial < 100; ++trial) {
      const double y1 = angle(), y2 = angle(), f = angle();
      const std::array<double, 3> q{kGear * y1, kGear * y2, f};
      double phi = NAN;
      ankle.value(q, {&phi, 1});
      EXPECT_NEAR(phi, publishedAnkle(y1, y2, f), 1e-15);
    }
  }
}

TEST_F(TelloLoops, AnkleDerivativesEqualDifferences) {
  const Function& ankle = robot_.functions.front();
  const std::array<double, 3> q{0.7, -1.1, 0.3}, direction{1.3, -0.4, 0.9};
  const auto valueAt = [&](double t) {
    std::array<double, 3> moved{};
    for (std::size_t i = 0; i < 3; ++i) {
      moved[i] = q[i] + t * direction[i];
    }
    double phi = NAN;
    ankle.value(moved, {&phi, 1});
    return phi;
  };
  std::array<Jet, 3> jets{};
  for (std::size_t i = 0; i < 3; ++i) {
    jets[i] = Jet(q[i], direction[i], 0.0);
  }
  Jet phi;
  ankle.jet(jets, {&phi, 1});
  const double h = 1e-4;
  EXPECT_NEAR(phi.value, valueAt(0), 1e-16);
  EXPECT_NEAR(phi.first, (valueAt(h) - valueAt(-h)) / (2 * h), 1e-9);
  EXPECT_NEAR(phi.second, (valueAt(h) - 2 * valueAt(0) + valueAt(-h)) / (h * h), 1e-8);
}

TEST_F(TelloLoops, RandomConfigurationsClose) {
  const Model model(robot_);
  ASSERT_EQ(model.nv(), 24);
  Data data(model);
  Eigen::VectorXd span(model.nqSpanning()), open(model.nLoopRows());
  const auto position = [&](const std::string& joint) {
    return span[model.jointPositionIndex(joint)];
  };
  double spread = 0.0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Eigen::VectorXd q = model.randomConfiguration(seed);
    span.setConstant(NAN);
    open.setConstant(NAN);
    loopResidual(model, data, q, open);
    spanningPositions(model, data, q, span);
    ASSERT_LE(open.cwiseAbs().maxCoeff(), 1e-12) << "seed " << seed;
    for (const std::string& leg : kLegs) {
      const std::string clamp = leg + "hip-clamp-to-", thigh = leg + "thigh-to-";
      const double p = position(clamp + "gimbal"), r = position(leg + "gimbal-to-thigh");
      const double hip1 = position(clamp + "hip-rotor-1") / kGear;
      const double hip2 = position(clamp + "hip-rotor-2") / kGear;
      ASSERT_NEAR(publishedHip(-1, hip1, p, r), 0.0, 1e-12) << "seed " << seed;
      ASSERT_NEAR(publishedHip(+1, hip2, p, r), 0.0, 1e-12) << "seed " << seed;
      const double y1 = position(thigh + "knee-ankle-rotor-1") / kGear;
      const double y2 = position(thigh + "knee-ankle-rotor-2") / kGear;
      ASSERT_NEAR(position(thigh + "shin"), (y1 + y2) / 2, 1e-12) << "seed " << seed;
      ASSERT_NEAR(publishedAnkle(y1, y2, position(leg + "shin-to-foot")), 0.0, 1e-12)
          << "seed " << seed;
      spread = std::max({spread, std::abs(p), std::abs(r), std::abs(hip1), std::abs(y1)});
    }
  }
  // They are not all the neutral one.
  EXPECT_GT(spread, 0.3);
}

}  // namespace
}  // namespace kempe
