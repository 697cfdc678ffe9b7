// Integrators on equations of motion that are no robot's: their interface is all that they need.

#include <gtest/gtest.h>

#include <cmath>

#include "simulation/integrators.hpp"

namespace kempe::detail {
namespace {

/// q̈ = −ω² q: q = cos ωt.
class Oscillator : public EquationsOfMotion {
 public:
  explicit Oscillator(double frequency) : square_(frequency * frequency) {}

  void evaluate(double /*t*/, VectorIn q, VectorIn v, Rates& rates) override {
    rates.velocities = v;
    rates.v = v;
    rates.a = -square_ * q;
    ++evaluations_;
  }
  void follow(VectorIn q0, const double* /*G*/, VectorIn y, VectorOut q) override { q = q0 + y; }
  void chartRates(VectorIn /*q0*/, VectorIn /*y*/, VectorIn /*q*/, VectorIn v,
                  VectorIn /*velocities*/, VectorOut rates) override {
    rates = v;
  }
  [[nodiscard]] std::size_t choice() const override { return 0; }
  [[nodiscard]] long long evaluations() const override { return evaluations_; }

 private:
  double square_;
  long long evaluations_ = 0;
};

constexpr double kFrequency = 2.0;

/// The error after one second in so many steps, of q and v / ω.
double errorAfter(Integrators& integrators, Integrator integrator, int steps) {
  Oscillator oscillator(kFrequency);
  State state, next;
  Rates first, last;
  for (State* each : {&state, &next}) {
    each->q.setZero(1);
    each->v.setZero(1);
  }
  for (Rates* each : {&first, &last}) {
    each->tau.setZero(1);
    each->G.assign(1, 1.0);
  }
  state.q[0] = 1.0;
  oscillator.evaluate(0.0, state.q, state.v, first);
  for (int i = 0; i < steps; ++i) {
    next.time = static_cast<double>(i + 1) / steps;
    integrators.of(integrator)
        .step(oscillator,
              {state, first, 1.0 / steps, {.relative = 1e-6, .absolute = 1e-6}, next, last});
    std::swap(state, next);
    std::swap(first, last);
  }
  return std::hypot(state.q[0] - std::cos(kFrequency),
                    state.v[0] / kFrequency + std::sin(kFrequency));
}

struct Case {
  Integrator integrator;
  double order;
};
class EveryStepper : public testing::TestWithParam<Case> {};

/// Half the step divides the error by 2^order.
TEST_P(EveryStepper, HasItsOrder) {
  Integrators integrators;
  integrators.resize(1, 1);
  const double coarse = errorAfter(integrators, GetParam().integrator, 10);
  const double fine = errorAfter(integrators, GetParam().integrator, 20);
  EXPECT_NEAR(std::log2(coarse / fine), GetParam().order, 0.3);
}

INSTANTIATE_TEST_SUITE_P(
    Orders, EveryStepper,
    testing::Values(Case{Integrator::SemiImplicitEuler, 1.0}, Case{Integrator::RungeKutta4, 4.0},
                    Case{Integrator::ImplicitMidpoint, 2.0}, Case{Integrator::Adaptive, 5.0},
                    Case{Integrator::Radau, 5.0}),
    [](const auto& tested) { return std::string(toString(tested.param.integrator)); });

}  // namespace
}  // namespace kempe::detail
