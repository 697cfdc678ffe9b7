#pragma once

#include "loops/function_rows.hpp"
#include "loops/joint_rows.hpp"
#include "spatial/joint_motion.hpp"

/// Kinematics within one cluster, and φ, K, k of its loops.
///
/// Everything is written in one frame: that in which the output body's placement is given. With the
/// identity there, the cluster is seen from its output body; with world axes, as the recursions see
/// it. Arrays are indexed within the cluster.
namespace kempe::detail {

/// Placements and directions from positions.
template <typename T>
void placeCluster(const TablesOf<T>& tables, const ClusterEntry& cluster, ClusterState<T>& state) {
  for (int i = 0; i < cluster.bodies; ++i) {
    const auto& body = tables.bodies[cluster.firstBody + i];
    const Transform<T>& parent =
        body.parent == cluster.output ? state.outputX : state.X[body.parent - cluster.firstBody];
    const Transform<T> joint = placed(parent, body.placement);
    const T* q = state.q + (body.firstPosition - cluster.firstPosition);
    state.X[i] = jointPlacement(body.type, joint, q, body.pitch, body.middle);
    jointDirections(body.type, joint, state.X[i], body.pitch,
                    state.s + (body.firstVelocity - cluster.firstVelocity));
  }
}

/// Velocities and bias accelerations from rates, after placeCluster.
template <typename T>
void moveCluster(const TablesOf<T>& tables, const ClusterEntry& cluster, ClusterState<T>& state) {
  for (int i = 0; i < cluster.bodies; ++i) {
    const auto& body = tables.bodies[cluster.firstBody + i];
    const bool onOutput = body.parent == cluster.output;
    const Motion<T>& parentV = onOutput ? state.outputV : state.v[body.parent - cluster.firstBody];
    const Motion<T>& parentA = onOutput ? state.outputA : state.a[body.parent - cluster.firstBody];
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

template <typename T, typename R>
Transform<T> endPlacement(const LoopEnd<R>& end, const ClusterState<T>& state) {
  return placed(end.body < 0 ? state.outputX : state.X[end.body], end.frame);
}

template <typename T, typename R>
EndMotion<T> endMotion(const LoopEnd<R>& end, const ClusterState<T>& state) {
  return {endPlacement(end, state), end.body < 0 ? state.outputV : state.v[end.body],
          end.body < 0 ? state.outputA : state.a[end.body]};
}

/// φ of the rows of a loop, from `phi` on.
template <typename T>
void valuesOfLoop(const TablesOf<T>& tables, const Functions& functions, const auto& loop,
                  const ClusterState<T>& state, const FunctionScratch& scratch, T* phi) {
  switch (loop.kind) {
    case LoopKind::Coupling: {
      const auto* terms = tables.terms + loop.firstTerm;
      T sum(-loop.offset);
      for (int t = 0; t < loop.terms; ++t) {
        sum += T(terms[t].coefficient) * state.q[terms[t].position];
      }
      phi[0] = sum;
      break;
    }
    case LoopKind::Joint: {
      const Transform<T> A = endPlacement(loop.predecessor, state);
      const Transform<T> B = endPlacement(loop.successor, state);
      const RowRules rules = rowRules(loop.type);
      for (int r = 0; r < rules.count; ++r) {
        phi[r] = rowValue(rules.first[r], T(loop.cosine), A, B);
      }
      break;
    }
    case LoopKind::Rod:
      phi[0] = rodValue(T(loop.length), endPlacement(loop.predecessor, state),
                        endPlacement(loop.successor, state));
      break;
    case LoopKind::Function: {
      const T* value = functionValue(tables, functions, loop, state, scratch);
      for (int r = 0; r < loop.rows; ++r) {
        phi[r] = value[r];
      }
      break;
    }
  }
}

/// φ of all rows of the cluster.
template <typename T>
void loopValues(const TablesOf<T>& tables, const Functions& functions, const ClusterEntry& cluster,
                const ClusterState<T>& state, const FunctionScratch& scratch, T* phi) {
  for (int l = 0; l < cluster.loops; ++l) {
    const auto& loop = tables.loops[cluster.firstLoop + l];
    valuesOfLoop(tables, functions, loop, state, scratch, phi + loop.firstRow);
  }
}

/// Writes a wrench f of a loop as a row of K, (1) of joint_rows.hpp.
template <typename T>
void spreadWrench(const TablesOf<T>& tables, const auto& loop, const ClusterState<T>& state,
                  const Force<T>& f, T* row) {
  const LoopColumn* columns = tables.columns + loop.firstColumn;
  for (int c = 0; c < loop.columns; ++c) {
    row[columns[c].velocity] = T(static_cast<typename Lanes<T>::Scalar>(columns[c].sign)) *
                               dot(f, state.s[columns[c].velocity]);
  }
}

/// The rows of K of a loop, where they are not zero; `rowOf(r)` is the place of row r, or null.
template <typename T, typename RowOf>
void jacobianOfLoop(const TablesOf<T>& tables, const Functions& functions, const auto& loop,
                    const ClusterState<T>& state, const FunctionScratch& scratch,
                    const RowOf& rowOf) {
  const auto* terms = tables.terms + loop.firstTerm;
  switch (loop.kind) {
    case LoopKind::Coupling:
      if (T* row = rowOf(0)) {
        for (int t = 0; t < loop.terms; ++t) {
          row[terms[t].velocity] = T(terms[t].coefficient);
        }
      }
      break;
    case LoopKind::Joint: {
      const Transform<T> A = endPlacement(loop.predecessor, state);
      const Transform<T> B = endPlacement(loop.successor, state);
      const RowRules rules = rowRules(loop.type);
      for (int r = 0; r < rules.count; ++r) {
        if (T* row = rowOf(r)) {
          spreadWrench(tables, loop, state, rowWrench(rules.first[r], A, B), row);
        }
      }
      break;
    }
    case LoopKind::Rod:
      if (T* row = rowOf(0)) {
        spreadWrench(tables, loop, state,
                     rodWrench(T(loop.length), endPlacement(loop.predecessor, state),
                               endPlacement(loop.successor, state)),
                     row);
      }
      break;
    case LoopKind::Function: {
      const T* slopes = functionSlopes(tables, functions, loop, state, scratch);
      for (int r = 0; r < loop.rows; ++r) {
        if (T* row = rowOf(r)) {
          for (int t = 0; t < loop.terms; ++t) {
            row[terms[t].velocity] = slopes[r * loop.terms + t];
          }
        }
      }
      break;
    }
  }
}

/// K, row-major with n columns. `slots` says into which row of K a constraint row goes (−1: into
/// none); null: all rows in order. K has `rows` rows.
template <typename T>
void loopJacobian(const TablesOf<T>& tables, const Functions& functions,
                  const ClusterEntry& cluster, const ClusterState<T>& state,
                  const FunctionScratch& scratch, const int* slots, int rows, T* K) {
  const int n = cluster.velocities;
  for (int i = 0; i < rows * n; ++i) {
    K[i] = T(0);
  }
  for (int l = 0; l < cluster.loops; ++l) {
    const auto& loop = tables.loops[cluster.firstLoop + l];
    jacobianOfLoop(tables, functions, loop, state, scratch, [&](int r) -> T* {
      const int slot = slots == nullptr ? loop.firstRow + r : slots[loop.firstRow + r];
      return slot < 0 ? nullptr : K + slot * n;
    });
  }
}

/// K̇ of the rows that `slots` keeps, after moveCluster: rates of wrenches and of the directions s,
/// of which `sRates` has one per velocity.
template <typename T>
void loopJacobianRate(const TablesOf<T>& tables, const Functions& functions,
                      const ClusterEntry& cluster, const ClusterState<T>& state,
                      const FunctionScratch& scratch, const Motion<T>* sRates, const int* slots,
                      int rows, T* K) {
  const int n = cluster.velocities;
  for (int i = 0; i < rows * n; ++i) {
    K[i] = T(0);
  }
  const auto rowOf = [&](const auto& loop, int r) -> T* {
    const int slot = slots[loop.firstRow + r];
    return slot < 0 ? nullptr : K + slot * n;
  };
  for (int l = 0; l < cluster.loops; ++l) {
    const auto& loop = tables.loops[cluster.firstLoop + l];
    const auto* terms = tables.terms + loop.firstTerm;
    const LoopColumn* columns = tables.columns + loop.firstColumn;
    const auto spread = [&](const Force<T>& f, const Force<T>& rate, T* row) {
      for (int c = 0; c < loop.columns; ++c) {
        const int j = columns[c].velocity;
        row[j] = T(static_cast<typename Lanes<T>::Scalar>(columns[c].sign)) *
                 (dot(rate, state.s[j]) + dot(f, sRates[j]));
      }
    };
    if (loop.kind == LoopKind::Joint || loop.kind == LoopKind::Rod) {
      const EndMotion<T> A = endMotion(loop.predecessor, state);
      const EndMotion<T> B = endMotion(loop.successor, state);
      const bool rod = loop.kind == LoopKind::Rod;
      const RowRules rules = rod ? RowRules{nullptr, 1} : rowRules(loop.type);
      for (int r = 0; r < rules.count; ++r) {
        if (T* row = rowOf(loop, r)) {
          rod ? spread(rodWrench(T(loop.length), A.X, B.X), rodWrenchRate(T(loop.length), A, B),
                       row)
              : spread(rowWrench(rules.first[r], A.X, B.X), rowWrenchRate(rules.first[r], A, B),
                       row);
        }
      }
    } else if (loop.kind == LoopKind::Function) {
      const T* slopeRates = functionSlopeRates(tables, functions, loop, state, scratch);
      for (int r = 0; r < loop.rows; ++r) {
        if (T* row = rowOf(loop, r)) {
          for (int t = 0; t < loop.terms; ++t) {
            row[terms[t].velocity] = slopeRates[r * loop.terms + t];
          }
        }
      }
    }
  }
}

/// k = −K̇ q̇ of the rows that `slots` keeps, after moveCluster.
template <typename T>
void loopBias(const TablesOf<T>& tables, const Functions& functions, const ClusterEntry& cluster,
              const ClusterState<T>& state, const FunctionScratch& scratch, const int* slots,
              T* k) {
  const auto put = [&](const auto& loop, int r, const T& value) {
    const int slot = slots == nullptr ? loop.firstRow + r : slots[loop.firstRow + r];
    if (slot >= 0) {
      k[slot] = value;
    }
  };
  for (int l = 0; l < cluster.loops; ++l) {
    const auto& loop = tables.loops[cluster.firstLoop + l];
    switch (loop.kind) {
      case LoopKind::Coupling:
        put(loop, 0, T(0));
        break;
      case LoopKind::Joint:
      case LoopKind::Rod: {
        const EndMotion<T> A = endMotion(loop.predecessor, state);
        const EndMotion<T> B = endMotion(loop.successor, state);
        const Motion<T> v = B.v - A.v, a = B.a - A.a;
        if (loop.kind == LoopKind::Rod) {  // (2) of rows.hpp
          put(loop, 0,
              -dot(rodWrench(T(loop.length), A.X, B.X), a) -
                  dot(rodWrenchRate(T(loop.length), A, B), v));
          break;
        }
        const RowRules rules = rowRules(loop.type);
        for (int r = 0; r < rules.count; ++r) {
          put(loop, r,
              -dot(rowWrench(rules.first[r], A.X, B.X), a) -
                  dot(rowWrenchRate(rules.first[r], A, B), v));
        }
        break;
      }
      case LoopKind::Function: {
        const T* secondRate = functionSecondRate(tables, functions, loop, state, scratch);
        for (int r = 0; r < loop.rows; ++r) {
          put(loop, r, -secondRate[r]);
        }
        break;
      }
    }
  }
}

}  // namespace kempe::detail
