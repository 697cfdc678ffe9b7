#include <string>

#include "io/urdf_parts.hpp"
#include "kempe/errors.hpp"

namespace kempe::io {
namespace {

constexpr TypeName<LoopType> loopTypes[] = {
    {"revolute", LoopType::Revolute},   {"continuous", LoopType::Revolute},
    {"prismatic", LoopType::Prismatic}, {"cylindrical", LoopType::Cylindrical},
    {"universal", LoopType::Universal}, {"spherical", LoopType::Spherical},
    {"planar", LoopType::Planar},       {"fixed", LoopType::Fixed}};

LoopJoint::End readLoopEnd(const Element& loop, std::string_view tag, const Robot& robot) {
  const Element end = requiredEnd(loop, tag);
  end.expect({.attributes = {"link", "node"}, .once = {"origin"}});
  return {readLinkName(end, robot), readOrigin(end), readNode(end)};
}

Rod::End readRodEnd(const Element& rod, std::string_view tag, const Robot& robot) {
  const Element end = requiredEnd(rod, tag);
  end.expect({.attributes = {"link", "node", "xyz"}});
  return {readLinkName(end, robot), end.vector("xyz").value_or(Vector3{}), readNode(end)};
}

double readValue(const Element& parent, std::string_view tag, std::string_view remedy) {
  const Element element = parent.requiredChild(tag, remedy);
  element.expect({.attributes = {"value"}});
  return element.requiredNumber("value");
}

double readOffset(const Element& coupling) {
  return coupling.child("offset") ? readValue(coupling, "offset", "") : 0.0;
}

/// Keeps a small file from making a huge mechanism: a belt along a long chain has many terms.
void countTerms(const Element& element, const Coupling& coupling, Robot& robot) {
  constexpr std::size_t most = 1'000'000;
  robot.couplingTerms += coupling.terms.size();
  if (robot.couplingTerms > most) {
    element.fail("the couplings up to here connect more than " + std::to_string(most) +
                 " joints in all. Check that the file is a robot.");
  }
}

/// <joint name="..." coefficient="..."/> for each term: Σ coefficient · position = offset.
void addCouplingOfJoints(const Element& element, Robot& robot) {
  element.expect({.attributes = {"name", "type", "cut"}, .once = {"offset"}, .many = {"joint"}});
  Coupling coupling;
  coupling.name = element.requiredName();
  coupling.line = element.line();
  coupling.cut = element.boolean("cut");
  coupling.offset = readOffset(element);
  for (const Element& term : element.children("joint")) {
    term.expect({.attributes = {"name", "coefficient", "component"}});
    const std::string joint = readJointName(term, "name", robot);
    coupling.plus(term.requiredNumber("coefficient"),
                  Coordinate(joint, term.index("component").value_or(0)));
  }
  countTerms(element, coupling, robot);
  robot.mechanism.couplings.push_back(std::move(coupling));
}

/// ratio · (joints down to the predecessor) + offset = (joints down to the successor).
void addCouplingOfLinks(const Element& element, Robot& robot) {
  element.expect({.attributes = {"name", "type", "cut"},
                  .once = {"predecessor", "successor", "ratio", "offset"}});
  const std::string predecessor = readEndLink(element, "predecessor", robot);
  const std::string successor = readEndLink(element, "successor", robot);
  const double ratio = readValue(element, "ratio", "Add <ratio value=\"6\"/>.");
  try {
    robot.mechanism.addBelt(element.requiredName(), predecessor, ratio, successor);
  } catch (const ModelError& error) {
    throw ModelError(element.place() + error.what());  // the builder knows no file and line
  }
  Coupling& coupling = robot.mechanism.couplings.back();
  coupling.offset = readOffset(element);
  coupling.line = element.line();
  coupling.cut = element.boolean("cut");
  countTerms(element, coupling, robot);
}

}  // namespace

void addLoopFrom(const Element& element, Robot& robot) {
  element.expect({.attributes = {"name", "type", "cut"},
                  .once = {"predecessor", "successor", "axis", "axis2"}});
  LoopJoint loop;
  loop.name = element.requiredName();
  loop.line = element.line();
  loop.cut = element.boolean("cut");
  loop.type = readType<LoopType>(element, loopTypes);
  loop.predecessor = readLoopEnd(element, "predecessor", robot);
  loop.successor = readLoopEnd(element, "successor", robot);
  const std::optional<Vector3> axis = readDirection(element, "axis");
  if (hasAxis(loop.type)) {
    if (!axis) {
      element.warn("a loop without <axis> is taken to have the axis 1 0 0, as joints have.");
    }
    loop.axis = axis.value_or(Vector3{1, 0, 0});
  }
  loop.axis2 = readSecondAxis(element, loop.type == LoopType::Universal).value_or(loop.axis2);
  robot.mechanism.loops.push_back(std::move(loop));
}

void addRodFrom(const Element& element, Robot& robot) {
  element.expect({.attributes = {"name", "cut"}, .once = {"predecessor", "successor", "length"}});
  Rod rod;
  rod.name = element.requiredName();
  rod.line = element.line();
  rod.cut = element.boolean("cut");
  rod.predecessor = readRodEnd(element, "predecessor", robot);
  rod.successor = readRodEnd(element, "successor", robot);
  rod.length = readValue(element, "length", "Add <length value=\"metres\"/>.");
  robot.mechanism.rods.push_back(std::move(rod));
}

/// φ = 0 with φ a formula in the positions of joints, to each of which `symbol` gives a name.
void addFunctionFrom(const Element& element, Robot& robot) {
  element.expect({.attributes = {"name", "cut"}, .once = {"formula"}, .many = {"joint"}});
  // Derivatives of a formula grow with the number of its joints.
  constexpr std::size_t most = 100;
  const std::vector<Element> joints = element.children("joint");
  if (joints.empty() || joints.size() > most) {
    element.fail("it has " + std::to_string(joints.size()) + " joints. Add <joint name=\"...\" " +
                 "symbol=\"a\"/> for each joint of the formula, at least 1 and at most " +
                 std::to_string(most) + ".");
  }
  Function function;
  function.name = element.requiredName();
  function.line = element.line();
  function.cut = element.boolean("cut");
  std::vector<std::string> symbols;
  for (const Element& joint : joints) {
    joint.expect({.attributes = {"name", "symbol", "component"}});
    function.coordinates.emplace_back(readJointName(joint, "name", robot),
                                      joint.index("component").value_or(0));
    symbols.push_back(joint.requiredName("symbol"));
  }
  const Element formula = element.requiredChild("formula", "Add <formula value=\"sin(a) - b\"/>.");
  formula.expect({.attributes = {"value"}});
  try {
    function.expression = Expression::parse(formula.requiredText("value"), symbols);
  } catch (const std::invalid_argument& error) {
    formula.fail(error.what());
  }
  function.rows = function.expression.results();
  robot.mechanism.functions.push_back(std::move(function));
}

void addCouplingFrom(const Element& element, Robot& robot) {
  const bool ofLinks = element.child("predecessor") || element.child("successor");
  if (ofLinks && element.child("joint")) {
    element.fail("couples both links and joints. Use <predecessor> and <successor>, or <joint>s.");
  }
  if (!ofLinks && !element.child("joint")) {
    element.fail(
        "couples nothing. Add <predecessor link=\"...\"/>, <successor link=\"...\"/> and "
        "<ratio value=\"...\"/>, or <joint name=\"...\" coefficient=\"...\"/> for each joint.");
  }
  if (!ofLinks) {
    addCouplingOfJoints(element, robot);
  } else {
    addCouplingOfLinks(element, robot);
  }
}

}  // namespace kempe::io
