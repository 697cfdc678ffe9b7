#include "flexible/beam.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kempe::detail {
namespace {

struct GaussPoint {
  double at, weight;  // on (0, 1)
};

/// Exact up to degree 7: a shape squared, times a section's linear area.
const std::array<GaussPoint, 4>& gaussPoints() {
  static const std::array<GaussPoint, 4> points = [] {
    const double root = 2.0 / 7.0 * std::sqrt(6.0 / 5.0), part = std::sqrt(30.0) / 36.0;
    const double near = 0.5 * std::sqrt(3.0 / 7.0 - root), far = 0.5 * std::sqrt(3.0 / 7.0 + root);
    const double heavy = 0.25 + 0.5 * part, light = 0.25 - 0.5 * part;
    return std::array<GaussPoint, 4>{
        {{0.5 - far, light}, {0.5 - near, heavy}, {0.5 + near, heavy}, {0.5 + far, light}}};
  }();
  return points;
}

/// Columns x, y, z of the local axes; see BeamOptions.
Mat3<double> localAxes(const Vec3<double>& direction) {
  const Vec3<double> axis = normalized(direction);
  const double side = axis.x < -0.5 ? -1.0 : 1.0;
  const Vec3<double> v = side * axis;
  const double k = 1.0 / (1.0 + v.x);
  const Vec3<double> y{-v.y, 1.0 - v.y * v.y * k, -v.y * v.z * k};
  const Vec3<double> z{-v.z, -v.y * v.z * k, 1.0 - v.z * v.z * k};
  return Mat3<double>{axis, side * y, z}.transposed();
}

}  // namespace

BendingShape bendingShape(double xi, double length, double shearParameter) {
  const double f = shearParameter, a = 1.0 / (1.0 + f), L = length;
  const double s = xi, ss = s * s, sss = ss * s;
  BendingShape N;
  N.deflection = {a * (2 * sss - 3 * ss - f * s + 1 + f),
                  a * L * (sss - (2 + f / 2) * ss + (1 + f / 2) * s),
                  a * (3 * ss - 2 * sss + f * s), a * L * (sss - (1 - f / 2) * ss - f / 2 * s)};
  N.slope = {a / L * (6 * ss - 6 * s - f), a * (3 * ss - (4 + f) * s + 1 + f / 2),
             a / L * (6 * s - 6 * ss + f), a * (3 * ss - (2 - f) * s - f / 2)};
  N.turn = {a / L * (6 * ss - 6 * s), a * (3 * ss - (4 + f) * s + 1 + f), a / L * (6 * s - 6 * ss),
            a * (3 * ss - (2 - f) * s)};
  N.curvature = {a / (L * L) * (12 * s - 6), a / L * (6 * s - 4 - f), a / (L * L) * (6 - 12 * s),
                 a / L * (6 * s - 2 + f)};
  return N;
}

Beam::Beam(const BeamOptions& options)
    : options_(options), G_(options.G.value_or(options.E / 2.6)), axes_(localAxes(options.axis)) {
  if (options_.sections.empty()) {
    const BeamSection section{options.area, options.Iy, options.Iz, options.J};
    options_.sections = {section, section};
  }
  // Properties have kinks at sections, and shapes at nodes: the quadrature stops at both.
  const int elements = options.elements, spans = static_cast<int>(options_.sections.size()) - 1;
  for (int element = 0; element < elements; ++element) {
    const double first = element, end = element + 1;
    double from = first;
    while (from < end) {
      double to = end;
      for (int section = 1; section < spans; ++section) {
        const double kink = static_cast<double>(section) * elements / spans;
        if (kink > from + 1e-9 && kink < to - 1e-9) {
          to = kink;
          break;
        }
      }
      for (const auto& [at, weight] : gaussPoints()) {
        stations_.push_back(
            stationAt(element, from + (to - from) * at - first, (to - from) * weight));
      }
      from = to;
    }
  }
}

Station Beam::stationAt(int element, double xi, double weight) const {
  const auto& sections = options_.sections;
  const double spans = static_cast<double>(sections.size() - 1);
  const double place = (element + xi) / options_.elements * spans;
  const auto i = std::min(static_cast<std::size_t>(place), sections.size() - 2);
  const double t = place - static_cast<double>(i);
  const auto between = [&](double a, double b) { return a + t * (b - a); };
  const BeamSection &a = sections[i], &b = sections[i + 1];
  const double x = (element + xi) * elementLength();
  return {element,
          xi,
          x,
          weight * elementLength(),
          between(a.area, b.area),
          between(a.Iy, b.Iy),
          between(a.Iz, b.Iz),
          between(a.J.value_or(a.Iy + a.Iz), b.J.value_or(b.Iy + b.Iz))};
}

double Beam::shearParameter(Deflection kind, int element) const {
  const auto& coefficient = kind == Deflection::BendingY ? options_.ky : options_.kz;
  if (!coefficient) {
    return 0.0;
  }
  const Station s = stationAt(element, 0.5, 0.0);
  const double I = kind == Deflection::BendingY ? s.Iz : s.Iy, L = elementLength();
  return 12.0 * options_.E * I / (*coefficient * G_ * s.area * L * L);
}

std::vector<Beam::Matrices> Beam::elementMatrices(Deflection kind) const {
  const int size = 2 * rowsPerNode(kind);
  std::vector<Matrices> result(
      static_cast<std::size_t>(options_.elements),
      {Eigen::MatrixXd::Zero(size, size), Eigen::MatrixXd::Zero(size, size)});
  const double L = elementLength(), E = options_.E, density = options_.density;
  for (const Station& s : stations_) {
    Matrices& element = result[static_cast<std::size_t>(s.element)];
    if (isBending(kind)) {
      const double shear = shearParameter(kind, s.element);
      const BendingShape N = bendingShape(s.xi, L, shear);
      const double I = kind == Deflection::BendingY ? s.Iz : s.Iy;
      const double k = (kind == Deflection::BendingY ? options_.ky : options_.kz).value_or(0.0);
      const Eigen::Map<const Eigen::Vector4d> deflection(N.deflection.data()),
          slope(N.slope.data()), turn(N.turn.data()), curvature(N.curvature.data());
      const Eigen::Vector4d angle = slope - turn;
      element.stiffness += s.dx * (E * I * curvature * curvature.transpose() +
                                   k * G_ * s.area * angle * angle.transpose());
      element.mass += s.dx * density *
                      (s.area * deflection * deflection.transpose() + I * turn * turn.transpose());
    } else {
      const bool axial = kind == Deflection::Axial;
      const Eigen::Vector2d value(1.0 - s.xi, s.xi), slope(-1.0 / L, 1.0 / L);
      element.stiffness += s.dx * (axial ? E * s.area : G_ * s.J) * slope * slope.transpose();
      element.mass += s.dx * density * (axial ? s.area : s.Iy + s.Iz) * value * value.transpose();
    }
  }
  return result;
}

Beam::Matrices Beam::matrices(Deflection kind) const {
  const int rows = rowsPerNode(kind), size = rows * nodes();
  Matrices result{Eigen::MatrixXd::Zero(size, size), Eigen::MatrixXd::Zero(size, size)};
  int at = 0;
  for (const Matrices& element : elementMatrices(kind)) {
    result.stiffness.block(at, at, 2 * rows, 2 * rows) += element.stiffness;
    result.mass.block(at, at, 2 * rows, 2 * rows) += element.mass;
    at += rows;
  }
  return result;
}

Beam::Matrices Beam::matrices() const {
  const int size = 6 * nodes();
  Matrices local{Eigen::MatrixXd::Zero(size, size), Eigen::MatrixXd::Zero(size, size)};
  for (const Deflection kind : kDeflections) {
    const Matrices part = matrices(kind);
    const int rows = rowsPerNode(kind);
    for (int i = 0; i < part.mass.rows(); ++i) {
      const NodeRow a = placeOf(kind, i % rows);
      for (int j = 0; j < part.mass.cols(); ++j) {
        const NodeRow b = placeOf(kind, j % rows);
        const int row = 6 * (i / rows) + a.index, column = 6 * (j / rows) + b.index;
        local.stiffness(row, column) = a.sign * b.sign * part.stiffness(i, j);
        local.mass(row, column) = a.sign * b.sign * part.mass(i, j);
      }
    }
  }
  Eigen::Matrix3d R;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      R(i, j) = axes_(i, j);
    }
  }
  const auto turned = [&](const Eigen::MatrixXd& matrix) {
    Eigen::MatrixXd result(size, size);
    for (int i = 0; i < size; i += 3) {
      for (int j = 0; j < size; j += 3) {
        result.block<3, 3>(i, j) = R * matrix.block<3, 3>(i, j) * R.transpose();
      }
    }
    return result;
  };
  return {turned(local.stiffness), turned(local.mass)};
}

}  // namespace kempe::detail
