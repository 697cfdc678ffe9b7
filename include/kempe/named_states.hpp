#pragma once

#include <map>
#include <string>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/model.hpp"
#include "kempe/types.hpp"

/// States given by the names of joints. These functions are for set-up: they allocate memory.
namespace kempe {

/// Positions or velocities by name: of a joint, with all its positions or velocities, or of one
/// coordinate such as "base.z" (see Model::spanningPositionNames and spanningVelocityNames). A joint
/// takes precedence over a coordinate of the same name.
using NamedValues = std::map<std::string, std::vector<double>>;

/// Finds the configuration in which the named joints, independent or dependent, have the given
/// positions and the loops are closed. The other joints stay where Model::neutral() has them as far
/// as the loops allow; the branch (elbow up or down) is that which is reached from there by moving
/// the named joints steadily, or any other if none is reached. Quaternions are given whole.
/// @param q  output, model.nq()
///
/// Throws std::invalid_argument if a name is unknown or has a wrong number of values, AssemblyError
/// if the loops allow no such configuration; the text has the nearest position that was found.
KEMPE_API void configurationAt(const Model& model, Data& data, const NamedValues& positions,
                               VectorOut q);

/// Finds the velocities in which the named joints have the given ones and the loops stay closed. The
/// others are at rest as far as the loops allow; where they leave a choice, the norm of the
/// velocities is least. Dead points are no exception.
/// @param q           configuration, model.nq(), with closed loops
/// @param v           output, model.nv()
/// @param velocities  output, of all tree joints, model.nvSpanning()
///
/// Throws std::invalid_argument if a name is unknown or has a wrong number of values, or if the loops
/// do not allow these velocities; the text has the nearest velocity.
KEMPE_API void velocitiesAt(const Model& model, Data& data, VectorIn q, const NamedValues& named,
                            VectorOut v, VectorOut velocities);

}  // namespace kempe
