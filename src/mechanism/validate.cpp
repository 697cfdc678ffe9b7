#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <unordered_map>

#include "kempe/mechanism.hpp"
#include "mechanism/finite.hpp"
#include "mechanism/flexible_parts.hpp"
#include "mechanism/rigid_groups.hpp"
#include "mechanism/tree.hpp"
#include "mechanism/validate_flexible.hpp"
#include "text/messages.hpp"

namespace kempe {
namespace {

bool isRigid(const Pose& pose) {
  const Rotation gram = pose.R * pose.R.transposed() - Rotation::identity();
  const double error = std::max({norm(gram.r0), norm(gram.r1), norm(gram.r2)});
  const double determinant = dot(pose.R.r0, cross(pose.R.r1, pose.R.r2));
  return isFinite(pose.p) && error < 1e-6 && determinant > 0.0;
}

/// The checks of Mechanism::validate, one method per kind of thing.
class Validator {
 public:
  explicit Validator(const Mechanism& mechanism) : m_(mechanism), tree_(mechanism) {}

  std::vector<std::string> run() {
    checkNames();
    checkTree();
    detail::checkFlexibleBodies(m_, warnings_);
    for (const Body& body : m_.bodies) {
      checkBody(body);
    }
    for (const Joint& joint : m_.joints) {
      checkJoint(joint);
    }
    checkInertias();
    checkLoops();
    checkStartPose();
    if (!isFinite(m_.gravity)) {
      throw ModelError(m_.place() + "mechanism " + kempe::quoted(m_.name) +
                       ": its gravity is not finite. Give finite numbers.");
    }
    constexpr double kLeastSlipSpeed = 1e-30;  // the reciprocals of smaller ones are no floats
    const double slip = m_.frictionSlipSpeed;
    if (!std::isfinite(slip) || slip < 0.0 || (slip > 0.0 && slip < kLeastSlipSpeed)) {
      throw ModelError(m_.place() + "mechanism " + kempe::quoted(m_.name) +
                       ": the slip speed of its friction is " + shortNumber(slip) +
                       ". Give a finite number greater than zero, or zero for friction that "
                       "sticks.");
    }
    return warnings_;
  }

 private:
  template <typename Thing>
  [[noreturn]] void fail(std::string_view kind, const Thing& thing,
                         const std::string& reason) const {
    throw ModelError(placeOf(thing) + std::string(kind) + " " + kempe::quoted(thing.name) + ": " +
                     reason);
  }

  template <typename Thing>
  std::string placeOf(const Thing& thing) const {
    if constexpr (requires { thing.source; }) {
      return m_.place(thing);  // a loop may come from another file
    } else {
      return m_.place(thing.line);
    }
  }

  template <typename Thing>
  void warn(std::string_view kind, const Thing& thing, const std::string& reason) {
    warnings_.push_back(m_.place(thing.line) + std::string(kind) + " " + kempe::quoted(thing.name) +
                        ": " + reason);
  }

  template <typename Things>
  void checkUnique(std::string_view kind, const Things& things,
                   std::unordered_map<std::string, int>& seen) const {
    int number = 0;
    for (const auto& thing : things) {
      ++number;
      if (thing.name.empty()) {
        throw ModelError(m_.place(thing.line) + std::string(kind) + " number " +
                         std::to_string(number) + " has no name. Give it one.");
      }
      if (!isUtf8(thing.name)) {
        throw ModelError(m_.place(thing.line) + std::string(kind) + " " +
                         kempe::quoted(asUtf8(thing.name)) +
                         ": its name is not UTF-8 text. Give it another name.");
      }
      const auto [it, isNew] = seen.emplace(thing.name, thing.line);
      if (!isNew) {
        fail(kind, thing,
             "the name is taken" +
                 (it->second > 0 ? " (line " + std::to_string(it->second) + ")" : std::string()) +
                 ". Rename one of the two.");
      }
    }
  }

  void checkNames() const {
    if (!isUtf8(m_.name)) {
      throw ModelError(m_.place() + "mechanism " + kempe::quoted(asUtf8(m_.name)) +
                       ": its name is not UTF-8 text. Give it another name.");
    }
    std::unordered_map<std::string, int> bodies, joints, loops;
    checkUnique("body", m_.bodies, bodies);
    checkUnique("joint", m_.joints, joints);
    checkUnique("coupling", m_.couplings, loops);
    checkUnique("loop", m_.loops, loops);
    checkUnique("rod", m_.rods, loops);
    checkUnique("function", m_.functions, loops);
  }

  void checkTree() const {
    if (m_.bodies.empty()) {
      throw ModelError(m_.place() + "mechanism " + kempe::quoted(m_.name) +
                       " has no bodies. Add at least a root and a body that moves.");
    }
    std::unordered_map<std::string_view, const Joint*> above;
    for (const Joint& joint : m_.joints) {
      requireBody("joint", joint, joint.parent, "parent");
      requireNode("joint", joint, joint.parent, joint.parentNode);
      requireBody("joint", joint, joint.child, "child");
      if (joint.parent == joint.child) {
        fail("joint", joint,
             "connects body " + kempe::quoted(joint.child) + " to itself. Name another parent.");
      }
      const auto [it, isNew] = above.emplace(joint.child, &joint);
      if (!isNew) {
        fail("joint", joint,
             "body " + kempe::quoted(joint.child) + " is already the child of joint " +
                 kempe::quoted(it->second->name) +
                 "; a body has one parent in the tree. Make one of the two joints a loop.");
      }
    }
    if (tree_.roots().empty()) {
      failCycle(0, "and no body is the root. Make one of them a loop.");
    }
    if (tree_.roots().size() > 1) {
      failSeveralRoots();
    }
    const std::vector<bool> connected = tree_.belowRoots();
    for (std::size_t i = 0; i < m_.bodies.size(); ++i) {
      if (!connected[i]) {
        failCycle(static_cast<int>(i),
                  "and body " + kempe::quoted(m_.bodies[i].name) +
                      " is not connected to the root " + kempe::quoted(rootName(0)) +
                      ". Make one of them a loop and join the part to the root.");
      }
    }
    const bool moves = std::ranges::any_of(
        m_.joints, [](const Joint& joint) { return joint.type != JointType::Fixed; });
    if (!moves && m_.flexibleBodies.empty()) {
      throw ModelError(m_.place() + "mechanism " + kempe::quoted(m_.name) +
                       " has no degree of freedom: all its bodies are fixed to the root " +
                       kempe::quoted(rootName(0)) +
                       ". Add a joint that moves, or load it with a floating base.");
    }
  }

  std::string rootName(std::size_t which) const {
    return m_.bodies[static_cast<std::size_t>(tree_.roots()[which])].name;
  }

  /// Names the joints of the cycle above a body that no root is above.
  [[noreturn]] void failCycle(int body, const std::string& consequenceAndRemedy) const {
    for (std::size_t i = 0; i < m_.bodies.size(); ++i) {
      body = tree_.parent(body);  // until it is on the cycle
    }
    std::vector<int> cycle;
    do {
      cycle.push_back(tree_.jointAbove(body));
      body = tree_.parent(body);
    } while (tree_.jointAbove(body) != cycle.front());
    std::ranges::sort(cycle);
    std::vector<std::string> names;
    names.reserve(cycle.size());
    for (const int joint : cycle) {
      names.push_back(kempe::quoted(m_.joints[static_cast<std::size_t>(joint)].name));
    }
    fail("joint", m_.joints[static_cast<std::size_t>(cycle.front())],
         "the tree joints form a cycle (" + joined(names) + ") " + consequenceAndRemedy);
  }

  [[noreturn]] void failSeveralRoots() const {
    std::string list;
    for (std::size_t i = 0; i < tree_.roots().size() && i < 5; ++i) {
      list += (i > 0 ? ", " : "") + kempe::quoted(rootName(i));
    }
    const std::size_t count = tree_.roots().size();
    throw ModelError(m_.place() + "mechanism " + kempe::quoted(m_.name) + " consists of " +
                     std::to_string(count) + " disconnected parts: bodies " + list +
                     (count > 5 ? ", …" : "") +
                     " have no joint above them. Exactly one may be the root; connect the others.");
  }

  template <typename Thing>
  int requireBody(std::string_view kind, const Thing& thing, const std::string& body,
                  std::string_view role) const {
    const int index = tree_.findBody(body);
    if (index < 0) {
      fail(kind, thing,
           body.empty() ? "has no " + std::string(role) + " body. Name one."
                        : "its " + std::string(role) + " " + kempe::quoted(body) +
                              " does not exist. Check the name or add the body.");
    }
    return index;
  }

  template <typename Thing>
  void requireNode(std::string_view kind, const Thing& thing, const std::string& body,
                   const std::string& node) const {
    if (node.empty()) {
      return;
    }
    const auto flexible = std::ranges::find(m_.flexibleBodies, body, &FlexibleBody::body);
    if (flexible == m_.flexibleBodies.end()) {
      fail(kind, thing,
           "body " + kempe::quoted(body) + " is rigid and has no node " + kempe::quoted(node) +
               ". Name no node, or make the body flexible.");
    }
    if (flexible->findNode(node) == nullptr) {
      std::vector<std::string> names;
      for (const FlexibleNode& known : flexible->nodes) {
        names.push_back(known.name);
      }
      fail(kind, thing,
           "body " + kempe::quoted(body) + " has no node " + kempe::quoted(node) +
               ". Its nodes are " + joined(names) + ".");
    }
  }

  template <typename Thing>
  void requireFinite(std::string_view kind, const Thing& thing, bool finite,
                     std::string_view what) const {
    if (!finite) {
      fail(kind, thing, "its " + std::string(what) + " is not finite. Give finite numbers.");
    }
  }

  void checkBody(const Body& body) {
    const SymMat3<double>& I = body.inertia;
    const bool finiteInertia = isFinite({I.xx, I.xy, I.xz}) && isFinite({I.yy, I.yz, I.zz});
    requireFinite("body", body, std::isfinite(body.mass), "mass");
    requireFinite("body", body, isFinite(body.centerOfMass), "centre of mass");
    requireFinite("body", body, finiteInertia, "inertia");
    if (body.mass < 0.0) {
      fail("body", body,
           "its mass is negative (" + shortNumber(body.mass) + " kg). Give zero or more.");
    }
  }

  /// A body's inertia about its centre of mass.
  static Eigen::Matrix3d inertiaOf(const Body& body) {
    const SymMat3<double>& I = body.inertia;
    Eigen::Matrix3d dense;
    dense << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
    return dense;
  }

  /// The inertia of a body and all that are fixed to it, about their centre of mass.
  Eigen::Matrix3d inertiaOfGroup(const RigidGroups& groups, int leader) const {
    const auto points = [](double mass, const Eigen::Vector3d& x) -> Eigen::Matrix3d {
      return mass * (x.squaredNorm() * Eigen::Matrix3d::Identity() - x * x.transpose());
    };
    double mass = 0.0;
    Eigen::Vector3d moment = Eigen::Vector3d::Zero();
    Eigen::Matrix3d aboutOrigin = Eigen::Matrix3d::Zero();
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
      if (groups.leader(static_cast<int>(b)) != leader) {
        continue;
      }
      const Body& body = m_.bodies[b];
      const Pose& pose = groups.inLeader(static_cast<int>(b));
      Eigen::Matrix3d R;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          R(i, j) = pose.R(i, j);
        }
      }
      const Vector3 at = pose.R * body.centerOfMass + pose.p;
      const Eigen::Vector3d center(at.x, at.y, at.z);
      mass += body.mass;
      moment += body.mass * center;
      aboutOrigin += R * inertiaOf(body) * R.transpose() + points(body.mass, center);
    }
    return mass > 0.0 ? Eigen::Matrix3d(aboutOrigin - points(mass, moment / mass)) : aboutOrigin;
  }

  /// Files have impossible inertias of small parts that are fixed to others. Only the inertia of
  /// what moves as one body counts.
  void checkInertias() {
    const auto momentsOf = [](const Eigen::Matrix3d& inertia) -> Eigen::Vector3d {
      return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(inertia, Eigen::EigenvaluesOnly)
          .eigenvalues();
    };
    const auto rounding = [](const Eigen::Vector3d& moments, double mass, double relative) {
      constexpr double kNothing = 1e-20;  // kg·m²: rounding error of a zero inertia
      constexpr double kOfMass = 1e-14;   // m²: the same of a body with mass
      return std::max({relative * moments.cwiseAbs().maxCoeff(), kOfMass * mass, kNothing});
    };
    const RigidGroups groups(m_, tree_);
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
      const Body& body = m_.bodies[b];
      const Eigen::Vector3d moments = momentsOf(inertiaOf(body));
      const std::string figures = "(" + shortNumber(moments[0]) + ", " + shortNumber(moments[1]) +
                                  ", " + shortNumber(moments[2]) + ") kg·m²";
      if (moments[0] < -rounding(moments, body.mass, 1e-9)) {
        const std::string reason =
            "its inertia is not positive semidefinite: principal moments " + figures + ". ";
        const int leader = groups.leader(static_cast<int>(b));
        const Eigen::Vector3d together = momentsOf(inertiaOfGroup(groups, leader));
        if (tree_.parent(leader) < 0) {
          warn("body", body, reason + "It does not move, so this changes nothing.");
        } else if (together[0] < -rounding(together, body.mass, 1e-9)) {
          fail("body", body, reason + "Check signs and products of inertia.");
        } else {
          warn("body", body,
               reason +
                   "No real body has it. It is used as it is, because that of all bodies that "
                   "are fixed together here is positive.");
        }
        continue;
      }
      const double excess = moments[2] - moments[0] - moments[1];
      if (excess > rounding(moments, body.mass, 1e-6)) {
        warn("body", body,
             "its inertia breaks the triangle inequality by " + shortNumber(excess) +
                 " kg·m²: principal moments " + figures + ". No real body has it.");
      }
    }
  }

  void checkJoint(const Joint& joint) {
    if (!isRigid(joint.origin)) {
      fail("joint", joint,
           "its origin is not a finite position and a rotation. Give it by xyz and roll, pitch, "
           "yaw.");
    }
    const bool isPart = joint.type == JointType::Mode || joint.type == JointType::Node;
    if (isPart && !detail::isFlexiblePart(m_, joint)) {
      fail("joint", joint,
           "joints of the type " + std::string(toString(joint.type)) +
               " belong to flexible bodies, and Kempe makes them. Add a beam.");
    }
    checkAxis("joint", joint, joint.axis, needsAxis(joint.type), "axis");
    if (joint.type == JointType::Universal) {
      checkAxis("joint", joint, joint.axis2, true, "axis2");
      checkNotParallel("joint", joint);
    }
    if (joint.type == JointType::Helical) {
      requireFinite("joint", joint, std::isfinite(joint.pitch), "pitch");
    }
    const Limits& limits = joint.limits;
    if (!(limits.lower <= limits.upper)) {
      fail("joint", joint,
           "its lower limit " + shortNumber(limits.lower) + " is not below its upper limit " +
               shortNumber(limits.upper) + ". Exchange or correct them.");
    }
    if (!(limits.velocity >= 0.0) || !(limits.effort >= 0.0)) {
      fail("joint", joint,
           "its velocity and effort limits are " + shortNumber(limits.velocity) + " and " +
               shortNumber(limits.effort) + ". Give zero or more, or leave them out.");
    }
    const bool limited = std::isfinite(limits.lower) || std::isfinite(limits.upper);
    if (limited && joint.type != JointType::Fixed && velocitySize(joint.type) != 1) {
      warn("joint", joint,
           "position limits have no meaning for a " + std::string(toString(joint.type)) +
               " joint and are ignored.");
    }
    if (joint.type == JointType::Fixed && joint.actuation.value_or(false)) {
      fail("joint", joint, "is fixed and cannot be actuated. Change its type, or remove the mark.");
    }
    requireNotNegative(joint, joint.damping, "damping");
    requireNotNegative(joint, joint.friction, "friction");
    requireNotNegative(joint, joint.armature, "armature");
    requireNotNegative(joint, joint.stiffness, "spring stiffness");
    requireFinite("joint", joint, std::isfinite(joint.springReference), "spring reference");
    if (joint.stiffness != 0.0 && joint.type != JointType::Fixed && velocitySize(joint.type) != 1) {
      fail("joint", joint,
           "a spring needs a joint with one degree of freedom, but this one is " +
               std::string(toString(joint.type)) +
               ". Remove the spring, or build the joint from revolute and prismatic ones.");
    }
  }

  void requireNotNegative(const Joint& joint, double value, std::string_view what) const {
    if (!(value >= 0.0) || !std::isfinite(value)) {
      fail("joint", joint,
           "its " + std::string(what) + " is " + shortNumber(value) +
               ". Give a finite number, zero or more.");
    }
  }

  static bool needsAxis(JointType type) {
    return type != JointType::Fixed && type != JointType::Spherical && type != JointType::Free;
  }

  template <typename Thing>
  void checkAxis(std::string_view kind, const Thing& thing, const Vector3& axis, bool needed,
                 std::string_view what) const {
    if (needed && !(std::isfinite(norm(axis)) && norm(axis) > 1e-12)) {
      fail(kind, thing,
           "its " + std::string(what) + " has no direction. Give a nonzero, finite vector.");
    }
  }

  template <typename Thing>
  void checkNotParallel(std::string_view kind, const Thing& thing) const {
    if (norm(cross(normalized(thing.axis), normalized(thing.axis2))) < 1e-6) {
      fail(kind, thing, "axis and axis2 of a universal joint are parallel. Turn one of them.");
    }
  }

  template <typename Thing>
  void checkCoordinate(std::string_view kind, const Thing& thing, const Coordinate& c) const {
    const Joint* joint = m_.findJoint(c.joint);
    if (joint == nullptr) {
      fail(kind, thing, "joint " + kempe::quoted(c.joint) + " does not exist. Check the name.");
    }
    if (!hasScalarCoordinates(joint->type)) {
      fail(kind, thing,
           "joint " + kempe::quoted(c.joint) + " is " + std::string(toString(joint->type)) +
               " and has no scalar position. Name another joint.");
    }
    if (c.component < 0 || c.component >= positionSize(joint->type)) {
      fail(kind, thing,
           "joint " + kempe::quoted(c.joint) + " has " + std::to_string(positionSize(joint->type)) +
               " coordinate(s), numbered from 0; there is no number " +
               std::to_string(c.component) + ". Name one of them.");
    }
  }

  template <typename Loop>
  void checkEnds(std::string_view kind, const Loop& loop, const RigidGroups& groups) const {
    const int a = requireBody(kind, loop, loop.predecessor.body, "predecessor");
    const int b = requireBody(kind, loop, loop.successor.body, "successor");
    requireNode(kind, loop, loop.predecessor.body, loop.predecessor.node);
    requireNode(kind, loop, loop.successor.body, loop.successor.node);
    if (a == b && loop.predecessor.node == loop.successor.node) {
      fail(kind, loop,
           "both ends are on body " + kempe::quoted(loop.predecessor.body) +
               ". Put one end on another body.");
    }
    const bool bends = !loop.predecessor.node.empty() || !loop.successor.node.empty();
    if (groups.leader(a) == groups.leader(b) && !bends) {
      fail(kind, loop,
           "bodies " + kempe::quoted(loop.predecessor.body) + " and " +
               kempe::quoted(loop.successor.body) +
               " are fixed to each other, so the loop connects a body to itself. Put one end on a "
               "body "
               "that moves against the other, or remove the loop.");
    }
  }

  void checkLoops() const {
    const RigidGroups groups(m_, tree_);
    for (const Coupling& coupling : m_.couplings) {
      checkCoupling(coupling);
    }
    for (const LoopJoint& loop : m_.loops) {
      checkEnds("loop", loop, groups);
      if (!isRigid(loop.predecessor.frame) || !isRigid(loop.successor.frame)) {
        const bool first = !isRigid(loop.predecessor.frame);
        const std::string& body = first ? loop.predecessor.body : loop.successor.body;
        fail("loop", loop,
             "the origin of its end on " + kempe::quoted(body) +
                 " is not a finite position and a rotation. Give it by xyz and roll, pitch, yaw.");
      }
      const bool needed = loop.type != LoopType::Fixed && loop.type != LoopType::Spherical;
      checkAxis("loop", loop, loop.axis, needed, "axis");
      if (loop.type == LoopType::Universal) {
        checkAxis("loop", loop, loop.axis2, true, "axis2");
        checkNotParallel("loop", loop);
      }
    }
    for (const Rod& rod : m_.rods) {
      checkEnds("rod", rod, groups);
      requireFinite("rod", rod, isFinite(rod.predecessor.point),
                    "end point on " + kempe::quoted(rod.predecessor.body));
      requireFinite("rod", rod, isFinite(rod.successor.point),
                    "end point on " + kempe::quoted(rod.successor.body));
      if (!(rod.length > 0.0) || !std::isfinite(rod.length)) {
        fail("rod", rod,
             "its length must be positive, and is " + shortNumber(rod.length) +
                 " m. For two points that coincide use a spherical loop.");
      }
    }
    for (const Function& function : m_.functions) {
      checkFunction(function);
    }
  }

  void checkStartPose() const {
    for (const auto& [name, positions] : m_.startPose) {
      const Joint* const joint = m_.findJoint(name);
      const auto refuse = [&, &name = name](const std::string& reason) {
        throw ModelError(m_.place(joint == nullptr ? 0 : joint->line) + "start pose of joint " +
                         kempe::quoted(asUtf8(name)) + ": " + reason);
      };
      if (joint == nullptr && detail::findMode(m_, name) == nullptr) {
        refuse("there is no such joint. Check the name.");
      }
      const JointType type = joint == nullptr ? JointType::Mode : joint->type;
      const int size = positionSize(type);
      if (static_cast<int>(positions.size()) != size) {
        refuse("it has " + std::to_string(positions.size()) + " number(s), and the joint is " +
               std::string(toString(type)) + ", with " + std::to_string(size) +
               " position(s). Give " + (size == 0 ? "none." : std::to_string(size) + "."));
      }
      if (!std::ranges::all_of(positions, [](double x) { return std::isfinite(x); })) {
        refuse("a number is not finite. Give finite numbers.");
      }
      if (size > 0 && !hasScalarCoordinates(type) &&
          std::all_of(positions.end() - 4, positions.end(),
                      [](double x) { return std::abs(x) < 1e-12; })) {
        refuse("its quaternion is zero. Give x, y, z, w; 0, 0, 0, 1 is the identity.");
      }
    }
  }

  void checkCoupling(const Coupling& coupling) const {
    if (coupling.terms.empty()) {
      fail("coupling", coupling,
           "couples no joints. Name at least two; two bodies on one branch have none between them "
           "and their common ancestor.");
    }
    std::set<std::pair<std::string, int>> seen;
    for (const Coupling::Term& term : coupling.terms) {
      checkCoordinate("coupling", coupling, term.coordinate);
      if (!std::isfinite(term.coefficient)) {
        fail("coupling", coupling,
             "the ratio at joint " + kempe::quoted(term.coordinate.joint) +
                 " is not finite. Give a finite number.");
      }
      if (!seen.emplace(term.coordinate.joint, term.coordinate.component).second) {
        fail("coupling", coupling,
             "joint " + kempe::quoted(term.coordinate.joint) +
                 " occurs twice. Add its coefficients up.");
      }
    }
    const bool effective = std::ranges::any_of(
        coupling.terms, [](const Coupling::Term& term) { return term.coefficient != 0.0; });
    if (!effective) {
      fail("coupling", coupling, "all its ratios are zero. Give a nonzero one or remove it.");
    }
    requireFinite("coupling", coupling, std::isfinite(coupling.offset), "offset");
  }

  void checkFunction(const Function& function) const {
    if (function.rows < 1 || function.coordinates.empty()) {
      fail("function", function,
           "it has " + std::to_string(function.rows) + " row(s) and " +
               std::to_string(function.coordinates.size()) +
               " coordinate(s). Give at least one of each.");
    }
    const Expression& phi = function.expression;
    if (phi.results() == 0 && (!function.value || !function.jet)) {
      fail("function", function, "has no function to call. Add it with addFunction().");
    }
    if (phi.results() > 0 &&
        (phi.results() != function.rows ||
         static_cast<std::size_t>(phi.arguments()) != function.coordinates.size())) {
      fail("function", function,
           "its expression has " + counted(phi.arguments(), "argument", "arguments") + " and " +
               counted(phi.results(), "result", "results") + " for " +
               counted(function.coordinates.size(), "coordinate", "coordinates") + " and " +
               counted(function.rows, "row", "rows") +
               ". Give one argument for each coordinate and one result for each row.");
    }
    std::set<std::pair<std::string, int>> seen;
    for (const Coordinate& c : function.coordinates) {
      checkCoordinate("function", function, c);
      if (!seen.emplace(c.joint, c.component).second) {
        fail("function", function,
             "joint " + kempe::quoted(c.joint) + " occurs twice. Name each coordinate once.");
      }
    }
  }

  const Mechanism& m_;
  Tree tree_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> Mechanism::validate() const {
  return Validator(*this).run();
}

}  // namespace kempe
