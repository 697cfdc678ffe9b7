#include <algorithm>

#include "algorithms/baselines/spanning.hpp"
#include "model/positions.hpp"
#include "text/messages.hpp"

/// The recursions on the independent tree. Its joint rates z follow from the independent velocities
/// by the kept joints' rows of G and g, cluster by cluster:
///
///   z = G_r y      ż = G_r ẏ + g_r      τ = G_rᵀ τ_z
namespace kempe::detail {
namespace {

template <typename T>
class IndependentEvaluation {
 public:
  IndependentEvaluation(Evaluation<T>& evaluation, Method method)
      : e(evaluation),
        tree(e.impl.independentTree()),
        scratch(e.data.compared(e.impl)),
        model(e.modelTables),
        clusterWork(*e.work) {
    if (!tree.problem.empty()) {
      throw std::invalid_argument(tree.problem);
    }
    e.tables = &viewOf<T>(tree, method == Method::Approximate);
    e.work->wholeRotors = false;
  }

  /// Positions of the tree, G_r, and z and g_r where v is given.
  void place(VectorInOf<T> q, const T* v) {
    for (std::size_t i = 0; i < tree.positions.size(); ++i) {
      scratch.q[i] = position(tree.positions[i], q.data());
    }
    for (int c = 0; c < model.clusterCount; ++c) {
      const ClusterEntry& cluster = model.clusters[c];
      std::fill_n(scratch.g.data() + cluster.firstV, cluster.nv, T(0));
      if (tree.ratios[c] == TreeRatio::Varying) {
        solveLoops(c, q.data(), v);
      }
    }
    if (v != nullptr) {
      fromIndependent(v, scratch.v.data());
    }
  }

  /// External forces by their bodies in the tree.
  ExternalForces<T, T> inTree(std::span<const FrameForce> external) {
    ExternalForces<T, T> forces = e.prepareExternal(external);
    std::size_t i = 0;
    for (const FrameForce& force : external) {
      const FrameEntry frame = frameInTree(force.frame);
      if (frame.body != kWorld) {
        e.data.frames[i++].body = frame.body;
      }
    }
    return forces;
  }

  /// A frame by its body in the tree.
  FrameEntry frameInTree(int index) const {
    FrameEntry frame = e.frame(index);
    if (frame.body == kWorld) {
      return frame;
    }
    if (tree.treeBody[frame.body] < 0) {
      throw std::invalid_argument(
          "frame " + kempe::quoted(e.impl.frameNames[static_cast<std::size_t>(index)]) +
          " sits on body " + kempe::quoted(e.impl.bodyNames[frame.body]) +
          ", which the independent tree leaves out. Use Method::Cluster, Projection or Lagrange.");
    }
    frame.body = tree.treeBody[frame.body];
    return frame;
  }

  /// G_r x.
  void fromIndependent(const T* x, T* result) const {
    forClusters([&](const ClusterEntry& cluster, TreeRatio kind, int m) {
      const T* own = x + cluster.firstV;
      const T* R = scratch.ratios.data() + cluster.firstD;
      T* out = result + cluster.firstV;
      for (int i = 0; i < m; ++i) {
        out[i] = kind == TreeRatio::Identity ? own[i] : T(0);
        for (int j = 0; kind != TreeRatio::Identity && j < m; ++j) {
          out[i] += R[i * m + j] * own[j];
        }
      }
    });
  }
  /// G_r⁻¹ x in place.
  void toIndependent(T* x) const {
    forClusters([&](const ClusterEntry& cluster, TreeRatio kind, int m) {
      if (kind != TreeRatio::Identity) {
        luSolve(scratch.factors.data() + cluster.firstD, m, scratch.pivots.data() + cluster.firstV,
                x + cluster.firstV, 1);
      }
    });
  }
  /// G_rᵀ f.
  void forcesToIndependent(const T* f, T* result) const {
    forClusters([&](const ClusterEntry& cluster, TreeRatio kind, int m) {
      const T* own = f + cluster.firstV;
      const T* R = scratch.ratios.data() + cluster.firstD;
      T* out = result + cluster.firstV;
      for (int j = 0; j < m; ++j) {
        out[j] = kind == TreeRatio::Identity ? own[j] : T(0);
        for (int i = 0; kind != TreeRatio::Identity && i < m; ++i) {
          out[j] += R[i * m + j] * own[i];
        }
      }
    });
  }
  /// G_r⁻ᵀ f in place.
  void forcesFromIndependent(T* f) const {
    forClusters([&](const ClusterEntry& cluster, TreeRatio kind, int m) {
      if (kind != TreeRatio::Identity) {
        luSolveTransposed(scratch.factors.data() + cluster.firstD, m,
                          scratch.pivots.data() + cluster.firstV, f + cluster.firstV);
      }
    });
  }

  KernelContext<T> context() {
    KernelContext<T> own = e.context(scratch.independentKernels, WorkStage::Articulated);
    own.wholeRotors = false;  // it has none
    return own;
  }
  /// Throws where a kernel failed.
  void require(const KernelOutcome& outcome) const {
    if (outcome.indefinite >= 0) {
      throwIndefiniteError(e.impl, outcome.indefinite);  // clusters have as many there
    }
  }

  Evaluation<T>& e;
  const IndependentTree& tree;
  ComparedScratch<T>& scratch;
  const TablesView<T>& model;
  const WorkView<T>& clusterWork;

 private:
  template <typename Visit>
  void forClusters(const Visit& visit) const {
    for (int c = 0; c < model.clusterCount; ++c) {
      visit(model.clusters[c], tree.ratios[c], model.clusters[c].nv);
    }
  }

  T position(const TreePosition& place, const T* q) const {
    if (place.source >= 0) {
      return q[place.source];
    }
    const ClusterEntry& cluster = model.clusters[place.cluster];
    const T* ratios = model.G + cluster.firstG + place.row * cluster.nv;
    T sum = model.offset[cluster.firstOffset + place.row];
    for (int j = 0; j < cluster.nv; ++j) {
      sum += ratios[j] * q[cluster.firstQ + j];
    }
    return sum;
  }

  /// G_r and g_r of a cluster with loops.
  void solveLoops(int c, const T* q, const T* v) {
    const ClusterEntry& cluster = model.clusters[c];
    const int m = cluster.nv;
    T* positions = clusterWork.positions + cluster.firstPosition;
    expandCluster(model, cluster, q, clusterWork.positions);
    ClusterState<T> state = e.data.loops.state(positions);
    placeCluster(model, cluster, state);
    T* G = clusterWork.G + cluster.firstRatio;
    const Functions& functions = e.impl.mechanism.functions;
    const bool solved =
        !isSingular(clusterJacobian(model, functions, cluster, state, e.data.loops, G));
    if (!solved) {
      e.throwSingular(c, clusterWork.positions);
    }
    T* R = scratch.ratios.data() + cluster.firstD;
    T* factor = scratch.factors.data() + cluster.firstD;
    const int* rows = tree.rows.data() + cluster.firstV;
    for (int i = 0; i < m; ++i) {
      std::copy_n(G + rows[i] * m, m, R + i * m);
      std::copy_n(G + rows[i] * m, m, factor + i * m);
    }
    const T size = largestOf(G, cluster.velocities * m);
    const T ratio = determineRatios(factor, m, scratch.pivots.data() + cluster.firstV, size);
    if (!(ratio >= kSingular<T>)) {
      const std::string& loop = e.impl.loopNames[cluster.firstLoop];
      throw SingularityError(
          "loop " + kempe::quoted(loop) +
              " is at a position in which the joints of the independent tree do not determine its "
              "motion. Move away from it, or use Method::Cluster, Projection or Lagrange.",
          loop, 1.0 / static_cast<double>(ratio));
    }
    if (v == nullptr) {
      return;
    }
    timesG(cluster, clusterWork, v + cluster.firstV, e.data.loops.rates.data());
    moveCluster(model, cluster, state);
    T* g = e.data.loops.step.data();
    clusterBias(model, functions, cluster, state, e.data.loops, g);
    for (int i = 0; i < m; ++i) {
      scratch.g[cluster.firstV + i] = g[rows[i]];
    }
  }
};

}  // namespace

template <typename T>
void independentInverseDynamics(Evaluation<T>& e, const DynamicsOptions& how, VectorInOf<T> q,
                                const T* v, const T* a, T* tau) {
  IndependentEvaluation<T> s(e, how.method);
  s.place(q, v);
  s.fromIndependent(a, s.scratch.a.data());
  for (int i = 0; i < s.model.nv; ++i) {
    s.scratch.a[i] += s.scratch.g[i];
  }
  e.kernels().inverseDynamics(s.context(), s.scratch.q.data(), s.scratch.v.data(),
                              s.scratch.a.data(), s.inTree(how.external), s.scratch.tau.data());
  s.forcesToIndependent(s.scratch.tau.data(), tau);
}

template <typename T>
void independentForwardDynamics(Evaluation<T>& e, const DynamicsOptions& how, VectorInOf<T> q,
                                const T* v, const T* tau, T* a) {
  IndependentEvaluation<T> s(e, how.method);
  s.place(q, v);
  std::copy_n(tau, s.model.nv, s.scratch.tau.data());
  s.forcesFromIndependent(s.scratch.tau.data());
  s.require(e.kernels().forwardDynamics(s.context(), s.scratch.q.data(), s.scratch.v.data(),
                                        s.scratch.tau.data(), s.inTree(how.external), a));
  for (int i = 0; i < s.model.nv; ++i) {
    a[i] -= s.scratch.g[i];
  }
  s.toIndependent(a);
}

template <typename T>
void independentOperationalInertia(Evaluation<T>& e, Method method, VectorInOf<T> q,
                                   std::span<const int> frames, Reference reference,
                                   MatrixOutOf<T> Omega) {
  IndependentEvaluation<T> s(e, method);
  s.place(q, nullptr);
  e.prepareFrames(frames, reference);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    e.data.frames[f].body = s.frameInTree(frames[f]).body;
  }
  T* W = roomForForces(e, frames.size(), s.model.nv);
  s.require(e.kernels().inverseOperationalInertia(
      s.context(), s.scratch.q.data(), e.data.frames.data(), static_cast<int>(frames.size()), W,
      Omega.data(), static_cast<int>(Omega.outerStride())));
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define KEMPE_INSTANTIATE(T)                                                            \
  template void independentInverseDynamics<T>(Evaluation<T>&, const DynamicsOptions&,   \
                                              VectorInOf<T>, const T*, const T*, T*);   \
  template void independentForwardDynamics<T>(Evaluation<T>&, const DynamicsOptions&,   \
                                              VectorInOf<T>, const T*, const T*, T*);   \
  template void independentOperationalInertia<T>(Evaluation<T>&, Method, VectorInOf<T>, \
                                                 std::span<const int>, Reference, MatrixOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace kempe::detail
