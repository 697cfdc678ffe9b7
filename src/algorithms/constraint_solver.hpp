#pragma once

#include <optional>

#include "algorithms/evaluation.hpp"
#include "constraints/multipliers.hpp"
#include "kernels/constraint_forces.hpp"

namespace kempe::detail {

/// Armatures added to a tree (see SpanningTree) are compensated by iteration, until accelerations
/// change by less than this fraction.
template <typename T>
inline constexpr T kArmatureTakenOff = std::is_same_v<T, float> ? T(1e-6) : T(1e-14);
inline constexpr int kMostIterations = 60;

/// One solution for constraints of one or several tables on the evaluation's tree, by the equations
/// of kernels/constraint_forces.hpp. Call the steps in the order in which they are declared.
template <typename T>
class ConstraintSolver {
 public:
  explicit ConstraintSolver(Evaluation<T>& evaluation)
      : e(evaluation), scratch(evaluation.data.constraints) {
    e.need(WorkStage::Articulated);
    scratch.active.clear();
  }

  /// Appends the constraints of a table that are on.
  void add(const ConstraintTable& table);
  /// What kernels for the constraints that are on take, but time and outputs. Allocates where it is
  /// called with more rows than before.
  [[nodiscard]] ConstraintRequest<T> kernelRequest();
  [[nodiscard]] int rows() const { return scratch.active.rows; }
  /// Whether rows pull at rotors that may be folded.
  [[nodiscard]] bool onRotors() const { return scratch.active.onRotors; }
  [[nodiscard]] const std::vector<ActiveConstraint>& active() const { return scratch.active.list; }

  /// φ, φ̇, wrenches, slopes and biases, at bodies that were placed and moved with ÿ = 0, whole
  /// rotors among them.
  void evaluate(double time);
  /// Throws SingularityError if a row that was evaluated is not finite, since it would be mistaken
  /// for a redundant one.
  void requireDefined() const;
  /// u_r of all rows and K H⁻¹ Kᵀ, after the recursion has condensed the inertias.
  void propagate();
  /// Factors K H⁻¹ Kᵀ, and finds redundant rows.
  void factorize();
  /// λ of (K H⁻¹ Kᵀ) λ = rightSide of least norm. `rightSide` is overwritten by the residual.
  void solve(T* rightSide, T* lambda) const { system_.solve(rightSide, lambda); }
  /// Adds Σ λ_r u_r to L⁻¹ u of the forces that act already: (3).
  void addForces(const T* lambda, T* u) const;
  /// K of one row, nv numbers.
  void row(int r, T* K) const;

  [[nodiscard]] int rank() const { return system_.factored.rank; }
  /// How far the rows that are not redundant are from losing rank: proportional to the distance
  /// from a position where they do.
  [[nodiscard]] T regularity() const { return std::sqrt(system_.factored.least); }
  /// Linearly independent rows of K, best first. Unlike in factorize(), masses have no effect.
  /// After propagate().
  const std::vector<int>& independentRows();
  /// Estimated relative error of the result of solve(), after factorize(); infinite if a row was
  /// mistaken for redundant. `contradicted`: rows were left open.
  [[nodiscard]] T error(bool contradicted = false);
  /// Throws SingularityError if that is too large.
  void requireAccurate();
  [[nodiscard]] const T* unit(int r) const { return scratch.unit.data() + r * e.tables->nv; }
  /// u_rᵀ Δ⁻¹ x for x = L⁻¹ u of any forces.
  T accelerationAlong(int r, const T* x) const;

  Evaluation<T>& e;
  ConstraintScratch<T>& scratch;

 private:
  [[nodiscard]] const ActiveConstraint& ownerOf(int r) const;

  [[nodiscard]] ConstraintWork<T> work() const;

  MultiplierSystem<T> system_;
};

/// Throws std::invalid_argument for constraints of another model and for a time that is not finite.
void requireFit(const ModelImpl& model, const Constraints& constraints, double time);

/// Inverse operational-space inertia Ω = J ∂ÿ/∂τ Jᵀ of frames under the constraints of the solver,
/// at placed bodies. `added` are armatures that the tree has but the mechanism has not (see
/// SpanningTree); empty if there are none.
template <typename T>
void constrainedOperationalInertia(ConstraintSolver<T>& solver, std::span<const int> frames,
                                   Reference reference, std::span<const double> added,
                                   MatrixOutOf<T> Omega);

/// Forward dynamics of the evaluation's tree without the constraints: leaves u_free, the rows, u_r
/// and β (with stabilising terms) in the solver and its scratch, for (2).
template <typename T>
void freeAccelerations(ConstraintSolver<T>& solver, double time, double stabilization, const T* q,
                       const T* v, const T* tau, const ExternalForces<T, T>& external);

/// Forward dynamics of the model under the constraints of the solver by the kernel for the
/// processor, which leaves nothing in the solver but λ in its scratch, and with `regularity` that of
/// the rows and the slopes of constraints on coordinates. It uses loops that have been solved at q
/// (HeldMotion). Nothing where it is not certain of the result: then constrainedAccelerations() is.
template <typename T>
std::optional<ConstraintReport> kernelAccelerations(ConstraintSolver<T>& solver, double time,
                                                    double stabilization, const T* q, const T* v,
                                                    const T* tau,
                                                    const ExternalForces<T, T>& external, T* ydd,
                                                    double* regularity = nullptr);

/// Forward dynamics of the evaluation's tree under the constraints of the solver. All sizes are
/// those of the tree; `positions` is its q. λ of the rows that are on is left in the scratch.
///
/// (2) loses digits if masses differ by many orders of magnitude. If too many are lost, [H Kᵀ; K 0]
/// is solved instead, which allocates. Throws SingularityError if that loses too many as well.
/// `cancelled` tells whether (2) lost too many: then its factors are of no use.
template <typename T>
ConstraintReport constrainedAccelerations(ConstraintSolver<T>& solver, double time,
                                          double stabilization, const T* q, const T* v,
                                          const T* tau, const ExternalForces<T, T>& external,
                                          T* ydd, bool* cancelled = nullptr);

}  // namespace kempe::detail
