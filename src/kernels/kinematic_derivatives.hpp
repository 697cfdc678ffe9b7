#pragma once

#include "kernels/frame_derivatives.hpp"
#include "kernels/momentum_derivatives.hpp"

namespace kempe::detail {

/// Memory of the kernel below.
template <typename T>
struct KinematicDerivativeWork {
  MotionDerivativeWork<T> motion;
  MomentumDerivativeWork<T> momentum;
  bool* wanted;  ///< per cluster: whether its columns are
};

template <typename T, typename R>
KinematicDerivativeWork<T> carveKinematicDerivatives(const TablesView<R>& tables, Carver& carver) {
  return {carveMotionDerivatives<T>(tables, carver), carveMomentumDerivatives<T>(tables, carver),
          carver.take<bool>(tables.clusterCount)};
}

/// Derivatives of the motion of frames and of the momentum, from the motion that bringMotion left:
/// velocities and, where the request says so, accelerations. Leaves that motion as it is.
template <typename T, typename Tables>
class KinematicDerivativesKernel {
 public:
  using R = typename Tables::Scalar;

  /// `ydd` is null where it is zero.
  KEMPE_HD KinematicDerivativesKernel(const Tables& tables, const WorkView<T>& work,
                                      const KinematicDerivativeWork<T>& own, const T* v,
                                      const T* ydd, const MotionDerivativeRequest<T, R>& request)
      : tables_(tables),
        work_(work),
        own_(own),
        motion_(tables, work, own.motion, request.accelerates()),
        v_(v),
        ydd_(ydd),
        request_(request) {}

  KEMPE_HD void run() const {
    chooseClusters();
    forEachCluster<Direction::Outward>(tables_, [&](int c) {
      if (own_.wanted[c]) {
        vary(tables_.clusters[c]);
      }
    });
    for (int f = 0; f < request_.frameCount; ++f) {
      FrameDerivatives<T, Tables>(tables_, work_, motion_, request_.frames[f],
                                  request_.accelerates())
          .write(request_, f);
    }
    if (request_.ofMomentum()) {
      MomentumDerivatives<T, Tables>(tables_, work_, motion_, own_.motion, own_.momentum, v_, ydd_,
                                     request_)
          .run();
    }
  }

 private:
  /// All clusters, or those that move a frame.
  KEMPE_HD void chooseClusters() const {
    for (int c = 0; c < tables_.clusterCount; ++c) {
      own_.wanted[c] = request_.ofMomentum();
    }
    for (int f = 0; f < request_.frameCount; ++f) {
      for (int b = request_.frames[f].body; b != kWorld;) {
        const int c = tables_.bodies[b].cluster;
        own_.wanted[c] = true;
        b = tables_.clusters[c].output;
      }
    }
  }

  KEMPE_HD void vary(const ClusterEntry& cluster) const {
    switch (shapeOf(cluster, work_)) {
      case ClusterShape::Single:
        motion_.varySingle(cluster, tables_.bodies[cluster.moving]);
        break;
      case ClusterShape::FreeBase:
        break;
      case ClusterShape::Coupled:
        moveJoints(cluster);
        motion_.varyGeneral(cluster);
        break;
      case ClusterShape::General:
        motion_.varyGeneral(cluster);
        break;
    }
  }

  /// Directions, rates and accelerations of the joints of a cluster of shape Coupled, without which
  /// the motion of its bodies is computed.
  KEMPE_HD void moveJoints(const ClusterEntry& cluster) const {
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables_.bodies[b];
      const int i = body.firstVelocity;
      work_.rates[i] = rateOf(tables_, cluster, i, work_, v_);
      work_.accelerations[i] = accelerationOf(tables_, cluster, i, work_, ydd_);
      if (!body.folded) {
        const Transform<T>& X = work_.X[b];
        const Vec3<T> z = X.R.column(2);
        work_.s[i] = body.type == JointType::Prismatic ? Motion<T>{Vec3<T>{}, z}
                                                       : Motion<T>{z, cross(X.p, z)};
      }
    }
  }

  const Tables& tables_;
  const WorkView<T>& work_;
  const KinematicDerivativeWork<T>& own_;
  MotionDerivatives<T, Tables> motion_;
  const T* v_;
  const T* ydd_;
  const MotionDerivativeRequest<T, R>& request_;
};

}  // namespace kempe::detail
