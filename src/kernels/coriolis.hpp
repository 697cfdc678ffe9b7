#pragma once

#include "kernels/body_sums.hpp"
#include "kernels/coriolis_inertia.hpp"
#include "tables/term_request.hpp"

/// The Coriolis matrix (kempe/coriolis.hpp has the equations). With I, B of a body and all that it
/// carries, for a DoF j of a cluster with S_j and Ṡ_j of its bodies,
///
///   f = Σ (I Ṡ_j + B S_j)       C_lj = S_lᵀ f          l in the cluster or nearer to the root   (1)
///   h = Σ I S_j, b = Σ Bᵀ S_j   C_jl = hᵀ Ṡ_l + bᵀ S_l   l nearer to the root                   (2)
///
/// where S_l, Ṡ_l are of the body that carries the cluster.
namespace kempe::detail {

/// Memory of the kernel below.
template <typename T>
struct CoriolisWork {
  Motion<T>* SRates = nullptr;          ///< Ṡ, as WorkView::S
  Motion<T>* directionRates = nullptr;  ///< ṡ of one cluster
  T* ratioRates = nullptr;              ///< Ġ of one cluster
  CoriolisInertia<T>* B = nullptr;      ///< per body
};

template <typename T, typename R>
CoriolisWork<T> carveCoriolis(const TablesView<R>& tables, Carver& carver) {
  int longest = 0, largest = 0;
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    const int ratios = cluster.velocities * cluster.nv;
    longest = cluster.velocities > longest ? cluster.velocities : longest;
    largest = ratios > largest ? ratios : largest;
  }
  return {carver.take<Motion<T>>(tables.sColumns), carver.take<Motion<T>>(longest),
          carver.take<T>(largest), carver.take<CoriolisInertia<T>>(tables.bodyCount)};
}

/// After moveMechanism with accelerations, rotors whole.
template <typename T, typename R, typename Loops>
class CoriolisKernel {
 public:
  KEMPE_HD CoriolisKernel(const TablesView<R>& tables, const WorkView<T>& work, Loops& loops,
                          const CoriolisWork<T>& own, const MatrixAt<T>& C)
      : tables_(tables), work_(work), loops_(loops), own_(own), C_(C) {}

  KEMPE_HD void run() const {
    for (int i = 0; i < tables_.nv; ++i) {
      for (int j = 0; j < tables_.nv; ++j) {
        C_(i, j) = T(0);
      }
    }
    for (int c = 0; c < tables_.clusterCount; ++c) {
      rateCluster(c);
      addArmatures(tables_.clusters[c]);
    }
    for (int b = 0; b < tables_.bodyCount; ++b) {
      const CentralInertia<R> own = CentralInertia<R>::fromRigid(tables_.bodies[b].own);
      const PlacedInertia<T> inertia = placed(work_.X[b], own);
      work_.I[b] = aboutOrigin(inertia);
      own_.B[b] = coriolisOf(inertia, work_.v[b]);
    }
    for (int c = tables_.clusterCount - 1; c >= 0; --c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      for (int j = 0; j < cluster.nv; ++j) {
        writeDof(cluster, j);
      }
      for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
        if (cluster.output != kWorld) {
          work_.I[cluster.output] += work_.I[b];
          own_.B[cluster.output] += own_.B[b];
        }
      }
    }
  }

 private:
  /// Rates of the joint directions, and of S, of a cluster that moves.
  KEMPE_HD void rateCluster(int c) const {
    const ClusterEntry& cluster = tables_.clusters[c];
    const int m = cluster.nv;
    Motion<T>* sRates = own_.directionRates;
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables_.bodies[b];
      const Motion<T>* s = directions(cluster, body);
      const int withParent = directionsFixedInParent(body.type);
      for (int i = 0; i < velocitySize(body.type); ++i) {
        const Motion<T> carrier = i < withParent ? work_.v[body.parent] : work_.v[b];
        sRates[body.firstVelocity - cluster.firstVelocity + i] = cross(carrier, s[i]);
      }
    }
    if (cluster.kind == ClusterKind::Implicit) {
      loops_.ratioRates(c, work_, sRates, own_.ratioRates);
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables_.bodies[b];
      const int first = body.firstVelocity - cluster.firstVelocity;
      const bool inside = body.parent >= cluster.firstBody;
      for (int j = 0; j < m; ++j) {
        Motion<T> column{};
        if (inside) {
          column = own_.SRates[tables_.bodies[body.parent].firstS + j];
        }
        for (int i = first; i < first + velocitySize(body.type); ++i) {
          if (cluster.kind == ClusterKind::Tree) {
            if (i == j) {
              column += sRates[i];
            }
            continue;
          }
          column += work_.G[cluster.firstRatio + i * m + j] * sRates[i];
          if (cluster.kind == ClusterKind::Implicit) {
            column += own_.ratioRates[i * m + j] * work_.s[cluster.firstVelocity + i];
          }
        }
        own_.SRates[body.firstS + j] = column;
      }
    }
  }

  /// Joint directions of a body: S where it is a cluster of its own.
  KEMPE_HD const Motion<T>* directions(const ClusterEntry& cluster,
                                       const BodyEntry<R>& body) const {
    return shapeOf(cluster, work_) == ClusterShape::Single ? work_.S + body.firstS
                                                           : directionsOf(cluster, body, work_);
  }

  /// J Gᵀ Ġ of each DoF with an armature J, after rateCluster.
  KEMPE_HD void addArmatures(const ClusterEntry& cluster) const {
    if (cluster.kind != ClusterKind::Implicit || !cluster.armatured) {
      return;
    }
    const T* G = work_.G + cluster.firstRatio;
    for (int i = 0; i < cluster.velocities; ++i) {
      const T armature(tables_.armature[cluster.firstVelocity + i]);
      for (int l = 0; l < cluster.nv; ++l) {
        for (int j = 0; j < cluster.nv; ++j) {
          C_(cluster.firstV + l, cluster.firstV + j) +=
              armature * G[i * cluster.nv + l] * own_.ratioRates[i * cluster.nv + j];
        }
      }
    }
  }

  KEMPE_HD void writeDof(const ClusterEntry& cluster, int j) const {
    Force<T> column{}, momentum{}, transposed{};
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const int firstS = tables_.bodies[b].firstS;
      const Motion<T> S = work_.S[firstS + j];
      const Force<T> force = work_.I[b] * own_.SRates[firstS + j] + own_.B[b] * S;
      column += force;
      momentum += work_.I[b] * S;
      transposed += transposeTimes(own_.B[b], S);
      for (int l = 0; l < cluster.nv; ++l) {
        C_(cluster.firstV + l, cluster.firstV + j) += dot(force, work_.S[firstS + l]);  // (1)
      }
    }
    for (int r = cluster.output; r != kWorld;) {
      const ClusterEntry& above = tables_.clusters[tables_.bodies[r].cluster];
      const int firstS = tables_.bodies[r].firstS;
      for (int l = 0; l < above.nv; ++l) {
        const Motion<T> S = work_.S[firstS + l];
        C_(above.firstV + l, cluster.firstV + j) = dot(column, S);  // (1)
        C_(cluster.firstV + j, above.firstV + l) =
            dot(momentum, own_.SRates[firstS + l]) + dot(transposed, S);  // (2)
      }
      r = above.output;
    }
  }

  const TablesView<R>& tables_;
  const WorkView<T>& work_;
  Loops& loops_;
  CoriolisWork<T> own_;
  MatrixAt<T> C_;
};

}  // namespace kempe::detail
