#include "mujoco_mjcf.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace kempe::bench {
namespace {

/// A unit quaternion (w, x, y, z), from the largest of the four.
std::array<double, 4> quaternionOf(const Rotation& rotation) {
  const Vector3 x = rotation.column(0), y = rotation.column(1), z = rotation.column(2);
  std::array<double, 4> best{};
  const std::array<std::array<double, 4>, 4> rows{
      {{1 + x.x + y.y + z.z, y.z - z.y, z.x - x.z, x.y - y.x},
       {y.z - z.y, 1 + x.x - y.y - z.z, x.y + y.x, z.x + x.z},
       {z.x - x.z, x.y + y.x, 1 - x.x + y.y - z.z, y.z + z.y},
       {x.y - y.x, z.x + x.z, y.z + z.y, 1 - x.x - y.y + z.z}}};
  double largest = 0.0;
  for (const auto& row : rows) {
    const double size =
        std::sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2] + row[3] * row[3]);
    if (size > largest) {
      largest = size;
      best = {row[0] / size, row[1] / size, row[2] / size, row[3] / size};
    }
  }
  return best;
}

class Writer {
 public:
  explicit Writer(const Mechanism& robot) : robot_(robot) {
    if (!robot.rods.empty() || !robot.functions.empty()) {
      throw std::invalid_argument("rods and functions have no counterpart in MuJoCo");
    }
    out_.precision(17);
    out_ << "<mujoco><compiler angle=\"radian\" autolimits=\"false\" boundmass=\"1e-9\" "
            "balanceinertia=\"true\"/><option gravity=\""
         << numbers(robot.gravity) << "\"/><worldbody>";
    for (const Body& body : robot.bodies) {
      if (robot.jointAbove(body.name) == nullptr) {
        writeSites(body.name);
        writeChildren(body.name);
      }
    }
    out_ << "</worldbody>";
    writeLoops();
    out_ << "</mujoco>";
  }
  [[nodiscard]] std::string text() const { return out_.str(); }

 private:
  static std::string numbers(const Vector3& x) {
    std::ostringstream s;
    s.precision(17);
    s << x.x << ' ' << x.y << ' ' << x.z;
    return s.str();
  }
  static std::string frame(const Pose& pose) {
    std::ostringstream s;
    s.precision(17);
    s << "pos=\"" << numbers(pose.p) << "\" quat=\"";
    for (const double x : quaternionOf(pose.R)) {
      s << x << ' ';
    }
    s << '"';
    return s.str();
  }

  void writeChildren(const std::string& body) {
    for (const Joint& joint : robot_.joints) {
      if (joint.parent == body) {
        writeBody(joint);
      }
    }
  }

  void writeBody(const Joint& joint) {
    const Body& body = *robot_.findBody(joint.child);
    const SymMat3<double>& I = body.inertia;
    out_ << "<body name=\"" << body.name << "\" " << frame(joint.origin) << "><inertial pos=\""
         << numbers(body.centerOfMass) << "\" mass=\"" << std::max(body.mass, 1e-9)
         << "\" fullinertia=\"" << I.xx << ' ' << I.yy << ' ' << I.zz << ' ' << I.xy << ' ' << I.xz
         << ' ' << I.yz << "\"/>";
    writeSites(body.name);
    switch (joint.type) {
      case JointType::Fixed:
        break;
      case JointType::Free:
        out_ << "<freejoint name=\"" << joint.name << "\"/>";
        break;
      case JointType::Revolute:
      case JointType::Continuous:
        out_ << "<joint name=\"" << joint.name << "\" type=\"hinge\" axis=\"" << numbers(joint.axis)
             << "\" armature=\"" << joint.armature << "\"/>";
        break;
      default:
        throw std::invalid_argument("joint \"" + joint.name +
                                    "\" is not of a kind that is compared");
    }
    writeChildren(body.name);
    out_ << "</body>";
  }

  /// Ends of the loop joints.
  void writeSites(const std::string& body) {
    for (const LoopJoint& loop : robot_.loops) {
      if (loop.predecessor.body == body) {
        out_ << "<site name=\"" << loop.name << "_1\" " << frame(loop.predecessor.frame) << "/>";
      }
      if (loop.successor.body == body) {
        out_ << "<site name=\"" << loop.name << "_2\" " << frame(loop.successor.frame) << "/>";
      }
    }
  }

  void writeLoops() {
    const std::string hard = "solimp=\"0.9999 0.9999 0.001 0.5 2\"";
    std::ostringstream tendons, equalities;
    tendons.precision(17);
    equalities.precision(17);
    for (const Coupling& c : robot_.couplings) {
      if (c.terms.size() == 2) {
        equalities << "<joint joint1=\"" << c.terms[0].coordinate.joint << "\" joint2=\""
                   << c.terms[1].coordinate.joint << "\" polycoef=\""
                   << c.offset / c.terms[0].coefficient << ' '
                   << -c.terms[1].coefficient / c.terms[0].coefficient << " 0 0 0\" " << hard
                   << "/>";
        continue;
      }
      tendons << "<fixed name=\"" << c.name << "\">";
      for (const Coupling::Term& term : c.terms) {
        tendons << "<joint joint=\"" << term.coordinate.joint << "\" coef=\"" << term.coefficient
                << "\"/>";
      }
      tendons << "</fixed>";
      equalities << "<tendon tendon1=\"" << c.name << "\" polycoef=\"" << c.offset << " 0 0 0 0\" "
                 << hard << "/>";
    }
    for (const LoopJoint& loop : robot_.loops) {
      equalities << "<connect site1=\"" << loop.name << "_1\" site2=\"" << loop.name << "_2\" "
                 << hard << "/>";
    }
    out_ << "<tendon>" << tendons.str() << "</tendon><equality>" << equalities.str()
         << "</equality>";
  }

  const Mechanism& robot_;
  std::ostringstream out_;
};

}  // namespace

std::string mjcf(const Mechanism& robot) {
  return Writer(robot).text();
}

}  // namespace kempe::bench
