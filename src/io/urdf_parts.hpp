#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "io/xml_document.hpp"
#include "kempe/mechanism.hpp"

// Declarations shared by the parts of the URDF reader, which urdf_reader.cpp combines, and the
// writer.

namespace kempe::io {

/// The robot that is being read, with lookup of its parts by name. If two joints have the same
/// name, which validation will refuse, the first one is found.
struct Robot {
  /// Its source is set when it is complete: readers write the place of errors themselves.
  Mechanism mechanism{};
  std::string source{};  ///< the file, from whose folder names of files count
  std::unordered_set<std::string> links{};
  std::unordered_map<std::string, std::size_t> joints{};  ///< index of each
  std::size_t couplingTerms = 0;
};

/// A colour or texture that a name stands for.
struct Material {
  std::string texture{};
  std::optional<std::array<double, 4>> color{};
};
using Materials = std::map<std::string, Material, std::less<>>;

// --- types and what they have ------------------------------------------------------------------

/// The name of a type of joint or loop in files.
template <typename Type>
struct TypeName {
  std::string_view name;
  Type type;
};

/// The attribute `type`; where it is none of the known ones, an error that lists them.
template <typename Type>
Type readType(const Element& element, std::span<const TypeName<Type>> known) {
  const std::string name = element.requiredText("type");
  const auto found = std::ranges::find(known, name, &TypeName<Type>::name);
  if (found != known.end()) {
    return found->type;
  }
  std::vector<std::string_view> names;
  std::string list;
  for (const TypeName<Type>& each : known) {
    names.push_back(each.name);
    list += (list.empty() ? "" : ", ") + std::string(each.name);
  }
  element.fail("the type " + inQuotes(name) + " is not known." + suggestion(name, names) +
               " The types are " + list + ".");
}

constexpr bool hasAxis(JointType type) {
  return type != JointType::Fixed && type != JointType::Spherical && type != JointType::Free;
}
constexpr bool hasAxis(LoopType type) {
  return type != LoopType::Fixed && type != LoopType::Spherical;
}
constexpr bool hasPositionLimits(JointType type) {
  return velocitySize(type) == 1 && type != JointType::Continuous;
}

// --- pieces of elements ------------------------------------------------------------------------

/// The <origin> in an element: identity where it has none.
Pose readOrigin(const Element& parent);

/// The <flexible> in a link.
void addFlexibleFrom(const Element& link, const Body& body, Robot& robot);

/// The node of a flexible link to which something attaches; empty: the link itself.
std::string readNode(const Element& end);

/// The direction in a child such as <axis xyz="0 0 1"/>.
std::optional<Vector3> readDirection(const Element& parent, std::string_view tag);

/// The direction in <axis2>, which a universal joint or loop must have and no other may.
std::optional<Vector3> readSecondAxis(const Element& element, bool isUniversal);

/// The link or joint that an attribute names; an error, with the nearest name, where there is none.
std::string readLinkName(const Element& element, const Robot& robot);
std::string readJointName(const Element& element, const char* attribute, const Robot& robot);

/// A child such as <parent link="name">, which must be there.
Element requiredEnd(const Element& element, std::string_view tag);
/// The link that such a child names, where it holds nothing else.
std::string readEndLink(const Element& element, std::string_view tag, const Robot& robot);

// --- elements ----------------------------------------------------------------------------------

/// Materials at the top of the file, and those that visuals define for others to name.
Materials readMaterials(const Element& file);
/// A <visual> or <collision>.
Shape readShape(const Element& element, const Materials& materials);

/// Adds a joint and checks that its links exist; its <mimic> waits for all joints.
void addJointFrom(const Element& element, Robot& robot);
/// Adds the coupling of a joint's <mimic>, once all joints are there.
void addMimicFrom(const Element& element, Robot& robot);

void addLoopFrom(const Element& element, Robot& robot);
void addRodFrom(const Element& element, Robot& robot);
void addCouplingFrom(const Element& element, Robot& robot);
void addFunctionFrom(const Element& element, Robot& robot);

}  // namespace kempe::io
