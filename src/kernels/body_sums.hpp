#pragma once

#include "kernels/motion.hpp"

/// Mass, momentum and energy of all bodies. A folded rotor counts in its parent's inertia as if it
/// did not turn relative to it; with w = J z about its axis z and q̇ its rate, its spin adds
///
///   h += w q̇                               (1)  angular momentum
///   2 E += J q̇² + 2 q̇ w · ω_p              (2)  kinetic energy
///   ḣ += w q̈ + ω_p × w q̇                   (3)  rate of the angular momentum
///
/// In a cluster of shape Single the sums over rotors are constants (tables.hpp).
namespace kempe::detail {

/// About the origin of the common frame.
template <typename T>
struct MassSum {
  T mass{};
  Vec3<T> moment{};  ///< mass × centre

  [[nodiscard]] KEMPE_HD Vec3<T> center() const { return (T(1) / mass) * moment; }
};

/// Mass and first moment of all bodies, after placeMechanism.
template <typename T, typename R>
KEMPE_HD KEMPE_FLATTEN MassSum<T> sumMasses(const TablesView<R>& tables, const WorkView<T>& work) {
  T mass(0);
  Vec3<T> moment{};
  const auto add = [&](const R& own, const Vec3<T>& center) {
    mass += T(own);
    moment += T(own) * center;
  };
  for (int b = 0; b < tables.bodyCount; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.flexible >= 0) {
      add(body.central.mass, work.bent[body.flexible].center);
    } else if (!body.folded) {
      add(body.central.mass, turned(work.X[b].R, body.central.center) + work.X[b].p);
    }
  }
  for (int i = 0; i < tables.rotorCount; ++i) {
    const RotorEntry<R>& rotor = tables.rotors[i];
    if (rotor.parent == kWorld) {  // the world has no inertia that it could count in
      add(rotor.mass, turned(work.X[kWorld].R, rotor.center) + work.X[kWorld].p);
    }
  }
  return {mass, moment};
}

/// Momentum and kinetic energy of all bodies.
template <typename T>
struct MotionSum {
  Force<T> momentum{};  ///< about the origin of the common frame
  T twiceKinetic{};
};

/// After moveMechanism at the same v.
template <typename T, typename R>
class MotionSums {
 public:
  KEMPE_HD MotionSums(const TablesView<R>& tables, const WorkView<T>& work, const T* v)
      : tables_(tables), work_(work), v_(v) {}

  KEMPE_HD MotionSum<T> run() {
    sum_.twiceKinetic = T(0);
    for (int b = 0; b < tables_.bodyCount; ++b) {
      if (!tables_.bodies[b].folded) {
        addBody(b);
      }
    }
    for (int c = 0; c < tables_.clusterCount; ++c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      if (shapeOf(cluster, work_) == ClusterShape::Single) {
        addSingle(cluster, tables_.bodies[cluster.moving].single);
      } else if (cluster.shape != ClusterShape::FreeBase) {
        addSpins(cluster);
      }
    }
    return sum_;
  }

 private:
  KEMPE_HD KEMPE_FLATTEN void addBody(int b) {
    const PlacedInertia<T> inertia = inertiaAt(tables_, b, work_);
    const Motion<T> v = work_.v[b];
    const Vec3<T> velocity = v.linear + cross(v.angular, inertia.center);
    const Vec3<T> linear = inertia.mass * velocity, angular = inertia.rotation * v.angular;
    sum_.momentum += Force<T>{angular + cross(inertia.center, linear), linear};
    sum_.twiceKinetic += dot(linear, velocity) + dot(angular, v.angular);
  }

  KEMPE_HD void addSingle(const ClusterEntry& cluster, const Single<R>& single) {
    const T rate = v_[cluster.firstV];
    if (single.geared) {
      const Vec3<T> spin = rate * turned(work_.X[cluster.output].R, single.spin);
      sum_.momentum.moment += spin;                                            // (1)
      sum_.twiceKinetic += T(2) * dot(spin, work_.v[cluster.output].angular);  // (2)
    }
    sum_.twiceKinetic += T(single.reflected) * rate * rate;
  }

  KEMPE_HD void addSpins(const ClusterEntry& cluster) {
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables_.bodies[b];
      if (body.flexible >= 0) {
        const Force<T> bending = momentumOfBending(tables_, body.flexible, work_);
        sum_.momentum += bending;
        sum_.twiceKinetic += T(2) * dot(bending, work_.v[b]);
      }
      if (!isFoldedRotor(body)) {
        continue;
      }
      const T rate = rateOf(tables_, cluster, body.firstVelocity, work_, v_), J(body.spinInertia);
      const Vec3<T> spin = (J * rate) * spinAxis(cluster, body, work_);
      sum_.momentum.moment += spin;                                                           // (1)
      sum_.twiceKinetic += J * rate * rate + T(2) * dot(spin, work_.v[body.parent].angular);  // (2)
    }
    for (int i = cluster.firstVelocity;
         cluster.armatured && i < cluster.firstVelocity + cluster.velocities; ++i) {
      const T rate = rateOf(tables_, cluster, i, work_, v_);
      sum_.twiceKinetic += T(tables_.armature[i]) * rate * rate;
    }
  }

  const TablesView<R>& tables_;
  const WorkView<T>& work_;
  const T* v_;
  MotionSum<T> sum_{};
};

/// Calls visit(p, w, q̇, q̈) for the folded rotors of a cluster, on bodies p of any cluster or the
/// world; those of a cluster of shape Single are summed. After moveMechanism with accelerations;
/// `ydd` is null where it is zero.
template <typename T, typename R, typename Visit>
KEMPE_HD void forSpins(const TablesView<R>& tables, const ClusterEntry& cluster,
                       const WorkView<T>& work, const T* v, const T* ydd, const Visit& visit) {
  const ClusterShape shape = shapeOf(cluster, work);
  if (shape == ClusterShape::FreeBase) {
    return;
  }
  if (shape == ClusterShape::Single) {
    const Single<R>& single = tables.bodies[cluster.moving].single;
    if (single.geared) {
      visit(cluster.output, turned(work.X[cluster.output].R, single.spin), v[cluster.firstV],
            ydd == nullptr ? T(0) : ydd[cluster.firstV]);
    }
    return;
  }
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (isFoldedRotor(body)) {
      visit(body.parent, T(body.spinInertia) * spinAxis(cluster, body, work),
            rateOf(tables, cluster, body.firstVelocity, work, v),
            accelerationOf(tables, cluster, body.firstVelocity, work, ydd));
    }
  }
}

/// ḣ of all bodies about the origin of the common frame, after moveMechanism with accelerations.
template <typename T, typename R>
KEMPE_HD Force<T> sumMomentumRates(const TablesView<R>& tables, const WorkView<T>& work, const T* v,
                                   const T* ydd) {
  Force<T> sum{};
  for (int b = 0; b < tables.bodyCount; ++b) {
    if (!tables.bodies[b].folded) {
      sum += forceOn(inertiaAt(tables, b, work), work.v[b], ownAcceleration(tables, work, b));
      if (tables.bodies[b].flexible >= 0) {
        sum += bendingForce(tables, tables.bodies[b].flexible, work, work.accelerations, work.a[b],
                            [](int, const T&) {});
      }
    }
  }
  for (int c = 0; c < tables.clusterCount; ++c) {
    forSpins(tables, tables.clusters[c], work, v, ydd,
             [&](int p, const Vec3<T>& w, const T& rate, const T& acceleration) {
               sum.moment += acceleration * w + cross(work.v[p].angular, rate * w);  // (3)
             });
  }
  return sum;
}

/// Potential energy of gravity, zero at the world's origin, and of springs, after placeMechanism.
template <typename T, typename R>
KEMPE_HD T potentialEnergy(const TablesView<R>& tables, const WorkView<T>& work,
                           const MassSum<T>& masses) {
  T twiceSprings(0);
  for (int c = 0; c < tables.clusterCount; ++c) {
    forSprings(tables, tables.clusters[c], work, [&](int i, const T& force) {
      if (tables.stiffness[i] > R(0)) {
        twiceSprings += force * force * T(R(1) / tables.stiffness[i]);
      }
    });
  }
  const Vec3<T> inWorld = masses.moment + masses.mass * *work.origin;
  return T(0.5) * twiceSprings - dot(tables.gravity.template cast<T>(), inWorld);
}

}  // namespace kempe::detail
