#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "io/files.hpp"
#include "io/messages.hpp"
#include "io/text.hpp"
#include "io/yaml_document.hpp"
#include "kempe/errors.hpp"
#include "kempe/io.hpp"
#include "text/messages.hpp"

namespace kempe {
namespace {

namespace fs = std::filesystem;
using io::shown;

std::string extensionOf(const fs::path& path) {
  return io::lowerCase(path.extension().string());
}

constexpr const char* kRobotFile = "a .urdf or .yaml file";

std::string readFile(const fs::path& path) {
  return io::readFile(path, io::mostBytes, kRobotFile);
}

/// The URDF that a file of closures belongs to.
fs::path urdfBeside(const fs::path& yaml) {
  std::error_code error;
  fs::path sameStem = yaml;
  sameStem.replace_extension(".urdf");
  if (fs::exists(sameStem, error)) {
    return sameStem;
  }
  const fs::path folder = yaml.has_parent_path() ? yaml.parent_path() : fs::path(".");
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (extensionOf(entry.path()) == ".urdf") {
      found.push_back(entry.path());
    }
  }
  if (found.size() != 1) {
    io::failAt(yaml, "closures belong to a URDF, and there are " + std::to_string(found.size()) +
                         " beside it. Put it next to the URDF under the same name, " +
                         shown(sameStem.filename()) + ".");
  }
  return found.front();
}

/// Says so where a URDF is read without the file of closures beside it that belongs to it.
void reportClosuresBeside(const fs::path& urdf, Mechanism& mechanism) {
  std::vector<fs::path> candidates(2, urdf);
  candidates[0].replace_extension(".yaml");
  candidates[1].replace_extension(".yml");
  candidates.push_back(urdf.parent_path() / "robot.yaml");
  for (const fs::path& yaml : candidates) {
    std::error_code error;
    if (!fs::is_regular_file(yaml, error)) {
      continue;
    }
    try {
      if (io::hasClosures(readFile(yaml), shown(yaml)) &&
          fs::equivalent(urdfBeside(yaml), urdf, error)) {
        mechanism.warnings.push_back(mechanism.place() + "the file " + io::inQuotes(shown(yaml)) +
                                     " has closures for this robot, which are not read; load it "
                                     "instead.");
        return;
      }
    } catch (const ModelError&) {
      continue;  // it is no file of closures
    }
  }
}

/// Whether the base of the robot is already free.
bool hasFreeBase(const Mechanism& mechanism) {
  return std::ranges::any_of(mechanism.joints, [&](const Joint& joint) {
    return joint.type == JointType::Free && mechanism.jointAbove(joint.parent) == nullptr;
  });
}

}  // namespace

Mechanism readMechanism(const fs::path& path) {
  const std::string extension = extensionOf(path);
  if (extension == ".urdf") {
    Mechanism mechanism = readUrdfText(readFile(path), shown(path));
    reportClosuresBeside(path, mechanism);
    return mechanism;
  }
  if (extension == ".yaml" || extension == ".yml") {
    const std::string closures = readFile(path);
    const fs::path urdf = urdfBeside(path);
    Mechanism mechanism = readUrdfText(readFile(urdf), shown(urdf));
    addClosuresFromYamlText(mechanism, closures, shown(path));
    return mechanism;
  }
  if (extension == ".xacro") {
    io::failAt(path, "holds macros. Expand them first: xacro " + shown(path.filename()) + " > " +
                         shown(path.stem()) + ".");
  }
  if (std::error_code error; fs::is_directory(path, error)) {
    io::failAt(path, "is a folder. Name the .urdf or .yaml file in it.");
  }
  io::failAt(path,
             "the extension " + io::inQuotes(asUtf8(extension)) +
                 " is not known. Files end in .urdf, or in .yaml for closures beside a .urdf.");
}

Model load(const fs::path& path, const LoadOptions& options) {
  Mechanism mechanism = readMechanism(path);
  if (options.floatingBase) {
    if (hasFreeBase(mechanism)) {
      mechanism.warnings.push_back(mechanism.place() +
                                   "the base is already free; no floating base was added.");
    } else {
      mechanism.addFloatingBase();
    }
  }
  for (const auto& [joint, positions] : options.startPose) {
    mechanism.startPose[joint] = positions;
  }
  mechanism.frictionSlipSpeed = options.frictionSlipSpeed.value_or(mechanism.frictionSlipSpeed);
  return Model(mechanism, options.model);
}

}  // namespace kempe
