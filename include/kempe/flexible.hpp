#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/spatial/inertia.hpp"
#include "kempe/spatial/transform.hpp"

/// Bodies that bend a little: small deformations in a floating frame, as sums of mode shapes.
///
/// A material point at r in the undeformed body is at r + u(η) in the body's frame, with one
/// coordinate η_i per mode:
///
///   u(η) = Σ φ_i η_i + ½ Σ b_ij η_i η_j                                        (1)
///
/// φ_i is the mode's shape at the point, b_ij = b_ji the shortening of bent beams, zero in bodies
/// without geometric stiffening. Integrals are over the undeformed mass; expanded in η, and cut off
/// where forces are of first order in η,
///
///   mass × centre of mass        h(η)   = h + Σ h_i η_i + ½ Σ h_ij η_i η_j     (2)
///   rotational inertia at the origin J(η) = J + Σ J_i η_i + ½ Σ J_ij η_i η_j   (3)
///   momentum of η̇_i              C_i(η) = [c_i + Σ_j c_ij η_j ; h_i + Σ_j h_ij η_j]   (4)
///
/// where C_i is [angular; linear] about the frame's origin. Modes are chosen so that their mass and
/// their stiffness matrix are diagonal.
namespace kempe {

/// One mode of a flexible body.
struct Mode {
  double mass = 1.0;          ///< modal mass, kg for shapes in m
  double stiffness = 0.0;     ///< modal stiffness
  double damping = 0.0;       ///< modal damping
  Vec3<double> linear{};      ///< h_i = ∫ φ_i dm
  Vec3<double> angular{};     ///< c_i = ∫ r × φ_i dm
  SymMat3<double> inertia{};  ///< J_i

  /// Natural frequency with the frame held, Hz.
  [[nodiscard]] KEMPE_API double frequency() const;
};

/// Second-order terms of modes i and j of a flexible body; of c_ij with i, j in this order.
struct ModePair {
  Vec3<double> linear{};      ///< h_ij = ∫ b_ij dm
  Vec3<double> angular{};     ///< c_ij = ∫ φ_j × φ_i dm + ∫ r × b_ij dm
  SymMat3<double> inertia{};  ///< J_ij
};

/// The motion of a node along one mode.
struct NodeShape {
  Vec3<double> translation{};  ///< φ_i at the node
  Vec3<double> rotation{};     ///< the small turn of the node's frame
};

/// A place on a flexible body to which joints, loops, frames and forces attach.
struct FlexibleNode {
  std::string name{};
  Vec3<double> position{};                 ///< undeformed, in the body's frame
  std::vector<NodeShape> shapes{};         ///< one per mode
  std::vector<Vec3<double>> shortening{};  ///< b_ij, modes × modes, row-major; empty: none
};

/// The cross-section of a beam at one place.
struct BeamSection {
  double area = 0.0;          ///< m²
  double Iy = 0.0;            ///< second moment of area about the local y axis, ∫ z² dA, m⁴
  double Iz = 0.0;            ///< second moment of area about the local z axis, ∫ y² dA, m⁴
  std::optional<double> J{};  ///< torsion constant, m⁴; Iy + Iz if not given
};

/// A straight beam from the body's origin along `axis`.
///
/// Its local axes are x along the beam, and y and z along the principal axes of the sections: the
/// body's axes, turned the shortest way that takes x to `axis` (where axis.x < −½: after a half
/// turn about z). For axis = (1, 0, 0), (0, 1, 0), (0, 0, 1) local y and z are the body's (y, z),
/// (−x, z), (y, −x).
///
/// Sections have their centroid and their shear centre on the axis. Their rotary inertia, density ×
/// (Iy, Iz) in bending and density × (Iy + Iz) in torsion, is included; warping is not.
struct BeamOptions {
  double length = 0.0;        ///< m
  double E = 0.0;             ///< Young's modulus, Pa
  double density = 0.0;       ///< kg/m³
  double area = 0.0;          ///< m²; as Iy, Iz and J not used if there are `sections`
  double Iy = 0.0;            ///< ∫ z² dA, m⁴: bending in the local x–z plane
  double Iz = 0.0;            ///< ∫ y² dA, m⁴: bending in the local x–y plane
  std::optional<double> G{};  ///< shear modulus, Pa; E / 2.6 (Poisson's ratio 0.3) if not given
  std::optional<double> J{};  ///< torsion constant, m⁴; Iy + Iz if not given
  /// Shear coefficients: Timoshenko's beam in the local x–y plane (ky) and x–z plane (kz), Euler and
  /// Bernoulli's where not given. With shear, frequencies converge with the square of the element
  /// length, without with its fourth power.
  std::optional<double> ky{}, kz{};
  /// Of a tapered beam: at equal distances from start to end (two at least), linear in between.
  std::vector<BeamSection> sections{};
  Vec3<double> axis{1.0, 0.0, 0.0};
  int elements = 10;
  int modes = 6;  ///< number of modal coordinates, those of `interface` included
  /// "start": the frame moves with the start node, at which modes are clamped. "none": modes of the
  /// free beam without its six rigid motions; the frame then follows the beam as a whole.
  std::string fixed = "start";
  /// Nodes whose six displacements the modes represent exactly under static loads there (Craig and
  /// Bampton 1968): "start", "end" or a number.
  std::vector<std::string> interface = {};
  double damping = 0.0;    ///< ratio to critical damping, of every mode
  bool stiffening = true;  ///< geometric stiffening: the shortening of the bent beam, b_ij
};

/// A flexible body, reduced to modes. Its frame moves with the joint above the body.
struct FlexibleBody {
  std::string body{};
  RigidInertia<double> rigid{};   ///< of the undeformed body, about the body frame's origin
  std::vector<Mode> modes{};      ///< ascending frequencies
  std::vector<ModePair> pairs{};  ///< modes × modes, row-major
  std::vector<FlexibleNode> nodes{};
  std::optional<BeamOptions> beam{};  ///< what it was reduced from, to write it to a file
  int line = 0;

  /// The node of that name or, if the name is a number, of that index; null if there is none.
  [[nodiscard]] KEMPE_API const FlexibleNode* findNode(std::string_view name) const;
};

/// Reduces a beam to modes. Nodes are "start", "1", "2", … , "end".
///
/// Each mode is axial, torsional or bends in one of the local planes; its modal mass is 1, and its
/// largest displacement of a node positive in local axes (the first one of several that are equal).
/// With w_y and w_z the deflections of the axis, which keeps its length,
///
///   b_ij(x) = −axis ∫_0^x (w_y,i' w_y,j' + w_z,i' w_z,j') dξ                    (5)
///
/// shifts whole sections; also in a free beam shortening is measured from its start.
/// @throws ModelError if the options describe no beam
[[nodiscard]] KEMPE_API FlexibleBody reduceBeam(std::string_view body, const BeamOptions& options);

}  // namespace kempe
