#pragma once

#include "constraints/table.hpp"
#include "loops/body_rows.hpp"
#include "loops/coordinate_rows.hpp"
#include "spatial/scalar_lanes.hpp"
#include "tables/kernel_arguments.hpp"
#include "tables/workspace.hpp"

/// φ, φ̇, K and the bias of constraints in the common frame, on bodies that have been placed and
/// moved with ÿ = 0. A row is a wrench f between two bodies (see loops/joint_rows.hpp) or slopes along
/// coordinates:
///
///   φ̇ = fᵀ (v_B − v_A)              φ̈ = K ÿ + β,  β = fᵀ (a°_B − a°_A) + ḟᵀ (v_B − v_A)     (1)
///   φ̇ = Σ slope q̇ + ∂φ/∂t          φ̈ = K ÿ + β,  β = Σ slope g + (φ̈ where q̈ = 0)            (2)
///
/// The `motion` that rows are evaluated at has the functions
///   end(ConstraintEnd)      placement, velocity and acceleration a° of an end
///   position(i)             spanning position i, of a coordinate that a row acts on
///   rate(entry, t)          q̇ of term t of an entry
///   acceleration(entry, t)  its q̈ where ÿ = 0
namespace kempe::detail {

/// One row at one state.
template <typename T>
struct ConstraintRow {
  Force<T> wrench{};  ///< on the successor's body, its opposite on the predecessor's
  T value{};          ///< φ
  T rate{};           ///< φ̇
  T bias{};           ///< φ̈ where ÿ = 0
};

/// Functions that users gave. They are compiled once, not for each instruction set.
///
/// The motion of a prescribed coordinate.
PrescribedMotion motionAt(const ConstraintEntry& entry, double time);
/// How far the positions of a locked joint are from where it was locked: rows numbers.
void lockErrors(const ConstraintEntry& entry, const double* positions, double* errors);

/// The motion that moveBodies leaves of all bodies.
template <typename T>
struct StoredMotion {
  const WorkView<T>& work;

  [[nodiscard]] EndMotion<T> end(const ConstraintEnd& end) const {
    return {placed(work.X[end.body], end.frame), work.v[end.body], work.a[end.body]};
  }
  [[nodiscard]] T position(int i) const { return work.positions[i]; }
  [[nodiscard]] T rate(const ConstraintEntry& entry, int t) const {
    return work.rates[entry.terms[t].velocity];
  }
  [[nodiscard]] T acceleration(const ConstraintEntry& entry, int t) const {
    return work.accelerations[entry.terms[t].velocity];
  }
};

/// Rows of a constraint between two bodies.
template <typename T, typename MotionAt>
void bodyRows(const ConstraintEntry& entry, const MotionAt& motion, ConstraintRow<T>* rows) {
  const EndMotion<T> A = motion.end(entry.predecessor), B = motion.end(entry.successor);
  const Motion<T> v = B.v - A.v, a = B.a - A.a;
  forBodyRows(entry.form, entry.rows, A.X, B.X, [&](int r, const auto& row) {
    const Force<T> f = row.wrench();
    rows[r] = {f, row.value(), dot(f, v), dot(f, a) + dot(row.wrenchRate(A, B), v)};  // (1)
  });
}

/// The coordinates of a constraint at a motion, see loops/coordinate_rows.hpp.
template <typename T, typename MotionAt>
struct ConstraintPoint {
  const ConstraintEntry& entry;
  const MotionAt& motion;
  double time;

  [[nodiscard]] T position(int t) const {
    return isTime(t) ? T(time) : motion.position(entry.terms[t].position);
  }
  [[nodiscard]] T rate(int t) const { return isTime(t) ? T(1) : motion.rate(entry, t); }
  [[nodiscard]] T acceleration(int t) const {
    return isTime(t) ? T(0) : motion.acceleration(entry, t);
  }
  [[nodiscard]] const Function& function() const { return entry.function; }

 private:
  [[nodiscard]] bool isTime(int t) const { return t == static_cast<int>(entry.terms.size()); }
};

/// A coordinate follows a function of time.
template <typename T, typename Point>
struct PrescribedRows : LinearRows<T> {
  PrescribedMotion wanted;
  const Point& x;

  [[nodiscard]] int arguments() const { return 2; }  // the coordinate and time
  template <typename Visit>
  void values(const Visit& visit) const {
    visit(0, x.position(0) - T(wanted.position));
  }
  template <typename Visit>
  void slopes(const Visit& visit) const {
    visit(0, [this](int t) { return t == 0 ? T(1) : T(-wanted.velocity); });
  }
  template <typename Visit>
  void secondRates(const Visit& visit) const {
    visit(0, T(-wanted.acceleration));
  }
};

/// All coordinates of a joint stay where they were. Their rates are velocities of the joint, which
/// need not be the rates of its positions.
template <typename T, typename Point>
struct LockRows : LinearRows<T> {
  const Point& x;

  [[nodiscard]] int arguments() const { return x.entry.rows; }
  template <typename Visit>
  void values(const Visit& visit) const {
    const ConstraintEntry& entry = x.entry;
    T values[6]{};
    for (int lane = 0; lane < Lanes<T>::count; ++lane) {
      double at[7]{}, errors[6]{};
      for (int i = 0; i < static_cast<int>(entry.reference.size()); ++i) {
        const T position = x.motion.position(entry.terms[0].position + i);
        at[i] = static_cast<double>(Lanes<T>::get(position, lane));
      }
      lockErrors(entry, at, errors);
      for (int r = 0; r < entry.rows; ++r) {
        Lanes<T>::set(values[r], lane, static_cast<typename Lanes<T>::Scalar>(errors[r]));
      }
    }
    for (int r = 0; r < entry.rows; ++r) {
      visit(r, values[r]);
    }
  }
  template <typename Visit>
  void slopes(const Visit& visit) const {
    for (int r = 0; r < x.entry.rows; ++r) {
      visit(r, [r](int t) { return T(r == t ? 1 : 0); });
    }
  }
  template <typename Visit>
  void secondRates(const Visit& visit) const {
    for (int r = 0; r < x.entry.rows; ++r) {
      visit(r, T(0));
    }
  }
};

/// A coordinate keeps the velocity zero.
template <typename T>
struct HeldRows : LinearRows<T> {
  [[nodiscard]] int arguments() const { return 1; }
  template <typename Visit>
  void values(const Visit& visit) const {
    visit(0, T(0));
  }
  template <typename Visit>
  void slopes(const Visit& visit) const {
    visit(0, [](int) { return T(1); });
  }
  template <typename Visit>
  void secondRates(const Visit& visit) const {
    visit(0, T(0));
  }
};

/// Calls visit(rows) with the kind of rows of a constraint along coordinates.
template <typename T, typename MotionAt, typename Visit>
void withConstraintRows(const ConstraintPoint<T, MotionAt>& x, const FunctionWork<T>& work,
                        const Visit& visit) {
  using Point = ConstraintPoint<T, MotionAt>;
  switch (x.entry.form.kind) {
    case RowKind::Prescribed:
      visit(PrescribedRows<T, Point>{{}, motionAt(x.entry, x.time), x});
      break;
    case RowKind::Lock:
      visit(LockRows<T, Point>{{}, x});
      break;
    case RowKind::Held:
      visit(HeldRows<T>{});
      break;
    default:
      withCoordinateRows(x.entry.compiled(), x, work, visit);
      break;
  }
}

/// Rows of a constraint along coordinates; `slopes` is rows × terms, `registers` those of its
/// programs.
template <typename T, typename MotionAt>
void coordinateRows(const ConstraintEntry& entry, const MotionAt& motion, double time,
                    const FunctionScratch& scratch, T* registers, ConstraintRow<T>* results,
                    T* slopes) {
  const int terms = static_cast<int>(entry.terms.size());
  const ConstraintPoint<T, MotionAt> x{entry, motion, time};
  withConstraintRows(x, FunctionWork<T>{registers, registers, scratch}, [&](const auto& rows) {
    rows.values([&](int r, const T& value) { results[r] = {{}, value, T(0), T(0)}; });
    rows.slopes([&](int r, const auto& slopeAlong) {  // (2)
      for (int t = 0; t < rows.arguments(); ++t) {
        const T slope = slopeAlong(t);
        results[r].rate += slope * x.rate(t);
        results[r].bias += slope * x.acceleration(t);
        if (t < terms) {
          slopes[r * terms + t] = slope;
        }
      }
    });
    rows.secondRates([&](int r, const T& secondRate) { results[r].bias += secondRate; });
  });
}

/// Whether the rows of a constraint have a φ (holonomic), or constrain velocities only.
inline bool isHolonomic(const ConstraintEntry& entry, int row) {
  return entry.form.kind != RowKind::KnifeEdge && entry.form.kind != RowKind::Held &&
         !(entry.form.kind == RowKind::Rolling && row < 2);
}

}  // namespace kempe::detail
