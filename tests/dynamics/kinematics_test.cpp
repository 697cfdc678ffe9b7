#include "kempe/kinematics.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/projected_oracle.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;

Eigen::Vector3d asVector(const Vec3<double>& x) {
  return {x.x, x.y, x.z};
}

class KinematicsOfEveryMechanism : public ::testing::TestWithParam<MechanismCase> {
 protected:
  KinematicsOfEveryMechanism()
      : model(randomMechanism(GetParam())), data(model), oracle(model), engine_(GetParam().seed) {
    q = model.randomConfiguration(21);
    v = randomVector();
    a = randomVector();
    oracle.set(q, v);
  }

  Eigen::VectorXd randomVector() {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    return Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine_); });
  }

  /// Takes [linear; angular] in LocalWorldAligned of a body to another reference.
  Matrix6 change(const std::string& body, Reference reference) const {
    const Frame<double> X = oracle.oracle.placement(body, oracle.positions);
    Eigen::Matrix3d R;
    Eigen::Vector3d p;
    for (int i = 0; i < 3; ++i) {
      p[i] = X.p[static_cast<std::size_t>(i)];
      for (int j = 0; j < 3; ++j) {
        R(i, j) = X.R[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      }
    }
    Matrix6 M = Matrix6::Identity();
    if (reference == Reference::Local) {
      M.topLeftCorner<3, 3>() = M.bottomRightCorner<3, 3>() = R.transpose();
    } else if (reference == Reference::World) {
      // v at the world's origin = ṗ − ω × p = ṗ + p × ω
      M.topRightCorner<3, 3>() << 0, -p.z(), p.y(), p.z(), 0, -p.x(), -p.y(), p.x(), 0;
    }
    return M;
  }

  std::vector<std::string> bodies() const {
    std::vector<std::string> names;
    for (const Body& body : model.mechanism().bodies) {
      names.push_back(body.name);
    }
    return names;
  }

  Model model;
  Data data;
  ProjectedOracle oracle;
  Eigen::VectorXd q, v, a;

 private:
  std::mt19937_64 engine_;
};

TEST_P(KinematicsOfEveryMechanism, PlacementsEqualTheOracles) {
  std::vector<Transform<double>> placements(model.frameNames().size());
  forwardKinematics(model, data, q, placements);
  for (const std::string& body : bodies()) {
    const int frame = model.frameIndex(body);
    const Frame<double> expected = oracle.oracle.placement(body, oracle.positions);
    for (const Transform<double>& X :
         {framePlacement(model, data, q, frame), placements[static_cast<std::size_t>(frame)]}) {
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(X.p[i], expected.p[static_cast<std::size_t>(i)], 1e-12) << body;
        for (int j = 0; j < 3; ++j) {
          EXPECT_NEAR(X.R(i, j),
                      expected.R[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], 1e-12)
              << body;
        }
      }
    }
  }
}

TEST_P(KinematicsOfEveryMechanism, JacobiansEqualTheOraclesInEveryReference) {
  for (const std::string& body : bodies()) {
    const int frame = model.frameIndex(body);
    const Eigen::MatrixXd expected = oracle.jacobian(body);
    for (const Reference reference :
         {Reference::LocalWorldAligned, Reference::Local, Reference::World}) {
      Eigen::MatrixXd J = poisoned(6, model.nv());
      frameJacobian(model, data, q, frame, J, reference);
      EXPECT_TRUE(closeTo(J, (change(body, reference) * expected).eval(), 1e-11)) << body;
      Eigen::VectorXd velocity = poisoned(6);
      frameVelocity(model, data, q, v, frame, velocity, reference);
      EXPECT_TRUE(closeTo(velocity, (J * v).eval(), 1e-11)) << body;
    }
  }
}

TEST_P(KinematicsOfEveryMechanism, AccelerationsEqualTheOracles) {
  const auto frames = static_cast<Eigen::Index>(model.frameNames().size());
  std::vector<Transform<double>> placements(model.frameNames().size());
  Eigen::MatrixXd velocities = poisoned(6, static_cast<int>(frames)), accelerations = velocities;
  forwardKinematics(model, data, q, v, a, placements, velocities, accelerations);
  for (const std::string& body : bodies()) {
    const int frame = model.frameIndex(body);
    const Eigen::VectorXd expected = oracle.jacobian(body) * a + oracle.jacobianRate(body);
    Eigen::VectorXd actual = poisoned(6), rate = poisoned(6);
    frameAcceleration(model, data, q, v, a, frame, actual);
    EXPECT_TRUE(closeTo(actual, expected, 1e-9)) << body;
    EXPECT_TRUE(closeTo(accelerations.col(frame), expected, 1e-9)) << body;
    EXPECT_TRUE(closeTo(velocities.col(frame), (oracle.jacobian(body) * v).eval(), 1e-10));
    frameJacobianRate(model, data, q, v, frame, rate);
    EXPECT_TRUE(closeTo(rate, oracle.jacobianRate(body), 1e-9)) << body;
  }
}

TEST_P(KinematicsOfEveryMechanism, AccelerationIsTheRateOfVelocityInEveryReference) {
  constexpr double kStep = 1e-5;
  const std::string body = bodies().back();
  const int frame = model.frameIndex(body);
  for (const Reference reference :
       {Reference::LocalWorldAligned, Reference::Local, Reference::World}) {
    Eigen::VectorXd ahead = poisoned(6), behind = poisoned(6), rate = poisoned(6),
                    moved(model.nq());
    integrate(model, data, q, v, kStep, moved);
    frameVelocity(model, data, moved, v, frame, ahead, reference);
    integrate(model, data, q, v, -kStep, moved);
    frameVelocity(model, data, moved, v, frame, behind, reference);
    frameJacobianRate(model, data, q, v, frame, rate, reference);
    EXPECT_TRUE(closeTo(((ahead - behind) / (2 * kStep)).eval(), rate,
                        1e-5 * (1.0 + std::pow(oracle.rates.cwiseAbs().maxCoeff(), 3))))
        << body;
  }
}

TEST_P(KinematicsOfEveryMechanism, MomentumAndEnergyEqualTheOracles) {
  double mass = 0.0;
  Eigen::Vector3d moment = Eigen::Vector3d::Zero();
  Eigen::MatrixXd linear = Eigen::MatrixXd::Zero(3, model.nv()), angular = linear;
  for (const Body& body : model.mechanism().bodies) {
    const Oracle::Motion m = oracle.oracle.motion(body.name, asVector(body.centerOfMass),
                                                  oracle.positions, oracle.rates);
    if (m.linear.isZero() && m.angular.isZero()) {
      continue;  // fixed to the world
    }
    const SymMat3<double>& s = body.inertia;
    Eigen::Matrix3d I;
    I << s.xx, s.xy, s.xz, s.xy, s.yy, s.yz, s.xz, s.yz, s.zz;
    mass += body.mass;
    moment += body.mass * m.p;
    linear += body.mass * m.linear * oracle.G;
    for (int j = 0; j < model.nv(); ++j) {
      const Eigen::Vector3d p = body.mass * m.linear * oracle.G.col(j);
      angular.col(j) += m.p.cross(p) + m.R * I * m.R.transpose() * (m.angular * oracle.G.col(j));
    }
  }
  const Eigen::Vector3d center = moment / mass;
  Eigen::MatrixXd expected(6, model.nv());
  expected << linear, angular;
  for (int j = 0; j < model.nv(); ++j) {
    expected.col(j).tail<3>() -= center.cross(Eigen::Vector3d(linear.col(j)));
  }
  EXPECT_TRUE(closeTo(asVector(centerOfMass(model, data, q)), center, 1e-12));
  Eigen::MatrixXd A = poisoned(6, model.nv());
  centroidalMomentumMatrix(model, data, q, A);
  EXPECT_TRUE(closeTo(A, expected, 1e-11));
  Eigen::VectorXd h = poisoned(6);
  momentum(model, data, q, v, h);
  EXPECT_TRUE(closeTo(h, (A * v).eval(), 1e-11));

  const Energy e = energy(model, data, q, v);
  EXPECT_NEAR(e.kinetic, 0.5 * v.dot(oracle.massMatrix() * v), 1e-11 * (1 + e.kinetic));
  const Vector3& g = model.gravity();
  EXPECT_NEAR(e.potential,
              oracle.oracle.springEnergy(oracle.positions) -
                  mass * center.dot(Eigen::Vector3d(g.x, g.y, g.z)),
              1e-11 * (1 + std::abs(e.potential)));
}

TEST_P(KinematicsOfEveryMechanism, CoriolisMatrixGivesTheBiasAndIsSkew) {
  const int n = model.nv();
  Eigen::MatrixXd C = poisoned(n, n);
  coriolisMatrix(model, data, q, v, C);
  // C v + gravity and springs + resistance = bias
  Eigen::VectorXd h = poisoned(n), gravity = poisoned(n);
  biasForces(model, data, q, v, h);
  gravityForces(model, data, q, gravity);
  const Eigen::VectorXd resistance = oracle.G.transpose() * oracle.resistance;
  EXPECT_TRUE(closeTo((C * v + gravity + resistance).eval(), h, 1e-10));
  // Ḣ by differences along v
  constexpr double kStep = 1e-5;
  Eigen::MatrixXd ahead = poisoned(n, n), behind = poisoned(n, n);
  Eigen::VectorXd moved(model.nq());
  integrate(model, data, q, v, kStep, moved);
  massMatrix(model, data, moved, ahead);
  integrate(model, data, q, v, -kStep, moved);
  massMatrix(model, data, moved, behind);
  const Eigen::MatrixXd rate = (ahead - behind) / (2 * kStep);
  EXPECT_TRUE(closeTo((rate - C - C.transpose()).eval(), Eigen::MatrixXd::Zero(n, n),
                      1e-6 * (1.0 + rate.cwiseAbs().maxCoeff()) *
                          (1.0 + std::pow(oracle.rates.cwiseAbs().maxCoeff(), 2))));
}

TEST_P(KinematicsOfEveryMechanism, OperationalInertiaIsJHinverseJ) {
  std::vector<int> frames;
  Eigen::MatrixXd J(0, model.nv());
  const std::vector<std::string> names = bodies();
  for (std::size_t i = 0; i < names.size(); i += 3) {
    frames.push_back(model.frameIndex(names[i]));
    J.conservativeResize(J.rows() + 6, model.nv());
    J.bottomRows<6>() = oracle.jacobian(names[i]);
  }
  const int k = static_cast<int>(J.rows());
  Eigen::MatrixXd Omega = poisoned(k, k);
  inverseOperationalInertia(model, data, q, frames, Omega);
  const Eigen::MatrixXd expected = J * solveDefinite(oracle.massMatrix(), J.transpose());
  EXPECT_TRUE(closeTo(Omega, expected, 1e-9));
  EXPECT_EQ(Omega, Omega.transpose());
  for (const Method method : {Method::Projection, Method::Lagrange}) {
    Eigen::MatrixXd other = poisoned(k, k);
    inverseOperationalInertia(model, data, q, frames, other, Reference::LocalWorldAligned, method);
    EXPECT_TRUE(closeTo(other, expected, 1e-8));
    const long allocations = allocationsOf([&] {
      inverseOperationalInertia(model, data, q, frames, other, Reference::LocalWorldAligned,
                                method);
    });
    EXPECT_EQ(allocations, 0);
  }
  const long count =
      allocationsOf([&] { inverseOperationalInertia(model, data, q, frames, Omega); });
  EXPECT_EQ(count, 0);
}

TEST_P(KinematicsOfEveryMechanism, AllocatesNothing) {
  const int n = model.nv(), frame = 0;
  std::vector<Transform<double>> placements(model.frameNames().size());
  Eigen::MatrixXd velocities(6, placements.size()), accelerations = velocities, J(6, n), C(n, n);
  Eigen::VectorXd six(6);
  const auto evaluate = [&] {
    forwardKinematics(model, data, q, placements);
    forwardKinematics(model, data, q, v, a, placements, velocities, accelerations);
    frameJacobian(model, data, q, frame, J);
    frameVelocity(model, data, q, v, frame, six);
    frameAcceleration(model, data, q, v, a, frame, six);
    frameJacobianRate(model, data, q, v, frame, six);
    (void)framePlacement(model, data, q, frame);
    (void)centerOfMass(model, data, q);
    centerOfMassJacobian(model, data, q, J.topRows(3));
    momentum(model, data, q, v, six);
    centroidalMomentumMatrix(model, data, q, J);
    (void)energy(model, data, q, v);
    coriolisMatrix(model, data, q, v, C);
  };
  evaluate();  // first calls allocate
  EXPECT_EQ(allocationsOf(evaluate), 0);
}

INSTANTIATE_TEST_SUITE_P(Random, KinematicsOfEveryMechanism, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return nameOf(given.param); });

}  // namespace
}  // namespace kempe::test
