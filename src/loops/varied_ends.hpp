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

/// A vector that moves with bodies, its rates, and the changes of all three.
template <typename T>
struct VariedVector {
  Vec3<T> x{}, rate{}, second{}, dx{}, dRate{}, dSecond{};

  KEMPE_HD friend VariedVector operator-(const VariedVector& a, const VariedVector& b) {
    return {a.x - b.x,   a.rate - b.rate,   a.second - b.second,
            a.dx - b.dx, a.dRate - b.dRate, a.dSecond - b.dSecond};
  }
};

/// δ(d/dt a·b)
template <typename T>
KEMPE_HD T rateChangeOfProduct(const VariedVector<T>& a, const VariedVector<T>& b) {
  return dot(Force<T>{a.dRate, a.rate}, Motion<T>{b.x, b.dx}) +
         dot(Force<T>{a.dx, a.x}, Motion<T>{b.rate, b.dRate});
}
/// δ(d²/dt² a·b)
template <typename T>
KEMPE_HD T secondRateChangeOfProduct(const VariedVector<T>& a, const VariedVector<T>& b) {
  return dot(Force<T>{a.dSecond, a.second}, Motion<T>{b.x, b.dx}) +
         T(2) * dot(Force<T>{a.dRate, a.rate}, Motion<T>{b.rate, b.dRate}) +
         dot(Force<T>{a.dx, a.x}, Motion<T>{b.second, b.dSecond});
}

/// Whether φ of a kind of rows is a constant and a multiple of the product of two vectors that move
/// with the ends.
template <typename Row>
inline constexpr bool kIsProduct = false;
template <typename T>
inline constexpr bool kIsProduct<JointRow<T>> = true;
template <typename T>
inline constexpr bool kIsProduct<RodRow<T>> = true;

/// The two ends of a row, and their changes by (1). The rows' ḟ is linear in the velocities of the
/// ends, and the change of f is what ḟ would be if the ends moved with the displacements.
template <typename T>
struct VariedEnds {
  EndMotion<T> A, B;
  Variation<T> byA, byB;
  EndMotion<T> dA, dB;  ///< changes of velocity and acceleration, at the placements of the ends

  KEMPE_HD VariedEnds(const EndMotion<T>& predecessor, const EndMotion<T>& successor,
                      const Variation<T>& ofA, const Variation<T>& ofB)
      : A(predecessor),
        B(successor),
        byA(ofA),
        byB(ofB),
        dA(changeOf(A, byA)),
        dB(changeOf(B, byB)) {}

  /// δf of a row.
  KEMPE_HD Force<T> wrenchChange(const auto& row) const {
    return row.wrenchRate(EndMotion<T>{A.X, byA.D, {}}, EndMotion<T>{B.X, byB.D, {}});
  }
  /// δφ̇ of a row, φ̇ = fᵀ v.
  template <typename Row>
  KEMPE_HD T rateChange(const Row& row) const {
    if constexpr (kIsProduct<Row>) {
      const Product product = productOf(row);
      return product.scale * rateChangeOfProduct(product.a, product.b);
    } else {
      return dot(wrenchChange(row), B.v - A.v) + dot(row.wrench(), dB.v - dA.v);
    }
  }

  /// Calls visit(r, δφ̈) for those of `count` rows that are wanted(r), φ̈ = fᵀ a + ḟᵀ v. Of rows that
  /// are not products, the second derivative of f comes from dual numbers.
  template <typename R, typename Wanted, typename Visit>
  KEMPE_HD void forAccelerationChanges(const RowForm<R>& form, int count, const Wanted& wanted,
                                       const Visit& visit) const {
    T changes[kMostRows] = {};
    bool areProducts = true;
    forBodyRows(form, count, A.X, B.X, [&]<typename Row>(int r, const Row& row) {
      areProducts = kIsProduct<Row>;
      if (!wanted(r)) {
        return;
      }
      if constexpr (kIsProduct<Row>) {
        const Product product = productOf(row);
        visit(r, product.scale * secondRateChangeOfProduct(product.a, product.b));
      } else {
        changes[r] = dot(wrenchChange(row), B.a - A.a) + dot(row.wrench(), dB.a - dA.a) +
                     dot(row.wrenchRate(dA, dB), B.v - A.v) +
                     dot(row.wrenchRate(A, B), dB.v - dA.v);
      }
    });
    if (areProducts) {
      return;
    }
    const EndMotion<Dual<T>> movedA = displaced(A, byA.D), movedB = displaced(B, byB.D);
    forBodyRows(form, count, movedA.X, movedB.X, [&]<typename Row>(int r, const Row& row) {
      if constexpr (!kIsProduct<Row>) {
        if (wanted(r)) {
          visit(r, changes[r] + dot(slopeOf(row.wrenchRate(movedA, movedB)), B.v - A.v));
        }
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
  struct Product {
    T scale;
    VariedVector<T> a, b;
  };
  KEMPE_HD Product productOf(const JointRow<T>& row) const {
    return {T(1), axisOf(A, byA, dA, row.rule.axisA),
            row.turns() ? axisOf(B, byB, dB, row.rule.axisB) : distance()};
  }
  KEMPE_HD Product productOf(const RodRow<T>& row) const {
    const VariedVector<T> d = distance();
    return {T(0.5) / row.length, d, d};
  }
  /// From the origin of A to that of B.
  KEMPE_HD VariedVector<T> distance() const { return originOf(B, byB, dB) - originOf(A, byA, dA); }

  KEMPE_HD static VariedVector<T> axisOf(const EndMotion<T>& end, const Variation<T>& by,
                                         const EndMotion<T>& change, int axis) {
    return moving<false>(end, by, change, end.X.R.column(axis));
  }
  KEMPE_HD static VariedVector<T> originOf(const EndMotion<T>& end, const Variation<T>& by,
                                           const EndMotion<T>& change) {
    return moving<true>(end, by, change, end.X.p);
  }
  /// A point of a body, or a direction in it, which only turns:
  /// ẋ = u + ω × x and ẍ = w + α × x + ω × ẋ of v = [ω; u] and a = [α; w].
  template <bool kIsPoint>
  KEMPE_HD static VariedVector<T> moving(const EndMotion<T>& end, const Variation<T>& by,
                                         const EndMotion<T>& change, const Vec3<T>& x) {
    const Vec3<T>&w = end.v.angular, &alpha = end.a.angular;
    const Vec3<T>&dw = change.v.angular, &dAlpha = change.a.angular;
    VariedVector<T> m;
    m.x = x;
    m.rate = cross(w, x);
    m.dx = cross(by.D.angular, x);
    if constexpr (kIsPoint) {
      m.rate += end.v.linear;
      m.dx += by.D.linear;
    }
    m.second = cross(alpha, x) + cross(w, m.rate);
    m.dRate = cross(dw, x) + cross(w, m.dx);
    if constexpr (kIsPoint) {
      m.second += end.a.linear;
      m.dRate += change.v.linear;
    }
    m.dSecond = cross(dAlpha, x) + cross(alpha, m.dx) + cross(dw, m.rate) + cross(w, m.dRate);
    if constexpr (kIsPoint) {
      m.dSecond += change.a.linear;
    }
    return m;
  }
};

}  // namespace kempe::detail
