#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Options for reading a file and compiling the mechanism that it describes.
struct LoadOptions {
  /// Let the root body float (a free joint from a new body `world`); false: it is fixed to the
  /// world.
  bool floatingBase = false;
  /// Starting point of assembly: joint name → positions, added to Mechanism::startPose.
  std::map<std::string, std::vector<double>> startPose{};
  ModelOptions model{true, true};  ///< rotors are folded, gimbals merged
  /// In place of that of the file: Mechanism::frictionSlipSpeed.
  std::optional<double> frictionSlipSpeed{};
};

/// Reads and compiles a robot from a `.urdf` file (with URDF+ and Kempe tags, see docs/formats.md)
/// or a `.yaml` file of loop closures. A `.yaml` file does not name its URDF; it belongs to the
/// `.urdf` file in the same folder with the same stem, or else to the only one there. Throws
/// ModelError.
KEMPE_API Model load(const std::filesystem::path& path, const LoadOptions& options = {});

/// Reads a robot without compiling it, to edit or inspect the mechanism.
KEMPE_API Mechanism readMechanism(const std::filesystem::path& path);

/// Reads URDF text; errors refer to it as `source`.
KEMPE_API Mechanism readUrdfText(std::string_view text, const std::string& source = "urdf");

/// Adds the loop closures in YAML text to a mechanism; errors refer to the text as `source`.
KEMPE_API void addClosuresFromYamlText(Mechanism& mechanism, std::string_view text,
                                       const std::string& source = "yaml");

/// Returns the mechanism as URDF with Kempe's tags; numbers have all their digits. Throws
/// ModelError if the mechanism has a constraint function, which a file cannot represent.
/// @param file  where the text will be: relative names of meshes and textures, which count from the
///              folder of Mechanism::source, then count from the folder of this file; empty: they
///              stay as they are
KEMPE_API std::string writeUrdfText(const Mechanism& mechanism,
                                    const std::filesystem::path& file = {});
/// The same, written to a file.
KEMPE_API void writeUrdf(const Mechanism& mechanism, const std::filesystem::path& path);

}  // namespace kempe
