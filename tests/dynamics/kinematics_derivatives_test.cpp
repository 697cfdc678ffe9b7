#include "kempe/kinematics_derivatives.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>

#include "kempe/kempe.hpp"
#include "kempe/momentum_derivatives.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/differences.hpp"
#include "support/dual_dynamics.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

constexpr std::array kReferences{Reference::LocalWorldAligned, Reference::Local, Reference::World};

Eigen::VectorXd dense(const Vec3<double>& x) {
  return Eigen::Vector3d(x.x, x.y, x.z);
}

/// The frames of all bodies, folded rotors among them, in every reference.
std::vector<FrameIn> everyFrame(const Model& model) {
  std::vector<FrameIn> frames;
  for (const Body& body : model.mechanism().bodies) {
    for (const Reference reference : kReferences) {
      frames.push_back({model.frameIndex(body.name), reference});
    }
  }
  return frames;
}

/// A model at a random state, and derivatives of it by dual numbers: one entry per DoF.
struct Subject {
  Subject(Model given, std::uint64_t seed) : model(std::move(given)), data(model) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const auto random = [&] {
      return Eigen::VectorXd(
          Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine); }));
    };
    q = model.randomConfiguration(seed);
    v = random();
    a = random();
  }

  enum class Of { Q, V, A };
  [[nodiscard]] std::vector<KinematicsAlong> along(Of what, std::span<const FrameIn> frames) const {
    const int n = model.nv();
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n);
    std::vector<KinematicsAlong> all;
    for (int j = 0; j < n; ++j) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(n, j);
      all.push_back(kinematicsAlong(
          model,
          {q, v, a, what == Of::Q ? e : zero, what == Of::V ? e : zero, what == Of::A ? e : zero},
          frames));
    }
    return all;
  }
  Eigen::VectorXd moved(int j, double by) {
    Eigen::VectorXd to(model.nq());
    integrate(model, data, q, Eigen::VectorXd::Unit(model.nv(), j), by, to);
    return to;
  }

  Model model;
  Data data;
  Eigen::VectorXd q, v, a;
};

/// `column(of DoF j)` side by side.
template <typename Column>
Eigen::MatrixXd sideBySide(int rows, const std::vector<KinematicsAlong>& all,
                           const Column& column) {
  Eigen::MatrixXd matrix(rows, static_cast<Eigen::Index>(all.size()));
  for (std::size_t j = 0; j < all.size(); ++j) {
    matrix.col(static_cast<Eigen::Index>(j)) = column(all[j]);
  }
  return matrix;
}

/// Velocities and accelerations of frames against dual numbers.
void expectFramesOfDuals(Subject& s, double tolerance) {
  const int n = s.model.nv();
  const std::vector<FrameIn> frames = everyFrame(s.model);
  const auto byQ = s.along(Subject::Of::Q, frames), byV = s.along(Subject::Of::V, frames),
             byA = s.along(Subject::Of::A, frames);
  const KinematicsAlong inTime = kinematicsAlong(
      s.model, {s.q, s.v, s.a, s.v, Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n)}, frames);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const auto [frame, reference] = frames[f];
    SCOPED_TRACE(s.model.frameNames()[static_cast<std::size_t>(frame)] + " in reference " +
                 std::to_string(static_cast<int>(reference)));
    const auto i = static_cast<Eigen::Index>(f);
    const auto velocity = [&](const KinematicsAlong& x) { return x.velocities.col(i); };
    const auto acceleration = [&](const KinematicsAlong& x) { return x.accelerations.col(i); };
    Eigen::MatrixXd dq = poisoned(6, n), dv = poisoned(6, n), J = poisoned(6, n);
    frameVelocityDerivatives(s.model, s.data, s.q, s.v, frame, dq, J, reference);
    EXPECT_TRUE(closeTo(dq, sideBySide(6, byQ, velocity), tolerance));
    EXPECT_TRUE(closeTo(J, sideBySide(6, byV, velocity), tolerance));
    dq = dv = J = poisoned(6, n);
    frameAccelerationDerivatives(s.model, s.data, s.q, s.v, s.a, frame, dq, dv, J, reference);
    EXPECT_TRUE(closeTo(dq, sideBySide(6, byQ, acceleration), tolerance));
    EXPECT_TRUE(closeTo(dv, sideBySide(6, byV, acceleration), tolerance));
    EXPECT_TRUE(closeTo(J, sideBySide(6, byA, acceleration), tolerance));
    Eigen::MatrixXd rate = poisoned(6, n);
    frameJacobianTimeDerivative(s.model, s.data, s.q, s.v, frame, rate, reference);
    EXPECT_TRUE(closeTo(rate, inTime.jacobians[f], tolerance));
    Eigen::VectorXd bias = poisoned(6);
    frameJacobianRate(s.model, s.data, s.q, s.v, frame, bias, reference);
    EXPECT_TRUE(closeTo((rate * s.v).eval(), bias, tolerance));
  }
}

/// Momentum, centre of mass and gravity forces against dual numbers.
void expectSumsOfDuals(Subject& s, double tolerance) {
  const int n = s.model.nv();
  const auto byQ = s.along(Subject::Of::Q, {}), byV = s.along(Subject::Of::V, {}),
             byA = s.along(Subject::Of::A, {});
  Eigen::MatrixXd dq = poisoned(6, n), dv = poisoned(6, n), A = poisoned(6, n);
  const auto momentum = [](const KinematicsAlong& x) { return x.momentum; };
  const auto rate = [](const KinematicsAlong& x) { return x.momentumRate; };
  momentumDerivatives(s.model, s.data, s.q, s.v, dq, A);
  EXPECT_TRUE(closeTo(dq, sideBySide(6, byQ, momentum), tolerance));
  EXPECT_TRUE(closeTo(A, sideBySide(6, byV, momentum), tolerance));
  dq = dv = A = poisoned(6, n);
  momentumRateDerivatives(s.model, s.data, s.q, s.v, s.a, dq, dv, A);
  EXPECT_TRUE(closeTo(dq, sideBySide(6, byQ, rate), tolerance));
  EXPECT_TRUE(closeTo(dv, sideBySide(6, byV, rate), tolerance));
  EXPECT_TRUE(closeTo(A, sideBySide(6, byA, rate), tolerance));
  dq = dv = A = poisoned(3, n);
  const auto velocity = [](const KinematicsAlong& x) { return x.centerOfMassVelocity; };
  const auto acceleration = [](const KinematicsAlong& x) { return x.centerOfMassAcceleration; };
  centerOfMassVelocityDerivatives(s.model, s.data, s.q, s.v, dq, A);
  EXPECT_TRUE(closeTo(dq, sideBySide(3, byQ, velocity), tolerance));
  EXPECT_TRUE(closeTo(A, sideBySide(3, byV, velocity), tolerance));
  dq = dv = A = poisoned(3, n);
  centerOfMassAccelerationDerivatives(s.model, s.data, s.q, s.v, s.a, dq, dv, A);
  EXPECT_TRUE(closeTo(dq, sideBySide(3, byQ, acceleration), tolerance));
  EXPECT_TRUE(closeTo(dv, sideBySide(3, byV, acceleration), tolerance));
  EXPECT_TRUE(closeTo(A, sideBySide(3, byA, acceleration), tolerance));
  dq = poisoned(n, n);
  gravityForcesDerivatives(s.model, s.data, s.q, dq);
  EXPECT_TRUE(closeTo(
      dq, sideBySide(n, byQ, [](const KinematicsAlong& x) { return x.gravityForces; }), tolerance));
}

class KinematicsDerivatives : public ::testing::TestWithParam<MechanismCase>, protected Subject {
 protected:
  KinematicsDerivatives() : Subject(Model(randomMechanism(GetParam())), GetParam().seed + 11) {}

  /// Derivatives of f(q, v, a) against differences; those by a are skipped if `byA` is empty.
  using Function = std::function<Eigen::VectorXd(const Eigen::VectorXd&, const Eigen::VectorXd&,
                                                 const Eigen::VectorXd&)>;
  void expectDifferences(const Function& f, const Eigen::MatrixXd& byQ,
                         const Eigen::MatrixXd& byV) {
    Eigen::MatrixXd expectedQ = byQ, expectedV = byV;
    for (int j = 0; j < model.nv(); ++j) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(model.nv(), j);
      expectedQ.col(j) = differentiated([&](double x) { return f(moved(j, x), v, a); }, step());
      expectedV.col(j) = differentiated([&](double x) { return f(q, v + x * e, a); });
    }
    EXPECT_TRUE(closeTo(byQ, expectedQ, 1e-6));
    EXPECT_TRUE(closeTo(byV, expectedV, 1e-8));
  }
  /// Smaller where dependent joints move fast.
  double step() {
    Eigen::MatrixXd G(model.nvSpanning(), model.nv());
    constraintJacobian(model, data, q, G);
    return 1e-3 / std::max(1.0, G.cwiseAbs().maxCoeff());
  }
  template <typename Compute>
  static Eigen::VectorXd six(const Compute& compute) {
    Eigen::VectorXd x = poisoned(6);
    compute(x);
    return x;
  }
};

TEST_P(KinematicsDerivatives, OfFramesAreThoseOfDualNumbers) {
  expectFramesOfDuals(*this, 1e-11);
}

TEST_P(KinematicsDerivatives, OfMomentumAndCenterOfMassAreThoseOfDualNumbers) {
  expectSumsOfDuals(*this, 1e-11);
  // The same where rotors are whole, because the motion is that of a call before.
  for (const std::string& rotor : model.foldedRotors()) {
    Eigen::VectorXd velocity(6);
    frameAcceleration(model, data, q, v, a, model.frameIndex(rotor), velocity);
    expectSumsOfDuals(*this, 1e-11);
    break;
  }
}

TEST_P(KinematicsDerivatives, OfFramesAreThoseOfDifferences) {
  const int n = model.nv();
  const std::vector<FrameIn> all = everyFrame(model);
  for (std::size_t f = GetParam().seed % 7; f < all.size(); f += 7) {
    const int frame = all[f].frame;
    const Reference reference = all[f].reference;
    Eigen::MatrixXd dq = poisoned(6, n), dv = poisoned(6, n), J = poisoned(6, n);
    frameVelocityDerivatives(model, data, q, v, frame, dq, J, reference);
    expectDifferences(
        [&](const auto& x, const auto& y, const auto&) {
          return six([&](auto& out) { frameVelocity(model, data, x, y, frame, out, reference); });
        },
        dq, J);
    frameAccelerationDerivatives(model, data, q, v, a, frame, dq, dv, J, reference);
    expectDifferences(
        [&](const auto& x, const auto& y, const auto& z) {
          return six(
              [&](auto& out) { frameAcceleration(model, data, x, y, z, frame, out, reference); });
        },
        dq, dv);
  }
}

TEST_P(KinematicsDerivatives, OfMomentumAndCenterOfMassAreThoseOfDifferences) {
  const int n = model.nv();
  Eigen::MatrixXd dq = poisoned(6, n), dv = poisoned(6, n), A = poisoned(6, n);
  momentumDerivatives(model, data, q, v, dq, A);
  expectDifferences(
      [&](const auto& x, const auto& y, const auto&) {
        return six([&](auto& out) { momentum(model, data, x, y, out); });
      },
      dq, A);
  momentumRateDerivatives(model, data, q, v, a, dq, dv, A);
  expectDifferences(
      [&](const auto& x, const auto& y, const auto& z) {
        return six([&](auto& out) { momentumRate(model, data, x, y, z, out); });
      },
      dq, dv);
  dq = dv = A = poisoned(3, n);
  centerOfMassVelocityDerivatives(model, data, q, v, dq, A);
  expectDifferences([&](const auto& x, const auto& y,
                        const auto&) { return dense(centerOfMassVelocity(model, data, x, y)); },
                    dq, A);
  centerOfMassAccelerationDerivatives(model, data, q, v, a, dq, dv, A);
  expectDifferences(
      [&](const auto& x, const auto& y, const auto& z) {
        return dense(centerOfMassAcceleration(model, data, x, y, z));
      },
      dq, dv);
}

TEST_P(KinematicsDerivatives, RatesOfMomentumAndCenterOfMassAreThoseOfDifferences) {
  // Along q(t) with q̇ = v; of v(t) only a at the start matters.
  const auto inTime = [&](const auto& f) {
    return differentiated(
        [&](double t) {
          Eigen::VectorXd at(model.nq());
          integrate(model, data, q, v, t, at);
          return f(at, Eigen::VectorXd(v + t * a));
        },
        step());
  };
  const Eigen::VectorXd rate = six([&](auto& out) { momentumRate(model, data, q, v, a, out); });
  EXPECT_TRUE(closeTo(rate, inTime([&](const auto& x, const auto& y) {
                        return six([&](auto& out) { momentum(model, data, x, y, out); });
                      }),
                      1e-7));
  const Eigen::VectorXd velocity = dense(centerOfMassVelocity(model, data, q, v));
  const Eigen::VectorXd acceleration = dense(centerOfMassAcceleration(model, data, q, v, a));
  EXPECT_TRUE(closeTo(velocity, inTime([&](const auto& x, const auto&) {
                        return dense(centerOfMass(model, data, x));
                      }),
                      1e-7));
  EXPECT_TRUE(closeTo(acceleration, inTime([&](const auto& x, const auto& y) {
                        return dense(centerOfMassVelocity(model, data, x, y));
                      }),
                      1e-7));
}

TEST_P(KinematicsDerivatives, AllocateNothingAfterTheFirstCall) {
  const int n = model.nv(), frame = model.frameIndex(model.mechanism().bodies.back().name);
  Eigen::MatrixXd dq(6, n), dv(6, n), J(6, n), square(n, n);
  Eigen::VectorXd rate(6);
  const auto all = [&] {
    frameVelocityDerivatives(model, data, q, v, frame, dq, J);
    frameAccelerationDerivatives(model, data, q, v, a, frame, dq, dv, J);
    frameJacobianTimeDerivative(model, data, q, v, frame, dq);
    momentumDerivatives(model, data, q, v, dq, J);
    momentumRate(model, data, q, v, a, rate);
    momentumRateDerivatives(model, data, q, v, a, dq, dv, J);
    centerOfMassVelocityDerivatives(model, data, q, v, dq.topRows(3), J.topRows(3));
    centerOfMassAccelerationDerivatives(model, data, q, v, a, dq.topRows(3), dv.topRows(3),
                                        J.topRows(3));
    gravityForcesDerivatives(model, data, q, square);
  };
  all();
  q = model.randomConfiguration(99);
  EXPECT_EQ(allocationsOf(all), 0);
}

TEST_P(KinematicsDerivatives, OfManyStatesAreThoseOfEach) {
  const int n = model.nv(), states = 11;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Rows Q(states, model.nq()), V(states, n), A(states, n);
  for (int i = 0; i < states; ++i) {
    Q.row(i) = model.randomConfiguration(static_cast<std::uint64_t>(20 + i)).transpose();
    V.row(i) = (v + 0.1 * i * a).transpose();
    A.row(i) = (a - 0.1 * i * v).transpose();
  }
  std::vector<int> frames{model.frameIndex(model.mechanism().bodies.front().name),
                          model.frameIndex(model.mechanism().bodies.back().name)};
  if (!model.foldedRotors().empty()) {
    frames.push_back(model.frameIndex(model.foldedRotors().front()));
  }
  Batch batch(model, {.threads = 1});
  const auto count = static_cast<Eigen::Index>(frames.size());
  // Matrix f of `rows` × n numbers of a state.
  const auto matrix = [&](Rows& of, int state, int rows, Eigen::Index f = 0) {
    return Eigen::Map<Rows>(of.row(state).data() + f * rows * n, rows, n);
  };
  for (const Reference reference : kReferences) {
    Rows dq(states, 6 * n * count), J = dq, aq = dq, av = dq, aJ = dq;
    frameVelocityDerivatives(model, batch, Q, V, frames, dq, J, reference);
    frameAccelerationDerivatives(model, batch, Q, V, A, frames, aq, av, aJ, reference);
    for (int i = 0; i < states; ++i) {
      for (Eigen::Index f = 0; f < count; ++f) {
        const int frame = frames[static_cast<std::size_t>(f)];
        Eigen::MatrixXd oneQ(6, n), oneV(6, n), oneJ(6, n);
        frameVelocityDerivatives(model, data, Q.row(i).transpose(), V.row(i).transpose(), frame,
                                 oneQ, oneJ, reference);
        EXPECT_TRUE(closeTo(matrix(dq, i, 6, f), oneQ, 1e-10));
        EXPECT_TRUE(closeTo(matrix(J, i, 6, f), oneJ, 1e-10));
        frameAccelerationDerivatives(model, data, Q.row(i).transpose(), V.row(i).transpose(),
                                     A.row(i).transpose(), frame, oneQ, oneV, oneJ, reference);
        EXPECT_TRUE(closeTo(matrix(aq, i, 6, f), oneQ, 1e-10));
        EXPECT_TRUE(closeTo(matrix(av, i, 6, f), oneV, 1e-10));
        EXPECT_TRUE(closeTo(matrix(aJ, i, 6, f), oneJ, 1e-10));
      }
    }
  }
  Rows hq(states, 6 * n), hA = hq, rq = hq, rv = hq, rA = hq, cq(states, 3 * n), cJ = cq, bq = cq,
                          bv = cq, bJ = cq;
  momentumDerivatives(model, batch, Q, V, hq, hA);
  momentumRateDerivatives(model, batch, Q, V, A, rq, rv, rA);
  centerOfMassVelocityDerivatives(model, batch, Q, V, cq, cJ);
  centerOfMassAccelerationDerivatives(model, batch, Q, V, A, bq, bv, bJ);
  for (int i = 0; i < states; ++i) {
    const Eigen::VectorXd x = Q.row(i), y = V.row(i), z = A.row(i);
    Eigen::MatrixXd oneQ(6, n), oneV(6, n), oneA(6, n);
    momentumDerivatives(model, data, x, y, oneQ, oneA);
    EXPECT_TRUE(closeTo(matrix(hq, i, 6), oneQ, 1e-10));
    EXPECT_TRUE(closeTo(matrix(hA, i, 6), oneA, 1e-10));
    momentumRateDerivatives(model, data, x, y, z, oneQ, oneV, oneA);
    EXPECT_TRUE(closeTo(matrix(rq, i, 6), oneQ, 1e-10));
    EXPECT_TRUE(closeTo(matrix(rv, i, 6), oneV, 1e-10));
    EXPECT_TRUE(closeTo(matrix(rA, i, 6), oneA, 1e-10));
    oneQ.resize(3, n), oneV.resize(3, n), oneA.resize(3, n);
    centerOfMassVelocityDerivatives(model, data, x, y, oneQ, oneA);
    EXPECT_TRUE(closeTo(matrix(cq, i, 3), oneQ, 1e-10));
    EXPECT_TRUE(closeTo(matrix(cJ, i, 3), oneA, 1e-10));
    centerOfMassAccelerationDerivatives(model, data, x, y, z, oneQ, oneV, oneA);
    EXPECT_TRUE(closeTo(matrix(bq, i, 3), oneQ, 1e-10));
    EXPECT_TRUE(closeTo(matrix(bv, i, 3), oneV, 1e-10));
    EXPECT_TRUE(closeTo(matrix(bJ, i, 3), oneA, 1e-10));
  }
}

INSTANTIATE_TEST_SUITE_P(Random, KinematicsDerivatives, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& tested) { return nameOf(tested.param); });

TEST(KinematicsDerivativesOfRobots, AreThoseOfDualNumbers) {
  for (const std::string& name : robots::names()) {
    SCOPED_TRACE(name);
    Subject s(robots::load(name), 5);
    expectFramesOfDuals(s, 1e-11);
    expectSumsOfDuals(s, 1e-11);
  }
}

TEST(KinematicsDerivativesOfRobots, InFloatAreThoseOfDouble) {
  for (const char* name : {"mini_cheetah", "mit_humanoid", "tello", "four_bar"}) {
    SCOPED_TRACE(name);
    Subject s(robots::load(name), 5);
    const int n = s.model.nv(), frame = s.model.frameIndex(s.model.mechanism().bodies.back().name);
    DataF single(s.model);
    const Eigen::VectorXf q = s.q.cast<float>(), v = s.v.cast<float>(), a = s.a.cast<float>();
    const Eigen::VectorXd roundedQ = q.cast<double>();
    Eigen::MatrixXf dqF(6, n), dvF(6, n), JF(6, n), squareF(n, n);
    Eigen::MatrixXd dq(6, n), dv(6, n), J(6, n), square(n, n);
    const auto expectEqual = [&] {
      EXPECT_TRUE(closeTo(dqF.cast<double>(), dq, 1e-3));
      EXPECT_TRUE(closeTo(dvF.cast<double>(), dv, 1e-3));
      EXPECT_TRUE(closeTo(JF.cast<double>(), J, 1e-3));
    };
    frameAccelerationDerivatives(s.model, single, q, v, a, frame, dqF, dvF, JF);
    frameAccelerationDerivatives(s.model, s.data, roundedQ, s.v, s.a, frame, dq, dv, J);
    expectEqual();
    momentumRateDerivatives(s.model, single, q, v, a, dqF, dvF, JF);
    momentumRateDerivatives(s.model, s.data, roundedQ, s.v, s.a, dq, dv, J);
    expectEqual();
    gravityForcesDerivatives(s.model, single, q, squareF);
    gravityForcesDerivatives(s.model, s.data, roundedQ, square);
    EXPECT_TRUE(closeTo(squareF.cast<double>(), square, 1e-3));
  }
}

TEST(KinematicsDerivativesOfRobots, AreExactlyZeroForLegsThatDoNotCarryTheFrame) {
  Subject s(robots::load("mini_cheetah"), 3);
  const int n = s.model.nv();
  // The first leg follows the base in v.
  for (int j = 6; j < 9; ++j) {
    const int frame = s.model.frameIndex(s.model.vNames()[static_cast<std::size_t>(j)]);
    Eigen::MatrixXd dq = poisoned(6, n), dv = poisoned(6, n), J = poisoned(6, n);
    frameAccelerationDerivatives(s.model, s.data, s.q, s.v, s.a, frame, dq, dv, J);
    for (const Eigen::MatrixXd& matrix : {dq, dv, J}) {
      EXPECT_EQ(matrix.rightCols(n - 9).cwiseAbs().maxCoeff(), 0.0);
      EXPECT_GT(matrix.leftCols(9).cwiseAbs().maxCoeff(), 0.0);
    }
  }
}

TEST(KinematicsDerivativesOfRobots, CheckTheirArguments) {
  Subject s(robots::load("four_bar"), 1);
  Eigen::MatrixXd six(6, 1), five(5, 1), three(3, 1), one(1, 1), wrong(2, 1);
  const Eigen::VectorXd bad = Eigen::VectorXd::Constant(1, NAN), two = Eigen::VectorXd::Zero(2);
  const auto refuses = [](const auto& call) { EXPECT_THROW(call(), std::invalid_argument); };
  refuses([&] { frameVelocityDerivatives(s.model, s.data, s.q, s.v, 0, five, six); });
  refuses([&] { frameVelocityDerivatives(s.model, s.data, s.q, bad, 0, six, six); });
  refuses([&] { frameVelocityDerivatives(s.model, s.data, s.q, s.v, 1000, six, six); });
  refuses([&] { frameAccelerationDerivatives(s.model, s.data, s.q, s.v, bad, 0, six, six, six); });
  refuses([&] { frameAccelerationDerivatives(s.model, s.data, s.q, two, s.a, 0, six, six, six); });
  refuses([&] { frameJacobianTimeDerivative(s.model, s.data, s.q, s.v, 0, five); });
  refuses([&] { momentumDerivatives(s.model, s.data, s.q, s.v, six, three); });
  refuses([&] { momentumRateDerivatives(s.model, s.data, s.q, s.v, s.a, six, three, six); });
  refuses([&] { centerOfMassVelocityDerivatives(s.model, s.data, s.q, s.v, six, three); });
  refuses([&] {
    centerOfMassAccelerationDerivatives(s.model, s.data, s.q, s.v, s.a, three, three, six);
  });
  refuses([&] { gravityForcesDerivatives(s.model, s.data, s.q, wrong); });
}

TEST(KinematicsDerivativesOfRobots, RefuseSingularPositions) {
  const Model model = robots::load("four_bar");
  Data data(model);
  Eigen::MatrixXd six(6, 1), other(6, 1), third(6, 1), square(1, 1);
  const Eigen::VectorXd flat = Eigen::VectorXd::Zero(model.nq()), v = Eigen::VectorXd::Ones(1);
  EXPECT_THROW(frameVelocityDerivatives(model, data, flat, v, 0, six, other), SingularityError);
  EXPECT_THROW(frameAccelerationDerivatives(model, data, flat, v, v, 0, six, other, third),
               SingularityError);
  EXPECT_THROW(momentumDerivatives(model, data, flat, v, six, other), SingularityError);
  EXPECT_THROW(momentumRateDerivatives(model, data, flat, v, v, six, other, third),
               SingularityError);
  EXPECT_THROW(gravityForcesDerivatives(model, data, flat, square), SingularityError);
}

TEST(KinematicsDerivativesOfRobots, IgnoreLoopsThatAreLeftCut) {
  Mechanism opened = robots::mechanism("four_bar");
  opened.loops.front().cut = true;
  Subject s(Model(opened), 2);
  ASSERT_FALSE(s.model.cutLoops().empty());
  expectFramesOfDuals(s, 1e-11);
  expectSumsOfDuals(s, 1e-11);
}

TEST(KinematicsDerivativesOfRobots, RefuseCallbacks) {
  Mechanism robot = randomMechanism({Family::Functions, 2, 8});
  ASSERT_FALSE(robot.functions.empty());
  Subject traced(Model(robot), 2);
  for (Function& function : robot.functions) {
    function.symbolic = nullptr;
    function.expression = {};
  }
  const Model model(robot);
  Data data(model);
  const int n = model.nv();
  Eigen::MatrixXd six(6, n), other(6, n), square(n, n);
  const auto refused = [](const auto& call) {
    try {
      call();
      ADD_FAILURE() << "not refused";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("Write it as an expression"), std::string::npos)
          << error.what();
    }
  };
  refused([&] { frameVelocityDerivatives(model, data, traced.q, traced.v, 0, six, other); });
  refused([&] { momentumDerivatives(model, data, traced.q, traced.v, six, other); });
  refused([&] { gravityForcesDerivatives(model, data, traced.q, square); });
}

}  // namespace
}  // namespace kempe::test
