#pragma once

#include "kernels/articulated.hpp"
#include "kernels/motion.hpp"

/// Bias forces τ = h(q, v) from the motion that moveMechanism left where ÿ = 0, so that nothing is
/// placed or moved twice. With F_i the force on body i and those that later clusters hang on it,
///
///   F_i = I_i a°_i + v_i ×* I_i v_i                                      (1)
///   τ   = Σ S_iᵀ F_i + Σ rᵀ (J g + resistance + spring)   of a cluster    (2)
///   F_o += Σ F_i                                          on its output   (3)
///
/// A folded rotor on body p, w = J z about its axis, adds w g_r + ω_p × w q̇ to the moment of F_p and
/// wᵀ α°_p + J g_r to (2), with its ratios r.
namespace kempe::detail {

template <typename T, typename R>
class BiasForces {
 public:
  KEMPE_HD BiasForces(const TablesView<R>& tables, const WorkView<T>& work, const T* v, T* tau)
      : tables_(tables), work_(work), v_(v), tau_(tau) {}

  KEMPE_HD void run() const {
    work_.f[kWorld] = {};
    for (int b = 0; b < tables_.bodyCount; ++b) {
      if (!tables_.bodies[b].folded) {
        load(b);
      }
    }
    for (int k = tables_.clusterCount - 1; k >= 0; --k) {
      const ClusterEntry& cluster = tables_.clusters[tables_.order[k]];
      switch (shapeOf(cluster, work_)) {
        case ClusterShape::Single:
          gatherSingle(cluster, tables_.bodies[cluster.moving]);
          break;
        case ClusterShape::FreeBase:
          gatherBase(cluster);
          break;
        case ClusterShape::Coupled:
        case ClusterShape::General:
          gatherGeneral(cluster);
          break;
      }
    }
  }

 private:
  KEMPE_HD KEMPE_FLATTEN void load(int b) const {  // (1)
    work_.f[b] = forceOn(inertiaAt(tables_, b, work_), work_.v[b], work_.a[b]);
  }

  KEMPE_HD KEMPE_FLATTEN void gatherSingle(const ClusterEntry& cluster,
                                           const BodyEntry<R>& body) const {
    const Force<T> f = work_.f[cluster.moving];
    const Single<R>& single = body.single;
    const T rate = v_[cluster.firstV];
    T tau = dot(f, work_.S[body.firstS]);
    Force<T> onOutput = f;
    if (single.geared) {
      const Vec3<T> spin = turned(work_.X[cluster.output].R, single.spin);
      tau += dot(spin, work_.a[cluster.output].angular);
      onOutput.moment += cross(work_.v[cluster.output].angular, rate * spin);
    }
    if (single.dissipates) {
      tau += resistance(tables_, cluster, single, rate);
    }
    if (single.sprung) {
      tau += T(single.stiffness) * work_.positions[body.firstPosition] + T(single.atZero);
    }
    tau_[cluster.firstV] = tau;
    work_.f[cluster.output] += onOutput;
  }

  KEMPE_HD void gatherBase(const ClusterEntry& cluster) const {
    const Force<T> f = work_.f[cluster.firstBody];
    const Mat3<T>& R_ = work_.X[cluster.firstBody].R;
    const Vec3<T> force = transposeTimes(R_, f.force), moment = transposeTimes(R_, f.moment);
    for (int i = 0; i < 3; ++i) {
      tau_[cluster.firstV + i] = force[i];
      tau_[cluster.firstV + 3 + i] = moment[i];
    }
  }

  KEMPE_HD void gatherGeneral(const ClusterEntry& cluster) const {
    const int m = cluster.nv;
    T* tau = tau_ + cluster.firstV;
    for (int j = 0; j < m; ++j) {
      tau[j] = T(0);
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables_.bodies[b];
      if (isFoldedRotor(body)) {
        spin(cluster, body);
      }
      if (body.flexible >= 0) {
        work_.f[b] += bendingForce(tables_, body.flexible, work_, work_.accelerations, work_.a[b],
                                   [&](int i, const T& force) { add(cluster, i, force); });
      }
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables_.bodies[b];
      if (!body.folded) {
        for (int j = 0; j < m; ++j) {
          tau[j] += dot(work_.f[b], work_.S[body.firstS + j]);  // (2)
        }
        work_.f[cluster.output] += work_.f[b];  // (3)
      }
    }
    const bool implicit = cluster.kind == ClusterKind::Implicit;
    for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
      if (cluster.armatured && implicit) {
        add(cluster, i, T(tables_.armature[i]) * work_.accelerations[i]);
      }
      if (cluster.dissipates) {
        add(cluster, i, resistance(tables_, i, rateOf(tables_, cluster, i, work_, v_)));
      }
    }
    forSprings(tables_, cluster, work_, [&](int i, const T& force) { add(cluster, i, force); });
  }

  KEMPE_HD void spin(const ClusterEntry& cluster, const BodyEntry<R>& body) const {
    const Vec3<T> w = T(body.spinInertia) * spinAxis(cluster, body, work_);
    const int i = body.firstVelocity;
    work_.f[body.parent].moment +=
        cross(work_.v[body.parent].angular, rateOf(tables_, cluster, i, work_, v_) * w);
    T force = dot(w, work_.a[body.parent].angular);
    if (cluster.kind == ClusterKind::Implicit) {
      work_.f[body.parent].moment += work_.accelerations[i] * w;
      force += T(body.spinInertia) * work_.accelerations[i];
    }
    add(cluster, i, force);
  }

  /// Gᵀ of a force along one spanning velocity.
  KEMPE_HD void add(const ClusterEntry& cluster, int velocity, const T& force) const {
    T* tau = tau_ + cluster.firstV;
    if (cluster.kind == ClusterKind::Tree) {
      tau[velocity - cluster.firstVelocity] += force;
      return;
    }
    const T* r = ratiosOf(cluster, velocity, work_);
    for (int j = 0; j < cluster.nv; ++j) {
      tau[j] += r[j] * force;
    }
  }

  const TablesView<R>& tables_;
  const WorkView<T>& work_;
  const T* v_;
  T* tau_;
};

}  // namespace kempe::detail
