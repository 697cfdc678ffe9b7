#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kempe/constraints.hpp"
#include "loops/body_rows.hpp"
#include "tables/tables.hpp"

namespace kempe::detail {

struct ModelImpl;

/// A frame on a moving body or on the world.
struct ConstraintEnd {
  int body = kWorld;
  Pose frame{};
};

/// A scalar coordinate, by its places in the spanning position and velocity.
struct ConstraintTerm {
  int position = 0;
  int velocity = 0;
  double coefficient = 1.0;
};

struct ConstraintEntry {
  std::string name{};
  RowForm<double> form{};
  Pose forceFrame{};  ///< joints and rods: the successor's frame in its body, as it was given
  int firstRow = 0, rows = 0;
  bool enabled = true;
  ConstraintEnd predecessor{}, successor{};
  std::vector<ConstraintTerm> terms{};
  std::vector<int> clusters{};  ///< of each term
  TimedFunction function{};
  std::vector<ProgramStep<double>> programSteps{};  ///< function, if it is an expression
  ProgramEntry program{};                           ///< see setFunction()
  std::function<PrescribedMotion(double)> motion{};
  JointType jointType = JointType::Fixed;  ///< lock
  std::vector<double> reference{};         ///< lock: positions of the joint
  bool onRotor = false;                    ///< an end is a rotor that may be folded
  /// Clusters that a force of it reaches, those further out first.
  std::vector<int> path{};

  /// Its entries in loopForces(), if it is a loop that is cut.
  [[nodiscard]] int forceEntries() const {
    return form.betweenBodies() ? 6 : static_cast<int>(terms.size());
  }
};

/// Constraints of a tree of clusters: those of a Constraints object, or loops that are cut.
struct ConstraintTable {
  std::vector<ConstraintEntry> entries{};
  int rows = 0;
  int forces = 0;           ///< number of force entries of cut loops
  int functionNumbers = 0;  ///< registers of the largest program of a function
  double stabilization = 0.0;

  /// Numbers the entry's rows and finds its path.
  void append(const ModelTables<double>& tables, ConstraintEntry entry);
};

/// Fills in the entry of a loop between bodies, whose ends are given in the frames of their bodies.
void setLoop(const BodyForm& loop, const ConstraintEnd& predecessor, const ConstraintEnd& successor,
             ConstraintEntry& entry);

/// The function φ(q, t) of an entry. Where it is an expression, a program computes φ, φ̇, φ̈ (rows
/// each) and ∂φ/∂q (rows × terms) from q, t, q̇ and q̈.
void setFunction(TimedFunction function, ConstraintEntry& entry);
/// A function that does not depend on time.
void setFunction(const Function& function, ConstraintEntry& entry);

}  // namespace kempe::detail
