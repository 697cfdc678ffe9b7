#pragma once

#include "kernels/articulated.hpp"
#include "kernels/external_forces.hpp"

/// Rotors that are not symmetric about their axis, next to the one link of a cluster that they drive
/// with constant ratios (ClusterEntry::unevens). A rotor's placement in its parent p, the cluster's
/// output body, is a rotation by θ about a constant axis z, with θ̇ = r ẏ. Its inertia about the
/// joint's origin is therefore that of a symmetric body, which is constant in p and merged there
/// (ModelTables::withRotors), plus, with e and n two axes across z that turn with the rotor,
///
///   first moment  h = h_e e + h_n n                    h′ = dh/dθ = z × h                        (1)
///   rotation      T = Δ (e eᵀ − n nᵀ) + g zᵀ + z gᵀ    g = g_e e + g_n n                         (2)
///   dT/dθ         T′ = 2 Δ (e nᵀ + n eᵀ) + g′ zᵀ + z g′ᵀ                                         (3)
///
/// where e is a principal axis of the transverse inertia and Δ half the difference of the two; h is 0
/// where the centre of mass is on the axis, g where the axis is a principal one. With J the inertia
/// about the axis, ω and α of p, and b the acceleration of the point of p at the joint's origin, all
/// at ÿ = 0, the force that moves the rotor is, beyond that of the merged part,
///
///   f = α × h + ω × (ω × h) + 2 θ̇ ω × h′ − θ̇² h                                                  (4)
///   n = T α + ω × T ω + h × b + θ̇ (T′ ω + ω × (g + J z)) + θ̇² g′                                 (5)
///
/// at the joint's origin: I a + v ×* I v with v = v_p + θ̇ s, by İ = θ̇ (s ×* I − I s ×) = θ̇ dI/dθ.
/// Its component along the joint, −∂/∂θ of the kinetic energy included, and its contributions to (1)
/// to (3) of articulated.hpp are
///
///   sᵀ f_r = (g + J z)ᵀ α + h′ᵀ b − ½ ωᵀ T′ ω                                                    (6)
///   U += r [g + J z; h′]      D += J r²      IA_p += [T, h×; −h×, 0]                             (7)
namespace kempe::detail {

/// (1) to (7) of one rotor: onto f, u, IA of the output body, and U of the cluster.
template <typename T, typename R>
KEMPE_HD KEMPE_FLATTEN void addUneven(const ClusterEntry& cluster, const UnevenRotor<R>& rotor,
                                      const WorkView<T>& work, const T& v) {
  const Mat3<T>& R_ = work.X[cluster.output].R;
  const T sine = work.sines[rotor.position], cosine = work.cosines[rotor.position];
  const Vec3<T> e0 = rotor.e.template cast<T>(), n0 = rotor.n.template cast<T>();
  const Vec3<T> e = R_ * (cosine * e0 + sine * n0), n = R_ * (cosine * n0 - sine * e0);
  const Vec3<T> z = cross(e, n);
  const T r(rotor.ratio), J(rotor.J), delta(rotor.delta), rate = r * v;
  const Motion<T> outputV = work.v[cluster.output], outputA = work.a[cluster.output];
  const Vec3<T> w = outputV.angular, alpha = outputA.angular;
  const T we = dot(w, e), wn = dot(w, n), de = delta * dot(alpha, e), dn = delta * dot(alpha, n);
  const Vec3<T> dw = delta * (we * e - wn * n);
  const T twice = T(R(2)) * delta * rate;
  if (!rotor.unbalanced) {  // h = g = 0
    const Vec3<T> spin = J * z;
    work.u[cluster.firstV] -= r * (dot(spin, alpha) - T(R(2)) * delta * we * wn);
    work.U[cluster.firstV].moment += r * spin;
    if (cluster.output != kWorld) {
      work.f[cluster.output].moment +=
          (de + twice * wn) * e + (twice * we - dn) * n + cross(w, dw + rate * spin);
      work.IA[cluster.output].addTurning(delta, e);
      work.IA[cluster.output].addTurning(-delta, n);
    }
    return;
  }
  const Vec3<T> p = turned(R_, rotor.origin) + work.X[cluster.output].p;
  const Vec3<T> h = T(rotor.he) * e + T(rotor.hn) * n;
  const Vec3<T> hRate = T(rotor.he) * n - T(rotor.hn) * e;
  const Vec3<T> g = T(rotor.ge) * e + T(rotor.gn) * n;
  const Vec3<T> gRate = T(rotor.ge) * n - T(rotor.gn) * e;
  const Vec3<T> momentum = g + J * z;
  const Vec3<T> b = outputA.linear + cross(alpha, p) + cross(w, outputV.linear + cross(w, p));
  const T wz = dot(w, z), wg = dot(w, gRate);
  work.u[cluster.firstV] -=
      r * (dot(momentum, alpha) + dot(hRate, b) - (T(R(2)) * delta * we * wn + wg * wz));  // (6)
  work.U[cluster.firstV] += r * Force<T>{momentum + cross(p, hRate), hRate};
  if (cluster.output == kWorld) {
    return;
  }
  const Vec3<T> force = cross(alpha, h) + cross(w, cross(w, h) + (T(R(2)) * rate) * hRate) -
                        (rate * rate) * h;  // (4)
  const Vec3<T> Tw = dw + wz * g + dot(w, g) * z;
  const Vec3<T> Talpha = de * e - dn * n + dot(alpha, z) * g + dot(alpha, g) * z;
  const Vec3<T> moment = Talpha + cross(w, Tw + rate * momentum) + cross(h, b) +
                         twice * (wn * e + we * n) + (rate * wz) * gRate + (rate * wg) * z +
                         (rate * rate) * gRate;  // (5)
  work.f[cluster.output] += Force<T>{moment + cross(p, force), force};
  // About the common frame's origin. For any a and b, the two terms of a pair are together
  // 2 a·b 1 − a bᵀ − b aᵀ.
  const SymMat3<T> rotation =
      pointInertia(h, p) + pointInertia(p, h) + (pointInertia(-g, z) + pointInertia(-z, g));
  work.IA[cluster.output] += RigidInertia<T>{T(0), h, rotation};
  work.IA[cluster.output].addTurning(delta, e);
  work.IA[cluster.output].addTurning(-delta, n);
}

/// Of all such rotors of a cluster, after biasSingle of its link.
template <typename T, typename Tables>
KEMPE_HD void addUnevenRotors(const Tables& tables, const ClusterEntry& cluster,
                              const WorkView<T>& work, const T* v) {
  work.U[cluster.firstV] = {};
  for (int i = cluster.firstUneven; i < cluster.firstUneven + cluster.unevens; ++i) {
    addUneven(cluster, tables.unevenRotors[i], work, v[cluster.firstV]);
  }
}

/// Whether such rotors need not be bodies.
template <typename T, typename Tables>
KEMPE_HD bool mergesUnevenRotors(const Tables& tables, const WorkView<T>& work) {
  return tables.unevenRotors.size() > 0 && !work.wholeRotors;
}

/// Whether body b is a rotor of such a cluster, or folded beside one.
template <typename Tables>
KEMPE_HD bool isBesideUneven(const Tables& tables, int b) {
  if (b == kWorld) {
    return false;
  }
  const ClusterEntry& cluster = tables.clusters[tables.bodies[b].cluster];
  return cluster.unevens > 0 && b != cluster.moving;
}

/// Whether an external force acts on a rotor of such a cluster, which then has to be a body.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD bool pullsAtUneven(const Tables& tables, const ExternalForces<T, R>& external) {
  for (int i = 0; i < external.count; ++i) {
    if (isBesideUneven(tables, external.frames[i].body)) {
      return true;
    }
  }
  return false;
}

}  // namespace kempe::detail
