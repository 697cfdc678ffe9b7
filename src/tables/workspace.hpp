#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "spatial/scalar_lanes.hpp"
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
  T* kept = nullptr;         ///< registers that functions keep from slopes to second rates
  T* sorted = nullptr;       ///< kept, couplings first
};

/// Scratch of kernels/chain_clusters.hpp: per joint of these clusters, or per row of their loops.
template <typename T>
struct ChainWork {
  Force<T>* U = nullptr;    ///< per joint
  T* dInverse = nullptr;    ///< per joint
  T* u = nullptr;           ///< per joint
  T* unit = nullptr;        ///< kMostChainRows per joint
  Force<T>* X = nullptr;    ///< per row
  T* balance = nullptr;     ///< per row
  T* rowInverse = nullptr;  ///< per row: the inverse of the diagonal factor of Λ
  T* factor = nullptr;      ///< kMostChainRows per row: Λ, its unit lower factor
};

/// A mode of a flexible body as it is bent (kernels/flexible_bodies.hpp): C in the common frame, and the
/// moments and products of J' in the body's own.
template <typename T>
struct BentMode {
  Force<T> C{};
  Vec3<T> moments{}, products{};
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
  LoopWork<TwinOf<T>> twins{};  ///< of two clusters with equal loops at once; unused if TwinOf is T
  bool* solved = nullptr;       ///< per cluster: solved together with its twin; likewise
  ChainWork<T> chains{};
  PlacedInertia<T>* bent = nullptr;  ///< per flexible body
  BentMode<T>* bentModes = nullptr;  ///< per mode of all flexible bodies
  Motion<T>* nodeS = nullptr;        ///< per shape of all nodes: directions along the modes
  /// Whether folded rotors are placed and moved as bodies, for frames and forces on them.
  bool wholeRotors = false;
  /// Whether the memory has the solved loops of the position, as solveLoopsKernel leaves them, so that
  /// recursions do not solve them again.
  bool loopsSolved = false;
};

/// The parts of the scratch memory, in the order in which algorithms come to need them. A part is
/// allocated when an algorithm first needs it or a later one.
enum class WorkStage : std::uint8_t {
  Motion,       ///< everything but what is named below
  Articulated,  ///< da, IA, U, D, dInverse, u, chains
  LoopForces    ///< rows, multipliers, basis and triangle of loops
};

/// Carves one part of the memory into pointers of `w`.
template <typename T, typename R>
void carveStage(const TablesView<R>& tables, WorkStage stage, Carver& carver, WorkView<T>& w) {
  const int bodies = tables.bodyCount;
  switch (stage) {
    case WorkStage::Motion: {
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
      w.f = carver.takeWithWorld<Force<T>>(bodies);
      w.I = carver.take<RigidInertia<T>>(bodies);
      w.tau = carver.take<T>(tables.velocities);
      w.loops.K = carver.take<T>(tables.rowNumbers);
      w.loops.k = carver.take<T>(tables.mostRows);
      w.loops.rightSide = carver.take<T>(tables.widestRightSide);
      w.loops.factors = carver.take<T>(tables.factorNumbers);
      w.loops.pivots = carver.take<int>(tables.dependent.size());
      w.loops.swaps = carver.take<T>(tables.swaps);
      w.loops.function = carver.take<T>(tables.functionNumbers);
      w.loops.kept = carver.take<T>(tables.keptRegisters);
      w.loops.sorted = carver.take<T>(tables.mostRows);
      w.bent = carver.take<PlacedInertia<T>>(tables.flexibles.size());
      w.bentModes = carver.take<BentMode<T>>(tables.modes.size());
      w.nodeS = carver.take<Motion<T>>(tables.nodeShapes.size());
      if constexpr (!std::is_same_v<T, TwinOf<T>>) {
        w.twins.K = carver.take<TwinOf<T>>(tables.rowNumbers);
        w.twins.k = carver.take<TwinOf<T>>(tables.mostRows);
        w.twins.rightSide = carver.take<TwinOf<T>>(tables.widestRightSide);
        w.twins.factors = carver.take<TwinOf<T>>(tables.factorNumbers);
        w.twins.sorted = carver.take<TwinOf<T>>(tables.mostRows);
        w.twins.kept = carver.take<TwinOf<T>>(tables.keptRegisters);
        w.solved = carver.take<bool>(tables.clusterCount);
      }
      break;
    }
    case WorkStage::Articulated:
      w.da = carver.takeWithWorld<Motion<T>>(bodies);
      w.IA = carver.take<ArticulatedInertia<T>>(bodies);
      w.U = carver.take<Force<T>>(tables.nv);
      w.D = carver.take<T>(tables.dNumbers);
      w.dInverse = carver.take<T>(tables.nv);
      w.u = carver.take<T>(tables.nv);
      w.chains.U = carver.take<Force<T>>(tables.chainJoints);
      w.chains.dInverse = carver.take<T>(tables.chainJoints);
      w.chains.u = carver.take<T>(tables.chainJoints);
      w.chains.unit = carver.take<T>(tables.chainJoints * kMostChainRows);
      w.chains.X = carver.take<Force<T>>(tables.chains * kMostChainRows);
      w.chains.balance = carver.take<T>(tables.chains * kMostChainRows);
      w.chains.rowInverse = carver.take<T>(tables.chains * kMostChainRows);
      w.chains.factor = carver.take<T>(tables.chains * kMostChainRows * kMostChainRows);
      break;
    case WorkStage::LoopForces:
      w.loops.rows = carver.take<T>(tables.widestRows);
      w.loops.multipliers = carver.take<T>(tables.mostRows);
      w.loops.basis = carver.take<T>(tables.widestBasis);
      w.loops.triangle = carver.take<T>(tables.widestTriangle);
      break;
  }
}

/// The ratios of couplings, and the numbers of K that are zero: these never change.
template <typename T, typename R>
void writeConstants(const TablesView<R>& tables, const WorkView<T>& work) {
  for (int i = 0; i < tables.rowNumbers; ++i) {
    work.loops.K[i] = T(0);
    if constexpr (!std::is_same_v<T, TwinOf<T>>) {
      work.twins.K[i] = TwinOf<T>(0);
    }
  }
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    for (int i = 0; cluster.kind == ClusterKind::Explicit && i < cluster.velocities * cluster.nv;
         ++i) {
      work.G[cluster.firstRatio + i] = T(tables.G[cluster.firstG + i]);
    }
  }
}

/// Memory that grows by stages and stays where it is.
class StagedMemory {
 public:
  /// Allocates the parts up to `last` that are missing: size(stage) bytes each, of which
  /// prepare(stage, part, first part) makes use. Returns the first part.
  template <typename Size, typename Prepare>
  std::byte* upTo(WorkStage last, const Size& size, const Prepare& prepare) {
    while (parts_.size() <= static_cast<std::size_t>(last)) {
      const auto stage = static_cast<WorkStage>(parts_.size());
      parts_.emplace_back(size(stage));
      prepare(stage, parts_.back().data(), parts_.front().data());
    }
    return parts_.front().data();
  }

 private:
  std::vector<AlignedMemory> parts_;
};

/// Scratch of the algorithms that compute with plain numbers.
template <typename T>
class Workspace {
 public:
  /// The scratch for algorithms that need the parts up to `last`, for tables of the same sizes at
  /// every call.
  WorkView<T>& upTo(const TablesView<T>& tables, WorkStage last) {
    memory_.upTo(
        last,
        [&](WorkStage stage) {
          Carver carver(nullptr);
          WorkView<T> counted;
          carveStage(tables, stage, carver, counted);
          return carver.used();
        },
        [&](WorkStage stage, std::byte* part, std::byte* /*first*/) {
          Carver carver(part);
          carveStage(tables, stage, carver, view_);
          if (stage == WorkStage::Motion) {
            writeConstants(tables, view_);
          }
        });
    return view_;
  }

 private:
  StagedMemory memory_;
  WorkView<T> view_;
};

}  // namespace kempe::detail
