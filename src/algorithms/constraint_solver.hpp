#pragma once

#include "algorithms/evaluation.hpp"
#include "constraints/pivoted_cholesky.hpp"

/// Multipliers through the recursive operational-space matrix (Jain, cut-joint method), on the
/// factors that forward dynamics leaves (see articulated.hpp). With u_r = L⁻¹ u of the unit force
/// of row r, sent from its bodies to the root by (4) and (5) there, and Δ the pivots:
///
///   K H⁻¹ Kᵀ = [u_rᵀ Δ⁻¹ u_s]          K ÿ_free = [u_rᵀ Δ⁻¹ u_free]          (1)
///   (K H⁻¹ Kᵀ) λ = −(K ÿ_free + β)                                            (2)
///   u = u_free + Σ λ_r u_r, and once more (6) there                            (3)
///
/// (1) is Q B* Ω B Q*, Ω = ψ* H* D⁻¹ H ψ, computed only for the bodies that the rows act on.
namespace kempe::detail {

/// Armatures added to a tree (see SpanningTree) are compensated by iteration, until accelerations
/// change by less than this fraction.
template <typename T>
inline constexpr T kArmatureTakenOff = std::is_same_v<T, float> ? T(1e-6) : T(1e-14);
inline constexpr int kMostIterations = 60;

/// One solution for constraints of one or several tables on the evaluation's tree. Call the steps
/// in the order in which they are declared.
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
  [[nodiscard]] int rows() const { return rows_; }
  /// Whether rows pull at rotors that may be folded.
  [[nodiscard]] bool onRotors() const { return onRotors_; }
  [[nodiscard]] const std::vector<ActiveConstraint>& active() const { return scratch.active; }

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
  void solve(T* rightSide, T* lambda);
  /// Adds Σ λ_r u_r to L⁻¹ u of the forces that act already: (3).
  void addForces(const T* lambda, T* u) const;
  /// K of one row, nv numbers.
  void row(int r, T* K) const;

  [[nodiscard]] int rank() const { return factored_.rank; }
  /// How far the rows that are not redundant are from losing rank: proportional to the distance
  /// from a position where they do.
  [[nodiscard]] T regularity() const { return std::sqrt(factored_.least); }
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

  int rows_ = 0;
  int slopes_ = 0;
  int outputs_ = 0;
  PivotedRank<T> factored_;
  bool onRotors_ = false;
};

/// Adds the generalised forces of a force on body b to x, after placing.
template <typename T>
void addGeneralizedForce(const Evaluation<T>& e, int b, const Force<T>& force, T* x);

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

/// Forward dynamics of the evaluation's tree under the constraints of the solver. All sizes are
/// those of the tree; `positions` is its q. λ of the rows that are on is left in the scratch.
///
/// (2) loses digits if masses differ by many orders of magnitude. If too many are lost, [H Kᵀ; K 0]
/// is solved instead, which allocates. Throws SingularityError if that loses too many as well.
template <typename T>
ConstraintReport constrainedAccelerations(ConstraintSolver<T>& solver, double time,
                                          double stabilization, const T* q, const T* v,
                                          const T* tau, const ExternalForces<T, T>& external,
                                          T* ydd);

}  // namespace kempe::detail
