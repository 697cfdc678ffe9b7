#pragma once

#include "kernels/outward.hpp"
#include "loops/loop_derivatives.hpp"

/// How velocities and accelerations of all bodies change along DoFs, and with their rates.
///
/// Along DoF j all bodies that it moves are displaced by S_j, and with v, a of such a body
///
///   ∂v/∂y_j = P_j + S_j × v       ∂a/∂y_j = Q_j − v × P_j + S_j × a             (1)
///   ∂v/∂ẏ_j = S_j                 ∂a/∂ẏ_j = Q′_j − v × S_j                      (2)
///   ∂a/∂ÿ_j = S_j                     Ṡ_j = Q′_j − P_j                          (3)
///
/// where S_j, P_j, Q_j and Q′_j are the same for all bodies that one body of the cluster of j
/// carries. For a direction s_i of a tree joint, with x, a_x the motion of the parent plus that along
/// the directions that are fixed in it,
///
///   P_i = x × s_i,   Q_i = a_x × s_i + x × P_i                                  (4)
///   Q′_i = (x + v) × s_i,  or (v_λ + x) × s_i if s_i is fixed in the parent     (5)
///
/// of which a cluster's columns are, summed over the joints between its output body and a body, and
/// with W, Z, Y of loop_derivatives.hpp,
///
///   S_j = Σ s_i G_ij                     P_j = Σ P_i G_ij + s_i W_ij            (6)
///   Q_j = Σ Q_i G_ij + Q′_i W_ij + s_i Z_ij      Q′_j = Σ Q′_i G_ij + s_i Y_ij   (7)
///
/// Where all joints of a cluster have one coordinate each, Y = 2 W and so Q′_j = 2 P_j (9); of one
/// joint this is (5), as s_i × s_i = 0.
///
/// For the floating base, whose S is its rotation for both parts, and the acceleration a₀ that stands
/// for gravity, P = 0, Q = a₀ × S and Q′ = v × S (8). Ṡ in (3) follows from a = S ÿ + Ṡ ẏ, whose
/// derivative along ẏ_j is Ṡ_j + ∂v/∂y_j.
namespace kempe::detail {

/// Memory of the columns below.
template <typename T>
struct MotionDerivativeWork {
  Motion<T>*P, *Q, *Qv;   ///< as WorkView::S; not of the floating base
  Motion<T>*p, *qq, *qv;  ///< per spanning velocity: (4), (5)
  T *W, *Z, *Y;           ///< as WorkView::G
  T* rightSide;           ///< kept × m of one cluster
  T* registers;           ///< of programs
  T* functions;           ///< results of FunctionPrograms::secondOrder
};

template <typename T, typename R>
MotionDerivativeWork<T> carveMotionDerivatives(const TablesView<R>& tables, Carver& carver) {
  MotionDerivativeWork<T> w;
  w.P = carver.take<Motion<T>>(tables.sColumns);
  w.Q = carver.take<Motion<T>>(tables.sColumns);
  w.Qv = carver.take<Motion<T>>(tables.sColumns);
  w.p = carver.take<Motion<T>>(tables.velocities);
  w.qq = carver.take<Motion<T>>(tables.velocities);
  w.qv = carver.take<Motion<T>>(tables.velocities);
  w.W = carver.take<T>(tables.ratios);
  w.Z = carver.take<T>(tables.ratios);
  w.Y = carver.take<T>(tables.ratios);
  w.rightSide = carver.take<T>(tables.widestRightSide);
  w.registers = carver.take<T>(tables.secondOrderRegisters);
  w.functions = carver.take<T>(tables.secondOrderNumbers);
  return w;
}

/// Columns of one DoF, for the bodies that one body of its cluster carries.
template <typename T>
struct MotionColumns {
  Motion<T> S{}, P{}, Q{}, Qv{};
};

/// Fills the columns, cluster by cluster in any order, from bodies that are placed and move.
template <typename T, typename Tables>
class MotionDerivatives {
 public:
  using R = typename Tables::Scalar;
  using Body = BodyEntry<R>;

  /// `accelerates`: accelerations are known too; if not, only P and W are filled.
  KEMPE_HD MotionDerivatives(const Tables& tables, const WorkView<T>& work,
                             const MotionDerivativeWork<T>& own, bool accelerates = true)
      : tables_(tables), work_(work), own_(own), accelerates_(accelerates) {}

  /// Of a cluster of shape Single, from its S and the motion of its output body.
  KEMPE_HD void varySingle(const ClusterEntry& cluster, const Body& body) const {
    const Motion<T> s = work_.S[body.firstS];
    const Motion<T> x = work_.v[cluster.output];
    const Motion<T> P = cross(x, s);
    own_.P[body.firstS] = P;  // (4)
    if (accelerates_) {
      own_.Q[body.firstS] = cross(work_.a[cluster.output], s) + cross(x, P);  // (4)
      own_.Qv[body.firstS] = T(2) * P;                                        // (9)
    }
  }

  /// Of one body of a cluster of shape Coupled, after those between it and the output body, from P
  /// and Q of its joint, of which Q′ = 2 P.
  template <int M>
  KEMPE_HD void varyCoupled(const ClusterEntry& cluster, const Body& body, const Motion<T>& P,
                            const Motion<T>& Q) const {
    const int m = M > 0 ? M : cluster.nv;
    const R* r = constantRatios(tables_, cluster, body.firstVelocity);
    const bool inside = body.parent >= cluster.firstBody;
    const int from = inside ? tables_.bodies[body.parent].firstS : 0;
    for (int j = 0; j < m; ++j) {
      const auto add = [&](Motion<T>* columns, const Motion<T>& own) {
        columns[body.firstS + j] = inside ? columns[from + j] + T(r[j]) * own : T(r[j]) * own;
      };
      add(own_.P, P);
      add(own_.Q, Q);
      add(own_.Qv, T(2) * P);
    }
  }

  /// Of a cluster of shape Coupled or General, from the directions s and S, the rates and
  /// accelerations of its joints, the motion of its bodies and, where it is implicit, the factors of
  /// its loops.
  KEMPE_HD void varyGeneral(const ClusterEntry& cluster) const {
    varyJoints(cluster);
    const int m = cluster.nv;
    if (cluster.kind == ClusterKind::Tree) {
      const Body& body = tables_.bodies[cluster.firstBody];
      for (int j = 0; j < m; ++j) {
        own_.P[body.firstS + j] = own_.p[body.firstVelocity + j];
      }
      for (int j = 0; accelerates_ && j < m; ++j) {
        own_.Q[body.firstS + j] = own_.qq[body.firstVelocity + j];
        own_.Qv[body.firstS + j] = own_.qv[body.firstVelocity + j];
      }
      return;
    }
    if (cluster.kind == ClusterKind::Implicit) {
      varyLoops(cluster);
      return;
    }
    const T* G = work_.G + cluster.firstRatio;
    const auto byG = [G](Motion<T>* columns, const Motion<T>* of) {
      return columnsFrom(columns, [G, of](int i, int ij) { return G[ij] * of[i]; });
    };
    spanColumns(cluster, byG(own_.P, own_.p));
    if (accelerates_) {
      spanColumns(cluster, byG(own_.Q, own_.qq), byG(own_.Qv, own_.qv));
    }
  }

  /// The columns of DoF j of a cluster, for what its body b carries; Q and Q′ are zero if
  /// accelerations are not known.
  KEMPE_HD MotionColumns<T> columnsOf(const ClusterEntry& cluster, int b, int j) const {
    MotionColumns<T> columns;
    if (shapeOf(cluster, work_) == ClusterShape::FreeBase) {
      const Vec3<T> axis = work_.X[b].R.column(j % 3);
      columns.S = j < 3 ? Motion<T>{Vec3<T>{}, axis} : Motion<T>{axis, Vec3<T>{}};
      if (accelerates_) {
        columns.Q = cross(work_.a[kWorld], columns.S);  // (8)
        columns.Qv = cross(work_.v[b], columns.S);
      }
      return columns;
    }
    const int column = tables_.bodies[b].firstS + j;
    columns.S = work_.S[column];
    columns.P = own_.P[column];
    if (accelerates_) {
      columns.Q = own_.Q[column];
      columns.Qv = own_.Qv[column];
    }
    return columns;
  }

  /// Calls visit(k, columns) for all DoFs k that move a body, those of its own cluster first.
  template <typename Visit>
  KEMPE_HD void forDofsThatMove(int b, const Visit& visit) const {
    while (b != kWorld) {
      const ClusterEntry& cluster = tables_.clusters[tables_.bodies[b].cluster];
      for (int j = 0; j < cluster.nv; ++j) {
        visit(cluster.firstV + j, columnsOf(cluster, b, j));
      }
      b = cluster.output;
    }
  }

  /// An entry of G.
  KEMPE_HD T ratio(const ClusterEntry& cluster, int velocity, int j) const {
    const int i = velocity - cluster.firstVelocity;
    return cluster.kind == ClusterKind::Tree ? T(i == j ? 1 : 0)
                                             : work_.G[cluster.firstRatio + i * cluster.nv + j];
  }
  /// An entry of W, Z or Y.
  KEMPE_HD T change(const ClusterEntry& cluster, const T* of, int velocity, int j) const {
    return cluster.kind == ClusterKind::Implicit
               ? of[cluster.firstRatio + (velocity - cluster.firstVelocity) * cluster.nv + j]
               : T(0);
  }

  KEMPE_HD ClusterState<T> motionOf(const ClusterEntry& cluster) const {
    return {work_.positions + cluster.firstPosition,
            work_.rates + cluster.firstVelocity,
            work_.X + cluster.firstBody,
            work_.s + cluster.firstVelocity,
            work_.v + cluster.firstBody,
            work_.a + cluster.firstBody,
            work_.X[cluster.output],
            work_.v[cluster.output],
            work_.a[cluster.output],
            nullptr,
            nullptr,
            work_.accelerations + cluster.firstVelocity};
  }
  KEMPE_HD LoopVariation<T> variationOf(const ClusterEntry& cluster,
                                        const ClusterState<T>& motion) const {
    return {tables_, cluster, motion, own_.registers, own_.functions};
  }

 private:
  /// Columns of a cluster, and what the direction of spanning velocity i adds to them: term(i, ij),
  /// ij the place of an entry of G.
  template <typename Term>
  struct ColumnSums {
    Motion<T>* columns;
    Term term;
  };
  template <typename Term>
  KEMPE_HD static ColumnSums<Term> columnsFrom(Motion<T>* columns, const Term& term) {
    return {columns, term};
  }

  /// Sums columns of all bodies over the directions between the output body and each.
  template <typename... Sums>
  KEMPE_HD void spanColumns(const ClusterEntry& cluster, const Sums&... sums) const {
    withSize(cluster.nv, [&]<int M>() { spanColumnsOf<M>(cluster, sums...); });
  }
  template <int M, typename... Sums>
  KEMPE_HD void spanColumnsOf(const ClusterEntry& cluster, const Sums&... sums) const {
    const int m = M > 0 ? M : cluster.nv;
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const Body& body = tables_.bodies[b];
      if (onlySpins(cluster, body, work_)) {
        continue;
      }
      const bool inside = body.parent >= cluster.firstBody;
      const int from = inside ? tables_.bodies[body.parent].firstS : 0;
      const int size = velocitySize(body.type), first = body.firstVelocity;
      const auto add = [&](const auto& own, int j) {
        Motion<T> sum = inside ? own.columns[from + j] : Motion<T>{};
        for (int i = first; i < first + size; ++i) {
          sum += own.term(i, (i - cluster.firstVelocity) * m + j);
        }
        own.columns[body.firstS + j] = sum;
      };
      for (int j = 0; j < m; ++j) {
        (add(sums, j), ...);
      }
    }
  }

  /// (4) and (5) of the joints of a cluster.
  KEMPE_HD void varyJoints(const ClusterEntry& cluster) const {
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const Body& body = tables_.bodies[b];
      if (onlySpins(cluster, body, work_)) {
        continue;
      }
      if (body.folded) {
        spanRotor(cluster, body);
      }
      const Motion<T>* s = directionsOf(cluster, body, work_);
      const int first = body.firstVelocity, withParent = directionsFixedInParent(body.type);
      const Motion<T> parentV = work_.v[body.parent];
      Motion<T> along{};
      for (int i = 0; i < withParent; ++i) {
        along += work_.rates[first + i] * s[i];
      }
      const Motion<T> x = parentV + along;
      for (int i = 0; i < velocitySize(body.type); ++i) {
        own_.p[first + i] = cross(x, s[i]);
      }
      if (!accelerates_) {
        continue;
      }
      Motion<T> acceleration = work_.a[body.parent] + cross(parentV, along);
      for (int i = 0; i < withParent; ++i) {
        acceleration += work_.accelerations[first + i] * s[i];
      }
      for (int i = 0; i < velocitySize(body.type); ++i) {
        const Motion<T> P = own_.p[first + i];
        own_.qq[first + i] = cross(acceleration, s[i]) + cross(x, P);
        own_.qv[first + i] = velocitySize(body.type) == 1
                                 ? T(2) * P  // (9)
                                 : P + cross(i < withParent ? parentV : work_.v[b], s[i]);
      }
    }
  }

  /// S of a folded rotor to which loops are attached; the recursions have no use for it.
  KEMPE_HD void spanRotor(const ClusterEntry& cluster, const Body& body) const {
    const bool inside = body.parent >= cluster.firstBody;
    for (int j = 0; j < cluster.nv; ++j) {
      const Motion<T> own =
          ratio(cluster, body.firstVelocity, j) * directionsOf(cluster, body, work_)[0];
      work_.S[body.firstS + j] =
          inside ? work_.S[tables_.bodies[body.parent].firstS + j] + own : own;
    }
  }

  /// W, Z, Y from the right-hand sides that are there.
  KEMPE_HD void solveRows(const ClusterEntry& cluster, T* result) const {
    const int m = cluster.nv;
    solveLoops(tables_, cluster, work_.loops, own_.rightSide, m);
    const int* independent = tables_.independent + cluster.firstIndependent;
    const int* dependent = tables_.dependent + cluster.firstDependent;
    for (int j = 0; j < m; ++j) {
      for (int i = 0; i < m; ++i) {
        result[independent[i] * m + j] = T(0);
      }
      for (int i = 0; i < cluster.kept; ++i) {
        result[dependent[i] * m + j] = own_.rightSide[i * m + j];
      }
    }
  }

  /// (1) to (4) of loop_derivatives.hpp, and the columns of (6) and (7).
  KEMPE_HD void varyLoops(const ClusterEntry& cluster) const {
    const int m = cluster.nv;
    const T* G = work_.G + cluster.firstRatio;
    T* W = own_.W + cluster.firstRatio;
    T* Z = own_.Z + cluster.firstRatio;
    T* Y = own_.Y + cluster.firstRatio;
    const Motion<T>*s = work_.s, *p = own_.p, *qq = own_.qq, *qv = own_.qv;
    const ClusterState<T> motion = motionOf(cluster);
    const LoopVariation<T> rows = variationOf(cluster, motion);
    rows.prepare();
    const auto column = [&](const Motion<T>* of, int body, int j) {
      return of[tables_.bodies[cluster.firstBody + body].firstS + j];
    };
    const auto along = [m](const T* matrix) {
      return [matrix, m](int i, int j) { return matrix[i * m + j]; };
    };
    const auto rightSide = [this, m](int slot, int j) -> T& {
      return own_.rightSide[slot * m + j];
    };
    spanColumns(cluster, columnsFrom(own_.P, [&](int i, int ij) { return G[ij] * p[i]; }));
    rows.rateChanges(
        [&](int b, int j) {
          return Variation<T>{column(work_.S, b, j), column(own_.P, b, j), {}};
        },
        along(G), rightSide);
    solveRows(cluster, W);
    const auto toP =
        columnsFrom(own_.P, [&](int i, int ij) { return G[ij] * p[i] + W[ij] * s[i]; });
    if (!accelerates_) {
      spanColumns(cluster, toP);
      return;
    }
    const auto toQ =
        columnsFrom(own_.Q, [&](int i, int ij) { return G[ij] * qq[i] + W[ij] * qv[i]; });
    const auto toQv =
        columnsFrom(own_.Qv, [&](int i, int ij) { return G[ij] * qv[i] + Y[ij] * s[i]; });
    const auto withZ = columnsFrom(
        own_.Q, [&](int i, int ij) { return G[ij] * qq[i] + W[ij] * qv[i] + Z[ij] * s[i]; });
    if (cluster.bodies == cluster.velocities) {  // one coordinate per joint
      for (int i = 0; i < cluster.velocities * m; ++i) {
        Y[i] = T(2) * W[i];
      }
      spanColumns(cluster, toP, toQ, toQv);
    } else {
      spanColumns(cluster, columnsFrom(own_.Qv, [&](int i, int ij) { return G[ij] * qv[i]; }));
      rows.accelerationChanges(
          [&](int b, int j) {
            return Variation<T>{{}, column(work_.S, b, j), column(own_.Qv, b, j)};
          },
          [](int, int) { return T(0); }, along(G), rightSide);
      solveRows(cluster, Y);
      spanColumns(cluster, toP, toQ, toQv);
    }
    rows.accelerationChanges(
        [&](int b, int j) {
          return Variation<T>{column(work_.S, b, j), column(own_.P, b, j), column(own_.Q, b, j)};
        },
        along(G), along(W), rightSide);
    solveRows(cluster, Z);
    spanColumns(cluster, withZ);
  }

  const Tables& tables_;
  const WorkView<T>& work_;
  const MotionDerivativeWork<T>& own_;
  bool accelerates_;
};

}  // namespace kempe::detail
