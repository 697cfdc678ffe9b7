#include <algorithm>

#include "algorithms/baselines/spanning.hpp"
#include "algorithms/baselines/tree_factor.hpp"
#include "algorithms/positions.hpp"

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
/// its column of W in the cluster and the freedoms on the way to the root. Clusters with bodies
/// that have no inertia of their own get ρ KᵀK added to their block of H, which (2) does not
/// notice.
namespace kempe::detail {
namespace {

/// ρ KᵀK onto the block of a cluster, of the size of what is there.
template <typename T>
void stiffen(const SpanningEvaluation<T>& s, int c, T* H) {
  const ClusterEntry& cluster = s.cluster(c);
  const int n = cluster.velocities, stride = s.model.velocities;
  const T* K = s.scratch.K.data() + s.tree.clusters[c].firstK;
  T* block = H + cluster.firstVelocity * stride + cluster.firstVelocity;
  T inertia(0), stiffness(0);
  for (int i = 0; i < n; ++i) {
    T square(0);
    for (int r = 0; r < cluster.kept; ++r) {
      square += K[r * n + i] * K[r * n + i];
    }
    inertia = std::max(inertia, block[i * stride + i]);
    stiffness = std::max(stiffness, square);
  }
  const T rho = inertia / stiffness;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      T sum(0);
      for (int r = 0; r < cluster.kept; ++r) {
        sum += K[r * n + i] * K[r * n + j];
      }
      block[i * stride + j] += rho * sum;
    }
  }
}

template <typename T>
[[noreturn]] void throwIndefinite(const SpanningEvaluation<T>& s, int freedom) {
  int c = 0;
  while (freedom >= s.cluster(c).firstVelocity + s.cluster(c).velocities) {
    ++c;
  }
  throwIndefiniteError(s.e.impl, s.e.impl.tables.clusters[c]);
}

/// L of H.
template <typename T>
const T* factorMassMatrix(SpanningEvaluation<T>& s) {
  s.solveRows();
  T* H = s.massMatrix();
  for (int c = 0; c < s.model.clusterCount; ++c) {
    if (s.tree.clusters[c].chained && s.cluster(c).kept > 0) {
      stiffen(s, c, H);
    }
  }
  const int indefinite = treeFactor(s.tree.freedoms, H);
  if (indefinite >= 0) {
    throwIndefinite(s, indefinite);
  }
  return H;
}

/// W = L⁻ᵀ Kᵀ, n × kept row-major, written where rows reach.
template <typename T>
const T* propagateRows(SpanningEvaluation<T>& s, const T* L) {
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
    treeEliminate(s.tree.freedoms, L, i, W, rows, range.first, range.last);
  }
  return W;
}

/// The factor of A = WᵀW = K H⁻¹ Kᵀ.
template <typename T>
const T* factorMultipliers(SpanningEvaluation<T>& s, const T* W) {
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
  const int dependent = profileFactor(rows, first, A);
  if (dependent >= 0) {
    int c = 0;
    while (dependent >= s.tree.clusters[c].firstRow + s.cluster(c).kept) {
      ++c;
    }
    s.e.throwSingular(c, s.e.work->positions);
  }
  return A;
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
    const int* independent = s.tables.independent.data() + cluster.firstIndependent;
    const int* dependent = s.tables.dependent.data() + cluster.firstDependent;
    const T* forces = f + cluster.firstVelocity;
    T* lambda = s.scratch.multipliers.data() + s.tree.clusters[c].firstRow;
    for (int i = 0; i < d; ++i) {
      lambda[i] = -forces[dependent[i]];
    }
    if (cluster.kind == ClusterKind::Implicit) {
      luSolveTransposed(e.data.loops.factors.data() + cluster.firstFactor, d,
                        e.data.loops.pivots.data() + cluster.firstDependent, lambda);
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

  const T* L = factorMassMatrix(s);
  treeSolveTransposed(s.tree.freedoms, L, x);
  const T* W = propagateRows(s, L);
  const T* A = factorMultipliers(s, W);
  T* lambda = s.scratch.multipliers.data();
  const int rows = s.tree.rows;
  const int* first = s.tree.firstColumn.data();
  timesTransposedW(s, W, x, 1, lambda);
  profileSolve(rows, first, A, lambda);
  profileSolveTransposed(rows, first, A, lambda);
  for (int i = 0; i < s.model.velocities; ++i) {
    for (int r = s.tree.reaching[i].first; r < s.tree.reaching[i].last; ++r) {
      x[i] -= W[i * rows + r] * lambda[r];  // (3); lambda holds −λ
    }
  }
  treeSolve(s.tree.freedoms, L, x);
  s.forIndependent([&](int i, int j) { a[j] = x[i]; });
}

template <typename T>
void lagrangeOperationalInertia(Evaluation<T>& e, VectorInOf<T> q, std::span<const int> frames,
                                Reference reference, MatrixOutOf<T> Omega) {
  SpanningEvaluation<T> s(e);
  s.place(q, nullptr);
  s.placeBodies();
  const T* L = factorMassMatrix(s);
  const T* W = propagateRows(s, L);
  const T* A = factorMultipliers(s, W);
  const int n = s.model.velocities, rows = s.tree.rows;
  T* X = roomForForces(e, frames.size(), n + rows);
  T* B = X + 6 * frames.size() * static_cast<std::size_t>(n);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const FrameEntry& frame = e.frame(frames[f]);
    Force<T> forces[6];
    unitForces(e, frame, reference, forces);
    T* x = X + 6 * static_cast<std::size_t>(n) * f;
    std::fill_n(x, 6 * n, T(0));
    int outermost = -1;
    for (int b = frame.body; b != kWorld; b = s.tables.bodies[b].parent) {
      const BodyEntry<T>& body = s.tables.bodies[b];
      for (int i = body.firstVelocity + velocitySize(body.type) - 1; i >= body.firstVelocity; --i) {
        outermost = std::max(outermost, i);
        for (int k = 0; k < 6; ++k) {
          x[i * 6 + k] = dot(forces[k], e.work->S[i]);
        }
      }
    }
    for (int i = outermost; i >= 0; i = s.tree.freedoms.parent[i]) {
      treeEliminate(s.tree.freedoms, L, i, x, 6, 0, 6);
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
  addProducts(B, rows, frames.size(), T(-1), Omega);
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
