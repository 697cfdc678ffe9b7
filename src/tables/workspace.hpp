#pragma once

#include "tables/memory.hpp"
#include "tables/tables.hpp"

/// The scratch memory of the recursions: plain pointers, so that they run without the standard
/// library. Numbers of the tables have type R, numbers of the state type T; a pack of several states
/// mixes the two.
namespace kempe::detail {

/// Scratch to solve the loops of a cluster; only K and the factors of K_d are kept for all
/// clusters.
template <typename T>
struct LoopWork {
  T* K = nullptr;            ///< kept × n of each cluster, row-major
  T* k = nullptr;            ///< kept
  T* rightSide = nullptr;    ///< kept × m, row-major
  T* factors = nullptr;      ///< kept² of each cluster
  int* pivots = nullptr;     ///< one state: kept of each cluster
  T* swaps = nullptr;        ///< packs: kept (kept − 1) / 2 of each cluster
  T* rows = nullptr;         ///< all rows × n, row-major, where some are redundant
  T* multipliers = nullptr;  ///< all rows
  T* basis = nullptr;        ///< all rows × kept, row-major, where some are redundant
  T* triangle = nullptr;     ///< kept², likewise
  T* function = nullptr;     ///< registers of the program of a function
};

/// Scratch of one evaluation. Spatial quantities are in the common frame: axes of the world, origin
/// at the floating base, or at the first joint where there is none. X, v, a, da and f have
/// the world's at index kWorld.
template <typename T>
struct WorkView {
  Vec3<T>* origin = nullptr;     ///< of the common frame, in the world
  T* positions = nullptr;        ///< spanning
  T* sines = nullptr;            ///< of positions
  T* cosines = nullptr;          ///< of positions
  T* rates = nullptr;            ///< spanning, q̇
  T* G = nullptr;                ///< n×m of each cluster, row-major
  T* accelerations = nullptr;    ///< spanning, q̈; g where ÿ = 0
  Transform<T>* X = nullptr;     ///< per body
  Motion<T>* s = nullptr;        ///< per spanning velocity: joint directions
  Motion<T>* S = nullptr;        ///< per body, m of its cluster: motion relative to the output body
  Motion<T>* v = nullptr;        ///< per body
  Motion<T>* a = nullptr;        ///< per body; a° or a, as the algorithm says
  Motion<T>* da = nullptr;       ///< per body that is a carrier: δa = a − a°
  Force<T>* f = nullptr;         ///< per body
  RigidInertia<T>* I = nullptr;  ///< per body; that of all it carries where the algorithm says so
  ArticulatedInertia<T>* IA = nullptr;  ///< per body that is a carrier
  Force<T>* U = nullptr;                ///< per v
  T* D = nullptr;                       ///< m×m of each cluster, its unit lower factor
  T* dInverse = nullptr;                ///< per v: the inverse of D's diagonal factor
  T* u = nullptr;                       ///< per v
  T* tau = nullptr;                     ///< spanning
  LoopWork<T> loops{};
  /// Whether folded rotors are placed and moved as bodies, for frames and forces on them.
  bool wholeRotors = false;
};

template <typename T, typename R>
WorkView<T> carveWork(const TablesView<R>& tables, Carver& carver) {
  const int bodies = tables.bodyCount;
  WorkView<T> w;
  w.origin = carver.take<Vec3<T>>(1);
  // Sines and cosines are computed a register at a time.
  const int angles = tables.positions + static_cast<int>(Carver::kAlignment / sizeof(float));
  w.positions = carver.take<T>(angles);
  w.sines = carver.take<T>(angles);
  w.cosines = carver.take<T>(angles);
  w.rates = carver.take<T>(tables.velocities);
  w.G = carver.take<T>(tables.ratios);
  w.accelerations = carver.take<T>(tables.velocities);
  w.X = carver.takeWithWorld<Transform<T>>(bodies);
  w.s = carver.take<Motion<T>>(tables.velocities);
  w.S = carver.take<Motion<T>>(tables.sColumns);
  w.v = carver.takeWithWorld<Motion<T>>(bodies);
  w.a = carver.takeWithWorld<Motion<T>>(bodies);
  w.da = carver.takeWithWorld<Motion<T>>(bodies);
  w.f = carver.takeWithWorld<Force<T>>(bodies);
  w.I = carver.take<RigidInertia<T>>(bodies);
  w.IA = carver.take<ArticulatedInertia<T>>(bodies);
  w.U = carver.take<Force<T>>(tables.nv);
  w.D = carver.take<T>(tables.dNumbers);
  w.dInverse = carver.take<T>(tables.nv);
  w.u = carver.take<T>(tables.nv);
  w.tau = carver.take<T>(tables.velocities);
  w.loops = {carver.take<T>(tables.rowNumbers),         carver.take<T>(tables.mostRows),
             carver.take<T>(tables.widestRightSide),    carver.take<T>(tables.factorNumbers),
             carver.take<int>(tables.dependent.size()), carver.take<T>(tables.swaps),
             carver.take<T>(tables.widestRows),         carver.take<T>(tables.mostRows),
             carver.take<T>(tables.widestBasis),        carver.take<T>(tables.widestTriangle),
             carver.take<T>(tables.functionNumbers)};
  return w;
}

/// The ratios of couplings, which never change.
template <typename T, typename R>
void writeConstantRatios(const TablesView<R>& tables, const WorkView<T>& work) {
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    for (int i = 0; cluster.kind == ClusterKind::Explicit && i < cluster.velocities * cluster.nv;
         ++i) {
      work.G[cluster.firstRatio + i] = T(tables.G[cluster.firstG + i]);
    }
  }
}

/// Scratch of the algorithms that compute with plain numbers.
template <typename T>
class Workspace {
 public:
  explicit Workspace(const TablesView<T>& tables) : memory_(sizeFor(tables)) {
    Carver carver(memory_.data());
    view_ = carveWork<T>(tables, carver);
    writeConstantRatios(tables, view_);
  }

  WorkView<T>& view() { return view_; }

 private:
  static std::size_t sizeFor(const TablesView<T>& tables) {
    Carver carver(nullptr);
    carveWork<T>(tables, carver);
    return carver.used();
  }

  AlignedMemory memory_;
  WorkView<T> view_;
};

}  // namespace kempe::detail
