#include "model/uneven_rotors.hpp"

#include <cmath>
#include <vector>

namespace kempe::detail {
namespace {

/// The link of a cluster whose other bodies are rotors on the output body, with constant ratios, of
/// which some are no rotors that can be folded; −1 of other clusters.
int linkOfRotors(const ModelTables<double>& tables, const ClusterEntry& cluster) {
  if (cluster.nv != 1 || cluster.kind != ClusterKind::Explicit) {
    return -1;
  }
  int link = -1, bodies = 0;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    const bool fits = !body.folded && hasOneAxis(body.type) &&
                      ratioOf(tables, cluster, body.firstVelocity) == 1.0 &&
                      offsetOf(tables, cluster, body.firstVelocity) == 0.0;
    if (body.parent != cluster.output) {
      return -1;
    }
    bodies += body.folded ? 0 : 1;
    if (fits && (link < 0 || body.carrier)) {
      link = b;
    }
  }
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const JointType type = tables.bodies[b].type;
    const bool turns = type == JointType::Revolute || type == JointType::Continuous;
    if (b != link && (tables.bodies[b].carrier || !turns)) {
      return -1;
    }
  }
  return bodies > 1 ? link : -1;
}

UnevenRotor<double> unevenRotor(const ModelTables<double>& tables, const ClusterEntry& cluster,
                                int b) {
  const BodyEntry<double>& body = tables.bodies[b];
  const RigidInertia<double>& I = body.inertia;
  const SymMat3<double>& A = I.rotation;
  const double twice = A.xx - A.yy, angle = 0.5 * std::atan2(2.0 * A.xy, twice);
  const double c = std::cos(angle), s = std::sin(angle);
  constexpr double kRounding = 1e-14;
  return {.body = b,
          .position = body.firstPosition,
          .ratio = ratioOf(tables, cluster, body.firstVelocity),
          .origin = body.placement.p,
          .e = body.placement.R * Vector3{c, s, 0},
          .n = body.placement.R * Vector3{-s, c, 0},
          .J = A.zz,
          .delta = 0.5 * std::hypot(twice, 2.0 * A.xy),
          .unbalanced = std::hypot(I.moment.x, I.moment.y) > kRounding * I.mass ||
                        std::hypot(A.xz, A.yz) > kRounding * (A.xx + A.yy + A.zz),
          .he = c * I.moment.x + s * I.moment.y,
          .hn = c * I.moment.y - s * I.moment.x,
          .ge = c * A.xz + s * A.yz,
          .gn = c * A.yz - s * A.xz};
}

/// The rest of it, which is constant in the parent: the mean over all angles, in the parent's frame.
RigidInertia<double> evenPart(const BodyEntry<double>& body) {
  const RigidInertia<double>& I = body.inertia;
  const double mean = 0.5 * (I.rotation.xx + I.rotation.yy);
  return body.placement *
         RigidInertia<double>{
             I.mass, {0, 0, I.moment.z}, SymMat3<double>::diagonal(mean, mean, I.rotation.zz)};
}

}  // namespace

bool listUnevenRotors(ModelTables<double>& tables, ClusterEntry& cluster) {
  const int link = linkOfRotors(tables, cluster);
  if (link < 0) {
    return false;
  }
  cluster.moving = link;
  cluster.firstUneven = static_cast<int>(tables.unevenRotors.size());
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    if (b != link && !tables.bodies[b].folded) {
      tables.unevenRotors.push_back(unevenRotor(tables, cluster, b));
      ++cluster.unevens;
    }
  }
  return true;
}

void mergeUnevenRotors(ModelTables<double>& tables) {
  tables.withRotors.clear();
  if (tables.unevenRotors.empty()) {
    return;
  }
  std::vector<RigidInertia<double>> inertias;
  for (const BodyEntry<double>& body : tables.bodies) {
    inertias.push_back(body.inertia);
  }
  for (const UnevenRotor<double>& rotor : tables.unevenRotors) {
    const BodyEntry<double>& body = tables.bodies[rotor.body];
    if (body.parent != kWorld) {
      inertias[body.parent] += evenPart(body);
    }
  }
  for (const RigidInertia<double>& inertia : inertias) {
    tables.withRotors.push_back(CentralInertia<double>::fromRigid(inertia));
  }
}

}  // namespace kempe::detail
