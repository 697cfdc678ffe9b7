#pragma once

#include "kernels/articulated.hpp"
#include "kernels/body_sums.hpp"
#include "tables/term_request.hpp"

/// The momentum that each velocity gives to all bodies: with composite inertias I and the spin of
/// folded rotors, U = Σ I_i S_i of each cluster (eqs. 1 and 7 of articulated.hpp). From U follow
///
///   A = [force; moment about the centre of mass] of U     (1)  centroidal momentum matrix
///   J = force of U / mass                                 (2)  Jacobian of the centre of mass
///   τ = −gᵀ (force of U) + springs                        (3)  gravity forces
///
/// (Orin, Goswami, Lee 2013).
namespace kempe::detail {

/// U of the floating base, whose composite inertia is in I.
template <typename T, typename R>
KEMPE_HD void composeBaseMomenta(const TablesView<R>& tables, const WorkView<T>& work) {
  if (tables.floatingBase < 0) {
    return;
  }
  const BodyEntry<R>& body = tables.bodies[tables.floatingBase];
  const ClusterEntry& cluster = tables.clusters[body.cluster];
  if (shapeOf(cluster, work) != ClusterShape::FreeBase) {
    return;  // like others
  }
  const RigidInertia<T> inertia = work.I[cluster.firstBody];
  for (int j = 0; j < cluster.nv; ++j) {
    work.U[cluster.firstV + j] = inertia * work.S[body.firstS + j];
  }
}

/// U of all velocities, after placeMechanism.
template <typename T, typename R>
KEMPE_HD void composeMomenta(const TablesView<R>& tables, const WorkView<T>& work) {
  for (int b = 0; b < tables.bodyCount; ++b) {
    if (!tables.bodies[b].folded) {
      work.I[b] = aboutOrigin(inertiaAt(tables, b, work));
    }
  }
  for (int k = tables.clusterCount - 1; k >= 0; --k) {
    const ClusterEntry& cluster = tables.clusters[tables.order[k]];
    switch (shapeOf(cluster, work)) {
      case ClusterShape::Single: {
        const BodyEntry<R>& body = tables.bodies[cluster.moving];
        Force<T> U = work.I[cluster.moving] * work.S[body.firstS];
        if (body.single.geared) {
          U.moment += turned(work.X[cluster.output].R, body.single.spin);
        }
        work.U[cluster.firstV] = U;
        if (cluster.output != kWorld) {
          work.I[cluster.output] += work.I[cluster.moving];
        }
        break;
      }
      case ClusterShape::FreeBase:
        break;
      case ClusterShape::Coupled:
      case ClusterShape::General:
        withSize(cluster.nv, [&]<int M>() { composeCluster<M>(tables, cluster, work); });
        break;
    }
  }
  composeBaseMomenta(tables, work);
}

/// (1), from U.
template <typename T, typename R>
KEMPE_HD void writeMomentumMatrix(const TablesView<R>& tables, const WorkView<T>& work,
                                  const Vec3<T>& center, const MatrixAt<T>& A) {
  for (int j = 0; j < tables.nv; ++j) {
    const Force<T> U = work.U[j];
    const Vec3<T> moment = U.moment - cross(center, U.force);
    for (int i = 0; i < 3; ++i) {
      A(i, j) = U.force[i];
      A(i + 3, j) = moment[i];
    }
  }
}

/// (2), from U.
template <typename T, typename R>
KEMPE_HD void writeCenterJacobian(const TablesView<R>& tables, const WorkView<T>& work,
                                  const T& mass, const MatrixAt<T>& J) {
  const T inverse = T(1) / mass;
  for (int j = 0; j < tables.nv; ++j) {
    const Vec3<T> column = inverse * work.U[j].force;
    for (int i = 0; i < 3; ++i) {
      J(i, j) = column[i];
    }
  }
}

/// (3), from U.
template <typename T, typename R>
KEMPE_HD void writeGravityForces(const TablesView<R>& tables, const WorkView<T>& work, T* tau) {
  const Vec3<T> up = -tables.gravity.template cast<T>();
  for (int j = 0; j < tables.nv; ++j) {
    tau[j] = dot(up, work.U[j].force);
  }
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    forSprings(tables, cluster, work, [&](int i, const T& force) {
      if (cluster.kind == ClusterKind::Tree) {
        tau[cluster.firstV + i - cluster.firstVelocity] += force;
        return;
      }
      const T* r = ratiosOf(cluster, i, work);
      for (int j = 0; j < cluster.nv; ++j) {
        tau[cluster.firstV + j] += r[j] * force;
      }
    });
  }
}

}  // namespace kempe::detail
