#include "algorithms/baselines/spanning.hpp"
#include "algorithms/baselines/tree_factor.hpp"
#include "kernels/articulated.hpp"
#include "model/positions.hpp"

/// The spanning tree's equations of motion, projected on the independent velocities:
///
///   Gᵀ H G ÿ = τ − Gᵀ (c + H g)                               (1)
///
/// G is a block per cluster. H has entries between a DoF and its ancestors only, hence GᵀHG
/// between a cluster and those on its way to the root only.
namespace kempe::detail {
namespace {

/// Gᵀ H of one cluster for the DoFs of a body: m rows of n numbers. Of a tree cluster, H's own.
template <int M, typename T>
void projectRows(const SpanningEvaluation<T>& s, const ClusterEntry& cluster, int first, int count,
                 T* rows) {
  const int n = s.model.velocities, m = M > 0 ? M : cluster.nv;
  const T* G = s.ratios(cluster);
  for (int j = first; j < first + count; ++j) {
    for (int r = 0; r < m; ++r) {
      T sum(0);
      for (int i = 0; i < cluster.velocities; ++i) {
        sum += G[i * m + r] * s.scratch.H[j * n + cluster.firstVelocity + i];
      }
      rows[r * n + j] = sum;
    }
  }
}

/// Gᵀ H G of one cluster and its ancestors: the rows of the lower triangle.
template <int M, typename T>
void projectCluster(const SpanningEvaluation<T>& s, const ClusterEntry& cluster) {
  const int n = s.model.velocities, m = M > 0 ? M : cluster.nv;
  const bool open = cluster.kind == ClusterKind::Tree;
  const T* rows = s.scratch.columns.data();
  if (open) {
    rows = s.scratch.H.data() + cluster.firstVelocity * n;
  } else {
    projectRows<M>(s, cluster, cluster.firstVelocity, cluster.velocities, s.scratch.columns.data());
  }
  T* out = s.scratch.projected.data() + cluster.firstV * s.model.nv;
  for (int r = 0; r < m; ++r) {
    for (int j = 0; j <= r; ++j) {
      if (open) {
        out[r * s.model.nv + cluster.firstV + j] = rows[r * n + cluster.firstVelocity + j];
        continue;
      }
      T sum(0);
      for (int i = 0; i < cluster.velocities; ++i) {
        sum += rows[r * n + cluster.firstVelocity + i] * s.ratios(cluster)[i * m + j];
      }
      out[r * s.model.nv + cluster.firstV + j] = sum;
    }
  }
  for (int b = cluster.output; b != kWorld;) {
    const ClusterEntry& ancestor = s.cluster(s.model.bodies[b].cluster);
    const int width = ancestor.nv;
    for (int r = 0; r < m; ++r) {
      std::fill_n(out + r * s.model.nv + ancestor.firstV, width, T(0));
    }
    for (; b != ancestor.output; b = s.model.bodies[b].parent) {
      const BodyEntry<T>& body = s.model.bodies[b];
      const int count = velocitySize(body.type);
      if (!open) {
        projectRows<M>(s, cluster, body.firstVelocity, count, s.scratch.columns.data());
      }
      for (int i = body.firstVelocity; i < body.firstVelocity + count; ++i) {
        const int row = i - ancestor.firstVelocity;
        for (int r = 0; r < m; ++r) {
          T* target = out + r * s.model.nv + ancestor.firstV;
          if (ancestor.kind == ClusterKind::Tree) {
            target[row] = rows[r * n + i];
            continue;
          }
          const T* G = s.ratios(ancestor) + row * width;
          for (int j = 0; j < width; ++j) {
            target[j] += rows[r * n + i] * G[j];
          }
        }
      }
    }
  }
}

/// Gᵀ H G, factored.
template <typename T>
const T* factorProjected(SpanningEvaluation<T>& s) {
  s.massMatrix();
  for (int c = 0; c < s.model.clusterCount; ++c) {
    const ClusterEntry& cluster = s.cluster(c);
    withSize(cluster.nv, [&]<int M>() { projectCluster<M>(s, cluster); });
  }
  const int indefinite = treeFactor(s.scratch.coordinates, kRoundedPivot<T>,
                                    s.scratch.projected.data(), s.scratch.diagonal.data());
  if (indefinite >= 0) {
    throwIndefiniteError(s.e.impl, indefinite);
  }
  return s.scratch.projected.data();
}

/// L⁻ᵀ Gᵀ Jᵀ f for six forces on a body, nv × 6 row-major; only the way to the root is visited, the
/// rest is zero.
template <typename T>
void projectUnitForces(const SpanningEvaluation<T>& s, int b, const Force<T>* forces, const T* L,
                       T* W) {
  std::fill_n(W, 6 * s.model.nv, T(0));
  while (b != kWorld) {
    const ClusterEntry& cluster = s.cluster(s.model.bodies[b].cluster);
    for (; b != cluster.output; b = s.model.bodies[b].parent) {
      const BodyEntry<T>& body = s.model.bodies[b];
      for (int i = body.firstVelocity; i < body.firstVelocity + velocitySize(body.type); ++i) {
        const int row = i - cluster.firstVelocity;
        const T* G = s.ratios(cluster) + row * cluster.nv;
        for (int k = 0; k < 6; ++k) {
          const T force = dot(forces[k], s.e.work->S[i]);
          if (cluster.kind == ClusterKind::Tree) {
            W[(cluster.firstV + row) * 6 + k] += force;
            continue;
          }
          for (int j = 0; j < cluster.nv; ++j) {
            W[(cluster.firstV + j) * 6 + k] += G[j] * force;
          }
        }
      }
    }
    for (int j = cluster.firstV + cluster.nv - 1; j >= cluster.firstV; --j) {
      treeEliminate(s.scratch.coordinates, L, j, W, 6, 0, 6);
    }
  }
}

}  // namespace

template <typename T>
void projectedInverseDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                              VectorInOf<T> q, const T* v, const T* a, T* tau) {
  SpanningEvaluation<T> s(e);
  s.place(q, v);
  s.move(v, a);
  projectForces(s.model, s.clusterWork, s.inverseDynamics(external), tau);
}

template <typename T>
void projectedForwardDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                              VectorInOf<T> q, const T* v, const T* tau, T* a) {
  SpanningEvaluation<T> s(e);
  s.place(q, v);
  s.move(v, nullptr);
  T* x = s.scratch.x.data();
  projectForces(s.model, s.clusterWork, s.inverseDynamics(external), x);
  for (int i = 0; i < s.model.nv; ++i) {
    a[i] = tau[i] - x[i];  // (1), right side
  }
  const T* L = factorProjected(s);
  treeSolveTransposed(s.scratch.coordinates, L, a);
  treeSolve(s.scratch.coordinates, L, a);
}

template <typename T>
void projectedOperationalInertia(Evaluation<T>& e, VectorInOf<T> q, std::span<const int> frames,
                                 Reference reference, MatrixOutOf<T> Omega) {
  SpanningEvaluation<T> s(e);
  s.place(q, nullptr);
  s.placeBodies();
  const T* L = factorProjected(s);
  const int nv = s.model.nv;
  T* W = roomForForces(e, frames.size(), nv);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const FrameEntry& frame = e.frame(frames[f]);
    Force<T> forces[6];
    unitForces(e, frame, reference, forces);
    projectUnitForces(s, frame.body, forces, L, W + 6 * static_cast<std::size_t>(nv) * f);
  }
  Omega.setZero();
  addProducts(W, nv, frames.size(), T(1), Omega);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define KEMPE_INSTANTIATE(T)                                                             \
  template void projectedInverseDynamics<T>(Evaluation<T>&, const ExternalForces<T, T>&, \
                                            VectorInOf<T>, const T*, const T*, T*);      \
  template void projectedForwardDynamics<T>(Evaluation<T>&, const ExternalForces<T, T>&, \
                                            VectorInOf<T>, const T*, const T*, T*);      \
  template void projectedOperationalInertia<T>(Evaluation<T>&, VectorInOf<T>,            \
                                               std::span<const int>, Reference, MatrixOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace kempe::detail
