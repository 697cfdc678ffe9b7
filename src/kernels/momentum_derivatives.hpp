#pragma once

#include "kernels/body_sums.hpp"
#include "kernels/coriolis_inertia.hpp"
#include "kernels/motion_derivatives.hpp"
#include "tables/motion_derivative_request.hpp"

/// Derivatives of the momentum of all bodies and of its rate. With I, B, the momentum h and its rate
/// f = ḣ of a body and all that it carries, without gravity, for which Q = Q − a₀ × S is used, and
/// the columns of motion_derivatives.hpp, summed over the bodies of the cluster of DoF j,
///
///   U_j = ∂h/∂ẏ_j = ∂f/∂ÿ_j = Σ I S_j          ∂h/∂y_j = Σ S_j ×* h + I P_j      (1)
///   ∂f/∂y_j = Σ S_j ×* f + I Q_j + 2 B P_j      ∂f/∂ẏ_j = Σ I Q′_j + 2 B S_j      (2)
///
/// as in inverse_dynamics_derivatives.hpp, to which a folded rotor, w = J z on body p, adds its
/// spin: w q̇ to h of p, w q̈ + ω_p × w q̇ to f of p, −½ (w q̇)× to B of p, and with its rows of
/// G, W, Z, Y to the moments
///
///   U: w G_j    ∂h/∂y: w W_j    ∂f/∂y: w Z_j + ω_p × w W_j    ∂f/∂ẏ: w Y_j + ω_p × w G_j   (3)
///
/// About the centre of mass c, which moves by δc = force of U_j / mass, moments are n − c × force, so
/// that δn − c × δforce − δc × force is their change (4).
namespace kempe::detail {

/// Memory of the kernel below.
template <typename T>
struct MomentumDerivativeWork {
  CoriolisInertia<T>* B;  ///< per body
  Force<T>* h;            ///< per body
};

template <typename T, typename R>
MomentumDerivativeWork<T> carveMomentumDerivatives(const TablesView<R>& tables, Carver& carver) {
  return {carver.takeWithWorld<CoriolisInertia<T>>(tables.bodyCount),
          carver.takeWithWorld<Force<T>>(tables.bodyCount)};
}

/// After the columns of all clusters.
template <typename T, typename Tables>
class MomentumDerivatives {
 public:
  using R = typename Tables::Scalar;
  using Body = BodyEntry<R>;

  KEMPE_HD MomentumDerivatives(const Tables& tables, const WorkView<T>& work,
                               const MotionDerivatives<T, Tables>& motion,
                               const MotionDerivativeWork<T>& columns,
                               const MomentumDerivativeWork<T>& own, const T* v, const T* ydd,
                               const MotionDerivativeRequest<T, R>& request)
      : tables_(tables),
        work_(work),
        motion_(motion),
        columns_(columns),
        own_(own),
        v_(v),
        ydd_(ydd),
        request_(request),
        accelerates_(request.accelerates()) {}

  KEMPE_HD void run() {
    loadBodies();
    const MassSum<T> masses = sumMasses(tables_, work_);
    mass_ = masses.mass;
    center_ = masses.center();
    forEachCluster<Direction::Inward>(tables_, [&](int c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      for (int j = 0; j < cluster.nv; ++j) {
        writeDof(cluster, j);
      }
      for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
        if (!tables_.bodies[b].folded && cluster.output != kWorld) {
          handOn(b, cluster.output);
        }
      }
    });
  }

 private:
  struct Sums {
    Force<T> U{}, hq{}, fq{}, fv{};
  };

  /// I, B, h and f of each body, and their sums of all.
  KEMPE_HD void loadBodies() {
    own_.B[kWorld] = {};
    own_.h[kWorld] = {};
    work_.f[kWorld] = {};
    for (int b = 0; b < tables_.bodyCount; ++b) {
      if (!tables_.bodies[b].folded) {
        load(b);
        momentum_ += own_.h[b].force;
        force_ += work_.f[b].force;
      }
    }
    forEachCluster<Direction::Outward>(tables_, [&](int c) {
      forSpins(tables_, tables_.clusters[c], work_, v_, ydd_,
               [&](int p, const Vec3<T>& w, const T& rate, const T& acceleration) {
                 const Vec3<T> spin = rate * w;
                 own_.h[p].moment += spin;
                 if (accelerates_) {
                   own_.B[p].addSpin(spin);
                   work_.f[p].moment += acceleration * w + cross(work_.v[p].angular, spin);
                 }
               });
    });
  }

  KEMPE_HD KEMPE_FLATTEN void load(int b) const {
    const PlacedInertia<T> inertia = placed(work_.X[b], tables_.bodies[b].central);
    const Motion<T> v = work_.v[b];
    work_.I[b] = aboutOrigin(inertia);
    own_.h[b] = work_.I[b] * v;
    if (accelerates_) {
      own_.B[b] = coriolisOf(inertia, v);
      work_.f[b] = forceOn(inertia, v, ownAcceleration(tables_, work_, b));
    } else {
      work_.f[b] = {};
    }
  }

  KEMPE_HD void handOn(int b, int output) const {
    work_.I[output] += work_.I[b];
    own_.h[output] += own_.h[b];
    if (accelerates_) {
      own_.B[output] += own_.B[b];
      work_.f[output] += work_.f[b];
    }
  }

  KEMPE_HD KEMPE_FLATTEN void addBody(const ClusterEntry& cluster, int b, int j, Sums& sums) const {
    const MotionColumns<T> columns = motion_.columnsOf(cluster, b, j);
    const RigidInertia<T> I = work_.I[b];
    sums.U += I * columns.S;                                 // (1)
    sums.hq += cross(columns.S, own_.h[b]) + I * columns.P;  // (1)
    if (accelerates_) {
      const CoriolisInertia<T> B = own_.B[b];
      const Motion<T> Q = columns.Q - cross(work_.a[kWorld], columns.S);
      sums.fq += cross(columns.S, work_.f[b]) + I * Q + T(2) * (B * columns.P);  // (2)
      sums.fv += I * columns.Qv + T(2) * (B * columns.S);                        // (2)
    }
  }

  /// (3) of the rotors of a cluster.
  KEMPE_HD void addRotors(const ClusterEntry& cluster, int j, Sums& sums) const {
    const ClusterShape shape = shapeOf(cluster, work_);
    if (shape == ClusterShape::Single) {
      const Single<R>& single = tables_.bodies[cluster.moving].single;
      if (single.geared) {
        const Vec3<T> w = turned(work_.X[cluster.output].R, single.spin);
        sums.U.moment += w;
        if (accelerates_) {
          sums.fv.moment += cross(work_.v[cluster.output].angular, w);
        }
      }
      return;
    }
    for (int b = cluster.firstBody;
         shape != ClusterShape::FreeBase && b < cluster.firstBody + cluster.bodies; ++b) {
      const Body& body = tables_.bodies[b];
      if (!body.folded) {
        continue;
      }
      const int r = body.firstVelocity;
      const Vec3<T> w = T(body.spinInertia) * spinAxis(cluster, body, work_);
      const T G = motion_.ratio(cluster, r, j), W = motion_.change(cluster, columns_.W, r, j);
      sums.U.moment += G * w;
      sums.hq.moment += W * w;
      if (accelerates_) {
        const Vec3<T> turning = cross(work_.v[body.parent].angular, w);
        sums.fq.moment += motion_.change(cluster, columns_.Z, r, j) * w + W * turning;
        sums.fv.moment += motion_.change(cluster, columns_.Y, r, j) * w + G * turning;
      }
    }
  }

  KEMPE_HD void writeDof(const ClusterEntry& cluster, int j) const {
    Sums sums;
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      if (!tables_.bodies[b].folded) {
        addBody(cluster, b, j, sums);
      }
    }
    addRotors(cluster, j, sums);
    const int k = cluster.firstV + j;
    const T inverse = T(1) / mass_;
    const Vec3<T> shift = inverse * sums.U.force;
    const auto write = [&](const Force<T>& change, const Vec3<T>& moving,
                           const MatrixAt<T>& aboutCenter, const MatrixAt<T>& ofCenter) {
      const Vec3<T> moment = change.moment - cross(center_, change.force) - moving;  // (4)
      for (int i = 0; aboutCenter && i < 3; ++i) {
        aboutCenter(i, k) = change.force[i];
        aboutCenter(i + 3, k) = moment[i];
      }
      for (int i = 0; ofCenter && i < 3; ++i) {
        ofCenter(i, k) = inverse * change.force[i];
      }
    };
    write(sums.hq, cross(shift, momentum_), request_.momentumByQ, request_.centerVelocityByQ);
    if (accelerates_) {
      write(sums.fq, cross(shift, force_), request_.momentumRateByQ,
            request_.centerAccelerationByQ);
      write(sums.fv, {}, request_.momentumRateByV, request_.centerAccelerationByV);
    }
  }

  const Tables& tables_;
  const WorkView<T>& work_;
  const MotionDerivatives<T, Tables>& motion_;
  const MotionDerivativeWork<T>& columns_;
  const MomentumDerivativeWork<T>& own_;
  const T* v_;
  const T* ydd_;
  const MotionDerivativeRequest<T, R>& request_;
  bool accelerates_;
  T mass_{};
  Vec3<T> center_{}, momentum_{}, force_{};
};

}  // namespace kempe::detail
