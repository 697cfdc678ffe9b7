#pragma once

#include <vector>

#include "kempe/export.hpp"
#include "kempe/flexible.hpp"
#include "kempe/spatial/matrix3.hpp"

namespace kempe {

/// An element of a beam that is reduced to modes, from one node to the next.
struct BeamElement {
  double mass = 0.0;  ///< of the undeformed element, kg
  /// k_e, modes × modes, symmetric: with modal coordinates η its strain energy is ½ ηᵀ k_e η.
  std::vector<double> stiffness{};
};

/// The elements of a beam from start to end, for its strain energy and its stresses from place to
/// place. The sum of all k_e is the diagonal matrix of Mode::stiffness, so that the strain energies
/// add up to the elastic energy of the body.
///
/// Empty for bodies from finite-element matrices, which do not tell one element from another.
/// @throws ModelError if the body has not the nodes of its beam
[[nodiscard]] KEMPE_API std::vector<BeamElement> beamElements(const FlexibleBody& body);

/// Columns: the local axes x, y and z of a beam in the body's frame (see BeamOptions).
[[nodiscard]] KEMPE_API Mat3<double> beamAxes(const BeamOptions& options);

}  // namespace kempe
