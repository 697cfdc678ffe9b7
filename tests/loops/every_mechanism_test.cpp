#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>
#include <thread>

#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/decompositions.hpp"
#include "support/differences.hpp"
#include "support/oracle.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

constexpr double kClosed = 1e-12;  // what the library promises of its own rows

class EveryMechanism : public ::testing::TestWithParam<MechanismCase> {
 protected:
  EveryMechanism() : model(randomMechanism(GetParam())), data(model), oracle(model) {}

  Eigen::VectorXd randomVelocity(std::uint64_t seed) const {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    return Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine); });
  }

  Eigen::VectorXd positionsOf(const Eigen::VectorXd& q) {
    Eigen::VectorXd positions = poisoned(model.nqSpanning());
    spanningPositions(model, data, q, positions);
    return positions;
  }

  Eigen::MatrixXd jacobianOf(const Eigen::VectorXd& q) {
    Eigen::MatrixXd G = poisoned(model.nvSpanning(), model.nv());
    constraintJacobian(model, data, q, G);
    return G;
  }

  double openingOf(const Eigen::VectorXd& q) {
    Eigen::VectorXd residual = poisoned(model.nLoopRows());
    loopResidual(model, data, q, residual);
    return residual.size() == 0 ? 0.0 : residual.cwiseAbs().maxCoeff();
  }

  Eigen::VectorXd integrated(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double dt) {
    Eigen::VectorXd result = poisoned(model.nq());
    integrate(model, data, q, v, dt, result);
    return result;
  }

  /// Neutral and a few random configurations.
  std::vector<Eigen::VectorXd> configurations() const {
    return {model.neutral(), model.randomConfiguration(1), model.randomConfiguration(2)};
  }

  Model model;
  Data data;
  Oracle oracle;
};

TEST_P(EveryMechanism, ConfigurationsCloseTheLoops) {
  for (const Eigen::VectorXd& q : configurations()) {
    EXPECT_LE(openingOf(q), kClosed);
    const Eigen::VectorXd open = oracle.residual(positionsOf(q));
    EXPECT_TRUE(closeTo(open, Eigen::VectorXd::Zero(open.size()), 1e-11));
  }
}

TEST_P(EveryMechanism, MobilityIsWhatTheConstraintsLeave) {
  const Eigen::MatrixXd K = oracle.constraintRows(positionsOf(model.randomConfiguration(1)));
  Eigen::Index rank = 0;
  if (K.rows() > 0) {
    const Eigen::VectorXd singular = singularValues(K);
    rank = (singular.array() > 1e-9 * singular[0]).count();
  }
  EXPECT_EQ(model.nv(), model.nvSpanning() - rank);
}

TEST_P(EveryMechanism, JacobianKeepsLoopsClosedAndIndependentVelocitiesAsTheyAre) {
  for (const Eigen::VectorXd& q : configurations()) {
    const Eigen::MatrixXd G = jacobianOf(q);
    const Eigen::MatrixXd K = oracle.constraintRows(positionsOf(q));
    EXPECT_TRUE(closeTo((K * G).eval(), Eigen::MatrixXd::Zero(K.rows(), G.cols()),
                        1e-11 * (1.0 + G.cwiseAbs().maxCoeff())));
    for (int i = 0; i < model.nvSpanning(); ++i) {
      const auto& names = model.vNames();
      const auto at =
          std::ranges::find(names, model.spanningVelocityNames()[static_cast<std::size_t>(i)]);
      if (at != names.end()) {
        EXPECT_EQ(G.row(i), Eigen::RowVectorXd::Unit(model.nv(), at - names.begin()));
      }
    }
  }
}

TEST_P(EveryMechanism, BiasKeepsLoopsClosedToSecondOrder) {
  for (const Eigen::VectorXd& q : configurations()) {
    const Eigen::VectorXd v = randomVelocity(5);
    Eigen::VectorXd g = poisoned(model.nvSpanning()), positions = poisoned(model.nqSpanning()),
                    rates = poisoned(model.nvSpanning());
    spanning(model, data, q, v, positions, rates);
    EXPECT_TRUE(closeTo(rates, (jacobianOf(q) * v).eval(), 1e-13));
    constraintBias(model, data, q, v, g);
    const Eigen::VectorXd k = oracle.constraintBias(positions, rates);
    const Eigen::MatrixXd K = oracle.constraintRows(positions);
    EXPECT_TRUE(closeTo((K * g).eval(), k, 1e-10 * (1.0 + rates.squaredNorm())));
    for (int i = 0; i < model.nvSpanning(); ++i) {
      if (std::ranges::count(model.vNames(),
                             model.spanningVelocityNames()[static_cast<std::size_t>(i)]) > 0) {
        EXPECT_EQ(g[i], 0.0);
      }
    }
  }
}

TEST_P(EveryMechanism, JacobianRateIsTheRateOfTheJacobian) {
  for (const Eigen::VectorXd& q : configurations()) {
    const Eigen::VectorXd v = randomVelocity(5);
    Eigen::MatrixXd rate = poisoned(model.nvSpanning(), model.nv());
    constraintJacobianRate(model, data, q, v, rate);
    Eigen::VectorXd g = poisoned(model.nvSpanning());
    constraintBias(model, data, q, v, g);
    EXPECT_TRUE(closeTo((rate * v).eval(), g, 1e-11));
    const Eigen::VectorXd expected = differentiated(
        [&](double t) { return Eigen::VectorXd(jacobianOf(integrated(q, v, t)).reshaped()); });
    EXPECT_TRUE(closeTo(rate.reshaped(), expected,
                        1e-8 * (1.0 + std::pow(jacobianOf(q).cwiseAbs().maxCoeff(), 6))));
  }
}

TEST_P(EveryMechanism, IntegrateFollowsTheVelocity) {
  constexpr double kStep = 1e-5;
  for (const Eigen::VectorXd& q : configurations()) {
    const Eigen::VectorXd v = randomVelocity(6);
    const Eigen::VectorXd ahead = integrated(q, v, kStep), behind = integrated(q, v, -kStep);
    Eigen::VectorXd way = poisoned(model.nv());
    difference(model, data, behind, ahead, way);
    EXPECT_TRUE(closeTo((way / (2 * kStep)).eval(), v, 1e-7));
    // The bodies go where G v takes them.
    const Eigen::VectorXd rates = jacobianOf(q) * v;
    const Eigen::VectorXd pAhead = positionsOf(ahead), pBehind = positionsOf(behind);
    for (const std::string& joint : model.jointNames()) {
      if (hasScalarCoordinates(model.mechanism().findJoint(joint)->type)) {
        const int p = model.jointPositionIndex(joint), w = model.jointVelocityIndex(joint);
        EXPECT_NEAR((pAhead[p] - pBehind[p]) / (2 * kStep), rates[w],
                    1e-5 * (1.0 + std::pow(rates.cwiseAbs().maxCoeff(), 3)));
      }
    }
  }
}

TEST_P(EveryMechanism, IntegrateStaysOnTheLoopsAndDifferenceUndoesIt) {
  Eigen::VectorXd q = model.neutral();
  int steps = 0;
  for (int step = 0; step < 20; ++step) {
    const Eigen::VectorXd v = randomVelocity(static_cast<std::uint64_t>(step));
    Eigen::VectorXd next;
    try {
      next = integrated(q, v, 0.02);
    } catch (const AssemblyError&) {
      continue;  // the loops do not reach that far
    } catch (const SingularityError&) {
      break;
    }
    ++steps;
    ASSERT_LE(openingOf(next), kClosed);
    Eigen::VectorXd way = poisoned(model.nv());
    difference(model, data, q, next, way);
    EXPECT_TRUE(closeTo(way, (0.02 * v).eval(), 1e-10));
    q = next;
  }
  EXPECT_GE(steps, 5);
}

TEST_P(EveryMechanism, ProjectRestoresWhatTheIndependentPositionsSay) {
  const Eigen::VectorXd q = model.randomConfiguration(3);
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> uniform(-1e-3, 1e-3);
  Eigen::VectorXd disturbed = q;
  for (int i = 0; i < model.nq(); ++i) {
    const std::string& name = model.qNames()[static_cast<std::size_t>(i)];
    const bool independent = std::ranges::count(model.vNames(), name) > 0;
    const bool scalar = name.find(".q") == std::string::npos;
    disturbed[i] += independent || !scalar ? 0.0 : uniform(engine);
  }
  Eigen::VectorXd closed = poisoned(model.nq());
  project(model, data, disturbed, closed);
  EXPECT_LE(openingOf(closed), kClosed);
  for (int i = 0; i < model.nq(); ++i) {
    if (std::ranges::count(model.vNames(), model.qNames()[static_cast<std::size_t>(i)]) > 0) {
      EXPECT_EQ(closed[i], q[i]);
    }
    EXPECT_NEAR(closed[i], q[i], 0.1);  // the same branch
  }
  Eigen::VectorXd again = poisoned(model.nq());
  project(model, data, closed, again);
  EXPECT_TRUE(closeTo(again, closed, 1e-11));
}

TEST_P(EveryMechanism, AllocatesNothing) {
  const Eigen::VectorXd q = model.randomConfiguration(4), v = 0.1 * randomVelocity(8);
  Eigen::VectorXd positions(model.nqSpanning()), rates(model.nvSpanning()), next(model.nq()),
      residual(model.nLoopRows()), way(model.nv());
  Eigen::MatrixXd G(model.nvSpanning(), model.nv());
  const long count = allocationsOf([&] {
    spanning(model, data, q, v, positions, rates);
    constraintJacobian(model, data, q, G);
    constraintBias(model, data, q, v, rates);
    constraintJacobianRate(model, data, q, v, G);
    loopResidual(model, data, q, residual);
    integrate(model, data, q, v, 1e-3, next);
    project(model, data, next, next);
    difference(model, data, q, next, way);
  });
  EXPECT_EQ(count, 0);
}

TEST_P(EveryMechanism, TwoThreadsWithOneModelAgree) {
  const auto run = [&](Eigen::MatrixXd& result) {
    Data own(model);
    Eigen::VectorXd q = model.randomConfiguration(5);
    result.resize(model.nvSpanning(), model.nv());
    for (int i = 0; i < 20; ++i) {
      integrate(model, own, q, 0.1 * randomVelocity(9), 1e-3, q);
      constraintJacobian(model, own, q, result);
    }
  };
  Eigen::MatrixXd first, second;
  std::thread other([&] { run(second); });
  run(first);
  other.join();
  EXPECT_EQ(first, second);
}

INSTANTIATE_TEST_SUITE_P(Random, EveryMechanism, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& given) { return nameOf(given.param); });

}  // namespace
}  // namespace kempe::test
