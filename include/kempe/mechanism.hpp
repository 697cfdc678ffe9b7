#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/errors.hpp"
#include "kempe/export.hpp"
#include "kempe/expression.hpp"
#include "kempe/flexible.hpp"
#include "kempe/jet.hpp"
#include "kempe/spatial/transform.hpp"

namespace kempe {

using Vector3 = Vec3<double>;
using Rotation = Mat3<double>;
using Pose = Transform<double>;

/// Returns a frame at `xyz`, rotated by roll, pitch and yaw about fixed axes, as in URDF.
inline Pose at(const Vector3& xyz, const Vector3& rollPitchYaw = {}) {
  return {rotationFromRollPitchYaw(rollPitchYaw), xyz};
}

// --- bodies ------------------------------------------------------------------------------------

/// A shape for viewers and collision checkers. Kempe stores it and does not use it in computations.
struct Shape {
  enum class Kind { Box, Cylinder, Sphere, Capsule, Mesh };
  Kind kind = Kind::Box;
  Vector3 size{};      ///< box: edge lengths; mesh: scale
  double radius = 0;   ///< cylinder, sphere, capsule
  double length = 0;   ///< cylinder, capsule, along z
  std::string mesh{};  ///< file name as written in the source
  Pose origin{};       ///< in the body's frame
  std::string name{};
  std::string material{};
  std::string texture{};
  std::optional<std::array<double, 4>> color{};  ///< red, green, blue, alpha
};

/// A rigid body, described in its own frame.
struct Body {
  std::string name{};
  double mass = 0.0;
  Vector3 centerOfMass{};
  SymMat3<double> inertia{};  ///< about the centre of mass, axes of the body frame
  std::vector<Shape> visuals{};
  std::vector<Shape> collisions{};
  int line = 0;  ///< line in the source file; 0 if there is none

  Body& withMass(double kilograms) {
    mass = kilograms;
    return *this;
  }
  Body& centeredAt(const Vector3& point) {
    centerOfMass = point;
    return *this;
  }
  Body& withInertia(const SymMat3<double>& aboutCenterOfMass) {
    inertia = aboutCenterOfMass;
    return *this;
  }
  /// Principal moments along the axes of the body frame.
  Body& withInertia(double xx, double yy, double zz) {
    return withInertia(SymMat3<double>::diagonal(xx, yy, zz));
  }
  Body& drawnAs(Shape shape) {
    visuals.push_back(std::move(shape));
    return *this;
  }
};

// --- tree joints -------------------------------------------------------------------------------

enum class JointType {
  Fixed,
  Revolute,
  Continuous,  ///< revolute without limits
  Prismatic,
  Helical,      ///< a screw: advances by `pitch` metres per radian
  Cylindrical,  ///< rotates about and slides along its axis: (angle, distance)
  Universal,    ///< rotates about `axis` in the parent, then about `axis2` in the child
  Spherical,    ///< quaternion (x, y, z, w); angular velocity in the child's frame
  Planar,       ///< slides normal to its axis and rotates about it: (x, y, angle)
  Free,         ///< (x, y, z, quaternion); velocity [linear; angular] in the child's frame
  Mode,         ///< a modal coordinate of a flexible body; Kempe adds these joints
  Node          ///< holds a node of a flexible body, which moves with its modes; likewise
};

/// Bounds of a joint with one degree of freedom (DoF); infinite if there is no bound.
struct Limits {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double velocity = std::numeric_limits<double>::infinity();
  double effort = std::numeric_limits<double>::infinity();
  friend bool operator==(const Limits&, const Limits&) = default;
};

/// A joint of the spanning tree, which connects `child` to `parent`.
///
/// `origin` is the joint's frame in the parent; at position zero it coincides with the child's
/// frame. `axis` is expressed in the joint's frame; it can have any direction and need not be
/// normalised.
struct Joint {
  std::string name{};
  JointType type = JointType::Fixed;
  std::string parent{};
  std::string parentNode{};  ///< of a flexible parent: `origin` is in this node's frame
  std::string child{};
  Pose origin{};
  Vector3 axis{0, 0, 1};
  Vector3 axis2{0, 1, 0};  ///< universal only, in the child's frame
  double pitch = 0.0;      ///< helical only, metres per radian
  Limits limits{};
  double damping = 0.0;   ///< N·m·s/rad or N·s/m
  double friction = 0.0;  ///< N·m or N; see Mechanism::frictionSlipSpeed
  double armature = 0.0;  ///< inertia added to each DoF, kg·m² or kg
  /// Spring along the coordinate of a joint with one DoF: the force on it is
  /// −stiffness (q − springReference). Angles are not wrapped.
  double stiffness = 0.0;        ///< N·m/rad or N/m
  double springReference = 0.0;  ///< position at which the spring is at rest, rad or m
  /// Whether this joint's coordinates should be independent; unset: yes, if possible.
  std::optional<bool> independence{};
  /// Whether a motor drives this joint; see Model::actuated() for the default.
  std::optional<bool> actuation{};
  int line = 0;

  Joint& from(std::string_view parentBody) {
    parent = parentBody;
    return *this;
  }
  /// From a node of a flexible body.
  Joint& from(std::string_view parentBody, std::string_view node) {
    parentNode = node;
    return from(parentBody);
  }
  Joint& to(std::string_view childBody) {
    child = childBody;
    return *this;
  }
  Joint& at(const Vector3& xyz, const Vector3& rollPitchYaw = {}) {
    origin = kempe::at(xyz, rollPitchYaw);
    return *this;
  }
  /// Constrained so that at({x, y, z}) selects the overload above.
  Joint& at(const std::same_as<Pose> auto& frame) {
    origin = frame;
    return *this;
  }
  Joint& about(const Vector3& direction) {
    axis = direction;
    return *this;
  }
  Joint& along(const Vector3& direction) { return about(direction); }
  Joint& thenAbout(const Vector3& secondDirection) {
    axis2 = secondDirection;
    return *this;
  }
  Joint& withPitch(double metresPerRadian) {
    pitch = metresPerRadian;
    return *this;
  }
  Joint& limitedTo(double lower, double upper) {
    limits.lower = lower;
    limits.upper = upper;
    return *this;
  }
  Joint& withEffort(double effort) {
    limits.effort = effort;
    return *this;
  }
  Joint& withSpeed(double speed) {
    limits.velocity = speed;
    return *this;
  }
  Joint& withDamping(double value) {
    damping = value;
    return *this;
  }
  Joint& withFriction(double value) {
    friction = value;
    return *this;
  }
  Joint& withArmature(double value) {
    armature = value;
    return *this;
  }
  Joint& withSpring(double springStiffness, double restPosition = 0.0) {
    stiffness = springStiffness;
    springReference = restPosition;
    return *this;
  }
  Joint& independent() {
    independence = true;
    return *this;
  }
  Joint& dependent() {
    independence = false;
    return *this;
  }
  Joint& actuated(bool yes = true) {
    actuation = yes;
    return *this;
  }
};

/// Returns the number of entries of a joint's position; velocitySize() returns that of its
/// velocity.
KEMPE_HD constexpr int positionSize(JointType type) {
  switch (type) {
    case JointType::Fixed:
    case JointType::Node:
      return 0;
    case JointType::Revolute:
    case JointType::Continuous:
    case JointType::Prismatic:
    case JointType::Helical:
    case JointType::Mode:
      return 1;
    case JointType::Cylindrical:
    case JointType::Universal:
      return 2;
    case JointType::Planar:
      return 3;
    case JointType::Spherical:
      return 4;
    case JointType::Free:
      return 7;
  }
  return 0;
}

KEMPE_HD constexpr int velocitySize(JointType type) {
  return type == JointType::Spherical ? 3 : (type == JointType::Free ? 6 : positionSize(type));
}

/// Returns whether positions are scalar coordinates (no quaternion), which couplings and functions
/// can refer to.
KEMPE_HD constexpr bool hasScalarCoordinates(JointType type) {
  return type != JointType::Fixed && positionSize(type) == velocitySize(type);
}

KEMPE_API std::string_view toString(JointType type);

// --- loops: couplings, loop joints, rods, functions --------------------------------------------
//
// A loop is either embedded (solved within a cluster of the bodies that it connects, so that it
// never opens) or left cut (enforced by Lagrange multipliers; v then contains the velocities of all
// its joints and must satisfy the loop). `cut` selects one; if it is unset, the cheaper one is
// used: large loops are cut, small ones embedded.

/// One position coordinate of a joint; `component` selects one if the joint has several.
struct Coordinate {
  std::string joint{};
  int component = 0;
  Coordinate() = default;
  Coordinate(std::string_view name, int which = 0) : joint(name), component(which) {}  // NOLINT
  Coordinate(const std::string& name) : joint(name) {}                                 // NOLINT
  Coordinate(const char* name) : joint(name) {}                                        // NOLINT
  friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

/// A linear coupling Σ coefficient · position = offset: gears, belts, differentials, mimic joints.
struct Coupling {
  struct Term {
    Coordinate coordinate{};
    double coefficient = 1.0;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::string name{};
  std::vector<Term> terms{};
  double offset = 0.0;
  std::optional<bool> cut{};  ///< left cut or embedded; unset: the cheaper
  int line = 0;

  Coupling& plus(double coefficient, const Coordinate& coordinate) {
    terms.push_back({coordinate, coefficient});
    return *this;
  }
  Coupling& minus(double coefficient, const Coordinate& coordinate) {
    return plus(-coefficient, coordinate);
  }
  Coupling& equals(double value) {
    offset = value;
    return *this;
  }
  Coupling& leftCut(bool yes = true) {
    cut = yes;
    return *this;
  }
};

/// The four kinds of loop constraints.
enum class LoopKind : std::uint8_t { Coupling, Joint, Rod, Function };

enum class LoopType { Revolute, Prismatic, Cylindrical, Universal, Spherical, Planar, Fixed };
KEMPE_API std::string_view toString(LoopType type);

/// A joint between two frames that closes a loop. `axis` has the same components in both frames
/// (they coincide at joint position zero); a universal joint rotates about `axis` in the
/// predecessor and about `axis2` in the successor.
struct LoopJoint {
  struct End {
    std::string body{};
    Pose frame{};
    std::string node{};  ///< of a flexible body: `frame` is in this node's frame
  };
  std::string name{};
  LoopType type = LoopType::Revolute;
  End predecessor{};
  End successor{};
  Vector3 axis{0, 0, 1};
  Vector3 axis2{0, 1, 0};
  std::optional<bool> cut{};  ///< left cut or embedded; unset: the cheaper
  int line = 0;
  std::string source{};  ///< file that `line` refers to; empty: the mechanism's

  LoopJoint& from(std::string_view body, const Pose& frame = {}) {
    predecessor = {std::string(body), frame};
    return *this;
  }
  LoopJoint& to(std::string_view body, const Pose& frame = {}) {
    successor = {std::string(body), frame};
    return *this;
  }
  LoopJoint& about(const Vector3& direction) {
    axis = direction;
    return *this;
  }
  LoopJoint& along(const Vector3& direction) { return about(direction); }
  LoopJoint& thenAbout(const Vector3& secondDirection) {
    axis2 = secondDirection;
    return *this;
  }
  LoopJoint& leftCut(bool yes = true) {
    cut = yes;
    return *this;
  }
};

/// A massless rod with ball joints at its ends: keeps two points at the distance `length`.
struct Rod {
  struct End {
    std::string body{};
    Vector3 point{};
    std::string node{};  ///< of a flexible body: `point` is in this node's frame
  };
  std::string name{};
  End predecessor{};
  End successor{};
  double length = 0.0;
  std::optional<bool> cut{};  ///< left cut or embedded; unset: the cheaper
  int line = 0;

  Rod& from(std::string_view body, const Vector3& point) {
    predecessor = {std::string(body), point};
    return *this;
  }
  Rod& to(std::string_view body, const Vector3& point) {
    successor = {std::string(body), point};
    return *this;
  }
  Rod& ofLength(double metres) {
    length = metres;
    return *this;
  }
  Rod& leftCut(bool yes = true) {
    cut = yes;
    return *this;
  }
};

/// A constraint function φ(positions of the named coordinates) = 0 with `rows` equations.
///
/// It is given as an expression, or as callbacks. A model traces `symbolic` into an expression once;
/// if that is missing or cannot be traced, `value` and `jet` are called instead, for one state at a
/// time, and the model warns about it.
struct Function {
  std::string name{};
  std::vector<Coordinate> coordinates{};
  int rows = 1;
  Expression expression{};  ///< used instead of the callbacks if it has results
  std::function<void(std::span<const Symbol> q, std::span<Symbol> phi)> symbolic{};
  std::function<void(std::span<const double> q, std::span<double> phi)> value{};
  std::function<void(std::span<const Jet> q, std::span<Jet> phi)> jet{};
  std::optional<bool> cut{};  ///< left cut or embedded; unset: the cheaper
  int line = 0;

  /// Returns the expression, which it traces if need be. Throws TracingError, with the reason, if
  /// the function cannot be traced.
  [[nodiscard]] KEMPE_API Expression traced() const;
};

// --- the whole ---------------------------------------------------------------------------------

/// The description of a robot: a graph of named bodies, tree joints and loops.
///
/// Elements can be added in any order; references returned by add… stay valid. Nothing is checked
/// before validate(), which the constructor of Model calls.
class Mechanism {
 public:
  explicit Mechanism(std::string mechanismName = "mechanism") : name(std::move(mechanismName)) {}

  std::string name;
  Vector3 gravity{0, 0, -9.81};
  /// Greater than zero, in rad/s or m/s: the dry friction F of joints (Joint::friction) is the smooth
  /// F tanh(q̇ / frictionSlipSpeed), whose slope is part of derivatives. 0: F sign(q̇).
  double frictionSlipSpeed = 0.0;
  std::string source{};                 ///< file it was read from; empty if there is none
  std::vector<std::string> warnings{};  ///< from reading the file
  /// Starting point of assembly: joint positions by name; joints that are not named start at zero.
  /// Joints with quaternions need all entries of their position.
  std::map<std::string, std::vector<double>> startPose{};

  std::deque<Body> bodies{};
  std::deque<Joint> joints{};
  std::deque<Coupling> couplings{};
  std::deque<LoopJoint> loops{};
  std::deque<Rod> rods{};
  std::deque<Function> functions{};
  std::deque<FlexibleBody> flexibleBodies{};

  KEMPE_API Body& addBody(std::string_view bodyName);
  /// Adds a body that bends as a beam does, reduced to modes (see flexible.hpp). Joints attach to its
  /// nodes "start", "end" and "1", "2", … between them.
  KEMPE_API FlexibleBody& addBeam(std::string_view bodyName, const BeamOptions& beam);
  /// Adds a body with modes from elsewhere, such as reduceFiniteElements().
  KEMPE_API FlexibleBody& addFlexibleBody(FlexibleBody flexible);
  KEMPE_API Joint& addJoint(std::string_view jointName, JointType type);
  Joint& addFixed(std::string_view jointName) { return addJoint(jointName, JointType::Fixed); }
  Joint& addRevolute(std::string_view jointName) {
    return addJoint(jointName, JointType::Revolute);
  }
  Joint& addPrismatic(std::string_view jointName) {
    return addJoint(jointName, JointType::Prismatic);
  }

  KEMPE_API Coupling& addCoupling(std::string_view couplingName);
  /// Adds a gear: position of `driven` = ratio · position of `driver`.
  KEMPE_API Coupling& addGear(std::string_view couplingName, const Coordinate& driven, double ratio,
                              const Coordinate& driver);
  /// Adds a gear or belt as defined by URDF+: ratio · (sum of joint positions from the nearest
  /// common ancestor to body `predecessor`) = (the same sum to body `successor`). The two bodies
  /// and the joints above them must have been added before.
  KEMPE_API Coupling& addBelt(std::string_view couplingName, std::string_view predecessor,
                              double ratio, std::string_view successor);
  KEMPE_API LoopJoint& addLoop(std::string_view loopName, LoopType type);
  KEMPE_API Rod& addRod(std::string_view rodName);
  /// `phi` is called with (const auto& q, auto& phi), on spans of Symbol, double and Jet. Write it
  /// with arithmetic, the functions of `<cmath>` and select() instead of branches: it is then traced
  /// into an expression when a model is made, and other numbers that it uses become constants.
  template <typename Phi>
  Function& addFunction(std::string_view functionName, std::vector<Coordinate> coordinates,
                        int rows, Phi phi) {
    Function& f = functions.emplace_back();
    f.name = functionName;
    f.coordinates = std::move(coordinates);
    f.rows = rows;
    if constexpr (std::invocable<const Phi&, std::span<const Symbol>&, std::span<Symbol>&>) {
      f.symbolic = [phi](std::span<const Symbol> q, std::span<Symbol> out) { phi(q, out); };
    }
    f.value = [phi](std::span<const double> q, std::span<double> out) { phi(q, out); };
    f.jet = [phi](std::span<const Jet> q, std::span<Jet> out) { phi(q, out); };
    return f;
  }
  /// The same as a formula.
  Function& addFunction(std::string_view functionName, std::vector<Coordinate> coordinates,
                        Expression phi) {
    Function& f = functions.emplace_back();
    f.name = functionName;
    f.coordinates = std::move(coordinates);
    f.rows = phi.results();
    f.expression = std::move(phi);
    return f;
  }

  /// Lets the root body float: adds a body `world` and a free joint from it to the root.
  KEMPE_API Joint& addFloatingBase(std::string_view worldName = "world",
                                   std::string_view jointName = "floating_base");

  [[nodiscard]] KEMPE_API const Body* findBody(std::string_view bodyName) const;
  [[nodiscard]] KEMPE_API const Joint* findJoint(std::string_view jointName) const;
  /// Returns the joint that carries a body; null for the root.
  [[nodiscard]] KEMPE_API const Joint* jointAbove(std::string_view bodyName) const;

  /// Checks names, tree structure and numbers, that is, everything that does not require assembly.
  /// Throws ModelError at the first error; returns warnings about unusual values.
  [[nodiscard]] KEMPE_API std::vector<std::string> validate() const;

  /// Returns the beginning of error messages: "file:line: " if the line is known, otherwise
  /// "file: " or an empty string.
  [[nodiscard]] KEMPE_API std::string place(int line = 0) const;
  [[nodiscard]] KEMPE_API std::string place(const LoopJoint& loop) const;
};

}  // namespace kempe
