// Any text: the reader of closures changes the mechanism, or gives a ModelError with file and line
// and leaves the mechanism as it was.

#include "fuzzing.hpp"
#include "kempe/io.hpp"

namespace {

/// A base with two arms of two links, to be closed at their ends.
kempe::Mechanism twoArms() {
  kempe::Mechanism mechanism("arms");
  mechanism.addBody("base");
  for (const char* name : {"a", "b", "c", "d"}) {
    mechanism.addBody(name).withMass(1).withInertia(0.1, 0.1, 0.1);
  }
  const auto hinge = [&](const char* name, const char* parent, const char* child, double x) {
    mechanism.addRevolute(name).from(parent).to(child).at({x, 0, 0}).about({0, 0, 1});
  };
  hinge("hinge_a", "base", "a", 0.0);
  hinge("hinge_b", "a", "b", 0.5);
  hinge("hinge_c", "base", "c", 0.25);
  hinge("hinge_d", "c", "d", 0.5);
  return mechanism;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  kempe::Mechanism mechanism = twoArms();
  try {
    kempe::addClosuresFromYamlText(mechanism, kempe::fuzz::textOf(bytes, size), "yaml");
  } catch (const kempe::ModelError& error) {
    kempe::fuzz::requirePlace(error, "yaml");
    kempe::fuzz::require(mechanism.loops.empty() && mechanism.warnings.empty(),
                         "closures that were refused have changed the mechanism");
    return 0;
  }
  kempe::fuzz::compileIfSmall(mechanism);
  return 0;
}
