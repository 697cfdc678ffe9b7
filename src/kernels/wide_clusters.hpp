#pragma once

#include "kernels/outward.hpp"

/// Condensation of wide clusters: open chains of bodies that turn or slide, closed by loops, with
/// many DoFs. D by S of all bodies would take n m² operations; D = Gᵀ H G, with H the mass matrix of the
/// chain's n joints (Featherstone, Rigid Body Dynamics Algorithms, section 6.2), takes n² + d m².
/// With g_j the row of G of joint j, which is a unit vector where j is independent, and IC_j, pC_j the
/// sums of I, pA over the bodies from j to the chain's end:
///
///   F_j  = IC_j s_j                                                       (1)
///   H_ij = s_iᵀ F_j   for i from j to the chain's root                    (2)
///   D    = Σ g_jᵀ t_j + t_jᵀ g_j,  t_j = ½ H_jj g_j + Σ_{i < j} H_ij g_i  (3)
///   U    = Σ F_j g_j                                                      (4)
///   u    = τ − Σ g_jᵀ s_jᵀ pC_j                                           (5)
namespace kempe::detail {

/// Finds whether velocities of a cluster are independent; asked for in descending order.
class IndependentBelow {
 public:
  KEMPE_HD IndependentBelow(const int* independent, int count)
      : independent_(independent), place_(count - 1) {}

  /// The place of a velocity among the independent ones, or −1.
  KEMPE_HD int find(int velocity) {
    while (place_ >= 0 && independent_[place_] > velocity) {
      --place_;
    }
    return place_ >= 0 && independent_[place_] == velocity ? place_ : -1;
  }

 private:
  const int* independent_;
  int place_;
};

/// Calls visit(b, velocity, place) for the bodies of a chain from b to its root; `place` as
/// IndependentBelow finds it.
template <typename T, typename Tables, typename Visit>
KEMPE_HD void forChain(const Tables& tables, const ClusterEntry& cluster, int b,
                       IndependentBelow below, const Visit& visit) {
  for (; b >= cluster.firstBody; b = tables.bodies[b].parent) {
    const int velocity = tables.bodies[b].firstVelocity - cluster.firstVelocity;
    visit(b, velocity, below.find(velocity));
  }
}

/// D and U of a wide cluster, before D is factored, and the inertia of its bodies onto the output
/// body.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void composeWide(const Tables& tables, const ClusterEntry& cluster,
                                        const WorkView<T>& work) {
  const int m = cluster.nv;
  const bool grounded = cluster.output == kWorld;
  const T* const G = work.G + cluster.firstRatio;
  T* const D = work.D + cluster.firstD;
  Force<T>* const U = work.U + cluster.firstV;
  T* const t = work.loops.rightSide;  // at least m numbers
  IndependentBelow below(tables.independent + cluster.firstIndependent, m);
  RigidInertia<T> IC{};
  for (int b = cluster.firstBody + cluster.bodies - 1; b >= cluster.firstBody; --b) {
    const BodyEntry<R>& body = tables.bodies[b];
    IC += work.I[b];
    const Motion<T> s = work.s[body.firstVelocity];
    const Force<T> F = IC * s;  // (1)
    for (int k = 0; k < m; ++k) {
      t[k] = T(0);
    }
    const int own = body.firstVelocity - cluster.firstVelocity;
    const int place = below.find(own);
    forChain<T>(tables, cluster, b, below, [&](int i, int velocity, int at) {
      const T along = dot(F, work.s[cluster.firstVelocity + velocity]);  // (2)
      const T h = i == b ? T(R(0.5)) * along : along;
      if (at >= 0) {
        t[at] += h;
        return;
      }
      for (int k = 0; k < m; ++k) {
        t[k] += h * G[velocity * m + k];
      }
    });
    if (place >= 0) {  // (3), (4)
      for (int k = 0; k <= place; ++k) {
        D[place * m + k] += t[k];
      }
      for (int k = place; k < m; ++k) {
        D[k * m + place] += t[k];
      }
      if (!grounded) {
        U[place] += F;
      }
    } else {
      const T* g = G + own * m;
      for (int i = 0; i < m; ++i) {
        for (int k = 0; k <= i; ++k) {
          D[i * m + k] += g[i] * t[k] + t[i] * g[k];
        }
        if (!grounded) {
          U[i] += g[i] * F;
        }
      }
    }
    if (body.parent == cluster.output) {
      if (!grounded) {
        work.IA[cluster.output] += IC;
      }
      IC = {};
    }
  }
}

/// (5) of a wide cluster, and the force of its bodies onto the output body.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void gatherWide(const Tables& tables, const ClusterEntry& cluster,
                                       const WorkView<T>& work) {
  const int m = cluster.nv;
  T* const u = work.u + cluster.firstV;
  IndependentBelow below(tables.independent + cluster.firstIndependent, m);
  Force<T> pC{};
  for (int b = cluster.firstBody + cluster.bodies - 1; b >= cluster.firstBody; --b) {
    const BodyEntry<R>& body = tables.bodies[b];
    pC += work.f[b];
    const T along = dot(pC, work.s[body.firstVelocity]);
    const int own = body.firstVelocity - cluster.firstVelocity;
    const int place = below.find(own);
    if (place >= 0) {
      u[place] -= along;
    } else {
      const T* g = work.G + cluster.firstRatio + own * m;
      for (int k = 0; k < m; ++k) {
        u[k] -= g[k] * along;
      }
    }
    if (body.parent == cluster.output) {
      work.f[cluster.output] += pC;
      pC = {};
    }
  }
}

}  // namespace kempe::detail
