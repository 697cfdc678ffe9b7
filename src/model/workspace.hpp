#pragma once

#include <vector>

#include "model/tables.hpp"

/// What the recursions read (TablesView) and work on (WorkView): plain pointers, so that they run
/// where there is no standard library. Numbers of the tables have type R, numbers of the state type
/// T; a pack of several states mixes the two.
namespace kempe::detail {

template <typename R>
struct TablesView {
  const BodyEntry<R>* bodies = nullptr;
  const ClusterEntry* clusters = nullptr;
  const int* independent = nullptr;
  const R* G = nullptr;
  const R* offset = nullptr;
  const R* armature = nullptr;
  const R* damping = nullptr;
  const R* friction = nullptr;
  Vec3<R> gravity{};
  int bodyCount = 0, clusterCount = 0;
  int nq = 0, nv = 0, velocities = 0;
  int floatingBase = -1;

  TablesView() = default;
  explicit TablesView(const ModelTables<R>& t)
      : bodies(t.bodies.data()),
        clusters(t.clusters.data()),
        independent(t.independent.data()),
        G(t.G.data()),
        offset(t.offset.data()),
        armature(t.armature.data()),
        damping(t.damping.data()),
        friction(t.friction.data()),
        gravity(t.gravity),
        bodyCount(static_cast<int>(t.bodies.size())),
        clusterCount(static_cast<int>(t.clusters.size())),
        nq(t.nq),
        nv(t.nv),
        velocities(t.velocities),
        floatingBase(t.floatingBase) {}
};

/// A 6×6 map from motions to forces without symmetry, by its columns.
template <typename T>
struct SpatialMatrix {
  Force<T> columns[6]{};

  SpatialMatrix& operator+=(const SpatialMatrix& b) {
    for (int i = 0; i < 6; ++i) {
      columns[i] += b.columns[i];
    }
    return *this;
  }
  friend Force<T> operator*(const SpatialMatrix& a, const Motion<T>& m) {
    Force<T> sum{};
    for (int i = 0; i < 6; ++i) {
      sum += m[i] * a.columns[i];
    }
    return sum;
  }
  friend Force<T> transposeTimes(const SpatialMatrix& a, const Motion<T>& m) {
    Force<T> result{};
    for (int i = 0; i < 6; ++i) {
      result[i] = dot(a.columns[i], m);
    }
    return result;
  }
};

/// Scratch of one evaluation. Spatial quantities are in the common frame: axes of the world, origin
/// at the floating base, or at the first joint where there is none.
template <typename T>
struct WorkView {
  Vec3<T>* origin = nullptr;     ///< of the common frame, in the world
  T* positions = nullptr;        ///< spanning
  T* rates = nullptr;            ///< spanning, q̇
  T* G = nullptr;                ///< n×m of each cluster, row-major
  T* accelerations = nullptr;    ///< spanning, q̈; g where ÿ = 0
  Transform<T>* X = nullptr;     ///< per body
  Motion<T>* s = nullptr;        ///< per spanning velocity: joint directions
  Motion<T>* S = nullptr;        ///< per body, m of its cluster: motion relative to the output body
  Motion<T>* v = nullptr;        ///< per body
  Motion<T>* a = nullptr;        ///< per body; a° or a, as the algorithm says
  Force<T>* f = nullptr;         ///< per body
  RigidInertia<T>* I = nullptr;  ///< per body
  ArticulatedInertia<T>* IA = nullptr;  ///< per body that is a carrier
  RigidInertia<T>* Ic = nullptr;        ///< per body: composite
  Force<T>* U = nullptr;                ///< per v
  T* D = nullptr;                       ///< m×m of each cluster, lower triangle
  T* u = nullptr;                       ///< per v
  T* tau = nullptr;                     ///< spanning
  /// Whether folded rotors are placed and moved as bodies, for frames and forces on them.
  bool wholeRotors = false;
};

template <typename T>
class Workspace {
 public:
  template <typename R>
  explicit Workspace(const ModelTables<R>& tables)
      : positions_(tables.positions),
        rates_(tables.velocities),
        G_(tables.ratios),
        accelerations_(tables.velocities),
        u_(tables.nv),
        D_(tables.dNumbers),
        tau_(tables.velocities),
        X_(tables.bodies.size()),
        s_(tables.velocities),
        S_(tables.sColumns),
        v_(tables.bodies.size()),
        a_(tables.bodies.size()),
        f_(tables.bodies.size()),
        U_(tables.nv),
        I_(tables.bodies.size()),
        Ic_(tables.bodies.size()),
        IA_(tables.bodies.size()) {
    // The ratios of couplings never change.
    for (const ClusterEntry& cluster : tables.clusters) {
      for (int i = 0; cluster.kind == ClusterKind::Explicit && i < cluster.velocities * cluster.nv;
           ++i) {
        G_[cluster.firstRatio + i] = T(tables.G[cluster.firstG + i]);
      }
    }
  }

  WorkView<T> view() {
    return {&origin_,  positions_.data(), rates_.data(), G_.data(),  accelerations_.data(),
            X_.data(), s_.data(),         S_.data(),     v_.data(),  a_.data(),
            f_.data(), I_.data(),         IA_.data(),    Ic_.data(), U_.data(),
            D_.data(), u_.data(),         tau_.data()};
  }

 private:
  Vec3<T> origin_{};
  std::vector<T> positions_, rates_, G_, accelerations_, u_, D_, tau_;
  std::vector<Transform<T>> X_;
  std::vector<Motion<T>> s_, S_, v_, a_;
  std::vector<Force<T>> f_, U_;
  std::vector<RigidInertia<T>> I_, Ic_;
  std::vector<ArticulatedInertia<T>> IA_;
};

}  // namespace kempe::detail
