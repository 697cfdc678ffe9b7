#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <optional>

#include "bindings.hpp"
#include "kempe/io.hpp"
#include "mechanism_parts.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

void bindRobotFiles(nb::module_& m) {
  m.def(
      "read_mechanism", [](const PathText& path) { return readMechanism(path.get()); }, "path"_a,
      signature("def read_mechanism(path: Path) -> Mechanism"),
      "Reads a robot without compiling it, to inspect or change it: a .urdf file, or a .yaml file "
      "of loop closures next to one. Raises ModelError.");
  m.def(
      "read_urdf_text",
      [](const Text& text, const Text& source) { return readUrdfText(text.get(), source.get()); },
      "text"_a, "source"_a = "urdf",
      signature("def read_urdf_text(text: str, source: str = 'urdf') -> Mechanism"),
      "Reads the text of a URDF; `source` is its name in error messages. Raises ModelError.");
  m.def(
      "add_closures_from_yaml_text",
      [](Mechanism& mechanism, const Text& text, const Text& source) {
        addClosuresFromYamlText(mechanism, text.get(), source.get());
      },
      "mechanism"_a, "text"_a, "source"_a = "yaml",
      signature("def add_closures_from_yaml_text(mechanism: Mechanism, text: str, source: str = "
                "'yaml') -> None"),
      "Adds the loop closures of YAML text to a mechanism; `source` is its name in error messages. "
      "Raises ModelError.");
  m.def(
      "write_urdf_text",
      [](const Mechanism& mechanism, const std::optional<PathText>& path) {
        return writeUrdfText(mechanism, path ? path->get() : std::filesystem::path());
      },
      "mechanism"_a, "path"_a = nb::none(),
      signature("def write_urdf_text(mechanism: Mechanism, path: Path | None = None) -> str"),
      "The mechanism as URDF with Kempe's tags, numbers in full precision. `path` is the file that "
      "the text is for: relative names of meshes and textures, which count from the folder of "
      "`source`, then count from that of this file. Raises ModelError if the mechanism has a "
      "constraint function, which no file format can store.");
  m.def(
      "write_urdf",
      [](const Mechanism& mechanism, const PathText& path) { writeUrdf(mechanism, path.get()); },
      "mechanism"_a, "path"_a,
      signature("def write_urdf(mechanism: Mechanism, path: Path) -> None"),
      "Writes write_urdf_text() to a file.");
}

}  // namespace kempe::python
