#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "expressions/program.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/spatial/transform.hpp"
#include "spatial/mixed.hpp"
#include "tables/members.hpp"

/// The compiled mechanism as flat arrays. Bodies are in topological order with the bodies of a
/// cluster side by side; "spanning" counts the DoFs of all tree joints, loops cut.
///
///   array      one entry per                  written by
///   bodies     moving body                    model/compile.cpp
///   clusters   cluster                        model/compile.cpp, loops/analysis.cpp
///   order, ancestors   cluster                model/shapes.cpp
///   loops      loop, rod, coupling, function  loops/compile_loops.cpp
///   columns    DoF that moves a loop          loops/compile_loops.cpp
///   terms      summand of a coupling, or coordinate of a function
///   programSteps   operation of a function   loops/compile_loops.cpp
///   rowSlots, independent, dependent, G, offset, couplingForces: per cluster, loops/analysis.cpp
///   substituted, substitutions   implicit cluster with couplings   loops/substitution.cpp
///   twin       cluster                        loops/twins.cpp
///   rotors     folded rotor                   model/rotors.cpp
///   unevenRotors   rotor of kernels/uneven_rotors.hpp   model/uneven_rotors.cpp
///   withRotors body                           model/uneven_rotors.cpp
///   drives     rotor that can take the place of an independent joint   model/rotors.cpp
///   flexibles, modes, modePairs, nodes, nodeShapes, shortenings, flexibleParts, angles   model/flexible.cpp
///   links      moving body                    model/layout.cpp
///   armature, damping, friction, stiffness, springReference   spanning velocity   model/layout.cpp
///   inertiaScale   velocity                   model/shapes.cpp
namespace kempe::detail {

inline constexpr int kWorld = -1;  ///< index of the fixed world among bodies
/// Most rows, after redundant ones are dropped, of the clusters of kernels/chain_clusters.hpp.
inline constexpr int kMostChainRows = 6;

/// Sums of the folded rotors, armatures, dampers, frictions and springs of a cluster of shape
/// Single along its one degree of freedom: constants, because all ratios are.
template <typename T>
struct Single {
  bool geared = false;  ///< it has folded rotors
  bool dissipates = false;
  bool sprung = false;
  Vec3<T> spin{};           ///< Σ J r z of the folded rotors, in the output body's frame
  T reflected{};            ///< Σ J r² of folded rotors and armatures
  T damping{}, friction{};  ///< Σ r² d, Σ |r| f
  T stiffness{}, atZero{};  ///< Σ r² k, and Σ r k (offset − rest): the springs' force at y = 0
};

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
  RigidInertia<T> inertia{};    ///< in the turned frame, with everything merged into it
  bool folded = false;          ///< its inertia, but for the spin, is the parent's; or a bare node
  T spinInertia{};              ///< folded bodies: moment of inertia about the joint's axis
  bool carrier = false;         ///< it carries another cluster
  bool loopEnd = false;         ///< a loop joint or rod of its cluster is attached to it
  int firstS = 0;               ///< its m columns of S among those of all bodies
  RigidInertia<T> own{};        ///< the inertia without the rotors that are folded into it
  CentralInertia<T> central{};  ///< `inertia`, about the centre of mass
  Single<T> single{};           ///< of `moving` in a cluster that has one
  int flexible = -1;            ///< into TableArrays::flexibles: a body that bends
  int node = -1;                ///< into TableArrays::nodes: a node of such a body, its parent
  bool massless = false;        ///< of a node: it has no inertia
};

/// A body that bends, with the integrals of include/kempe/flexible.hpp in its own frame.
struct FlexibleEntry {
  int body = 0;
  int modes = 0;
  int firstMode = 0;      ///< into TableArrays::modes
  int firstPair = 0;      ///< modes², into TableArrays::modePairs
  int firstPosition = 0;  ///< of its modes, in the spanning position
  int firstVelocity = 0;  ///< likewise
  int firstPart = 0;      ///< into TableArrays::flexibleParts
  int parts = 0;  ///< bodies of its cluster that the dynamics needs: `body` and nodes that carry
  bool pairForces = false;   ///< some h_ij is not zero: q of kernels/flexible_bodies.hpp
  bool pairMoments = false;  ///< the symmetric part of some c_ij is not zero, but for rounding: Q
};

/// A mode of a flexible body: h_i, c_i and the moments and products of inertia of J_i.
template <typename T>
struct ModeTerms {
  PaddedVec3<T> linear{}, angular{}, moments{}, products{};
};

/// The second-order terms of two modes i, j.
template <typename T>
struct ModePairTerms {
  PaddedVec3<T> linear{}, angular{};    ///< h_ij, c_ij
  PaddedVec3<T> moments{}, products{};  ///< of J_ij
  PaddedVec3<T> gyroscopic{};           ///< c_ij − c_ji
};

/// A node of a flexible body.
template <typename T>
struct NodeEntry {
  int flexible = 0;
  int firstShape = 0;        ///< one per mode, into TableArrays::nodeShapes, and WorkView::nodeS
  int firstShortening = -1;  ///< modes², into TableArrays::shortenings; −1: none
  Vec3<T> position{};
};

/// Its motion along a mode.
template <typename T>
struct NodeShapeEntry {
  PaddedVec3<T> translation{}, rotation{};
};

/// A folded rotor, for forces between bodies.
template <typename T>
struct RotorEntry {
  int body = 0, parent = kWorld;
  int velocity = 0;  ///< spanning
  int firstV = 0;    ///< of its cluster, in v
  int ratios = 0;    ///< Explicit clusters: its m numbers of ModelTables::G, from firstRatio
  int firstRatio = 0;
  bool implicit = false;        ///< its cluster is
  Vec3<T> center{}, axis{};     ///< centre of mass and axis, in the parent's turned frame
  T offset{};                   ///< of the centre from the joint's origin along the axis
  T mass{}, along{}, across{};  ///< and central moments of inertia along and across the axis
};

/// A rotor that is not symmetric about its axis, and the part of its inertia that turns with it
/// (kernels/uneven_rotors.hpp).
template <typename T>
struct UnevenRotor {
  int body = 0;
  int position = 0;         ///< spanning
  T ratio{};                ///< r
  Vec3<T> origin{};         ///< of the joint, in the parent's turned frame
  Vec3<T> e{}, n{};         ///< at θ = 0, likewise
  T J{};                    ///< inertia about the joint's axis
  T delta{};                ///< Δ
  bool unbalanced = false;  ///< h or g is not zero
  T he{}, hn{}, ge{}, gn{};
};

/// One end of a loop joint or rod: a frame on a body of the cluster or on its output body.
template <typename T>
struct LoopEnd {
  int body = -1;  ///< within the cluster; −1: the output body
  Transform<T> frame{};
};

/// The programs of a function φ(q); none where it is called back instead. The coordinates q of a
/// function that depends on time are those of its terms, and time.
struct FunctionPrograms {
  ProgramEntry value{};       ///< φ from q
  ProgramEntry slopes{};      ///< ∂φ/∂q from q: rows × terms
  ProgramEntry secondRate{};  ///< φ̈ where q̈ = 0, from q and q̇: continues `slopes`
  ProgramEntry slopeRates{};  ///< d/dt ∂φ/∂q from q and q̇: rows × terms
  /// From q, q̇, q̈: d/dt ∂φ/∂q and ∂φ̈/∂q, rows × terms each, then ∂²φ/∂q², rows × terms × terms.
  ProgramEntry secondOrder{};
  int firstSecondOrder = 0;  ///< of its results, among those of all functions
  int firstRegister = 0;     ///< of `slopes` and `secondRate`, among those that functions keep

  [[nodiscard]] KEMPE_HD bool exist() const { return value.steps > 0; }
};

/// The kinds of loops and constraints, by the form of their rows. Loops have the first four; Held is
/// a velocity that is kept at zero, such as that of a joint that sticks.
enum class RowKind : std::uint8_t {
  Coupling,
  Joint,
  Rod,
  Function,
  Prescribed,
  Lock,
  KnifeEdge,
  Rolling,
  Held
};

/// The equations of a loop or constraint, apart from its place in the mechanism.
template <typename R>
struct RowForm {
  RowKind kind = RowKind::Coupling;
  LoopType type = LoopType::Revolute;  ///< of loop joints
  bool ball = false;                   ///< rolling: a ball, not a disc
  R cosine{};                          ///< universal loop joints: of the angle between the two axes
  R length{};                          ///< rods; rolling: the radius
  R offset{};                          ///< couplings

  /// Whether rows are forces between two bodies, rather than along coordinates.
  [[nodiscard]] KEMPE_HD bool betweenBodies() const {
    return kind == RowKind::Joint || kind == RowKind::Rod || kind == RowKind::KnifeEdge ||
           kind == RowKind::Rolling;
  }
};

template <typename T>
struct LoopEntry {
  RowForm<T> form{};
  int firstRow = 0;  ///< within the cluster
  int rows = 0;
  LoopEnd<T> predecessor{}, successor{};
  int firstColumn = 0, columns = 0;  ///< loop joints and rods: into ModelTables::columns
  int firstTerm = 0, terms = 0;      ///< couplings and functions: into ModelTables::terms
  int function = -1;                 ///< into Mechanism::functions
  FunctionPrograms programs{};       ///< of the function: into ModelTables::programSteps
  int firstForce = 0, forces = 0;    ///< its entries among the forces of all loops
  Transform<T> forceFrame{};         ///< loop joints and rods: the successor's own, in its body
};

/// A DoF between one end of a loop and the cluster's output body.
struct LoopColumn {
  int velocity = 0;  ///< within the cluster
  int sign = 0;      ///< +1: it moves the successor's end, −1: the predecessor's
  int shape = -1;    ///< into TableArrays::nodeShapes: it moves the end by this shape of a node
};

/// A scalar coordinate of a loop or constraint, by its places in the spanning position and velocity:
/// of a loop within its cluster. They differ because there may be quaternions too.
template <typename T>
struct LoopTerm {
  int position = 0;
  int velocity = 0;
  T coefficient{};
};

enum class ClusterKind : std::uint8_t {
  Tree,      ///< no loops: q̇ = ẏ
  Explicit,  ///< couplings only: q = G y + offset with a constant G
  Implicit   ///< φ(q) = 0 to be solved; q holds all joint positions
};

/// Shapes that have a kernel of their own.
enum class ClusterShape : std::uint8_t {
  General,
  Single,   ///< one body turns or slides; the others, if any, are folded rotors on the output body
  Coupled,  ///< bodies turn or slide with constant ratios
  FreeBase  ///< the floating base at the origin of the common frame
};

struct ClusterEntry {
  ClusterKind kind = ClusterKind::Tree;
  ClusterShape shape = ClusterShape::General;
  int output = kWorld;  ///< the body that carries it
  int firstBody = 0, bodies = 0;
  int firstPosition = 0, positions = 0;   ///< in the spanning position
  int firstVelocity = 0, velocities = 0;  ///< in the spanning velocity; n
  int firstQ = 0, nq = 0;                 ///< in q
  int firstV = 0, nv = 0;                 ///< in v; m
  int firstLoop = 0, loops = 0;
  int firstRow = 0, rows = 0;  ///< all constraint rows, also into ModelTables::rowSlots
  int kept = 0;                ///< rows that remain when redundant ones are dropped; n − m
  int firstIndependent = 0;    ///< m velocities, within the cluster, ascending
  int firstDependent = 0;      ///< n − m velocities, within the cluster, ascending or, banded, as
                               ///< they come in the rows
  int firstG = 0;              ///< Explicit: n×m, row-major, into ModelTables::G
  int firstOffset = 0;         ///< Explicit: n, into ModelTables::offset
  int firstCouplingForce = 0;  ///< Explicit: forces × (n − m), into ModelTables::couplingForces
  int firstDrive = 0;          ///< `drives` velocities, within the cluster
  int drives = 0;              ///< m where rotors determine all its velocities, otherwise 0
  bool banded = false;         ///< K_d is a band matrix, see loops/band_factorization.hpp
  int lower = 0, upper = 0;    ///< its width
  int firstFactor = 0;         ///< (n − m)² numbers in the scratch of loops
  int firstK = 0;              ///< (n − m) n numbers there
  int firstRatio = 0;          ///< n×m of G in the scratch of the recursions
  int firstD = 0;              ///< m×m of D there
  int firstSwap = 0;           ///< d (d − 1) / 2 numbers there, d = n − m of implicit clusters
  int couplings = 0;           ///< Implicit: kept rows that are couplings and are substituted
  int firstSubstituted = 0;    ///< then: into ModelTables::substituted
  int firstSubstitution = 0;   ///< then: into ModelTables::substitutions
  int moving = 0;              ///< Single: the body that is not folded
  int firstUneven = 0;         ///< into ModelTables::unevenRotors
  int unevens = 0;             ///< rotors of kernels/uneven_rotors.hpp; their link is `moving`
  bool armatured = false;      ///< some joint of it has an armature
  bool dissipates = false;     ///< some joint of it has damping or friction
  bool sprung = false;         ///< some joint of it has a spring
  bool bodyLoops = false;      ///< some loop of it is a loop joint or rod
  bool wide = false;           ///< Implicit: of many DoFs, see kernels/wide_clusters.hpp
  bool plainJoints = false;    ///< all its bodies turn or slide
  int twin = -1;   ///< a cluster of the same depth with equal loops, see loops/twins.hpp
  int chain = -1;  ///< its number among the clusters of kernels/chain_clusters.hpp, or −1
  int firstChainJoint = 0;  ///< n numbers in the scratch of these
  int flexible = -1;        ///< the flexible body whose parts it consists of, if no loop binds them
};

/// The DoFs of the body that carries a cluster, for walks to the root.
struct AncestorEntry {
  int cluster = -1;  ///< that body's; −1: the world
  int firstS = 0, firstV = 0, nv = 0;
  bool base = false;  ///< it is a cluster of shape FreeBase
};

/// All arrays of the tables, each declared here and nowhere else: vectors while a model is compiled
/// (ModelTables), then parts of one block of memory (TableBlock), as the recursions read them
/// (TablesView).
template <typename R, template <typename> typename Array>
struct TableArrays {
  Array<BodyEntry<R>> bodies;
  Array<ClusterEntry> clusters;
  Array<int> order;                ///< all clusters, those nearer to the root first
  Array<AncestorEntry> ancestors;  ///< per cluster
  Array<LoopEntry<R>> loops;
  Array<LoopColumn> columns;
  Array<LoopTerm<R>> terms;
  Array<ProgramStep<R>> programSteps;
  Array<int> rowSlots;  ///< a row's place among the kept ones; −1: dropped
  /// Units in which loops are closed and ranks decided (see loops/scales.hpp): per row and per
  /// velocity of the spanning tree.
  Array<double> rowScales, velocityScales;
  Array<int> independent;
  Array<int> dependent;
  /// Couplings in implicit clusters, see loops/substitution.hpp.
  Array<int> substituted;
  Array<R> substitutions;
  Array<R> G;
  Array<R> offset;
  Array<R> couplingForces;  ///< map from forces at dependent joints to forces of couplings
  Array<RotorEntry<R>> rotors;
  Array<UnevenRotor<R>> unevenRotors;
  /// Per body, if there are uneven rotors: BodyEntry::central with the constant part of the inertia
  /// of those that it carries.
  Array<CentralInertia<R>> withRotors;
  Array<int> drives;
  Array<FlexibleEntry> flexibles;
  Array<ModeTerms<R>> modes;
  Array<ModePairTerms<R>> modePairs;
  Array<NodeEntry<R>> nodes;
  Array<NodeShapeEntry<R>> nodeShapes;
  Array<PaddedVec3<R>> shortenings;
  Array<int> flexibleParts;
  Array<int> angles;  ///< positions of which sines and cosines are needed; empty: all may be
  Array<Transform<R>> links;  ///< a body's own frame in its turned frame
  Array<R> armature, damping, friction, stiffness, springReference;
  /// A size of the inertia that a velocity moves, for numerical tests; never zero.
  Array<R> inertiaScale;
};

/// What the tables have one of, each declared here and nowhere else.
template <typename R>
struct TableConstants {
  Vec3<R> gravity{};
  R frictionSlipSpeed{};  ///< of smooth dry friction; 0: that changes with the sign of the rate
  int nq = 0, nv = 0, positions = 0, velocities = 0, rows = 0;
  /// Sizes of S, G, D, the factors of K_d and their swaps of all clusters.
  int sColumns = 0, ratios = 0, dNumbers = 0, factorNumbers = 0, swaps = 0;
  int rowNumbers = 0;            ///< of the kept rows of K of all clusters
  int widestRows = 0;            ///< numbers of all rows of the largest cluster with redundant ones
  int widestRightSide = 0;       ///< and of the right-hand sides of its loops
  int mostRows = 0;              ///< rows of the cluster that has most
  int widestBasis = 0;           ///< rows × (n − m) of the largest cluster with redundant rows
  int widestTriangle = 0;        ///< (n − m)² of the same
  int functionNumbers = 0;       ///< registers of the largest program of a function that keeps none
  int keptRegisters = 0;         ///< registers that functions keep from slopes to second rates
  int secondOrderNumbers = 0;    ///< results of FunctionPrograms::secondOrder of all functions
  int secondOrderRegisters = 0;  ///< registers of the largest of these programs
  int loopForces = 0;            ///< number of force entries of all loops
  int chains = 0;                ///< clusters of kernels/chain_clusters.hpp
  int chainJoints = 0;           ///< and the sum of their n
  int floatingBase = -1;  ///< the body whose position is the origin of the common frame, if any
};

template <typename T>
using TableVector = std::vector<T>;

/// The tables while a model is compiled.
template <typename T>
struct ModelTables : TableArrays<T, TableVector>, TableConstants<T> {};

/// An array of the tables for reading, with and without the standard library.
template <typename T>
class TableSpan {
 public:
  TableSpan() = default;
  TableSpan(const T* first, int count) : first_(first), count_(count) {}

  KEMPE_HD const T& operator[](std::ptrdiff_t i) const { return first_[i]; }
  // NOLINTNEXTLINE(google-explicit-constructor): reads like an array, `tables.terms + firstTerm`
  KEMPE_HD operator const T*() const { return first_; }
  [[nodiscard]] KEMPE_HD const T* data() const { return first_; }
  [[nodiscard]] KEMPE_HD int size() const { return count_; }
  [[nodiscard]] KEMPE_HD const T* begin() const { return first_; }
  [[nodiscard]] KEMPE_HD const T* end() const { return first_ + count_; }

 private:
  const T* first_ = nullptr;
  int count_ = 0;
};

/// The tables for reading, by the recursions and everything else.
template <typename R>
struct TablesView : TableArrays<R, TableSpan>, TableConstants<R> {
  using Scalar = R;
  int bodyCount = 0, clusterCount = 0, rotorCount = 0;

  TablesView() = default;
  TablesView(const TableArrays<R, TableSpan>& arrays, const TableConstants<R>& constants)
      : TableArrays<R, TableSpan>(arrays),
        TableConstants<R>(constants),
        bodyCount(arrays.bodies.size()),
        clusterCount(arrays.clusters.size()),
        rotorCount(arrays.rotors.size()) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a view of the tables is as good as the tables
  TablesView(const ModelTables<R>& tables) : TablesView(spansOf(tables), tables) {}

 private:
  static TableArrays<R, TableSpan> spansOf(const TableArrays<R, TableVector>& arrays) {
    TableArrays<R, TableSpan> spans;
    forEachMember(arrays, spans, [](const auto& array, auto& span) {
      span = {array.data(), static_cast<int>(array.size())};
    });
    return spans;
  }
};

}  // namespace kempe::detail
