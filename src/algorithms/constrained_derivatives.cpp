#include "algorithms/constrained_derivatives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "algorithms/differentiable.hpp"
#include "algorithms/term_evaluation.hpp"
#include "algorithms/varied_constraints.hpp"
#include "algorithms/varied_dynamics.hpp"
#include "constraints/row_derivatives.hpp"
#include "kempe/constrained_forward_dynamics_derivatives.hpp"
#include "kempe/project_velocities_derivatives.hpp"
#include "kernels/articulated.hpp"
#include "kernels/inverse_dynamics_derivatives.hpp"
#include "loops/saddle_point.hpp"
#include "model/positions.hpp"
#include "text/messages.hpp"

/// Derivatives of motions under constraints. Forward dynamics solves
///
///   H a + h − Kᵀ λ = τ,   A λ = b,   A = K H⁻¹ Kᵀ,   b = −(K a_free + β)              (1)
///
/// with λ = A⁺ b. Where rows are redundant, λ is the solution of least norm, and N = 1 − A A⁺ projects
/// onto the combinations of rows that are zero: N K = 0. The residual N b = μ is zero unless rows
/// contradict each other. Along a DoF, or with τ, at constant a and λ, let
///
///   c = δτ − ∂(ID(q, v, a) − Kᵀ λ),   e = ∂(K a + β)                                  (2)
///
/// From dA⁺ = −A⁺ dA A⁺ + A⁺A⁺ dA N + N dA A⁺A⁺ for a symmetric A of constant rank (Golub and
/// Pereyra 1973), and since N K = 0, with y = H⁻¹ Kᵀ A⁺ λ,
///
///   δλ = A⁺ (−e − K H⁻¹ c) + N (δK y) + A⁺A⁺ K H⁻¹ δ(Kᵀ μ)                            (3)
///   δa = H⁻¹ (c + Kᵀ δλ)                                                              (4)
///
/// The second term turns λ with the null space of Kᵀ and exerts no force; δK y is the change of φ̇ at
/// velocities y. The third acts only where rows contradict each other. The rank stays the same along
/// the motions that the constraints allow if N δK z = 0 for z and δ of those; otherwise the position is
/// singular, and λ has no derivative.
///
/// An impulse Λ that takes v to v⁺ is the same with H (v⁺ − v) = Kᵀ Λ and φ̇(q, v⁺) = 0:
///
///   c = −∂(H (v⁺ − v) − Kᵀ Λ),   e = ∂φ̇(q, v⁺)       along y_j                        (5)
///   δv⁺ = δv + H⁻¹ Kᵀ δΛ,   δΛ = −A⁺ K δv           along v                           (6)
///
/// and the least motion x of positions onto φ = 0, where that is zero, is H x = Kᵀ Λ with K x = −φ:
///
///   δy⁺ = δy + H⁻¹ Kᵀ δΛ,   δΛ = −A⁺ K δy,   rows without φ: K (δy⁺ − δy) = 0           (7)
namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// N δK z of less than this share of K is zero.
template <typename T>
constexpr T kConstantRank = std::is_same_v<T, float> ? T(2e-2) : T(1e-4);
/// Velocities that are less than this share of the ones they were projected from are zero.
template <typename T>
constexpr T kLocked = std::is_same_v<T, float> ? T(1e-3) : T(1e-7);

/// One differentiation: the memory for it, and the steps.
template <typename T>
class Differentiation {
 public:
  /// After the rows have been evaluated. `externals` of e.data.frames are forces of the user.
  Differentiation(ConstraintSolver<T>& constraintSolver, double time, const T* q)
      : solver_(constraintSolver),
        e_(constraintSolver.e),
        q_(q),
        n_(constraintSolver.rows()),
        nv_(constraintSolver.e.tables->nv),
        externals_(e_.data.frames.size()),
        m_(carve()),
        columns_(*e_.tables, *e_.work, m_.kernel.motion),
        rows_(*e_.tables, *e_.work, columns_, m_.kernel.motion, constraintSolver.scratch.active,
              constraintSolver.scratch.slopes.data(), time, m_.rows),
        time_(time) {
    e_.work->wholeRotors = true;  // every body is moved
    m_.kernel.jointForces = m_.jointForces;
    std::fill_n(m_.zeroV, nv_, T(0));
    std::fill_n(m_.zeroLambda, n_, T(0));
    if (takesVariedDynamics(e_.impl)) {
      varied_.emplace(carvedFrom<VariedConstraints<T>>(
          e_.data.secondDerivatives, e_.impl, e_.data.loops.forFunctions(), solver_.scratch.active,
          solver_.scratch.functions.view(), static_cast<int>(externals_)));
    }
  }

  struct Memory {
    DerivativeWork<T> kernel;
    RowDerivativeWork<T> rows;
    T *byQ, *byV, *H;  ///< nv²: of the last evaluation
    T* before;         ///< nv²: of one before
    T* factor;         ///< nv²: of H
    T* sides;          ///< columns of nv numbers: H⁻¹ c, 3 nv of them, and H⁻¹ Kᵀ
    T *K, *rates, *byQOfRows, *byVOfRows;               ///< rows × nv
    T* answers;                                         ///< 3 nv columns of δλ
    T* jointForces;                                     ///< spanning
    T *a, *x, *z, *zeroV;                               ///< nv
    T *lambda, *mu, *scaled, *w, *column, *zeroLambda;  ///< rows
  };

  /// ∂(ID(q, v, a) − Kᵀ λ) with respect to q and v into byQ and byV, H, and the motion of the bodies
  /// with its derivatives. `forces`: those of the user act too.
  void evaluate(const T* v, const T* a, const T* lambda, bool forces) {
    // Before, because the rows read the motion of all bodies, of which the kernel stores a part.
    placeMechanism(*e_.tables, *e_.work, e_.loops, q_);
    e_.data.frames.resize(externals_);
    e_.data.wrenches.resize(6 * externals_);
    if (varied_) {
      const ExternalForces<T, T> external{e_.data.frames.data(), e_.data.wrenches.data(),
                                          forces ? static_cast<int>(externals_) : 0};
      requireRegular(varied_->evaluate(time_, q_, v, a, lambda, external, m_.byQ, m_.byV, m_.H));
      return;
    }
    e_.move(v, a);
    rows_.wrenches(lambda, [&](int body, const Force<T>& f) {
      if (body == kWorld) {
        return;
      }
      const Force<T> local = e_.work->X[body].inverse() * f;
      e_.data.frames.push_back({body, {}, Reference::Local});
      for (const Vec3<T>& part : {local.force, local.moment}) {
        e_.data.wrenches.insert(e_.data.wrenches.end(), {part.x, part.y, part.z});
      }
    });
    std::fill_n(m_.jointForces, e_.tables->velocities, T(0));
    rows_.jointForces(lambda, m_.jointForces);
    const std::size_t first = forces ? 0 : externals_;
    const ExternalForces<T, T> external{e_.data.frames.data() + first,
                                        e_.data.wrenches.data() + 6 * first,
                                        static_cast<int>(e_.data.frames.size() - first)};
    const DerivativeMatrices<T> result{{m_.byQ, nv_, 1}, {m_.byV, nv_, 1}, {m_.H, nv_, 1}};
    InverseDynamicsDerivativesKernel kernel(*e_.tables, *e_.work, m_.kernel, external, result);
    kernel.template run<LevelByLevel>(e_.loops, q_, v, a);
    rows_.subtractForceChanges(lambda, matrix(m_.byQ));
    e_.data.frames.resize(externals_);
    e_.data.wrenches.resize(6 * externals_);
  }

  /// ∂(H x − Kᵀ λ)/∂q into byQ. Inverse dynamics at rest is affine in x and λ: large ones keep
  /// gravity and springs, which are subtracted, from taking digits.
  void evaluateInertial(const T* x, const T* lambda) {
    if (varied_) {
      requireRegular(varied_->evaluateInertial(time_, q_, x, lambda, m_.byQ, m_.H));
      return;
    }
    const T large(std::is_same_v<T, float> ? 0x1p20 : 0x1p40);
    evaluate(m_.zeroV, m_.zeroV, m_.zeroLambda, false);
    std::copy_n(m_.byQ, nv_ * nv_, m_.before);
    for (int i = 0; i < nv_; ++i) {
      m_.z[i] = large * x[i];
    }
    for (int r = 0; r < n_; ++r) {
      m_.scaled[r] = large * lambda[r];
    }
    evaluate(m_.zeroV, m_.z, m_.scaled, false);
    for (int i = 0; i < nv_ * nv_; ++i) {
      m_.byQ[i] = (m_.byQ[i] - m_.before[i]) / large;
    }
  }

  // Of the rows, after evaluate():
  /// K.
  void writeJacobian() { rows_.jacobian(matrix(m_.K)); }
  /// ∂φ̇/∂q; without the part that explicit functions of time have in φ̇, it is ∂(K v)/∂q.
  void writeRates(bool ofTime, T* to) {
    if (varied_) {
      std::copy_n(ofTime ? varied_->ofRate : varied_->ofK, n_ * nv_, to);
    } else {
      rows_.rates(ofTime, matrix(to));
    }
  }
  /// Derivatives of φ̈ with stabilising terms at a rate γ, after both.
  void writeAccelerations(const T& gamma) {
    if (varied_) {
      std::copy_n(varied_->secondByQ, n_ * nv_, m_.byQOfRows);
      std::copy_n(varied_->secondByV, n_ * nv_, m_.byVOfRows);
    } else {
      rows_.accelerations(matrix(m_.byQOfRows), matrix(m_.byVOfRows));
    }
    rows_.stabilize(gamma, matrix(m_.K), matrix(m_.rates), matrix(m_.byQOfRows),
                    matrix(m_.byVOfRows));
  }

  /// H⁻¹ of the sides, in place.
  void factorizeInertia() {
    std::copy_n(m_.H, nv_ * nv_, m_.factor);
    if (!choleskyFactor(m_.factor, nv_)) {
      throwIllConditionedError(std::numeric_limits<double>::infinity());
    }
  }
  /// H⁻¹ Kᵀ, after K.
  void findResponses() {
    for (int r = 0; r < n_; ++r) {
      std::copy_n(m_.K + r * nv_, nv_, response(r));
      choleskySolve(m_.factor, nv_, response(r));
    }
  }
  /// The first term of (3) for the column of right-hand sides X = H⁻¹ c, and `change`(r) = e.
  template <typename Change>
  void answer(int column, const Change& change) {
    const T* X = side(column);
    for (int r = 0; r < n_; ++r) {
      T sum = change(r);
      for (int i = 0; i < nv_; ++i) {
        sum += m_.K[r * nv_ + i] * X[i];
      }
      m_.column[r] = -sum;
    }
    solver_.solve(m_.column, answerTo(column));
  }

  /// (3) and (4) of all columns by the system [H Kᵀ; K 0], where K H⁻¹ Kᵀ has lost digits; for
  /// independent rows. `change`(r, column) = e; the sides are c. Allocates.
  template <typename Change>
  void solveDense(const Change& change) {
    SaddlePoint saddle;
    saddle.resize(nv_ + n_);
    for (int i = 0; i < nv_; ++i) {
      for (int j = 0; j < nv_; ++j) {
        saddle.at(i, j) = static_cast<double>(m_.H[i * nv_ + j]);
      }
      for (int r = 0; r < n_; ++r) {
        saddle.at(i, nv_ + r) = saddle.at(nv_ + r, i) = static_cast<double>(m_.K[r * nv_ + i]);
      }
    }
    constexpr double kRounding = 1e-15;
    double error = saddle.factorize(kRounding) >= 0 ? std::numeric_limits<double>::infinity() : 0.0;
    std::vector<double> x(static_cast<std::size_t>(nv_ + n_));
    for (int column = 0; column < 3 * nv_ && std::isfinite(error); ++column) {
      std::copy_n(side(column), nv_, x.begin());
      for (int r = 0; r < n_; ++r) {
        x[nv_ + r] = -static_cast<double>(change(r, column));
      }
      error = std::max(error, saddle.solve(x.data()));
      for (int i = 0; i < nv_; ++i) {
        side(column)[i] = static_cast<T>(x[i]);
      }
      for (int r = 0; r < n_; ++r) {
        answerTo(column)[r] = -static_cast<T>(x[nv_ + r]);
      }
    }
    if (!(error <= static_cast<double>(RowTolerances<T>::kTolerated))) {
      throwIllConditionedError(error);
    }
    std::fill_n(response(0), n_ * nv_, T(0));  // the sides are δa already
  }

  /// The second and third term of (3) for the columns of q.
  void turnNullSpace() {
    if (solver_.rank() == n_) {
      return;
    }
    requireConstantRank();
    std::copy_n(m_.lambda, n_, m_.column);
    solver_.solve(m_.column, m_.w);
    respondTo(m_.w, m_.x);  // y
    rateChangesAt(m_.x);
    for (int j = 0; j < nv_; ++j) {
      leaveResidual(j);
      for (int r = 0; r < n_; ++r) {
        answerTo(j)[r] += m_.column[r];
      }
    }
    evaluateInertial(m_.zeroV, m_.mu);  // byQ = −∂(Kᵀ μ)
    for (int j = 0; j < nv_; ++j) {
      for (int r = 0; r < n_; ++r) {
        T sum(0);
        for (int i = 0; i < nv_; ++i) {
          sum -= response(r)[i] * m_.byQ[i * nv_ + j];
        }
        m_.column[r] = sum;
      }
      solver_.solve(m_.column, m_.w);
      std::copy_n(m_.w, n_, m_.column);
      solver_.solve(m_.column, m_.w);
      for (int r = 0; r < n_; ++r) {
        answerTo(j)[r] += m_.w[r];
      }
    }
  }

  /// Column `column` of (4).
  template <typename Write>
  void writeMotion(int column, const Write& write) const {
    const T* X = side(column);
    const T* change = answerTo(column);
    for (int i = 0; i < nv_; ++i) {
      T sum = X[i];
      for (int r = 0; r < n_; ++r) {
        sum += response(r)[i] * change[r];
      }
      write(i, sum);
    }
  }
  /// Column j of the kind-th matrices of the outputs.
  void write(int kind, int j, const MatrixAt<T>& motion, const MatrixAt<T>& multipliers) const {
    const int column = kind * nv_ + j, firstOutput = e_.impl.cuts.rows;
    writeMotion(column, [&](int i, const T& x) { motion(i, j) = x; });
    if (!multipliers) {
      return;
    }
    for (int r = 0; r < solver_.scratch.active.outputs - firstOutput; ++r) {
      multipliers(r, j) = T(0);
    }
    for (const ActiveConstraint& active : solver_.active()) {
      for (int r = 0; active.firstOutput >= firstOutput && r < active.entry->rows; ++r) {
        multipliers(active.firstOutput - firstOutput + r, j) =
            answerTo(column)[active.firstRow + r];
      }
    }
  }

  /// Whether row r is one of positions too.
  [[nodiscard]] bool hasPosition(int r) const {
    const auto owner = std::ranges::find_if(solver_.active(), [&](const ActiveConstraint& active) {
      return r < active.firstRow + active.entry->rows;
    });
    return isHolonomic(*owner->entry, r - owner->firstRow);
  }
  [[nodiscard]] RowMatrix<T> matrix(T* numbers) const { return {numbers, nv_}; }
  [[nodiscard]] T* side(int column) const { return m_.sides + column * nv_; }
  [[nodiscard]] T* answerTo(int column) const { return m_.answers + column * n_; }
  /// H⁻¹ Kᵀ of row r.
  [[nodiscard]] T* response(int r) const { return side(3 * nv_ + r); }
  void solveInertia(T* x) const { choleskySolve(m_.factor, nv_, x); }
  [[nodiscard]] const Memory& memory() const { return m_; }

 private:
  static Memory carve(const TablesView<T>& tables, const ActiveConstraints& active,
                      Carver& carver) {
    const int nv = tables.nv, n = active.rows;
    Memory m;
    m.kernel = carveDerivatives<T>(tables, carver);
    m.rows = carveRowDerivatives<T>(active, tables.clusterCount, carver);
    for (T** part : {&m.byQ, &m.byV, &m.H, &m.before, &m.factor}) {
      *part = carver.take<T>(nv * nv);
    }
    m.sides = carver.take<T>(nv * (3 * nv + n));
    for (T** part : {&m.K, &m.rates, &m.byQOfRows, &m.byVOfRows}) {
      *part = carver.take<T>(n * nv);
    }
    m.answers = carver.take<T>(3 * nv * n);
    m.jointForces = carver.take<T>(tables.velocities);
    for (T** part : {&m.a, &m.x, &m.z, &m.zeroV}) {
      *part = carver.take<T>(nv);
    }
    for (T** part : {&m.lambda, &m.mu, &m.scaled, &m.w, &m.column, &m.zeroLambda}) {
      *part = carver.take<T>(n);
    }
    return m;
  }
  Memory carve() const {
    Carver counting(nullptr);
    carve(*e_.tables, solver_.scratch.active, counting);
    Carver carver(solver_.scratch.kernel.of(counting.used()));
    return carve(*e_.tables, solver_.scratch.active, carver);
  }

  void requireRegular(int singular) const {
    if (singular >= 0) {
      e_.throwSingular(singular, e_.work->positions);
    }
  }
  /// H⁻¹ Kᵀ w.
  void respondTo(const T* w, T* x) const {
    std::fill_n(x, nv_, T(0));
    for (int r = 0; r < n_; ++r) {
      for (int i = 0; i < nv_; ++i) {
        x[i] += w[r] * response(r)[i];
      }
    }
  }
  /// ∂(K y)/∂q at constant y.
  void rateChangesAt(const T* y) {
    evaluate(y, m_.zeroV, m_.zeroLambda, false);
    writeRates(false, m_.rates);
  }
  /// N of column j of the rates.
  void leaveResidual(int j) {
    for (int r = 0; r < n_; ++r) {
      m_.column[r] = m_.rates[r * nv_ + j];
    }
    solver_.solve(m_.column, m_.w);
  }

  /// Some velocity that the rows allow, one for each `phase`. Returns its size, 0 if they allow none.
  T allowedVelocity(double phase, T* z) {
    T before(0), after(0);
    for (int i = 0; i < nv_; ++i) {
      z[i] = static_cast<T>(std::sin(1.7 * i + phase));
      before = std::max(before, std::abs(z[i]));
    }
    for (int r = 0; r < n_; ++r) {
      T sum(0);
      for (int i = 0; i < nv_; ++i) {
        sum += m_.K[r * nv_ + i] * z[i];
      }
      m_.column[r] = -sum;
    }
    solver_.solve(m_.column, m_.w);
    respondTo(m_.w, m_.x);
    for (int i = 0; i < nv_; ++i) {
      z[i] += m_.x[i];
      after = std::max(after, std::abs(z[i]));
    }
    return after > kLocked<T> * before ? after : T(0);
  }

  /// Throws if redundant rows become independent along a motion that the rows allow.
  void requireConstantRank() {
    T size = allowedVelocity(0.3, m_.z), left(0);
    if (!(size > T(0))) {
      return;
    }
    rateChangesAt(m_.z);
    size *= allowedVelocity(0.9, m_.z) * rows_.reach();
    for (int r = 0; r < n_; ++r) {
      T sum(0);
      for (int j = 0; j < nv_; ++j) {
        sum += m_.rates[r * nv_ + j] * m_.z[j];
      }
      m_.column[r] = sum;
    }
    solver_.solve(m_.column, m_.w);
    for (int r = 0; r < n_; ++r) {
      left = std::max(left, std::abs(m_.column[r]));
    }
    if (left > kConstantRank<T> * size) {
      std::string first;
      for (const ActiveConstraint& active : solver_.active()) {
        for (int r = active.firstRow; first.empty() && r < active.firstRow + active.entry->rows;
             ++r) {
          if (!(std::abs(m_.column[r]) < left)) {
            first = active.entry->name;
          }
        }
      }
      throw SingularityError(
          "the constraints are at a singular position: rows that depend on others here, of "
          "constraint " +
              kempe::quoted(first) +
              ", do not when the mechanism moves, so that the dynamics have no derivatives. Move "
              "away from there, or switch the constraint off.",
          first, std::numeric_limits<double>::infinity());
    }
  }

  using Columns = MotionDerivatives<T, TablesView<T>>;

  ConstraintSolver<T>& solver_;
  Evaluation<T>& e_;
  const T* q_;
  int n_, nv_;
  std::size_t externals_;
  Memory m_;
  Columns columns_;
  RowDerivatives<T, Columns, MotionDerivativeWork<T>> rows_;
  double time_;
  std::optional<VariedConstraints<T>> varied_;  // for models with flexible bodies
};

}  // namespace

template <typename T>
ConstraintReport detail::differentiateConstrained(ConstraintSolver<T>& solver, double time,
                                                  double stabilization, const T* q, const T* v,
                                                  const T* tau,
                                                  const ExternalForces<T, T>& external,
                                                  const ConstrainedDerivativeOutputs<T>& outputs) {
  const int nv = solver.e.tables->nv, rows = solver.rows();
  bool cancelled = false;
  const ConstraintReport report = constrainedAccelerations(
      solver, time, stabilization, q, v, tau, external, solver.scratch.free.data(), &cancelled);
  if (cancelled && report.rank < rows) {
    throwIllConditionedError(std::numeric_limits<double>::infinity());
  }
  Differentiation<T> d(solver, time, q);
  const auto& m = d.memory();
  std::copy_n(solver.scratch.free.data(), nv, m.a);
  std::copy_n(solver.scratch.lambda.data(), rows, m.lambda);
  std::copy_n(solver.scratch.rightSide.data(), rows, m.mu);
  d.evaluate(v, m.a, m.lambda, true);
  d.writeJacobian();
  d.writeRates(true, m.rates);
  d.writeAccelerations(static_cast<T>(stabilization));
  for (int j = 0; j < nv; ++j) {
    for (int i = 0; i < nv; ++i) {
      d.side(j)[i] = -m.byQ[i * nv + j];
      d.side(nv + j)[i] = -m.byV[i * nv + j];
      d.side(2 * nv + j)[i] = T(i == j ? 1 : 0);
    }
  }
  const auto ofRows = [&](int r, int column) {
    const T* const kinds[] = {m.byQOfRows, m.byVOfRows};
    return column < 2 * nv ? kinds[column / nv][r * nv + column % nv] : T(0);
  };
  if (cancelled) {
    d.solveDense(ofRows);
  } else {
    d.factorizeInertia();
    d.findResponses();
    for (int column = 0; column < 3 * nv; ++column) {
      d.solveInertia(d.side(column));
      d.answer(column, [&](int r) { return ofRows(r, column); });
    }
    d.turnNullSpace();
  }
  for (int kind = 0; kind < 3; ++kind) {
    for (int j = 0; j < nv; ++j) {
      d.write(kind, j, outputs.accelerations[kind], outputs.multipliers[kind]);
    }
  }
  return report;
}

template <typename T>
void constrainedForwardDynamicsDerivatives(const Model& model, BasicData<T>& data,
                                           const Constraints& constraints, double time,
                                           VectorInOf<T> q, VectorInOf<T> v, VectorInOf<T> tau,
                                           MatrixOutOf<T> da_dq, MatrixOutOf<T> da_dv,
                                           MatrixOutOf<T> da_dtau, MatrixOutOf<T> dlambda_dq,
                                           MatrixOutOf<T> dlambda_dv, MatrixOutOf<T> dlambda_dtau,
                                           const DynamicsOptions& how, ConstraintReport* report) {
  Evaluation<T> e(model, data);
  requireFit(e.impl, constraints, time);
  e.requireQ(q);
  e.requireInput("v", v);
  e.requireInput("tau", tau);
  const Eigen::Index nv = e.tables->nv, rows = constraints.rows();
  e.requireMatrix("da_dq", da_dq, nv, nv);
  e.requireMatrix("da_dv", da_dv, nv, nv);
  e.requireMatrix("da_dtau", da_dtau, nv, nv);
  e.requireMatrix("dlambda_dq", dlambda_dq, rows, nv);
  e.requireMatrix("dlambda_dv", dlambda_dv, rows, nv);
  e.requireMatrix("dlambda_dtau", dlambda_dtau, rows, nv);
  if (how.method != Method::Cluster) {
    throw std::invalid_argument("method: constraints require Method::Cluster");
  }
  requireDifferentiable(e.impl);
  requireDifferentiable(constraints.table());
  const ExternalForces<T, T> external = e.prepareExternal(how.external);
  ConstraintSolver<T> solver(e);
  solver.add(e.impl.cuts);
  solver.add(constraints.table());
  const ConstraintReport found = differentiateConstrained<T>(
      solver, time, constraints.stabilization(), q.data(), v.data(), tau.data(), external,
      {{matrixAt<T>(da_dq), matrixAt<T>(da_dv), matrixAt<T>(da_dtau)},
       {matrixAt<T>(dlambda_dq), matrixAt<T>(dlambda_dv), matrixAt<T>(dlambda_dtau)}});
  if (report != nullptr) {
    *report = found;
  }
}

void detail::differentiateProjection(const Model& model, Data& data, const ConstraintTable* table,
                                     double time, VectorIn q, VectorIn v,
                                     const ProjectionDerivativeOutputs& outputs) {
  Evaluation<double> e(model, data);
  const int nv = e.tables->nv;
  requireDifferentiable(e.impl);
  e.prepareExternal({});
  ConstraintSolver<double> solver(e);
  solver.add(e.impl.cuts);
  if (table != nullptr) {
    requireDifferentiable(*table);
    solver.add(*table);
  }
  e.work->wholeRotors = true;  // every body is moved
  e.place(q);
  e.move(v.data(), nullptr);
  solver.evaluate(time);
  solver.requireDefined();
  const int indefinite = condenseInertias(*e.tables, *e.work);
  if (indefinite >= 0) {
    e.throwIndefinite(indefinite);
  }
  solver.propagate();
  solver.factorize();
  solver.requireAccurate();
  Differentiation<double> d(solver, time, q.data());
  const auto& m = d.memory();
  for (int r = 0; r < solver.rows(); ++r) {
    m.mu[r] = -solver.scratch.rows[r].rate;
  }
  solver.solve(m.mu, m.lambda);  // leaves N b in μ
  std::fill_n(e.work->u, nv, 0.0);
  solver.addForces(m.lambda, e.work->u);
  accelerateClusters(*e.tables, *e.work, m.x);  // v⁺ − v
  for (int i = 0; i < nv; ++i) {
    m.a[i] = v[i] + m.x[i];
  }
  d.evaluateInertial(m.x, m.lambda);
  d.factorizeInertia();
  for (int j = 0; j < nv; ++j) {
    for (int i = 0; i < nv; ++i) {
      d.side(j)[i] = -m.byQ[i * nv + j];                               // (5)
      d.side(nv + j)[i] = d.side(2 * nv + j)[i] = i == j ? 1.0 : 0.0;  // (6), (7)
    }
    d.solveInertia(d.side(j));
  }
  d.evaluate(m.a, m.zeroV, m.zeroLambda, false);
  d.writeJacobian();
  d.writeRates(true, m.byQOfRows);
  d.findResponses();
  for (int j = 0; j < nv; ++j) {
    d.answer(j, [&](int r) { return m.byQOfRows[r * nv + j]; });
    d.answer(nv + j, [](int) { return 0.0; });
    if (outputs.positions) {
      d.answer(2 * nv + j, [&](int r) { return d.hasPosition(r) ? 0.0 : -m.K[r * nv + j]; });
    }
  }
  d.turnNullSpace();
  for (int j = 0; j < nv; ++j) {
    d.write(0, j, outputs.velocities[0], outputs.impulses[0]);
    d.write(1, j, outputs.velocities[1], outputs.impulses[1]);
    if (outputs.positions) {
      d.write(2, j, outputs.positions, {});
    }
  }
}

void projectVelocitiesDerivatives(const Model& model, Data& data, const Constraints& constraints,
                                  double time, VectorIn q, VectorIn v, MatrixOut dprojected_dq,
                                  MatrixOut dprojected_dv, MatrixOut dimpulses_dq,
                                  MatrixOut dimpulses_dv) {
  {
    const Evaluation<double> e(model, data);
    requireFit(e.impl, constraints, time);
    e.requireQ(q);
    e.requireInput("v", v);
    const int nv = e.tables->nv, rows = constraints.rows();
    e.requireMatrix("dprojected_dq", dprojected_dq, nv, nv);
    e.requireMatrix("dprojected_dv", dprojected_dv, nv, nv);
    e.requireMatrix("dimpulses_dq", dimpulses_dq, rows, nv);
    e.requireMatrix("dimpulses_dv", dimpulses_dv, rows, nv);
  }
  differentiateProjection(
      model, data, &constraints.table(), time, q, v,
      {.positions = {},
       .velocities = {matrixAt<double>(dprojected_dq), matrixAt<double>(dprojected_dv)},
       .impulses = {matrixAt<double>(dimpulses_dq), matrixAt<double>(dimpulses_dv)}});
}

#define KEMPE_INSTANTIATE(T)                                                                 \
  template ConstraintReport detail::differentiateConstrained<T>(                             \
      ConstraintSolver<T>&, double, double, const T*, const T*, const T*,                    \
      const ExternalForces<T, T>&, const ConstrainedDerivativeOutputs<T>&);                  \
  template void constrainedForwardDynamicsDerivatives<T>(                                    \
      const Model&, BasicData<T>&, const Constraints&, double, VectorInOf<T>, VectorInOf<T>, \
      VectorInOf<T>, MatrixOutOf<T>, MatrixOutOf<T>, MatrixOutOf<T>, MatrixOutOf<T>,         \
      MatrixOutOf<T>, MatrixOutOf<T>, const DynamicsOptions&, ConstraintReport*);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
