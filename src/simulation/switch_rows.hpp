#pragma once

#include <algorithm>

#include "algorithms/constraint_solver.hpp"
#include "simulation/box_problem.hpp"
#include "simulation/robot_equations.hpp"

namespace kempe::detail {

/// Rows of loops that are cut, of constraints, and of switches that are enabled.
struct SwitchRows {
  explicit SwitchRows(RobotEquations& equations);

  /// Rates of the rows and K H⁻¹ Kᵀ at a state where all loops are regular.
  void place(double t, VectorIn q, VectorIn v);
  /// Adds `weight` times the velocities that a unit impulse of each row causes, H⁻¹ Kᵀ.
  void addResponse(double weight, Eigen::MatrixXd& response);

  /// Calls visit(row, switch) for the switches whose rows are enabled.
  template <typename Visit>
  void visitHeld(const Visit& visit) const {
    const auto& entries = switches.held().entries;
    for (const ActiveConstraint& active : solver.active()) {
      if (active.firstRow >= firstHeld) {
        visit(active.firstRow, static_cast<int>(active.entry - entries.data()));
      }
    }
  }

  /// Of the switches that hold, marks those of which the rows before them leave less than a part
  /// `least`. Destroys the box's A.
  void markImplied(BoxProblem& box, double least);

  /// The constraint, loop or joint of a row.
  [[nodiscard]] const ConstraintEntry& entryOf(int row) const {
    const auto after =
        std::ranges::upper_bound(solver.active(), row, {}, &ActiveConstraint::firstRow);
    return *(after - 1)->entry;
  }

  Switches& switches;
  Evaluation<double> e;
  ConstraintSolver<double> solver;
  int firstHeld = 0;
};

/// The rank of the rows of loops that are left cut, and of constraints, at a state.
int rankOfRows(RobotEquations& equations, double t, VectorIn q, VectorIn v);
/// Sets the numbers of coordinates that are held to zero exactly, if they are independent.
void holdExactly(const Switches& switches, const Coordinates& coordinates, VectorOut x);

}  // namespace kempe::detail
