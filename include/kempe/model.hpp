#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/types.hpp"

namespace kempe {

namespace detail {
struct ModelImpl;
template <typename T>
struct DataImpl;
}  // namespace detail

/// Choices made when a mechanism is compiled.
struct ModelOptions {
  /// Merge the inertia of leaf bodies that turn about their axis of symmetry into their parents and
  /// keep only their spin. Exact either way; folded is faster.
  bool foldRotors = true;
  /// Replace three massless revolute joints in a row whose axes form a ball (they meet in one point
  /// and are not in one plane) by one spherical joint, which has no gimbal lock. Warnings name
  /// them. On by default in load(): exporters write ball joints in this way.
  bool mergeGimbals = false;
};

/// A set of bodies that loops tie together, or a single body: what the recursions step over.
struct ClusterInfo {
  std::vector<std::string> bodies;
  std::vector<std::string> joints;
  std::vector<std::string> loops;        ///< loop joints, rods, couplings and functions
  std::vector<std::string> independent;  ///< names of its independent velocity coordinates
  std::string outputBody;                ///< the body it hangs on
  std::vector<std::string> rotorJoints;  ///< where Actuation::Rotors applies forces, if it can
  int mobility = 0;                      ///< number of independent velocities
  int redundantRows = 0;                 ///< constraint rows that the others imply
  bool implicit =
      false;  ///< its part of q holds all joint positions, not the independent ones only
};

/// A loop joint, rod, coupling or function, and where its numbers are.
struct LoopInfo {
  std::string name;
  LoopKind kind = LoopKind::Coupling;
  bool cut = false;            ///< held by multipliers, in no cluster
  int firstRow = 0, rows = 0;  ///< its constraint rows among all
  /// Its numbers in loopForces(): [force; moment] of a loop joint or rod, one number for each of
  /// the `coordinates` of a coupling or function.
  int firstForce = 0, forces = 0;
  /// Whether the motion determines them. If not, the loop or one that it shares bodies with is
  /// redundant, and loopForces() gives those of least norm.
  bool forceIsUnique = true;
  std::vector<std::string> bodies;       ///< loop joints and rods: predecessor, successor
  std::vector<std::string> coordinates;  ///< couplings and functions
};

/// A mechanism compiled for computation. Immutable; copies share their contents; any number of
/// threads may use one model.
class Model {
 public:
  /// Throws ModelError where the mechanism is wrong or its loops cannot be closed.
  KEMPE_API explicit Model(const Mechanism& mechanism, const ModelOptions& options = {});

  [[nodiscard]] KEMPE_API const std::string& name() const;
  /// What the model was compiled from.
  [[nodiscard]] KEMPE_API const Mechanism& mechanism() const;
  [[nodiscard]] KEMPE_API const ModelOptions& options() const;
  [[nodiscard]] KEMPE_API const Vector3& gravity() const;
  /// What reading and compiling had to say.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& warnings() const;

  /// Sizes of the configuration q and of v, a, tau.
  [[nodiscard]] KEMPE_API int nq() const;
  [[nodiscard]] KEMPE_API int nv() const;
  /// Sizes of the spanning position and velocity: all tree joints, loops cut.
  [[nodiscard]] KEMPE_API int nqSpanning() const;
  [[nodiscard]] KEMPE_API int nvSpanning() const;
  /// Number of constraint rows of all loops, redundant ones included.
  [[nodiscard]] KEMPE_API int nLoopRows() const;

  [[nodiscard]] KEMPE_API const std::vector<std::string>& qNames() const;
  [[nodiscard]] KEMPE_API const std::vector<std::string>& vNames() const;
  [[nodiscard]] KEMPE_API const std::vector<std::string>& spanningPositionNames() const;
  [[nodiscard]] KEMPE_API const std::vector<std::string>& spanningVelocityNames() const;
  /// One name per loop row: the loop it belongs to.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& loopRowNames() const;
  /// Moving bodies and the joints that carry them, in model order; fixed joints are merged away.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& bodyNames() const;
  [[nodiscard]] KEMPE_API const std::vector<std::string>& jointNames() const;
  /// Every body and joint of the mechanism: a frame each.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& frameNames() const;
  [[nodiscard]] KEMPE_API const std::vector<ClusterInfo>& clusters() const;
  /// Loops that are left cut: in no cluster, held by multipliers.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& cutLoops() const;
  /// All loops, in the order of their rows.
  [[nodiscard]] KEMPE_API const std::vector<LoopInfo>& loops() const;
  /// Number of numbers that say what all loops transmit (see loopForces()).
  [[nodiscard]] KEMPE_API int nLoopForces() const;
  /// Bodies whose inertia was merged into their parents (see ModelOptions::foldRotors).
  [[nodiscard]] KEMPE_API const std::vector<std::string>& foldedRotors() const;

  /// Names of the actuated velocity coordinates, among spanningVelocityNames(): those of the joints
  /// that are marked as actuated. Where none is marked: the independent coordinates, except those
  /// of free joints and of joints marked as not actuated.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& actuated() const;

  /// The number of a frame, by which algorithms know it. Throws std::invalid_argument for a name
  /// that is neither a body nor a joint.
  [[nodiscard]] KEMPE_API int frameIndex(std::string_view frame) const;

  /// Where a joint's numbers begin in the spanning position and velocity. Throws
  /// std::invalid_argument for a name that is not a moving joint.
  [[nodiscard]] KEMPE_API int jointPositionIndex(std::string_view joint) const;
  [[nodiscard]] KEMPE_API int jointVelocityIndex(std::string_view joint) const;

  /// Mass of all bodies, the root included.
  [[nodiscard]] KEMPE_API double totalMass() const;

  /// A closed configuration away from singular positions: zero where that is one.
  [[nodiscard]] KEMPE_API const Vector& neutral() const;
  /// A closed configuration within the limits, reachable from neutral() without a singular position
  /// on the way; the same for the same seed.
  [[nodiscard]] KEMPE_API Vector randomConfiguration(std::uint64_t seed = 0) const;

  /// The same mechanism with other independent coordinates: v, a and tau then speak of those. The
  /// clusters whose coordinates are named get them, as many as they have freedoms; the others stay
  /// as they are. q stays what it is, but for clusters of couplings only.
  /// @param coordinates  of spanningVelocityNames()
  ///
  /// Throws std::invalid_argument for names that are not known, too few or too many of one cluster,
  /// and for coordinates that do not determine the others.
  [[nodiscard]] KEMPE_API Model withIndependent(const std::vector<std::string>& coordinates) const;

  [[nodiscard]] const detail::ModelImpl& impl() const { return *impl_; }
  explicit Model(std::shared_ptr<const detail::ModelImpl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const detail::ModelImpl> impl_;
};

/// The tree of clusters with freedoms, loops and folded rotors, for people to read.
KEMPE_API std::ostream& operator<<(std::ostream& out, const Model& model);

/// Scratch memory of one evaluation; nothing in it is for users. One per thread.
template <typename T>
class BasicData {
 public:
  KEMPE_API explicit BasicData(const Model& model);
  KEMPE_API BasicData(BasicData&&) noexcept;
  KEMPE_API BasicData& operator=(BasicData&&) noexcept;
  KEMPE_API ~BasicData();

  [[nodiscard]] detail::DataImpl<T>& impl() { return *impl_; }

 private:
  std::unique_ptr<detail::DataImpl<T>> impl_;
};

/// Algorithms compute in the scalar of the Data they are given.
using Data = BasicData<double>;
using DataF = BasicData<float>;

}  // namespace kempe
