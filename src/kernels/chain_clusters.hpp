#pragma once

#include <limits>

#include "kernels/articulated.hpp"

/// Accelerations of open chains of bodies that turn or slide, closed by loops of few rows, in time
/// linear in the number n of joints, where G and D take n m² and m³. With H the mass matrix of the
/// chains' joints, c their bias forces where q̈ = 0, B their inertia that couples to the output body,
/// and τ_s the forces τ at independent joints, zero at the others (Gᵀ τ_s = τ):
///
///   H q̈ + Bᵀ δa_out + c = τ_s + Kᵀ λ,   K q̈ = k                                      (1)
///
/// is solved by the articulated-body recursion along the joints (Featherstone 2008, section 7.3),
///
///   U_j = IA_j s_j     D_j = s_jᵀ U_j + armature     IA_λ += IA_j − U_j D_j⁻¹ U_jᵀ      (2)
///   u_j = τ_j − s_jᵀ pA_j                            pA_λ += pA_j + U_j D_j⁻¹ u_j       (3)
///
/// which also sends the rows of K as forces to the output body: (3) with τ = K_r and no other forces
/// gives u_rj and, on the output body, X_r = B H⁻¹ K_rᵀ, so that
///
///   Λ = K H⁻¹ Kᵀ = [Σ_j u_rj D_j⁻¹ u_sj]        K q̈_free = [Σ_j u_rj D_j⁻¹ u_j]        (4)
///   Λ λ = k − K q̈_free + Xᵀ δa_out                                                       (5)
///   Ia += X Λ⁻¹ Xᵀ     pa += X Λ⁻¹ (k − K q̈_free)                                        (6)
///   q̈_j = D_j⁻¹ (u_j + Σ_r λ_r u_rj − U_jᵀ δa_λ)     δa_j = δa_λ + s_j q̈_j             (7)
///
/// H of light links may be close to singular where D = Gᵀ H G is not, and Λ has the square of K's
/// condition. Both are noticed, and the states are then solved by D.
namespace kempe::detail {

template <typename R>
struct ChainTolerances {
  static constexpr bool kFloat = sizeof(R) == sizeof(float);
  /// What rows before it leave of a row's Λ_rr.
  static constexpr R kLeastShare = kFloat ? R(1e-2) : R(1e-4);
  /// Relative error of accelerations by cancellation, and an absolute one, in rad/s² or m/s².
  static constexpr R kError = kFloat ? R(1e-2) : R(1e-10);
  static constexpr R kNegligible = kFloat ? R(1e-2) : R(1e-10);
  static constexpr R kRounding = R(4) * std::numeric_limits<R>::epsilon();
};

/// The scratch of one cluster.
template <typename T>
KEMPE_HD ChainWork<T> chainOf(const ClusterEntry& cluster, const WorkView<T>& work) {
  const int joint = cluster.firstChainJoint, row = cluster.chain * kMostChainRows;
  const ChainWork<T>& all = work.chains;
  return {
      all.U + joint, all.dInverse + joint, all.u + joint,        all.unit + joint * kMostChainRows,
      all.X + row,   all.balance + row,    all.rowInverse + row, all.factor + row * kMostChainRows};
}

/// Velocities, accelerations where q̈ = 0, inertias and forces of the bodies, and u without −sᵀ pA.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void moveChain(const Tables& tables, const ClusterEntry& cluster,
                                      const WorkView<T>& work, const ChainWork<T>& chain,
                                      const T* tau) {
  Motion<T> v{}, a{};
  for (int j = 0; j < cluster.bodies; ++j) {
    const int b = cluster.firstBody + j;
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.parent == cluster.output) {
      v = work.v[cluster.output];
      a = work.a[cluster.output];
    }
    const T rate = work.rates[body.firstVelocity];
    const Motion<T> relative = rate * work.s[body.firstVelocity];
    a += cross(v, relative);
    v += relative;
    work.v[b] = v;
    work.a[b] = a;
    const PlacedInertia<T> inertia = placed(work.X[b], body.central);
    work.f[b] = forceOn(inertia, v, a);
    work.I[b] = aboutOrigin(inertia);
    T u(0);
    if (cluster.dissipates) {
      u -= resistance(tables, body.firstVelocity, rate);
    }
    if (cluster.sprung) {
      u -= springForce(tables, body, work);
    }
    chain.u[j] = u;
  }
  const int* independent = tables.independent + cluster.firstIndependent;
  for (int i = 0; i < cluster.nv; ++i) {
    chain.u[independent[i]] += tau[cluster.firstV + i];
  }
}

/// (2), (4) of Λ, (6) of Ia, with d as a constant or 0. Returns false where a pivot is in doubt.
template <int kRows, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN bool condenseChain(const Tables& tables, const ClusterEntry& cluster,
                                          const WorkView<T>& work, const ChainWork<T>& chain) {
  const int n = cluster.velocities, d = kRows > 0 ? kRows : cluster.kept;
  const T* const K = work.loops.K + cluster.firstK;
  const bool grounded = cluster.output == kWorld;
  ArticulatedInertia<T> IA{};
  Force<T> pa[kMostChainRows]{};
  T product[kMostChainRows * (kMostChainRows + 1) / 2]{};
  for (int r = 0; r < d; ++r) {
    chain.X[r] = {};
  }
  T largest(0), least(1);
  for (int j = n - 1; j >= 0; --j) {
    const BodyEntry<R>& body = tables.bodies[cluster.firstBody + j];
    const Motion<T> s = work.s[cluster.firstVelocity + j];
    IA += work.I[cluster.firstBody + j];
    const Force<T> U = IA * s;  // (2)
    T D = dot(U, s);
    if (cluster.armatured) {
      D += T(tables.armature[cluster.firstVelocity + j]);
    }
    const T dInverse = T(1) / D;
    largest = select(dInverse > largest, dInverse, largest);
    least = select(D > T(0), least, T(0));
    chain.U[j] = U;
    chain.dInverse[j] = dInverse;
    T scaled[kMostChainRows];
    for (int r = 0; r < d; ++r) {  // (3) of the rows
      const T u = K[r * n + j] - dot(pa[r], s);
      chain.unit[j * d + r] = u;
      scaled[r] = dInverse * u;
      pa[r] += scaled[r] * U;
      for (int k = 0; k <= r; ++k) {
        product[r * (r + 1) / 2 + k] += u * scaled[k];  // (4)
      }
    }
    if (body.parent == cluster.output) {
      for (int r = 0; r < d; ++r) {
        chain.X[r] += pa[r];
        pa[r] = {};
      }
      if (!grounded) {
        IA.addOuter(-dInverse, U);
        work.IA[cluster.output] += IA;
      }
      IA = {};
    } else {
      IA.addOuter(-dInverse, U);
    }
  }
  for (int r = 0; r < d; ++r) {
    for (int k = 0; k <= r; ++k) {
      chain.factor[r * d + k] = product[r * (r + 1) / 2 + k];
    }
  }
  factorize<kRows>(d, chain.factor, chain.rowInverse);
  for (int r = 0; r < d; ++r) {
    const T own = product[r * (r + 1) / 2 + r];
    const auto clear = T(1) > T(ChainTolerances<R>::kLeastShare) * (chain.rowInverse[r] * own);
    least = select(clear, select(chain.rowInverse[r] > T(0), least, T(0)), T(0));
  }
  for (int r = 0; !grounded && r < d; ++r) {  // (6)
    Force<T> Y = chain.X[r];
    for (int k = 0; k < r; ++k) {
      Y -= chain.factor[r * d + k] * chain.X[k];
    }
    chain.X[r] = Y;
    work.IA[cluster.output].addOuter(chain.rowInverse[r], Y);
  }
  // All pivots are then clear of rounding, for findIndefinite too.
  const T limit = T(R(1) / kClearPivot<R>) / T(tables.inertiaScale[cluster.firstV]);
  const int* independent = tables.independent + cluster.firstIndependent;
  for (int i = 0; i < cluster.nv; ++i) {
    work.dInverse[cluster.firstV + i] = chain.dInverse[independent[i]];
  }
  return !any(select(largest < limit, least, T(0)) < T(R(0.5)));
}

/// The outward pass of a chain. Returns false in a singular configuration; `doubtful` is set where D
/// has to be used instead.
template <typename T, typename Tables, typename Loops>
KEMPE_HD bool passChain(const Tables& tables, int c, const WorkView<T>& work, Loops& loops,
                        const T* v, const T* tau, bool& doubtful) {
  const ClusterEntry& cluster = tables.clusters[c];
  const ChainWork<T> chain = chainOf(cluster, work);
  if (work.loopsSolved) {
    timesG(cluster, work, v + cluster.firstV, work.rates + cluster.firstVelocity);
  } else {
    placeBodies(tables, cluster, work);
    if (!loops.solveRates(c, work, v + cluster.firstV)) {
      return false;
    }
  }
  moveChain(tables, cluster, work, chain, tau);
  loops.rowBias(c, work);
  for (int r = 0; r < cluster.kept; ++r) {
    chain.balance[r] = work.loops.k[r];
  }
  withSize(cluster.kept,
           [&]<int kRows>() { doubtful |= !condenseChain<kRows>(tables, cluster, work, chain); });
  return true;
}

/// (3), and pa of (6): `balance` becomes L⁻¹ (k − K q̈_free), with L of Λ.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void condenseChainForce(const Tables& tables, const ClusterEntry& cluster,
                                               const WorkView<T>& work) {
  const ChainWork<T> chain = chainOf(cluster, work);
  const int d = cluster.kept;
  Force<T> pa{};
  for (int j = cluster.velocities - 1; j >= 0; --j) {
    const int b = cluster.firstBody + j;
    pa += work.f[b];
    const T u = chain.u[j] - dot(pa, work.s[cluster.firstVelocity + j]);
    const T scaled = chain.dInverse[j] * u;
    chain.u[j] = u;
    for (int r = 0; r < d; ++r) {
      chain.balance[r] -= chain.unit[j * d + r] * scaled;
    }
    pa += scaled * chain.U[j];
    if (tables.bodies[b].parent == cluster.output) {
      work.f[cluster.output] += pa;
      pa = {};
    }
  }
  forwardSubstitute<0>(d, chain.factor, chain.balance);
  for (int r = 0; cluster.output != kWorld && r < d; ++r) {
    work.f[cluster.output] += (chain.rowInverse[r] * chain.balance[r]) * chain.X[r];
  }
}

/// (5) and (7). Returns false where too many digits cancel.
template <int kRows, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN bool accelerateChain(const Tables& tables, const ClusterEntry& cluster,
                                            const WorkView<T>& work, T* ydd) {
  using std::abs;
  using Tolerances = ChainTolerances<R>;
  const ChainWork<T> chain = chainOf(cluster, work);
  const int d = kRows > 0 ? kRows : cluster.kept;
  const Motion<T> output = work.da[cluster.output];
  T lambda[kMostChainRows];
  for (int r = 0; r < d; ++r) {
    lambda[r] = chain.balance[r];
    if (cluster.output != kWorld) {
      lambda[r] += dot(chain.X[r], output);
    }
    lambda[r] *= chain.rowInverse[r];
  }
  backSubstitute<kRows>(d, chain.factor, lambda);
  Motion<T> da{};
  T largest(0), lost(0);
  for (int j = 0; j < cluster.velocities; ++j) {
    if (tables.bodies[cluster.firstBody + j].parent == cluster.output) {
      da = output;
    }
    T x = chain.u[j], size = abs(x);
    for (int r = 0; r < d; ++r) {
      const T term = lambda[r] * chain.unit[j * d + r];
      x += term;
      size += abs(term);
    }
    const T qdd = chain.dInverse[j] * (x - dot(chain.U[j], da));
    size *= chain.dInverse[j];
    largest = select(abs(qdd) > largest, abs(qdd), largest);
    lost = select(size > lost, size, lost);
    da += qdd * work.s[cluster.firstVelocity + j];
    chain.u[j] = qdd;
  }
  const int* independent = tables.independent + cluster.firstIndependent;
  for (int i = 0; i < cluster.nv; ++i) {
    ydd[cluster.firstV + i] = chain.u[independent[i]];
  }
  const T relative = T(Tolerances::kError) * largest, negligible(Tolerances::kNegligible);
  const T tolerable = select(relative > negligible, relative, negligible);
  return !any(select(T(Tolerances::kRounding) * lost <= tolerable, T(0), T(1)) > T(R(0.5)));
}

}  // namespace kempe::detail
