#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/baselines/spanning.hpp"
#include "algorithms/baselines/tree_factor.hpp"
#include "model/positions.hpp"

/// The spanning tree's equations of motion with a multiplier for each row of K that the model
/// keeps:
///
///   H q̈ − Kᵀ λ = τ − c      K q̈ = k                          (1)
///
/// With q̈ = g + δ, where K g = k, and b = τ − c − H g by one RNEA at q̈ = g:
///
///   H δ − Kᵀ λ = b          K δ = 0                           (2)
///
/// and with H = Lᵀ L along the tree, w = L⁻ᵀ b, W = L⁻ᵀ Kᵀ:
///
///   Wᵀ W λ = −Wᵀ w          L δ = w + W λ                     (3)
///
/// K_d is factored to find q̇ = G v in any case; rows multiplied by K_d⁻¹ are as good, better
/// conditioned and have fewer entries, and are used for (2). A row of K has entries in its cluster;
/// its column of W in the cluster and the DoFs on the way to the root. Where H or Wᵀ W loses
/// digits, as with bodies that have no inertia of their own, (2) itself is factored.
namespace kempe::detail {
namespace {

/// Pivots above this share of their diagonal leave enough digits.
template <typename T>
constexpr T kClear = std::is_same_v<T, float> ? T(1e-5) : T(1e-7);
/// Estimated relative errors above this are reported.
template <typename T>
constexpr T kTolerated = std::is_same_v<T, float> ? T(1e-2) : T(1e-6);

/// Errors of accelerations below this are negligible, rad/s² or m/s²: rounding errors at rest.
template <typename T>
constexpr T kNegligible = std::is_same_v<T, float> ? T(1e-2) : T(1e-9);

/// L of H into its place; false where a pivot has lost its digits.
template <typename T>
bool factorMassMatrix(SpanningEvaluation<T>& s) {
  s.solveRows();
  return s.tree.added.empty() &&
         treeFactor(s.scratch.freedoms, kClear<T>, s.massMatrix(), s.scratch.diagonal.data()) < 0;
}

/// W = L⁻ᵀ Kᵀ, n × kept row-major, written where rows reach.
template <typename T>
const T* propagateRows(SpanningEvaluation<T>& s) {
  const T* L = s.scratch.H.data();
  const int rows = s.tree.rows;
  T* W = s.scratch.W.data();
  for (int i = 0; i < s.model.velocities; ++i) {
    const RowRange range = s.tree.reaching[i];
    std::fill(W + i * rows + range.first, W + i * rows + range.last, T(0));
  }
  for (int c = 0; c < s.model.clusterCount; ++c) {
    const ClusterEntry& cluster = s.cluster(c);
    const SpanningCluster& own = s.tree.clusters[c];
    const T* K = s.scratch.K.data() + own.firstK;
    for (int r = 0; r < cluster.kept; ++r) {
      for (int i = 0; i < cluster.velocities; ++i) {
        W[(cluster.firstVelocity + i) * rows + own.firstRow + r] = K[r * cluster.velocities + i];
      }
    }
  }
  for (int i = s.model.velocities - 1; i >= 0; --i) {
    const RowRange range = s.tree.reaching[i];
    treeEliminate(s.scratch.freedoms, L, i, W, rows, range.first, range.last);
  }
  return W;
}

/// The factor of A = WᵀW = K H⁻¹ Kᵀ into its place; false where a pivot has lost its digits.
template <typename T>
bool factorMultipliers(SpanningEvaluation<T>& s, const T* W) {
  const int rows = s.tree.rows;
  const int* first = s.tree.firstColumn.data();
  T* A = s.scratch.A.data();
  for (int r = 0; r < rows; ++r) {
    std::fill(A + r * rows + first[r], A + r * rows + r + 1, T(0));
  }
  for (int i = 0; i < s.model.velocities; ++i) {
    const RowRange range = s.tree.reaching[i];
    const T* w = W + i * rows;
    for (int r = range.first; r < range.last; ++r) {
      T* row = A + r * rows;
      const T factor = w[r];
      for (int k = range.first; k <= r; ++k) {
        row[k] += factor * w[k];
      }
    }
  }
  return profileFactor(rows, first, kClear<T>, A) < 0;
}

/// Wᵀ x for `columns` right-hand sides (row-major), kept × columns.
template <typename T>
void timesTransposedW(const SpanningEvaluation<T>& s, const T* W, const T* x, int columns,
                      T* result) {
  std::fill_n(result, s.tree.rows * columns, T(0));
  for (int i = 0; i < s.model.velocities; ++i) {
    for (int r = s.tree.reaching[i].first; r < s.tree.reaching[i].last; ++r) {
      for (int k = 0; k < columns; ++k) {
        result[r * columns + k] += W[i * s.tree.rows + r] * x[i * columns + k];
      }
    }
  }
}

/// (2) as it stands: [H Kᵀ; K 0], factored.
template <typename T>
void factorSaddlePoint(SpanningEvaluation<T>& s) {
  const int n = s.model.velocities;
  const T* H = s.massMatrix();
  SaddlePoint& saddle = s.scratch.saddlePoint;
  // Velocities that move no inertia are found to the precision of H.
  const double rounding = std::is_same_v<T, float> ? 1e-6 : 1e-14;
  saddle.resize(n + s.tree.rows);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      saddle.at(i, j) = static_cast<double>(H[i * n + j]);
    }
  }
  for (int c = 0; c < s.model.clusterCount; ++c) {
    const ClusterEntry& cluster = s.cluster(c);
    const SpanningCluster& own = s.tree.clusters[c];
    for (int r = 0; r < cluster.kept; ++r) {
      for (int i = 0; i < cluster.velocities; ++i) {
        const int row = n + own.firstRow + r, column = cluster.firstVelocity + i;
        saddle.at(row, column) = saddle.at(column, row) =
            static_cast<double>(s.scratch.K[own.firstK + r * cluster.velocities + i]);
      }
    }
  }
  // The rows are independent, or place() would have thrown: a velocity is not determined.
  const int undetermined = saddle.factorize(rounding);
  if (undetermined >= 0) {
    throwSpanningIndefiniteError(s.e.impl, std::min(undetermined, n - 1));
  }
}

/// δ of (2) in place of b, n numbers `stride` apart.
template <typename T>
void solveSaddlePoint(SpanningEvaluation<T>& s, T* b, int stride) {
  const int n = s.model.velocities;
  double* x = s.scratch.unknowns.data();
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<double>(b[i * stride]);
  }
  std::fill_n(x + n, s.tree.rows, 0.0);
  const double error = s.scratch.saddlePoint.solve(x);
  if (!(error <= static_cast<double>(kTolerated<T>))) {
    throwIllConditionedError(error);
  }
  for (int i = 0; i < n; ++i) {
    b[i * stride] = static_cast<T>(x[i]);
  }
}

/// Jᵀ of the unit forces of a frame, n × 6 row-major. Returns the outermost DoF that moves it.
template <typename T>
int spanUnitForces(const SpanningEvaluation<T>& s, const FrameEntry& frame, Reference reference,
                   T* x) {
  Force<T> forces[6];
  unitForces(s.e, frame, reference, forces);
  std::fill_n(x, 6 * s.model.velocities, T(0));
  int outermost = -1;
  for (int b = frame.body; b != kWorld; b = s.model.bodies[b].parent) {
    const BodyEntry<T>& body = s.model.bodies[b];
    for (int i = body.firstVelocity + velocitySize(body.type) - 1; i >= body.firstVelocity; --i) {
      outermost = std::max(outermost, i);
      for (int k = 0; k < 6; ++k) {
        x[i * 6 + k] = dot(forces[k], s.e.work->S[i]);
      }
    }
  }
  return outermost;
}

/// Ω = J δ, with δ of (2) for b = Jᵀ.
template <typename T>
void saddlePointInertia(SpanningEvaluation<T>& s, std::span<const int> frames, Reference reference,
                        MatrixOutOf<T> Omega) {
  const int n = s.model.velocities;
  const std::size_t size = 6 * static_cast<std::size_t>(n);
  T* J = roomForForces(s.e, 2 * frames.size(), n);
  T* X = J + size * frames.size();
  factorSaddlePoint(s);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    spanUnitForces(s, s.e.frame(frames[f]), reference, J + size * f);
    std::copy_n(J + size * f, size, X + size * f);
    for (int k = 0; k < 6; ++k) {
      solveSaddlePoint(s, X + size * f + k, 6);
    }
  }
  using Columns = Eigen::Map<const Eigen::Matrix<T, 6, Eigen::Dynamic>>;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    for (std::size_t j = 0; j < frames.size(); ++j) {
      Omega.template block<6, 6>(static_cast<Eigen::Index>(6 * i),
                                 static_cast<Eigen::Index>(6 * j)) =
          Columns(J + size * i, 6, n).lazyProduct(Columns(X + size * j, 6, n).transpose());
    }
  }
}

/// L, W and the factor of A; false where they have lost too many digits.
template <typename T>
bool factorAll(SpanningEvaluation<T>& s) {
  return factorMassMatrix(s) && factorMultipliers(s, propagateRows(s));
}

/// Whether δ has significant digits, with L δ a sum of numbers of the size of `terms`, which is
/// overwritten by the size of their sum.
template <typename T>
bool isAccurate(const SpanningEvaluation<T>& s, const T* delta, T* terms) {
  const TreePattern& pattern = s.scratch.freedoms;
  const int n = s.model.velocities;
  T size(0), error(0);
  for (int i = 0; i < n; ++i) {
    const T* row = s.scratch.H.data() + i * n;
    for (int k = pattern.first[i]; k < pattern.first[i + 1]; ++k) {
      terms[i] += std::abs(row[pattern.ancestors[k]]) * terms[pattern.ancestors[k]];
    }
    terms[i] *= row[i];
    error = std::max(error, terms[i]);
    size = std::max(size, std::abs(delta[i]));
  }
  error *= std::numeric_limits<T>::epsilon();
  return error <= std::max(kNegligible<T>, kTolerated<T> * size);
}

/// δ of (3) in place of b, after factorAll; false where it has lost too many digits.
template <typename T>
bool solveByMultipliers(SpanningEvaluation<T>& s, T* x) {
  const T *L = s.scratch.H.data(), *W = s.scratch.W.data(), *A = s.scratch.A.data();
  T* terms = s.scratch.accelerations.data();
  T* lambda = s.scratch.multipliers.data();
  const int rows = s.tree.rows;
  const int* first = s.tree.firstColumn.data();
  treeSolveTransposed(s.scratch.freedoms, L, x);
  timesTransposedW(s, W, x, 1, lambda);
  profileSolve(rows, first, A, lambda);
  profileSolveTransposed(rows, first, A, lambda);
  for (int i = 0; i < s.model.velocities; ++i) {
    terms[i] = std::abs(x[i]);
    for (int r = s.tree.reaching[i].first; r < s.tree.reaching[i].last; ++r) {
      const T force = W[i * rows + r] * lambda[r];
      x[i] -= force;  // (3); lambda holds −λ
      terms[i] += std::abs(force);
    }
  }
  treeSolve(s.scratch.freedoms, L, x);
  return isAccurate(s, x, terms);
}

}  // namespace

template <typename T>
void lagrangeInverseDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                             VectorInOf<T> q, const T* v, const T* a, T* tau) {
  SpanningEvaluation<T> s(e);
  s.place(q, v, true);
  s.move(v, a);
  const T* f = s.inverseDynamics(external);
  for (int c = 0; c < s.model.clusterCount; ++c) {
    // Dependent joints have no force of their own: f_d + K_dᵀ λ = 0; then τ = f_i + K_iᵀ λ.
    const ClusterEntry& cluster = s.cluster(c);
    const int n = cluster.velocities, d = cluster.kept;
    const int* independent = s.model.independent.data() + cluster.firstIndependent;
    const int* dependent = s.model.dependent.data() + cluster.firstDependent;
    const T* forces = f + cluster.firstVelocity;
    T* lambda = s.scratch.multipliers.data() + s.tree.clusters[c].firstRow;
    for (int i = 0; i < d; ++i) {
      lambda[i] = -forces[dependent[i]];
    }
    if (cluster.kind == ClusterKind::Implicit) {
      solveLoopsTransposed(s.model, cluster, e.data.loops.work(), lambda);
    }
    const T* K = s.scratch.K.data() + s.tree.clusters[c].firstK;
    for (int j = 0; j < cluster.nv; ++j) {
      T sum = forces[independent[j]];
      for (int r = 0; r < d; ++r) {
        sum += K[r * n + independent[j]] * lambda[r];
      }
      tau[cluster.firstV + j] = sum;
    }
  }
}

template <typename T>
void lagrangeForwardDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                             VectorInOf<T> q, const T* v, const T* tau, T* a) {
  SpanningEvaluation<T> s(e);
  s.place(q, v);
  s.move(v, nullptr);
  const T* f = s.inverseDynamics(external);
  T* x = s.scratch.x.data();
  for (int i = 0; i < s.model.velocities; ++i) {
    x[i] = -f[i];
  }
  s.forIndependent([&](int i, int j) { x[i] += tau[j]; });

  T* b = s.scratch.next.data();
  std::copy_n(x, s.model.velocities, b);
  if (!factorAll(s) || !solveByMultipliers(s, x)) {
    factorSaddlePoint(s);
    solveSaddlePoint(s, b, 1);
    x = b;
  }
  s.forIndependent([&](int i, int j) { a[j] = x[i]; });
}

template <typename T>
void lagrangeOperationalInertia(Evaluation<T>& e, VectorInOf<T> q, std::span<const int> frames,
                                Reference reference, MatrixOutOf<T> Omega) {
  SpanningEvaluation<T> s(e);
  s.place(q, nullptr);
  s.placeBodies();
  const int n = s.model.velocities, rows = s.tree.rows;
  T* X = roomForForces(e, 2 * frames.size(), n + rows);
  if (!factorAll(s)) {
    saddlePointInertia<T>(s, frames, reference, Omega);
    return;
  }
  const T *L = s.scratch.H.data(), *W = s.scratch.W.data(), *A = s.scratch.A.data();
  T* B = X + 6 * frames.size() * static_cast<std::size_t>(n);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    T* x = X + 6 * static_cast<std::size_t>(n) * f;
    const int outermost = spanUnitForces(s, e.frame(frames[f]), reference, x);
    for (int i = outermost; i >= 0; i = s.tree.freedomAbove[i]) {
      treeEliminate(s.scratch.freedoms, L, i, x, 6, 0, 6);
    }
    T* own = B + 6 * static_cast<std::size_t>(rows) * f;
    timesTransposedW(s, W, x, 6, own);
    const int* first = s.tree.firstColumn.data();
    for (int i = 0; i < rows; ++i) {  // profileSolve of six columns
      for (int k = 0; k < 6; ++k) {
        T sum = own[i * 6 + k];
        for (int j = first[i]; j < i; ++j) {
          sum -= A[i * rows + j] * own[j * 6 + k];
        }
        own[i * 6 + k] = sum * A[i * rows + i];
      }
    }
  }
  Omega.setZero();
  addProducts(X, n, frames.size(), T(1), Omega);
  const T whole = Omega.size() > 0 ? Omega.cwiseAbs().maxCoeff() : T(0);
  addProducts(B, rows, frames.size(), T(-1), Omega);
  // Ω without loops, which cancels, may be much larger.
  const T left = Omega.size() > 0 ? Omega.cwiseAbs().maxCoeff() : T(0);
  if (std::numeric_limits<T>::epsilon() * whole > kTolerated<T> * left) {
    saddlePointInertia<T>(s, frames, reference, Omega);
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define KEMPE_INSTANTIATE(T)                                                                       \
  template void lagrangeInverseDynamics<T>(Evaluation<T>&, const ExternalForces<T, T>&,            \
                                           VectorInOf<T>, const T*, const T*, T*);                 \
  template void lagrangeForwardDynamics<T>(Evaluation<T>&, const ExternalForces<T, T>&,            \
                                           VectorInOf<T>, const T*, const T*, T*);                 \
  template void lagrangeOperationalInertia<T>(Evaluation<T>&, VectorInOf<T>, std::span<const int>, \
                                              Reference, MatrixOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace kempe::detail
