#pragma once

#include <type_traits>

#include "kernels/flexible_bodies.hpp"
#include "kernels/visit_clusters.hpp"
#include "loops/expand_cluster.hpp"
#include "spatial/joint_motion.hpp"
#include "spatial/scalar_lanes.hpp"
#include "tables/workspace.hpp"

/// The outward passes that all algorithms share: placements, G, S, velocities, bias accelerations.
///
/// A `Loops` object has the functions for implicit clusters, for cluster c at placements in `work`:
///   bool solve(c, work)   writes G; returns false in a singular configuration
///   void bias(c, work)    writes g, after solve and moveRelative
///   bool solveTwins(c, work, v)   writes G, unless work.loopsSolved, and unless v is null q̇ and g of
///                                 cluster c and its twin; returns false, and writes nothing, where
///                                 one of them is in a singular configuration
///   bool solveRates(c, work, yd)   writes K and the rates of ẏ, without G; returns as solve
///   void rowBias(c, work)   writes k, after solveRates, of bodies that move with q̈ = 0
///   void ratioRates(c, work, sRates, rates)   writes Ġ, after bias
/// and, for the forces between bodies (joint_forces.hpp), those for loop l of the cluster:
///   void findMultipliers(c, work)   of the spanning forces in work.tau, after solve
///   Force wrench(cluster, l, work)  of a loop joint or rod on its successor, after findMultipliers
///   void alongCoordinates(cluster, l, work, forces)   of a coupling or function, likewise
namespace kempe::detail {

/// Models without implicit clusters need nothing.
struct NoLoops {
  template <typename T>
  KEMPE_HD bool solve(int, const WorkView<T>&) const {
    return true;
  }
  template <typename T>
  KEMPE_HD void bias(int, const WorkView<T>&) const {}
  template <typename T>
  KEMPE_HD bool solveRates(int, const WorkView<T>&, const T*) const {
    return true;
  }
  template <typename T>
  KEMPE_HD void rowBias(int, const WorkView<T>&) const {}
  template <typename T>
  KEMPE_HD void ratioRates(int, const WorkView<T>&, const Motion<T>*, T*) const {}
  template <typename T>
  KEMPE_HD void findMultipliers(int, const WorkView<T>&) const {}
  template <typename T>
  KEMPE_HD Force<T> wrench(const ClusterEntry&, int, const WorkView<T>&) const {
    return {};
  }
  template <typename T>
  KEMPE_HD void alongCoordinates(const ClusterEntry&, int, const WorkView<T>&, T*) const {}
};

/// The shape by which a cluster is treated. Rotors on which frames or forces sit are bodies among
/// others.
template <typename T>
KEMPE_HD ClusterShape shapeOf(const ClusterEntry& cluster, const WorkView<T>& work) {
  const bool whole = work.wholeRotors && cluster.bodies > 1;
  return whole ? ClusterShape::General : cluster.shape;
}

/// True for a cluster with loops to solve whose bodies turn or slide, so that its outward pass is
/// that of shape Coupled with G and g of the moment. Clusters of many DoFs have kernels of their own.
template <typename T>
KEMPE_HD bool hasPlainLoops(const ClusterEntry& cluster, const WorkView<T>& work) {
  return cluster.kind == ClusterKind::Implicit && cluster.plainJoints && !cluster.wide &&
         !work.wholeRotors;
}

/// True for a folded body that adds nothing to the dynamics, such as a crank without mass.
template <typename R>
KEMPE_HD bool isWeightless(const ClusterEntry& cluster, const BodyEntry<R>& body) {
  return body.folded && !(body.spinInertia > R(0)) && !cluster.armatured && !cluster.dissipates &&
         !cluster.sprung;
}

/// Directions of a body's joint: those of a body that is a cluster are its S.
template <typename T, typename R>
KEMPE_HD Motion<T>* directionsOf(const ClusterEntry& cluster, const BodyEntry<R>& body,
                                 const WorkView<T>& work) {
  return cluster.kind == ClusterKind::Tree ? work.S + body.firstS : work.s + body.firstVelocity;
}

/// True for a folded rotor. Folded parts of flexible bodies add nothing to the dynamics.
template <typename R>
KEMPE_HD bool isFoldedRotor(const BodyEntry<R>& body) {
  return body.folded && body.node < 0 && body.type != JointType::Mode;
}

/// True for a cluster that no loop binds: q̇ = ẏ.
KEMPE_HD inline bool isUnbound(const ClusterEntry& cluster) {
  return cluster.kind == ClusterKind::Tree || cluster.loops == 0;
}

/// True for a flexible body whose frame does not move against the cluster's output body, S = 0.
template <typename R>
KEMPE_HD bool restsOnOutput(const ClusterEntry& cluster, const BodyEntry<R>& body) {
  return body.flexible >= 0 && body.parent == cluster.output;
}

/// True for a body of which only the spin about its axis is needed.
template <typename T, typename R>
KEMPE_HD bool onlySpins(const ClusterEntry& /*cluster*/, const BodyEntry<R>& body,
                        const WorkView<T>& work) {
  return body.folded && !body.loopEnd && !work.wholeRotors;
}

/// True for a joint with one direction, which is its axis.
KEMPE_HD constexpr bool turnsOrSlides(JointType type) {
  return type == JointType::Revolute || type == JointType::Continuous ||
         type == JointType::Prismatic;
}

/// Placement of a body, and the direction in which it moves.
template <typename T>
struct PlacedSingle {
  Transform<T> X;
  Motion<T> s;
};

/// Of a body that turns or slides; X is written to the work as well.
template <typename T, typename R>
KEMPE_HD PlacedSingle<T> placeSingle(int b, const BodyEntry<R>& body, const WorkView<T>& work) {
  const Transform<T> joint = placed(work.X[body.parent], body.placement);
  const Vec3<T> z = joint.R.column(2);
  if (body.type == JointType::Prismatic) {
    work.X[b] = {joint.R, joint.p + work.positions[body.firstPosition] * z};
    return {work.X[b], {Vec3<T>{}, z}};
  }
  const Mat3<T> R_ =
      timesRotationZ(joint.R, work.sines[body.firstPosition], work.cosines[body.firstPosition]);
  work.X[b].R = R_;
  work.X[b].p = joint.p;
  return {{R_, joint.p}, {z, cross(joint.p, z)}};
}

/// Placement and directions s of a body with a joint of any type.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
[[gnu::noinline]] KEMPE_HD void placeBody(const Tables& tables, int b, const WorkView<T>& work,
                                          Motion<T>* s) {
  const BodyEntry<R>& body = tables.bodies[b];
  if (body.node >= 0) {
    placeNode(tables, b, work);
    return;
  }
  const int first = body.firstPosition;
  const auto turn = [&](int i, T& sine, T& cosine) {
    sine = work.sines[first + i];
    cosine = work.cosines[first + i];
  };
  const Transform<T> joint = placed(work.X[body.parent], body.placement);
  work.X[b] =
      jointPlacement(body.type, joint, work.positions + first, turn, body.pitch, body.middle);
  if (b == tables.floatingBase) {
    work.X[b].p = {};  // exactly: the common frame's origin is here
  }
  jointDirections(body.type, joint, work.X[b], body.pitch, s);
  if (body.flexible >= 0) {
    bendBody(tables, body.flexible, work);
  }
}

/// Placements and directions of a cluster's bodies; of a rotor that only spins, [z; 0].
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void placeBodies(const Tables& tables, const ClusterEntry& cluster,
                                        const WorkView<T>& work) {
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    Motion<T>* s = directionsOf(cluster, body, work);
    if (onlySpins(cluster, body, work)) {
      if (isFoldedRotor(body)) {
        s[0] = {turned(work.X[body.parent].R, body.placement.R.column(2)), {}};
      }
    } else if (turnsOrSlides(body.type)) {
      s[0] = placeSingle(b, body, work).s;
    } else {
      placeBody(tables, b, work, s);
    }
  }
}

/// The row of G of a DoF in a cluster with couplings.
template <typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD const R* constantRatios(const Tables& tables, const ClusterEntry& cluster, int velocity) {
  return tables.G + cluster.firstG + (velocity - cluster.firstVelocity) * cluster.nv;
}

/// The ratio of a DoF in a cluster of shape Single.
template <typename T, typename Tables>
KEMPE_HD T ratioOfSingle(const Tables& tables, const ClusterEntry& cluster, int velocity) {
  return cluster.kind == ClusterKind::Tree ? T(1) : T(*constantRatios(tables, cluster, velocity));
}

/// Row of G of one spanning velocity of the cluster as it is now; tree clusters have none.
template <typename T>
KEMPE_HD const T* ratiosOf(const ClusterEntry& cluster, int velocity, const WorkView<T>& work) {
  return work.G + cluster.firstRatio + (velocity - cluster.firstVelocity) * cluster.nv;
}

/// The same of a cluster of shape Coupled, or of one with plain loops if kLoops.
template <bool kLoops, typename T, typename Tables>
KEMPE_HD const auto* ratiosOfBody(const Tables& tables, const ClusterEntry& cluster, int velocity,
                                  const WorkView<T>& work) {
  if constexpr (kLoops) {
    return ratiosOf(cluster, velocity, work);
  } else {
    return constantRatios(tables, cluster, velocity);
  }
}

/// r x of a DoF with ratios r; 0 in a cluster that couplings lock.
template <int M, typename T, typename R>
KEMPE_HD T alongRatios(int size, const R* r, const T* x) {
  const int m = M > 0 ? M : size;
  T sum(0);
  for (int j = 0; j < m; ++j) {
    sum += T(r[j]) * x[j];
  }
  return sum;
}

/// S_i = S_λ (if λ is in the cluster) + s_i r of a body with ratios r.
template <int M, typename T, typename Tables, typename Ratio, typename R = typename Tables::Scalar>
KEMPE_HD void spanSingle(const Tables& tables, const ClusterEntry& cluster,
                         const BodyEntry<R>& body, const Motion<T>& s, const Ratio* r,
                         const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  Motion<T>* S = work.S + body.firstS;
  const bool inside = body.parent >= cluster.firstBody;
  for (int j = 0; j < m; ++j) {
    const Motion<T> own = T(r[j]) * s;
    S[j] = inside ? work.S[tables.bodies[body.parent].firstS + j] + own : own;
  }
}

/// z of a folded rotor, into the directions.
template <typename T, typename R>
KEMPE_HD Vec3<T> placeRotor(const BodyEntry<R>& body, const WorkView<T>& work) {
  const Vec3<T> z = turned(work.X[body.parent].R, body.placement.R.column(2));
  work.s[body.firstVelocity] = {z, {}};
  return z;
}

/// Placement and direction of a body in a cluster of shape Coupled or with plain loops (kLoops); the
/// latter are placed before if loops end on their bodies.
template <bool kLoops, typename T, typename R>
KEMPE_HD PlacedSingle<T> placeInCluster(const ClusterEntry& cluster, int b,
                                        const BodyEntry<R>& body, const WorkView<T>& work) {
  if (kLoops && cluster.bodyLoops) {
    return {work.X[b], work.s[body.firstVelocity]};
  }
  const PlacedSingle<T> at = placeSingle(b, body, work);
  if (kLoops) {
    work.s[body.firstVelocity] = at.s;
  }
  return at;
}
template <bool kLoops, typename T, typename R>
KEMPE_HD Vec3<T> placeRotorInCluster(const ClusterEntry& cluster, const BodyEntry<R>& body,
                                     const WorkView<T>& work) {
  return kLoops && cluster.bodyLoops ? work.s[body.firstVelocity].angular : placeRotor(body, work);
}

/// Placements and S of a cluster of shape Coupled.
template <int M, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void placeCoupled(const Tables& tables, const ClusterEntry& cluster,
                                         const WorkView<T>& work) {
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded) {
      placeRotor(body, work);
      continue;
    }
    const PlacedSingle<T> at = placeSingle(b, body, work);
    spanSingle<M>(tables, cluster, body, at.s, constantRatios(tables, cluster, body.firstVelocity),
                  work);
  }
}

/// Placement and S of a cluster of shape Single.
template <typename T, typename R>
KEMPE_HD KEMPE_FLATTEN void placeSingleCluster(const ClusterEntry& cluster,
                                               const BodyEntry<R>& body, const WorkView<T>& work) {
  work.S[body.firstS] = placeSingle(cluster.moving, body, work).s;
}

/// Calls kernel<M>() with the number of DoFs as a constant where it is a common one, 0 for any
/// other.
template <typename Kernel>
KEMPE_HD void withSize(int m, Kernel&& kernel) {
  switch (m) {
    case 1:
      return kernel.template operator()<1>();
    case 2:
      return kernel.template operator()<2>();
    case 3:
      return kernel.template operator()<3>();
    default:
      return kernel.template operator()<0>();
  }
}

/// The same for the modes of a flexible body that no loop binds.
template <typename Kernel>
KEMPE_HD void withModes(int m, Kernel&& kernel) {
  switch (m) {
    case 4:
      return kernel.template operator()<4>();
    case 6:
      return kernel.template operator()<6>();
    case 8:
      return kernel.template operator()<8>();
    default:
      return kernel.template operator()<0>();
  }
}

/// Calls visit(b) for the bodies that the dynamics needs of a flexible body that no loop binds.
template <typename Tables, typename Visit>
KEMPE_HD void forParts(const Tables& tables, const ClusterEntry& cluster, const Visit& visit) {
  const FlexibleEntry& flexible = tables.flexibles[cluster.flexible];
  for (int i = flexible.firstPart; i < flexible.firstPart + flexible.parts; ++i) {
    visit(tables.flexibleParts[i]);
  }
}

/// The rotation of the floating base.
template <typename T, typename R>
KEMPE_HD Mat3<T> turnOfBase(const BodyEntry<R>& body, const WorkView<T>& work) {
  const T* turn = work.positions + body.firstPosition + 3;
  const Mat3<T> ownTurn =
      rotationFromUnitQuaternion(Quaternion<T>{turn[0], turn[1], turn[2], turn[3]});
  return turned(Mat3<T>::identity(), body.placement.R) * ownTurn;
}

/// Placement and S of the floating base.
template <typename T, typename R>
KEMPE_HD KEMPE_FLATTEN void placeBase(const ClusterEntry& cluster, const BodyEntry<R>& body,
                                      const WorkView<T>& work) {
  const Mat3<T> R_ = turnOfBase(body, work);
  work.X[cluster.firstBody] = {R_, {}};
  Motion<T>* S = work.S + body.firstS;
  for (int j = 0; j < 3; ++j) {
    S[j] = {Vec3<T>{}, R_.column(j)};
    S[j + 3] = {R_.column(j), Vec3<T>{}};
  }
}

/// The floating base: its placement, and the world's gravity and its own velocity.
template <typename T, typename R>
KEMPE_HD KEMPE_FLATTEN void moveBase(const ClusterEntry& cluster, const BodyEntry<R>& body,
                                     const WorkView<T>& work, const T* v) {
  const Mat3<T> R_ = turnOfBase(body, work);
  const T* rates = v + cluster.firstV;
  const int b = cluster.firstBody;
  work.X[b] = {R_, {}};
  work.v[b] = {R_ * Vec3<T>{rates[3], rates[4], rates[5]},
               R_ * Vec3<T>{rates[0], rates[1], rates[2]}};
  work.a[b] = work.a[kWorld];  // the directions move with the body: ṡ q̇ = v × v = 0
}

/// S_i = S_λ (if λ is in the cluster) + s_i G_i, with m as a constant or 0.
template <int M, typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void spanBodies(const Tables& tables, const ClusterEntry& cluster,
                                       const WorkView<T>& work) {
  const int m = M > 0 ? M : cluster.nv;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (body.folded && !work.wholeRotors) {
      continue;
    }
    if (body.node >= 0) {
      spanNode<M>(tables, cluster, b, work);
      continue;
    }
    Motion<T>* S = work.S + body.firstS;
    const bool inside = body.parent >= cluster.firstBody;
    const Motion<T>* parentS = inside ? work.S + tables.bodies[body.parent].firstS : nullptr;
    const T* ratio = work.G + cluster.firstRatio + (body.firstVelocity - cluster.firstVelocity) * m;
    const Motion<T>* s = work.s + body.firstVelocity;
    const int n = velocitySize(body.type);
    for (int j = 0; j < m; ++j) {
      Motion<T> column = inside ? parentS[j] : Motion<T>{};
      for (int i = 0; i < n; ++i) {
        column += ratio[i * m + j] * s[i];
      }
      S[j] = column;
    }
  }
}

/// The same for any m.
template <typename T, typename Tables>
KEMPE_HD void spanCluster(const Tables& tables, const ClusterEntry& cluster,
                          const WorkView<T>& work) {
  withSize(cluster.nv, [&]<int M>() { spanBodies<M>(tables, cluster, work); });
}

/// x_span = G x of one cluster; `x` points to the cluster's part.
template <typename T>
KEMPE_HD void timesG(const ClusterEntry& cluster, const WorkView<T>& work, const T* x, T* out) {
  const int m = cluster.nv;
  const T* G = work.G + cluster.firstRatio;
  for (int i = 0; i < cluster.velocities; ++i) {
    if (cluster.loops == 0) {
      out[i] = x[i];
      continue;
    }
    T sum(0);
    for (int j = 0; j < m; ++j) {
      sum += G[i * m + j] * x[j];
    }
    out[i] = sum;
  }
}

/// y = Gᵀ f_span of one cluster.
template <typename T>
KEMPE_HD void transposeTimesG(const ClusterEntry& cluster, const WorkView<T>& work, const T* f,
                              T* y) {
  const int m = cluster.nv;
  const T* G = work.G + cluster.firstRatio;
  for (int j = 0; j < m; ++j) {
    y[j] = cluster.loops == 0 ? f[j] : T(0);
  }
  for (int i = 0; cluster.loops > 0 && i < cluster.velocities; ++i) {
    for (int j = 0; j < m; ++j) {
      y[j] += G[i * m + j] * f[i];
    }
  }
}

/// Gᵀ f_span of one cluster, from all spanning forces to all forces.
template <typename T>
KEMPE_HD void projectClusterForces(const ClusterEntry& cluster, const WorkView<T>& work,
                                   const T* spanning, T* result) {
  const T* f = spanning + cluster.firstVelocity;
  T* y = result + cluster.firstV;
  if (cluster.kind != ClusterKind::Tree) {
    transposeTimesG(cluster, work, f, y);
    return;
  }
  for (int i = 0; i < cluster.nv; ++i) {
    y[i] = f[i];
  }
}

/// Gᵀ f_span of all clusters.
template <typename T, typename Tables>
KEMPE_HD void projectForces(const Tables& tables, const WorkView<T>& work, const T* spanning,
                            T* result) {
  forEachCluster<Direction::Outward>(
      tables, [&](int c) { projectClusterForces(tables.clusters[c], work, spanning, result); });
}

/// The origin of the common frame in the world: where the floating base is, or the first joint.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD Vec3<T> originOf(const Tables& tables, const T* q) {
  if (tables.floatingBase < 0) {
    return tables.bodies[0].placement.p.template cast<T>();
  }
  const BodyEntry<R>& body = tables.bodies[tables.floatingBase];
  const ClusterEntry& cluster = tables.clusters[body.cluster];
  const T* x = q + cluster.firstQ + (body.firstPosition - cluster.firstPosition);
  const Transform<R>& placement = body.placement;
  return placement.R.template cast<T>() * Vec3<T>{x[0], x[1], x[2]} +
         placement.p.template cast<T>();
}

/// The world as the body that clusters without another hang on. Gravity is an upward acceleration.
template <typename T, typename Tables>
KEMPE_HD void placeWorld(const Tables& tables, const WorkView<T>& work, const T* q) {
  *work.origin = originOf(tables, q);
  work.X[kWorld] = {Mat3<T>::identity(), -*work.origin};
  work.v[kWorld] = {};
  work.a[kWorld] = {Vec3<T>{}, -tables.gravity.template cast<T>()};
  work.f[kWorld] = {};
}

/// Sines and cosines of the positions that TableArrays::angles lists, a register at a time.
template <typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD void sinCosOfAngles(const Tables& tables, const WorkView<T>& work) {
  constexpr int kTogether = Lanes<T>::kAnglesTogether > 1 ? Lanes<T>::kAnglesTogether : 1;
  const int count = tables.angles.size();
  for (int first = 0; first < count; first += kTogether) {
    T x[kTogether], sines[kTogether], cosines[kTogether];
    // The last register repeats the last angle.
    const auto at = [&](int i) { return tables.angles[first + i < count ? first + i : count - 1]; };
    for (int i = 0; i < kTogether; ++i) {
      x[i] = work.positions[at(i)];
    }
    Lanes<T>::sinCos(x, kTogether, sines, cosines);
    for (int i = 0; i < kTogether; ++i) {
      work.sines[at(i)] = sines[i];
      work.cosines[at(i)] = cosines[i];
    }
  }
}

/// Spanning positions of all clusters, with sines and cosines of those that may be angles.
template <typename T, typename Tables>
KEMPE_HD KEMPE_FLATTEN void expandMechanism(const Tables& tables, const WorkView<T>& work,
                                            const T* q) {
  for (int c = 0; c < tables.clusterCount; ++c) {  // as they are in q
    const ClusterEntry& cluster = tables.clusters[c];
    if (shapeOf(cluster, work) == ClusterShape::Single && !cluster.sprung) {
      work.positions[tables.bodies[cluster.moving].firstPosition] = q[cluster.firstQ];
    } else {
      expandCluster(tables, cluster, q, work.positions);
    }
  }
  if (tables.angles.size() > 0) {
    sinCosOfAngles(tables, work);
    return;
  }
  const int first = tables.floatingBase == 0 ? positionSize(JointType::Free) : 0;
  Lanes<T>::sinCos(work.positions + first, tables.positions - first, work.sines + first,
                   work.cosines + first);
}

/// Placements and directions of a cluster's bodies, and the loops of an implicit one. Returns false in
/// a singular configuration.
template <typename T, typename Tables, typename Loops>
KEMPE_HD bool placeAndSolve(const Tables& tables, int c, const WorkView<T>& work, Loops& loops) {
  const ClusterEntry& cluster = tables.clusters[c];
  if (!work.loopsSolved || !cluster.bodyLoops) {
    placeBodies(tables, cluster, work);
  }
  bool solved = cluster.kind != ClusterKind::Implicit || work.loopsSolved;
  if constexpr (!std::is_same_v<T, TwinOf<T>>) {
    // Registers of functions, which bias needs, are kept for both at once, where passLoops has them.
    solved = solved && !(work.loopsSolved && cluster.twin >= 0 && work.solved[c]);
  }
  return solved || loops.solve(c, work);
}

/// Placements, G and S of one cluster, after expandMechanism. Returns false in a singular
/// configuration. An algorithm that does not need S of clusters of general shape does without.
template <bool kSpans = true, typename T, typename Tables, typename Loops>
KEMPE_HD bool placeInTree(const Tables& tables, int c, const WorkView<T>& work, Loops& loops) {
  const ClusterEntry& cluster = tables.clusters[c];
  const ClusterShape shape = shapeOf(cluster, work);
  if (shape == ClusterShape::Single) {
    placeSingleCluster(cluster, tables.bodies[cluster.moving], work);
    return true;
  }
  if (shape == ClusterShape::Coupled) {
    withSize(cluster.nv, [&]<int M>() { placeCoupled<M>(tables, cluster, work); });
    return true;
  }
  if (shape == ClusterShape::FreeBase) {
    placeBase(cluster, tables.bodies[cluster.firstBody], work);
    return true;
  }
  if (!placeAndSolve(tables, c, work, loops)) {
    return false;
  }
  if (kSpans && cluster.kind != ClusterKind::Tree) {
    spanCluster(tables, cluster, work);
  }
  return true;
}

/// expandMechanism, unless it was done.
template <typename T, typename Tables>
KEMPE_HD void prepareMechanism(const Tables& tables, const WorkView<T>& work, const T* q) {
  if (!work.loopsSolved) {
    expandMechanism(tables, work, q);
  }
}

/// Positions, placements, G and S of the whole mechanism. Returns the first cluster at a singular
/// position, or −1.
template <typename T, typename Tables, typename Loops>
KEMPE_HD int placeMechanism(const Tables& tables, const WorkView<T>& work, Loops& loops,
                            const T* q) {
  placeWorld(tables, work, q);
  prepareMechanism(tables, work, q);
  return forEachCluster<Direction::Outward>(
      tables, [&](int c) { return placeInTree(tables, c, work, loops); });
}

/// Σ ṡ_j q̇_j of a body's joint.
template <typename T, typename R>
KEMPE_HD Motion<T> accelerationAtRest(const BodyEntry<R>& body, const Motion<T>* s, const T* rate,
                                      const Motion<T>& parentV, const Motion<T>& velocity) {
  if (turnsOrSlides(body.type)) {
    return cross(parentV, rate[0] * s[0]);
  }
  return directionRates(body.type, velocitySize(body.type), s, rate, parentV, velocity);
}

/// Velocity of a node, and its acceleration with η̈ from `accelerations` (null: zero).
template <typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD void moveNode(const Tables& tables, int b, const WorkView<T>& work,
                                         const T* accelerations) {
  const auto& body = tables.bodies[b];
  const auto& node = tables.nodes[body.node];
  const NodeState<T> state = nodeState(tables, b, work);
  const Motion<T> bodyV = work.v[body.parent];
  const Motion<T> relative = alongModes(tables, node, state, state.rates);
  work.v[b] = bodyV + relative;
  Motion<T> a =
      work.a[body.parent] + nodeAccelerationAtRest(tables, node, state, work.X[b], relative, bodyV);
  if (accelerations != nullptr) {
    a += alongModes(tables, node, state,
                    accelerations + tables.flexibles[node.flexible].firstVelocity);
  }
  work.a[b] = a;
}

/// Velocities of a cluster's bodies, and their accelerations where q̈ = 0 and the output body does
/// not accelerate, for ImplicitLoops::bias.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void moveRelative(const Tables& tables, const ClusterEntry& cluster,
                                         const WorkView<T>& work) {
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (onlySpins(cluster, body, work)) {
      continue;
    }
    if (body.node >= 0) {
      moveNode(tables, b, work, static_cast<const T*>(nullptr));
      continue;
    }
    const Motion<T>* s = work.s + body.firstVelocity;
    const T* rate = work.rates + body.firstVelocity;
    const Motion<T> parentV = work.v[body.parent];
    Motion<T> velocity = parentV;
    for (int i = 0; i < velocitySize(body.type); ++i) {
      velocity += rate[i] * s[i];
    }
    work.v[b] = velocity;
    const Motion<T> own = accelerationAtRest(body, s, rate, parentV, velocity);
    work.a[b] = body.parent == cluster.output ? own : work.a[body.parent] + own;
  }
}

/// Velocities and accelerations of a cluster's bodies from work.rates and work.accelerations. Folded
/// rotors keep their rate and acceleration about their axis only.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD KEMPE_FLATTEN void moveAlongJoints(const Tables& tables, const ClusterEntry& cluster,
                                            const WorkView<T>& work, bool accelerates) {
  const bool single = shapeOf(cluster, work) == ClusterShape::Single;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (onlySpins(cluster, body, work)) {
      continue;
    }
    if (body.node >= 0) {
      moveNode(tables, b, work, accelerates ? work.accelerations : nullptr);
      continue;
    }
    const Motion<T>* s = single ? work.S + body.firstS : directionsOf(cluster, body, work);
    const T* rate = work.rates + body.firstVelocity;
    const int n = velocitySize(body.type);
    const Motion<T> parentV = work.v[body.parent];
    Motion<T> velocity = parentV;
    for (int i = 0; i < n; ++i) {
      velocity += rate[i] * s[i];
    }
    work.v[b] = velocity;
    Motion<T> a = work.a[body.parent] + accelerationAtRest(body, s, rate, parentV, velocity);
    for (int i = 0; accelerates && i < n; ++i) {
      a += work.accelerations[body.firstVelocity + i] * s[i];
    }
    work.a[b] = a;
  }
}

/// Rates, velocities and accelerations of a cluster's bodies, after placeInTree and after those
/// of the clusters before it. `ydd` are the accelerations ÿ of the whole mechanism; null: zero,
/// which gives a°.
template <typename T, typename Tables, typename Loops>
KEMPE_HD void moveBodies(const Tables& tables, int c, const WorkView<T>& work, Loops& loops,
                         const T* v, const T* ydd) {
  const ClusterEntry& cluster = tables.clusters[c];
  const int m = cluster.nv;
  const bool implicit = cluster.kind == ClusterKind::Implicit;
  T* rates = work.rates + cluster.firstVelocity;
  T* accelerations = work.accelerations + cluster.firstVelocity;
  if (cluster.kind == ClusterKind::Tree) {
    for (int i = 0; i < m; ++i) {
      rates[i] = v[cluster.firstV + i];
      accelerations[i] = ydd == nullptr ? T(0) : ydd[cluster.firstV + i];
    }
  } else {
    timesG(cluster, work, v + cluster.firstV, rates);
    if (implicit) {
      if (cluster.bodyLoops) {
        moveRelative(tables, cluster, work);
      }
      loops.bias(c, work);
    }
    for (int i = 0; !implicit && i < cluster.velocities; ++i) {
      accelerations[i] = T(0);
    }
    for (int i = 0; ydd != nullptr && i < cluster.velocities; ++i) {
      accelerations[i] +=
          cluster.loops == 0
              ? ydd[cluster.firstV + i]
              : alongRatios<0>(m, work.G + cluster.firstRatio + i * m, ydd + cluster.firstV);
    }
  }
  moveAlongJoints(tables, cluster, work, implicit || ydd != nullptr);
}

/// The outward pass of a cluster with plain loops: G, q̇ and q̈ (g where ÿ = 0), then pass.loops<M>.
/// The first of two twins solves the loops of both; where one is singular, each solves its own.
template <int M, typename T, typename Tables, typename Loops, typename Pass>
KEMPE_HD bool passLoops(const Tables& tables, int c, const WorkView<T>& work, Loops& loops,
                        const T* v, const T* ydd, const Pass& pass) {
  const ClusterEntry& cluster = tables.clusters[c];
  const int m = M > 0 ? M : cluster.nv;
  const T* G = work.G + cluster.firstRatio;
  T* const rates = work.rates + cluster.firstVelocity;
  T* const accelerations = work.accelerations + cluster.firstVelocity;
  bool solved = false;
  if constexpr (!std::is_same_v<T, TwinOf<T>>) {
    if (cluster.twin > c && !work.loopsSolved) {
      work.solved[c] = work.solved[cluster.twin] = loops.solveTwins(c, work, v);
    } else if (cluster.twin > c && work.solved[c]) {
      loops.solveTwins(c, work, v);
    }
    solved = cluster.twin >= 0 && work.solved[c];
  }
  if (!solved) {
    if (cluster.bodyLoops && !work.loopsSolved) {
      placeBodies(tables, cluster, work);
    }
    if (!work.loopsSolved && !loops.solve(c, work)) {
      return false;
    }
    for (int i = 0; i < cluster.velocities; ++i) {
      rates[i] = alongRatios<M>(m, G + i * m, v + cluster.firstV);
    }
    if (cluster.bodyLoops) {
      moveRelative(tables, cluster, work);
    }
    loops.bias(c, work);
  }
  for (int i = 0; ydd != nullptr && i < cluster.velocities; ++i) {
    accelerations[i] += alongRatios<M>(m, G + i * m, ydd + cluster.firstV);
  }
  pass.template loops<M>(cluster);
  return true;
}

/// Placements, velocities, accelerations and whatever else the outward pass of an algorithm computes
/// of one cluster, after placeWorld and expandMechanism. `pass` has a function for every shape:
/// single, coupled<M> and base do everything; general comes after placing and moving with ÿ = `ydd`
/// (null: zero), with S if kSpans. A pass with a function loops<M> does everything of clusters with
/// plain loops there once G, q̇ and q̈ are known; one with a function flexible does everything of
/// flexible bodies that no loop binds. Returns false in a singular configuration.
template <bool kSpans = true, typename T, typename Tables, typename Loops, typename Pass>
KEMPE_HD bool passCluster(const Tables& tables, int c, const WorkView<T>& work, Loops& loops,
                          const T* v, const T* ydd, const Pass& pass) {
  const ClusterEntry& cluster = tables.clusters[c];
  switch (shapeOf(cluster, work)) {
    case ClusterShape::Single:
      pass.single(cluster, tables.bodies[cluster.moving]);
      break;
    case ClusterShape::Coupled:
      withSize(cluster.nv, [&]<int M>() { pass.template coupled<M>(cluster); });
      break;
    case ClusterShape::FreeBase:
      pass.base(cluster, tables.bodies[cluster.firstBody]);
      break;
    case ClusterShape::General:
      if constexpr (requires { pass.flexible(cluster); }) {
        if (cluster.flexible >= 0 && !work.wholeRotors) {
          pass.flexible(cluster);
          return true;
        }
      }
      if constexpr (requires { pass.template loops<1>(cluster); }) {
        if (hasPlainLoops(cluster, work)) {
          bool regular = true;
          withSize(cluster.nv,
                   [&]<int M>() { regular = passLoops<M>(tables, c, work, loops, v, ydd, pass); });
          return regular;
        }
      }
      if (!placeInTree<kSpans>(tables, c, work, loops)) {
        return false;
      }
      moveBodies(tables, c, work, loops, v, ydd);
      pass.general(cluster);
      break;
  }
  return true;
}

/// The force that a folded rotor adds to its parent: J q̈ w + v_p ×* (J q̇ w), w = [z; 0]. Its
/// inertia as a body that does not spin is part of the parent's.
template <typename T, typename R>
KEMPE_HD void addSpinForce(const BodyEntry<R>& body, const Vec3<T>& z, const WorkView<T>& work) {
  const T J(body.spinInertia);
  const Vec3<T> momentum = (J * work.rates[body.firstVelocity]) * z;
  work.f[body.parent].moment += (J * work.accelerations[body.firstVelocity]) * z +
                                cross(work.v[body.parent].angular, momentum);
}

/// z of a folded rotor's joint, after placeBodies.
template <typename T, typename R>
KEMPE_HD Vec3<T> spinAxis(const ClusterEntry& cluster, const BodyEntry<R>& body,
                          const WorkView<T>& work) {
  return directionsOf(cluster, body, work)[0].angular;
}

/// F tanh(q̇ / slip): smooth dry friction.
template <typename T, typename R>
[[gnu::noinline]] KEMPE_HD T smoothFriction(R friction, R slip, T rate) {
  using std::tanh;
  return T(friction) * tanh(rate / T(slip));
}

/// Its slope by q̇.
template <typename T, typename R>
[[gnu::noinline]] KEMPE_HD T smoothFrictionSlope(R friction, R slip, T rate) {
  using std::tanh;
  const T tangent = tanh(rate / T(slip));
  return T(friction / slip) * (T(1) - tangent * tangent);
}

/// The same of a cluster of shape Single with ratios r: Σ r F tanh(r ẏ / slip).
template <typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD T smoothFrictionOfSingle(const Tables& tables,
                                                    const ClusterEntry& cluster, T rate) {
  T force(0);
  for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
    const T r = ratioOfSingle<T>(tables, cluster, i);
    force += r * smoothFriction(tables.friction[i], tables.frictionSlipSpeed, r * rate);
  }
  return force;
}
template <typename T, typename Tables>
[[gnu::noinline]] KEMPE_HD T smoothFrictionSlopeOfSingle(const Tables& tables,
                                                         const ClusterEntry& cluster, T rate) {
  T slope(0);
  for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
    const T r = ratioOfSingle<T>(tables, cluster, i);
    slope += r * r * smoothFrictionSlope(tables.friction[i], tables.frictionSlipSpeed, r * rate);
  }
  return slope;
}

/// F sign(q̇).
template <typename T, typename R>
KEMPE_HD T dryFriction(const R& friction, const T& rate) {
  return T(friction) * select(rate > T(0), T(1), select(rate < T(0), T(-1), T(0)));
}

/// Damping and friction: the force with which a joint resists along one spanning velocity.
template <typename T, typename Tables>
KEMPE_HD T resistance(const Tables& tables, int velocity, const T& rate) {
  const auto friction = tables.friction[velocity], slip = tables.frictionSlipSpeed;
  const T viscous = T(tables.damping[velocity]) * rate;
  if (slip > 0) {
    return viscous + smoothFriction(friction, slip, rate);
  }
  return viscous + dryFriction(friction, rate);
}
/// The same of a cluster of shape Single along its DoF.
template <typename T, typename Tables, typename R>
KEMPE_HD T resistance(const Tables& tables, const ClusterEntry& cluster, const Single<R>& single,
                      const T& rate) {
  const T viscous = T(single.damping) * rate;
  if (tables.frictionSlipSpeed > R(0)) {
    return viscous + smoothFrictionOfSingle(tables, cluster, rate);
  }
  return viscous + dryFriction(single.friction, rate);
}

/// Their slopes by the rate.
template <typename T, typename Tables>
KEMPE_HD T resistanceSlope(const Tables& tables, int velocity, const T& rate) {
  const auto friction = tables.friction[velocity], slip = tables.frictionSlipSpeed;
  const T viscous(tables.damping[velocity]);
  return slip > 0 ? viscous + smoothFrictionSlope(friction, slip, rate) : viscous;
}
template <typename T, typename Tables, typename R>
KEMPE_HD T resistanceSlope(const Tables& tables, const ClusterEntry& cluster,
                           const Single<R>& single, const T& rate) {
  const T viscous(single.damping);
  return single.dissipates && tables.frictionSlipSpeed > R(0)
             ? viscous + smoothFrictionSlopeOfSingle(tables, cluster, rate)
             : viscous;
}

/// k (q − q₀): the force that holds the spring of a joint with one coordinate.
template <typename T, typename Tables, typename R = typename Tables::Scalar>
KEMPE_HD T springForce(const Tables& tables, const BodyEntry<R>& body, const WorkView<T>& work) {
  const int i = body.firstVelocity;
  return T(tables.stiffness[i]) *
         (work.positions[body.firstPosition] - T(tables.springReference[i]));
}

/// Calls visit(spanning velocity, springForce) for the springs of a cluster.
template <typename T, typename Tables, typename Visit, typename R = typename Tables::Scalar>
KEMPE_HD void forSprings(const Tables& tables, const ClusterEntry& cluster, const WorkView<T>& work,
                         const Visit& visit) {
  for (int b = cluster.firstBody; cluster.sprung && b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<R>& body = tables.bodies[b];
    if (velocitySize(body.type) == 1) {
      visit(body.firstVelocity, springForce(tables, body, work));
    }
  }
}

}  // namespace kempe::detail
