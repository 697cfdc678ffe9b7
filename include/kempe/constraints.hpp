#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

/// Constraints added to a compiled model and enforced by Lagrange multipliers: constraints that are
/// switched on and off during a simulation, depend on time, or are nonholonomic (act on velocities
/// only).
namespace kempe {

namespace detail {
struct ConstraintEntry;
struct ConstraintTable;
}  // namespace detail

/// Position, velocity and acceleration of a prescribed coordinate at one time.
struct PrescribedMotion {
  double position = 0.0, velocity = 0.0, acceleration = 0.0;
};

/// A time-dependent constraint φ(positions of the named coordinates, t) = 0 with `rows` equations.
/// As for Function, `symbolic` is traced into an expression where possible.
struct TimedFunction {
  std::string name{};
  std::vector<Coordinate> coordinates{};
  int rows = 1;
  Expression expression{};  ///< of the coordinates and then t; used instead of the callbacks
  std::function<void(std::span<const Symbol> q, const Symbol& t, std::span<Symbol> phi)> symbolic{};
  std::function<void(std::span<const double> q, double t, std::span<double> phi)> value{};
  std::function<void(std::span<const Jet> q, const Jet& t, std::span<Jet> phi)> jet{};

  /// As Function::traced().
  [[nodiscard]] KEMPE_API Expression traced() const;
};

/// A skate or a blade: the frame's origin cannot move along the frame's x axis.
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
  Vector3 axle{0, 1, 0};  ///< in the wheel's frame; ignored for balls
  double radius = 0.0;
  bool ball = false;         ///< true: a ball; false: a disc with a thin rim
  std::string ground{};      ///< body that carries the plane; empty: the root
  Pose plane{};              ///< in the frame of `ground`; its z axis is the plane's normal
  bool staysOnPlane = true;  ///< also keep the rim on the plane
};

/// A set of constraints for one model. Bodies, joints and coordinates are named as in the
/// mechanism.
///
/// Every constraint has an index (in the order of adding), a name and its own rows. Vectors of
/// multipliers and errors have one entry per row of all constraints; the entries of constraints
/// that are switched off are zero. The functions that add a constraint return its index and throw
/// std::invalid_argument if a name is unknown or a number is invalid.
class Constraints {
 public:
  KEMPE_API explicit Constraints(const Model& model);
  KEMPE_API Constraints(const Constraints& other);
  KEMPE_API Constraints(Constraints&&) noexcept;
  KEMPE_API Constraints& operator=(const Constraints& other);
  KEMPE_API Constraints& operator=(Constraints&&) noexcept;
  KEMPE_API ~Constraints();

  /// Connects two frames by a joint, e.g. a grasping hand (Fixed) or a sticking foot (Spherical).
  KEMPE_API int add(const LoopJoint& joint);
  KEMPE_API int add(const Rod& rod);
  KEMPE_API int add(const Coupling& coupling);
  KEMPE_API int add(TimedFunction function);
  KEMPE_API int add(const KnifeEdge& edge);
  KEMPE_API int add(const Rolling& rolling);
  /// `phi` is called with (const auto& q, const auto& t, auto& phi), on Symbols, doubles and Jets.
  template <typename Phi>
  int addFunction(std::string_view name, std::vector<Coordinate> coordinates, int rows, Phi phi) {
    TimedFunction f;
    f.name = name;
    f.coordinates = std::move(coordinates);
    f.rows = rows;
    if constexpr (std::invocable<const Phi&, std::span<const Symbol>&, const Symbol&,
                                 std::span<Symbol>&>) {
      f.symbolic = [phi](std::span<const Symbol> q, const Symbol& t, std::span<Symbol> out) {
        phi(q, t, out);
      };
    }
    f.value = [phi](std::span<const double> q, double t, std::span<double> out) { phi(q, t, out); };
    f.jet = [phi](std::span<const Jet> q, const Jet& t, std::span<Jet> out) { phi(q, t, out); };
    return add(std::move(f));
  }
  /// Prescribes the motion of a coordinate; the multiplier is the force required for it.
  KEMPE_API int prescribe(std::string_view name, const Coordinate& coordinate,
                          std::function<PrescribedMotion(double t)> motion);
  /// Locks all degrees of freedom (DoFs) of a joint at their positions in q.
  KEMPE_API int lock(std::string_view name, std::string_view joint, VectorIn q);

  [[nodiscard]] KEMPE_API int count() const;
  /// Number of rows of all constraints, switched on or off.
  [[nodiscard]] KEMPE_API int rows() const;
  [[nodiscard]] KEMPE_API const std::string& name(int constraint) const;
  [[nodiscard]] KEMPE_API int firstRow(int constraint) const;
  [[nodiscard]] KEMPE_API int rows(int constraint) const;
  /// Returns the index of the constraint with this name, −1 if there is none.
  [[nodiscard]] KEMPE_API int find(std::string_view name) const;

  [[nodiscard]] KEMPE_API bool enabled(int constraint) const;
  KEMPE_API void enable(int constraint, bool on = true);

  /// Sets the rate of Baumgarte stabilisation, in 1/s: position errors φ decay according to
  /// φ̈ + 2 rate φ̇ + rate² φ = 0, errors of velocity constraints exponentially with this rate. The
  /// default 0 turns it off.
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

/// Number and rank of the constraint rows at one state.
struct ConstraintReport {
  int rows = 0;                ///< rows of the constraints that are switched on
  int rank = 0;                ///< less than `rows` if some rows are redundant at this state
  double inconsistency = 0.0;  ///< largest remaining acceleration error, if rows are contradictory
};

/// forwardDynamics() with constraints. The recursion gives the unconstrained accelerations. The
/// multipliers λ solve (K H⁻¹ Kᵀ) λ = −φ̈_free, where K H⁻¹ Kᵀ comes from propagating constraint
/// forces to the root through the articulated bodies. The correction of the accelerations reuses
/// the same factors (Jain, cut-joint method). The mass matrix H is neither formed nor inverted.
///
/// Pivoting detects redundant rows; λ is then the solution of least norm. Cost: linear in bodies,
/// plus rows × depth + rows³. Allocates memory only if `data` has not been used with as many rows
/// before.
/// @param v            velocities, model.nv(); should satisfy the constraints
/// @param a            output, model.nv(); may alias v or tau
/// @param multipliers  output λ, constraints.rows(); Kᵀ λ are the generalised constraint forces
template <typename T>
KEMPE_API void constrainedForwardDynamics(const Model& model, BasicData<T>& data,
                                          const Constraints& constraints, double time,
                                          VectorInOf<T> q, VectorInOf<T> v, VectorInOf<T> tau,
                                          VectorOutOf<T> a, VectorOutOf<T> multipliers,
                                          const DynamicsOptions& how = {},
                                          ConstraintReport* report = nullptr);

/// Computes the constraint errors φ of all rows (metres or radians; 0 for rows that constrain
/// velocities only).
KEMPE_API void constraintErrors(const Model& model, Data& data, const Constraints& constraints,
                                double time, VectorIn q, VectorOut errors);
/// Computes the velocity errors φ̇ of all rows.
KEMPE_API void constraintVelocityErrors(const Model& model, Data& data,
                                        const Constraints& constraints, double time, VectorIn q,
                                        VectorIn v, VectorOut errors);
/// Computes the constraint Jacobian K of φ̇ = K v + ∂φ/∂t, constraints.rows() × model.nv().
KEMPE_API void constraintRows(const Model& model, Data& data, const Constraints& constraints,
                              double time, VectorIn q, MatrixOut K);

/// Computes the nearest configuration that satisfies the constraints, by Gauss-Newton steps that
/// are minimal in the norm of the mass matrix; embedded loops stay closed. Throws AssemblyError if
/// it finds none.
KEMPE_API void projectPositions(const Model& model, Data& data, const Constraints& constraints,
                                double time, VectorIn q, VectorOut closed);
/// Computes v + H⁻¹ Kᵀ Λ such that φ̇ = 0: the velocity after the impulse Λ that occurs when the
/// constraints are switched on.
/// @param impulses  output Λ, constraints.rows()
KEMPE_API void projectVelocities(const Model& model, Data& data, const Constraints& constraints,
                                 double time, VectorIn q, VectorIn v, VectorOut projected,
                                 VectorOut impulses);

/// Returns the wrench [force; moment] that a constraint between two bodies exerts on the second one
/// (the successor, the blade, the wheel), in world axes at the origin of that body's frame of the
/// constraint (rolling: at the contact point). Throws std::invalid_argument for constraints on
/// coordinates.
KEMPE_API std::array<double, 6> constraintWrench(const Model& model, Data& data,
                                                 const Constraints& constraints, int constraint,
                                                 double time, VectorIn q, VectorIn multipliers);

}  // namespace kempe
