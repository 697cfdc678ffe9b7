#pragma once

#include "loops/cluster_velocity.hpp"
#include "loops/varied_ends.hpp"

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
        const VariedEnds<T> ends = endsOf(loop, variationOf);
        forBodyRows(loop.form, loop.rows, ends.A.X, ends.B.X, [&](int r, const auto& row) {
          if (slots[r] >= 0) {
            result(slots[r]) = -ends.rateChange(row);
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
        const VariedEnds<T> ends = endsOf(loop, variationOf);
        ends.forAccelerationChanges(
            loop.form, loop.rows, [&](int r) { return slots[r] >= 0; },
            [&](int r, const T& change) { result(slots[r]) = -change; });
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
        const VariedEnds<T> ends = endsOf(loop, variationOf);
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
  KEMPE_HD VariedEnds<T> endsOf(const auto& loop, const VariationOf& variationOf) const {
    return {endMotion(loop.form, loop.predecessor, motion), endMotion(loop.form, loop.successor, motion),
            variationAt(loop.predecessor, variationOf), variationAt(loop.successor, variationOf)};
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
