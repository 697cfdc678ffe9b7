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

/// Options for compiling a mechanism.
struct ModelOptions {
  /// Merge the inertia of rotors (leaf bodies that turn about their axis of symmetry) into their
  /// parents and treat only their spin separately. Exact with or without; folding is faster.
  bool foldRotors = true;
  /// Replace three consecutive massless revolute joints whose axes meet in one point and are not
  /// coplanar by one spherical joint, which has no gimbal lock. A warning names them. On by default
  /// in load(): exporters write ball joints in this way.
  bool mergeGimbals = false;
};

/// A set of bodies that are connected by loops, or a single body. The recursive algorithms process
/// one cluster at a time.
struct ClusterInfo {
  std::vector<std::string> bodies;
  std::vector<std::string> joints;
  std::vector<std::string> loops;        ///< loop joints, rods, couplings and functions
  std::vector<std::string> independent;  ///< names of its independent velocity coordinates
  std::string outputBody;                ///< the body outside the cluster that carries it
  std::vector<std::string> rotorJoints;  ///< joints on which Actuation::Rotors acts; may be empty
  int mobility = 0;                      ///< number of degrees of freedom (DoFs)
  int redundantRows = 0;                 ///< number of redundant constraint rows
  /// Whether its part of q contains all its joint positions, not only the independent ones.
  bool implicit = false;
};

/// A loop joint, rod, coupling or function, and the indices of its rows and forces.
struct LoopInfo {
  std::string name;
  LoopKind kind = LoopKind::Coupling;
  bool cut = false;            ///< enforced by Lagrange multipliers, in no cluster
  int firstRow = 0, rows = 0;  ///< its rows among the constraint rows of all loops
  /// Its entries in loopForces(): [force; moment] for a loop joint or rod, one entry for each of
  /// the `coordinates` for a coupling or function.
  int firstForce = 0, forces = 0;
  /// Whether the motion determines these forces. If not, this loop or one that shares bodies with
  /// it has redundant rows, and loopForces() returns the forces of least norm.
  bool forceIsUnique = true;
  std::vector<std::string> bodies;       ///< loop joints and rods: predecessor, successor
  std::vector<std::string> coordinates;  ///< couplings and functions
};

/// A mechanism compiled for computation. A model is immutable; copies share their contents, and any
/// number of threads may use one model.
class Model {
 public:
  /// Throws ModelError if the mechanism is invalid or its loops cannot be closed.
  KEMPE_API explicit Model(const Mechanism& mechanism, const ModelOptions& options = {});

  [[nodiscard]] KEMPE_API const std::string& name() const;
  /// The mechanism that the model was compiled from.
  [[nodiscard]] KEMPE_API const Mechanism& mechanism() const;
  [[nodiscard]] KEMPE_API const ModelOptions& options() const;
  [[nodiscard]] KEMPE_API const Vector3& gravity() const;
  /// Warnings from reading and compiling.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& warnings() const;

  /// Size of the configuration q; nv() is the size of v, a and tau: the number of degrees of
  /// freedom (DoFs). Constraint rows of loops that are left cut are not subtracted from it.
  [[nodiscard]] KEMPE_API int nq() const;
  [[nodiscard]] KEMPE_API int nv() const;
  /// Sizes of the spanning positions and velocities, those of all tree joints.
  [[nodiscard]] KEMPE_API int nqSpanning() const;
  [[nodiscard]] KEMPE_API int nvSpanning() const;
  /// Number of constraint rows of all loops, redundant ones included.
  [[nodiscard]] KEMPE_API int nLoopRows() const;

  [[nodiscard]] KEMPE_API const std::vector<std::string>& qNames() const;
  [[nodiscard]] KEMPE_API const std::vector<std::string>& vNames() const;
  [[nodiscard]] KEMPE_API const std::vector<std::string>& spanningPositionNames() const;
  [[nodiscard]] KEMPE_API const std::vector<std::string>& spanningVelocityNames() const;
  /// For each loop row the name of its loop.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& loopRowNames() const;
  /// Moving bodies and the joints that carry them, in model order. Bodies on fixed joints are
  /// merged into their parents and not listed.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& bodyNames() const;
  [[nodiscard]] KEMPE_API const std::vector<std::string>& jointNames() const;
  /// Names of all frames: one for each body and joint of the mechanism.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& frameNames() const;
  [[nodiscard]] KEMPE_API const std::vector<ClusterInfo>& clusters() const;
  /// Loops that are left cut: they are in no cluster and enforced by Lagrange multipliers.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& cutLoops() const;
  /// All loops, in the order of their rows.
  [[nodiscard]] KEMPE_API const std::vector<LoopInfo>& loops() const;
  /// Size of the vector that loopForces() returns.
  [[nodiscard]] KEMPE_API int nLoopForces() const;
  /// Bodies whose inertia was merged into their parents (see ModelOptions::foldRotors).
  [[nodiscard]] KEMPE_API const std::vector<std::string>& foldedRotors() const;

  /// Names of the actuated velocity coordinates, a subset of spanningVelocityNames(): those of the
  /// joints marked as actuated. If no joint is marked: the independent coordinates, except those of
  /// free joints and of joints marked as not actuated.
  [[nodiscard]] KEMPE_API const std::vector<std::string>& actuated() const;

  /// Returns the index of a frame, which the algorithms take. Throws std::invalid_argument if no
  /// body or joint has this name.
  [[nodiscard]] KEMPE_API int frameIndex(std::string_view frame) const;

  /// Returns the index of a joint's first entry in the spanning positions; jointVelocityIndex()
  /// that in the spanning velocities. Throws std::invalid_argument if no moving joint has this
  /// name.
  [[nodiscard]] KEMPE_API int jointPositionIndex(std::string_view joint) const;
  [[nodiscard]] KEMPE_API int jointVelocityIndex(std::string_view joint) const;

  /// Total mass of all bodies, the root included.
  [[nodiscard]] KEMPE_API double totalMass() const;

  /// A configuration that closes the loops and is not singular; zero if zero satisfies both.
  [[nodiscard]] KEMPE_API const Vector& neutral() const;
  /// Returns a random configuration that closes the loops, is within the limits and can be reached
  /// from neutral() without passing a singular configuration. The same seed gives the same result.
  [[nodiscard]] KEMPE_API Vector randomConfiguration(std::uint64_t seed = 0) const;

  /// Returns a model of the same mechanism with other independent coordinates; v, a and tau are
  /// then expressed in these coordinates. Name as many coordinates of a cluster as it has DoFs;
  /// clusters of which none is named keep theirs. The meaning of q changes only for clusters that
  /// consist of couplings alone.
  /// @param coordinates  names from spanningVelocityNames()
  ///
  /// Throws std::invalid_argument if a name is unknown, if too few or too many coordinates of a
  /// cluster are named, or if they do not determine the others.
  [[nodiscard]] KEMPE_API Model withIndependent(const std::vector<std::string>& coordinates) const;

  [[nodiscard]] const detail::ModelImpl& impl() const { return *impl_; }
  explicit Model(std::shared_ptr<const detail::ModelImpl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const detail::ModelImpl> impl_;
};

/// Prints the tree of clusters with their DoFs, loops and folded rotors.
KEMPE_API std::ostream& operator<<(std::ostream& out, const Model& model);

/// Scratch memory of the algorithms, without any content for users. Every thread needs its own. What
/// an algorithm needs is allocated at its first call with a Data; that algorithms allocate no memory
/// is said of all later calls.
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

/// Algorithms compute in the scalar type of the Data that they are given.
using Data = BasicData<double>;
using DataF = BasicData<float>;

}  // namespace kempe
