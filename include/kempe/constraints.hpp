#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

/// Constraints on top of a model, held by multipliers: what is switched on and off during a run,
/// moves with time, or forbids velocities only.
namespace kempe {

namespace detail {
struct ConstraintEntry;
struct ConstraintTable;
}  // namespace detail

/// Where a prescribed coordinate is at one time, how fast it moves and how that changes.
struct PrescribedMotion {
  double position = 0.0, velocity = 0.0, acceleration = 0.0;
};

/// φ(positions of the named coordinates, t) = 0, with `rows` equations.
struct TimedFunction {
  std::string name{};
  std::vector<Coordinate> coordinates{};
  int rows = 1;
  std::function<void(std::span<const double> q, double t, std::span<double> phi)> value{};
  std::function<void(std::span<const Jet> q, const Jet& t, std::span<Jet> phi)> jet{};
};

/// A skate or a blade: the frame's origin does not move along the frame's x axis.
struct KnifeEdge {
  std::string name{};
  std::string body{};
  Pose frame{};
};

/// A wheel or a ball that rolls without slipping on a plane.
struct Rolling {
  std::string name{};
  std::string body{};     ///< the wheel
  Vector3 center{};       ///< in the wheel's frame
  Vector3 axle{0, 1, 0};  ///< in the wheel's frame; not used by balls
  double radius = 0.0;
  bool ball = false;         ///< otherwise a disc with a thin rim
  std::string ground{};      ///< body of the plane; empty: the root
  Pose plane{};              ///< its z axis is the normal, in the frame of `ground`
  bool staysOnPlane = true;  ///< also holds the rim on the plane
};

/// A set of constraints for one model. Bodies, joints and coordinates are named as in the
/// mechanism.
///
/// Every constraint has a number (in the order of adding), a name and rows of its own; multipliers
/// and errors have one entry for each row of all constraints. Those that are switched off have
/// zeros there. Adding throws std::invalid_argument where a name or number makes no sense.
class Constraints {
 public:
  KEMPE_API explicit Constraints(const Model& model);
  KEMPE_API Constraints(const Constraints& other);
  KEMPE_API Constraints(Constraints&&) noexcept;
  KEMPE_API Constraints& operator=(const Constraints& other);
  KEMPE_API Constraints& operator=(Constraints&&) noexcept;
  KEMPE_API ~Constraints();

  /// Two frames connected by a joint: a hand that holds (Fixed), a foot that sticks (Spherical).
  KEMPE_API int add(const LoopJoint& joint);
  KEMPE_API int add(const Rod& rod);
  KEMPE_API int add(const Coupling& coupling);
  KEMPE_API int add(TimedFunction function);
  KEMPE_API int add(const KnifeEdge& edge);
  KEMPE_API int add(const Rolling& rolling);
  /// `phi` is called with (const auto& q, const auto& t, auto& phi), on doubles and on Jets.
  template <typename Phi>
  int addFunction(std::string_view name, std::vector<Coordinate> coordinates, int rows, Phi phi) {
    TimedFunction f;
    f.name = name;
    f.coordinates = std::move(coordinates);
    f.rows = rows;
    f.value = [phi](std::span<const double> q, double t, std::span<double> out) { phi(q, t, out); };
    f.jet = [phi](std::span<const Jet> q, const Jet& t, std::span<Jet> out) { phi(q, t, out); };
    return add(std::move(f));
  }
  /// A coordinate moves as `motion(t)` says; its multiplier is the force that it takes.
  KEMPE_API int prescribe(std::string_view name, const Coordinate& coordinate,
                          std::function<PrescribedMotion(double t)> motion);
  /// All freedoms of a joint stay where they are at q.
  KEMPE_API int lock(std::string_view name, std::string_view joint, VectorIn q);

  [[nodiscard]] KEMPE_API int count() const;
  /// Of all constraints, whether they are on or off.
  [[nodiscard]] KEMPE_API int rows() const;
  [[nodiscard]] KEMPE_API const std::string& name(int constraint) const;
  [[nodiscard]] KEMPE_API int firstRow(int constraint) const;
  [[nodiscard]] KEMPE_API int rows(int constraint) const;
  /// By name; −1 for none.
  [[nodiscard]] KEMPE_API int find(std::string_view name) const;

  [[nodiscard]] KEMPE_API bool enabled(int constraint) const;
  KEMPE_API void enable(int constraint, bool on = true);

  /// Baumgarte's stabilisation: errors φ decay as φ̈ + 2 rate φ̇ + rate² φ = 0, and errors of
  /// constraints on velocities as their rate does. 0, as at first: none.
  KEMPE_API void stabilize(double rate);
  [[nodiscard]] KEMPE_API double stabilization() const;

  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const detail::ConstraintTable& table() const { return *table_; }

 private:
  int append(detail::ConstraintEntry entry);
  [[nodiscard]] const detail::ConstraintEntry& entry(int constraint) const;

  Model model_;
  std::unique_ptr<detail::ConstraintTable> table_;
};

/// How constraints went together at one state.
struct ConstraintReport {
  int rows = 0;                ///< that are on
  int rank = 0;                ///< fewer where some imply others, here or for the moment
  double inconsistency = 0.0;  ///< largest acceleration error left where rows contradict others
};

/// forwardDynamics() with constraints: free accelerations by the recursion, multipliers λ of
/// (K H⁻¹ Kᵀ) λ = −φ̈_free by forces that go to the root through the articulated bodies, corrections
/// by the same factors (Jain, cut-joint method). H is neither formed nor inverted.
///
/// Rows that others imply are found by pivoting; λ is then the shortest of all that do the same.
/// Cost: linear in bodies, plus rows × depth + rows³. Allocates only where `data` has not seen as
/// many rows before.
/// @param v            velocities, model.nv(); should satisfy the constraints
/// @param a            output, model.nv(); may alias v or tau
/// @param multipliers  output, constraints.rows(): Kᵀ λ are the forces that hold the constraints
template <typename T>
KEMPE_API void constrainedForwardDynamics(const Model& model, BasicData<T>& data,
                                          const Constraints& constraints, double time,
                                          VectorInOf<T> q, VectorInOf<T> v, VectorInOf<T> tau,
                                          VectorOutOf<T> a, VectorOutOf<T> multipliers,
                                          const DynamicsOptions& how = {},
                                          ConstraintReport* report = nullptr);

/// What is violated: φ of each row (metres, radians; 0 for rows that speak of velocities only).
KEMPE_API void constraintErrors(const Model& model, Data& data, const Constraints& constraints,
                                double time, VectorIn q, VectorOut errors);
/// φ̇ of each row.
KEMPE_API void constraintVelocityErrors(const Model& model, Data& data,
                                        const Constraints& constraints, double time, VectorIn q,
                                        VectorIn v, VectorOut errors);
/// K of φ̇ = K v + ∂φ/∂t, constraints.rows() × model.nv().
KEMPE_API void constraintRows(const Model& model, Data& data, const Constraints& constraints,
                              double time, VectorIn q, MatrixOut K);

/// The nearest configuration, by Gauss-Newton steps that move as little inertia as can be, at
/// which the constraints hold; embedded loops stay closed. Throws AssemblyError.
KEMPE_API void projectPositions(const Model& model, Data& data, const Constraints& constraints,
                                double time, VectorIn q, VectorOut closed);
/// v + H⁻¹ Kᵀ Λ with φ̇ = 0: the velocity after the impulse Λ with which constraints catch.
/// @param impulses  output, constraints.rows(): Λ
KEMPE_API void projectVelocities(const Model& model, Data& data, const Constraints& constraints,
                                 double time, VectorIn q, VectorIn v, VectorOut projected,
                                 VectorOut impulses);

/// What a constraint between two bodies does to its second one (the successor, the blade, the
/// wheel), [force; moment] at its frame's origin (rolling: at the contact), axes of the world.
/// Throws std::invalid_argument for constraints on coordinates.
KEMPE_API std::array<double, 6> constraintWrench(const Model& model, Data& data,
                                                 const Constraints& constraints, int constraint,
                                                 double time, VectorIn q, VectorIn multipliers);

}  // namespace kempe
