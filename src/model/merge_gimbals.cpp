#include "model/merge_gimbals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/messages.hpp"

namespace kempe::detail {
namespace {

constexpr double kRightAngle = 1e-3;                   ///< largest cosine between consecutive axes
constexpr double kOpen = 0.1;                          ///< smallest volume that the three axes span
constexpr double kWide = std::numbers::pi / 2 - 1e-3;  ///< smallest limit; files round
constexpr double kMeeting = 1e-6;  ///< largest miss of the axes, relative to the origins

/// Three joints, from parent to child, and their frames in the parent of the first at zero.
struct Gimbal {
  std::array<const Joint*, 3> joints{};
  std::array<Pose, 3> frames{};
  Vector3 center{};     ///< where the axes meet
  bool atChild = true;  ///< whether that is the origin of the child
};

Rotation turn(const Joint& joint, double angle) {
  return rotationFromVector(angle * normalized(joint.axis));
}

class GimbalFinder {
 public:
  explicit GimbalFinder(const Mechanism& mechanism) : m_(mechanism) {
    for (const Joint& joint : m_.joints) {
      below_[joint.parent].push_back(&joint);
    }
    for (const Body& body : m_.bodies) {
      bodies_.emplace(body.name, &body);
    }
    for (const FlexibleBody& body : m_.flexibleBodies) {
      flexible_.insert(body.body);
    }
    const auto addEnds = [&](const auto& loops) {
      for (const auto& loop : loops) {
        loopEnds_.insert(loop.predecessor.body);
        loopEnds_.insert(loop.successor.body);
      }
    };
    addEnds(m_.loops);
    addEnds(m_.rods);
    for (const Coupling& coupling : m_.couplings) {
      for (const Coupling::Term& term : coupling.terms) {
        named_.insert(term.coordinate.joint);
      }
    }
    for (const Function& function : m_.functions) {
      for (const Coordinate& coordinate : function.coordinates) {
        named_.insert(coordinate.joint);
      }
    }
  }

  std::vector<Gimbal> find() const {
    std::vector<Gimbal> found;
    std::set<const Joint*> taken;
    // A chain of more than three is cut into balls from its upper end.
    for (const Joint* first : fromTheRoot()) {
      Gimbal gimbal;
      gimbal.joints = {first, onlyJointBelow(first), nullptr};
      gimbal.joints[2] = onlyJointBelow(gimbal.joints[1]);
      const bool free = std::ranges::none_of(
          gimbal.joints, [&](const Joint* joint) { return taken.contains(joint); });
      if (gimbal.joints[2] != nullptr && free &&
          std::ranges::all_of(gimbal.joints, [&](const Joint* joint) { return isPlain(*joint); }) &&
          isBall(gimbal)) {
        taken.insert(gimbal.joints.begin(), gimbal.joints.end());
        found.push_back(gimbal);
      }
    }
    return found;
  }

 private:
  std::vector<const Joint*> fromTheRoot() const {
    std::set<std::string_view> children;
    for (const Joint& joint : m_.joints) {
      children.insert(joint.child);
    }
    std::vector<const Joint*> order;
    for (const Joint& joint : m_.joints) {
      if (!children.contains(joint.parent)) {
        order.push_back(&joint);
      }
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (const auto it = below_.find(order[i]->child); it != below_.end()) {
        order.insert(order.end(), it->second.begin(), it->second.end());
      }
    }
    return order;
  }

  /// The joint on a link that exists for it alone.
  const Joint* onlyJointBelow(const Joint* above) const {
    if (above == nullptr) {
      return nullptr;
    }
    const Body& link = *bodies_.at(above->child);
    const auto below = below_.find(link.name);
    const bool empty = link.mass == 0.0 && link.inertia == SymMat3<double>{} &&
                       link.visuals.empty() && link.collisions.empty() &&
                       !flexible_.contains(link.name);  // its mass follows from its density
    const bool passes = empty && below != below_.end() && below->second.size() == 1 &&
                        !loopEnds_.contains(link.name);
    return passes ? below->second.front() : nullptr;
  }

  bool isPlain(const Joint& joint) const {
    const bool revolute = joint.type == JointType::Revolute;
    const bool turns = revolute || joint.type == JointType::Continuous;
    const bool wide = !revolute || (joint.limits.lower <= -kWide && joint.limits.upper >= kWide);
    const bool ideal = joint.damping == 0.0 && joint.friction == 0.0 && joint.armature == 0.0 &&
                       joint.stiffness == 0.0;
    const bool wanted = joint.actuation.value_or(false) || joint.independence.value_or(false);
    return turns && wide && ideal && !wanted && !named_.contains(joint.name);
  }

  /// Fills in the frames and the centre.
  static bool isBall(Gimbal& gimbal) {
    std::array<Vector3, 3> axes;
    Pose frame;
    double scale = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const Joint& joint = *gimbal.joints[i];
      frame = frame * joint.origin;
      gimbal.frames[i] = frame;
      axes[i] = frame.R * normalized(joint.axis);
      scale = std::max(scale, norm(joint.origin.p));
    }
    if (std::abs(dot(axes[0], axes[1])) > kRightAngle ||
        std::abs(dot(axes[1], axes[2])) > kRightAngle ||
        std::abs(dot(axes[0], cross(axes[1], axes[2]))) < kOpen) {
      return false;
    }
    // The point of the first axis that is nearest to the second.
    const Vector3 apart = gimbal.frames[1].p - gimbal.frames[0].p;
    const Vector3 normal = cross(axes[0], axes[1]);
    const double along = dot(cross(apart, axes[1]), normal) / dot(normal, normal);
    gimbal.center = gimbal.frames[0].p + along * axes[0];
    const auto misses = [&](std::size_t i, const Vector3& point) {
      return norm(cross(axes[i], point - gimbal.frames[i].p)) > kMeeting * scale;
    };
    for (std::size_t i = 0; i < 3; ++i) {
      if (misses(i, gimbal.center)) {
        return false;
      }
    }
    gimbal.atChild = norm(gimbal.center - gimbal.frames[2].p) <= kMeeting * scale;
    if (gimbal.atChild) {
      gimbal.center = gimbal.frames[2].p;
    }
    return true;
  }

  const Mechanism& m_;
  std::unordered_map<std::string, std::vector<const Joint*>> below_;
  std::unordered_map<std::string, const Body*> bodies_;
  std::set<std::string> loopEnds_, named_, flexible_;
};

/// The ball's quaternion at a start pose of the three; nothing where none of them has one.
std::vector<double> startOf(const Gimbal& gimbal,
                            const std::map<std::string, std::vector<double>>& startPose) {
  bool given = false;
  Rotation R = Rotation::identity();
  for (const Joint* joint : gimbal.joints) {
    const auto it = startPose.find(joint->name);
    given = given || it != startPose.end();
    R = R * joint->origin.R * turn(*joint, it == startPose.end() ? 0.0 : it->second.front());
  }
  if (!given) {
    return {};
  }
  const Quaternion<double> a = quaternionFromRotation(gimbal.frames[2].R.transposed() * R);
  return {a.x, a.y, a.z, a.w};
}

std::string noteOf(const Mechanism& mechanism, const std::vector<Gimbal>& gimbals) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> list;
  bool limited = false;
  for (const Gimbal& gimbal : gimbals) {
    std::vector<std::string> names;
    for (const Joint* joint : gimbal.joints) {
      names.push_back(kempe::quoted(joint->name));
      limited =
          limited || (joint->type == JointType::Revolute &&
                      (std::isfinite(joint->limits.lower) || std::isfinite(joint->limits.upper)));
    }
    if (list.size() < kMost) {
      list.push_back("(" + joined(names) + ")");
    }
  }
  const std::size_t more = gimbals.size() - list.size();
  return mechanism.place() +
         "three consecutive massless revolute joints whose axes meet in one point are merged " +
         "into one spherical joint with the name of the last: " + joined(list) +
         (more > 0 ? " and " + std::to_string(more) + " more" : std::string()) + "." +
         (limited ? " Their limits are dropped." : "") +
         " To keep them: merge_gimbals=False, --keep-gimbals, or ModelOptions::mergeGimbals.";
}

std::string unusedName(std::string name, const auto& isUsed) {
  while (isUsed(name)) {
    name += "_";
  }
  return name;
}

}  // namespace

void mergeGimbals(Mechanism& mechanism) {
  const std::vector<Gimbal> gimbals = GimbalFinder(mechanism).find();
  if (gimbals.empty()) {
    return;
  }
  mechanism.warnings.push_back(noteOf(mechanism, gimbals));
  std::set<std::string> links, joints;
  std::vector<Joint> balls, offsets;
  for (const Gimbal& gimbal : gimbals) {
    const auto& [first, second, third] = gimbal.joints;
    Joint ball;
    ball.name = third->name;
    ball.type = JointType::Spherical;
    ball.parent = first->parent;
    ball.parentNode = first->parentNode;
    ball.child = third->child;
    ball.origin = {gimbal.frames[2].R, gimbal.center};
    ball.line = third->line;
    const auto refused = [&](auto member) {
      return std::ranges::all_of(gimbal.joints, [&](const Joint* joint) {
        return (joint->*member).has_value();  // none of them says true
      });
    };
    if (refused(&Joint::independence)) {
      ball.dependent();
    }
    if (refused(&Joint::actuation)) {
      ball.actuated(false);
    }
    links.insert(first->child);
    if (gimbal.atChild) {
      links.insert(second->child);
    } else {
      // The ball turns about a point beside the child's origin: the last empty link stays, there.
      Joint offset;
      offset.name = unusedName(third->name + "_offset", [&](const std::string& name) {
        return mechanism.findJoint(name) != nullptr;
      });
      offset.parent = ball.child = second->child;
      offset.child = third->child;
      offset.origin.p = transposeTimes(gimbal.frames[2].R, gimbal.frames[2].p - gimbal.center);
      offset.line = third->line;
      offsets.push_back(offset);
    }
    joints.insert({first->name, second->name});
    const std::vector<double> start = startOf(gimbal, mechanism.startPose);
    for (const Joint* joint : gimbal.joints) {
      mechanism.startPose.erase(joint->name);
    }
    if (!start.empty()) {
      mechanism.startPose[ball.name] = start;
    }
    balls.push_back(ball);
  }
  for (const Joint& ball : balls) {
    *std::ranges::find(mechanism.joints, ball.name, &Joint::name) = ball;
  }
  std::ranges::copy(offsets, std::back_inserter(mechanism.joints));
  std::erase_if(mechanism.joints, [&](const Joint& joint) { return joints.contains(joint.name); });
  std::erase_if(mechanism.bodies, [&](const Body& body) { return links.contains(body.name); });
}

}  // namespace kempe::detail
