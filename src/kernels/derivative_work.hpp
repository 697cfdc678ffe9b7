#pragma once

#include "kernels/coriolis_inertia.hpp"
#include "kernels/motion_derivatives.hpp"
#include "tables/term_request.hpp"

/// Memory and results of inverse_dynamics_derivatives.hpp, which has the equations that the numbers
/// here refer to.
namespace kempe::detail {

/// How the external forces on a body change when it is displaced, beyond turning with it: those that
/// keep their direction, at a point that moves with the body, or also their line of action.
template <typename T>
struct KeptForces {
  Mat3<T> N{};
  Vec3<T> force{}, fixed{};

  KEMPE_HD KeptForces& operator+=(const KeptForces& b) {
    N += b.N;
    force += b.force;
    fixed += b.fixed;
    return *this;
  }
  /// E m = [N α + a × fixed; α × force] of m = [α; a].
  KEMPE_HD friend Force<T> operator*(const KeptForces& E, const Motion<T>& m) {
    return {E.N * m.angular + cross(m.linear, E.fixed), cross(m.angular, E.force)};
  }
  KEMPE_HD friend Force<T> transposeTimes(const KeptForces& E, const Motion<T>& m) {
    return {transposeTimes(E.N, m.angular) + cross(E.force, m.linear), cross(E.fixed, m.angular)};
  }
};

/// h, 2 b, e of (4) and the sums of (1) and (2) of one DoF; b has no force.
template <typename T>
struct DerivativeSums {
  Force<T> h{}, e{}, Fq{}, Fv{};
  Vec3<T> twiceB{};
};

/// f·m + n·w
template <typename T>
KEMPE_HD T dotBoth(const Force<T>& f, const Motion<T>& m, const Vec3<T>& n, const Vec3<T>& w) {
  return dot(f, m) + dot(n, w);
}

/// Two vectors one behind the other.
template <typename T>
KEMPE_HD void writeSix(const Vec3<T>& a, const Vec3<T>& b, T* to) {
  for (int i = 0; i < 3; ++i) {
    to[i] = a[i];
    to[i + 3] = b[i];
  }
}

/// (3) to (5) without E.
template <typename T>
KEMPE_HD void writeProducts(const Force<T>& Fq, const Force<T>& Fv, const Force<T>& h,
                            const Vec3<T>& twiceB, const Motion<T>& S, const Motion<T>& Q,
                            const Motion<T>& Qv, const Vec3<T>& P, T& columnQ, T& columnV, T& rowQ,
                            T& rowV) {
  columnQ = dot(Fq, S);
  columnV = dot(Fv, S);
  rowQ = dotBoth(h, Q, twiceB, P);
  rowV = dotBoth(h, Qv, twiceB, S.angular);
}

/// Memory of the kernel below.
template <typename T>
struct DerivativeWork {
  MotionDerivativeWork<T> motion;
  Force<T>*Fq, *Fv;          ///< as WorkView::S: (1), (2)
  CoriolisInertia<T>* B;     ///< per body
  KeptForces<T>* E;          ///< per body
  Force<T>* loopForces;      ///< per body: of Kᵀ μ
  T *spanningQ, *spanningV;  ///< n × m of one cluster: ∂τ_s
  DerivativeSums<T>* sums;   ///< m of one cluster
  T* multipliers;            ///< of one cluster
  T* tau;                    ///< nv
  /// Per spanning velocity: constant forces along the joints that act beside τ; may be null. They
  /// matter where G changes: in implicit clusters.
  const T* jointForces = nullptr;
};

template <typename T, typename R>
DerivativeWork<T> carveDerivatives(const TablesView<R>& tables, Carver& carver) {
  int largest = 1;
  for (int c = 0; c < tables.clusterCount; ++c) {
    const int ratios = tables.clusters[c].velocities * tables.clusters[c].nv;
    largest = ratios > largest ? ratios : largest;
  }
  DerivativeWork<T> w;
  w.motion = carveMotionDerivatives<T>(tables, carver);
  w.Fq = carver.take<Force<T>>(tables.sColumns);
  w.Fv = carver.take<Force<T>>(tables.sColumns);
  w.B = carver.takeWithWorld<CoriolisInertia<T>>(tables.bodyCount);
  w.E = carver.takeWithWorld<KeptForces<T>>(tables.bodyCount);
  w.loopForces = carver.takeWithWorld<Force<T>>(tables.bodyCount);
  w.spanningQ = carver.take<T>(largest);
  w.spanningV = carver.take<T>(largest);
  w.sums = carver.take<DerivativeSums<T>>(tables.nv);
  w.multipliers = carver.take<T>(tables.mostRows);
  w.tau = carver.take<T>(tables.nv);
  return w;
}

/// Outputs of the kernel: ∂τ/∂q, ∂τ/∂v, H, nv × nv each, by contiguous rows or columns. H may be null.
template <typename T>
struct DerivativeMatrices {
  MatrixAt<T> q, v, H;
  /// For forward dynamics only, otherwise null: Yᵀ S of (1) of forward_dynamics_derivatives.hpp, nv × nv
  /// by rows. Then q and v are column-major without gaps, H is null, and left out are entries of DoFs
  /// of which neither carries the other, which are zero, and columns of the floating base that (4)
  /// there replaces. Rows of the floating base, and columns of the ratios, are along the axes of the
  /// world.
  T* ratios = nullptr;
};

}  // namespace kempe::detail
