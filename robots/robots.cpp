#include "kempe/robots.hpp"

#include <algorithm>

namespace kempe::robots {
namespace {

struct Entry {
  const char* name;
  Mechanism (*robot)() = nullptr;  // exactly one of the two is set
  Mechanism (*chain)(int n) = nullptr;
};

constexpr Entry kEntries[] = {
    {.name = "mini_cheetah", .robot = miniCheetah},
    {.name = "mit_humanoid", .robot = mitHumanoid},
    {.name = "mit_humanoid_leg", .robot = mitHumanoidLeg},
    {.name = "tello", .robot = tello},
    {.name = "jvrc1", .robot = jvrc1},
    {.name = "four_bar", .robot = fourBar},
    {.name = "six_bar", .robot = sixBar},
    {.name = "five_bar", .robot = fiveBar},
    {.name = "planar_leg", .robot = planarLeg},
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

Mechanism mechanism(std::string_view name, int n) {
  const auto* entry =
      std::ranges::find_if(kEntries, [&](const Entry& e) { return name == e.name; });
  if (entry == std::end(kEntries)) {
    throw ModelError("there is no bundled robot \"" + std::string(name) +
                     "\"; the known ones are " + listOfNames() + ".");
  }
  if (entry->chain != nullptr) {
    return entry->chain(n == 0 ? kDefaultLinks : n);
  }
  if (n != 0) {
    throw ModelError("robot \"" + std::string(name) + "\" has no number of links (n = " +
                     std::to_string(n) + "). Leave n out, or load a chain.");
  }
  return entry->robot();
}

Model load(std::string_view name, int n, const ModelOptions& options) {
  return Model(mechanism(name, n), options);
}

}  // namespace kempe::robots
