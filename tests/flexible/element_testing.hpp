#pragma once

#include "flexible/beam.hpp"
#include "flexible/beam_testing.hpp"
#include "kempe/finite_elements.hpp"

namespace kempe::test {

/// The matrices of a beam, as a finite-element program would write them.
struct Elements {
  Eigen::MatrixXd nodes{}, mass{}, stiffness{};

  [[nodiscard]] FlexibleBody reduced(const FiniteElementOptions& options) const {
    return reduceFiniteElements("frame", nodes, mass, stiffness, options);
  }
};

inline Elements elementsOf(const BeamOptions& options) {
  const detail::Beam beam(options);
  const detail::Beam::Matrices matrices = beam.matrices();
  Elements result{Eigen::MatrixXd(beam.nodes(), 3), matrices.mass, matrices.stiffness};
  for (int i = 0; i < beam.nodes(); ++i) {
    result.nodes.row(i) = i * beam.elementLength() * eigen(options.axis).normalized().transpose();
  }
  return result;
}

}  // namespace kempe::test
