#pragma once

#include "kernels/coriolis_inertia.hpp"
#include "kernels/host_loops.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/mass_matrix.hpp"
#include "loops/loop_derivatives.hpp"
#include "tables/term_request.hpp"

/// Derivatives of C-RNEA with respect to positions, along the tangent, and velocities (after Singh,
/// Russell and Wensing 2022 for open trees; here for clusters, with rotors folded).
///
/// Along DoF j all bodies that it moves are displaced by S_j, and their velocities and accelerations
/// change by P_j and Q_j as (4) of loop_derivatives.hpp says, which are the same for all bodies that
/// one body of the cluster carries. With f, I, B of a body and all that it carries, its force
/// changes by
///
///   F_j = S_j ×* f + I Q_j + 2 B P_j + E S_j        along y_j                   (1)
///   F_j = I Q′_j + 2 B S_j                          along ẏ_j                   (2)
///
/// where E is what external forces that keep their direction differ by from those that turn with the
/// body. So for a DoF k of a cluster nearer to the root, with S_k, P_k, Q_k of its body that carries
/// the cluster of l,
///
///   ∂τ_k/∂y_l = S_kᵀ Σ F_l                                                      (3)
///   ∂τ_l/∂y_k = hᵀ Q_k + 2 bᵀ P_k + eᵀ S_k,  h = Σ I S_l, b = Σ Bᵀ S_l, e = Σ Eᵀ S_l  (4)
///   ∂τ_l/∂ẏ_k = hᵀ Q′_k + 2 bᵀ S_k                                             (5)
///
/// summed over the bodies of the cluster. For a direction s_i of a tree joint, with x, a_x the motion
/// of the parent plus that along the directions that are fixed in it,
///
///   P_i = x × s_i,   Q_i = a_x × s_i + x × P_i                                  (6)
///   Q′_i = (x + v) × s_i,  or (v_λ + x) × s_i if s_i is fixed in the parent     (7)
///
/// of which a cluster's columns are, summed over the joints between its output body and a body, and
/// with W, Z, Y of loop_derivatives.hpp,
///
///   S_j = Σ s_i G_ij                     P_j = Σ P_i G_ij + s_i W_ij            (8)
///   Q_j = Σ Q_i G_ij + Q′_i W_ij + s_i Z_ij      Q′_j = Σ Q′_i G_ij + s_i Y_ij   (9)
///
/// Within a cluster τ = Gᵀ τ_s. In place of ∂G/∂y the loops' forces Kᵀ μ, μ = K_d⁻ᵀ τ_d, act on the
/// bodies: then no force is left along the dependent joints, and
///
///   ∂τ/∂y_j = Gᵀ ∂(τ_s − Kᵀ μ)/∂y_j,  μ constant                                (10)
///
/// A folded rotor of inertia J about z on body p, with momentum h = J q̇ z, has τ_r = J (z·α_p + q̈)
/// and adds J q̈ z + ω_p × h to the moment on p. So B of p gains −½ h×, and along its cluster's DoFs
///
///   ∂τ_r/∂y_j = J (z·(Q_j − ω_p × P_j) + Z_rj),   F_j += J Z_rj z + ω_p × J W_rj z    (11)
///
/// with P_j, Q_j of p, zero on the output body, and likewise along ẏ_j with S_j, Q′_j, Y, G.
namespace kempe::detail {

/// How the external forces on a body change when it is displaced, beyond turning with it: those that
/// keep their direction, at a point that moves with the body, or also their line of action.
template <typename T>
struct KeptForces {
  Mat3<T> N{};
  Vec3<T> force{}, fixed{};

  KEMPE_HD KeptForces& operator+=(const KeptForces& b) {
    N += b.N;
    force += b.force;
    fixed += b.fixed;
    return *this;
  }
  /// E m = [N α + a × fixed; α × force] of m = [α; a].
  KEMPE_HD friend Force<T> operator*(const KeptForces& E, const Motion<T>& m) {
    return {E.N * m.angular + cross(m.linear, E.fixed), cross(m.angular, E.force)};
  }
  KEMPE_HD friend Force<T> transposeTimes(const KeptForces& E, const Motion<T>& m) {
    return {transposeTimes(E.N, m.angular) + cross(E.force, m.linear), cross(E.fixed, m.angular)};
  }
};

/// Memory of the kernel below.
template <typename T>
struct DerivativeWork {
  Motion<T>*P, *Q, *Qv;      ///< as WorkView::S
  Force<T>*Fq, *Fv;          ///< likewise: (1), (2)
  Motion<T>*p, *qq, *qv;     ///< per spanning velocity: (6), (7)
  T *W, *Z, *Y;              ///< as WorkView::G
  CoriolisInertia<T>* B;     ///< per body
  KeptForces<T>* E;          ///< per body
  Force<T>* loopForces;      ///< per body: of Kᵀ μ
  T *spanningQ, *spanningV;  ///< n × m of one cluster: ∂τ_s
  T* rightSide;              ///< kept × m of one cluster
  T* tau;                    ///< nv
  T* registers;              ///< of programs
  T* functions;              ///< results of FunctionPrograms::secondOrder
};

template <typename T, typename R>
DerivativeWork<T> carveDerivatives(const TablesView<R>& tables, Carver& carver) {
  int largest = 1;
  for (int c = 0; c < tables.clusterCount; ++c) {
    const int ratios = tables.clusters[c].velocities * tables.clusters[c].nv;
    largest = ratios > largest ? ratios : largest;
  }
  DerivativeWork<T> w;
  w.P = carver.take<Motion<T>>(tables.sColumns);
  w.Q = carver.take<Motion<T>>(tables.sColumns);
  w.Qv = carver.take<Motion<T>>(tables.sColumns);
  w.Fq = carver.take<Force<T>>(tables.sColumns);
  w.Fv = carver.take<Force<T>>(tables.sColumns);
  w.p = carver.take<Motion<T>>(tables.velocities);
  w.qq = carver.take<Motion<T>>(tables.velocities);
  w.qv = carver.take<Motion<T>>(tables.velocities);
  w.W = carver.take<T>(tables.ratios);
  w.Z = carver.take<T>(tables.ratios);
  w.Y = carver.take<T>(tables.ratios);
  w.B = carver.takeWithWorld<CoriolisInertia<T>>(tables.bodyCount);
  w.E = carver.takeWithWorld<KeptForces<T>>(tables.bodyCount);
  w.loopForces = carver.takeWithWorld<Force<T>>(tables.bodyCount);
  w.spanningQ = carver.take<T>(largest);
  w.spanningV = carver.take<T>(largest);
  w.rightSide = carver.take<T>(tables.widestRightSide + tables.mostRows);
  w.tau = carver.take<T>(tables.nv);
  w.registers = carver.take<T>(tables.secondOrderRegisters);
  w.functions = carver.take<T>(tables.secondOrderNumbers);
  return w;
}

/// Outputs of the kernel: ∂τ/∂q, ∂τ/∂v, H, nv × nv each, by contiguous rows or columns.
template <typename T>
struct DerivativeMatrices {
  MatrixAt<T> q, v, H;
};

template <typename T, typename Tables>
class InverseDynamicsDerivativesKernel {
 public:
  using R = typename Tables::Scalar;
  using Body = BodyEntry<R>;

  KEMPE_HD InverseDynamicsDerivativesKernel(const Tables& tables, const WorkView<T>& work,
                                            const DerivativeWork<T>& own,
                                            const ExternalForces<T, R>& external,
                                            const DerivativeMatrices<T>& result)
      : tables_(tables), work_(work), own_(own), external_(external), result_(result) {}

  /// Returns the first cluster at a singular position, or −1.
  template <typename Loops>
  KEMPE_HD int run(Loops& loops, const T* q, const T* v, const T* ydd) {
    v_ = v;
    ydd_ = ydd;
    placeWorld(tables_, work_, q);
    own_.B[kWorld] = {};
    own_.E[kWorld] = {};
    for (int i = 0; i < external_.count; ++i) {
      keepsForces_ = keepsForces_ || external_.frames[i].reference != Reference::Local;
    }
    expandMechanism(tables_, work_, q);
    const int singular = forEachCluster<Direction::Outward>(tables_, [&](int c) {
      return passCluster(tables_, c, work_, loops, v, ydd, VaryPass<Loops>{*this, loops});
    });
    if (singular >= 0) {
      return singular;
    }
    if (tables_.floatingBase >= 0) {
      transposedBase_ = work_.X[tables_.floatingBase].R.transposed();
    }
    subtractExternal(external_, 0, tables_.bodyCount, work_);
    keepExternal();
    clearResult();
    forEachCluster<Direction::Inward>(tables_, [&](int c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      switch (shapeOf(cluster, work_)) {
        case ClusterShape::Single:
          gatherSingle(c, cluster, tables_.bodies[cluster.moving]);
          break;
        case ClusterShape::FreeBase:
          gatherBase(cluster);
          break;
        case ClusterShape::Coupled:
        case ClusterShape::General:
          gatherGeneral(c, cluster);
          break;
      }
    });
    return -1;
  }

 private:
  template <typename Loops>
  struct VaryPass {
    InverseDynamicsDerivativesKernel& kernel;
    Loops& loops;

    KEMPE_HD void single(const ClusterEntry& cluster, const Body& body) const {
      kernel.varySingle(cluster, body);
    }
    template <int M>
    KEMPE_HD void coupled(const ClusterEntry& cluster) const {
      placeBodies(kernel.tables_, cluster, kernel.work_);
      spanCluster(kernel.tables_, cluster, kernel.work_);
      moveBodies(kernel.tables_, kernel.tables_.bodies[cluster.firstBody].cluster, kernel.work_,
                 loops, kernel.v_, kernel.ydd_);
      general(cluster);
    }
    KEMPE_HD void base(const ClusterEntry& cluster, const Body& body) const {
      accelerateBase(cluster, body, kernel.work_, kernel.v_, kernel.ydd_);
      kernel.placeInertia(cluster.firstBody, kernel.work_.v[cluster.firstBody]);
    }
    KEMPE_HD void general(const ClusterEntry& cluster) const {
      loadBodies(kernel.tables_, cluster, kernel.work_);
      kernel.varyGeneral(cluster);
    }
  };

  // --- outward ---------------------------------------------------------------------------------

  KEMPE_HD void placeInertia(int b, const Motion<T>& v) const {
    const PlacedInertia<T> inertia = placed(work_.X[b], tables_.bodies[b].central);
    work_.I[b] = aboutOrigin(inertia);
    own_.B[b] = coriolisOf(inertia, v);
    own_.E[b] = {};
  }

  KEMPE_HD KEMPE_FLATTEN void varySingle(const ClusterEntry& cluster, const Body& body) const {
    moveSingle(cluster, body, work_, v_, ydd_, own_.tau);
    const Motion<T> s = work_.S[body.firstS];
    const Motion<T> x = work_.v[cluster.output];
    const Motion<T> v = x + v_[cluster.firstV] * s;
    const Motion<T> P = cross(x, s);
    own_.P[body.firstS] = P;                                                // (6)
    own_.Q[body.firstS] = cross(work_.a[cluster.output], s) + cross(x, P);  // (6)
    own_.Qv[body.firstS] = P + cross(v, s);                                 // (7)
    placeInertia(cluster.moving, v);
    if (body.single.geared) {
      own_.B[cluster.output].addSpin(v_[cluster.firstV] *
                                     turned(work_.X[cluster.output].R, body.single.spin));
    }
  }

  /// out = Σ term(i, j) over the directions i between the output body and each body.
  template <typename Term>
  KEMPE_HD void spanColumns(const ClusterEntry& cluster, Motion<T>* out, const Term& term) const {
    const int m = cluster.nv;
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const Body& body = tables_.bodies[b];
      if (onlySpins(cluster, body, work_)) {
        continue;
      }
      const bool inside = body.parent >= cluster.firstBody;
      for (int j = 0; j < m; ++j) {
        Motion<T> sum = inside ? out[tables_.bodies[body.parent].firstS + j] : Motion<T>{};
        for (int i = body.firstVelocity; i < body.firstVelocity + velocitySize(body.type); ++i) {
          sum += term(i, (i - cluster.firstVelocity) * m + j);
        }
        out[body.firstS + j] = sum;
      }
    }
  }

  /// (6) and (7) of the joints of a cluster, inertias and momenta of rotors.
  KEMPE_HD void varyJoints(const ClusterEntry& cluster) const {
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const Body& body = tables_.bodies[b];
      if (body.folded) {
        own_.B[body.parent].addSpin((T(body.spinInertia) * work_.rates[body.firstVelocity]) *
                                    spinAxis(cluster, body, work_));
        work_.I[b] = {};
        own_.B[b] = {};
        own_.E[b] = {};
        if (onlySpins(cluster, body, work_)) {
          continue;
        }
        spanRotor(cluster, body);
      } else {
        placeInertia(b, work_.v[b]);
      }
      const Motion<T>* s = directionsOf(cluster, body, work_);
      const int first = body.firstVelocity, withParent = directionsFixedInParent(body.type);
      const Motion<T> parentV = work_.v[body.parent];
      Motion<T> along{}, acceleration = work_.a[body.parent];
      for (int i = 0; i < withParent; ++i) {
        along += work_.rates[first + i] * s[i];
        acceleration += work_.accelerations[first + i] * s[i];
      }
      acceleration += cross(parentV, along);
      const Motion<T> x = parentV + along;
      for (int i = 0; i < velocitySize(body.type); ++i) {
        const Motion<T> P = cross(x, s[i]);
        own_.p[first + i] = P;
        own_.qq[first + i] = cross(acceleration, s[i]) + cross(x, P);
        own_.qv[first + i] = P + cross(i < withParent ? parentV : work_.v[b], s[i]);
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

  KEMPE_HD void varyGeneral(const ClusterEntry& cluster) const {
    varyJoints(cluster);
    const int m = cluster.nv;
    if (cluster.kind == ClusterKind::Tree) {
      const Body& body = tables_.bodies[cluster.firstBody];
      for (int j = 0; j < m; ++j) {
        own_.P[body.firstS + j] = own_.p[body.firstVelocity + j];
        own_.Q[body.firstS + j] = own_.qq[body.firstVelocity + j];
        own_.Qv[body.firstS + j] = own_.qv[body.firstVelocity + j];
      }
      return;
    }
    const T* G = work_.G + cluster.firstRatio;
    spanColumns(cluster, own_.P, [&](int i, int ij) { return G[ij] * own_.p[i]; });
    spanColumns(cluster, own_.Qv, [&](int i, int ij) { return G[ij] * own_.qv[i]; });
    if (cluster.kind == ClusterKind::Implicit) {
      varyLoops(cluster);
    } else {
      spanColumns(cluster, own_.Q, [&](int i, int ij) { return G[ij] * own_.qq[i]; });
    }
  }

  KEMPE_HD ClusterMotion<T> motionOf(const ClusterEntry& cluster) const {
    return {work_.positions + cluster.firstPosition,
            work_.rates + cluster.firstVelocity,
            work_.accelerations + cluster.firstVelocity,
            work_.X + cluster.firstBody,
            work_.v + cluster.firstBody,
            work_.a + cluster.firstBody,
            work_.X[cluster.output],
            work_.v[cluster.output],
            work_.a[cluster.output]};
  }
  KEMPE_HD LoopVariation<T> variationOf(const ClusterEntry& cluster,
                                        const ClusterMotion<T>& motion) const {
    return {tables_, cluster, motion, own_.registers, own_.functions};
  }

  /// W, Z, Y from the right-hand sides that are there.
  KEMPE_HD void solveRows(const ClusterEntry& cluster, T* result) const {
    const int m = cluster.nv;
    solveLoops(cluster, work_.loops, own_.rightSide, m);
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

  /// (1) to (3) of loop_derivatives.hpp, and the columns of (8) and (9).
  KEMPE_HD void varyLoops(const ClusterEntry& cluster) const {
    const int m = cluster.nv;
    const T* G = work_.G + cluster.firstRatio;
    T* W = own_.W + cluster.firstRatio;
    T* Z = own_.Z + cluster.firstRatio;
    T* Y = own_.Y + cluster.firstRatio;
    const ClusterMotion<T> motion = motionOf(cluster);
    const LoopVariation<T> rows = variationOf(cluster, motion);
    rows.prepare();
    const auto column = [&](const Motion<T>* of, int body, int j) {
      return of[tables_.bodies[cluster.firstBody + body].firstS + j];
    };
    const auto along = [m](const T* matrix, int j) {
      return [matrix, m, j](int i) { return matrix[i * m + j]; };
    };
    const auto rightSide = [&](int j) {
      return [this, m, j](int slot) -> T& { return own_.rightSide[slot * m + j]; };
    };
    for (int j = 0; j < m; ++j) {
      rows.rateChanges(
          [&](int b) {
            return Variation<T>{column(work_.S, b, j), column(own_.P, b, j), {}};
          },
          along(G, j), rightSide(j));
    }
    solveRows(cluster, W);
    const auto direction = [&](int i) { return work_.s[i]; };
    spanColumns(cluster, own_.P,
                [&](int i, int ij) { return G[ij] * own_.p[i] + W[ij] * direction(i); });
    spanColumns(cluster, own_.Q,
                [&](int i, int ij) { return G[ij] * own_.qq[i] + W[ij] * own_.qv[i]; });
    for (int j = 0; j < m; ++j) {
      rows.accelerationChanges(
          [&](int b) {
            return Variation<T>{column(work_.S, b, j), column(own_.P, b, j), column(own_.Q, b, j)};
          },
          along(G, j), along(W, j), rightSide(j));
    }
    solveRows(cluster, Z);
    for (int j = 0; j < m; ++j) {
      rows.accelerationChanges(
          [&](int b) {
            return Variation<T>{{}, column(work_.S, b, j), column(own_.Qv, b, j)};
          },
          [](int) { return T(0); }, along(G, j), rightSide(j));
    }
    solveRows(cluster, Y);
    spanColumns(cluster, own_.Q, [&](int i, int ij) {
      return G[ij] * own_.qq[i] + W[ij] * own_.qv[i] + Z[ij] * direction(i);
    });
    spanColumns(cluster, own_.Qv,
                [&](int i, int ij) { return G[ij] * own_.qv[i] + Y[ij] * direction(i); });
  }

  /// What external forces that do not turn with their bodies add to E.
  KEMPE_HD void keepExternal() const {
    for (int i = 0; keepsForces_ && i < external_.count; ++i) {
      const BodyFrame<R>& frame = external_.frames[i];
      if (frame.reference == Reference::Local || frame.body == kWorld) {
        continue;
      }
      const T* w = external_.wrenches + 6 * i;
      const Force<T> wrench{{w[3], w[4], w[5]}, {w[0], w[1], w[2]}};
      const Transform<T> X = referenceFrame(frame, work_);
      const Force<T> f = X * wrench;
      KeptForces<T>& E = own_.E[frame.body];
      E.force += f.force;
      if (frame.reference == Reference::World) {
        E.N += skew(-f.moment);
        E.fixed += f.force;
        continue;
      }
      // p × (α × f) + α × c of a force f at p with a couple c
      const auto column = [&](const Vec3<T>& axis) {
        return cross(X.p, cross(axis, f.force)) + cross(axis, wrench.moment);
      };
      E.N += Mat3<T>{column({T(1), T(0), T(0)}), column({T(0), T(1), T(0)}),
                     column({T(0), T(0), T(1)})}
                 .transposed();
    }
  }

  // --- inward ----------------------------------------------------------------------------------

  KEMPE_HD void clearResult() const {
    for (const MatrixAt<T>* matrix : {&result_.q, &result_.v, &result_.H}) {
      const bool byRows = matrix->columnStride == 1;
      const int stride = byRows ? matrix->rowStride : matrix->columnStride;
      for (int i = 0; i < tables_.nv; ++i) {
        T* line = matrix->numbers + i * stride;
        for (int j = 0; j < tables_.nv; ++j) {
          line[j] = T(0);
        }
      }
    }
  }

  /// h, 2 b, e of (4) and the sums of (1) and (2) of one DoF.
  struct Sums {
    Force<T> h{}, twiceB{}, e{}, Fq{}, Fv{};
  };

  /// (3) to (5) for the clusters between c and the root.
  KEMPE_HD void writeAncestors(int c, int l, const Sums& sums) const {
    for (const AncestorEntry* a = tables_.ancestors + c; a->cluster >= 0;
         a = tables_.ancestors + a->cluster) {
      if (a->base) {
        writeBase(l, a->firstV, sums);
        continue;
      }
      for (int i = 0; i < a->nv; ++i) {
        const int column = a->firstS + i, k = a->firstV + i;
        const Motion<T> S = work_.S[column];
        T byQ = dot(sums.h, own_.Q[column]) + dot(sums.twiceB, own_.P[column]);
        if (keepsForces_) {
          byQ += dot(sums.e, S);
        }
        result_.q(l, k) = byQ;
        result_.v(l, k) = dot(sums.h, own_.Qv[column]) + dot(sums.twiceB, S);
        result_.q(k, l) = dot(sums.Fq, S);
        result_.v(k, l) = dot(sums.Fv, S);
        result_.H(l, k) = result_.H(k, l) = dot(sums.h, S);
      }
    }
  }

  /// The same for the floating base, whose S is its rotation R for both parts: P = 0, Q = a₀ × S,
  /// Q′ = v × S, with a₀ the acceleration of the world.
  KEMPE_HD void writeBase(int l, int firstV, const Sums& sums) const {
    const int b = tables_.floatingBase;
    Force<T> byQ = -cross(work_.a[kWorld], sums.h);
    if (keepsForces_) {
      byQ += sums.e;
    }
    const auto write = [&](const Force<T>& f, const auto& put) {
      const Vec3<T> linear = transposedBase_ * f.force, angular = transposedBase_ * f.moment;
      for (int i = 0; i < 3; ++i) {
        put(firstV + i, linear[i]);
        put(firstV + 3 + i, angular[i]);
      }
    };
    write(byQ, [&](int k, const T& x) { result_.q(l, k) = x; });
    write(sums.twiceB - cross(work_.v[b], sums.h), [&](int k, const T& x) { result_.v(l, k) = x; });
    write(sums.Fq, [&](int k, const T& x) { result_.q(k, l) = x; });
    write(sums.Fv, [&](int k, const T& x) { result_.v(k, l) = x; });
    write(sums.h, [&](int k, const T& x) { result_.H(l, k) = result_.H(k, l) = x; });
  }

  /// Hands what a body and those that it carries have to its output body.
  KEMPE_HD void handOn(const ClusterEntry& cluster, int b) const {
    if (cluster.output == kWorld) {
      return;
    }
    work_.I[cluster.output] += work_.I[b];
    own_.B[cluster.output] += own_.B[b];
    if (keepsForces_) {
      own_.E[cluster.output] += own_.E[b];
    }
  }

  KEMPE_HD KEMPE_FLATTEN void gatherSingle(int c, const ClusterEntry& cluster,
                                           const Body& body) const {
    const int b = cluster.moving, l = cluster.firstV;
    const Motion<T> s = work_.S[body.firstS];
    const RigidInertia<T> I = work_.I[b];
    const CoriolisInertia<T> B = own_.B[b];
    const Force<T> f = work_.f[b];
    Sums sums;
    sums.h = I * s;
    sums.twiceB = T(2) * transposeTimes(B, s);
    sums.Fq = I * own_.Q[body.firstS] + T(2) * (B * own_.P[body.firstS]);
    if (keepsForces_) {
      sums.e = transposeTimes(own_.E[b], s);
      sums.Fq += own_.E[b] * s;
    }
    sums.Fv = I * own_.Qv[body.firstS] + T(2) * (B * s);
    const Single<R>& single = body.single;
    result_.H(l, l) = dot(sums.h, s) + T(single.reflected);
    result_.q(l, l) = dot(sums.Fq, s) + T(single.stiffness);
    result_.v(l, l) = dot(sums.Fv, s) + T(single.damping);
    if (cluster.output == kWorld) {
      return;
    }
    sums.Fq += cross(s, f);
    if (single.geared) {
      const Vec3<T> spin = turned(work_.X[cluster.output].R, single.spin);
      const Vec3<T> turning = cross(work_.v[cluster.output].angular, spin);
      sums.h.moment += spin;
      sums.twiceB.moment += turning;
      sums.Fv.moment += turning;
    }
    work_.f[cluster.output] += f;
    handOn(cluster, b);
    writeAncestors(c, l, sums);
  }

  KEMPE_HD void gatherBase(const ClusterEntry& cluster) const {
    const int b = cluster.firstBody, first = cluster.firstV;
    const Mat3<T>& R_ = work_.X[b].R;
    const RigidInertia<T> I = work_.I[b];
    for (int j = 0; j < 6; ++j) {
      const Motion<T> s =
          j < 3 ? Motion<T>{Vec3<T>{}, R_.column(j)} : Motion<T>{R_.column(j - 3), Vec3<T>{}};
      Force<T> Fq = I * cross(work_.a[kWorld], s);
      if (keepsForces_) {
        Fq += own_.E[b] * s;
      }
      const Force<T> Fv = I * cross(work_.v[b], s) + T(2) * (own_.B[b] * s);
      const auto write = [&](const Force<T>& f, const MatrixAt<T>& to) {
        const Vec3<T> linear = transposedBase_ * f.force, angular = transposedBase_ * f.moment;
        for (int i = 0; i < 3; ++i) {
          to(first + i, first + j) = linear[i];
          to(first + 3 + i, first + j) = angular[i];
        }
      };
      write(Fq, result_.q);
      write(Fv, result_.v);
      write(I * s, result_.H);
    }
  }

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

  KEMPE_HD void gatherGeneral(int c, const ClusterEntry& cluster) const {
    const int m = cluster.nv, last = cluster.firstBody + cluster.bodies;
    for (int j = 0; j < m; ++j) {
      sumDof(c, cluster, j);
    }
    for (int b = cluster.firstBody; b < last; ++b) {
      if (!onlySpins(cluster, tables_.bodies[b], work_)) {
        handOn(cluster, b);
      }
    }
    // τ_s, for the multipliers, and the forces that each joint carries in work.f.
    gatherForces(tables_, cluster, work_, own_.tau);
    if (cluster.kind == ClusterKind::Implicit) {
      applyMultipliers(cluster);
    }
    gatherChanges(cluster);
    for (int l = 0; l < m; ++l) {
      for (int j = 0; j < m; ++j) {
        T byQ(0), byV(0);
        for (int i = 0; i < cluster.velocities; ++i) {
          const T r = ratio(cluster, cluster.firstVelocity + i, l);
          byQ += r * own_.spanningQ[i * m + j];
          byV += r * own_.spanningV[i * m + j];
        }
        result_.q(cluster.firstV + l, cluster.firstV + j) = byQ;
        result_.v(cluster.firstV + l, cluster.firstV + j) = byV;
      }
    }
  }

  /// (1), (2) and (11) of all bodies along DoF j, and what the ancestors need of it; also the column
  /// of H within the cluster.
  KEMPE_HD void sumDof(int c, const ClusterEntry& cluster, int j) const {
    Sums sums;
    const int last = cluster.firstBody + cluster.bodies, m = cluster.nv;
    T* H = own_.spanningQ;  // J r of rotors and armatures, until it is needed for ∂τ_s
    for (int l = 0; l < m; ++l) {
      H[l] = T(0);
    }
    for (int b = cluster.firstBody; b < last; ++b) {
      const Body& body = tables_.bodies[b];
      if (onlySpins(cluster, body, work_)) {
        continue;
      }
      const int column = body.firstS + j;
      const Motion<T> S = work_.S[column];
      const Force<T> h = work_.I[b] * S;
      Force<T> Fq =
          cross(S, work_.f[b]) + work_.I[b] * own_.Q[column] + T(2) * (own_.B[b] * own_.P[column]);
      if (keepsForces_) {
        Fq += own_.E[b] * S;
        sums.e += transposeTimes(own_.E[b], S);
      }
      const Force<T> Fv = work_.I[b] * own_.Qv[column] + T(2) * (own_.B[b] * S);
      own_.Fq[column] = Fq;
      own_.Fv[column] = Fv;
      sums.h += h;
      sums.twiceB += T(2) * transposeTimes(own_.B[b], S);
      sums.Fq += Fq;
      sums.Fv += Fv;
      for (int l = 0; l < m; ++l) {
        H[l] += dot(h, work_.S[body.firstS + l]);
      }
    }
    for (int b = cluster.firstBody; b < last; ++b) {
      const Body& body = tables_.bodies[b];
      if (body.folded) {
        sumRotor(cluster, body, j, sums, H);
      }
    }
    for (int i = cluster.firstVelocity;
         cluster.armatured && i < cluster.firstVelocity + cluster.velocities; ++i) {
      const T reflected = T(tables_.armature[i]) * ratio(cluster, i, j);
      for (int l = 0; l < m; ++l) {
        H[l] += ratio(cluster, i, l) * reflected;
      }
    }
    for (int l = 0; l < m; ++l) {
      result_.H(cluster.firstV + l, cluster.firstV + j) = H[l];
    }
    writeAncestors(c, cluster.firstV + j, sums);
  }

  KEMPE_HD void sumRotor(const ClusterEntry& cluster, const Body& body, int j, Sums& sums,
                         T* H) const {
    const int r = body.firstVelocity, p = body.parent;
    const T J(body.spinInertia), own = ratio(cluster, r, j);
    const Vec3<T> w = J * spinAxis(cluster, body, work_);
    const Vec3<T> omega = work_.v[p].angular, turning = cross(omega, w);
    const Vec3<T> byQ =
        change(cluster, own_.Z, r, j) * w + change(cluster, own_.W, r, j) * turning;  // (11)
    const Vec3<T> byV = change(cluster, own_.Y, r, j) * w + own * turning;
    sums.h.moment += own * w;
    sums.twiceB.moment += own * turning;
    sums.Fq.moment += byQ;
    sums.Fv.moment += byV;
    const bool inside = p >= cluster.firstBody;
    if (inside) {
      own_.Fq[tables_.bodies[p].firstS + j].moment += byQ;
      own_.Fv[tables_.bodies[p].firstS + j].moment += byV;
    }
    // (8) of articulated.hpp
    const Vec3<T> carried = inside ? work_.S[tables_.bodies[p].firstS + j].angular : Vec3<T>{};
    for (int l = 0; l < cluster.nv; ++l) {
      const T other = ratio(cluster, r, l);
      H[l] += other * (J * own + dot(w, carried));
      if (inside) {
        H[l] += own * dot(w, work_.S[tables_.bodies[p].firstS + l].angular);
      }
    }
  }

  /// The loops' forces of (10): onto the bodies' forces and their changes, and into ∂τ_s of
  /// functions, which is cleared here.
  KEMPE_HD void applyMultipliers(const ClusterEntry& cluster) const {
    const int m = cluster.nv, n = cluster.velocities;
    T* multipliers = own_.rightSide;
    const int* dependent = tables_.dependent + cluster.firstDependent;
    for (int i = 0; i < cluster.kept; ++i) {
      multipliers[i] = work_.tau[cluster.firstVelocity + dependent[i]];
    }
    solveLoopsTransposed(cluster, work_.loops, multipliers);
    for (int i = 0; i < n * m; ++i) {
      own_.spanningQ[i] = T(0);
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      own_.loopForces[b] = {};
    }
    const ClusterMotion<T> motion = motionOf(cluster);
    const LoopVariation<T> rows = variationOf(cluster, motion);
    const T* G = work_.G + cluster.firstRatio;
    for (int j = 0; j < m; ++j) {
      rows.forceChanges(
          multipliers,
          [&](int b) {
            return Variation<T>{work_.S[tables_.bodies[cluster.firstBody + b].firstS + j], {}, {}};
          },
          [&](int i) { return G[i * m + j]; },
          [&](int body, const Force<T>& f, const Force<T>& change) {
            if (body >= 0) {
              const int b = cluster.firstBody + body;
              own_.Fq[tables_.bodies[b].firstS + j] -= change;
              if (j == 0) {
                own_.loopForces[b] -= f;
              }
            }
          },
          [&](int i, const T& change) { own_.spanningQ[i * m + j] -= change; });
    }
  }

  /// ∂τ_s, after the forces of joints are in work.f.
  KEMPE_HD void gatherChanges(const ClusterEntry& cluster) const {
    const int m = cluster.nv;
    const bool implicit = cluster.kind == ClusterKind::Implicit;
    for (int b = cluster.firstBody + cluster.bodies - 1; b >= cluster.firstBody; --b) {
      const Body& body = tables_.bodies[b];
      const Motion<T>* s = directionsOf(cluster, body, work_);
      const bool inside = body.parent >= cluster.firstBody, spins = onlySpins(cluster, body, work_);
      const int withParent = directionsFixedInParent(body.type);
      const int parentS = inside ? tables_.bodies[body.parent].firstS : 0;
      Force<T> f = work_.f[b];
      if (implicit && !spins) {
        f += own_.loopForces[b];
        if (inside) {
          own_.loopForces[body.parent] += own_.loopForces[b];
        }
      }
      for (int i = 0; i < velocitySize(body.type); ++i) {
        const int velocity = body.firstVelocity + i;
        T* toQ = own_.spanningQ + (velocity - cluster.firstVelocity) * m;
        T* toV = own_.spanningV + (velocity - cluster.firstVelocity) * m;
        for (int j = 0; j < m; ++j) {
          T byQ(0), byV(0);
          if (!spins) {
            const int column = body.firstS + j;
            byQ = dot(own_.Fq[column], s[i]);
            byV = dot(own_.Fv[column], s[i]);
            if (i >= withParent) {
              byQ += dot(f, cross(work_.S[column], s[i]));
            } else if (inside) {
              byQ += dot(f, cross(work_.S[parentS + j], s[i]));
            }
          }
          if (body.folded) {
            addSpinTorque(cluster, body, velocity, j, inside, parentS, byQ, byV);
          }
          const T r = ratio(cluster, velocity, j);
          if (cluster.armatured) {
            byQ += T(tables_.armature[velocity]) * change(cluster, own_.Z, velocity, j);
            byV += T(tables_.armature[velocity]) * change(cluster, own_.Y, velocity, j);
          }
          if (cluster.dissipates) {
            byQ += T(tables_.damping[velocity]) * change(cluster, own_.W, velocity, j);
            byV += T(tables_.damping[velocity]) * r;
          }
          if (cluster.sprung && velocitySize(body.type) == 1) {
            byQ += T(tables_.stiffness[velocity]) * r;
          }
          toQ[j] = implicit ? toQ[j] + byQ : byQ;
          toV[j] = byV;
        }
      }
      for (int j = 0; inside && !spins && j < m; ++j) {
        own_.Fq[parentS + j] += own_.Fq[body.firstS + j];
        own_.Fv[parentS + j] += own_.Fv[body.firstS + j];
      }
    }
  }

  /// (11)
  KEMPE_HD void addSpinTorque(const ClusterEntry& cluster, const Body& body, int velocity, int j,
                              bool inside, int parentS, T& byQ, T& byV) const {
    const T J(body.spinInertia);
    byQ += J * change(cluster, own_.Z, velocity, j);
    byV += J * change(cluster, own_.Y, velocity, j);
    if (inside) {
      const Vec3<T> w = J * spinAxis(cluster, body, work_);
      const Vec3<T> turning = cross(work_.v[body.parent].angular, w);
      const int column = parentS + j;
      byQ += dot(w, own_.Q[column].angular) + dot(turning, own_.P[column].angular);
      byV += dot(w, own_.Qv[column].angular) + dot(turning, work_.S[column].angular);
    }
  }

  const Tables& tables_;
  const WorkView<T>& work_;
  const DerivativeWork<T>& own_;
  const ExternalForces<T, R>& external_;
  const DerivativeMatrices<T>& result_;
  const T* v_ = nullptr;
  const T* ydd_ = nullptr;
  bool keepsForces_ = false;
  Mat3<T> transposedBase_ = Mat3<T>::identity();
};

}  // namespace kempe::detail
