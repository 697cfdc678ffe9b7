#include <algorithm>
#include <string>

#include "io/urdf_parts.hpp"
#include "kempe/errors.hpp"

namespace kempe::io {
namespace {

struct TypeName {
  std::string_view name;
  LoopType type;
};

constexpr std::array<TypeName, 8> typeNames{{{"revolute", LoopType::Revolute},
                                             {"continuous", LoopType::Revolute},
                                             {"prismatic", LoopType::Prismatic},
                                             {"cylindrical", LoopType::Cylindrical},
                                             {"universal", LoopType::Universal},
                                             {"spherical", LoopType::Spherical},
                                             {"planar", LoopType::Planar},
                                             {"fixed", LoopType::Fixed}}};

LoopType readType(const Element& element) {
  const std::string name = element.requiredText("type");
  const auto* const found = std::ranges::find(typeNames, name, &TypeName::name);
  if (found == typeNames.end()) {
    element.fail("the loop type " + inQuotes(name) +
                 " is not known. The types are revolute, continuous, prismatic, cylindrical, "
                 "universal, spherical, planar, fixed.");
  }
  return found->type;
}

Element readEnd(const Element& loop, std::string_view tag) {
  return loop.requiredChild(tag, "Add <" + std::string(tag) + " link=\"name of a link\">.");
}

LoopJoint::End readLoopEnd(const Element& loop, std::string_view tag, const Mechanism& mechanism) {
  const Element end = readEnd(loop, tag);
  end.expect({.attributes = {"link"}, .once = {"origin"}});
  return {readLinkName(end, mechanism), readOrigin(end)};
}

Rod::End readRodEnd(const Element& rod, std::string_view tag, const Mechanism& mechanism) {
  const Element end = readEnd(rod, tag);
  end.expect({.attributes = {"link", "xyz"}});
  return {readLinkName(end, mechanism), end.vector("xyz").value_or(Vector3{})};
}

double readValue(const Element& parent, std::string_view tag, std::string_view remedy) {
  const Element element = parent.requiredChild(tag, remedy);
  element.expect({.attributes = {"value"}});
  return element.requiredNumber("value");
}

double readOffset(const Element& coupling) {
  return coupling.child("offset") ? readValue(coupling, "offset", "") : 0.0;
}

/// <joint name="..." coefficient="..."/> for each term: Σ coefficient · position = offset.
void addCouplingOfJoints(const Element& element, Mechanism& mechanism) {
  element.expect({.attributes = {"name", "type"}, .once = {"offset"}, .many = {"joint"}});
  Coupling coupling;
  coupling.name = element.requiredName();
  coupling.line = element.line();
  coupling.offset = readOffset(element);
  for (const Element& term : element.children("joint")) {
    term.expect({.attributes = {"name", "coefficient", "component"}});
    const std::string joint = term.requiredName();
    if (mechanism.findJoint(joint) == nullptr) {
      std::vector<std::string_view> known;
      for (const Joint& each : mechanism.joints) {
        known.push_back(each.name);
      }
      term.fail("there is no joint " + inQuotes(joint) + "." + suggestion(joint, known));
    }
    coupling.plus(term.requiredNumber("coefficient"),
                  Coordinate(joint, term.index("component").value_or(0)));
  }
  mechanism.couplings.push_back(std::move(coupling));
}

/// ratio · (joints down to the predecessor) + offset = (joints down to the successor).
void addCouplingOfLinks(const Element& element, Mechanism& mechanism) {
  element.expect(
      {.attributes = {"name", "type"}, .once = {"predecessor", "successor", "ratio", "offset"}});
  const auto linkOf = [&](std::string_view tag) {
    const Element end = readEnd(element, tag);
    end.expect({.attributes = {"link"}});
    return readLinkName(end, mechanism);
  };
  const std::string predecessor = linkOf("predecessor"), successor = linkOf("successor");
  const double ratio = readValue(element, "ratio", "Add <ratio value=\"6\"/>.");
  const double offset = readOffset(element);
  try {
    Coupling& coupling = mechanism.addBelt(element.requiredName(), predecessor, ratio, successor);
    coupling.offset = offset;
    coupling.line = element.line();
  } catch (const ModelError& error) {
    // The builder knows no lines: say the same, with the line.
    const std::string text = error.what();
    throw ModelError(mechanism.place(element.line()) + text.substr(mechanism.place().size()));
  }
}

}  // namespace

void addLoopFrom(const Element& element, Mechanism& mechanism) {
  element.expect(
      {.attributes = {"name", "type"}, .once = {"predecessor", "successor", "axis", "axis2"}});
  LoopJoint loop;
  loop.name = element.requiredName();
  loop.line = element.line();
  loop.type = readType(element);
  loop.predecessor = readLoopEnd(element, "predecessor", mechanism);
  loop.successor = readLoopEnd(element, "successor", mechanism);
  const std::optional<Vector3> axis = readDirection(element, "axis");
  const std::optional<Vector3> axis2 = readDirection(element, "axis2");
  if (loop.type != LoopType::Fixed && loop.type != LoopType::Spherical) {
    if (!axis) {
      element.warn("a loop without <axis> is taken to have the axis 1 0 0, as joints have.");
    }
    loop.axis = axis.value_or(Vector3{1, 0, 0});
  }
  if (loop.type == LoopType::Universal) {
    if (!axis2) {
      element.fail("a universal loop has no <axis2>. Add <axis2 xyz=\"0 1 0\"/>.");
    }
    loop.axis2 = *axis2;
  } else if (axis2) {
    element.fail("<axis2> belongs to universal loops only. Remove it or change the type.");
  }
  mechanism.loops.push_back(std::move(loop));
}

void addRodFrom(const Element& element, Mechanism& mechanism) {
  element.expect({.attributes = {"name"}, .once = {"predecessor", "successor", "length"}});
  Rod rod;
  rod.name = element.requiredName();
  rod.line = element.line();
  rod.predecessor = readRodEnd(element, "predecessor", mechanism);
  rod.successor = readRodEnd(element, "successor", mechanism);
  rod.length = readValue(element, "length", "Add <length value=\"metres\"/>.");
  mechanism.rods.push_back(std::move(rod));
}

void addCouplingFrom(const Element& element, Mechanism& mechanism) {
  if (element.child("joint")) {
    addCouplingOfJoints(element, mechanism);
  } else {
    addCouplingOfLinks(element, mechanism);
  }
}

}  // namespace kempe::io
