#include "kempe/robots.hpp"

#include <algorithm>

namespace kempe::robots {
namespace {

struct Entry {
  const char* name;
  Mechanism (*robot)() = nullptr;  // exactly one of the three is set
  Mechanism (*linkage)(Placement placement) = nullptr;
  Mechanism (*chain)(int n, Placement placement) = nullptr;
};

constexpr Entry kEntries[] = {
    {.name = "mini_cheetah", .robot = miniCheetah},
    {.name = "mit_humanoid", .robot = mitHumanoid},
    {.name = "mit_humanoid_leg", .robot = mitHumanoidLeg},
    {.name = "tello", .robot = tello},
    {.name = "jvrc1", .robot = jvrc1},
    {.name = "four_bar", .linkage = fourBar},
    {.name = "six_bar", .linkage = sixBar},
    {.name = "five_bar", .robot = fiveBar},
    {.name = "planar_leg", .linkage = planarLeg},
    {.name = "geared_chain", .chain = gearedChain},
    {.name = "belt_chain", .chain = beltChain},
};

constexpr int kDefaultLinks = 12;

std::string listOfNames() {
  std::string list;
  for (const std::string& name : names()) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

}  // namespace

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const Entry& entry : kEntries) {
      list.emplace_back(entry.name);
    }
    return list;
  }();
  return all;
}

Mechanism mechanism(std::string_view name, int n, Placement placement) {
  const auto* entry =
      std::ranges::find_if(kEntries, [&](const Entry& e) { return name == e.name; });
  if (entry == std::end(kEntries)) {
    throw ModelError("there is no bundled robot \"" + std::string(name) +
                     "\"; the known ones are " + listOfNames() + ".");
  }
  if (entry->chain != nullptr) {
    return entry->chain(n == 0 ? kDefaultLinks : n, placement);
  }
  if (n != 0) {
    throw ModelError("robot \"" + std::string(name) + "\" has no number of links (n = " +
                     std::to_string(n) + "). Leave n out, or load a chain.");
  }
  return entry->linkage != nullptr ? entry->linkage(placement) : entry->robot();
}

Model load(std::string_view name, int n, const ModelOptions& options, Placement placement) {
  return Model(mechanism(name, n, placement), options);
}

}  // namespace kempe::robots
