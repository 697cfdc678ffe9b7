#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kempe/constraints.hpp"
#include "loops/body_rows.hpp"
#include "loops/coordinate_rows.hpp"
#include "tables/tables.hpp"

namespace kempe::detail {

struct ModelImpl;

/// A frame on a moving body or on the world.
struct ConstraintEnd {
  int body = kWorld;
  Pose frame{};
};

struct ConstraintEntry {
  std::string name{};
  RowForm<double> form{};
  Pose forceFrame{};  ///< joints and rods: the successor's frame in its body, as it was given
  int firstRow = 0, rows = 0;
  bool enabled = true;
  ConstraintEnd predecessor{}, successor{};
  std::vector<LoopTerm<double>> terms{};
  std::vector<int> clusters{};  ///< of each term
  bool timed = false;           ///< φ depends on time, which is then a coordinate after the terms
  Function function{};          ///< of the coordinates
  FunctionPrograms programs{};  ///< of the function, if it is an expression: into programSteps
  std::vector<ProgramStep<double>> programSteps{};
  std::function<PrescribedMotion(double)> motion{};
  JointType jointType = JointType::Fixed;  ///< lock
  std::vector<double> reference{};         ///< lock: positions of the joint
  bool onRotor = false;                    ///< an end is a rotor that may be folded
  /// Clusters that a force of it reaches, those further out first.
  std::vector<int> path{};

  /// Number of coordinates that its rows along coordinates depend on.
  [[nodiscard]] int arguments() const { return static_cast<int>(terms.size()) + (timed ? 1 : 0); }
  /// The rows along coordinates as they were compiled.
  [[nodiscard]] CompiledRows<double> compiled() const {
    return {form, rows, arguments(), terms.data(), programs, programSteps.data()};
  }
  /// Registers that they need.
  [[nodiscard]] int functionNumbers() const;
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

/// Fills in the entry of a loop along coordinates, apart from their places.
void setLoop(const CoordinateForm& loop, ConstraintEntry& entry);

/// The function of an entry: φ(q) of a loop, or φ(q, t). Throws TracingError if its derivatives are too
/// large.
void setFunction(Function function, ConstraintEntry& entry);
void setFunction(TimedFunction function, ConstraintEntry& entry);

}  // namespace kempe::detail
