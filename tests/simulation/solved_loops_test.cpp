#include <gtest/gtest.h>

#include <cmath>

#include "kempe/kempe.hpp"
#include "simulation/coordinates.hpp"
#include "support/close_to.hpp"
#include "support/long_loops.hpp"
#include "support/random_mechanism.hpp"

// A position is placed once: forward dynamics and energies of the same Data use its loops.
namespace kempe::test {
namespace {

constexpr double kRounding = 1e-9;  // of accelerations of badly conditioned random mechanisms

Eigen::VectorXd numbers(Eigen::Index size, double first) {
  Eigen::VectorXd x(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    x[i] = std::sin(first + 1.7 * static_cast<double>(i));
  }
  return x;
}

Eigen::VectorXd accelerations(const Model& model, Data& data, VectorIn q, VectorIn v) {
  Eigen::VectorXd a = Eigen::VectorXd::Constant(model.nv(), std::nan(""));
  forwardDynamics(model, data, q, v, numbers(model.nv(), 0.5), a);
  return a;
}

/// Returns at how many of some positions loops were solved.
int comparePlacements(const Mechanism& robot) {
  const Model model(robot);
  const detail::LoopScales scales(model);
  detail::Coordinates placed(model, scales);
  Data other(model);
  std::vector<double> G(static_cast<std::size_t>(placed.ratios()), std::nan(""));
  placed.writeConstantRatios(G.data());
  Eigen::VectorXd positions(model.nqSpanning()), expected(model.nvSpanning()), rates(expected);
  const Eigen::VectorXd v = numbers(model.nv(), 0.2), elsewhere = model.randomConfiguration(9);
  int solved = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    const Eigen::VectorXd q = model.randomConfiguration(seed);
    if (placed.placeAt(q, G.data()) != detail::Standing::Regular) {
      continue;
    }
    solved += placed.data().impl().held.hasLoopsAt(q.data(), false) ? 1 : 0;
    placed.spread(G.data(), v, rates);
    spanning(model, other, q, v, positions, expected);
    EXPECT_TRUE(closeTo(rates, expected, kRounding));
    const Eigen::VectorXd a = accelerations(model, other, q, v);
    EXPECT_TRUE(closeTo(accelerations(model, placed.data(), q, v), a, kRounding));
    EXPECT_NEAR(energy(model, placed.data(), q, v).kinetic, energy(model, other, q, v).kinetic,
                kRounding * (1.0 + energy(model, other, q, v).kinetic));
    EXPECT_TRUE(closeTo(accelerations(model, placed.data(), q, v), a, kRounding));
    // What was solved at q is not used elsewhere, nor what was solved elsewhere at q.
    EXPECT_TRUE(closeTo(accelerations(model, placed.data(), elsewhere, v),
                        accelerations(model, other, elsewhere, v), kRounding));
    EXPECT_TRUE(closeTo(accelerations(model, placed.data(), q, v), a, kRounding));
    // The same ratios again, although other functions have used the memory.
    std::vector<double> again = G;
    EXPECT_EQ(placed.placeAt(q, again.data()), detail::Standing::Regular);
    EXPECT_EQ(again, G);
  }
  return solved;
}

class PlacedOnce : public ::testing::TestWithParam<MechanismCase> {};

TEST_P(PlacedOnce, GivesTheSameDynamics) {
  comparePlacements(randomMechanism(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Random, PlacedOnce, ::testing::ValuesIn(everyMechanism()),
                         [](const auto& p) { return nameOf(p.param); });

TEST(SolvedLoops, OfTwinsAndLongChains) {
  EXPECT_GT(comparePlacements(robots::load("tello").mechanism()), 0);
  EXPECT_GT(comparePlacements(longLoops()), 0);
}

}  // namespace
}  // namespace kempe::test
