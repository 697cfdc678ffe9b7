#pragma once

#include "kempe/spatial/factorization.hpp"
#include "kernels/articulated.hpp"
#include "kernels/external_forces.hpp"
#include "kernels/uneven_rotors.hpp"

/// Forces between bodies from the intermediate results of C-ABA or C-RNEA (Jain, inter-body forces,
/// eqs. 18 and 69). F_i is the force that joints and loops together transmit to body i and the
/// bodies that it carries:
///
///   F_i = IA_i δa_i + pA_i + Σ J (r ÿ) [z; 0] of the cluster's folded rotors on i     (1)  C-ABA
///   F_i ← F_i + Σ F of the children of i in the cluster                               (2)  C-ABA
///   t_i = s_iᵀ F_i + J_i q̈_i + resistance + spring, with J_i the armature             (3)
///         of a mode: (3) of flexible_bodies.hpp and Σ s_iᵀ F of the nodes
///   r   = t − τ_applied, which is left to the loops                                   (4)
///   Kᵀ λ = r,  w = Σ λ f  (loops/loop_forces.hpp)                                     (5)
///   f_i = F_i − Σ w of the loops that end on i or beyond it                           (6)
///
/// C-RNEA leaves F_i itself. A folded rotor r on body p, with m its mass and J, J_t its central
/// moments of inertia along and across the axis z, needs
///
///   f = m (acceleration of its centre, a point of p)                                       (7)
///   n = J_t α_p + ((J − J_t) zᵀα_p + J q̈) z + ((J − J_t) zᵀω_p + J q̇) ω_p × z              (8)
///
/// at its centre of mass, and t_r = zᵀ n.
namespace kempe::detail {

/// See above; after forwardDynamicsKernel or inverseDynamicsKernel on the same work.
template <typename T, typename Tables, typename Loops>
class InterBodyKernel {
 public:
  using R = typename Tables::Scalar;

  KEMPE_HD InterBodyKernel(const Tables& tables, const WorkView<T>& work, Loops& loops,
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
    if (request_.afterInverse) {
      implicit_ = true;  // perhaps
    } else {
      gatherAll();  // (1), (2)
    }
    request_.afterInverse ? loadRotors<true>() : loadRotors<false>();  // (7), (8)
    for (int c = 0; (implicit_ || request_.loops != nullptr) && c < tables_.clusterCount; ++c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      const bool implicit = cluster.kind == ClusterKind::Implicit;
      if (cluster.loops == 0 || (!implicit && request_.loops == nullptr)) {
        continue;
      }
      if (isAsked(cluster)) {
        span(cluster);  // (3)
      }
      if ((implicit || request_.spanning != nullptr || request_.rotorsDrive) &&
          !takeOffApplied(cluster)) {  // (4)
        return c;
      }
      implicit ? transmit(c, cluster) : transmitCouplings(cluster);  // (5), (6)
      if (implicit && writesAtOnce()) {
        writeClusters(c, c + 1);
      }
    }
    if (request_.joints != nullptr && !writesAtOnce()) {
      writeJoints();
    }
    return -1;
  }

 private:
  // --- (1), (2) -----------------------------------------------------------------------------

  KEMPE_HD KEMPE_FLATTEN void gatherAll() {
    const bool writes = writesAtOnce();
    forEachCluster<Direction::Outward>(tables_, [&](int c) { gather(c, writes); });
  }

  KEMPE_HD void gather(int c, bool writes) {
    const ClusterEntry& cluster = tables_.clusters[c];
    switch (shapeOf(cluster, work_)) {
      case ClusterShape::Single: {
        const Force<T> f = gatherSingle(cluster);
        if (writes) {
          writeAligned(cluster.moving, f);
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
        if (writes) {
          writeAligned(cluster.firstBody, f);
        }
        return;
      }
      case ClusterShape::Coupled:
      case ClusterShape::General:
        cluster.unevens > 0 && mergesUnevenRotors(tables_, work_) ? gatherUneven(cluster)
                                                                  : gatherGeneral(cluster);
        if (cluster.kind == ClusterKind::Implicit && cluster.loops > 0) {
          implicit_ = true;
        } else if (writes) {
          writeClusters(c, c + 1);
        }
    }
  }

  /// Of the one moving body of a cluster.
  KEMPE_HD Force<T> gatherSingle(const ClusterEntry& cluster) {
    const int b = cluster.moving;
    const BodyEntry<R>& body = tables_.bodies[b];
    const Force<T> f =
        work_.f[b] + (body.carrier
                          ? work_.IA[b] * work_.da[b]
                          : work_.I[b] * (work_.da[cluster.output] +
                                          request_.ydd[cluster.firstV] * work_.S[body.firstS]));
    work_.f[b] = f;
    return f;
  }

  /// The same of a cluster with uneven rotors, of which C-ABA has placed the link only.
  [[gnu::noinline]] KEMPE_HD KEMPE_FLATTEN void gatherUneven(const ClusterEntry& cluster) {
    gatherSingle(cluster);
    const BodyEntry<R>& link = tables_.bodies[cluster.moving];
    work_.s[link.firstVelocity] = work_.S[link.firstS];
    const Motion<T> outputV = work_.v[cluster.output];
    const Motion<T> outputA = work_.a[cluster.output] + work_.da[cluster.output];
    for (int i = cluster.firstUneven; i < cluster.firstUneven + cluster.unevens; ++i) {
      const UnevenRotor<R>& rotor = tables_.unevenRotors[i];
      const BodyEntry<R>& body = tables_.bodies[rotor.body];
      const PlacedSingle<T> at = placeSingle(rotor.body, body, work_);
      work_.s[body.firstVelocity] = at.s;
      const T r(rotor.ratio);
      const Motion<T> relative = (r * request_.v[cluster.firstV]) * at.s;
      const Motion<T> a =
          outputA + (r * request_.ydd[cluster.firstV]) * at.s + cross(outputV, relative);
      work_.f[rotor.body] = forceOn(placed(at.X, body.central), outputV + relative, a);
    }
  }

  [[gnu::noinline]] KEMPE_HD void gatherGeneral(const ClusterEntry& cluster) {
    const int m = cluster.nv;
    if (cluster.kind == ClusterKind::Implicit) {
      for (int i = 0; i < cluster.velocities; ++i) {  // q̈ = G ÿ + g
        work_.accelerations[cluster.firstVelocity + i] +=
            along(m, work_.G + cluster.firstRatio + i * m, request_.ydd + cluster.firstV);
      }
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {  // (1)
      const BodyEntry<R>& body = tables_.bodies[b];
      for (int i = 0; body.flexible >= 0 && i < tables_.flexibles[body.flexible].modes; ++i) {
        const FlexibleEntry& flexible = tables_.flexibles[body.flexible];
        work_.f[b] += along(m, ratiosOf(cluster, flexible.firstVelocity + i, work_),
                            request_.ydd + cluster.firstV) *
                      work_.bentModes[flexible.firstMode + i].C;
      }
      if (body.folded) {
        if (body.parent >= cluster.firstBody && isFoldedRotor(body)) {
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

  /// r x, as alongRatios. Most often there is one number, for which vector loops cost more.
  template <typename Ratio>
  KEMPE_HD static T along(int size, const Ratio* r, const T* x) {
    T sum = size > 0 ? T(r[0]) * x[0] : T(0);
    for (int j = 1; j < size; ++j) {
      sum += T(r[j]) * x[j];
    }
    return sum;
  }

  /// r ÿ of a rotor: the part of its q̈ that pA does not contain.
  KEMPE_HD T spinUp(const ClusterEntry& cluster, const BodyEntry<R>& body) const {
    return along(cluster.nv, ratiosOf(cluster, body.firstVelocity, work_),
                 request_.ydd + cluster.firstV);
  }

  // --- (7), (8) -----------------------------------------------------------------------------

  /// Forces and spanning forces of the folded rotors, which are written at once, if that can be.
  /// Those that do not only spin get f into work.f, which has −f_ext there where rotors are whole.
  template <bool kAfterInverse>
  KEMPE_HD KEMPE_FLATTEN void loadRotors() {
    const bool aside = isAligned() && !work_.wholeRotors;  // needs no f of those that only spin
    const bool writes = aside && request_.joints != nullptr;
    for (int i = 0; i < tables_.rotorCount; ++i) {
      const RotorEntry<R>& rotor = tables_.rotors[i];
      const Transform<T>& P = work_.X[rotor.parent];
      const Vec3<T> z = turned(P.R, rotor.axis), center = turned(P.R, rotor.center) + P.p;
      const Motion<T> v = work_.v[rotor.parent];
      Motion<T> a = work_.a[rotor.parent];
      if constexpr (!kAfterInverse) {
        a += work_.da[rotor.parent];
      }
      const T rate = ofRotor(rotor, work_.rates, request_.v);
      const T acceleration = ofRotor(rotor, work_.accelerations, request_.ydd);
      const T J(rotor.along), more(rotor.along - rotor.across);
      const Vec3<T> force =
          T(rotor.mass) * (a.linear + cross(a.angular, center) +
                           cross(v.angular, v.linear + cross(v.angular, center)));  // (7)
      const T turning = dot(z, a.angular);
      const Vec3<T> moment = T(rotor.across) * a.angular + (more * turning + J * acceleration) * z +
                             (more * dot(z, v.angular) + J * rate) * cross(v.angular, z);  // (8)
      work_.tau[rotor.velocity] = J * (turning + acceleration);
      if (writes) {
        store(force, moment + T(rotor.offset) * cross(z, force),
              request_.joints + rotor.body * request_.stride);
      }
      if (aside && !tables_.bodies[rotor.body].loopEnd) {
        continue;
      }
      Force<T> f{moment + cross(center, force), force};
      if (work_.wholeRotors) {
        const Force<T> minusExternal = work_.f[rotor.body];
        work_.tau[rotor.velocity] +=
            dot(z, minusExternal.moment - cross(center, minusExternal.force));
        f += minusExternal;
      }
      work_.f[rotor.body] = f;
    }
  }

  /// q̇ or q̈ of a rotor.
  KEMPE_HD T ofRotor(const RotorEntry<R>& rotor, const T* spanning, const T* y) const {
    if (rotor.implicit) {
      return spanning[rotor.velocity];
    }
    if (rotor.ratios == 0) {
      const bool locked = tables_.clusters[tables_.bodies[rotor.body].cluster].nv == 0;
      return locked ? T(0) : y[rotor.firstV];
    }
    return along(rotor.ratios, tables_.G + rotor.firstRatio, y + rotor.firstV);
  }

  // --- (3), (4) -----------------------------------------------------------------------------

  /// q̇ and q̈ of one spanning velocity.
  KEMPE_HD T rateOf(const ClusterEntry& cluster, int velocity) const {
    return cluster.kind == ClusterKind::Implicit
               ? work_.rates[velocity]
               : along(cluster.nv, constantRatios(tables_, cluster, velocity),
                       request_.v + cluster.firstV);
  }
  KEMPE_HD T accelerationOf(const ClusterEntry& cluster, int velocity) const {
    return cluster.kind == ClusterKind::Implicit
               ? work_.accelerations[velocity]
               : along(cluster.nv, constantRatios(tables_, cluster, velocity),
                       request_.ydd + cluster.firstV);
  }

  /// Whether spanning forces of a cluster with loops are asked for beyond zᵀ n of rotors. Couplings
  /// take those of dependent joints only.
  KEMPE_HD bool isAsked(const ClusterEntry& cluster) const {
    return shapeOf(cluster, work_) != ClusterShape::Single || cluster.armatured ||
           cluster.dissipates || cluster.sprung ||
           tables_.independent[cluster.firstIndependent] !=
               tables_.bodies[cluster.moving].firstVelocity - cluster.firstVelocity;
  }
  [[gnu::noinline]] KEMPE_HD void span(const ClusterEntry& cluster) {
    const ClusterShape shape = shapeOf(cluster, work_);
    const int first = cluster.firstVelocity;
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<R>& body = tables_.bodies[b];
      if (body.folded && (body.node < 0 || !work_.wholeRotors)) {
        continue;
      }
      const Force<T> f = work_.f[b];
      if (body.flexible >= 0) {
        bendingForce(tables_, body.flexible, work_, static_cast<const T*>(nullptr),
                     request_.afterInverse ? work_.a[b] : work_.a[b] + work_.da[b],
                     [&](int velocity, const T& force) { work_.tau[velocity] = force; });
      }
      if (body.node >= 0) {
        addNodeForce(tables_, b, work_, f, work_.tau);
      }
      if (body.type == JointType::Mode) {
        continue;
      }
      if (shape == ClusterShape::Single || shape == ClusterShape::Coupled) {
        const Vec3<T> z = work_.X[b].R.column(2);
        work_.tau[body.firstVelocity] = body.type == JointType::Prismatic
                                            ? dot(z, f.force)
                                            : dot(z, f.moment - cross(work_.X[b].p, f.force));
        continue;
      }
      for (int i = 0; i < velocitySize(body.type); ++i) {
        work_.tau[body.firstVelocity + i] = dot(f, directionsOf(cluster, body, work_)[i]);
      }
    }
    for (int i = first; i < first + cluster.velocities; ++i) {
      if (cluster.armatured) {
        work_.tau[i] += T(tables_.armature[i]) * accelerationOf(cluster, i);
      }
      if (cluster.dissipates) {
        work_.tau[i] += resistance(tables_, i, rateOf(cluster, i));
      }
    }
    forSprings(tables_, cluster, work_, [&](int i, const T& force) { work_.tau[i] += force; });
  }

  /// False where τ acts at rotors which do not determine the cluster's velocities.
  [[gnu::noinline]] KEMPE_HD bool takeOffApplied(const ClusterEntry& cluster) {
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
    return moveToRotors(cluster, tau, r);
  }

  /// Takes the equivalent of τ at the rotors off r; false where they do not determine the cluster's
  /// velocities in a state.
  KEMPE_HD bool moveToRotors(const ClusterEntry& cluster, const T* tau, T* r) {
    using std::abs;
    const int m = cluster.nv;
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
    T largest(0);
    for (int i = 0; i < m * cluster.velocities; ++i) {
      const T size = abs(work_.G[cluster.firstRatio + i]);
      largest = select(size > largest, size, largest);
    }
    const R tolerance = sizeof(R) == sizeof(float) ? R(1e-5) : R(1e-9);
    const T smallest = eliminate(A, m, atRotors);
    if (any(select(smallest > T(tolerance) * largest, T(0), T(1)) > T(R(0.5)))) {
      return false;
    }
    for (int j = 0; j < m; ++j) {
      r[drives[j]] -= atRotors[j];
    }
    return true;
  }

  // --- (5), (6) -----------------------------------------------------------------------------

  [[gnu::noinline]] KEMPE_HD void transmit(int c, const ClusterEntry& cluster) {
    loops_.findMultipliers(c, work_);
    for (int l = 0; l < cluster.loops; ++l) {
      const LoopEntry<R>& loop = tables_.loops[cluster.firstLoop + l];
      T* out = request_.loops == nullptr ? nullptr : request_.loops + loop.firstForce;
      if (loop.form.betweenBodies()) {
        const Force<T> w = loops_.wrench(cluster, l, work_);
        takeOff(cluster, loop.successor, w);
        takeOff(cluster, loop.predecessor, -w);
        if (out != nullptr) {
          const int local = loop.successor.body;
          const int body = local < 0 ? cluster.output : cluster.firstBody + local;
          const Transform<T> X = placed(work_.X[body], loop.forceFrame);
          write(w, X, out);
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

  /// The couplings of a cluster come one after the other, and so do their numbers.
  [[gnu::noinline]] KEMPE_HD void transmitCouplings(const ClusterEntry& cluster) const {
    const int d = cluster.kept;
    const int* dependent = tables_.dependent + cluster.firstDependent;
    const T* r = work_.tau + cluster.firstVelocity;
    const R* P = tables_.couplingForces + cluster.firstCouplingForce;
    const LoopEntry<R>& last = tables_.loops[cluster.firstLoop + cluster.loops - 1];
    T* out = request_.loops + tables_.loops[cluster.firstLoop].firstForce;
    T* const end = request_.loops + last.firstForce + last.forces;
    for (; out != end; ++out, P += d) {
      T sum(0);
      for (int j = 0; j < d; ++j) {
        sum += T(P[j]) * r[dependent[j]];
      }
      *out = sum;
    }
  }

  // --- results ------------------------------------------------------------------------------

  /// Whether wrenches are wanted each at its own point, in the axes of the world.
  KEMPE_HD bool isAligned() const {
    return request_.frame == nullptr && request_.reference == Reference::LocalWorldAligned;
  }

  KEMPE_HD KEMPE_FLATTEN void writeJoints() const {
    if (!isAligned()) {
      // Rotors are placed where axes of their own are asked for.
      for (int b = 0; b < tables_.bodyCount; ++b) {
        const bool local = request_.frame == nullptr && request_.reference == Reference::Local;
        const Transform<T> own =
            local ? Transform<T>{turned(work_.X[b].R, tables_.links[b].R), work_.X[b].p}
                  : Transform<T>{};
        write(work_.f[b], own, request_.joints + b * request_.stride);
      }
      return;
    }
    writeClusters(0, tables_.clusterCount);
  }
  /// Results of some clusters, but for their rotors that only spin.
  KEMPE_HD void writeClusters(int first, int last) const {
    for (int c = first; c < last; ++c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
        T* const out = request_.joints + b * request_.stride;
        if (!onlySpins(cluster, tables_.bodies[b], work_)) {
          const Force<T> f = work_.f[b];
          store(f.force, f.moment - cross(work_.X[b].p, f.force), out);
        } else if (!isFoldedRotor(tables_.bodies[b])) {
          store(Vec3<T>{}, Vec3<T>{}, out);  // nothing hangs on it
        }
      }
    }
  }
  /// Whether results of a cluster are written as soon as no loop changes them any more.
  KEMPE_HD bool writesAtOnce() const {
    return isAligned() && request_.joints != nullptr && !request_.afterInverse &&
           !work_.wholeRotors;
  }
  KEMPE_HD void writeAligned(int b, const Force<T>& f) const {
    store(f.force, f.moment - cross(work_.X[b].p, f.force), request_.joints + b * request_.stride);
  }

  /// A wrench at its own point and in its own axes, or at and in those that all have.
  KEMPE_HD void write(const Force<T>& f, const Transform<T>& own, T* out) const {
    if (isAligned()) {
      store(f.force, f.moment - cross(own.p, f.force), out);
      return;
    }
    const bool shared = request_.frame != nullptr || request_.reference == Reference::World;
    const Transform<T> at = shared ? common_ : own;
    store(transposeTimes(at.R, f.force), transposeTimes(at.R, f.moment - cross(at.p, f.force)),
          out);
  }
  KEMPE_HD static void store(const Vec3<T>& force, const Vec3<T>& moment, T* out) {
    for (int i = 0; i < 3; ++i) {
      out[i] = force[i];
      out[i + 3] = moment[i];
    }
  }

  const Tables& tables_;
  const WorkView<T>& work_;
  Loops& loops_;
  const InterBodyRequest<T, R>& request_;
  Transform<T> common_{};
  bool implicit_ = false;  ///< there are clusters with loops of this kind
};

}  // namespace kempe::detail
