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
/// Where all joints have one coordinate each, q̇ are the rates of the coordinates q: then
/// φ̈ = K q̈ + ∂²φ/∂q² [q̇, q̇], so that ∂φ̈/∂q̇ ξ = 2 ∂φ̇/∂q ξ and
///
///   Y_j = 2 W_j                                                             (4)
///
/// The right-hand sides come from the rows, whose ends are displaced and change their motion as the
/// Variation of their bodies says.
namespace kempe::detail {

/// The rows of one cluster, changed along each DoF j. `variationOf(body, j)` gives the Variation of a
/// body of the cluster; `position(i, j)` and `rate(i, j)` the changes of spanning coordinate i and its
/// rate.
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

  /// −δφ̇ of the kept rows where rates stay as they are, to `result(slot, j)`.
  template <typename VariationOf, typename Position, typename Result>
  KEMPE_HD KEMPE_FLATTEN void rateChanges(const VariationOf& variationOf, const Position& position,
                                          const Result& result) const {
    forLoops([&](const auto& loop, const int* slots) {
      if (loop.form.betweenBodies()) {
        forVariedEnds(loop, variationOf, [&](const VariedEnds<T>& ends, int j) {
          forBodyRows(loop.form, loop.rows, ends.A.X, ends.B.X, [&](int r, const auto& row) {
            if (slots[r] >= 0) {
              result(slots[r], j) = -ends.rateChange(row);
            }
          });
        });
      } else {
        withSecondOrder(loop, [&](const SecondOrder<T>& rows) {
          forKept(loop, slots, [&](int r, int slot, int j) {
            result(slot, j) = -rows.rateChange(r, changeOfTerm(loop, position, j));
          });
        });
      }
    });
  }

  /// −δφ̈ of the kept rows where accelerations change by the variations only.
  template <typename VariationOf, typename Position, typename Rate, typename Result>
  KEMPE_HD KEMPE_FLATTEN void accelerationChanges(const VariationOf& variationOf,
                                                  const Position& position, const Rate& rate,
                                                  const Result& result) const {
    forLoops([&](const auto& loop, const int* slots) {
      if (loop.form.betweenBodies()) {
        forVariedEnds(loop, variationOf, [&](const VariedEnds<T>& ends, int j) {
          ends.forAccelerationChanges(
              loop.form, loop.rows, [&](int r) { return slots[r] >= 0; },
              [&](int r, const T& change) { result(slots[r], j) = -change; });
        });
      } else {
        withSecondOrder(loop, [&](const SecondOrder<T>& rows) {
          forKept(loop, slots, [&](int r, int slot, int j) {
            result(slot, j) = -rows.secondRateChange(r, changeOfTerm(loop, position, j),
                                                     changeOfTerm(loop, rate, j));
          });
        });
      }
    });
  }

  /// The change of the forces Kᵀ μ where the multipliers μ of the kept rows stay as they are:
  /// wrench(body, j, f, δf) of loops between bodies, on the successor's body and the opposite on the
  /// predecessor's (−1: the output body), and coordinate(i, j, δ) of functions.
  template <typename VariationOf, typename Position, typename Wrench, typename Coordinate>
  KEMPE_HD KEMPE_FLATTEN void forceChanges(const T* multipliers, const VariationOf& variationOf,
                                           const Position& position, const Wrench& wrench,
                                           const Coordinate& coordinate) const {
    forLoops([&](const auto& loop, const int* slots) {
      if (loop.form.betweenBodies()) {
        forVariedEnds(loop, variationOf, [&](const VariedEnds<T>& ends, int j) {
          Force<T> sum{}, change{};
          forBodyRows(loop.form, loop.rows, ends.A.X, ends.B.X, [&](int r, const auto& row) {
            if (slots[r] >= 0) {
              sum += multipliers[slots[r]] * row.wrench();
              change += multipliers[slots[r]] * ends.wrenchChange(row);
            }
          });
          wrench(loop.successor.body, j, sum, change);
          wrench(loop.predecessor.body, j, -sum, -change);
        });
      } else if (!isLinear(loop.form.kind)) {
        const auto* terms = tables.terms + loop.firstTerm;
        withSecondOrder(loop, [&](const SecondOrder<T>& rows) {
          forKept(loop, slots, [&](int r, int slot, int j) {
            for (int t = 0; t < loop.terms; ++t) {
              coordinate(
                  terms[t].velocity, j,
                  multipliers[slot] * rows.slopeChange(r, t, changeOfTerm(loop, position, j)));
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
  KEMPE_HD void forKept(const auto& loop, const int* slots, const Visit& visit) const {
    for (int r = 0; r < loop.rows; ++r) {
      for (int j = 0; slots[r] >= 0 && j < cluster.nv; ++j) {
        visit(r, slots[r], j);
      }
    }
  }
  /// Calls visit(ends, j) along all DoFs.
  template <typename VariationOf, typename Visit>
  KEMPE_HD void forVariedEnds(const auto& loop, const VariationOf& variationOf,
                              const Visit& visit) const {
    const EndMotion<T> A = endMotion(loop.form, loop.predecessor, motion);
    const EndMotion<T> B = endMotion(loop.form, loop.successor, motion);
    const auto variationAt = [&](const auto& end, int j) {
      return end.body < 0 ? Variation<T>{} : variationOf(end.body, j);
    };
    for (int j = 0; j < cluster.nv; ++j) {
      visit(VariedEnds<T>(A, B, variationAt(loop.predecessor, j), variationAt(loop.successor, j)),
            j);
    }
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
  /// The change of the coordinate of term t along DoF j, from those of spanning coordinates.
  template <typename Change>
  KEMPE_HD auto changeOfTerm(const auto& loop, const Change& change, int j) const {
    return [terms = tables.terms + loop.firstTerm, &change, j](int t) {
      return change(terms[t].velocity, j);
    };
  }
};

}  // namespace kempe::detail
