#pragma once

#include <cstdint>
#include <vector>

#include "kempe/mechanism.hpp"
#include "kempe/spatial/transform.hpp"
#include "mechanism/loop_kind.hpp"

/// The compiled mechanism as flat arrays. Bodies are in topological order with the bodies of a
/// cluster side by side; "spanning" counts the freedoms of all tree joints, loops cut.
///
///   array      one entry per                  written by
///   bodies     moving body                    model/compile.cpp
///   clusters   cluster                        model/compile.cpp, loops/analysis.cpp
///   loops      loop, rod, coupling, function  loops/compile_loops.cpp
///   columns    freedom that a loop feels      loops/compile_loops.cpp
///   terms      summand of a coupling, or coordinate of a function
///   rowSlots, independent, dependent, G, offset: per cluster, loops/analysis.cpp
namespace kempe::detail {

inline constexpr int kWorld = -1;  ///< index of the fixed world among bodies

template <typename T>
struct BodyEntry {
  int parent = kWorld;
  int cluster = 0;
  JointType type = JointType::Revolute;
  int firstPosition = 0;  ///< in the spanning position
  int firstVelocity = 0;  ///< in the spanning velocity
  /// The joint's frame, turned so that its axis is z, in the parent's turned frame.
  Transform<T> placement{};
  /// Universal joints: Rz(q₀) middle Rz(q₁), the fixed turn between the two axes.
  Mat3<T> middle = Mat3<T>::identity();
  T pitch{};
  RigidInertia<T> inertia{};  ///< in the turned frame, with everything merged into it
  bool folded = false;        ///< the inertia counts in the parent's already, but for the spin
  T spinInertia{};            ///< folded bodies: moment of inertia about the joint's axis
};

/// One end of a loop joint or rod: a frame on a body of the cluster or on its output body.
template <typename T>
struct LoopEnd {
  int body = -1;  ///< within the cluster; −1: the output body
  Transform<T> frame{};
};

template <typename T>
struct LoopEntry {
  LoopKind kind = LoopKind::Coupling;
  LoopType type = LoopType::Revolute;  ///< of loop joints
  int firstRow = 0;                    ///< within the cluster
  int rows = 0;
  LoopEnd<T> predecessor{}, successor{};
  T cosine{};                        ///< universal loop joints: of the angle between the two axes
  T length{};                        ///< rods
  T offset{};                        ///< couplings
  int firstColumn = 0, columns = 0;  ///< loop joints and rods: into ModelTables::columns
  int firstTerm = 0, terms = 0;      ///< couplings and functions: into ModelTables::terms
  int function = -1;                 ///< into Mechanism::functions
};

/// A freedom between one end of a loop and the cluster's output body.
struct LoopColumn {
  int velocity = 0;  ///< within the cluster
  int sign = 0;      ///< +1: it moves the successor's end, −1: the predecessor's
};

/// A scalar coordinate; its position and velocity have their own places as clusters may hold
/// quaternions too.
template <typename T>
struct LoopTerm {
  int position = 0;  ///< within the cluster
  int velocity = 0;  ///< within the cluster
  T coefficient{};
};

enum class ClusterKind : std::uint8_t {
  Tree,      ///< no loops: q̇ = ẏ
  Explicit,  ///< couplings only: q = G y + offset with a constant G
  Implicit   ///< φ(q) = 0 to be solved; q holds all joint positions
};

struct ClusterEntry {
  ClusterKind kind = ClusterKind::Tree;
  int output = kWorld;  ///< the body it hangs on
  int firstBody = 0, bodies = 0;
  int firstPosition = 0, positions = 0;   ///< in the spanning position
  int firstVelocity = 0, velocities = 0;  ///< in the spanning velocity; n
  int firstQ = 0, nq = 0;                 ///< in q
  int firstV = 0, nv = 0;                 ///< in v; m
  int firstLoop = 0, loops = 0;
  int firstRow = 0, rows = 0;  ///< all constraint rows, also into ModelTables::rowSlots
  int kept = 0;                ///< rows that remain when redundant ones are dropped; n − m
  int firstIndependent = 0;    ///< m velocities, within the cluster, ascending
  int firstDependent = 0;      ///< n − m velocities, within the cluster, ascending
  int firstG = 0;              ///< Explicit: n×m, row-major, into ModelTables::G
  int firstOffset = 0;         ///< Explicit: n, into ModelTables::offset
};

template <typename T>
struct ModelTables {
  std::vector<BodyEntry<T>> bodies;
  std::vector<ClusterEntry> clusters;
  std::vector<LoopEntry<T>> loops;
  std::vector<LoopColumn> columns;
  std::vector<LoopTerm<T>> terms;
  std::vector<int> rowSlots;  ///< a row's place among the kept ones; −1: dropped
  std::vector<int> independent;
  std::vector<int> dependent;
  std::vector<T> G;
  std::vector<T> offset;
  int nq = 0, nv = 0, positions = 0, velocities = 0, rows = 0;
};

}  // namespace kempe::detail
