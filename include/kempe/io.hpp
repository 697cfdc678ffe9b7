#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// How to read a file and compile what it describes.
struct LoadOptions {
  /// Set the root body free (a free joint from a new body `world`); off: it is fixed to the world.
  bool floatingBase = false;
  /// Where assembly starts: joint name → positions, added to Mechanism::startPose.
  std::map<std::string, std::vector<double>> startPose{};
  ModelOptions model{.mergeGimbals = true};
};

/// Reads and compiles a robot: `.urdf` (with URDF+ tags and Kempe's own, docs/formats.md), or a
/// `.yaml` of loop closures, which names no URDF itself and uses the one beside it: the file of the
/// same stem, or the only `.urdf` in the folder. Throws ModelError.
KEMPE_API Model load(const std::filesystem::path& path, const LoadOptions& options = {});

/// The same without compiling, to edit or inspect the mechanism.
KEMPE_API Mechanism readMechanism(const std::filesystem::path& path);

/// Reads URDF text; `source` is what errors call it.
KEMPE_API Mechanism readUrdfText(std::string_view text, const std::string& source = "urdf");

/// Adds the closures of YAML text to a mechanism; `source` is what errors call it.
KEMPE_API void addClosuresFromYamlText(Mechanism& mechanism, std::string_view text,
                                       const std::string& source = "yaml");

/// The mechanism as URDF with Kempe's tags, numbers with all their digits. Throws ModelError where
/// it has a constraint function, which no file can hold.
KEMPE_API std::string writeUrdfText(const Mechanism& mechanism);
KEMPE_API void writeUrdf(const Mechanism& mechanism, const std::filesystem::path& path);

}  // namespace kempe
