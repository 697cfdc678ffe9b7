#include "flexible/beam_testing.hpp"

namespace kempe::test {
namespace {

/// A beam along x as thousands of points, moved by the displacements and turns of its nodes and by
/// nothing else of the reduced body: the integrals by summation.
class PointCloud {
 public:
  PointCloud(const BeamOptions& beam, const FlexibleBody& body, int perElement)
      : beam_(beam), body_(body), perElement_(perElement) {}

  struct Sums {
    double mass = 0.0;
    Eigen::Vector3d moment = Eigen::Vector3d::Zero();
    Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
    std::vector<Eigen::Vector3d> linear{}, angular{};  // momenta of a unit η̇_i
  };

  [[nodiscard]] Sums at(const Eigen::VectorXd& eta) const {
    const auto n = static_cast<std::size_t>(eta.size());
    const auto rest = points(eta);
    std::vector<std::vector<Point>> rates;
    for (Eigen::Index i = 0; i < eta.size(); ++i) {
      // Displacements are of second degree in η, so that central differences are exact.
      const Eigen::VectorXd step = Eigen::VectorXd::Unit(eta.size(), i);
      auto ahead = points(eta + step);
      const auto behind = points(eta - step);
      for (std::size_t k = 0; k < ahead.size(); ++k) {
        ahead[k].position = 0.5 * (ahead[k].position - behind[k].position);
      }
      rates.push_back(std::move(ahead));
    }
    Sums sums;
    sums.linear.assign(n, Eigen::Vector3d::Zero());
    sums.angular = sums.linear;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      const auto& [m, p] = rest[k];
      sums.mass += m;
      sums.moment += m * p;
      sums.inertia += m * (p.squaredNorm() * Eigen::Matrix3d::Identity() - p * p.transpose());
      for (std::size_t i = 0; i < n; ++i) {
        sums.linear[i] += m * rates[i][k].position;
        sums.angular[i] += m * p.cross(rates[i][k].position);
      }
    }
    return sums;
  }

 private:
  struct Point {
    double mass;
    Eigen::Vector3d position;
  };

  [[nodiscard]] std::vector<Point> points(const Eigen::VectorXd& eta) const {
    std::vector<Point> result;
    const double L = beam_.length / beam_.elements, dx = L / perElement_;
    double shortened = 0.0;
    for (int element = 0; element < beam_.elements; ++element) {
      Eigen::Vector3d t[2], turn[2];
      for (int end = 0; end < 2; ++end) {
        t[end] = turn[end] = Eigen::Vector3d::Zero();
        const FlexibleNode& node = body_.nodes[static_cast<std::size_t>(element + end)];
        for (Eigen::Index i = 0; i < eta.size(); ++i) {
          const NodeShape& shape = node.shapes[static_cast<std::size_t>(i)];
          t[end] += eta[i] * eigen(shape.translation);
          turn[end] += eta[i] * eigen(shape.rotation);
        }
      }
      for (int k = 0; k < perElement_; ++k) {
        const double s = (k + 0.5) / perElement_, x = (element + s) * L;
        // Cubic between deflections and slopes of the ends; the slope towards z turns about −y.
        const auto cubic = [&](int axis, const Eigen::Vector2d& slopes, bool derivative) {
          const double a = t[0][axis], b = t[1][axis], p = slopes[0] * L, q = slopes[1] * L;
          const double c2 = 3 * (b - a) - 2 * p - q, c3 = 2 * (a - b) + p + q;
          return derivative ? (p + s * (2 * c2 + 3 * s * c3)) / L : a + s * (p + s * (c2 + s * c3));
        };
        const Eigen::Vector2d slopesY(turn[0].z(), turn[1].z()),
            slopesZ(-turn[0].y(), -turn[1].y());
        const double slopeY = cubic(1, slopesY, true), slopeZ = cubic(2, slopesZ, true);
        const double bend = beam_.stiffening ? slopeY * slopeY + slopeZ * slopeZ : 0.0;
        shortened += 0.25 * dx * bend;  // half of this interval: up to its middle
        const Eigen::Vector3d center(x + (1 - s) * t[0].x() + s * t[1].x() - shortened,
                                     cubic(1, slopesY, false), cubic(2, slopesZ, false));
        shortened += 0.25 * dx * bend;
        const Eigen::Vector3d angle((1 - s) * turn[0].x() + s * turn[1].x(), -slopeZ, slopeY);
        const auto [area, Iy, Iz] = section(x / beam_.length);
        const double y = std::sqrt(Iz / area), z = std::sqrt(Iy / area);
        for (const auto& [i, j] : {std::pair{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}) {
          const Eigen::Vector3d arm(0.0, i * y, j * z);
          result.push_back({0.25 * beam_.density * area * dx, center + arm + angle.cross(arm)});
        }
      }
    }
    return result;
  }

  [[nodiscard]] std::array<double, 3> section(double place) const {
    if (beam_.sections.empty()) {
      return {beam_.area, beam_.Iy, beam_.Iz};
    }
    const BeamSection &a = beam_.sections[0], &b = beam_.sections[1];
    return {a.area + place * (b.area - a.area), a.Iy + place * (b.Iy - a.Iy),
            a.Iz + place * (b.Iz - a.Iz)};
  }

  const BeamOptions& beam_;
  const FlexibleBody& body_;
  int perElement_;
};

void expectIntegrals(const BeamOptions& beam) {
  const FlexibleBody body = reduceBeam("rod", beam);
  const PointCloud cloud(beam, body, 400);
  const std::size_t n = body.modes.size();
  Eigen::VectorXd eta(beam.modes);
  for (int i = 0; i < beam.modes; ++i) {
    eta[i] = 1e-5 * std::sin(2.0 * i + 1.0);  // some direction, as far as 0.01 mm
  }
  const auto rest = cloud.at(Eigen::VectorXd::Zero(beam.modes));
  const auto plus = cloud.at(eta), minus = cloud.at(-eta);
  const double size = eta.norm();
  constexpr double kTolerance = 2e-5;  // of the summation, and of higher powers of η
  const auto expectNear = [&](const auto& found, const auto& expected, double scale) {
    EXPECT_LT((found - expected).norm(), kTolerance * scale) << "found\n"
                                                             << found << "\nexpected\n"
                                                             << expected;
  };
  EXPECT_NEAR(body.rigid.mass, rest.mass, kTolerance * rest.mass);
  expectNear(eigen(body.rigid.moment), rest.moment, rest.moment.norm());
  expectNear(eigen(body.rigid.rotation), rest.inertia, rest.inertia.norm());
  // Odd and even parts in η: the first-order and second-order terms of (2) to (4).
  Eigen::Vector3d h1 = Eigen::Vector3d::Zero(), h2 = h1;
  Eigen::Matrix3d J1 = Eigen::Matrix3d::Zero(), J2 = J1;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = eta[static_cast<Eigen::Index>(i)];
    h1 += a * eigen(body.modes[i].linear);
    J1 += a * eigen(body.modes[i].inertia);
    Eigen::Vector3d linear = Eigen::Vector3d::Zero(), angular = linear;
    for (std::size_t j = 0; j < n; ++j) {
      const double b = eta[static_cast<Eigen::Index>(j)];
      const ModePair& pair = body.pairs[i * n + j];
      h2 += 0.5 * a * b * eigen(pair.linear);
      J2 += 0.5 * a * b * eigen(pair.inertia);
      linear += b * eigen(pair.linear);
      angular += b * eigen(pair.angular);
    }
    expectNear(eigen(body.modes[i].linear), rest.linear[i], 1.0);
    expectNear(eigen(body.modes[i].angular), rest.angular[i], 1.0);
    expectNear(linear, 0.5 * (plus.linear[i] - minus.linear[i]), size + linear.norm());
    expectNear(angular, 0.5 * (plus.angular[i] - minus.angular[i]), size + angular.norm());
  }
  expectNear(h1, 0.5 * (plus.moment - minus.moment), size + h1.norm());
  expectNear(h2, 0.5 * (plus.moment + minus.moment) - rest.moment, size * size + h2.norm());
  expectNear(J1, 0.5 * (plus.inertia - minus.inertia), 0.1 * size + J1.norm());
  expectNear(J2, 0.5 * (plus.inertia + minus.inertia) - rest.inertia,
             0.1 * size * size + J2.norm());
  EXPECT_EQ(h2.norm() > 0.0, beam.stiffening);
}

BeamOptions stubbyBar() {
  BeamOptions beam = slenderBar();
  beam.length = 0.2;  // so that rotary inertia matters
  beam.modes = 12;    // also torsion and stretching
  beam.elements = 4;
  return beam;
}

TEST(BeamIntegrals, OfACantileverAreThoseOfItsPoints) {
  expectIntegrals(stubbyBar());
}

TEST(BeamIntegrals, WithoutStiffeningAreThoseOfItsPoints) {
  BeamOptions beam = stubbyBar();
  beam.stiffening = false;
  expectIntegrals(beam);
}

TEST(BeamIntegrals, OfAFreeBeamAreThoseOfItsPoints) {
  BeamOptions beam = stubbyBar();
  beam.fixed = "none";
  expectIntegrals(beam);
}

TEST(BeamIntegrals, OfATaperedBeamWithAnInterfaceAreThoseOfItsPoints) {
  BeamOptions beam = stubbyBar();
  beam.interface = {"end"};
  beam.sections = {{2e-4, 2e-9, 7e-9}, {1e-4, 1e-9, 1e-9}};
  expectIntegrals(beam);
}

TEST(BeamIntegrals, OfTheRigidBeamAreThoseOfABar) {
  const BeamOptions beam = slenderBar();
  const FlexibleBody body = reduceBeam("rod", beam);
  const double m = beam.density * beam.area * beam.length, L = beam.length;
  EXPECT_NEAR(body.rigid.mass, m, 1e-12);
  EXPECT_NEAR(body.rigid.moment.x, 0.5 * m * L, 1e-12);
  EXPECT_NEAR(body.rigid.rotation.xx, beam.density * (beam.Iy + beam.Iz) * L, 1e-12);
  EXPECT_NEAR(body.rigid.rotation.yy, m * L * L / 3 + beam.density * beam.Iy * L, 1e-12);
  EXPECT_NEAR(body.rigid.rotation.zz, m * L * L / 3 + beam.density * beam.Iz * L, 1e-12);
}

TEST(BeamIntegrals, NodesAreShortenedByTheSquareOfTheSlope) {
  // Along the parabola that a static moment at the end makes, w = a x², the end is 2/3 a² L³ nearer.
  BeamOptions beam = slenderBar();
  beam.interface = {"end"};
  const FlexibleBody body = reduceBeam("rod", beam);
  const FlexibleNode& end = body.nodes.back();
  const std::size_t n = body.modes.size();
  const double a = 0.02, moment = 2 * a * beam.E * beam.Iz;
  std::vector<double> eta;
  for (std::size_t i = 0; i < n; ++i) {
    eta.push_back(end.shapes[i].rotation.z * moment / body.modes[i].stiffness);
  }
  Vec3<double> moved{};
  for (std::size_t i = 0; i < n; ++i) {
    moved += eta[i] * end.shapes[i].translation;
    for (std::size_t j = 0; j < n; ++j) {
      moved += (0.5 * eta[i] * eta[j]) * end.shortening[i * n + j];
      EXPECT_EQ(end.shortening[i * n + j], end.shortening[j * n + i]);
    }
  }
  EXPECT_NEAR(moved.y, a, 1e-9 * a);
  EXPECT_NEAR(moved.x, -2.0 / 3.0 * a * a, 1e-9 * a * a);
}

}  // namespace
}  // namespace kempe::test
