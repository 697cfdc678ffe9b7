#include "mechanism/validate_flexible.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "mechanism/finite.hpp"
#include "mechanism/flexible_parts.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

bool isFinite(const SymMat3<double>& A) {
  return isFinite(Vec3<double>{A.xx, A.xy, A.xz}) && isFinite(Vec3<double>{A.yy, A.yz, A.zz});
}
template <typename Integrals>
bool areFinite(const Integrals& x) {
  return isFinite(x.linear) && isFinite(x.angular) && isFinite(x.inertia);
}

double difference(const SymMat3<double>& a, const SymMat3<double>& b) {
  const SymMat3<double> d = a - b;
  return std::max({std::abs(d.xx), std::abs(d.xy), std::abs(d.xz), std::abs(d.yy), std::abs(d.yz),
                   std::abs(d.zz)});
}

/// The checks of one flexible body.
class FlexibleCheck {
 public:
  FlexibleCheck(const Mechanism& mechanism, const FlexibleBody& body)
      : m_(mechanism), body_(body), modes_(body.modes.size()) {}

  void run() const {
    if (m_.findBody(body_.body) == nullptr) {
      fail("there is no body of this name. Add it with addFlexibleBody().");
    }
    checkModes();
    checkPairs();
    checkNodes();
    checkNames();
  }

  /// What is unusual.
  void report(std::vector<std::string>& warnings) const {
    const auto warn = [&](const std::string& text) {
      warnings.push_back(m_.place(body_.line) + "flexible body " + quoted(body_.body) + ": " +
                         text);
    };
    if (!body_.beam) {
      return;
    }
    const BeamOptions& beam = *body_.beam;
    std::vector<BeamSection> sections = beam.sections;
    if (sections.empty()) {
      sections.push_back({beam.area, beam.Iy, beam.Iz, beam.J});
    }
    constexpr double kFlat = 3.0;
    if (std::ranges::any_of(sections, [](const BeamSection& section) {
          return !section.J &&
                 std::max(section.Iy, section.Iz) > kFlat * std::min(section.Iy, section.Iz);
        })) {
      warn(
          "its section is flat, and its torsion constant J is not given. Iy + Iz, which is used, "
          "is "
          "that of a round section and too stiff. Give J: width × thickness³ / 3 of a thin strip.");
    }
    if (beam.fixed == "none") {
      const Joint* joint = m_.jointAbove(body_.body);
      while (joint != nullptr && joint->type == JointType::Fixed && joint->parentNode.empty()) {
        joint = m_.jointAbove(joint->parent);
      }
      if (joint == nullptr || joint->type != JointType::Free) {
        warn("with fixed \"none\" its frame follows the beam as a whole, and " +
             (joint == nullptr ? std::string("the world") : "joint " + quoted(joint->name)) +
             " holds this frame, not the start of the beam. Give fixed \"start\", or carry it by a "
             "free joint and attach its nodes by loops.");
      }
    }
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw ModelError(m_.place(body_.line) + "flexible body " + quoted(asUtf8(body_.body)) + ": " +
                     reason);
  }

  void requireCount(std::size_t count, std::size_t wanted, const std::string& what) const {
    if (count != wanted) {
      fail("it has " + counted(modes_, "mode", "modes") + ", but " + std::to_string(count) + " " +
           what + ". Give " + std::to_string(wanted) + ".");
    }
  }

  void checkModes() const {
    if (modes_ == 0) {
      fail("it has no modes. Give at least one, or make the body rigid.");
    }
    const RigidInertia<double>& rigid = body_.rigid;
    if (!(rigid.mass > 0.0) || !std::isfinite(rigid.mass) || !isFinite(rigid.moment) ||
        !isFinite(rigid.rotation)) {
      fail("its rigid inertia is not that of a body: its mass is " + shortNumber(rigid.mass) +
           " kg. Give finite numbers and a mass above zero.");
    }
    for (std::size_t i = 0; i < modes_; ++i) {
      const Mode& mode = body_.modes[i];
      const std::string name = "mode " + std::to_string(i + 1);
      const auto isGiven = [](double x) { return std::isfinite(x) && x >= 0.0; };
      if (!isGiven(mode.mass) || mode.mass == 0.0) {
        fail(name + " has the mass " + shortNumber(mode.mass) + ". Give a number above zero.");
      }
      if (!isGiven(mode.stiffness) || !isGiven(mode.damping)) {
        fail(name + " has the stiffness " + shortNumber(mode.stiffness) + " and the damping " +
             shortNumber(mode.damping) + ". Give finite numbers, zero or more.");
      }
      if (!areFinite(mode)) {
        fail("an integral of " + name + " is not finite. Give finite numbers.");
      }
    }
  }

  void checkPairs() const {
    constexpr double kRounding = 1e-6;
    requireCount(body_.pairs.size(), modes_ * modes_, "pairs of modes");
    double linear = 0.0, inertia = 0.0;
    for (const ModePair& pair : body_.pairs) {
      if (!areFinite(pair)) {
        fail("an integral of a pair of modes is not finite. Give finite numbers.");
      }
      linear = std::max(linear, norm(pair.linear));
      inertia = std::max(inertia, difference(pair.inertia, {}));
    }
    for (std::size_t i = 0; i < modes_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const ModePair &a = body_.pairs[i * modes_ + j], &b = body_.pairs[j * modes_ + i];
        if (norm(a.linear - b.linear) > kRounding * linear ||
            difference(a.inertia, b.inertia) > kRounding * inertia) {
          fail("`linear` or `inertia` of the pair of modes " + std::to_string(j + 1) + " and " +
               std::to_string(i + 1) + " depends on their order. Make them equal.");
        }
      }
    }
  }

  void checkNodes() const {
    for (const FlexibleNode& node : body_.nodes) {
      const std::string name = "at node " + quoted(asUtf8(node.name));
      requireCount(node.shapes.size(), modes_, "shapes " + name);
      if (!node.shortening.empty()) {
        requireCount(node.shortening.size(), modes_ * modes_, "shortenings " + name);
      }
      const bool finite =
          isFinite(node.position) &&
          std::ranges::all_of(node.shapes,
                              [](const NodeShape& shape) {
                                return isFinite(shape.translation) && isFinite(shape.rotation);
                              }) &&
          std::ranges::all_of(node.shortening, [](const Vec3<double>& b) { return isFinite(b); });
      if (!finite) {
        fail("a number " + name + " is not finite. Give finite numbers.");
      }
    }
  }

  /// Parts have names of their own, which nothing else may have.
  void checkNames() const {
    if (std::ranges::count(m_.flexibleBodies, body_.body, &FlexibleBody::body) > 1) {
      fail("it is flexible twice. Remove one of the two.");
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < modes_; ++i) {
      names.insert(modeName(body_, i));
    }
    for (const FlexibleNode& node : body_.nodes) {
      if (node.name.empty() || !isUtf8(node.name)) {
        fail("a node has " +
             std::string(node.name.empty() ? "no name" : "a name that is not UTF-8 text") +
             ". Give it another.");
      }
      if (!names.insert(nodeName(body_, node.name)).second) {
        fail("the name of its node " + quoted(node.name) +
             " is that of another node or of a mode. Rename the node.");
      }
    }
    for (const std::string& name : names) {
      const Joint* const joint = m_.findJoint(name);
      const Joint* const above = m_.jointAbove(name);
      const bool ownJoint = joint == nullptr || isFlexiblePart(m_, *joint);
      const bool ownBody = m_.findBody(name) == nullptr ||
                           (above != nullptr && above->name == name && isFlexiblePart(m_, *above));
      if (!ownJoint || !ownBody) {
        fail("its part " + quoted(name) + " has the name of another " +
             (ownJoint ? "body" : "joint") + ". Rename that.");
      }
    }
  }

  const Mechanism& m_;
  const FlexibleBody& body_;
  std::size_t modes_;
};

}  // namespace

void checkFlexibleBodies(const Mechanism& mechanism, std::vector<std::string>& warnings) {
  for (const FlexibleBody& body : mechanism.flexibleBodies) {
    const FlexibleCheck check(mechanism, body);
    check.run();
    check.report(warnings);
  }
}

bool isFlexiblePart(const Mechanism& mechanism, const Joint& joint) {
  if (joint.type == JointType::Mode) {
    return findMode(mechanism, joint.name) != nullptr;
  }
  return joint.type == JointType::Node &&
         std::ranges::any_of(mechanism.flexibleBodies, [&](const FlexibleBody& body) {
           return std::ranges::any_of(body.nodes, [&](const FlexibleNode& node) {
             return nodeName(body, node.name) == joint.name;
           });
         });
}

}  // namespace kempe::detail
