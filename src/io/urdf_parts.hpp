#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/xml_document.hpp"
#include "kempe/mechanism.hpp"

// The rooms of the URDF reader; urdf_reader.cpp walks through them.

namespace kempe::io {

/// A colour or texture that a name stands for.
struct Material {
  std::string texture{};
  std::optional<std::array<double, 4>> color{};
};
using Materials = std::map<std::string, Material, std::less<>>;

/// The <origin> in an element: identity where it has none.
Pose readOrigin(const Element& parent);

/// The direction in a child such as <axis xyz="0 0 1"/>.
std::optional<Vector3> readDirection(const Element& parent, std::string_view tag);

/// The link that an attribute names; an error, with the nearest name, where there is none.
std::string readLinkName(const Element& element, const Mechanism& mechanism);

/// Materials at the top of the robot, and those that visuals define for others to name.
Materials readMaterials(const Element& robot);
Shape readShape(const Element& visualOrCollision, const Materials& materials);

/// Adds a joint and checks that its links exist; its <mimic> waits for all joints.
void addJointFrom(const Element& element, Mechanism& mechanism);
/// Adds the coupling of a <mimic>, once all joints are there.
void addMimicFrom(const Element& joint, Mechanism& mechanism);

void addLoopFrom(const Element& element, Mechanism& mechanism);
void addRodFrom(const Element& element, Mechanism& mechanism);
void addCouplingFrom(const Element& element, Mechanism& mechanism);

}  // namespace kempe::io
