// Any text: the URDF reader gives a mechanism or a ModelError. What it gives can be written and
// read again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compile_small.hpp"
#include "kempe/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  kempe::Mechanism mechanism;
  try {
    mechanism = kempe::readUrdfText(text);
  } catch (const kempe::ModelError&) {
    return 0;
  }
  const std::string written = kempe::writeUrdfText(mechanism);
  const kempe::Mechanism again = kempe::readUrdfText(written);  // a ModelError here is a finding
  if (again.bodies.size() != mechanism.bodies.size() ||
      again.joints.size() != mechanism.joints.size() ||
      again.couplings.size() != mechanism.couplings.size() ||
      again.loops.size() != mechanism.loops.size() || again.rods.size() != mechanism.rods.size()) {
    std::abort();
  }
  kempe::fuzz::compileIfSmall(mechanism);
  return 0;
}
