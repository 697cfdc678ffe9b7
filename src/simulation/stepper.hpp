#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <stdexcept>

#include "kempe/types.hpp"
#include "simulation/rates.hpp"
#include "simulation/tolerances.hpp"

/// The interface between integrators and the motions that they integrate.
namespace kempe::detail {

/// Equations of motion, and the charts in which configurations are integrated (coordinates.hpp).
class EquationsOfMotion {
 public:
  EquationsOfMotion() = default;
  EquationsOfMotion(const EquationsOfMotion&) = delete;
  EquationsOfMotion& operator=(const EquationsOfMotion&) = delete;
  virtual ~EquationsOfMotion() = default;

  /// Rates of a state.
  virtual void evaluate(double t, VectorIn q, VectorIn v, Rates& rates) = 0;
  /// q = q0 ⊞ y, with G at q0.
  virtual void follow(VectorIn q0, const double* G, VectorIn y, VectorOut q) = 0;
  /// ẏ at q = q0 ⊞ y, from the velocities there.
  virtual void chartRates(VectorIn q0, VectorIn y, VectorIn q, VectorIn v, VectorIn velocities,
                          VectorOut rates) = 0;
  /// Tells choices of coordinates apart: what is known in one does not apply in another.
  [[nodiscard]] virtual std::size_t choice() const = 0;
  /// Calls of evaluate() since the construction.
  [[nodiscard]] virtual long long evaluations() const = 0;
};

/// One step of an integrator.
struct Step {
  const State& start;
  const Rates& first;  ///< at the start
  double h = 0.0;      ///< its length, s
  Tolerances tolerances;
  State& end;   ///< output, but for its time
  Rates& last;  ///< output, at the end; those of stages before
};

/// The equations of motion in the chart around the start of a step, where y = 0 and ẏ = v.
class ChartMotion {
 public:
  /// `q` is scratch.
  ChartMotion(EquationsOfMotion& motion, const Step& step, Eigen::VectorXd& q)
      : motion_(motion), step_(step), q_(q) {}

  /// Computes ẏ, the accelerations v̇ and the power at (t, y, v). The position is then q(), and all
  /// rates are those of step.last.
  void rates(double t, VectorIn y, VectorIn v, VectorOut slope, VectorOut a, Power& power) {
    motion_.follow(step_.start.q, step_.first.G.data(), y, q_);
    motion_.evaluate(t, q_, v, step_.last);
    motion_.chartRates(step_.start.q, y, q_, v, step_.last.velocities, slope);
    a = step_.last.a;
    power = step_.last.power;
  }
  [[nodiscard]] const Eigen::VectorXd& q() const { return q_; }

 private:
  EquationsOfMotion& motion_;
  const Step& step_;
  Eigen::VectorXd& q_;
};

class EquationDerivatives;
struct StepDerivatives;

/// A method of time integration. Each is a class in a file of its own; integrators.hpp lists them.
class Stepper {
 public:
  Stepper() = default;
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;
  virtual ~Stepper() = default;

  /// Allocates all memory that steps need.
  virtual void resize(int nq, int nv) = 0;
  /// Makes one step. Returns its error relative to the tolerances, 0 if it is not estimated; above 1,
  /// step.last need not be computed. Throws NoSolution if an implicit step has none.
  virtual double step(EquationsOfMotion& motion, const Step& step) = 0;
  /// Makes one step, and differentiates it with respect to its start and to forces that are constant
  /// over it (step_derivatives.hpp). `step.last` is scratch. Allocates at the first call.
  virtual void linearize(EquationsOfMotion& motion, const Step& step,
                         EquationDerivatives& derivatives, StepDerivatives& result) = 0;
  /// Drops what it knows of earlier steps: the next depends on its start only.
  virtual void forget() {}

  // Since the construction.
  [[nodiscard]] virtual long long newtonIterations() const { return 0; }
  [[nodiscard]] virtual long long jacobians() const { return 0; }
};

/// An implicit step that finds no solution; shorter ones may.
class NoSolution : public std::runtime_error {
 public:
  explicit NoSolution(double h);
};

}  // namespace kempe::detail
