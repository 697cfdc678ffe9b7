#pragma once

#include "loops/body_rows.hpp"
#include "loops/coordinate_rows.hpp"
#include "loops/node_motion.hpp"
#include "spatial/joint_motion.hpp"

/// Kinematics within one cluster, and φ, K, k of its loops.
///
/// Everything is written in one frame: that in which the output body's placement is given. With the
/// identity there, the cluster is seen from its output body; with world axes, as the recursions see
/// it. Arrays are indexed within the cluster.
namespace kempe::detail {

/// A cluster in motion; what does not matter is null.
template <typename T>
struct ClusterState {
  const T* q = nullptr;      ///< positions
  const T* rates = nullptr;  ///< q̇
  Transform<T>* X = nullptr;
  Motion<T>* s = nullptr;  ///< directions, one per velocity
  Motion<T>* v = nullptr;
  Motion<T>* a = nullptr;  ///< accelerations, for q̈ = 0 or for `accelerations`
  Transform<T> outputX{};
  Motion<T> outputV{}, outputA{};
  T* function = nullptr;             ///< registers of the program of a function
  T* kept = nullptr;                 ///< registers that functions keep from slopes to second rates
  const T* accelerations = nullptr;  ///< q̈
  Motion<T>* nodeS = nullptr;        ///< per shape of all nodes: directions along the modes
};

/// The tables that a computation with T reads.
template <typename T>
using TablesOf = TablesView<typename Lanes<T>::Scalar>;

/// A node of a flexible body of the cluster, which `parent` is the placement of.
template <typename T>
KEMPE_HD NodeState<T> nodeState(const TablesOf<T>& tables, const ClusterEntry& cluster,
                                const auto& node, const ClusterState<T>& state,
                                const Transform<T>& parent) {
  const FlexibleEntry& flexible = tables.flexibles[node.flexible];
  return {state.q + (flexible.firstPosition - cluster.firstPosition),
          state.rates + (flexible.firstVelocity - cluster.firstVelocity),
          state.nodeS + node.firstShape, parent};
}

/// Placements and directions from positions.
template <typename T>
KEMPE_HD void placeCluster(const TablesOf<T>& tables, const ClusterEntry& cluster,
                           ClusterState<T>& state) {
  for (int i = 0; i < cluster.bodies; ++i) {
    const auto& body = tables.bodies[cluster.firstBody + i];
    const Transform<T>& parent =
        body.parent == cluster.output ? state.outputX : state.X[body.parent - cluster.firstBody];
    if (body.node >= 0) {
      const auto& node = tables.nodes[body.node];
      state.X[i] = placeNode(tables, node, nodeState(tables, cluster, node, state, parent));
      continue;
    }
    const Transform<T> joint = placed(parent, body.placement);
    const T* q = state.q + (body.firstPosition - cluster.firstPosition);
    state.X[i] = jointPlacement(body.type, joint, q, body.pitch, body.middle);
    jointDirections(body.type, joint, state.X[i], body.pitch,
                    state.s + (body.firstVelocity - cluster.firstVelocity));
  }
}

/// Velocities and bias accelerations from rates, after placeCluster.
template <typename T>
KEMPE_HD void moveCluster(const TablesOf<T>& tables, const ClusterEntry& cluster,
                          ClusterState<T>& state) {
  for (int i = 0; i < cluster.bodies; ++i) {
    const auto& body = tables.bodies[cluster.firstBody + i];
    const bool onOutput = body.parent == cluster.output;
    const Motion<T>& parentV = onOutput ? state.outputV : state.v[body.parent - cluster.firstBody];
    const Motion<T>& parentA = onOutput ? state.outputA : state.a[body.parent - cluster.firstBody];
    if (body.node >= 0) {
      const auto& node = tables.nodes[body.node];
      const NodeState<T> own =
          nodeState(tables, cluster, node, state,
                    onOutput ? state.outputX : state.X[body.parent - cluster.firstBody]);
      const Motion<T> relative = alongModes(tables, node, own, own.rates);
      state.v[i] = parentV + relative;
      state.a[i] =
          parentA + nodeAccelerationAtRest(tables, node, own, state.X[i], relative, parentV);
      continue;
    }
    const int first = body.firstVelocity - cluster.firstVelocity;
    const int n = velocitySize(body.type);
    Motion<T> v = parentV;
    for (int j = 0; j < n; ++j) {
      v += state.rates[first + j] * state.s[first + j];
    }
    state.v[i] = v;
    state.a[i] =
        parentA + directionRates(body.type, n, state.s + first, state.rates + first, parentV, v);
  }
}

/// Rates of the joint directions, one per velocity, after moveCluster.
template <typename T>
KEMPE_HD void rateDirections(const TablesOf<T>& tables, const ClusterEntry& cluster,
                             const ClusterState<T>& state, Motion<T>* sRates) {
  for (int i = 0; i < cluster.bodies; ++i) {
    const auto& body = tables.bodies[cluster.firstBody + i];
    const Motion<T>& parentV =
        body.parent == cluster.output ? state.outputV : state.v[body.parent - cluster.firstBody];
    const int first = body.firstVelocity - cluster.firstVelocity;
    const int withParent = directionsFixedInParent(body.type);
    for (int j = 0; j < velocitySize(body.type); ++j) {
      sRates[first + j] = cross(j < withParent ? parentV : state.v[i], state.s[first + j]);
    }
  }
}

/// The frame of an end; of a rod, which has no axes, a frame at the same point.
template <typename T, typename R>
KEMPE_HD Transform<T> endPlacement(const RowForm<R>& form, const LoopEnd<R>& end,
                                   const ClusterState<T>& state) {
  const Transform<T>& X = end.body < 0 ? state.outputX : state.X[end.body];
  if (form.kind == RowKind::Rod) {
    return {X.R, turned(X.R, end.frame.p) + X.p};
  }
  return placed(X, end.frame);
}

template <typename T, typename R>
KEMPE_HD EndMotion<T> endMotion(const RowForm<R>& form, const LoopEnd<R>& end,
                                const ClusterState<T>& state) {
  return {endPlacement(form, end, state), end.body < 0 ? state.outputV : state.v[end.body],
          end.body < 0 ? state.outputA : state.a[end.body]};
}

/// Calls visit(r, row) for the rows of a loop between bodies (see body_rows.hpp), with its ends as
/// they are placed.
template <typename T, typename R, typename Visit>
KEMPE_HD void forLoopRows(const LoopEntry<R>& loop, const ClusterState<T>& state,
                          const Visit& visit) {
  const Transform<T> A = endPlacement(loop.form, loop.predecessor, state);
  const Transform<T> B = endPlacement(loop.form, loop.successor, state);
  forBodyRows(loop.form, loop.rows, A, B, visit);
}

/// The coordinates of a loop in a cluster, see coordinate_rows.hpp.
template <typename T, typename R>
struct ClusterPoint {
  const ClusterState<T>& state;
  const LoopTerm<R>* terms;
  const FunctionCalls& functions;
  int index;  ///< of the function

  KEMPE_HD const T& position(int t) const { return state.q[terms[t].position]; }
  KEMPE_HD const T& rate(int t) const { return state.rates[terms[t].velocity]; }
  KEMPE_HD const T& acceleration(int t) const { return state.accelerations[terms[t].velocity]; }
  [[nodiscard]] const Function& function() const { return functions[index]; }
};

/// Calls visit(rows) with the rows of a loop along coordinates (see coordinate_rows.hpp).
template <typename T, typename Visit>
KEMPE_HD void withLoopRows(const TablesOf<T>& tables, const FunctionCalls& functions,
                           const auto& loop, const ClusterState<T>& state,
                           const FunctionScratch& scratch, const Visit& visit) {
  using R = typename Lanes<T>::Scalar;
  const LoopTerm<R>* terms = tables.terms + loop.firstTerm;
  const CompiledRows<R> compiled{loop.form, loop.rows,     loop.terms,
                                 terms,     loop.programs, tables.programSteps.data()};
  withCoordinateRows(compiled, ClusterPoint<T, R>{state, terms, functions, loop.function},
                     FunctionWork<T>{state.function, state.kept, scratch}, visit);
}

/// φ of the rows of a loop, from `phi` on.
template <typename T>
KEMPE_HD void valuesOfLoop(const TablesOf<T>& tables, const FunctionCalls& functions,
                           const auto& loop, const ClusterState<T>& state,
                           const FunctionScratch& scratch, T* phi) {
  if (loop.form.betweenBodies()) {
    forLoopRows(loop, state, [&](int r, const auto& row) { phi[r] = row.value(); });
  } else {
    withLoopRows(tables, functions, loop, state, scratch, [&](const auto& loopRows) {
      loopRows.values([&](int r, const T& value) { phi[r] = value; });
    });
  }
}

/// φ of all rows of the cluster.
template <typename T>
KEMPE_HD void loopValues(const TablesOf<T>& tables, const FunctionCalls& functions,
                         const ClusterEntry& cluster, const ClusterState<T>& state,
                         const FunctionScratch& scratch, T* phi) {
  for (int l = 0; l < cluster.loops; ++l) {
    const auto& loop = tables.loops[cluster.firstLoop + l];
    valuesOfLoop(tables, functions, loop, state, scratch, phi + loop.firstRow);
  }
}

/// Writes a wrench f of a loop as a row of K, (1) of joint_rows.hpp.
template <typename T>
KEMPE_HD void spreadWrench(const TablesOf<T>& tables, const auto& loop,
                           const ClusterState<T>& state, const Force<T>& f, T* row) {
  const LoopColumn* columns = tables.columns + loop.firstColumn;
  const auto along = [&](const LoopColumn& column, const Motion<T>& s) {
    return T(static_cast<typename Lanes<T>::Scalar>(column.sign)) * dot(f, s);
  };
  bool bends = false;
  for (int c = 0; c < loop.columns; ++c) {
    const bool node = columns[c].shape >= 0;
    row[columns[c].velocity] = node ? T(0) : along(columns[c], state.s[columns[c].velocity]);
    bends = bends || node;
  }
  // A mode moves all nodes of its body.
  for (int c = 0; bends && c < loop.columns; ++c) {
    if (columns[c].shape >= 0) {
      row[columns[c].velocity] += along(columns[c], state.nodeS[columns[c].shape]);
    }
  }
}

/// The rows of K of a loop, where they are not zero; `rowOf(r)` is the place of row r, or null.
template <typename T, typename RowOf>
KEMPE_HD void jacobianOfLoop(const TablesOf<T>& tables, const FunctionCalls& functions,
                             const auto& loop, const ClusterState<T>& state,
                             const FunctionScratch& scratch, const RowOf& rowOf) {
  const auto* terms = tables.terms + loop.firstTerm;
  if (loop.form.betweenBodies()) {
    forLoopRows(loop, state, [&](int r, const auto& row) {
      if (T* to = rowOf(r)) {
        spreadWrench(tables, loop, state, row.wrench(), to);
      }
    });
    return;
  }
  withLoopRows(tables, functions, loop, state, scratch, [&](const auto& loopRows) {
    loopRows.slopes([&](int r, const auto& slope) {
      T* to = rowOf(r);
      for (int t = 0; to != nullptr && t < loop.terms; ++t) {
        to[terms[t].velocity] = slope(t);
      }
    });
  });
}

/// The row of K that row r of a loop goes into by `slots`, or −1; null: all rows in order.
KEMPE_HD inline int slotOf(const auto& loop, int r, const int* slots) {
  return slots == nullptr ? loop.firstRow + r : slots[loop.firstRow + r];
}

/// K, row-major with n columns. `slots` says into which row of K a constraint row goes (−1: into
/// none); null: all rows in order. K has `rows` rows.
template <typename T>
KEMPE_HD void loopJacobian(const TablesOf<T>& tables, const FunctionCalls& functions,
                           const ClusterEntry& cluster, const ClusterState<T>& state,
                           const FunctionScratch& scratch, const int* slots, int rows, T* K) {
  const int n = cluster.velocities;
  for (int i = 0; i < rows * n; ++i) {
    K[i] = T(0);
  }
  for (int l = 0; l < cluster.loops; ++l) {
    const auto& loop = tables.loops[cluster.firstLoop + l];
    jacobianOfLoop(tables, functions, loop, state, scratch, [&](int r) -> T* {
      const int slot = slotOf(loop, r, slots);
      return slot < 0 ? nullptr : K + slot * n;
    });
  }
}

/// K̇ of the rows that `slots` keeps, after moveCluster: rates of wrenches and of the directions s,
/// of which `sRates` has one per velocity.
template <typename T>
KEMPE_HD void loopJacobianRate(const TablesOf<T>& tables, const FunctionCalls& functions,
                               const ClusterEntry& cluster, const ClusterState<T>& state,
                               const FunctionScratch& scratch, const Motion<T>* sRates,
                               const int* slots, int rows, T* K) {
  const int n = cluster.velocities;
  for (int i = 0; i < rows * n; ++i) {
    K[i] = T(0);
  }
  for (int l = 0; l < cluster.loops; ++l) {
    const auto& loop = tables.loops[cluster.firstLoop + l];
    const auto* terms = tables.terms + loop.firstTerm;
    if (loop.form.betweenBodies()) {
      const LoopColumn* columns = tables.columns + loop.firstColumn;
      const EndMotion<T> A = endMotion(loop.form, loop.predecessor, state);
      const EndMotion<T> B = endMotion(loop.form, loop.successor, state);
      forBodyRows(loop.form, loop.rows, A.X, B.X, [&](int r, const auto& row) {
        const int slot = slotOf(loop, r, slots);
        if (slot < 0) {
          return;
        }
        const Force<T> f = row.wrench(), rate = row.wrenchRate(A, B);
        for (int c = 0; c < loop.columns; ++c) {
          const int j = columns[c].velocity;
          K[slot * n + j] = T(static_cast<typename Lanes<T>::Scalar>(columns[c].sign)) *
                            (dot(rate, state.s[j]) + dot(f, sRates[j]));
        }
      });
    } else {
      withLoopRows(tables, functions, loop, state, scratch, [&](const auto& loopRows) {
        loopRows.slopeRates([&](int r, const auto& rate) {
          const int slot = slotOf(loop, r, slots);
          for (int t = 0; slot >= 0 && t < loop.terms; ++t) {
            K[slot * n + terms[t].velocity] = rate(t);
          }
        });
      });
    }
  }
}

/// k = −K̇ q̇ of the rows of a loop that `slots` keeps, after moveCluster.
template <typename T>
KEMPE_HD void biasOfLoop(const TablesOf<T>& tables, const FunctionCalls& functions,
                         const auto& loop, const ClusterState<T>& state,
                         const FunctionScratch& scratch, const int* slots, T* k) {
  if (loop.form.betweenBodies()) {
    const EndMotion<T> A = endMotion(loop.form, loop.predecessor, state);
    const EndMotion<T> B = endMotion(loop.form, loop.successor, state);
    const Motion<T> v = B.v - A.v, a = B.a - A.a;
    // (2) of joint_rows.hpp
    forBodyRows(loop.form, loop.rows, A.X, B.X, [&](int r, const auto& row) {
      const int slot = slotOf(loop, r, slots);
      if (slot >= 0) {
        k[slot] = -dot(row.wrench(), a) - dot(row.wrenchRate(A, B), v);
      }
    });
    return;
  }
  withLoopRows(tables, functions, loop, state, scratch, [&](const auto& loopRows) {
    loopRows.secondRates([&](int r, const T& secondRate) {
      const int slot = slotOf(loop, r, slots);
      if (slot >= 0) {
        k[slot] = -secondRate;
      }
    });
  });
}

}  // namespace kempe::detail
