#pragma once

#include <Eigen/Core>
#include <memory>

#include "kempe/recording.hpp"
#include "simulation/rates.hpp"
#include "simulation/stepper.hpp"

namespace kempe::detail {

/// A motion: its state, and the step from it that is under way.
struct MotionState {
  /// Allocates memory, and makes everything zero.
  void resize(const Coordinates& coordinates, const ForceElements& elements);
  void resizeForElements(const ForceElements& elements);
  /// Evaluates the state, after a change of it, and show()s it.
  void evaluate(EquationsOfMotion& equations) {
    equations.evaluate(state.time, state.q, state.v, *first);
    show();
  }
  /// Energy supplied and dissipated since the start.
  [[nodiscard]] Work work() const;
  /// Updates v, velocities and heading from `first`, which is then that of the state.
  void show();
  /// Largest velocity of all joints.
  [[nodiscard]] double speed() const { return velocities.cwiseAbs().maxCoeff(); }
  /// Makes the end of the step the state.
  void advance(double time);

  State state, next;
  // Rates of the state and of the next one; a step that is completed exchanges the two.
  std::unique_ptr<Rates> first = std::make_unique<Rates>(), last = std::make_unique<Rates>();
  bool fresh = false;       ///< `first` is that of the state
  Vector v;                 ///< of the user's coordinates
  Vector velocities;        ///< of all joints
  Eigen::VectorXd heading;  ///< the same, when they were last not zero
};

}  // namespace kempe::detail
