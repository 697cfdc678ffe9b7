#include "algorithms/constraint_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/constraint_jacobian.hpp"
#include "kernels/forward_dynamics.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/mass_matrix.hpp"
#include "loops/decompositions.hpp"
#include "loops/saddle_point.hpp"
#include "model/positions.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

template <typename T>
T largestSize(const T* x, int n) {
  T largest(0);
  for (int i = 0; i < n; ++i) {
    largest = std::max(largest, std::abs(x[i]));
  }
  return largest;
}

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

template <typename Vector>
void makeRoom(Vector& vector, std::size_t size) {
  if (vector.size() < size) {
    vector.resize(size);
  }
}

}  // namespace

template <typename T>
void ConstraintSolver<T>::add(const ConstraintTable& table) {
  scratch.active.add(table);
  scratch.makeRoomForFunctions(table);
  const int n = rows(), nv = e.tables->nv;
  makeRoom(scratch.rows, static_cast<std::size_t>(n));
  makeRoom(scratch.slopes, static_cast<std::size_t>(scratch.active.slopes));
  makeRoom(scratch.unit, product(n, nv));
  makeRoom(scratch.A, product(n, n));
  makeRoom(scratch.least, product(n, n));
  for (std::vector<T>* vector :
       {&scratch.scale, &scratch.diagonal, &scratch.lambda, &scratch.rightSide, &scratch.beta}) {
    makeRoom(*vector, static_cast<std::size_t>(n));
  }
  makeRoom(scratch.order, static_cast<std::size_t>(n));
  makeRoom(scratch.uFree, static_cast<std::size_t>(nv));
  makeRoom(scratch.free, static_cast<std::size_t>(nv));
  makeRoom(scratch.accelerations, static_cast<std::size_t>(nv));
  makeRoom(scratch.K, product(n, nv));
  scratch.independent.reserve(static_cast<std::size_t>(n));
}

template <typename T>
ConstraintRequest<T> ConstraintSolver<T>::kernelRequest() {
  ConstraintRequest<T> request = requestOf<T>(scratch.active, scratch.functions.view());
  request.memory = scratch.kernel.of(e.kernels().constraints.memorySize(*e.tables, request));
  return request;
}

template <typename T>
ConstraintWork<T> ConstraintSolver<T>::work() const {
  return {scratch.active.list.data(),
          static_cast<int>(scratch.active.list.size()),
          rows(),
          scratch.rows.data(),
          scratch.slopes.data(),
          scratch.unit.data(),
          scratch.scale.data()};
}

template <typename T>
void ConstraintSolver<T>::evaluate(double time) {
  evaluateConstraints(work(), StoredMotion<T>{*e.work}, time, scratch.functions.view(),
                      scratch.registers.data());
}

template <typename T>
void ConstraintSolver<T>::requireDefined() const {
  for (const ActiveConstraint& active : this->active()) {
    const ConstraintEntry& entry = *active.entry;
    for (int r = active.firstRow; r < active.firstRow + entry.rows; ++r) {
      const ConstraintRow<T>& row = scratch.rows[r];
      if (!std::isfinite(row.value + row.rate + row.bias)) {
        throw SingularityError(
            "constraint " + kempe::quoted(entry.name) +
                " is not defined here: a disc lies flat on its plane, or a function or a motion is "
                "not finite. Move away from there, or switch it off.",
            entry.name, std::numeric_limits<double>::infinity());
      }
    }
  }
}

template <typename T>
void ConstraintSolver<T>::propagate() {
  std::fill_n(scratch.unit.data(), product(rows(), e.tables->nv), T(0));
  propagateForces(*e.tables, *e.work, work());
}

template <typename T>
T ConstraintSolver<T>::accelerationAlong(int r, const T* x) const {
  const T* u = unit(r);
  T sum(0);
  for (const int c : ownerOf(r).entry->path) {
    const ClusterEntry& cluster = e.tables->clusters[c];
    for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
      sum += u[i] * e.work->dInverse[i] * x[i];
    }
  }
  return sum;
}

template <typename T>
const ActiveConstraint& ConstraintSolver<T>::ownerOf(int r) const {
  const auto after = std::ranges::upper_bound(active(), r, {}, &ActiveConstraint::firstRow);
  return *(after - 1);
}

template <typename T>
void ConstraintSolver<T>::factorize() {
  const int n = rows();
  for (int r = 0; r < n; ++r) {
    for (int s = 0; s <= r; ++s) {
      scratch.A[r * n + s] = accelerationAlong(r, unit(s));  // (1)
    }
  }
  system_ = {n,
             scratch.A.data(),
             scratch.least.data(),
             scratch.scale.data(),
             scratch.diagonal.data(),
             scratch.order.data(),
             {}};
  system_.factorize();
}

template <typename T>
const std::vector<int>& ConstraintSolver<T>::independentRows() {
  const int nv = e.tables->nv;
  using Vectors = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>;
  Vectors K(scratch.K.data(), nv, rows());
  for (int r = 0; r < rows(); ++r) {
    // As in pivotedCholesky(): a row that moves nothing is rounding.
    const bool moves = accelerationAlong(r, unit(r)) >
                       RowTolerances<T>::kImplied * RowTolerances<T>::kImplied * scratch.scale[r];
    row(r, K.col(r).data());
    const T size = moves ? K.col(r).norm() : T(0);
    K.col(r) *= size > T(0) ? T(1) / size : T(0);
  }
  scratch.independent.clear();
  for (;;) {
    int best = 0;
    T size(0);
    for (int r = 0; r < rows(); ++r) {
      const T own = K.col(r).norm();
      best = own > size ? r : best;
      size = std::max(size, own);
    }
    if (!(size > RowTolerances<T>::kDependent)) {
      return scratch.independent;
    }
    scratch.independent.push_back(best);
    K.col(best) *= T(1) / size;
    for (int r = 0; r < rows(); ++r) {
      for (int pass = 0; r != best && pass < 2; ++pass) {  // twice because of rounding
        K.col(r) -= K.col(best).dot(K.col(r)) * K.col(best);
      }
    }
    K.col(best).setZero();
  }
}

template <typename T>
T ConstraintSolver<T>::error(bool contradicted) {
  const bool implied = !system_.inDoubt(contradicted) ||
                       system_.areImplied(
                           e.tables->nv, [&](int r) { return unit(r); }, scratch.free.data()) ||
                       static_cast<int>(independentRows().size()) == system_.factored.rank;
  return implied ? system_.factored.error : std::numeric_limits<T>::infinity();
}

template <typename T>
void ConstraintSolver<T>::requireAccurate() {
  const T found = error();
  if (!(found <= RowTolerances<T>::kTolerated)) {
    throwIllConditionedError(static_cast<double>(found));
  }
}

template <typename T>
void ConstraintSolver<T>::addForces(const T* lambda, T* u) const {
  for (int r = 0; r < rows(); ++r) {
    for (int i = 0; i < e.tables->nv; ++i) {
      u[i] += lambda[r] * unit(r)[i];
    }
  }
}

template <typename T>
void ConstraintSolver<T>::row(int r, T* K) const {
  const ActiveConstraint& active = ownerOf(r);
  const auto terms = active.entry->terms.size();
  writeConstraintRow(*e.tables, *e.work, *active.entry, scratch.rows[r].wrench,
                     scratch.slopes.data() + active.firstSlope + (r - active.firstRow) * terms, K);
}

namespace {

/// (3), from λ and from u = u_free. Returns the error of ÿ, estimated from cancellation.
template <typename T>
T accelerate(const ConstraintSolver<T>& solver, const T* lambda, T* u, T* ydd) {
  const WorkView<T>& work = *solver.e.work;
  const int nv = solver.e.tables->nv;
  T largest(0);
  for (int i = 0; i < nv; ++i) {
    T terms = std::abs(u[i]), sum = u[i];
    for (int r = 0; r < solver.rows(); ++r) {
      const T term = lambda[r] * solver.unit(r)[i];
      terms += std::abs(term);
      sum += term;
    }
    work.u[i] = sum;
    largest = std::max(largest, terms * work.dInverse[i]);
  }
  accelerateClusters(*solver.e.tables, work, ydd);
  return RowTolerances<T>::kCancellation * largest;
}

/// Accelerations under the constraints, which do not move by themselves, for forces x. Returns
/// their error.
template <typename T>
T accelerateFor(ConstraintSolver<T>& solver, const T* x, T* ydd) {
  const TablesView<T>& tables = *solver.e.tables;
  const WorkView<T>& work = *solver.e.work;
  std::fill_n(work.f + kWorld, tables.bodyCount + 1, Force<T>{});
  std::copy_n(x, tables.nv, work.u);
  forEachCluster<Direction::Inward>(
      tables, [&](int c) { condenseClusterForce(tables, tables.clusters[c], work); });
  T* rightSide = solver.scratch.rightSide.data();
  T* lambda = solver.scratch.lambda.data();
  for (int r = 0; r < solver.rows(); ++r) {
    rightSide[r] = -solver.accelerationAlong(r, work.u);
  }
  solver.solve(rightSide, lambda);
  return accelerate(solver, lambda, work.u, ydd);
}

/// ÿ and λ of H ÿ − Kᵀ λ = f, K ÿ = −β, where rows of K that are not `kept` depend on those.
struct SaddleSolution {
  Eigen::VectorXd ydd, lambda;
  int rank = 0;
  double inconsistency = 0.0, error = 0.0;
};
SaddleSolution solveSaddle(const Eigen::MatrixXd& H, const Eigen::MatrixXd& K,
                           const std::vector<int>& kept, const Eigen::VectorXd& f,
                           const Eigen::VectorXd& beta) {
  SaddleSolution result;
  const int n = static_cast<int>(H.rows());
  result.rank = static_cast<int>(kept.size());
  const Eigen::MatrixXd own = K(kept, Eigen::all);
  // If rows contradict each other, the closest compromise: β projected onto the range of K.
  Eigen::VectorXd wanted = beta;
  if (result.rank < K.rows()) {
    const Eigen::MatrixXd onto = K * own.transpose();
    wanted = onto * leastNormSolution(onto, beta);
    result.inconsistency = (beta - wanted).cwiseAbs().maxCoeff();
  }
  SaddlePoint saddle;
  saddle.resize(n + result.rank);
  Eigen::VectorXd x(n + result.rank);
  for (int i = 0; i < n; ++i) {
    x[i] = f[i];
    for (int j = 0; j < n; ++j) {
      saddle.at(i, j) = H(i, j);
    }
    for (int r = 0; r < result.rank; ++r) {
      saddle.at(i, n + r) = saddle.at(n + r, i) = own(r, i);
    }
  }
  for (int r = 0; r < result.rank; ++r) {
    x[n + r] = -wanted[kept[static_cast<std::size_t>(r)]];
  }
  constexpr double kRounding = 1e-15;
  result.error = saddle.factorize(kRounding) >= 0 ? std::numeric_limits<double>::infinity()
                                                  : saddle.solve(x.data());
  result.ydd = x.head(n);
  const Eigen::VectorXd multipliers = -x.tail(result.rank);
  result.lambda.setZero(K.rows());
  if (result.rank < K.rows()) {
    result.lambda = leastNormSolution(K.transpose(), own.transpose() * multipliers);
  } else {
    result.lambda(kept) = multipliers;
  }
  return result;
}

/// The state and the forces of forward dynamics.
template <typename T>
struct ForwardInputs {
  const T* q;
  const T* v;
  const T* tau;
  const ExternalForces<T, T>& external;
};

/// The work where placeMechanism has solved the loops of q, for recursions at the same q.
template <typename T>
WorkView<T> withSolvedLoops(const WorkView<T>& work) {
  WorkView<T> result = work;
  result.loopsSolved = true;
  return result;
}

/// Solves by the saddle-point system, on H, K and the bias forces as dense matrices. The work is
/// left as the recursion without constraints leaves it.
template <typename T>
SaddleSolution solveDense(ConstraintSolver<T>& solver, const ForwardInputs<T>& in,
                          const std::vector<T>& beta) {
  Evaluation<T>& e = solver.e;
  const int nv = e.tables->nv, rows = solver.rows();
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  Matrix H(nv, nv), K(nv, rows);
  const std::vector<int>& kept = solver.independentRows();
  for (int r = 0; r < rows; ++r) {
    solver.row(r, K.col(r).data());
  }
  MassMatrixKernel(*e.tables, *e.work, H.data(), nv).run();
  const Vector zero = Vector::Zero(nv);
  Vector bias(nv);
  const WorkView<T> solved = withSolvedLoops(*e.work);
  inverseDynamicsKernel(*e.tables, solved, e.loops, in.q, in.v, zero.data(), in.external,
                        bias.data());
  const Vector f = Eigen::Map<const Vector>(in.tau, nv) - bias;
  const Eigen::VectorXd wanted =
      Eigen::Map<const Vector>(beta.data(), rows).template cast<double>();
  forwardDynamicsKernel(*e.tables, solved, e.loops, in.q, in.v, in.tau, in.external,
                        solver.scratch.free.data());
  return solveSaddle(H.template cast<double>(), K.transpose().template cast<double>(), kept,
                     f.template cast<double>(), wanted);
}

}  // namespace

template <typename T>
void constrainedOperationalInertia(ConstraintSolver<T>& solver, std::span<const int> frames,
                                   Reference reference, std::span<const double> added,
                                   MatrixOutOf<T> Omega) {
  Evaluation<T>& e = solver.e;
  const int nv = e.tables->nv;
  solver.evaluate(0.0);
  solver.requireDefined();
  const int indefinite = condenseInertias(*e.tables, *e.work);
  if (indefinite >= 0) {
    e.throwIndefinite(indefinite);
  }
  solver.propagate();
  solver.factorize();
  solver.requireAccurate();
  T* J = roomForForces(e, frames.size() + 1, nv);  // and room for x and ÿ
  T* x = J + 6 * frames.size() * static_cast<std::size_t>(nv);
  T* ydd = x + nv;
  T* before = ydd + nv;
  std::fill(J, x, T(0));
  for (std::size_t f = 0; f < frames.size(); ++f) {
    Force<T> forces[6];
    unitForces(e, e.frame(frames[f]), reference, forces);
    for (int k = 0; k < 6; ++k) {
      addGeneralizedForce(*e.tables, *e.work, e.frame(frames[f]).body, forces[k],
                          J + (6 * f + k) * nv);
    }
  }
  const auto columns = static_cast<Eigen::Index>(6 * frames.size());
  T error(0), largest(0);
  for (Eigen::Index column = 0; column < columns; ++column) {
    const T* force = J + column * nv;
    error = std::max(error, accelerateFor(solver, force, ydd));
    for (int i = 0; !added.empty() && i < kMostIterations; ++i) {
      T change(0), size(0);
      std::copy_n(ydd, nv, before);
      for (int j = 0; j < nv; ++j) {
        x[j] = force[j] + static_cast<T>(added[j]) * ydd[j];
      }
      error = std::max(error, accelerateFor(solver, x, ydd));
      for (int j = 0; j < nv; ++j) {
        change = std::max(change, std::abs(ydd[j] - before[j]));
        size = std::max(size, std::abs(ydd[j]));
      }
      if (change <= kArmatureTakenOff<T> * size) {
        break;
      }
    }
    largest = std::max(largest, largestSize(ydd, nv));
    for (Eigen::Index row = 0; row < columns; ++row) {
      T sum(0);
      for (int j = 0; j < nv; ++j) {
        sum += J[row * nv + j] * ydd[j];
      }
      Omega(row, column) = sum;
    }
  }
  if (largest > T(0) && !(error <= RowTolerances<T>::kTolerated * largest)) {
    throwIllConditionedError(static_cast<double>(error / largest));
  }
}

template <typename T>
void freeAccelerations(ConstraintSolver<T>& solver, double time, double stabilization, const T* q,
                       const T* v, const T* tau, const ExternalForces<T, T>& external) {
  Evaluation<T>& e = solver.e;
  ConstraintScratch<T>& scratch = solver.scratch;
  const bool forcesOnRotors = e.work->wholeRotors;
  e.work->wholeRotors = true;  // every body is moved
  const int singular = placeMechanism(*e.tables, *e.work, e.loops, q);
  if (singular >= 0) {
    e.throwSingular(singular, e.work->positions);
  }
  e.move(v, nullptr);
  solver.evaluate(time);
  solver.requireDefined();
  e.work->wholeRotors = forcesOnRotors || solver.onRotors();
  const KernelOutcome outcome = forwardDynamicsKernel(*e.tables, withSolvedLoops(*e.work), e.loops,
                                                      q, v, tau, external, scratch.free.data());
  if (outcome.indefinite >= 0) {
    e.throwIndefinite(outcome.indefinite);
  }
  std::copy_n(e.work->u, e.tables->nv, scratch.uFree.data());
  solver.propagate();
  const T gamma = static_cast<T>(stabilization);
  for (const ActiveConstraint& active : solver.active()) {
    for (int r = 0; r < active.entry->rows; ++r) {
      const int i = active.firstRow + r;
      scratch.beta[i] = stabilizedBias(active, r, scratch.rows[i], gamma);
    }
  }
}

template <typename T>
std::optional<ConstraintReport> kernelAccelerations(ConstraintSolver<T>& solver, double time,
                                                    double stabilization, const T* q, const T* v,
                                                    const T* tau,
                                                    const ExternalForces<T, T>& external, T* ydd,
                                                    double* regularity) {
  Evaluation<T>& e = solver.e;
  ConstraintScratch<T>& scratch = solver.scratch;
  int rank = 0;
  double inconsistency = 0.0;
  ConstraintRequest<T> request = solver.kernelRequest();
  request.time = time;
  request.stabilization = stabilization;
  request.lambda = scratch.lambda.data();
  request.ranks = &rank;
  request.inconsistencies = &inconsistency;
  request.regularities = regularity;
  request.slopesAlong = regularity == nullptr ? nullptr : scratch.slopes.data();
  e.work->wholeRotors |= solver.onRotors();
  const bool solved = e.data.held.hasLoopsAt(q, e.work->wholeRotors);
  KernelContext<T> context = e.context(WorkStage::Articulated);
  context.loopsSolved = solved;
  const bool certain = e.kernels().constraints.forwardDynamics(
      context, q, v, tau, external, request, scratch.accelerations.data());
  if (solved) {
    e.data.held.keepLoops();
  }
  if (!certain) {
    return std::nullopt;
  }
  std::copy_n(scratch.accelerations.data(), e.tables->nv, ydd);
  return ConstraintReport{solver.rows(), rank, inconsistency};
}

template <typename T>
ConstraintReport constrainedAccelerations(ConstraintSolver<T>& solver, double time,
                                          double stabilization, const T* q, const T* v,
                                          const T* tau, const ExternalForces<T, T>& external,
                                          T* ydd, bool* cancelled) {
  Evaluation<T>& e = solver.e;
  ConstraintScratch<T>& scratch = solver.scratch;
  freeAccelerations(solver, time, stabilization, q, v, tau, external);
  solver.factorize();
  const int rows = solver.rows();
  T* rightSide = scratch.rightSide.data();
  T* lambda = scratch.lambda.data();
  T size(0);  // of the accelerations that are balanced
  for (int i = 0; i < rows; ++i) {
    const T free = solver.accelerationAlong(i, scratch.uFree.data());
    rightSide[i] = -(free + scratch.beta[i]);  // (2)
    size = std::max(size, std::abs(free) + std::abs(scratch.beta[i]));
  }
  solver.solve(rightSide, lambda);
  const T left = largestSize(rightSide, rows);
  ConstraintReport report{rows, solver.rank(), static_cast<double>(left)};
  T* result = scratch.accelerations.data();  // ydd may be v or tau
  const T rounding = accelerate(solver, lambda, scratch.uFree.data(), result);
  const T tolerable = std::max(RowTolerances<T>::kNegligible,
                               RowTolerances<T>::kTolerated * largestSize(result, e.tables->nv));
  const bool accurate =
      solver.error(left > RowTolerances<T>::kConsistent * size) <= RowTolerances<T>::kTolerated &&
      rounding <= tolerable;
  if (cancelled != nullptr) {
    *cancelled = !accurate;
  }
  if (!accurate) {
    const SaddleSolution solution = solveDense<T>(solver, {q, v, tau, external}, scratch.beta);
    if (!(solution.error <= RowTolerances<T>::kTolerated)) {
      throwIllConditionedError(solution.error);
    }
    report = {rows, solution.rank, solution.inconsistency};
    // The work, from which forces between bodies are found, as if the recursion had come to it.
    for (int r = 0; r < rows; ++r) {
      lambda[r] = static_cast<T>(solution.lambda[r]);
    }
    accelerate(solver, lambda, e.work->u, result);
    for (int i = 0; i < e.tables->nv; ++i) {
      result[i] = static_cast<T>(solution.ydd[i]);
    }
  }
  std::copy_n(result, e.tables->nv, ydd);
  return report;
}

#define KEMPE_INSTANTIATE(T)                                                                   \
  template std::optional<ConstraintReport> kernelAccelerations<T>(                             \
      ConstraintSolver<T>&, double, double, const T*, const T*, const T*,                      \
      const ExternalForces<T, T>&, T*, double*);                                               \
  template class ConstraintSolver<T>;                                                          \
  template void constrainedOperationalInertia<T>(ConstraintSolver<T>&, std::span<const int>,   \
                                                 Reference, std::span<const double>,           \
                                                 MatrixOutOf<T>);                              \
  template void freeAccelerations<T>(ConstraintSolver<T>&, double, double, const T*, const T*, \
                                     const T*, const ExternalForces<T, T>&);                   \
  template ConstraintReport constrainedAccelerations<T>(ConstraintSolver<T>&, double, double,  \
                                                        const T*, const T*, const T*,          \
                                                        const ExternalForces<T, T>&, T*, bool*);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe::detail
