#pragma once

#include "loops/cluster_velocity.hpp"
#include "spatial/dual.hpp"

/// How the loops of an implicit cluster answer to small changes, along one of its DoFs j at a time.
///
/// The rows of an unchanged mechanism are φ̇ = 0 and φ̈ = 0. They stay so when y_j or ẏ_j changes,
/// and that determines the changes of the dependent velocities and accelerations: with
/// ξ = G e_j,
///
///   K W_j = −∂φ̇/∂q ξ                       W_j = ∂(G ẏ)/∂y_j               (1)
///   K Z_j = −∂φ̈/∂q ξ − ∂φ̈/∂q̇ W_j          Z_j = ∂(G ÿ + g)/∂y_j           (2)
///   K Y_j = −∂φ̈/∂q̇ ξ                       Y_j = ∂g/∂ẏ_j                   (3)
///
/// The right-hand sides come from the rows, whose ends are displaced and change their motion as the
/// Variation of their bodies says; the second derivative of a row's wrench from dual numbers.
namespace kempe::detail {

/// How a body's placement and motion change along a DoF: it is displaced by the twist D, and its
/// velocity and acceleration change, beyond turning with it, by P and Q − v × P:
///
///   δv = P + D × v,   δa = Q − v × P + D × a                               (4)
///
/// P and Q are the same for all bodies that move as one with this DoF.
template <typename T>
struct Variation {
  Motion<T> D{}, P{}, Q{};
};

/// The rows of one cluster, changed along DoF j. `variationOf(body)` gives the Variation of a body
/// of the cluster; `position(i)` and `rate(i)` the changes of spanning coordinate i and its rate.
template <typename T>
struct LoopVariation {
  const TablesOf<T>& tables;
  const ClusterEntry& cluster;
  const ClusterState<T>& motion;  ///< with actual accelerations
  T* registers;                   ///< of programs
  T* functions;                   ///< results of FunctionPrograms::secondOrder

  /// Runs the programs of functions.
  KEMPE_HD void prepare() const {
    forLoops([&](const auto& loop, const int*) {
      if (!loop.form.betweenBodies()) {
        alongCoordinates(loop, [&](const auto& rows) {
          rows.prepareSecondOrder(registers, functions + loop.programs.firstSecondOrder);
        });
      }
    });
  }

  /// −δφ̇ of the kept rows where rates stay as they are, to `result(slot)`.
  template <typename VariationOf, typename Position, typename Result>
  KEMPE_HD void rateChanges(const VariationOf& variationOf, const Position& position,
                            const Result& result) const {
    forLoops([&](const auto& loop, const int* slots) {
      if (loop.form.betweenBodies()) {
        const VariedEnds ends(loop, motion, variationOf);
        const Motion<T> v = ends.B.v - ends.A.v, dv = ends.dB.v - ends.dA.v;
        forBodyRows(loop.form, loop.rows, ends.A.X, ends.B.X, [&](int r, const auto& row) {
          if (slots[r] >= 0) {
            result(slots[r]) = -(dot(ends.wrenchChange(row), v) + dot(row.wrench(), dv));
          }
        });
      } else {
        withSecondOrder(loop, [&](const SecondOrder<T>& rows) {
          forKept(loop, slots, [&](int r, int slot) {
            result(slot) = -rows.rateChange(r, changeOfTerm(loop, position));
          });
        });
      }
    });
  }

  /// −δφ̈ of the kept rows where accelerations change by the variations only.
  template <typename VariationOf, typename Position, typename Rate, typename Result>
  KEMPE_HD void accelerationChanges(const VariationOf& variationOf, const Position& position,
                                    const Rate& rate, const Result& result) const {
    forLoops([&](const auto& loop, const int* slots) {
      if (loop.form.betweenBodies()) {
        const VariedEnds ends(loop, motion, variationOf);
        const Motion<T> v = ends.B.v - ends.A.v, dv = ends.dB.v - ends.dA.v;
        const Motion<T> a = ends.B.a - ends.A.a, da = ends.dB.a - ends.dA.a;
        forBodyRows(loop.form, loop.rows, ends.A.X, ends.B.X, [&](int r, const auto& row) {
          if (slots[r] >= 0) {
            result(slots[r]) = -(dot(ends.wrenchChange(row), a) + dot(row.wrench(), da) +
                                 dot(row.wrenchRate(ends.dA, ends.dB), v) +
                                 dot(row.wrenchRate(ends.A, ends.B), dv));
          }
        });
        const EndMotion<Dual<T>> A = ends.displaced(ends.A, ends.byA.D);
        const EndMotion<Dual<T>> B = ends.displaced(ends.B, ends.byB.D);
        forBodyRows(loop.form, loop.rows, A.X, B.X, [&](int r, const auto& row) {
          if (slots[r] >= 0) {
            result(slots[r]) -= dot(slopeOf(row.wrenchRate(A, B)), v);
          }
        });
      } else {
        withSecondOrder(loop, [&](const SecondOrder<T>& rows) {
          forKept(loop, slots, [&](int r, int slot) {
            result(slot) =
                -rows.secondRateChange(r, changeOfTerm(loop, position), changeOfTerm(loop, rate));
          });
        });
      }
    });
  }

  /// The change of the forces Kᵀ μ where the multipliers μ of the kept rows stay as they are:
  /// wrench(body, f, δf) of loops between bodies, on the successor's body and the opposite on the
  /// predecessor's (−1: the output body), and coordinate(i, δ) of functions.
  template <typename VariationOf, typename Position, typename Wrench, typename Coordinate>
  KEMPE_HD void forceChanges(const T* multipliers, const VariationOf& variationOf,
                             const Position& position, const Wrench& wrench,
                             const Coordinate& coordinate) const {
    forLoops([&](const auto& loop, const int* slots) {
      if (loop.form.betweenBodies()) {
        const VariedEnds ends(loop, motion, variationOf);
        Force<T> sum{}, change{};
        forBodyRows(loop.form, loop.rows, ends.A.X, ends.B.X, [&](int r, const auto& row) {
          if (slots[r] >= 0) {
            sum += multipliers[slots[r]] * row.wrench();
            change += multipliers[slots[r]] * ends.wrenchChange(row);
          }
        });
        wrench(loop.successor.body, sum, change);
        wrench(loop.predecessor.body, -sum, -change);
      } else if (!isLinear(loop.form.kind)) {
        const auto* terms = tables.terms + loop.firstTerm;
        withSecondOrder(loop, [&](const SecondOrder<T>& rows) {
          forKept(loop, slots, [&](int r, int slot) {
            for (int t = 0; t < loop.terms; ++t) {
              coordinate(terms[t].velocity,
                         multipliers[slot] * rows.slopeChange(r, t, changeOfTerm(loop, position)));
            }
          });
        });
      }
    });
  }

 private:
  /// The two ends of a loop, and their changes by (4). The rows' ḟ is linear in the velocities of the
  /// ends, and the change of f is what ḟ would be if the ends moved with the displacements.
  struct VariedEnds {
    EndMotion<T> A, B;
    Variation<T> byA, byB;
    EndMotion<T> dA, dB;  ///< changes of velocity and acceleration, at the placements of the ends

    template <typename VariationOf>
    KEMPE_HD VariedEnds(const auto& loop, const ClusterState<T>& motion,
                        const VariationOf& variationOf)
        : A(endMotion(loop.form, loop.predecessor, motion)),
          B(endMotion(loop.form, loop.successor, motion)),
          byA(variationAt(loop.predecessor, variationOf)),
          byB(variationAt(loop.successor, variationOf)),
          dA(changeOf(A, byA)),
          dB(changeOf(B, byB)) {}

    KEMPE_HD static EndMotion<T> changeOf(const EndMotion<T>& end, const Variation<T>& by) {
      return {end.X, by.P + cross(by.D, end.v), by.Q - cross(end.v, by.P) + cross(by.D, end.a)};
    }
    KEMPE_HD Force<T> wrenchChange(const auto& row) const {
      return row.wrenchRate(EndMotion<T>{A.X, byA.D, {}}, EndMotion<T>{B.X, byB.D, {}});
    }
    KEMPE_HD static EndMotion<Dual<T>> displaced(const EndMotion<T>& end, const Motion<T>& by) {
      return {dual(end.X, by), dual(end.v, Motion<T>{}), {}};
    }
  };

  template <typename Visit>
  KEMPE_HD void forLoops(const Visit& visit) const {
    for (int l = 0; l < cluster.loops; ++l) {
      const auto& loop = tables.loops[cluster.firstLoop + l];
      visit(loop, tables.rowSlots + cluster.firstRow + loop.firstRow);
    }
  }
  template <typename Visit>
  KEMPE_HD static void forKept(const auto& loop, const int* slots, const Visit& visit) {
    for (int r = 0; r < loop.rows; ++r) {
      if (slots[r] >= 0) {
        visit(r, slots[r]);
      }
    }
  }
  template <typename VariationOf>
  KEMPE_HD static Variation<T> variationAt(const auto& end, const VariationOf& variationOf) {
    return end.body < 0 ? Variation<T>{} : variationOf(end.body);
  }
  template <typename Visit>
  KEMPE_HD void alongCoordinates(const auto& loop, const Visit& visit) const {
    withLoopRows(tables, FunctionCalls(), loop, motion, FunctionScratch{}, visit);
  }
  /// Calls visit(second derivatives) of a loop along coordinates.
  template <typename Visit>
  KEMPE_HD void withSecondOrder(const auto& loop, const Visit& visit) const {
    alongCoordinates(loop, [&](const auto& rows) {
      visit(rows.secondOrder(functions + loop.programs.firstSecondOrder));
    });
  }
  /// The change of the coordinate of term t, from those of spanning coordinates.
  template <typename Change>
  KEMPE_HD auto changeOfTerm(const auto& loop, const Change& change) const {
    return [terms = tables.terms + loop.firstTerm, &change](int t) {
      return change(terms[t].velocity);
    };
  }
};

}  // namespace kempe::detail
