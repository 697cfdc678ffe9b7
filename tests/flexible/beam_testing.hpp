#pragma once

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>
#include <vector>

#include "kempe/flexible.hpp"

namespace kempe::test {

/// A slender steel bar, 20 mm × 10 mm × 1 m; local y is along the 20 mm.
inline BeamOptions slenderBar() {
  BeamOptions options;
  options.length = 1.0;
  options.E = 2.1e11;
  options.density = 7850.0;
  options.area = 0.02 * 0.01;
  options.Iy = 0.02 * std::pow(0.01, 3) / 12.0;
  options.Iz = 0.01 * std::pow(0.02, 3) / 12.0;
  return options;
}

/// So slender that rotary inertia is negligible.
inline BeamOptions wire() {
  BeamOptions options = slenderBar();
  options.area *= 1e-2;
  options.Iy *= 1e-4;
  options.Iz *= 1e-4;
  return options;
}

/// What a mode does: 'x' for axial, 't' for torsion, 'y' and 'z' for bending along the body's axes
/// y and z, of beams along x.
inline char kindOf(const FlexibleBody& body, std::size_t mode) {
  Eigen::Vector3d moved = Eigen::Vector3d::Zero();
  for (const FlexibleNode& node : body.nodes) {
    const Vec3<double>& t = node.shapes[mode].translation;
    moved += Eigen::Vector3d(std::abs(t.x), std::abs(t.y), std::abs(t.z));
  }
  Eigen::Index axis = 0;
  return moved.maxCoeff(&axis) == 0.0 ? 't' : "xyz"[axis];
}

/// Natural frequencies of one kind, in rad/s.
inline std::vector<double> frequenciesOf(const FlexibleBody& body, char kind) {
  std::vector<double> result;
  for (std::size_t i = 0; i < body.modes.size(); ++i) {
    if (kindOf(body, i) == kind) {
      result.push_back(2.0 * std::numbers::pi * body.modes[i].frequency());
    }
  }
  return result;
}

inline Eigen::Vector3d eigen(const Vec3<double>& a) {
  return {a.x, a.y, a.z};
}
inline Eigen::Matrix3d eigen(const SymMat3<double>& a) {
  return Eigen::Matrix3d{{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}};
}

}  // namespace kempe::test
