// Any text: the URDF reader gives a mechanism, or a ModelError with file and line. What it gives
// can be written and read again.

#include "fuzzing.hpp"
#include "kempe/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  kempe::Mechanism mechanism;
  try {
    mechanism = kempe::readUrdfText(kempe::fuzz::textOf(bytes, size), "urdf");
  } catch (const kempe::ModelError& error) {
    kempe::fuzz::requirePlace(error, "urdf");
    return 0;
  }
  const std::string written = kempe::writeUrdfText(mechanism);
  const kempe::Mechanism again = kempe::readUrdfText(written);  // a ModelError here is a finding
  kempe::fuzz::require(again.bodies.size() == mechanism.bodies.size() &&
                           again.joints.size() == mechanism.joints.size() &&
                           again.couplings.size() == mechanism.couplings.size() &&
                           again.loops.size() == mechanism.loops.size() &&
                           again.rods.size() == mechanism.rods.size() &&
                           again.functions.size() == mechanism.functions.size(),
                       "what is written and read again is another mechanism");
  kempe::fuzz::compileIfSmall(mechanism);
  return 0;
}
