#pragma once

#include <Eigen/Core>
#include <array>
#include <string_view>
#include <vector>

#include "kempe/flexible.hpp"

namespace kempe::detail {

/// Throws a ModelError unless the options describe a beam.
void checkBeam(std::string_view body, const BeamOptions& options);

/// Nodes of `interface`, by index, without the clamped one.
std::vector<int> interfaceNodes(std::string_view body, const BeamOptions& options);

/// The four problems into which the deflections of a straight beam fall apart.
enum class Deflection { Axial, Torsion, BendingY, BendingZ };
inline constexpr std::array<Deflection, 4> kDeflections = {
    Deflection::Axial, Deflection::Torsion, Deflection::BendingY, Deflection::BendingZ};

constexpr bool isBending(Deflection kind) {
  return kind == Deflection::BendingY || kind == Deflection::BendingZ;
}
/// Displacements per node: in bending, deflection and the turn in its direction.
constexpr int rowsPerNode(Deflection kind) {
  return isBending(kind) ? 2 : 1;
}

/// Row `row` of a node's displacements in this kind, among the six of the node (three translations,
/// three rotations, in local axes), and its sign there: a deflection along z that grows with x turns
/// the section about −y.
struct NodeRow {
  int index;
  double sign;
};
constexpr NodeRow placeOf(Deflection kind, int row) {
  switch (kind) {
    case Deflection::Axial:
      return {0, 1.0};
    case Deflection::Torsion:
      return {3, 1.0};
    case Deflection::BendingY:
      return row == 0 ? NodeRow{1, 1.0} : NodeRow{5, 1.0};
    default:
      return row == 0 ? NodeRow{2, 1.0} : NodeRow{4, -1.0};
  }
}

/// Weights of an element's four displacements (deflection and turn of each end) in the deflection,
/// the slope of the axis, the turn of the section and its derivative.
struct BendingShape {
  std::array<double, 4> deflection{}, slope{}, turn{}, curvature{};
};
/// At ξ from 0 to 1 along an element of that length. The shear parameter Φ = 12 E I / (k G A L²) is
/// zero for Euler and Bernoulli's beam, whose shapes are Hermite's (Przemieniecki 1968, §5.6). The
/// shear angle, slope − turn, is constant.
BendingShape bendingShape(double xi, double length, double shearParameter);

/// A point of a quadrature along the beam.
struct Station {
  int element;
  double xi;  ///< from 0 to 1 in the element
  double x;   ///< from the start of the beam
  double dx;  ///< weight
  double area, Iy, Iz, J;
};

/// A beam divided into elements, with matrices by a quadrature that is exact for them.
class Beam {
 public:
  explicit Beam(const BeamOptions& options);

  [[nodiscard]] int nodes() const { return options_.elements + 1; }
  [[nodiscard]] double elementLength() const { return options_.length / options_.elements; }
  [[nodiscard]] double density() const { return options_.density; }
  [[nodiscard]] const std::vector<Station>& stations() const { return stations_; }
  /// Φ of an element in bending along y or z.
  [[nodiscard]] double shearParameter(Deflection kind, int element) const;
  /// Columns: the local axes in the body's frame.
  [[nodiscard]] const Mat3<double>& axes() const { return axes_; }

  struct Matrices {
    Eigen::MatrixXd stiffness, mass;
  };
  /// Consistent matrices of each element in one kind of deflection, for the rows of its two nodes.
  [[nodiscard]] std::vector<Matrices> elementMatrices(Deflection kind) const;
  /// The same of the whole beam, with rows per node as rowsPerNode().
  [[nodiscard]] Matrices matrices(Deflection kind) const;
  /// Matrices of all six displacements per node, in the body's axes.
  [[nodiscard]] Matrices matrices() const;

 private:
  [[nodiscard]] Station stationAt(int element, double xi, double weight) const;

  BeamOptions options_;
  double G_;
  std::vector<Station> stations_;
  Mat3<double> axes_;
};

}  // namespace kempe::detail
