#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "kempe/recording.hpp"
#include "kempe/types.hpp"

namespace kempe::detail {

/// Estimates the errors of steps of fixed length, from the accelerations at their ends.
///
/// The quadratic through the accelerations a₋, a₀ and a₁ at the times −h₋, 0 and h gives
///
///   c = ((a₁ − a₀) / h − (a₀ − a₋) / h₋) / (h + h₋)                    (1)
///   v̂ = v₀ + h/2 (a₀ + a₁) − h³/6 c                                    (2)
///   ŷ = h/2 (v₀ + v̂) + h²/12 (a₀ − a₁)                                 (3)
///
/// with errors of the order h⁴ and h⁵ (Adams and Moulton). v₁ − v̂ and y₁ − ŷ are then the errors of
/// a step of the first or second order, and bound those of the fourth order from above. Where a₋ is
/// not known, c is taken as zero (trapezoidal rule); for Runge-Kutta's method,
///
///   v₁ − v̂ = h/6 (a₁ − k₄)                                             (4)
///
/// with the acceleration k₄ of its last stage, whose place a₁ takes in Simpson's rule. The sum of all
/// errors, times the factor by which the motion amplifies them, bounds the error at the end.
///
/// An error of a velocity counts by the way that it makes while the fastest coordinate moves by 1 rad
/// or m, or in the time of all steps so far if that is shorter: no unit of time enters.
class ErrorWatch {
 public:
  void resize(Eigen::Index nv) { before_.setZero(nv); }
  /// Starts again at zero, with the next state.
  void restart();
  /// The accelerations before the next step do not continue those of the last one.
  void interrupt() { known_ = false; }

  /// Adds a step of length h from v0, a0 to v1, a1 in a choice of coordinates; `lastStage` is k₄ of
  /// Runge-Kutta's method, and does not count for others.
  void add(Integrator method, double h, std::size_t choice, VectorIn v0, VectorIn a0, VectorIn v1,
           VectorIn a1, VectorIn lastStage);

  /// The sum of the largest errors of the steps so far, in radians or metres.
  [[nodiscard]] double sum() const { return sum_; }

 private:
  Eigen::VectorXd before_;  // a₋
  double length_ = 0.0;     // h₋
  std::size_t choice_ = 0;  // of the coordinates of a₋
  bool known_ = false;      // whether a₋ is
  double fastest_ = 0.0;    // velocity so far
  double elapsed_ = 0.0;    // seconds
  double sum_ = 0.0;
};

}  // namespace kempe::detail
