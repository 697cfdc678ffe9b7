#include <gtest/gtest.h>

#include "simulation/drift_cases.hpp"

namespace kempe::test {
namespace {

// Under sanitizers a few seconds have to do.
#ifdef KEMPE_SANITIZED
constexpr double kDuration = 1.0;
#else
constexpr double kDuration = 60.0;
#endif
constexpr double kStep = 1e-3;

class LongMotion : public ::testing::TestWithParam<int> {
 protected:
  DriftCase given = driftCases()[static_cast<std::size_t>(GetParam())];
};

TEST_P(LongMotion, EmbeddedLoopsKeepClosedAndEnergyKept) {
  const Model model(given.mechanism);
  ASSERT_TRUE(model.cutLoops().empty());
  const Drift drift = driftOf(given, model, rungeKutta(), kDuration, kStep);
  EXPECT_NEAR(drift.until, kDuration, 1e-9) << given.name;
  EXPECT_LT(drift.loops, 1e-11) << given.name;
  EXPECT_LT(drift.energy, 1e-6) << given.name;
}

TEST_P(LongMotion, CutLoopsAreHeldByProjectionAndByForces) {
  const std::optional<Model> cut = leftCut(given.mechanism);
  if (!cut) {
    GTEST_SKIP() << given.name << " has bodies without inertia";
  }
  const double duration = kDuration / 10;
  const Drift projected = driftOf(given, *cut, rungeKutta(), duration, kStep);
  EXPECT_LT(projected.loops, 1e-10) << given.name;
  EXPECT_LT(projected.energy, 1e-2) << given.name;  // parallelograms pass change points
  const Drift baumgarte =
      driftOf(given, *cut, rungeKutta(Stabilization::Baumgarte), duration, kStep);
  EXPECT_LT(baumgarte.loops, 1e-4) << given.name;
  const Drift none = driftOf(given, *cut, rungeKutta(Stabilization::None), duration, kStep);
  EXPECT_LT(projected.loops, 0.1 * none.loops + 1e-11) << given.name;
}

INSTANTIATE_TEST_SUITE_P(Cases, LongMotion, ::testing::Range(0, 5), [](const auto& given) {
  return driftCases()[static_cast<std::size_t>(given.param)].name;
});

}  // namespace
}  // namespace kempe::test
