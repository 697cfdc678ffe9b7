#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "tables/tables.hpp"

/// The input (TablesView) and scratch memory (WorkView) of the recursions: plain pointers, so that
/// they run without the standard library. Numbers of the tables have type R, numbers of the state
/// type T; a pack of several states mixes the two.
namespace kempe::detail {

template <typename R>
struct TablesView {
  const BodyEntry<R>* bodies = nullptr;
  const ClusterEntry* clusters = nullptr;
  const int* order = nullptr;
  const AncestorEntry* ancestors = nullptr;
  const LoopEntry<R>* loops = nullptr;
  const LoopColumn* columns = nullptr;
  const LoopTerm<R>* terms = nullptr;
  const ProgramStep<R>* programSteps = nullptr;
  const int* rowSlots = nullptr;
  const int* independent = nullptr;
  const int* dependent = nullptr;
  const R* G = nullptr;
  const R* offset = nullptr;
  const R* couplingForces = nullptr;
  const RotorEntry<R>* rotors = nullptr;
  const int* drives = nullptr;
  const Transform<R>* links = nullptr;
  const R* armature = nullptr;
  const R* damping = nullptr;
  const R* friction = nullptr;
  const R* stiffness = nullptr;
  const R* springReference = nullptr;
  const R* inertiaScale = nullptr;
  Vec3<R> gravity{};
  int bodyCount = 0, clusterCount = 0, rotorCount = 0;
  int nq = 0, nv = 0, positions = 0, velocities = 0;
  int floatingBase = -1;
  /// Sizes of scratch, as in ModelTables.
  int sColumns = 0, ratios = 0, dNumbers = 0, factorNumbers = 0, swaps = 0, dependents = 0;
  int rowNumbers = 0, widestRows = 0, widestRightSide = 0, mostRows = 0, widestBasis = 0,
      widestTriangle = 0, functionNumbers = 0;

  TablesView() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a view of the tables is as good as the tables
  TablesView(const ModelTables<R>& t)
      : bodies(t.bodies.data()),
        clusters(t.clusters.data()),
        order(t.order.data()),
        ancestors(t.ancestors.data()),
        loops(t.loops.data()),
        columns(t.columns.data()),
        terms(t.terms.data()),
        programSteps(t.programSteps.data()),
        rowSlots(t.rowSlots.data()),
        independent(t.independent.data()),
        dependent(t.dependent.data()),
        G(t.G.data()),
        offset(t.offset.data()),
        couplingForces(t.couplingForces.data()),
        rotors(t.rotors.data()),
        drives(t.drives.data()),
        links(t.links.data()),
        armature(t.armature.data()),
        damping(t.damping.data()),
        friction(t.friction.data()),
        stiffness(t.stiffness.data()),
        springReference(t.springReference.data()),
        inertiaScale(t.inertiaScale.data()),
        gravity(t.gravity),
        bodyCount(static_cast<int>(t.bodies.size())),
        clusterCount(static_cast<int>(t.clusters.size())),
        rotorCount(static_cast<int>(t.rotors.size())),
        nq(t.nq),
        nv(t.nv),
        positions(t.positions),
        velocities(t.velocities),
        floatingBase(t.floatingBase),
        sColumns(t.sColumns),
        ratios(t.ratios),
        dNumbers(t.dNumbers),
        factorNumbers(t.factorNumbers),
        swaps(t.swaps),
        dependents(static_cast<int>(t.dependent.size())),
        rowNumbers(t.rowNumbers),
        widestRows(t.widestRows),
        widestRightSide(t.widestRightSide),
        mostRows(t.mostRows),
        widestBasis(t.widestBasis),
        widestTriangle(t.widestTriangle),
        functionNumbers(t.functionNumbers) {}
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

/// Hands out parts of a block of memory; without a block it only counts.
class Carver {
 public:
  static constexpr std::size_t kAlignment = 64;

  explicit Carver(std::byte* memory) : memory_(memory) {}

  template <typename U>
  U* take(int count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(U);
    std::byte* part = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<U*>(part);
  }
  /// Entries for all bodies and, at index kWorld, for the world.
  template <typename U>
  U* takeWithWorld(int bodies) {
    U* first = take<U>(bodies + 1);
    return first == nullptr ? nullptr : first + 1;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
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
  w.loops = {carver.take<T>(tables.rowNumbers),      carver.take<T>(tables.mostRows),
             carver.take<T>(tables.widestRightSide), carver.take<T>(tables.factorNumbers),
             carver.take<int>(tables.dependents),    carver.take<T>(tables.swaps),
             carver.take<T>(tables.widestRows),      carver.take<T>(tables.mostRows),
             carver.take<T>(tables.widestBasis),     carver.take<T>(tables.widestTriangle),
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

/// A block of memory that starts at a multiple of Carver::kAlignment, all zero.
class AlignedMemory {
 public:
  explicit AlignedMemory(std::size_t bytes) : lines_(bytes / Carver::kAlignment + 1) {}
  std::byte* data() { return lines_.front().bytes; }

 private:
  struct alignas(Carver::kAlignment) Line {
    std::byte bytes[Carver::kAlignment]{};
  };
  std::vector<Line> lines_;
};

/// Scratch of the algorithms that compute with plain numbers.
template <typename T>
class Workspace {
 public:
  explicit Workspace(const ModelTables<T>& tables) : memory_(sizeFor(tables)) {
    Carver carver(memory_.data());
    view_ = carveWork<T>(TablesView<T>(tables), carver);
    writeConstantRatios(TablesView<T>(tables), view_);
  }

  WorkView<T>& view() { return view_; }

 private:
  static std::size_t sizeFor(const ModelTables<T>& tables) {
    Carver carver(nullptr);
    carveWork<T>(TablesView<T>(tables), carver);
    return carver.used();
  }

  AlignedMemory memory_;
  WorkView<T> view_;
};

}  // namespace kempe::detail
