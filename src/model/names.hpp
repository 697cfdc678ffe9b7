#pragma once

#include <string>
#include <vector>

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Names of a joint's position and velocity coordinates: its own name where it has one DoF,
/// "name.x" and so on otherwise.
std::vector<std::string> positionNames(const Joint& joint);
std::vector<std::string> velocityNames(const Joint& joint);

/// Fills in the names of bodies, joints, rows and all coordinates.
void nameCoordinates(ModelImpl& model);
/// Fills in the names of the actuated coordinates, once all others have theirs.
void listActuated(ModelImpl& model);

}  // namespace kempe::detail
