#pragma once

#include "kernels/outward.hpp"
#include "tables/term_request.hpp"

/// Velocities and accelerations of all bodies of a placed mechanism, for kinematics. Folded rotors
/// are left out unless rotors are whole. With S_i the motion of body i relative to the output body o
/// and λ its parent,
///
///   v_i = v_o + S_i ẏ                                  (1)
///   a_i = a_λ + v_λ × (v_i − v_λ) + (S_i − S_λ) ÿ       (2)  of bodies that turn or slide
namespace kempe::detail {

template <bool kAccelerates, typename T, typename R>
KEMPE_HD KEMPE_FLATTEN void moveSingleCluster(const ClusterEntry& cluster, const BodyEntry<R>& body,
                                              const WorkView<T>& work, const T* v, const T* ydd) {
  const Motion<T> s = work.S[body.firstS];
  const Motion<T> outputV = work.v[cluster.output];
  const Motion<T> relative = v[cluster.firstV] * s;
  work.v[cluster.moving] = outputV + relative;  // (1)
  if constexpr (kAccelerates) {
    Motion<T> a = work.a[cluster.output] + cross(outputV, relative);  // (2)
    if (ydd != nullptr) {
      a += ydd[cluster.firstV] * s;
    }
    work.a[cluster.moving] = a;
  }
}

template <bool kAccelerates, int M, typename T, typename R>
KEMPE_HD KEMPE_FLATTEN void moveCoupledCluster(const TablesView<R>& tables,
                                               const ClusterEntry& cluster, const WorkView<T>& work,
                                               const T* v, const T* ydd) {
  const int m = M > 0 ? M : cluster.nv;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded) {
      continue;
    }
    const Motion<T>* S = work.S + body.firstS;
    Motion<T> velocity = work.v[cluster.output];
    for (int j = 0; j < m; ++j) {
      velocity += v[cluster.firstV + j] * S[j];  // (1)
    }
    work.v[b] = velocity;
    if constexpr (kAccelerates) {
      const Motion<T> parentV = work.v[body.parent];
      Motion<T> a = work.a[body.parent] + cross(parentV, velocity - parentV);  // (2)
      const bool inside = body.parent >= cluster.firstBody;
      for (int j = 0; ydd != nullptr && j < m; ++j) {
        const Motion<T> own = inside ? S[j] - work.S[tables.bodies[body.parent].firstS + j] : S[j];
        a += ydd[cluster.firstV + j] * own;
      }
      work.a[b] = a;
    }
  }
}

/// The floating base: its S is its rotation, and moves with it.
template <bool kAccelerates, typename T>
KEMPE_HD KEMPE_FLATTEN void movePlacedBase(const ClusterEntry& cluster, const WorkView<T>& work,
                                           const T* v, const T* ydd) {
  const int b = cluster.firstBody;
  const Mat3<T>& R_ = work.X[b].R;
  const auto along = [&](const T* x) {
    return Motion<T>{R_ * Vec3<T>{x[3], x[4], x[5]}, R_ * Vec3<T>{x[0], x[1], x[2]}};
  };
  work.v[b] = along(v + cluster.firstV);
  if constexpr (kAccelerates) {
    work.a[b] = ydd == nullptr ? work.a[kWorld] : work.a[kWorld] + along(ydd + cluster.firstV);
  }
}

/// Rates q̇ = G ẏ and velocities of a cluster of general shape.
template <typename T, typename R>
KEMPE_HD void moveVelocities(const TablesView<R>& tables, const ClusterEntry& cluster,
                             const WorkView<T>& work, const T* v) {
  T* rates = work.rates + cluster.firstVelocity;
  if (cluster.kind == ClusterKind::Tree) {
    for (int i = 0; i < cluster.nv; ++i) {
      rates[i] = v[cluster.firstV + i];
    }
  } else {
    timesG(cluster, work, v + cluster.firstV, rates);
  }
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (onlySpins(cluster, body, work)) {
      continue;
    }
    if (body.node >= 0) {
      const NodeState<T> node = nodeState(tables, b, work);
      work.v[b] =
          work.v[body.parent] + alongModes(tables, tables.nodes[body.node], node, node.rates);
      continue;
    }
    const Motion<T>* s = directionsOf(cluster, body, work);
    Motion<T> velocity = work.v[body.parent];
    for (int i = 0; i < velocitySize(body.type); ++i) {
      velocity += work.rates[body.firstVelocity + i] * s[i];
    }
    work.v[b] = velocity;
  }
}

/// The motion of all bodies after placeMechanism; without accelerations if the level does not have
/// them. `ydd` is null where it is zero.
template <bool kAccelerates, typename T, typename R, typename Loops>
KEMPE_HD void moveMechanism(const TablesView<R>& tables, const WorkView<T>& work, Loops& loops,
                            const T* v, const T* ydd) {
  for (int k = 0; k < tables.clusterCount; ++k) {
    const int c = tables.order[k];
    const ClusterEntry& cluster = tables.clusters[c];
    switch (shapeOf(cluster, work)) {
      case ClusterShape::Single:
        moveSingleCluster<kAccelerates>(cluster, tables.bodies[cluster.moving], work, v, ydd);
        break;
      case ClusterShape::Coupled:
        withSize(cluster.nv, [&]<int M>() {
          moveCoupledCluster<kAccelerates, M>(tables, cluster, work, v, ydd);
        });
        break;
      case ClusterShape::FreeBase:
        movePlacedBase<kAccelerates>(cluster, work, v, ydd);
        break;
      case ClusterShape::General:
        if constexpr (kAccelerates) {
          moveBodies(tables, c, work, loops, v, ydd);
        } else {
          moveVelocities(tables, cluster, work, v);
        }
        break;
    }
  }
}

/// q̇ of a spanning velocity, after moveMechanism; `v` is ẏ. Not for clusters of shape Single.
template <typename T, typename R>
KEMPE_HD T rateOf(const TablesView<R>& tables, const ClusterEntry& cluster, int velocity,
                  const WorkView<T>& work, const T* v) {
  return shapeOf(cluster, work) == ClusterShape::Coupled
             ? alongRatios<0>(cluster.nv, constantRatios(tables, cluster, velocity),
                              v + cluster.firstV)
             : work.rates[velocity];
}

/// q̈ likewise, after moveMechanism with accelerations; `ydd` is ÿ, null where it is zero.
template <typename T, typename R>
KEMPE_HD T accelerationOf(const TablesView<R>& tables, const ClusterEntry& cluster, int velocity,
                          const WorkView<T>& work, const T* ydd) {
  if (shapeOf(cluster, work) != ClusterShape::Coupled) {
    return work.accelerations[velocity];
  }
  return ydd == nullptr ? T(0)
                        : alongRatios<0>(cluster.nv, constantRatios(tables, cluster, velocity),
                                         ydd + cluster.firstV);
}

/// A body's acceleration without the upward one that stands for gravity.
template <typename T, typename R>
KEMPE_HD Motion<T> ownAcceleration(const TablesView<R>& tables, const WorkView<T>& work, int b) {
  Motion<T> a = work.a[b];
  a.linear += tables.gravity.template cast<T>();
  return a;
}

/// Brings the motion in `work` from level `known` to level `wanted`. Returns the first cluster at a
/// singular position, or −1.
template <typename T, typename R, typename Loops>
KEMPE_HD int bringMotion(const TablesView<R>& tables, const WorkView<T>& work, Loops& loops,
                         const T* q, const T* v, const T* ydd, MotionLevel known,
                         MotionLevel wanted) {
  if (known == MotionLevel::None) {
    const int singular = placeMechanism(tables, work, loops, q);
    if (singular >= 0) {
      return singular;
    }
  }
  if (wanted == MotionLevel::Placements || known >= wanted) {
    return -1;
  }
  if (wanted == MotionLevel::Velocities) {
    moveMechanism<false>(tables, work, loops, v, static_cast<const T*>(nullptr));
    return -1;
  }
  moveMechanism<true>(tables, work, loops, v,
                      wanted == MotionLevel::Accelerations ? ydd : static_cast<const T*>(nullptr));
  return -1;
}

}  // namespace kempe::detail
