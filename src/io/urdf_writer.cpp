#include <tinyxml2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "expressions/grammar.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"
#include "io/urdf_parts.hpp"
#include "kempe/errors.hpp"
#include "kempe/io.hpp"
#include "mechanism/flexible_parts.hpp"
#include "text/messages.hpp"

namespace kempe {
namespace io {
namespace {

/// Roll, pitch, yaw of R = Rz(yaw) Ry(pitch) Rx(roll). Yaw is taken first and turned back before
/// the other two are read off, so that they make up for whatever it is where yaw and roll are not
/// apart (pitch = ±90°).
Vector3 rollPitchYaw(const Rotation& R) {
  const double yaw = std::atan2(R.r1.x, R.r0.x);
  const Rotation turnedBack = rotationZ(-yaw) * R;  // Ry(pitch) Rx(roll)
  return {std::atan2(-turnedBack.r1.z, turnedBack.r1.y),
          std::atan2(-turnedBack.r2.x, turnedBack.r0.x), yaw};
}

/// Names of files beside a robot, as another file in another folder refers to them.
class FileNames {
 public:
  /// Both are files, or empty: names then stay as they are. So they do if `source` is no file, but
  /// the name of a text.
  FileNames(const std::string& source, const std::filesystem::path& target) {
    std::error_code error;
    if (source.empty() || target.empty() || !std::filesystem::is_regular_file(source, error)) {
      return;
    }
    from_ = folderOf(source);
    to_ = folderOf(target);
  }

  [[nodiscard]] std::string operator()(const std::string& name) const {
    const std::string scheme = name.starts_with("file://") ? "file://" : "";
    const std::filesystem::path path = name.substr(scheme.size());
    if (from_ == to_ || path.empty() || path.is_absolute() ||
        name.find("://", scheme.size()) != std::string::npos) {
      return name;
    }
    const std::filesystem::path whole = (from_ / path).lexically_normal();
    const std::filesystem::path relative = whole.lexically_relative(to_);
    return scheme + (relative.empty() ? whole : relative).generic_string();
  }

 private:
  static std::filesystem::path folderOf(const std::filesystem::path& file) {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::absolute(file, error).parent_path();
    const std::filesystem::path real = std::filesystem::weakly_canonical(folder, error);
    return error ? folder.lexically_normal() : real;
  }

  std::filesystem::path from_, to_;
};

/// Writes elements in order; an element that a file cannot represent causes an error that names it.
class Writer {
 public:
  explicit Writer(const FileNames& files) : files_(files) {}

  std::string write(const Mechanism& mechanism) {
    for (const auto& [name, positions] : mechanism.startPose) {
      if (mechanism.findJoint(name) == nullptr && detail::findMode(mechanism, name) == nullptr) {
        throw ModelError(mechanism.place() + "start pose of joint " + inQuotes(name) +
                         ": there is no such joint. Check the name.");
      }
    }
    flexibleBodies_ = &mechanism.flexibleBodies;
    startPose_ = &mechanism.startPose;
    printer_.PushHeader(false, true);
    open("robot", mechanism.name);
    if (!(mechanism.gravity == Mechanism().gravity)) {
      vector("gravity", "xyz", mechanism.gravity);
    }
    if (mechanism.frictionSlipSpeed != 0.0) {
      open("friction");
      number("slip_speed", mechanism.frictionSlipSpeed);
      close();
    }
    for (const Joint& j : mechanism.joints) {  // the reader makes them again
      if (j.type == JointType::Mode || j.type == JointType::Node) {
        parts_.insert(j.child);
      }
    }
    for (const Body& b : mechanism.bodies) {
      if (!parts_.contains(b.name)) {
        body(b);
      }
    }
    for (const Joint& j : mechanism.joints) {
      if (!parts_.contains(j.child)) {
        joint(j, mechanism.startPose);
      }
    }
    std::ranges::for_each(mechanism.couplings, [&](const Coupling& c) { coupling(c); });
    std::ranges::for_each(mechanism.loops, [&](const LoopJoint& l) { loop(l); });
    std::ranges::for_each(mechanism.rods, [&](const Rod& r) { rod(r); });
    std::ranges::for_each(mechanism.functions, [&](const Function& f) { function(f); });
    close();
    return printer_.CStr();
  }

 private:
  void open(const char* tag) { printer_.OpenElement(tag); }
  void open(const char* tag, const std::string& name) {
    subject_ = std::string(tag) + " " + inQuotes(name);
    if (name.empty()) {
      fail("has no name. Give it one.");
    }
    open(tag);
    text("name", name);
  }
  void close() { printer_.CloseElement(); }

  [[noreturn]] void fail(const std::string& reason) const {
    throw ModelError(subject_ + ": " + reason);
  }

  void text(const char* attribute, const std::string& value) {
    if (hasControlCharacters(value) || !isUtf8(value)) {
      fail(std::string(attribute) + " " + inQuotes(value) +
           " has characters that XML cannot hold. Rename it.");
    }
    printer_.PushAttribute(attribute, value.c_str());
  }
  void number(const char* attribute, double value, double largest = largestNumber) {
    printer_.PushAttribute(attribute, format(attribute, value, largest).c_str());
  }
  /// Not of geometry, inertia or ratios, such as a modulus: as large as a double can be.
  void anyNumber(const char* attribute, double value) {
    number(attribute, value, std::numeric_limits<double>::max());
  }
  void bound(const char* attribute, double value) {
    if (std::isnan(value)) {
      fail(std::string("its limit \"") + attribute +
           "\" is not a number. Correct it before writing.");
    }
    const double written = std::isfinite(value) ? value : std::copysign(noLimit, value);
    printer_.PushAttribute(attribute, formatNumber(written).c_str());
  }
  void xyz(const char* attribute, const Vector3& v) {
    const std::string value =
        format(attribute, v.x) + " " + format(attribute, v.y) + " " + format(attribute, v.z);
    printer_.PushAttribute(attribute, value.c_str());
  }
  void vector(const char* tag, const char* attribute, const Vector3& v) {
    open(tag);
    printer_.PushAttribute(
        attribute, (format(tag, v.x) + " " + format(tag, v.y) + " " + format(tag, v.z)).c_str());
    close();
  }
  void value(const char* tag, double x) {
    open(tag);
    printer_.PushAttribute("value", format(tag, x).c_str());
    close();
  }

  [[nodiscard]] std::string format(const char* what, double value,
                                   double largest = largestNumber) const {
    if (!std::isfinite(value)) {
      fail(std::string(what) + " is not finite. Correct it before writing.");
    }
    if (std::abs(value) > largest) {
      fail(std::string(what) + " = " + shortNumber(value) + " is larger than " +
           formatNumber(largest) + ", which no file may hold. Correct it before writing.");
    }
    return formatNumber(value);
  }

  void origin(const Pose& pose) {
    if (pose.R == Rotation::identity() && pose.p == Vector3{}) {
      return;
    }
    open("origin");
    xyz("xyz", pose.p);
    if (!(pose.R == Rotation::identity())) {
      xyz("rpy", rollPitchYaw(pose.R));
    }
    close();
  }

  void body(const Body& body) {
    open("link", body.name);
    const SymMat3<double>& I = body.inertia;
    if (body.mass != 0.0 || !(I == SymMat3<double>{}) || !(body.centerOfMass == Vector3{})) {
      open("inertial");
      origin({Rotation::identity(), body.centerOfMass});
      value("mass", body.mass);
      open("inertia");
      number("ixx", I.xx);
      number("ixy", I.xy);
      number("ixz", I.xz);
      number("iyy", I.yy);
      number("iyz", I.yz);
      number("izz", I.zz);
      close();
      close();
    }
    const auto bends = std::ranges::find(*flexibleBodies_, body.name, &FlexibleBody::body);
    if (bends != flexibleBodies_->end()) {
      flexible(*bends);
    }
    std::ranges::for_each(body.visuals, [&](const Shape& s) { shape("visual", s); });
    std::ranges::for_each(body.collisions, [&](const Shape& s) { shape("collision", s); });
    close();
  }

  /// The start pose of all modes where one of them has one.
  void startPoseOf(const FlexibleBody& body) {
    bool given = false;
    std::string positions;
    for (std::size_t i = 0; i < body.modes.size(); ++i) {
      const auto start = startPose_->find(detail::modeName(body, i));
      given = given || start != startPose_->end();
      positions += (i == 0 ? "" : " ") +
                   format("start_pose", start == startPose_->end() ? 0.0 : start->second.front());
    }
    if (given) {
      text("start_pose", positions);
    }
  }

  void flexible(const FlexibleBody& body) {
    if (!body.beam) {
      throw ModelError(
          "flexible body " + inQuotes(body.body) +
          ": URDF that Kempe writes holds beams only. Write <flexible mass=\"…\" stiffness=\"…\" "
          "nodes=\"…\"/> into the file by hand, or build the robot in code.");
    }
    const BeamOptions& beam = *body.beam;
    const auto given = [&](const char* attribute, const std::optional<double>& value) {
      if (value) {
        anyNumber(attribute, *value);
      }
    };
    open("flexible");
    number("length", beam.length);
    anyNumber("E", beam.E);
    given("G", beam.G);
    number("density", beam.density);
    if (beam.sections.empty()) {
      number("area", beam.area);
      number("Iy", beam.Iy);
      number("Iz", beam.Iz);
      given("J", beam.J);
    }
    given("ky", beam.ky);
    given("kz", beam.kz);
    xyz("axis", beam.axis);
    printer_.PushAttribute("elements", beam.elements);
    printer_.PushAttribute("modes", beam.modes);
    text("fixed", beam.fixed);
    if (!beam.interface.empty()) {
      std::string names;
      for (const std::string& node : beam.interface) {
        names += (names.empty() ? "" : " ") + node;
      }
      text("interface", names);
    }
    number("damping", beam.damping);
    text("stiffening", beam.stiffening ? "true" : "false");
    startPoseOf(body);
    for (const BeamSection& section : beam.sections) {
      open("section");
      number("area", section.area);
      number("Iy", section.Iy);
      number("Iz", section.Iz);
      given("J", section.J);
      close();
    }
    close();
  }

  void shape(const char* tag, const Shape& shape) {
    open(tag);
    if (!shape.name.empty()) {
      text("name", shape.name);
    }
    origin(shape.origin);
    open("geometry");
    geometry(shape);
    close();
    if (!shape.material.empty() || shape.color || !shape.texture.empty()) {
      open("material");
      text("name", shape.material);
      if (shape.color) {
        const auto& [red, green, blue, alpha] = *shape.color;
        const std::string rgba = format("rgba", red) + " " + format("rgba", green) + " " +
                                 format("rgba", blue) + " " + format("rgba", alpha);
        open("color");
        printer_.PushAttribute("rgba", rgba.c_str());
        close();
      }
      if (!shape.texture.empty()) {
        open("texture");
        text("filename", files_(shape.texture));
        close();
      }
      close();
    }
    close();
  }

  void geometry(const Shape& shape) {
    switch (shape.kind) {
      case Shape::Kind::Box:
        vector("box", "size", shape.size);
        return;
      case Shape::Kind::Sphere:
        open("sphere");
        number("radius", shape.radius);
        break;
      case Shape::Kind::Cylinder:
      case Shape::Kind::Capsule:
        open(shape.kind == Shape::Kind::Cylinder ? "cylinder" : "capsule");
        number("radius", shape.radius);
        number("length", shape.length);
        break;
      case Shape::Kind::Mesh:
        open("mesh");
        text("filename", files_(shape.mesh));
        xyz("scale", shape.size);
        break;
    }
    close();
  }

  void link(const char* tag, const std::string& name, const std::string& node = {}) {
    open(tag);
    attached(name, node);
    close();
  }
  /// A link and a node of it; nodes of a compiled mechanism are bodies.
  void attached(const std::string& name, const std::string& node) {
    if (!parts_.contains(name)) {
      text("link", name);
      if (!node.empty()) {
        text("node", node);
      }
      return;
    }
    const std::size_t slash = name.rfind('/');
    text("link", name.substr(0, slash));
    text("node", name.substr(slash + 1));
  }

  void joint(const Joint& joint, const std::map<std::string, std::vector<double>>& startPose) {
    open("joint", joint.name);
    text("type", joint.type == JointType::Free ? "floating" : std::string(toString(joint.type)));
    if (joint.independence) {
      text("independent", *joint.independence ? "true" : "false");
    }
    if (joint.actuation) {
      text("actuated", *joint.actuation ? "true" : "false");
    }
    if (const auto start = startPose.find(joint.name); start != startPose.end()) {
      std::string positions;
      for (const double position : start->second) {
        positions += (positions.empty() ? "" : " ") + format("start_pose", position);
      }
      text("start_pose", positions);
    }
    link("parent", joint.parent, joint.parentNode);
    link("child", joint.child);
    origin(joint.origin);
    if (hasAxis(joint.type)) {
      vector("axis", "xyz", joint.axis);
    }
    if (joint.type == JointType::Universal) {
      vector("axis2", "xyz", joint.axis2);
    }
    if (joint.type == JointType::Helical) {
      value("pitch", joint.pitch);
    }
    limits(joint);
    const bool sprung = joint.stiffness != 0.0 || joint.springReference != 0.0;
    if (joint.damping != 0.0 || joint.friction != 0.0 || joint.armature != 0.0 || sprung) {
      open("dynamics");
      anyNumber("damping", joint.damping);
      anyNumber("friction", joint.friction);
      if (joint.armature != 0.0) {
        number("armature", joint.armature);
      }
      if (sprung) {
        anyNumber("spring_stiffness", joint.stiffness);
        number("spring_reference", joint.springReference);
      }
      close();
    }
    close();
  }

  void limits(const Joint& joint) {
    const bool bounded = hasPositionLimits(joint.type);
    const bool driven = std::isfinite(joint.limits.effort) || std::isfinite(joint.limits.velocity);
    if (!bounded && !driven) {
      return;
    }
    open("limit");
    if (bounded) {
      bound("lower", joint.limits.lower);
      bound("upper", joint.limits.upper);
    }
    bound("effort", joint.limits.effort);
    bound("velocity", joint.limits.velocity);
    close();
  }

  void cut(const std::optional<bool>& leftCut) {
    if (leftCut) {
      text("cut", *leftCut ? "true" : "false");
    }
  }

  void coupling(const Coupling& coupling) {
    open("coupling", coupling.name);
    cut(coupling.cut);
    for (const Coupling::Term& term : coupling.terms) {
      open("joint");
      text("name", term.coordinate.joint);
      number("coefficient", term.coefficient);
      if (term.coordinate.component != 0) {
        printer_.PushAttribute("component", term.coordinate.component);
      }
      close();
    }
    if (coupling.offset != 0.0) {
      value("offset", coupling.offset);
    }
    close();
  }

  void loop(const LoopJoint& loop) {
    open("loop", loop.name);
    text("type", std::string(toString(loop.type)));
    cut(loop.cut);
    const auto end = [&](const char* tag, const LoopJoint::End& e) {
      open(tag);
      attached(e.body, e.node);
      origin(e.frame);
      close();
    };
    end("predecessor", loop.predecessor);
    end("successor", loop.successor);
    if (hasAxis(loop.type)) {
      vector("axis", "xyz", loop.axis);
    }
    if (loop.type == LoopType::Universal) {
      vector("axis2", "xyz", loop.axis2);
    }
    close();
  }

  void rod(const Rod& rod) {
    open("rod", rod.name);
    cut(rod.cut);
    const auto end = [&](const char* tag, const Rod::End& e) {
      open(tag);
      attached(e.body, e.node);
      xyz("xyz", e.point);
      close();
    };
    end("predecessor", rod.predecessor);
    end("successor", rod.successor);
    value("length", rod.length);
    close();
  }

  void function(const Function& function) {
    open("function", function.name);
    cut(function.cut);
    std::vector<std::string> symbols;
    for (const Coordinate& coordinate : function.coordinates) {
      symbols.push_back("q" + std::to_string(symbols.size()));
      open("joint");
      text("name", coordinate.joint);
      text("symbol", symbols.back());
      if (coordinate.component != 0) {
        printer_.PushAttribute("component", coordinate.component);
      }
      close();
    }
    open("formula");
    text("value", formulaOf(function, symbols));
    close();
    close();
  }

  [[nodiscard]] std::string formulaOf(const Function& function,
                                      const std::vector<std::string>& symbols) const {
    std::string formula;
    try {
      formula = function.traced().text(symbols);
    } catch (const std::invalid_argument& error) {
      fail(std::string("a file can hold it only as a formula: ") + error.what());
    }
    if (formula.size() > detail::kLongestFormula) {
      fail("its formula has more than " + std::to_string(detail::kLongestFormula) +
           " characters. Split it into several functions.");
    }
    return formula;
  }

  const FileNames& files_;
  tinyxml2::XMLPrinter printer_;
  std::string subject_;
  const std::deque<FlexibleBody>* flexibleBodies_ = nullptr;
  const std::map<std::string, std::vector<double>>* startPose_ = nullptr;
  std::set<std::string> parts_;  ///< bodies that stand for modes and nodes
};

}  // namespace
}  // namespace io

std::string writeUrdfText(const Mechanism& mechanism, const std::filesystem::path& file) {
  const io::FileNames files(mechanism.source, file);
  return io::Writer(files).write(mechanism);
}

void writeUrdf(const Mechanism& mechanism, const std::filesystem::path& path) {
  const std::string text = writeUrdfText(mechanism, path);
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) {
    throw ModelError(path.string() +
                     ": cannot be written. Check that the folder exists and may be written to.");
  }
}

}  // namespace kempe
