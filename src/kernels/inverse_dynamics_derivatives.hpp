#pragma once

#include "kernels/derivative_work.hpp"
#include "kernels/implicit_loops.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/mass_matrix.hpp"

/// Derivatives of C-RNEA with respect to positions, along the tangent, and velocities (after Singh,
/// Russell and Wensing 2022 for open trees; here for clusters, with rotors folded).
///
/// Along DoF j all bodies that it moves are displaced by S_j, and their velocities and accelerations
/// change by P_j and Q_j, or Q′_j along ẏ_j (motion_derivatives.hpp). With f, I, B of a body and all
/// that it carries, its force changes by
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
/// summed over the bodies of the cluster.
///
/// Within a cluster τ = Gᵀ τ_s. In place of ∂G/∂y the loops' forces Kᵀ μ, μ = K_d⁻ᵀ τ_d, act on the
/// bodies: then no force is left along the dependent joints, and
///
///   ∂τ/∂y_j = Gᵀ ∂(τ_s − Kᵀ μ)/∂y_j,  μ constant                                (6)
///
/// A folded rotor of inertia J about z on body p, with momentum h = J q̇ z, has τ_r = J (z·α_p + q̈)
/// and adds J q̈ z + ω_p × h to the moment on p. So B of p gains −½ h×, and along its cluster's DoFs
///
///   ∂τ_r/∂y_j = J (z·(Q_j − ω_p × P_j) + Z_rj),   F_j += J Z_rj z + ω_p × J W_rj z    (7)
///
/// with P_j, Q_j of p, zero on the output body, and likewise along ẏ_j with S_j, Q′_j, Y, G.
namespace kempe::detail {

template <typename T, typename Tables>
class InverseDynamicsDerivativesKernel {
 public:
  using R = typename Tables::Scalar;
  using Body = BodyEntry<R>;

  KEMPE_HD InverseDynamicsDerivativesKernel(const Tables& tables, const WorkView<T>& work,
                                            const DerivativeWork<T>& own,
                                            const ExternalForces<T, R>& external,
                                            const DerivativeMatrices<T>& result)
      : tables_(tables),
        work_(work),
        own_(own),
        columns_(own.motion),
        motion_(tables, work, own.motion),
        external_(external),
        result_(result) {}

  /// Returns the first cluster at a singular position, or −1.
  template <typename Order = LevelByLevel, typename Loops>
  KEMPE_HD int run(Loops& loops, const T* q, const T* v, const T* ydd) {
    placeWorld(tables_, work_, q);
    expandMechanism(tables_, work_, q);
    begin(v, ydd);
    return thereAndBack<Order>([&](int c) {
      return passCluster(tables_, c, work_, loops, v, ydd, VaryPass<Loops>{*this, loops});
    });
  }

  /// After forward dynamics at the same state in the same memory, of which `ydd` is the result.
  template <typename Order = LevelByLevel, typename Loops>
  KEMPE_HD void runAfterForwardDynamics(Loops& loops, const T* v, const T* ydd) {
    begin(v, ydd);
    isPlaced_ = true;
    thereAndBack<Order>([&](int c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      const VaryPass<Loops> pass{*this, loops};
      if (shapeOf(cluster, work_) == ClusterShape::General) {
        accelerateBodies(cluster);
        pass.general(cluster);
        return true;
      }
      return passCluster(tables_, c, work_, loops, v, ydd, pass);
    });
  }

  /// Whether external forces do not all turn with their bodies.
  [[nodiscard]] KEMPE_HD bool keepsForces() const { return keepsForces_; }

 private:
  KEMPE_HD void begin(const T* v, const T* ydd) {
    v_ = v;
    ydd_ = ydd;
    own_.B[kWorld] = {};
    for (int i = 0; i < external_.count; ++i) {
      keepsForces_ = keepsForces_ || external_.frames[i].reference != Reference::Local;
    }
    own_.E[kWorld] = {};
    if (result_.ratios == nullptr) {
      clearResult();
    }
  }

  template <typename Order, typename Outward>
  KEMPE_HD int thereAndBack(const Outward& outward) {
    return Order::thereAndBack(
        tables_, outward,
        [&](int first, int last) {
          subtractExternal(external_, first, last, work_);
          keepExternal(first, last);
        },
        [&](int c) {
          const ClusterEntry& cluster = tables_.clusters[c];
          switch (shapeOf(cluster, work_)) {
            case ClusterShape::Single:
              gatherSingle(c, cluster, tables_.bodies[cluster.moving]);
              break;
            case ClusterShape::FreeBase:
              gatherBase(cluster);
              break;
            case ClusterShape::Coupled:
              withSize(cluster.nv, [&]<int M>() { gatherCoupled<M>(c, cluster); });
              break;
            case ClusterShape::General:
              withSize(cluster.nv, [&]<int M>() { gatherGeneral<M>(c, cluster); });
              break;
          }
        });
  }

  template <typename Loops>
  struct VaryPass {
    InverseDynamicsDerivativesKernel& kernel;
    Loops& loops;

    KEMPE_HD void single(const ClusterEntry& cluster, const Body& body) const {
      kernel.varySingle(cluster, body);
    }
    template <int M>
    KEMPE_HD void coupled(const ClusterEntry& cluster) const {
      kernel.template varyCoupled<M>(cluster);
    }
    KEMPE_HD void base(const ClusterEntry& cluster, const Body& body) const {
      kernel.varyBase(cluster, body);
    }
    KEMPE_HD void general(const ClusterEntry& cluster) const {
      loadBodies(kernel.tables_, cluster, kernel.work_);
      kernel.varyGeneral(cluster);
    }
  };

  // --- outward ---------------------------------------------------------------------------------

  /// q̈ and the motion of a cluster of general shape, where G, g, rates and placements are known.
  KEMPE_HD void accelerateBodies(const ClusterEntry& cluster) const {
    const int m = cluster.nv;
    const T* y = ydd_ + cluster.firstV;
    T* accelerations = work_.accelerations + cluster.firstVelocity;
    for (int i = 0; cluster.kind == ClusterKind::Tree && i < m; ++i) {
      accelerations[i] = y[i];
    }
    for (int i = 0; cluster.kind != ClusterKind::Tree && i < cluster.velocities; ++i) {
      for (int j = 0; j < m; ++j) {
        accelerations[i] += work_.G[cluster.firstRatio + i * m + j] * y[j];
      }
    }
    moveAlongJoints(tables_, cluster, work_, true);
  }

  KEMPE_HD void keepInertia(int b, const PlacedInertia<T>& inertia, const Motion<T>& v) const {
    work_.I[b] = aboutOrigin(inertia);
    own_.B[b] = coriolisOf(inertia, v);
    if (keepsForces_) {
      own_.E[b] = {};
    }
  }

  KEMPE_HD KEMPE_FLATTEN void varySingle(const ClusterEntry& cluster, const Body& body) const {
    const int b = cluster.moving, output = cluster.output;
    if (!isPlaced_) {
      placeSingleCluster(cluster, body, work_);
    }
    const T rate = v_[cluster.firstV], acceleration = ydd_[cluster.firstV];
    motion_.varySingle(cluster, body);
    const Motion<T> s = work_.S[body.firstS];
    const Motion<T> velocity = work_.v[output] + rate * s;
    const Motion<T> a = work_.a[output] + acceleration * s + rate * own_.motion.P[body.firstS];
    if (body.carrier) {
      work_.v[b] = velocity;
      work_.a[b] = a;
    }
    const PlacedInertia<T> inertia = placed(work_.X[b], body.central);
    work_.f[b] = forceOn(inertia, velocity, a);
    keepInertia(b, inertia, velocity);
    if (body.single.geared) {
      const Vec3<T> spin = turned(work_.X[output].R, body.single.spin);
      const Vec3<T> momentum = rate * spin;
      work_.f[output].moment += acceleration * spin + cross(work_.v[output].angular, momentum);
      own_.B[output].addSpin(momentum);
    }
  }

  /// Placement and direction of a body that turns or slides.
  KEMPE_HD PlacedSingle<T> placedSingle(int b, const Body& body) const {
    if (!isPlaced_) {
      return placeSingle(b, body, work_);
    }
    const Transform<T> X = work_.X[b];
    const Vec3<T> z = X.R.column(2);
    return {X, body.type == JointType::Prismatic ? Motion<T>{Vec3<T>{}, z}
                                                 : Motion<T>{z, cross(X.p, z)}};
  }

  template <int M>
  KEMPE_HD KEMPE_FLATTEN void varyCoupled(const ClusterEntry& cluster) const {
    const int m = M > 0 ? M : cluster.nv;
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const Body& body = tables_.bodies[b];
      const R* r = constantRatios(tables_, cluster, body.firstVelocity);
      const T rate = alongRatios<M>(m, r, v_ + cluster.firstV);
      const T acceleration = alongRatios<M>(m, r, ydd_ + cluster.firstV);
      const Motion<T> x = work_.v[body.parent], parentA = work_.a[body.parent];
      if (body.folded) {
        const Vec3<T> spin = T(body.spinInertia) * placeRotor(body, work_);
        const Vec3<T> momentum = rate * spin;
        work_.f[body.parent].moment += acceleration * spin + cross(x.angular, momentum);
        own_.B[body.parent].addSpin(momentum);
        continue;
      }
      const PlacedSingle<T> at = placedSingle(b, body);
      work_.s[body.firstVelocity] = at.s;
      spanSingle<M>(tables_, cluster, body, at.s, r, work_);
      const Motion<T> P = cross(x, at.s);
      const Motion<T> velocity = x + rate * at.s;
      const Motion<T> a = parentA + acceleration * at.s + rate * P;
      work_.v[b] = velocity;
      work_.a[b] = a;
      const PlacedInertia<T> inertia = placed(at.X, body.central);
      work_.f[b] = forceOn(inertia, velocity, a);
      keepInertia(b, inertia, velocity);
      motion_.template varyCoupled<M>(cluster, body, P, cross(parentA, at.s) + cross(x, P));
    }
  }

  KEMPE_HD KEMPE_FLATTEN void varyBase(const ClusterEntry& cluster, const Body& body) {
    const int b = cluster.firstBody;
    moveBase(cluster, body, work_, v_);
    const Mat3<T> R_ = work_.X[b].R;
    const T* y = ydd_ + cluster.firstV;
    const Motion<T> a =
        work_.a[kWorld] + Motion<T>{R_ * Vec3<T>{y[3], y[4], y[5]}, R_ * Vec3<T>{y[0], y[1], y[2]}};
    work_.a[b] = a;
    const PlacedInertia<T> inertia = placed(work_.X[b], body.central);
    work_.f[b] = forceOn(inertia, work_.v[b], a);
    keepInertia(b, inertia, work_.v[b]);
    transposedBase_ = R_.transposed();
  }

  KEMPE_HD void varyGeneral(const ClusterEntry& cluster) const {
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const Body& body = tables_.bodies[b];
      if (body.folded) {
        own_.B[body.parent].addSpin((T(body.spinInertia) * work_.rates[body.firstVelocity]) *
                                    spinAxis(cluster, body, work_));
        work_.I[b] = {};
        own_.B[b] = {};
        own_.E[b] = {};
      } else {
        keepInertia(b, placed(work_.X[b], body.central), work_.v[b]);
      }
    }
    motion_.varyGeneral(cluster);
  }

  /// What external forces on bodies from `first` to `last` − 1 that do not turn with them add to E.
  KEMPE_HD void keepExternal(int first, int last) const {
    for (int i = 0; keepsForces_ && i < external_.count; ++i) {
      const BodyFrame<R>& frame = external_.frames[i];
      if (frame.reference == Reference::Local || frame.body < first || frame.body >= last) {
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
      if (!*matrix) {
        continue;
      }
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

  /// (3) to (5) for the clusters between c and the root.
  KEMPE_HD void writeAncestors(int c, int l, const DerivativeSums<T>& sums) const {
    if (result_.ratios != nullptr) {
      writeForForwardDynamics(c, l, sums);
      return;
    }
    for (const AncestorEntry* a = tables_.ancestors + c; a->cluster >= 0;
         a = tables_.ancestors + a->cluster) {
      if (a->base) {
        writeBase(l, a->firstV, sums);
        continue;
      }
      for (int i = 0; i < a->nv; ++i) {
        const int column = a->firstS + i, k = a->firstV + i;
        const Motion<T> S = work_.S[column];
        T byQ = dotBoth(sums.h, columns_.Q[column], sums.twiceB, columns_.P[column].angular);
        if (keepsForces_) {
          byQ += dot(sums.e, S);
        }
        result_.q(l, k) = byQ;
        result_.v(l, k) = dotBoth(sums.h, columns_.Qv[column], sums.twiceB, S.angular);
        result_.q(k, l) = dot(sums.Fq, S);
        result_.v(k, l) = dot(sums.Fv, S);
        if (result_.H) {
          result_.H(l, k) = result_.H(k, l) = dot(sums.h, S);
        }
      }
    }
  }

  /// The same for the floating base, whose S is its rotation R for both parts: P = 0, Q = a₀ × S,
  /// Q′ = v × S, with a₀ the acceleration of the world.
  KEMPE_HD void writeBase(int l, int firstV, const DerivativeSums<T>& sums) const {
    const int b = tables_.floatingBase;
    const auto write = [&](const Force<T>& f, const auto& put) {
      const Vec3<T> linear = transposedBase_ * f.force, angular = transposedBase_ * f.moment;
      for (int i = 0; i < 3; ++i) {
        put(firstV + i, linear[i]);
        put(firstV + 3 + i, angular[i]);
      }
    };
    if (keepsForces_) {
      write(sums.e - cross(work_.a[kWorld], sums.h),
            [&](int k, const T& x) { result_.q(l, k) = x; });
    } else {
      // The world does not turn: only moments are left of the product.
      const Vec3<T> angular = transposedBase_ * cross(sums.h.force, work_.a[kWorld].linear);
      for (int i = 0; i < 3; ++i) {
        result_.q(l, firstV + i) = T(0);
        result_.q(l, firstV + 3 + i) = angular[i];
      }
    }
    Force<T> byV = -cross(work_.v[b], sums.h);
    byV.moment += sums.twiceB;
    write(byV, [&](int k, const T& x) { result_.v(l, k) = x; });
    write(sums.Fq, [&](int k, const T& x) { result_.q(k, l) = x; });
    write(sums.Fv, [&](int k, const T& x) { result_.v(k, l) = x; });
    if (result_.H) {
      write(sums.h, [&](int k, const T& x) { result_.H(l, k) = result_.H(k, l) = x; });
    }
  }

  /// The same for forward dynamics.
  KEMPE_HD void writeForForwardDynamics(int c, int l, const DerivativeSums<T>& sums) const {
    // Pointers of its own: numbers that are written could be parts of structures for all the compiler
    // knows.
    const int n = tables_.nv;
    T *q = result_.q.numbers, *v = result_.v.numbers, *ratios = result_.ratios + l * n;
    T *columnQ = q + l * n, *columnV = v + l * n;
    const Motion<T>*S = work_.S, *Q = columns_.Q, *Qv = columns_.Qv, *P = columns_.P;
    const Force<T> Y = work_.dInverse[l] * work_.U[l];
    const AncestorEntry *first = &tables_.ancestors[0], *a = first + c;
    for (; a->cluster >= 0 && !a->base; a = first + a->cluster) {
      for (int k = a->firstV, s = a->firstS; k < a->firstV + a->nv; ++k, ++s) {
        ratios[k] = dot(Y, S[s]);
        writeProducts(sums.Fq, sums.Fv, sums.h, sums.twiceB, S[s], Q[s], Qv[s], P[s].angular,
                      columnQ[k], columnV[k], q[k * n + l], v[k * n + l]);
        if (keepsForces_) {
          q[k * n + l] += dot(sums.e, S[s]);
        }
      }
    }
    if (a->cluster < 0) {
      return;
    }
    const int base = a->firstV;
    writeSix(sums.Fq.force, sums.Fq.moment, columnQ + base);
    writeSix(sums.Fv.force, sums.Fv.moment, columnV + base);
    writeSix(Y.force, Y.moment, ratios + base);
    // ∂τ along translations of the base is known; there are forces that keep their direction only
    // among those by positions.
    const Motion<T> velocity = work_.v[tables_.floatingBase];
    const Vec3<T> moment = sums.twiceB - (cross(velocity.angular, sums.h.moment) +
                                          cross(velocity.linear, sums.h.force));
    const Vec3<T> turned = transposedBase_ * moment;
    for (int i = 0; i < 3; ++i) {
      v[(base + 3 + i) * n + l] = turned[i];
    }
    if (keepsForces_) {
      T numbers[6];
      alongBase(transposedBase_, sums.e - cross(work_.a[kWorld], sums.h), numbers);
      for (int i = 0; i < 6; ++i) {
        q[(base + i) * n + l] = numbers[i];
      }
    }
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
    DerivativeSums<T> sums;
    sums.h = I * s;
    sums.twiceB = T(2) * transposeTimes(B, s).moment;
    sums.Fq = I * columns_.Q[body.firstS] + T(2) * (B * columns_.P[body.firstS]);
    if (keepsForces_) {
      sums.e = transposeTimes(own_.E[b], s);
      sums.Fq += own_.E[b] * s;
    }
    sums.Fv = T(2) * (I * columns_.P[body.firstS] + B * s);  // (9) of motion_derivatives.hpp
    const Single<R>& single = body.single;
    if (result_.H) {
      result_.H(l, l) = dot(sums.h, s) + T(single.reflected);
    }
    result_.q(l, l) = dot(sums.Fq, s) + T(single.stiffness);
    result_.v(l, l) = dot(sums.Fv, s) + resistanceSlope(tables_, cluster, single, v_[l]);
    if (cluster.output == kWorld) {
      return;
    }
    sums.Fq += cross(s, f);
    if (single.geared) {
      const Vec3<T> spin = turned(work_.X[cluster.output].R, single.spin);
      const Vec3<T> turning = cross(work_.v[cluster.output].angular, spin);
      sums.h.moment += spin;
      sums.twiceB += turning;
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
    const bool onlyTurning = result_.ratios != nullptr && !keepsForces_;
    for (int j = onlyTurning ? 3 : 0; j < 6; ++j) {
      const Motion<T> s =
          j < 3 ? Motion<T>{Vec3<T>{}, R_.column(j)} : Motion<T>{R_.column(j - 3), Vec3<T>{}};
      const Force<T> Fv = I * cross(work_.v[b], s) + T(2) * (own_.B[b] * s);
      const auto write = [&](const Force<T>& f, const MatrixAt<T>& to) {
        const bool turns = result_.ratios == nullptr;
        const Vec3<T> linear = turns ? transposedBase_ * f.force : f.force;
        const Vec3<T> angular = turns ? transposedBase_ * f.moment : f.moment;
        for (int i = 0; i < 3; ++i) {
          to(first + i, first + j) = linear[i];
          to(first + 3 + i, first + j) = angular[i];
        }
      };
      write(Fv, result_.v);
      if (onlyTurning) {
        continue;
      }
      Force<T> Fq = I * cross(work_.a[kWorld], s);
      if (keepsForces_) {
        Fq += own_.E[b] * s;
      }
      write(Fq, result_.q);
      if (result_.H) {
        write(I * s, result_.H);
      }
    }
  }

  /// (1) to (5) of the bodies of a cluster, with m as a constant or 0: all but ∂τ within it.
  template <int M>
  KEMPE_HD void sumCluster(int c, const ClusterEntry& cluster) const {
    const int m = M > 0 ? M : cluster.nv;
    sumBodies<M>(cluster);
    for (int j = 0; j < m; ++j) {
      for (int l = 0; result_.H && l < m; ++l) {
        result_.H(cluster.firstV + l, cluster.firstV + j) = own_.spanningQ[l * m + j];
      }
      writeAncestors(c, cluster.firstV + j, own_.sums[j]);
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      if (!onlySpins(cluster, tables_.bodies[b], work_)) {
        handOn(cluster, b);
      }
    }
  }

  /// A cluster of shape Coupled: G is constant, and every joint has one direction.
  template <int M>
  KEMPE_HD KEMPE_FLATTEN void gatherCoupled(int c, const ClusterEntry& cluster) const {
    const int m = M > 0 ? M : cluster.nv;
    sumCluster<M>(c, cluster);
    T* byQ = own_.spanningQ;
    T* byV = own_.spanningV;
    for (int i = 0; i < m * m; ++i) {
      byQ[i] = byV[i] = T(0);
    }
    for (int b = cluster.firstBody + cluster.bodies - 1; b >= cluster.firstBody; --b) {
      const Body& body = tables_.bodies[b];
      const R* r = constantRatios(tables_, cluster, body.firstVelocity);
      const bool inside = body.parent >= cluster.firstBody;
      const int parentS = inside ? tables_.bodies[body.parent].firstS : 0;
      const Motion<T> s = work_.s[body.firstVelocity];
      const Force<T> f = work_.f[b];
      const Force<T> turned = cross(s, f);
      const T damping = cluster.dissipates
                            ? resistanceSlope(tables_, body.firstVelocity,
                                              alongRatios<M>(m, r, v_ + cluster.firstV))
                            : T(0);
      for (int j = 0; j < m; ++j) {
        T alongQ(0), alongV(0);
        if (body.folded) {
          addSpinTorque(cluster, body, body.firstVelocity, j, inside, parentS, alongQ, alongV);
        } else {
          const Force<T> Fq = own_.Fq[body.firstS + j], Fv = own_.Fv[body.firstS + j];
          alongQ = dot(Fq, s);
          alongV = dot(Fv, s);
          if (inside) {
            alongQ += dot(turned, work_.S[parentS + j]);  // fᵀ (S_j × s)
            own_.Fq[parentS + j] += Fq;
            own_.Fv[parentS + j] += Fv;
          }
        }
        if (cluster.dissipates) {
          alongV += damping * T(r[j]);
        }
        if (cluster.sprung) {
          alongQ += T(tables_.stiffness[body.firstVelocity]) * T(r[j]);
        }
        for (int l = 0; l < m; ++l) {
          byQ[l * m + j] += T(r[l]) * alongQ;
          byV[l * m + j] += T(r[l]) * alongV;
        }
      }
      if (!body.folded) {
        work_.f[body.parent] += f;
      }
    }
    for (int l = 0; l < m; ++l) {
      for (int j = 0; j < m; ++j) {
        result_.q(cluster.firstV + l, cluster.firstV + j) = byQ[l * m + j];
        result_.v(cluster.firstV + l, cluster.firstV + j) = byV[l * m + j];
      }
    }
  }

  /// A cluster of any shape.
  template <int M>
  KEMPE_HD KEMPE_FLATTEN void gatherGeneral(int c, const ClusterEntry& cluster) const {
    const int m = M > 0 ? M : cluster.nv;
    sumCluster<M>(c, cluster);
    // τ_s, for the multipliers, and the forces that each joint carries in work.f.
    gatherForces(tables_, cluster, work_, own_.tau);
    if (cluster.kind == ClusterKind::Implicit) {
      applyMultipliers(cluster);
    }
    gatherChanges<M>(cluster);
    for (int l = 0; l < m; ++l) {
      for (int j = 0; j < m; ++j) {
        T byQ(0), byV(0);
        for (int i = 0; i < cluster.velocities; ++i) {
          const T r = motion_.ratio(cluster, cluster.firstVelocity + i, l);
          byQ += r * own_.spanningQ[i * m + j];
          byV += r * own_.spanningV[i * m + j];
        }
        result_.q(cluster.firstV + l, cluster.firstV + j) = byQ;
        result_.v(cluster.firstV + l, cluster.firstV + j) = byV;
      }
    }
  }

  /// (1), (2) and (7) of all bodies along all DoFs, and what the ancestors need of them; H of the
  /// cluster goes to spanningQ, until that is needed for ∂τ_s.
  template <int M>
  KEMPE_HD void sumBodies(const ClusterEntry& cluster) const {
    const int m = M > 0 ? M : cluster.nv, last = cluster.firstBody + cluster.bodies;
    T* H = own_.spanningQ;
    for (int l = 0; l < m * m; ++l) {
      H[l] = T(0);
    }
    for (int j = 0; j < m; ++j) {
      own_.sums[j] = {};
    }
    for (int b = cluster.firstBody; b < last; ++b) {
      const Body& body = tables_.bodies[b];
      if (onlySpins(cluster, body, work_)) {
        continue;
      }
      const RigidInertia<T> I = work_.I[b];
      const CoriolisInertia<T> B = own_.B[b];
      const Force<T> f = work_.f[b];
      for (int j = 0; j < m; ++j) {
        DerivativeSums<T>& sums = own_.sums[j];
        const int column = body.firstS + j;
        const Motion<T> S = work_.S[column];
        const Force<T> h = I * S;
        Force<T> Fq = cross(S, f) + I * columns_.Q[column] + T(2) * (B * columns_.P[column]);
        if (keepsForces_) {
          Fq += own_.E[b] * S;
          sums.e += transposeTimes(own_.E[b], S);
        }
        const Force<T> Fv = I * columns_.Qv[column] + T(2) * (B * S);
        own_.Fq[column] = Fq;
        own_.Fv[column] = Fv;
        sums.h += h;
        sums.twiceB += T(2) * transposeTimes(B, S).moment;
        sums.Fq += Fq;
        sums.Fv += Fv;
        for (int l = 0; result_.H && l < m; ++l) {
          H[l * m + j] += dot(h, work_.S[body.firstS + l]);
        }
      }
    }
    for (int b = cluster.firstBody; b < last; ++b) {
      const Body& body = tables_.bodies[b];
      if (body.folded) {
        sumRotor<M>(cluster, body, H);
      }
    }
    for (int i = cluster.firstVelocity;
         result_.H && cluster.armatured && i < cluster.firstVelocity + cluster.velocities; ++i) {
      for (int j = 0; j < m; ++j) {
        const T reflected = T(tables_.armature[i]) * motion_.ratio(cluster, i, j);
        for (int l = 0; l < m; ++l) {
          H[l * m + j] += motion_.ratio(cluster, i, l) * reflected;
        }
      }
    }
  }

  template <int M>
  KEMPE_HD void sumRotor(const ClusterEntry& cluster, const Body& body, T* H) const {
    const int m = M > 0 ? M : cluster.nv, r = body.firstVelocity, p = body.parent;
    const T J(body.spinInertia);
    const Vec3<T> w = J * spinAxis(cluster, body, work_);
    const Vec3<T> turning = cross(work_.v[p].angular, w);
    const bool inside = p >= cluster.firstBody;
    const int parentS = inside ? tables_.bodies[p].firstS : 0;
    for (int j = 0; j < m; ++j) {
      DerivativeSums<T>& sums = own_.sums[j];
      const T own = motion_.ratio(cluster, r, j);
      Vec3<T> byQ{}, byV = own * turning;
      if (cluster.kind == ClusterKind::Implicit) {
        byQ = motion_.change(cluster, columns_.Z, r, j) * w +
              motion_.change(cluster, columns_.W, r, j) * turning;  // (7)
        byV += motion_.change(cluster, columns_.Y, r, j) * w;
      }
      sums.h.moment += own * w;
      sums.twiceB += own * turning;
      sums.Fq.moment += byQ;
      sums.Fv.moment += byV;
      if (inside) {
        own_.Fq[parentS + j].moment += byQ;
        own_.Fv[parentS + j].moment += byV;
      }
      // (8) of articulated.hpp
      const Vec3<T> carried = inside ? work_.S[parentS + j].angular : Vec3<T>{};
      for (int l = 0; result_.H && l < m; ++l) {
        T& entry = H[l * m + j];
        entry += motion_.ratio(cluster, r, l) * (J * own + dot(w, carried));
        if (inside) {
          entry += own * dot(w, work_.S[parentS + l].angular);
        }
      }
    }
  }

  /// The loops' forces of (6): onto the bodies' forces and their changes, and into ∂τ_s of
  /// functions, which is cleared here.
  [[gnu::noinline]] KEMPE_HD void applyMultipliers(const ClusterEntry& cluster) const {
    const int m = cluster.nv, n = cluster.velocities;
    T* multipliers = own_.multipliers;
    const int* dependent = tables_.dependent + cluster.firstDependent;
    for (int i = 0; i < cluster.kept; ++i) {
      const int velocity = cluster.firstVelocity + dependent[i];
      multipliers[i] = work_.tau[velocity];
      if (own_.jointForces != nullptr) {
        multipliers[i] -= own_.jointForces[velocity];
      }
    }
    solveLoopsTransposed(tables_, cluster, work_.loops, multipliers);
    for (int i = 0; i < n * m; ++i) {
      own_.spanningQ[i] = T(0);
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      own_.loopForces[b] = {};
    }
    const ClusterState<T> motion = motion_.motionOf(cluster);
    const LoopVariation<T> rows = motion_.variationOf(cluster, motion);
    const T* G = work_.G + cluster.firstRatio;
    rows.forceChanges(
        multipliers,
        [&](int b, int j) {
          return Variation<T>{work_.S[tables_.bodies[cluster.firstBody + b].firstS + j], {}, {}};
        },
        [&](int i, int j) { return G[i * m + j]; },
        [&](int body, int j, const Force<T>& f, const Force<T>& change) {
          if (body >= 0) {
            const int b = cluster.firstBody + body;
            own_.Fq[tables_.bodies[b].firstS + j] -= change;
            if (j == 0) {
              own_.loopForces[b] -= f;
            }
          }
        },
        [&](int i, int j, const T& change) { own_.spanningQ[i * m + j] -= change; });
  }

  /// ∂τ_s, after the forces of joints are in work.f.
  template <int M>
  KEMPE_HD void gatherChanges(const ClusterEntry& cluster) const {
    const int m = M > 0 ? M : cluster.nv;
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
        const T damping =
            cluster.dissipates ? resistanceSlope(tables_, velocity, work_.rates[velocity]) : T(0);
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
          const T r = motion_.ratio(cluster, velocity, j);
          if (cluster.armatured) {
            byQ += T(tables_.armature[velocity]) * motion_.change(cluster, columns_.Z, velocity, j);
            byV += T(tables_.armature[velocity]) * motion_.change(cluster, columns_.Y, velocity, j);
          }
          if (cluster.dissipates) {
            byQ += damping * motion_.change(cluster, columns_.W, velocity, j);
            byV += damping * r;
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

  /// (7)
  KEMPE_HD void addSpinTorque(const ClusterEntry& cluster, const Body& body, int velocity, int j,
                              bool inside, int parentS, T& byQ, T& byV) const {
    const T J(body.spinInertia);
    if (cluster.kind == ClusterKind::Implicit) {
      byQ += J * motion_.change(cluster, columns_.Z, velocity, j);
      byV += J * motion_.change(cluster, columns_.Y, velocity, j);
    }
    if (inside) {
      const Vec3<T> w = J * spinAxis(cluster, body, work_);
      const Vec3<T> turning = cross(work_.v[body.parent].angular, w);
      const int column = parentS + j;
      byQ += dot(w, columns_.Q[column].angular) + dot(turning, columns_.P[column].angular);
      byV += dot(w, columns_.Qv[column].angular) + dot(turning, work_.S[column].angular);
    }
  }

  const Tables& tables_;
  const WorkView<T>& work_;
  const DerivativeWork<T>& own_;
  const MotionDerivativeWork<T>& columns_;
  MotionDerivatives<T, Tables> motion_;
  const ExternalForces<T, R>& external_;
  const DerivativeMatrices<T>& result_;
  const T* v_ = nullptr;
  const T* ydd_ = nullptr;
  bool keepsForces_ = false;
  bool isPlaced_ = false;
  Mat3<T> transposedBase_ = Mat3<T>::identity();
};

}  // namespace kempe::detail
