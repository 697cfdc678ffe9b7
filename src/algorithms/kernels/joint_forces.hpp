#pragma once

#include "algorithms/kernels/articulated.hpp"
#include "algorithms/kernels/external_forces.hpp"
#include "kempe/spatial/factorization.hpp"

/// Forces between bodies from what C-ABA or C-RNEA leave behind (Jain, inter-body forces, eqs. 18
/// and 69). F_i is what crosses all cuts above body i and what hangs on it, loops included:
///
///   F_i = IA_i δa_i + pA_i + Σ J (r ÿ) [z; 0] of the cluster's folded rotors on i     (1)  C-ABA
///   F_i ← F_i + Σ F of the children of i in the cluster                               (2)  C-ABA
///   t_i = s_iᵀ F_i + J_i q̈_i + resistance                                             (3)  J:
///   armature r   = t − τ_applied                                       left to the loops       (4)
///   Kᵀ λ = r,  w = Σ λ f                                      loops/loop_forces.hpp   (5)
///   f_i = F_i − Σ w of the loops that end on i or beyond it                           (6)
///
/// C-RNEA leaves F_i itself. A folded rotor r on body p, with d its centre's place on the axis, m
/// its mass and J, J_t its central moments of inertia along and across the axis z, needs
///
///   f = m (acceleration of its centre, a point of p)                                  (7)
///   n = J_t α_p + ((J − J_t) zᵀα_p + J q̈) z + ω_p × (J_t ω_p + ((J − J_t) zᵀω_p + J q̇) z)   (8)
namespace kempe::detail {

/// What forces between bodies are asked for, and of which motion.
template <typename T, typename R>
struct InterBodyRequest {
  bool afterInverse = false;            ///< the evaluation before was C-RNEA, not C-ABA
  bool rotorsDrive = false;             ///< τ acts at rotors where they determine their cluster
  const T* v = nullptr;                 ///< ẏ
  const T* ydd = nullptr;               ///< ÿ
  const T* tau = nullptr;               ///< τ at the independent joints, or what it stands for
  const T* spanning = nullptr;          ///< forces at all joints beyond τ; may be null
  const BodyFrame<R>* frame = nullptr;  ///< write all wrenches in it; null: each in its own
  Reference reference = Reference::LocalWorldAligned;  ///< of own frames
  T* joints = nullptr;  ///< [force; moment] of each joint, `stride` apart; may be null
  int stride = 6;
  T* loops = nullptr;  ///< what each loop transmits; may be null
};

/// See above; after forwardDynamicsKernel or inverseDynamicsKernel on the same work.
template <typename T, typename R, typename Loops>
class InterBodyKernel {
 public:
  KEMPE_HD InterBodyKernel(const TablesView<R>& tables, const WorkView<T>& work, Loops& loops,
                           const InterBodyRequest<T, R>& request)
      : tables_(tables), work_(work), loops_(loops), request_(request) {}

  /// Returns a cluster whose rotors do not determine its velocities here but should, or −1.
  KEMPE_HD int run() {
    if (request_.frame != nullptr) {
      BodyFrame<R> frame = *request_.frame;
      frame.reference = Reference::Local;
      common_ = referenceFrame(frame, work_);
    } else if (request_.reference == Reference::World) {
      common_ = {Mat3<T>::identity(), -*work_.origin};
    }
    for (int k = 0; k < tables_.clusterCount; ++k) {
      const int c = tables_.order[k];
      if (!cluster(c, tables_.clusters[c])) {
        return c;
      }
    }
    return -1;
  }

 private:
  KEMPE_HD bool cluster(int c, const ClusterEntry& cluster) {
    if (!request_.afterInverse) {
      gather(cluster);
    }
    const bool solves = cluster.kind == ClusterKind::Implicit ||
                        (cluster.kind == ClusterKind::Explicit && request_.loops != nullptr);
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      if (tables_.bodies[b].folded) {
        loadRotor(cluster, tables_.bodies[b], b);
      }
    }
    if (solves) {
      span(cluster);                   // (3)
      if (!takeOffApplied(cluster)) {  // (4)
        return false;
      }
      transmit(c, cluster);  // (5), (6)
    }
    for (int b = cluster.firstBody;
         request_.joints != nullptr && b < cluster.firstBody + cluster.bodies; ++b) {
      write(cluster, tables_.bodies[b], b);
    }
    return true;
  }

  // --- (1), (2) -----------------------------------------------------------------------------

  KEMPE_HD KEMPE_FLATTEN void gather(const ClusterEntry& cluster) {
    switch (shapeOf(cluster, work_)) {
      case ClusterShape::Single: {
        const int b = cluster.moving;
        const BodyEntry<R>& body = tables_.bodies[b];
        if (body.carrier) {
          work_.f[b] += work_.IA[b] * work_.da[b];
        } else {
          work_.f[b] += work_.I[b] * (work_.da[cluster.output] +
                                      request_.ydd[cluster.firstV] * work_.S[body.firstS]);
        }
        return;
      }
      case ClusterShape::FreeBase: {
        // Nothing but τ holds it.
        const T* tau = request_.tau + cluster.firstV;
        const Mat3<T>& R_ = work_.X[cluster.firstBody].R;
        Force<T> f{R_ * Vec3<T>{tau[3], tau[4], tau[5]}, R_ * Vec3<T>{tau[0], tau[1], tau[2]}};
        if (request_.spanning != nullptr) {
          const T* more = request_.spanning + cluster.firstVelocity;
          f += {R_ * Vec3<T>{more[3], more[4], more[5]}, R_ * Vec3<T>{more[0], more[1], more[2]}};
        }
        work_.f[cluster.firstBody] = f;
        return;
      }
      case ClusterShape::Coupled:
      case ClusterShape::General:
        gatherGeneral(cluster);
    }
  }

  KEMPE_HD void gatherGeneral(const ClusterEntry& cluster) {
    const int m = cluster.nv;
    if (cluster.kind == ClusterKind::Implicit) {
      for (int i = 0; i < cluster.velocities; ++i) {  // q̈ = G ÿ + g
        work_.accelerations[cluster.firstVelocity + i] +=
            alongRatios<0>(m, work_.G + cluster.firstRatio + i * m, request_.ydd + cluster.firstV);
      }
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {  // (1)
      const BodyEntry<R>& body = tables_.bodies[b];
      if (body.folded) {
        if (body.parent >= cluster.firstBody) {
          work_.f[body.parent].moment +=
              (T(body.spinInertia) * spinUp(cluster, body)) * spinAxis(cluster, body, work_);
        }
        continue;
      }
      if (!body.carrier) {
        Motion<T> da = work_.da[cluster.output];
        for (int i = 0; i < m; ++i) {
          da += request_.ydd[cluster.firstV + i] * work_.S[body.firstS + i];
        }
        work_.da[b] = da;
        work_.f[b] += work_.I[b] * da;
      } else {
        work_.f[b] += work_.IA[b] * work_.da[b];
      }
    }
    for (int b = cluster.firstBody + cluster.bodies - 1; b >= cluster.firstBody; --b) {  // (2)
      const BodyEntry<R>& body = tables_.bodies[b];
      if (body.parent >= cluster.firstBody && (!body.folded || work_.wholeRotors)) {
        work_.f[body.parent] += work_.f[b];
      }
    }
  }

  /// r ÿ of a rotor: what pA does not have of its q̈.
  KEMPE_HD T spinUp(const ClusterEntry& cluster, const BodyEntry<R>& body) const {
    return alongRatios<0>(cluster.nv, ratiosOf(cluster, body.firstVelocity, work_),
                          request_.ydd + cluster.firstV);
  }

  // --- (7), (8) -----------------------------------------------------------------------------

  /// q̇ and q̈ of one spanning velocity.
  KEMPE_HD T rateOf(const ClusterEntry& cluster, int velocity) const {
    return cluster.kind == ClusterKind::Implicit
               ? work_.rates[velocity]
               : ofConstantRatios(cluster, velocity, request_.v + cluster.firstV);
  }
  KEMPE_HD T accelerationOf(const ClusterEntry& cluster, int velocity) const {
    return cluster.kind == ClusterKind::Implicit
               ? work_.accelerations[velocity]
               : ofConstantRatios(cluster, velocity, request_.ydd + cluster.firstV);
  }
  KEMPE_HD T ofConstantRatios(const ClusterEntry& cluster, int velocity, const T* y) const {
    return cluster.kind == ClusterKind::Tree
               ? y[velocity - cluster.firstVelocity]
               : alongRatios<0>(cluster.nv, constantRatios(tables_, cluster, velocity), y);
  }

  /// f of a folded rotor into work.f; on entry that has −f_ext where rotors are whole.
  KEMPE_HD KEMPE_FLATTEN void loadRotor(const ClusterEntry& cluster, const BodyEntry<R>& body,
                                        int b) {
    const Transform<T>& P = work_.X[body.parent];
    const Vec3<T> z = turned(P.R, body.placement.R.column(2));
    const Vec3<T> center = turned(P.R, body.placement.p) + P.p + T(body.central.center.z) * z;
    const Motion<T> v = work_.v[body.parent];
    Motion<T> a = work_.a[body.parent];
    if (!request_.afterInverse) {
      a += work_.da[body.parent];
    }
    const T rate = rateOf(cluster, body.firstVelocity);
    const T acceleration = accelerationOf(cluster, body.firstVelocity);
    const T J(body.central.rotation.zz), across(body.central.rotation.xx);
    const T mass(body.central.mass);
    const Vec3<T> force = mass * (a.linear + cross(a.angular, center) +
                                  cross(v.angular, v.linear + cross(v.angular, center)));  // (7)
    const Vec3<T> momentum = across * v.angular + ((J - across) * dot(z, v.angular) + J * rate) * z;
    const Vec3<T> moment = across * a.angular +
                           ((J - across) * dot(z, a.angular) + J * acceleration) * z +
                           cross(v.angular, momentum);  // (8)
    const Force<T> f{moment + cross(center, force), force};
    work_.f[b] = work_.wholeRotors ? work_.f[b] + f : f;
  }

  // --- (3), (4) -----------------------------------------------------------------------------

  /// Where the child's frame is; a rotor that only spins is not placed, but stays where it is.
  KEMPE_HD Vec3<T> originOfJoint(const ClusterEntry& cluster, const BodyEntry<R>& body,
                                 int b) const {
    if (!body.folded || !spinsOnly(cluster)) {
      return work_.X[b].p;
    }
    const Transform<T>& P = work_.X[body.parent];
    return turned(P.R, body.placement.p) + P.p;
  }
  /// Whether folded rotors of the cluster are not placed.
  KEMPE_HD bool spinsOnly(const ClusterEntry& cluster) const {
    return cluster.kind != ClusterKind::Implicit && !work_.wholeRotors;
  }

  KEMPE_HD void span(const ClusterEntry& cluster) {
    const ClusterShape shape = shapeOf(cluster, work_);
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables_.bodies[b];
      const int first = body.firstVelocity;
      const Force<T> f = work_.f[b];
      const bool turnsOrSlides = shape == ClusterShape::Single || shape == ClusterShape::Coupled;
      if (turnsOrSlides || (body.folded && spinsOnly(cluster))) {
        const Vec3<T> z = body.folded ? turned(work_.X[body.parent].R, body.placement.R.column(2))
                                      : work_.X[b].R.column(2);
        work_.tau[first] = body.type == JointType::Prismatic
                               ? dot(z, f.force)
                               : dot(z, f.moment - cross(originOfJoint(cluster, body, b), f.force));
      } else {
        for (int i = 0; i < velocitySize(body.type); ++i) {
          work_.tau[first + i] = dot(f, work_.s[first + i]);
        }
      }
    }
    for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
      if (cluster.armatured) {
        work_.tau[i] += T(tables_.armature[i]) * accelerationOf(cluster, i);
      }
      if (cluster.dissipates) {
        work_.tau[i] += resistance(tables_.damping[i], tables_.friction[i], rateOf(cluster, i));
      }
    }
  }

  /// False where τ acts at rotors which do not determine the cluster's velocities.
  KEMPE_HD bool takeOffApplied(const ClusterEntry& cluster) {
    const int m = cluster.nv;
    T* r = work_.tau + cluster.firstVelocity;
    const T* tau = request_.tau + cluster.firstV;
    for (int i = 0; request_.spanning != nullptr && i < cluster.velocities; ++i) {
      r[i] -= request_.spanning[cluster.firstVelocity + i];
    }
    if (!request_.rotorsDrive || cluster.drives == 0) {
      const int* independent = tables_.independent + cluster.firstIndependent;
      for (int j = 0; j < m; ++j) {
        r[independent[j]] -= tau[j];
      }
      return true;
    }
    // G_rᵀ τ_r = τ, with the rows of G of the rotors. D and u are not needed any more.
    const int* drives = tables_.drives + cluster.firstDrive;
    T* A = work_.D + cluster.firstD;
    T* atRotors = work_.u + cluster.firstV;
    for (int j = 0; j < m; ++j) {
      for (int i = 0; i < m; ++i) {
        A[i * m + j] = work_.G[cluster.firstRatio + drives[j] * m + i];
      }
      atRotors[j] = tau[j];
    }
    const R smallest = sizeof(R) == sizeof(float) ? R(1e-5) : R(1e-9);
    if (!(eliminate(A, m, atRotors) > T(smallest))) {
      return false;
    }
    for (int j = 0; j < m; ++j) {
      r[drives[j]] -= atRotors[j];
    }
    return true;
  }

  // --- (5), (6) -----------------------------------------------------------------------------

  KEMPE_HD void transmit(int c, const ClusterEntry& cluster) {
    if (cluster.kind == ClusterKind::Explicit) {
      transmitCouplings(cluster);
      return;
    }
    loops_.findMultipliers(c, work_);
    for (int l = 0; l < cluster.loops; ++l) {
      const LoopEntry<R>& loop = tables_.loops[cluster.firstLoop + l];
      T* out = request_.loops == nullptr ? nullptr : request_.loops + loop.firstForce;
      if (loop.kind == LoopKind::Joint || loop.kind == LoopKind::Rod) {
        const Force<T> w = loops_.wrench(cluster, l, work_);
        takeOff(cluster, loop.successor, w);
        takeOff(cluster, loop.predecessor, -w);
        if (out != nullptr) {
          const int local = loop.successor.body;
          const int body = local < 0 ? cluster.output : cluster.firstBody + local;
          const Transform<T> X = placed(work_.X[body], loop.forceFrame);
          write(w, X.p, X.R, out);
        }
      } else if (out != nullptr) {
        loops_.alongCoordinates(cluster, l, work_, out);
      }
    }
  }

  /// A wrench on one end of a loop is no load of the joints between it and the output body.
  KEMPE_HD void takeOff(const ClusterEntry& cluster, const LoopEnd<R>& end, const Force<T>& w) {
    for (int b = end.body < 0 ? cluster.output : cluster.firstBody + end.body; b != cluster.output;
         b = tables_.bodies[b].parent) {
      work_.f[b] -= w;
    }
  }

  KEMPE_HD void transmitCouplings(const ClusterEntry& cluster) {
    const int d = cluster.kept;
    const int* dependent = tables_.dependent + cluster.firstDependent;
    const R* P = tables_.couplingForces + cluster.firstCouplingForce;
    for (int l = cluster.firstLoop; l < cluster.firstLoop + cluster.loops; ++l) {
      const LoopEntry<R>& loop = tables_.loops[l];
      for (int t = 0; t < loop.forces; ++t, P += d) {
        T sum(0);
        for (int j = 0; j < d; ++j) {
          sum += T(P[j]) * work_.tau[cluster.firstVelocity + dependent[j]];
        }
        request_.loops[loop.firstForce + t] = sum;
      }
    }
  }

  // --- results ------------------------------------------------------------------------------

  KEMPE_HD void write(const ClusterEntry& cluster, const BodyEntry<R>& body, int b) {
    T* out = request_.joints + b * request_.stride;
    const Vec3<T> p = originOfJoint(cluster, body, b);
    const bool local = request_.frame == nullptr && request_.reference == Reference::Local;
    if (local) {  // rotors are placed then
      write(work_.f[b], p, turned(work_.X[b].R, tables_.links[b].R), out);
    } else {
      write(work_.f[b], p, Mat3<T>::identity(), out);
    }
  }

  /// A wrench at its own point `p` and in its own axes, or at and in those that all have.
  KEMPE_HD void write(const Force<T>& f, const Vec3<T>& p, const Mat3<T>& axes, T* out) const {
    if (request_.frame != nullptr || request_.reference == Reference::World) {
      put(f, common_.p, common_.R, out);
    } else if (request_.reference == Reference::Local) {
      put(f, p, axes, out);
    } else {
      const Vec3<T> moment = f.moment - cross(p, f.force);
      for (int i = 0; i < 3; ++i) {
        out[i] = f.force[i];
        out[i + 3] = moment[i];
      }
    }
  }
  KEMPE_HD static void put(const Force<T>& f, const Vec3<T>& p, const Mat3<T>& axes, T* out) {
    const Vec3<T> force = transposeTimes(axes, f.force);
    const Vec3<T> moment = transposeTimes(axes, f.moment - cross(p, f.force));
    for (int i = 0; i < 3; ++i) {
      out[i] = force[i];
      out[i + 3] = moment[i];
    }
  }

  const TablesView<R>& tables_;
  const WorkView<T>& work_;
  Loops& loops_;
  const InterBodyRequest<T, R>& request_;
  Transform<T> common_{};
};

}  // namespace kempe::detail
