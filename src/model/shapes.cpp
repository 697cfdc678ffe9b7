#include "model/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "loops/substitution.hpp"
#include "loops/twins.hpp"
#include "model/uneven_rotors.hpp"

namespace kempe::detail {
namespace {

/// The one body of the cluster that is not folded, if the cluster has shape Single; −1 otherwise.
int singleBody(const ModelTables<double>& tables, const ClusterEntry& cluster) {
  if (cluster.nv != 1 || cluster.kind == ClusterKind::Implicit) {
    return -1;
  }
  int moving = -1;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    if (body.parent != cluster.output || (!body.folded && moving >= 0)) {
      return -1;
    }
    moving = body.folded ? moving : b;
  }
  const bool fits = moving >= 0 && hasOneAxis(tables.bodies[moving].type) &&
                    ratioOf(tables, cluster, tables.bodies[moving].firstVelocity) == 1.0 &&
                    offsetOf(tables, cluster, tables.bodies[moving].firstVelocity) == 0.0;
  return fits ? moving : -1;
}

bool hasPlainJoints(const ModelTables<double>& tables, const ClusterEntry& cluster) {
  const auto first = tables.bodies.begin() + cluster.firstBody;
  return std::all_of(first, first + cluster.bodies,
                     [](const BodyEntry<double>& body) { return hasOneAxis(body.type); });
}

/// Whether a cluster consists of open chains of bodies that turn or slide and carry nothing, closed
/// by loops.
bool isOfChains(const ModelTables<double>& tables, const ClusterEntry& cluster) {
  if (cluster.kind != ClusterKind::Implicit || cluster.kept == 0) {
    return false;
  }
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    const bool continues = body.parent == cluster.output || body.parent == b - 1;
    if (!continues || !hasOneAxis(body.type) || body.folded || body.carrier) {
      return false;
    }
  }
  return true;
}

/// Whether such a cluster has so many DoFs that the mass matrix of its joints is cheaper than S of
/// all its bodies (see kernels/wide_clusters.hpp).
bool isWide(const ClusterEntry& cluster) {
  constexpr int kMany = 4;  // fewer are known to the compiler (withSize)
  return cluster.nv >= kMany && cluster.kept <= cluster.nv;
}

/// Whether such a cluster is so long, and closed by so few rows, that kernels/chain_clusters.hpp
/// takes less time than D. Bodies with almost no inertia of their own need D.
bool isLong(const ModelTables<double>& tables, const ClusterEntry& cluster) {
  constexpr int kLong = 5;  // by the benchmarks forward_dynamics/loop_<n>/cluster
  constexpr double kLight = 1e-6;
  if (cluster.velocities < kLong || cluster.nv < cluster.kept || cluster.kept > kMostChainRows) {
    return false;
  }
  double most[2]{}, least[2]{1e300, 1e300};
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    const bool slides = body.type == JointType::Prismatic;
    const double own = tables.armature[body.firstVelocity] +
                       (slides ? body.inertia.mass : body.inertia.rotation.zz);
    most[slides] = std::max(most[slides], own);
    least[slides] = std::min(least[slides], own);
  }
  return least[0] > kLight * most[0] && least[1] > kLight * most[1];
}

Single<double> sumSingle(const ModelTables<double>& tables, const ClusterEntry& cluster) {
  Single<double> sum;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    const int i = body.firstVelocity;
    const double r = ratioOf(tables, cluster, i);
    if (body.folded) {
      sum.geared = true;
      sum.spin += (body.spinInertia * r) * body.placement.R.column(2);
      sum.reflected += body.spinInertia * r * r;
    } else if (cluster.unevens > 0 && b != cluster.moving) {
      sum.reflected += body.inertia.rotation.zz * r * r;
    }
    sum.reflected += tables.armature[i] * r * r;
    sum.damping += tables.damping[i] * r * r;
    sum.friction += tables.friction[i] * std::abs(r);
    sum.stiffness += tables.stiffness[i] * r * r;
    sum.atZero +=
        tables.stiffness[i] * r * (offsetOf(tables, cluster, i) - tables.springReference[i]);
  }
  sum.dissipates = sum.damping != 0.0 || sum.friction != 0.0;
  sum.sprung = cluster.sprung;
  return sum;
}

/// The bodies to which loop joints and rods of their cluster are attached, and the clusters that
/// have such loops.
void findLoopEnds(ModelTables<double>& tables) {
  for (BodyEntry<double>& body : tables.bodies) {
    body.loopEnd = false;
  }
  for (ClusterEntry& cluster : tables.clusters) {
    cluster.bodyLoops = false;
    for (int l = cluster.firstLoop; l < cluster.firstLoop + cluster.loops; ++l) {
      const LoopEntry<double>& loop = tables.loops[l];
      if (!loop.form.betweenBodies()) {
        continue;
      }
      cluster.bodyLoops = true;
      for (const int end : {loop.predecessor.body, loop.successor.body}) {
        if (end >= 0) {
          tables.bodies[cluster.firstBody + end].loopEnd = true;
        }
      }
    }
  }
}

/// Numbers the clusters that kernels/chain_clusters.hpp takes: without couplings to substitute, and
/// without a twin with which it is solved.
void findChain(ModelTables<double>& tables, ClusterEntry& cluster) {
  cluster.chain = -1;
  if (cluster.couplings == 0 && cluster.twin < 0 && isOfChains(tables, cluster) &&
      isLong(tables, cluster)) {
    cluster.chain = tables.chains++;
    cluster.firstChainJoint = tables.chainJoints;
    tables.chainJoints += cluster.velocities;
  }
}

/// Calls visit(loop, velocity) for the velocities that move loop l of a cluster.
template <typename Visit>
void forVelocitiesOf(const ModelTables<double>& tables, const ClusterEntry& cluster,
                     const Visit& visit) {
  for (int l = cluster.firstLoop; l < cluster.firstLoop + cluster.loops; ++l) {
    const LoopEntry<double>& loop = tables.loops[l];
    for (int i = loop.firstColumn; i < loop.firstColumn + loop.columns; ++i) {
      visit(loop, tables.columns[i].velocity);
    }
    for (int i = loop.firstTerm; i < loop.firstTerm + loop.terms; ++i) {
      visit(loop, tables.terms[i].velocity);
    }
  }
}

/// Puts the dependent velocities of a large cluster into the order of the rows that they occur in.
/// Where its loops share joints with few others, K_d is then a band matrix.
void findBand(ModelTables<double>& tables, ClusterEntry& cluster) {
  constexpr int kLarge = 16;
  cluster.banded = false;
  const int d = cluster.kept;
  if (cluster.kind != ClusterKind::Implicit || d <= kLarge || cluster.couplings > 0) {
    return;
  }
  struct Range {
    int first, last;
    auto operator<=>(const Range&) const = default;
  };
  std::vector<Range> rows(static_cast<std::size_t>(cluster.velocities), {d, -1});
  forVelocitiesOf(tables, cluster, [&](const LoopEntry<double>& loop, int velocity) {
    for (int r = 0; r < loop.rows; ++r) {
      const int slot = tables.rowSlots[cluster.firstRow + loop.firstRow + r];
      if (slot >= 0) {
        rows[velocity].first = std::min(rows[velocity].first, slot);
        rows[velocity].last = std::max(rows[velocity].last, slot);
      }
    }
  });
  std::vector<int> order(tables.dependent.begin() + cluster.firstDependent,
                         tables.dependent.begin() + cluster.firstDependent + d);
  std::ranges::sort(order);
  std::ranges::stable_sort(order, {}, [&](int velocity) { return rows[velocity]; });
  cluster.lower = cluster.upper = 0;
  for (int j = 0; j < d; ++j) {
    cluster.lower = std::max(cluster.lower, rows[order[j]].last - j);
    cluster.upper = std::max(cluster.upper, j - rows[order[j]].first);
  }
  cluster.banded = 2 * (cluster.lower + cluster.upper) < d;
  if (cluster.banded) {
    std::ranges::copy(order, tables.dependent.begin() + cluster.firstDependent);
  }
}

/// Level by level: neighbours in this order do not wait for one another's results.
void orderByDepth(ModelTables<double>& tables) {
  std::vector<int> depth(tables.clusters.size());
  for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
    const int output = tables.clusters[c].output;
    depth[c] = output == kWorld ? 0 : depth[tables.bodies[output].cluster] + 1;
  }
  tables.order.resize(tables.clusters.size());
  std::iota(tables.order.begin(), tables.order.end(), 0);
  std::ranges::stable_sort(tables.order, {}, [&](int c) { return depth[c]; });
}

/// The nodes of flexible bodies to which neither bodies nor the constant part of rotors are fixed.
void findMasslessNodes(ModelTables<double>& tables) {
  const auto isZero = [](const CentralInertia<double>& a) {
    return a.mass == 0.0 && a.rotation == SymMat3<double>{};
  };
  for (std::size_t b = 0; b < tables.bodies.size(); ++b) {
    BodyEntry<double>& body = tables.bodies[b];
    body.massless = body.node >= 0 && isZero(body.central) &&
                    (tables.withRotors.empty() || isZero(tables.withRotors[b]));
  }
}

/// Inertia about the first joint of everything that a cluster carries, stretched out, or its mass
/// where the cluster only slides.
void scaleInertias(ModelTables<double>& tables) {
  constexpr double kLeast = 1e-30;
  const std::size_t count = tables.bodies.size();
  std::vector<double> reach(count), mass(tables.clusters.size()), rotation(mass.size());
  double longest = 0.0;
  for (std::size_t b = 0; b < count; ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    const Vector3 from = body.parent == kWorld ? tables.bodies[0].placement.p : Vector3{};
    reach[b] = (body.parent == kWorld ? 0.0 : reach[body.parent]) + norm(body.placement.p - from);
    longest = std::max(longest, reach[b] + norm(body.central.center));
  }
  for (std::size_t b = count; b-- > 0;) {
    const BodyEntry<double>& body = tables.bodies[b];
    const auto& I = body.own.rotation;
    mass[body.cluster] += body.own.mass;
    rotation[body.cluster] += I.xx + I.yy + I.zz;
  }
  tables.inertiaScale.assign(static_cast<std::size_t>(tables.nv), kLeast);
  for (std::size_t c = tables.clusters.size(); c-- > 0;) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (cluster.output != kWorld) {
      mass[tables.bodies[cluster.output].cluster] += mass[c];
      rotation[tables.bodies[cluster.output].cluster] += rotation[c];
    }
    bool slides = true;
    double reflected = 0.0;
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<double>& body = tables.bodies[b];
      slides = slides && body.type == JointType::Prismatic;
      for (int i = 0; i < velocitySize(body.type); ++i) {
        reflected += tables.armature[body.firstVelocity + i];
      }
    }
    const double own = slides ? mass[c] : mass[c] * (1.0 + longest * longest) + rotation[c];
    for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
      tables.inertiaScale[i] = std::max(own + reflected, kLeast);
    }
  }
}

void listAncestors(ModelTables<double>& tables) {
  tables.ancestors.clear();
  for (const ClusterEntry& cluster : tables.clusters) {
    AncestorEntry entry;
    if (cluster.output != kWorld) {
      const BodyEntry<double>& body = tables.bodies[cluster.output];
      const ClusterEntry& above = tables.clusters[body.cluster];
      entry = {body.cluster, body.firstS, above.firstV, above.nv,
               above.shape == ClusterShape::FreeBase};
    }
    tables.ancestors.push_back(entry);
  }
}

}  // namespace

void findShapes(ModelTables<double>& tables) {
  orderByDepth(tables);
  findLoopEnds(tables);
  for (BodyEntry<double>& body : tables.bodies) {
    body.central = CentralInertia<double>::fromRigid(body.inertia);
  }
  tables.unevenRotors.clear();
  tables.swaps = tables.widestRows = tables.widestRightSide = tables.mostRows = 0;
  tables.widestBasis = tables.widestTriangle = tables.chains = tables.chainJoints = 0;
  for (ClusterEntry& cluster : tables.clusters) {
    cluster.shape = ClusterShape::General;
    cluster.unevens = 0;
    const int moving = singleBody(tables, cluster);
    if (moving >= 0) {
      cluster.shape = ClusterShape::Single;
      cluster.moving = moving;
      tables.bodies[moving].single = sumSingle(tables, cluster);
    } else if (cluster.kind == ClusterKind::Explicit && hasPlainJoints(tables, cluster)) {
      cluster.shape = ClusterShape::Coupled;
      if (listUnevenRotors(tables, cluster)) {
        tables.bodies[cluster.moving].single = sumSingle(tables, cluster);
      }
    } else if (cluster.bodies == 1 && cluster.firstBody == tables.floatingBase &&
               cluster.kind == ClusterKind::Tree && cluster.output == kWorld &&
               !cluster.armatured && !cluster.dissipates) {
      cluster.shape = ClusterShape::FreeBase;
    }
    cluster.wide = isOfChains(tables, cluster) && isWide(cluster);
    cluster.plainJoints = hasPlainJoints(tables, cluster);
    if (cluster.kind == ClusterKind::Implicit) {
      const int d = cluster.kept;
      cluster.firstSwap = tables.swaps;
      tables.swaps += d * (d - 1) / 2;
      tables.widestRightSide = std::max(tables.widestRightSide, d * std::max(cluster.nv, 1));
      tables.mostRows = std::max(tables.mostRows, cluster.rows);
      if (cluster.rows > d) {
        tables.widestRows = std::max(tables.widestRows, cluster.rows * cluster.velocities);
        tables.widestBasis = std::max(tables.widestBasis, cluster.rows * d);
        tables.widestTriangle = std::max(tables.widestTriangle, d * d);
      }
    }
  }
  substituteCouplings(tables);
  findTwins(tables);
  for (ClusterEntry& cluster : tables.clusters) {
    findChain(tables, cluster);
    findBand(tables, cluster);
  }
  mergeUnevenRotors(tables);
  findMasslessNodes(tables);
  listAncestors(tables);
  scaleInertias(tables);
}

}  // namespace kempe::detail
