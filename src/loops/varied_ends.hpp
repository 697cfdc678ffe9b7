#pragma once

#include "loops/body_rows.hpp"
#include "spatial/dual.hpp"

/// How rows between two bodies answer to small changes of the placements and motions of these
/// bodies: in clusters (loop_derivatives.hpp) and as constraints (constraints/row_derivatives.hpp).
namespace kempe::detail {

/// How a body's placement and motion change along a DoF: it is displaced by the twist D, and its
/// velocity and acceleration change, beyond turning with it, by P and Q − v × P:
///
///   δv = P + D × v,   δa = Q − v × P + D × a                               (1)
///
/// P and Q are the same for all bodies that move as one with this DoF.
template <typename T>
struct Variation {
  Motion<T> D{}, P{}, Q{};
};

/// The two ends of a row, and their changes by (1). The rows' ḟ is linear in the velocities of the
/// ends, and the change of f is what ḟ would be if the ends moved with the displacements.
template <typename T>
struct VariedEnds {
  EndMotion<T> A, B;
  Variation<T> byA, byB;
  EndMotion<T> dA, dB;  ///< changes of velocity and acceleration, at the placements of the ends
  Motion<T> v, dv;      ///< of B relative to A, and its change
  Motion<T> a, da;

  KEMPE_HD VariedEnds(const EndMotion<T>& predecessor, const EndMotion<T>& successor,
                      const Variation<T>& ofA, const Variation<T>& ofB)
      : A(predecessor),
        B(successor),
        byA(ofA),
        byB(ofB),
        dA(changeOf(A, byA)),
        dB(changeOf(B, byB)),
        v(B.v - A.v),
        dv(dB.v - dA.v),
        a(B.a - A.a),
        da(dB.a - dA.a) {}

  /// δf of a row.
  KEMPE_HD Force<T> wrenchChange(const auto& row) const {
    return row.wrenchRate(EndMotion<T>{A.X, byA.D, {}}, EndMotion<T>{B.X, byB.D, {}});
  }
  /// δφ̇ of a row, φ̇ = fᵀ v.
  KEMPE_HD T rateChange(const auto& row) const {
    return dot(wrenchChange(row), v) + dot(row.wrench(), dv);
  }

  /// Calls visit(r, δφ̈) for those of `count` rows that are wanted(r), φ̈ = fᵀ a + ḟᵀ v. The second
  /// derivative of f comes from dual numbers; f does not change where the ends are not displaced.
  template <bool kDisplaced = true, typename R, typename Wanted, typename Visit>
  KEMPE_HD void forAccelerationChanges(const RowForm<R>& form, int count, const Wanted& wanted,
                                       const Visit& visit) const {
    if constexpr (!kDisplaced) {
      forBodyRows(form, count, A.X, B.X, [&](int r, const auto& row) {
        if (wanted(r)) {
          visit(r, dot(row.wrench(), da) + dot(row.wrenchRate(dA, dB), v) +
                       dot(row.wrenchRate(A, B), dv));
        }
      });
      return;
    }
    T changes[kMostRows] = {};
    forBodyRows(form, count, A.X, B.X, [&](int r, const auto& row) {
      if (wanted(r)) {
        changes[r] = dot(wrenchChange(row), a) + dot(row.wrench(), da) +
                     dot(row.wrenchRate(dA, dB), v) + dot(row.wrenchRate(A, B), dv);
      }
    });
    const EndMotion<Dual<T>> movedA = displaced(A, byA.D), movedB = displaced(B, byB.D);
    forBodyRows(form, count, movedA.X, movedB.X, [&](int r, const auto& row) {
      if (wanted(r)) {
        visit(r, changes[r] + dot(slopeOf(row.wrenchRate(movedA, movedB)), v));
      }
    });
  }

 private:
  static constexpr int kMostRows = 6;  ///< between two bodies

  KEMPE_HD static EndMotion<T> changeOf(const EndMotion<T>& end, const Variation<T>& by) {
    return {end.X, by.P + cross(by.D, end.v), by.Q - cross(end.v, by.P) + cross(by.D, end.a)};
  }
  KEMPE_HD static EndMotion<Dual<T>> displaced(const EndMotion<T>& end, const Motion<T>& by) {
    return {dual(end.X, by), dual(end.v, Motion<T>{}), {}};
  }
};

}  // namespace kempe::detail
