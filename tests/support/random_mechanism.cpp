#include "support/random_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <random>

#include "support/frames.hpp"
#include "support/random_spatial.hpp"

namespace kempe::test {
namespace {

/// Builds a mechanism part by part. Every joint has a position in a pose that is remembered, and
/// loops are laid so that they close there: they can be closed, but not where all joints are zero.
class Builder {
 public:
  explicit Builder(const MechanismCase& choice)
      : random_(choice.seed * 1000 + static_cast<std::uint64_t>(choice.family)),
        robot_(nameOf(choice)) {
    const bool floating = choice.seed % 2 == 1;
    addBody(floating ? "base" : "ground", !floating);
    pose_[floating ? "base" : "ground"] = Frame<double>::identity();
    if (floating) {
      robot_.addFloatingBase();
      pose_["world"] = Frame<double>::identity();
    }
  }

  Mechanism build(const MechanismCase& choice) {
    const int base = count();
    while (count() < base + choice.bodies) {
      add(choice.family, anyBody());
    }
    addSprings(choice.seed);
    if (choice.seed / 2 % 2 == 1) {
      smoothFriction(choice.seed);
    }
    return robot_;
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(robot_.bodies.size()); }

  void add(Family family, const std::string& parent) {
    switch (family) {
      case Family::Tree:
        addTreeLink(parent);
        return;
      case Family::Geared:
        addGearedLink(parent);
        return;
      case Family::Belted:
        addBelts(parent);
        return;
      case Family::Differential:
        addDifferential(parent);
        return;
      case Family::FourBar:
        addFourBar(parent);
        return;
      case Family::SixBar:
        addSixBar(parent);
        return;
      case Family::SpatialLoop:
        addSpatialLoop(parent);
        return;
      case Family::Rods:
        addRods(parent);
        return;
      case Family::Functions:
        addFunctions(parent);
        return;
      case Family::Mixed:
        addMixed(parent);
        return;
      case Family::MotorsInLoops:
        addMotorsInLoop(parent);
        return;
    }
  }

  // --- draws ---
  // One in each expression: compilers evaluate arguments in different orders, and all of them are to
  // draw the same mechanisms.

  double number(double lower, double upper) { return random_.number(lower, upper); }
  int whole(int below) { return static_cast<int>(number(0.0, below)); }
  bool chance(double probability) { return number(0.0, 1.0) < probability; }
  Vector3 vector(double size) { return size * random_.vector(); }
  double ratio() { return (chance(0.5) ? 1.0 : -1.0) * number(0.5, 9.0); }
  std::string fresh(const std::string& stem) { return stem + std::to_string(next_++); }
  std::string anyBody() { return robot_.bodies[static_cast<std::size_t>(whole(count()))].name; }

  // --- bodies and joints ---

  Body& addBody(const std::string& name, bool massless = false) {
    Body& body = robot_.addBody(name);
    if (!massless) {
      body.withMass(number(0.2, 3.0))
          .centeredAt(vector(0.15))
          .withInertia(0.02 * random_.centralInertia());
    }
    return body;
  }

  /// A joint from `parent` to a new body, which is at `position` in the remembered pose.
  Joint& addLink(const std::string& parent, JointType type, const Pose& origin,
                 const Vector3& axis) {
    const std::string name = fresh("link");
    addBody(name);
    Joint& joint = robot_.addJoint("to_" + name, type).from(parent).to(name).at(origin);
    joint.about(axis);
    if (type == JointType::Universal) {
      // Not parallel to the first axis.
      joint.thenAbout(cross(unit(axis), random_.direction()) + 0.2 * axis);
    }
    joint.withPitch(type == JointType::Helical ? number(0.02, 0.2) : 0.0);
    std::array<double, 7> q{};
    for (int i = 0; i < positionSize(type); ++i) {
      q[static_cast<std::size_t>(i)] = number(-0.4, 0.4);
    }
    if (type == JointType::Spherical || type == JointType::Free) {
      q[static_cast<std::size_t>(positionSize(type) - 1)] = 1.0;
    }
    pose_[name] = pose_.at(parent) * Frame<double>::from(origin) * jointFrame(joint, q.data());
    position_[joint.name] = q[0];
    return joint;
  }

  /// Any axis: negative and of any length.
  Vector3 anyAxis() {
    const Vector3 direction = random_.direction();
    return number(0.3, 2.0) * direction;
  }
  Pose anyPose(double reach) { return {random_.rotation(), vector(reach)}; }

  Joint& addRandomLink(const std::string& parent, JointType type) {
    const Vector3 axis = anyAxis();
    return addLink(parent, type, anyPose(0.4), axis);
  }

  /// Springs on some joints that have one degree of freedom, whatever cluster they are in.
  void addSprings(std::uint64_t seed) {
    RandomSpatial<double> random(seed + 4711);  // so that all else stays as it is without springs
    for (Joint& joint : robot_.joints) {
      const bool sprung = random.number(0.0, 1.0) < 0.3;
      if (sprung && velocitySize(joint.type) == 1) {
        const double reference = random.number(-0.5, 0.5);
        joint.withSpring(random.number(0.002, 0.02), reference);
      }
    }
  }

  /// Smooth dry friction, and more of it: on joints of loops and on rotors.
  void smoothFriction(std::uint64_t seed) {
    RandomSpatial<double> random(seed + 815);  // as above
    robot_.frictionSlipSpeed = random.number(0.2, 2.0);
    for (Joint& joint : robot_.joints) {
      const bool rubs = random.number(0.0, 1.0) < 0.3;
      if (rubs && joint.type != JointType::Free && joint.type != JointType::Fixed) {
        joint.withFriction(random.number(0.02, 0.3));
      }
    }
  }

  /// Armature, damping and friction on some joints.
  void resist(Joint& joint) {
    if (joint.type != JointType::Free && chance(0.3)) {
      joint.withArmature(number(0.001, 0.05)).withDamping(number(0.0, 0.3));
      joint.withFriction(number(0.0, 0.2));
    }
  }

  void addTreeLink(const std::string& parent) {
    constexpr std::array kTypes{JointType::Revolute,  JointType::Revolute,  JointType::Continuous,
                                JointType::Prismatic, JointType::Helical,   JointType::Cylindrical,
                                JointType::Universal, JointType::Spherical, JointType::Planar,
                                JointType::Fixed,     JointType::Free};
    Joint& joint = addRandomLink(parent, kTypes[static_cast<std::size_t>(whole(kTypes.size()))]);
    resist(joint);
  }

  /// A rotor that turns about its axis; symmetric, so that it folds, or not.
  std::string addRotor(const std::string& parent) {
    const std::string name = fresh("rotor");
    const Vector3 axis = anyAxis();
    const double axial = number(1e-4, 1e-3), across = axial * number(0.6, 1.4);
    Body& body = robot_.addBody(name).withMass(number(0.05, 0.4));
    if (chance(0.7)) {
      const Vector3 u = unit(axis);
      const double d = axial - across;
      body.centeredAt(number(-0.02, 0.02) * u)
          .withInertia({across + d * u.x * u.x, d * u.x * u.y, d * u.x * u.z,
                        across + d * u.y * u.y, d * u.y * u.z, across + d * u.z * u.z});
    } else {
      body.centeredAt(vector(0.01)).withInertia(axial * random_.centralInertia());
    }
    Joint& joint = robot_.addRevolute("to_" + name).from(parent).to(name).at(anyPose(0.3));
    joint.about(axis).dependent();
    pose_[name] = pose_.at(parent) * Frame<double>::from(joint.origin);
    position_[joint.name] = 0.0;
    resist(joint);
    return joint.name;
  }

  void addGearedLink(const std::string& parent) {
    const std::string link =
        addRandomLink(parent, chance(0.8) ? JointType::Revolute : JointType::Prismatic).name;
    const std::string rotor = addRotor(parent);
    robot_.addGear(fresh("gear"), rotor, ratio(), link).equals(chance(0.3) ? number(-1, 1) : 0.0);
  }

  /// Two links in series, both driven by belts from motors on their parent.
  void addBelts(const std::string& parent) {
    const Joint& first = addRandomLink(parent, JointType::Revolute);
    const std::string firstLink = first.child;
    const std::string secondLink = addRandomLink(firstLink, JointType::Revolute).child;
    const std::string motor1 = addRotor(parent), motor2 = addRotor(parent);
    robot_.addBelt(fresh("belt"), firstLink, ratio(), robot_.findJoint(motor1)->child);
    robot_.addBelt(fresh("belt"), secondLink, ratio(), robot_.findJoint(motor2)->child);
  }

  /// Two motors that move two joints by sum and difference.
  void addDifferential(const std::string& parent) {
    const Joint& first = addRandomLink(parent, JointType::Revolute);
    const std::string pitch = first.name;
    const std::string roll = addRandomLink(first.child, JointType::Revolute).name;
    const double a = number(1, 4), b = number(1, 4);
    for (const double side : {1.0, -1.0}) {
      robot_.addCoupling(fresh("differential"))
          .plus(1.0, addRotor(parent))
          .minus(a, pitch)
          .minus(side * b, roll);
    }
  }

  // --- loops ---

  [[nodiscard]] Frame<double> poseOf(const std::string& body) const { return pose_.at(body); }

  static Pose asPose(const Frame<double>& f) {
    return {Rotation{{f.R[0][0], f.R[0][1], f.R[0][2]},
                     {f.R[1][0], f.R[1][1], f.R[1][2]},
                     {f.R[2][0], f.R[2][1], f.R[2][2]}},
            {f.p[0], f.p[1], f.p[2]}};
  }

  /// Closes a loop so that both ends coincide in the remembered pose.
  LoopJoint& closeLoop(LoopType type, const std::string& predecessor, const Pose& end,
                       const std::string& successor, const Vector3& axis) {
    const Frame<double> other =
        poseOf(successor).inverse() * poseOf(predecessor) * Frame<double>::from(end);
    return robot_.addLoop(fresh("loop"), type)
        .from(predecessor, end)
        .to(successor, asPose(other))
        .about(axis)
        .thenAbout(cross(unit(axis), random_.direction()) + 0.1 * axis);
  }

  /// A link that turns about the z axis of a plane which all of a linkage's joints share.
  std::string addPlanarLink(const std::string& parent, const Pose& origin) {
    return addLink(parent, JointType::Revolute, origin, {0, 0, 1}).child;
  }

  struct FourBar {
    std::string crank, coupler, rocker;
  };

  FourBar addFourBar(const std::string& parent) {
    const Pose plane = anyPose(0.3);
    FourBar bar;
    bar.crank = addPlanarLink(parent, plane * at({0, 0, 0}));
    bar.coupler = addPlanarLink(bar.crank, at({0.15, 0.2, 0}));
    bar.rocker = addPlanarLink(parent, plane * at({0.5, 0.05, 0}));
    closeLoop(LoopType::Revolute, bar.coupler, at({0.4, number(-0.1, 0.1), 0}), bar.rocker,
              {0, 0, chance(0.5) ? 1.0 : -2.0});
    return bar;
  }

  /// A second loop on the coupler and the ground of a four-bar.
  void addSixBar(const std::string& parent) {
    const Pose plane = anyPose(0.3);
    const std::string crank = addPlanarLink(parent, plane * at({0, 0, 0}));
    const std::string coupler = addPlanarLink(crank, at({0.15, 0.2, 0}));
    const std::string rocker = addPlanarLink(parent, plane * at({0.5, 0.05, 0}));
    closeLoop(LoopType::Revolute, coupler, at({0.4, 0, 0}), rocker, {0, 0, 1});
    const std::string link = addPlanarLink(coupler, at({0.2, 0.25, 0}));
    const std::string second = addPlanarLink(parent, plane * at({-0.4, 0.1, 0}));
    closeLoop(chance(0.5) ? LoopType::Revolute : LoopType::Spherical, link, at({-0.3, 0.1, 0}),
              second, {0, 0, 1});
  }

  /// DoFs of a chain of random joints; `last` is its end.
  int addChain(const std::string& parent, int freedoms, std::string& last) {
    constexpr std::array kTypes{JointType::Revolute,    JointType::Universal, JointType::Prismatic,
                                JointType::Cylindrical, JointType::Spherical, JointType::Helical,
                                JointType::Planar};
    last = parent;
    int n = 0;
    while (n < freedoms) {
      const Joint& joint =
          addRandomLink(last, kTypes[static_cast<std::size_t>(whole(kTypes.size()))]);
      last = joint.child;
      n += velocitySize(joint.type);
    }
    return n;
  }

  /// Two chains with one to three DoFs more than the loop joint removes.
  void addSpatialLoop(const std::string& parent) {
    constexpr std::array kClosures{LoopType::Revolute,  LoopType::Prismatic, LoopType::Cylindrical,
                                   LoopType::Universal, LoopType::Spherical, LoopType::Planar,
                                   LoopType::Fixed};
    constexpr std::array kRows{5, 5, 4, 4, 3, 3, 6};
    const auto which = static_cast<std::size_t>(whole(kClosures.size()));
    std::string left, right;
    const int n = addChain(parent, 1 + whole(3), left);
    addChain(parent, kRows[which] + 1 - n, right);
    if (right == parent) {
      addChain(parent, 1, right);
    }
    const Vector3 axis = anyAxis();
    closeLoop(kClosures[which], left, anyPose(0.3), right, axis);
  }

  Rod& addRodBetween(const std::string& a, const std::string& b) {
    const Vector3 pointA = vector(0.3), pointB = vector(0.3) + Vector3{0.1, 0.2, 0.3};
    const auto x = poseOf(a).point(tripleOf<double>(pointA));
    const auto y = poseOf(b).point(tripleOf<double>(pointB));
    const Vector3 way{y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    return robot_.addRod(fresh("rod")).from(a, pointA).to(b, pointB).ofLength(norm(way));
  }

  /// An ankle: two cranks move a universal joint through two rods.
  void addRods(const std::string& parent) {
    const std::string foot = addRandomLink(parent, JointType::Universal).child;
    for (int side = 0; side < 2; ++side) {
      const std::string crank = addRandomLink(parent, JointType::Revolute).child;
      addRodBetween(crank, foot);
    }
  }

  void addFunctions(const std::string& parent) {
    const Joint& first = addRandomLink(parent, JointType::Revolute);
    const std::string a = first.name;
    const std::string b =
        addRandomLink(chance(0.5) ? parent : first.child, JointType::Revolute).name;
    const std::string c = addRandomLink(parent, JointType::Revolute).name;
    const double pa = position_.at(a), pb = position_.at(b), pc = position_.at(c);
    const double slope = number(0.5, 1.5), bend = number(0.1, 0.4);
    const double offset = pb - slope * pa - bend * std::sin(2 * pa);
    const double product = std::cos(pa) * std::sin(pc) + 2 * pc;
    robot_.addFunction(fresh("cam"), {a, b, c}, 2,
                       [slope, bend, offset, product](const auto& q, auto& phi) {
                         using std::cos;
                         using std::sin;
                         phi[0] = q[1] - slope * q[0] - bend * sin(2.0 * q[0]) - offset;
                         phi[1] = cos(q[0]) * sin(q[2]) + 2.0 * q[2] - product;
                       });
  }

  /// A four-bar whose rocker is geared to a rotor and carries an ankle, with a rod across.
  void addMixed(const std::string& parent) {
    switch (whole(3)) {
      case 0: {
        const FourBar bar = addFourBar(parent);
        const std::string rocker = robot_.jointAbove(bar.rocker)->name;
        robot_.addGear(fresh("gear"), addRotor(parent), ratio(), rocker);
        addTreeLink(bar.coupler);
        return;
      }
      case 1: {
        const FourBar bar = addFourBar(parent);
        const std::string swing = addRandomLink(parent, JointType::Universal).child;
        addRodBetween(bar.coupler, swing);
        addGearedLink(swing);
        return;
      }
      default:
        constexpr std::array kOthers{Family::Tree,         Family::Geared,   Family::Belted,
                                     Family::Differential, Family::SixBar,   Family::SpatialLoop,
                                     Family::Rods,         Family::Functions};
        add(kOthers[static_cast<std::size_t>(whole(kOthers.size()))], parent);
    }
  }

  /// A four-bar with rotors on its own links, each geared to the joint of a link.
  void addMotorsInLoop(const std::string& parent) {
    const FourBar bar = addFourBar(parent);
    const std::array links{bar.crank, bar.coupler, bar.rocker};
    for (const std::string& carrier : links) {
      if (chance(0.6)) {
        const std::string& driven = links[static_cast<std::size_t>(whole(links.size()))];
        const std::string joint = robot_.jointAbove(driven)->name;
        robot_.addGear(fresh("gear"), addRotor(carrier), ratio(), joint);
      }
    }
    if (chance(0.5)) {
      addGearedLink(bar.coupler);
    }
  }

  RandomSpatial<double> random_;
  Mechanism robot_;
  std::map<std::string, Frame<double>> pose_;  ///< of bodies, where the loops close
  std::map<std::string, double> position_;     ///< of joints with one DoF, there
  int next_ = 1;
};

constexpr std::array kFamilyNames{"Tree",      "Geared", "Belted",       "Differential",
                                  "FourBar",   "SixBar", "SpatialLoop",  "Rods",
                                  "Functions", "Mixed",  "MotorsInLoops"};

}  // namespace

Mechanism randomMechanism(const MechanismCase& choice) {
  Mechanism robot = Builder(choice).build(choice);
  // Large loops too: most tests are of clusters.
  const auto embed = [](auto& loops) {
    for (auto& loop : loops) {
      loop.cut = false;
    }
  };
  embed(robot.loops);
  embed(robot.rods);
  embed(robot.functions);
  return robot;
}

std::vector<MechanismCase> everyMechanism() {
#ifdef KEMPE_SANITIZED
  // Errors of memory hardly depend on the numbers, and everything takes ten times as long.
  const std::vector<MechanismCase> drawn{
      {.seed = 2, .bodies = 2}, {.seed = 5, .bodies = 8}, {.seed = 6, .bodies = 12}};
#else
  const std::vector<MechanismCase> drawn{{.seed = 1, .bodies = 1},  {.seed = 2, .bodies = 2},
                                         {.seed = 3, .bodies = 4},  {.seed = 4, .bodies = 6},
                                         {.seed = 5, .bodies = 8},  {.seed = 6, .bodies = 12},
                                         {.seed = 7, .bodies = 20}, {.seed = 8, .bodies = 30}};
#endif
  std::vector<MechanismCase> cases;
  for (std::size_t family = 0; family < kFamilyNames.size(); ++family) {
    for (MechanismCase choice : drawn) {
      choice.family = static_cast<Family>(family);
      cases.push_back(choice);
    }
  }
#ifndef KEMPE_SANITIZED
  cases.push_back({Family::Tree, 100, 58});
  cases.push_back({Family::Mixed, 101, 58});
#endif
  return cases;
}

std::string nameOf(const MechanismCase& choice) {
  return std::string(kFamilyNames[static_cast<std::size_t>(choice.family)]) + "_" +
         std::to_string(choice.seed) + "_" + std::to_string(choice.bodies);
}

std::ostream& operator<<(std::ostream& out, const MechanismCase& c) {
  return out << nameOf(c);
}

}  // namespace kempe::test
