#include <gtest/gtest.h>

#include <array>
#include <random>

#include "kempe/forward_dynamics_derivatives.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"
#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/differences.hpp"
#include "support/dual_dynamics.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

class DynamicsDerivatives : public ::testing::TestWithParam<MechanismCase> {
 protected:
  DynamicsDerivatives()
      : robot(randomMechanism(GetParam())), model(robot), data(model), engine_(GetParam().seed) {
    q = model.randomConfiguration(11);
    v = randomVector();
    a = randomVector();
    tau = randomVector();
    for (std::size_t i = 0; i < robot.bodies.size(); i += 2) {
      FrameForce force;
      force.frame = model.frameIndex(robot.bodies[i].name);
      force.reference = static_cast<Reference>(forces.size() % 3);
      for (double& x : force.wrench) {
        x = uniform_(engine_);
      }
      forces.push_back(force);
    }
  }

  Eigen::VectorXd randomVector() {
    return Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform_(engine_); });
  }
  /// Column j of a matrix, by `column`.
  template <typename Column>
  Eigen::MatrixXd byColumns(const Column& column) const {
    Eigen::MatrixXd all(model.nv(), model.nv());
    for (int j = 0; j < model.nv(); ++j) {
      all.col(j) = column(Eigen::VectorXd(Eigen::VectorXd::Unit(model.nv(), j)));
    }
    return all;
  }
  Eigen::VectorXd moved(const Eigen::VectorXd& along, double by) {
    Eigen::VectorXd to(model.nq());
    integrate(model, data, q, along, by, to);
    return to;
  }

  Mechanism robot;
  Model model;
  Data data;
  Eigen::VectorXd q, v, a, tau;
  std::vector<FrameForce> forces;

 private:
  std::mt19937_64 engine_;
  std::uniform_real_distribution<double> uniform_{-1.0, 1.0};
};

TEST_P(DynamicsDerivatives, OfInverseDynamicsAreThoseOfDualNumbers) {
  const int n = model.nv();
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n);
  for (const std::span<const FrameForce> external : {std::span<const FrameForce>{}, {forces}}) {
    Eigen::MatrixXd byQ = poisoned(n, n), byV = poisoned(n, n), H = poisoned(n, n);
    inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, H, {.external = external});
    EXPECT_TRUE(closeTo(byQ, byColumns([&](const Eigen::VectorXd& e) {
                          return inverseDynamicsAlong(model, {q, v, a, e, zero, zero}, external);
                        }),
                        1e-11));
    EXPECT_TRUE(closeTo(byV, byColumns([&](const Eigen::VectorXd& e) {
                          return inverseDynamicsAlong(model, {q, v, a, zero, e, zero}, external);
                        }),
                        1e-11));
    EXPECT_TRUE(closeTo(H, byColumns([&](const Eigen::VectorXd& e) {
                          return inverseDynamicsAlong(model, {q, v, a, zero, zero, e}, external);
                        }),
                        1e-12));
  }
}

TEST_P(DynamicsDerivatives, OfInverseDynamicsAreThoseOfDifferences) {
  for (const std::span<const FrameForce> external : {std::span<const FrameForce>{}, {forces}}) {
    const DynamicsOptions how{.external = external};
    const auto tauAt = [&](const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
      Eigen::VectorXd result(model.nv());
      inverseDynamics(model, data, x, y, a, result, how);
      return result;
    };
    const int n = model.nv();
    Eigen::MatrixXd byQ = poisoned(n, n), byV = poisoned(n, n), H = poisoned(n, n);
    inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, H, how);
    Eigen::MatrixXd mass = poisoned(n, n);
    massMatrix(model, data, q, mass);
    EXPECT_TRUE(closeTo(H, mass, 1e-13));
    EXPECT_TRUE(closeTo(byV, byColumns([&](const Eigen::VectorXd& e) {
                          return differentiated([&](double x) { return tauAt(q, v + x * e); });
                        }),
                        1e-8));
    EXPECT_TRUE(closeTo(byQ, byColumns([&](const Eigen::VectorXd& e) {
                          return differentiated([&](double x) { return tauAt(moved(e, x), v); });
                        }),
                        1e-6));
  }
}

TEST_P(DynamicsDerivatives, OfForwardDynamicsAreThoseOfDifferences) {
  const DynamicsOptions how{.external = forces};
  const auto accelerationAt = [&](const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
    Eigen::VectorXd result(model.nv());
    forwardDynamics(model, data, x, y, tau, result, how);
    return result;
  };
  const int n = model.nv();
  Eigen::MatrixXd byQ = poisoned(n, n), byV = poisoned(n, n), inverse = poisoned(n, n);
  forwardDynamicsDerivatives(model, data, q, v, tau, byQ, byV, inverse, how);
  Eigen::MatrixXd mass = poisoned(n, n);
  massMatrix(model, data, q, mass);
  EXPECT_TRUE(closeTo(mass * inverse, Eigen::MatrixXd::Identity(n, n), 1e-9));
  EXPECT_TRUE(closeTo(byV, byColumns([&](const Eigen::VectorXd& e) {
                        return differentiated(
                            [&](double x) { return accelerationAt(q, v + x * e); });
                      }),
                      1e-7));
  EXPECT_TRUE(closeTo(byQ, byColumns([&](const Eigen::VectorXd& e) {
                        return differentiated(
                            [&](double x) { return accelerationAt(moved(e, x), v); });
                      }),
                      1e-5));
}

TEST_P(DynamicsDerivatives, WriteNothingBesideTheirOutputs) {
  const int n = model.nv();
  std::array<Eigen::MatrixXd, 3> whole, room;
  for (int i = 0; i < 3; ++i) {
    whole[i] = poisoned(n, n);
    room[i] = Eigen::MatrixXd::Constant(n + 3, n + 2, 7.0);
  }
  const auto part = [&](int i) { return room[i].block(1, 1, n, n); };
  const auto check = [&] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(part(i), whole[i]);
      part(i).setConstant(7.0);
      EXPECT_TRUE((room[i].array() == 7.0).all());
    }
  };
  forwardDynamicsDerivatives(model, data, q, v, tau, whole[0], whole[1], whole[2]);
  forwardDynamicsDerivatives(model, data, q, v, tau, part(0), part(1), part(2));
  check();
  inverseDynamicsDerivatives(model, data, q, v, a, whole[0], whole[1], whole[2]);
  inverseDynamicsDerivatives(model, data, q, v, a, part(0), part(1), part(2));
  check();
}

TEST_P(DynamicsDerivatives, AllocateNothingAfterTheFirstCall) {
  const int n = model.nv();
  Eigen::MatrixXd byQ(n, n), byV(n, n), H(n, n);
  inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, H);
  forwardDynamicsDerivatives(model, data, q, v, tau, byQ, byV, H);
  EXPECT_EQ(allocationsOf([&] {
              inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, H);
              forwardDynamicsDerivatives(model, data, q, v, tau, byQ, byV, H);
            }),
            0);
}

TEST_P(DynamicsDerivatives, OfManyStatesAreThoseOfEach) {
  const int n = model.nv(), states = 11;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Rows Q(states, model.nq()), V(states, n), X(states, n);
  for (int i = 0; i < states; ++i) {
    Q.row(i) = model.randomConfiguration(static_cast<std::uint64_t>(20 + i)).transpose();
    V.row(i) = randomVector().transpose();
    X.row(i) = randomVector().transpose();
  }
  Batch batch(model, {.threads = 1});
  Rows byQ(states, n * n), byV(states, n * n), third(states, n * n);
  const auto check = [&](const auto& one) {
    for (int i = 0; i < states; ++i) {
      Eigen::MatrixXd ownQ(n, n), ownV(n, n), own(n, n);
      one(Eigen::VectorXd(Q.row(i)), Eigen::VectorXd(V.row(i)), Eigen::VectorXd(X.row(i)), ownQ,
          ownV, own);
      const auto matrix = [&](Rows& of) { return Eigen::Map<Rows>(of.row(i).data(), n, n); };
      EXPECT_TRUE(closeTo(matrix(byQ), ownQ, 1e-9));
      EXPECT_TRUE(closeTo(matrix(byV), ownV, 1e-9));
      EXPECT_TRUE(closeTo(matrix(third), own, 1e-9));
    }
  };
  inverseDynamicsDerivatives(model, batch, Q, V, X, byQ, byV, third);
  check([&](auto&&... x) { inverseDynamicsDerivatives(model, data, x...); });
  forwardDynamicsDerivatives(model, batch, Q, V, X, byQ, byV, third);
  check([&](auto&&... x) { forwardDynamicsDerivatives(model, data, x...); });
}

INSTANTIATE_TEST_SUITE_P(Random, DynamicsDerivatives, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& tested) { return nameOf(tested.param); });

TEST(DynamicsDerivativesOfRobots, AreThoseOfDualNumbers) {
  for (const std::string& name : robots::names()) {
    SCOPED_TRACE(name);
    const Model model = robots::load(name);
    Data data(model);
    const int n = model.nv();
    std::mt19937_64 engine(7);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const auto random = [&] {
      return Eigen::VectorXd(Eigen::VectorXd::NullaryExpr(n, [&] { return uniform(engine); }));
    };
    const Eigen::VectorXd q = model.randomConfiguration(5), v = random(), a = random();
    Eigen::MatrixXd byQ = poisoned(n, n), byV = poisoned(n, n), H = poisoned(n, n);
    inverseDynamicsDerivatives(model, data, q, v, a, byQ, byV, H);
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n);
    for (int j = 0; j < n; ++j) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(n, j);
      const double size = byQ.cwiseAbs().maxCoeff();
      EXPECT_LE((inverseDynamicsAlong(model, {q, v, a, e, zero, zero}) - byQ.col(j))
                    .cwiseAbs()
                    .maxCoeff(),
                1e-11 * size)
          << "q " << j;
      EXPECT_TRUE(closeTo(byV.col(j), inverseDynamicsAlong(model, {q, v, a, zero, e, zero}), 1e-11))
          << "v " << j;
    }
  }
}

TEST(DynamicsDerivativesOfRobots, AreExactlyZeroForLegsThatDoNotCarryEachOther) {
  const Model model = robots::load("mini_cheetah");
  Data data(model);
  const int n = model.nv();
  const Eigen::VectorXd q = model.randomConfiguration(3), v = Eigen::VectorXd::Ones(n);
  Eigen::MatrixXd byQ = poisoned(n, n), byV = poisoned(n, n), H = poisoned(n, n);
  inverseDynamicsDerivatives(model, data, q, v, v, byQ, byV, H);
  for (int leg = 0; leg < 4; ++leg) {
    for (int other = 0; other < 4; ++other) {
      if (leg != other) {
        EXPECT_EQ(byQ.block(6 + 3 * leg, 6 + 3 * other, 3, 3).cwiseAbs().maxCoeff(), 0.0);
        EXPECT_EQ(byV.block(6 + 3 * leg, 6 + 3 * other, 3, 3).cwiseAbs().maxCoeff(), 0.0);
      }
    }
  }
}

TEST(DynamicsDerivativesOfRobots, RefuseWhatTheyCannotDifferentiate) {
  const Model model = robots::load("four_bar");
  Data own(model);
  Eigen::MatrixXd one(1, 1), wrong(2, 1);
  const Eigen::VectorXd position = model.neutral(), rate = Eigen::VectorXd::Zero(1);
  EXPECT_THROW(inverseDynamicsDerivatives(model, own, position, rate, rate, one, wrong, one),
               std::invalid_argument);
  EXPECT_THROW(forwardDynamicsDerivatives(model, own, position, rate,
                                          Eigen::VectorXd::Constant(1, NAN), one, one, one),
               std::invalid_argument);
}

}  // namespace
}  // namespace kempe::test
