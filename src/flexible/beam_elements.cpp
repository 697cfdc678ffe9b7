#include "kempe/beam_elements.hpp"

#include <cstddef>
#include <string>

#include "flexible/beam.hpp"
#include "kempe/errors.hpp"
#include "text/messages.hpp"

namespace kempe {
namespace {

/// Displacements of the nodes in one kind of deflection, as rows of Beam::matrices(), for each mode.
Eigen::MatrixXd shapesOf(const FlexibleBody& body, const Mat3<double>& axes,
                         detail::Deflection kind) {
  const int rows = detail::rowsPerNode(kind);
  const Mat3<double> toLocal = axes.transposed();
  Eigen::MatrixXd result(rows * static_cast<Eigen::Index>(body.nodes.size()),
                         static_cast<Eigen::Index>(body.modes.size()));
  Eigen::Index first = 0;
  for (const FlexibleNode& node : body.nodes) {
    for (std::size_t mode = 0; mode < body.modes.size(); ++mode) {
      const NodeShape& shape = node.shapes[mode];
      const Vec3<double> local[2] = {toLocal * shape.translation, toLocal * shape.rotation};
      for (int row = 0; row < rows; ++row) {
        const auto [index, sign] = detail::placeOf(kind, row);
        result(first + row, static_cast<Eigen::Index>(mode)) = sign * local[index / 3][index % 3];
      }
    }
    first += rows;
  }
  return result;
}

}  // namespace

std::vector<BeamElement> beamElements(const FlexibleBody& body) {
  if (!body.beam) {
    return {};
  }
  const detail::Beam beam(*body.beam);
  if (body.nodes.size() != static_cast<std::size_t>(beam.nodes())) {
    throw ModelError("beam " + quoted(asUtf8(body.body)) + " has " +
                     counted(body.nodes.size(), "node", "nodes") + ", but its options describe " +
                     std::to_string(beam.nodes()) + "; reduce it again with reduceBeam");
  }
  const std::size_t modes = body.modes.size();
  const auto n = static_cast<Eigen::Index>(modes);
  std::vector<BeamElement> result(body.nodes.size() - 1,
                                  {0.0, std::vector<double>(modes * modes, 0.0)});
  for (const detail::Station& s : beam.stations()) {
    result[static_cast<std::size_t>(s.element)].mass += beam.density() * s.area * s.dx;
  }
  for (const detail::Deflection kind : detail::kDeflections) {
    const Eigen::MatrixXd shapes = shapesOf(body, beam.axes(), kind);
    const auto elements = beam.elementMatrices(kind);
    Eigen::Index first = 0;
    for (std::size_t e = 0; e < elements.size(); ++e) {
      const auto ends = shapes.middleRows(first, 2 * detail::rowsPerNode(kind));
      Eigen::Map<Eigen::MatrixXd>(result[e].stiffness.data(), n, n) +=
          ends.transpose() * elements[e].stiffness * ends;
      first += detail::rowsPerNode(kind);
    }
  }
  return result;
}

Mat3<double> beamAxes(const BeamOptions& options) {
  return detail::Beam(options).axes();
}

}  // namespace kempe
