#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "flexible/beam.hpp"
#include "flexible/dense_modes.hpp"
#include "flexible/integrals.hpp"
#include "kempe/errors.hpp"
#include "text/messages.hpp"

namespace kempe {
namespace {

using detail::Beam;
using detail::Deflection;

/// A mode as the displacements of the nodes in one of the four problems.
struct BeamMode {
  Deflection kind;
  double value;  // λ
  Eigen::VectorXd shape;
};

/// Motion of a section in local axes, per mode.
struct SectionMotion {
  Vec3<double> translation{}, rotation{};
  double slopeY = 0.0, slopeZ = 0.0;  // of the axis
};

SectionMotion sectionMotion(const Beam& beam, const BeamMode& mode, int element, double xi) {
  const double* const x = mode.shape.data() + detail::rowsPerNode(mode.kind) * element;
  SectionMotion result;
  if (!detail::isBending(mode.kind)) {
    const double value = (1.0 - xi) * x[0] + xi * x[1];
    (mode.kind == Deflection::Axial ? result.translation : result.rotation).x = value;
    return result;
  }
  const double shear = beam.shearParameter(mode.kind, element);
  const auto N = detail::bendingShape(xi, beam.elementLength(), shear);
  double deflection = 0.0, slope = 0.0, turn = 0.0;
  for (std::size_t k = 0; k < 4; ++k) {
    deflection += N.deflection[k] * x[k];
    slope += N.slope[k] * x[k];
    turn += N.turn[k] * x[k];
  }
  if (mode.kind == Deflection::BendingY) {
    result.translation.y = deflection;
    result.rotation.z = turn;
    result.slopeY = slope;
  } else {
    result.translation.z = deflection;
    result.rotation.y = -turn;
    result.slopeZ = slope;
  }
  return result;
}

std::vector<SectionMotion> sectionMotions(const Beam& beam, const std::vector<BeamMode>& modes,
                                          int element, double xi) {
  std::vector<SectionMotion> result;
  result.reserve(modes.size());
  for (const BeamMode& mode : modes) {
    result.push_back(sectionMotion(beam, mode, element, xi));
  }
  return result;
}

/// The lowest modes of all four problems together.
std::vector<BeamMode> beamModes(std::string_view body, const BeamOptions& options,
                                const Beam& beam) {
  const std::vector<int> interface = detail::interfaceNodes(body, options);
  const bool isFree = options.fixed == "none", keepsNodes = !interface.empty();
  struct Problem {
    Deflection kind;
    Beam::Matrices matrices;
    detail::RowPartition partition{};
    int rigid = 0;  // rigid motions; of the inner displacements too unless nodes are kept
    detail::Eigenmodes inner{};
    int count = 0;
  };
  std::vector<Problem> problems;
  std::vector<std::pair<double, std::size_t>> candidates;
  int fromInterface = 0;
  for (const Deflection kind : detail::kDeflections) {
    Problem& problem = problems.emplace_back(Problem{kind, beam.matrices(kind)});
    const int rows = detail::rowsPerNode(kind);
    problem.rigid = isFree ? rows : 0;
    for (int node = isFree ? 0 : 1; node < beam.nodes(); ++node) {
      const bool kept = std::find(interface.begin(), interface.end(), node) != interface.end();
      for (int row = 0; row < rows; ++row) {
        (kept ? problem.partition.kept : problem.partition.inner).push_back(rows * node + row);
      }
    }
    if (keepsNodes) {
      fromInterface += static_cast<int>(problem.partition.kept.size()) - problem.rigid;
    }
    problem.inner = detail::innerModes(problem.matrices.stiffness, problem.matrices.mass,
                                       problem.partition, keepsNodes ? 0 : problem.rigid);
    for (const double value : problem.inner.values) {
      candidates.emplace_back(value, problems.size() - 1);
    }
  }
  const int available = fromInterface + static_cast<int>(candidates.size());
  const std::string prefix = "beam " + quoted(asUtf8(body)) + ": ";
  if (options.modes > available) {
    throw ModelError(prefix + "modes is " + std::to_string(options.modes) + ", but " +
                     counted(options.elements, "element has ", "elements have ") +
                     std::to_string(available) + "; use more elements or fewer modes");
  }
  if (options.modes < fromInterface) {
    throw ModelError(prefix + "modes is " + std::to_string(options.modes) +
                     ", but the nodes of interface take " + std::to_string(fromInterface) +
                     "; give at least that many modes or fewer interface nodes");
  }
  std::stable_sort(candidates.begin(), candidates.end());
  for (int i = 0; i < options.modes - fromInterface; ++i) {
    ++problems[candidates[static_cast<std::size_t>(i)].second].count;
  }
  std::vector<BeamMode> modes;
  for (const Problem& problem : problems) {
    auto [values, shapes] =
        detail::craigBampton(problem.matrices.stiffness, problem.matrices.mass, problem.partition,
                             problem.inner, problem.count, problem.rigid);
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      detail::orient(shapes.col(i), detail::rowsPerNode(problem.kind), 1);
      modes.push_back({problem.kind, values[i], shapes.col(i)});
    }
  }
  std::stable_sort(modes.begin(), modes.end(),
                   [](const BeamMode& a, const BeamMode& b) { return a.value < b.value; });
  return modes;
}

/// Integrals ∫ w_y,i' w_y,j' + w_z,i' w_z,j' dx along the beam, modes × modes.
class Shortening {
 public:
  Shortening(const Beam& beam, const std::vector<BeamMode>& modes) : beam_(beam), modes_(modes) {
    toNode_.emplace_back(modes.size() * modes.size(), 0.0);
    for (int element = 0; element + 1 < beam.nodes(); ++element) {
      toNode_.push_back(upTo(element, 1.0));
    }
  }

  /// The integral from the start to ξ in the element.
  [[nodiscard]] std::vector<double> upTo(int element, double xi) const {
    std::vector<double> result = toNode_[static_cast<std::size_t>(element)];
    // Gauss's quadrature of three points: the integrand is of fourth degree.
    const double root = std::sqrt(0.6);
    for (const auto& [at, weight] : {std::pair{0.5 - 0.5 * root, 5.0 / 18.0},
                                     {0.5, 8.0 / 18.0},
                                     {0.5 + 0.5 * root, 5.0 / 18.0}}) {
      const auto motions = sectionMotions(beam_, modes_, element, at * xi);
      const double dx = weight * xi * beam_.elementLength();
      std::size_t k = 0;
      for (const SectionMotion& a : motions) {
        for (const SectionMotion& b : motions) {
          result[k++] += dx * (a.slopeY * b.slopeY + a.slopeZ * b.slopeZ);
        }
      }
    }
    return result;
  }
  [[nodiscard]] const std::vector<double>& toNode(int node) const {
    return toNode_[static_cast<std::size_t>(node)];
  }

 private:
  const Beam& beam_;
  const std::vector<BeamMode>& modes_;
  std::vector<std::vector<double>> toNode_;
};

/// b_ij, equation (5).
std::vector<Vec3<double>> shorteningVectors(const Beam& beam,
                                            const std::vector<double>& integrals) {
  const Vec3<double> axis = beam.axes().column(0);
  std::vector<Vec3<double>> result;
  result.reserve(integrals.size());
  for (const double integral : integrals) {
    result.push_back(-integral * axis);
  }
  return result;
}

void addBeamIntegrals(FlexibleBody& result, const Beam& beam, const std::vector<BeamMode>& modes,
                      const Shortening* shortening) {
  std::vector<Vec3<double>> shapes(modes.size()), b;
  for (const detail::Station& s : beam.stations()) {
    const auto motions = sectionMotions(beam, modes, s.element, s.xi);
    if (shortening != nullptr) {
      b = shorteningVectors(beam, shortening->upTo(s.element, s.xi));
    }
    // Integrands are of second degree over the section. Four points with its area and its second
    // moments give the exact integral.
    const double y = std::sqrt(2.0 * s.Iz / s.area), z = std::sqrt(2.0 * s.Iy / s.area);
    for (const Vec3<double>& arm : {Vec3<double>{0, y, 0}, {0, -y, 0}, {0, 0, z}, {0, 0, -z}}) {
      for (std::size_t i = 0; i < modes.size(); ++i) {
        shapes[i] = beam.axes() * (motions[i].translation + cross(motions[i].rotation, arm));
      }
      const Vec3<double> r = beam.axes() * (Vec3<double>{s.x, 0, 0} + arm);
      detail::addMassPoint(result, 0.25 * beam.density() * s.area * s.dx, r, shapes, b);
    }
  }
}

std::vector<FlexibleNode> beamNodes(const Beam& beam, const std::vector<BeamMode>& modes,
                                    const Shortening* shortening) {
  std::vector<FlexibleNode> nodes;
  const int last = beam.nodes() - 1;
  for (int i = 0; i <= last; ++i) {
    FlexibleNode& node = nodes.emplace_back();
    node.name = i == 0 ? "start" : i == last ? "end" : std::to_string(i);
    node.position = (i * beam.elementLength()) * beam.axes().column(0);
    for (const BeamMode& mode : modes) {
      Vec3<double> local[2];  // translation, rotation
      const int rows = detail::rowsPerNode(mode.kind);
      for (int row = 0; row < rows; ++row) {
        const auto [index, sign] = detail::placeOf(mode.kind, row);
        local[index / 3][index % 3] = sign * mode.shape[rows * i + row];
      }
      node.shapes.push_back({beam.axes() * local[0], beam.axes() * local[1]});
    }
    if (shortening != nullptr) {
      node.shortening = shorteningVectors(beam, shortening->toNode(i));
    }
  }
  return nodes;
}

}  // namespace

FlexibleBody reduceBeam(std::string_view body, const BeamOptions& options) {
  detail::checkBeam(body, options);
  const Beam beam(options);
  const std::vector<BeamMode> modes = beamModes(body, options, beam);
  std::optional<Shortening> shortening;
  if (options.stiffening) {
    shortening.emplace(beam, modes);
  }
  const Shortening* const shortened = shortening ? &*shortening : nullptr;

  FlexibleBody result;
  result.body = body;
  result.beam = options;
  for (const BeamMode& mode : modes) {
    Mode& added = result.modes.emplace_back();
    added.stiffness = mode.value;
    added.damping = 2.0 * options.damping * std::sqrt(mode.value);
  }
  result.pairs.resize(modes.size() * modes.size());
  addBeamIntegrals(result, beam, modes, shortened);
  result.nodes = beamNodes(beam, modes, shortened);
  return result;
}

}  // namespace kempe
