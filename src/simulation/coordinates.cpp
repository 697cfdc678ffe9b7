#include "simulation/coordinates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "algorithms/evaluation.hpp"
#include "loops/assembly.hpp"
#include "loops/cluster_velocity.hpp"
#include "model/follow_loops.hpp"
#include "model/positions.hpp"
#include "simulation/exponential_rates.hpp"
#include "simulation/regularity.hpp"

namespace kempe::detail {
namespace {

/// Radians or metres that loops are followed in one go: short, so that a change point is passed on
/// the branch that leads to it. The tangent leaves the branch by kPart² / 2 = 0.005 for a curvature
/// of 1; branches that cross at right angles are 0.04 apart or more where they are followed
/// (kSpacing in change_points.hpp).
constexpr double kPart = 0.1;
/// Newton steps at most, from loops that are closed already, and the size of φ, relative to the
/// mechanism, that rounding explains: further steps would only move positions about.
constexpr int kPolishing = 4;
constexpr double kRounded = 1e-15;
/// A ratio this many times the usual one is too large for an accurate step: accelerations, which
/// change with its square, are then right to 64² times rounding, 4e-13.
constexpr double kFar = 64.0;

}  // namespace

Coordinates::Coordinates(const Model& model, const LoopScales& scales)
    : model_(model),
      scales_(scales),
      data_(model),
      tangent_(data_.impl().g.size()),
      polished_(data_.impl().loops.q.size()),
      standing_(impl().tables.clusters.size()),
      crossing_(impl().tables.clusters.size()),
      regularity_(impl().tables.clusters.size(), 1.0) {
  data_.impl().allocateAll(impl());  // an event may be the first to need a part of it
  std::size_t room = 0;
  for (const ClusterEntry& cluster : impl().tables.clusters) {
    room = std::max({room, static_cast<std::size_t>(LoopScales::roomOf(cluster)),
                     static_cast<std::size_t>(cluster.nv * cluster.velocities)});
  }
  elimination_.resize(room);
  G_.resize(static_cast<std::size_t>(impl().tables.ratios));
  K_.resize(static_cast<std::size_t>(impl().tables.rowNumbers));
  solved_.resize(impl().tables.clusters.size());
  writeCouplings();
  listTurningJoints();
}

/// The rows of K that kernels leave out are the same at all positions.
void Coordinates::writeCouplings() {
  const TablesView<double>& tables = viewOf<double>(impl());
  LoopScratch<double>& scratch = data_.impl().loops;
  for (const ClusterEntry& cluster : tables.clusters) {
    looped_ = looped_ || cluster.kind == ClusterKind::Implicit;
    if (cluster.kind == ClusterKind::Implicit && cluster.couplings > 0) {
      ClusterState<double> state =
          scratch.state(impl().neutralPositions.data() + cluster.firstPosition);
      placeCluster(tables, cluster, state);
      loopJacobian(tables, impl().mechanism.functions, cluster, state, scratch.forFunctions(),
                   tables.rowSlots.data() + cluster.firstRow, cluster.kept,
                   K_.data() + cluster.firstK);
    }
  }
}

void Coordinates::listTurningJoints() {
  const TablesView<double>& tables = viewOf<double>(impl());
  for (int b = 0; b < tables.bodyCount; ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    if (hasScalarCoordinates(body.type)) {
      continue;
    }
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    TurningJoint joint;
    joint.body = b;
    for (int j = 0; j < cluster.nv; ++j) {
      const int velocity = cluster.firstVelocity + independentOf(tables, cluster)[j];
      const int offset = velocity - body.firstVelocity;
      if (offset >= 0 && offset < velocitySize(body.type)) {
        joint.inV.push_back(cluster.firstV + j);
        joint.offset.push_back(offset);
      }
    }
    joint.whole = static_cast<int>(joint.inV.size()) == velocitySize(body.type);
    if (!joint.inV.empty()) {
      turning_.push_back(joint);
    }
  }
}

void Coordinates::writeConstantRatios(double* G) const {
  const TablesView<double>& tables = viewOf<double>(impl());
  for (const ClusterEntry& cluster : tables.clusters) {
    const int numbers = cluster.velocities * cluster.nv;
    double* own = G + cluster.firstRatio;
    if (cluster.kind == ClusterKind::Explicit) {
      std::copy_n(tables.G.data() + cluster.firstG, numbers, own);
    } else if (cluster.kind == ClusterKind::Tree) {
      for (int i = 0; i < numbers; ++i) {
        own[i] = i % (cluster.nv + 1) == 0 ? 1.0 : 0.0;
      }
    }
  }
}

Standing Coordinates::placeAt(VectorIn q, double* G) {
  expandPositions(impl(), q.data(), data_.impl().positions.data());
  if (!looped_) {
    return Standing::Regular;
  }
  // Steps and the energy at a sample ask for one position several times.
  if (!data_.impl().held.hasLoopsAt(q.data(), false) || learned_ != scales_.learned) {
    solveLoopsAt(q);
  }
  Standing worst = Standing::Regular;
  singular_ = -1;
  for (std::size_t c = 0; c < impl().tables.clusters.size(); ++c) {
    const ClusterEntry& cluster = impl().tables.clusters[c];
    if (cluster.kind != ClusterKind::Implicit) {
      continue;
    }
    std::copy_n(G_.data() + cluster.firstRatio, cluster.velocities * cluster.nv,
                G + cluster.firstRatio);
    if (standing_[c] > worst) {
      worst = standing_[c];
      singular_ = static_cast<int>(c);
    }
  }
  return worst;
}

void Coordinates::solveLoopsAt(VectorIn q) {
  Evaluation<double> e(model_, data_);
  HeldMotion<double>& held = data_.impl().held;
  held.prepare(MotionLevel::None, q.data(), nullptr, nullptr, false);
  e.kernels().solveLoops(e.heldContext(WorkStage::Motion), q.data(),
                         {G_.data(), K_.data(), solved_.data()});
  bool all = true;
  for (std::size_t c = 0; c < impl().tables.clusters.size(); ++c) {
    const ClusterEntry& cluster = impl().tables.clusters[c];
    if (cluster.kind == ClusterKind::Implicit) {
      const double regular = scales_.regularityOf(cluster, K_.data(), elimination_.data());
      regularity_[c] = regular / scales_.regularity[c];
      standing_[c] = standingOf(cluster, solved_[c] != 0);
      all = all && solved_[c] != 0;
    }
  }
  learned_ = scales_.learned;
  if (all) {
    held.keepLoops();
  }
}

Standing Coordinates::standingOf(const ClusterEntry& cluster, bool regular) const {
  const double* G = G_.data() + cluster.firstRatio;
  for (int i = 0; regular && i < cluster.velocities; ++i) {
    for (int j = 0; j < cluster.nv; ++j) {
      const int column = independentOf(impl().tables, cluster)[j];
      const double size = std::abs(scales_.scaled(cluster, G, i, j, column));
      regular = regular && size < kFar * scales_.ratio[cluster.firstVelocity + i];
    }
  }
  return regular ? Standing::Regular : Standing::DeadPoint;
}

void Coordinates::throwSingular() {
  const ClusterEntry& cluster = impl().tables.clusters[singular_];
  throwSingularityError(impl(), cluster, data_.impl().positions.data() + cluster.firstPosition);
}

void Coordinates::spread(const double* G, VectorIn v, VectorOut velocities) const {
  for (const ClusterEntry& cluster : impl().tables.clusters) {
    const double* own = G + cluster.firstRatio;
    for (int i = 0; i < cluster.velocities; ++i) {
      double sum = 0.0;
      for (int j = 0; j < cluster.nv; ++j) {
        sum += own[i * cluster.nv + j] * v[cluster.firstV + j];
      }
      velocities[cluster.firstVelocity + i] = sum;
    }
  }
}

void Coordinates::gather(const double* G, VectorIn forces, VectorOut tau) const {
  for (const ClusterEntry& cluster : impl().tables.clusters) {
    const double* own = G + cluster.firstRatio;
    for (int j = 0; j < cluster.nv; ++j) {
      double sum = 0.0;
      for (int i = 0; i < cluster.velocities; ++i) {
        sum += own[i * cluster.nv + j] * forces[cluster.firstVelocity + i];
      }
      tau[cluster.firstV + j] = sum;
    }
  }
}

void Coordinates::pick(VectorIn velocities, VectorOut v) const {
  for (const ClusterEntry& cluster : impl().tables.clusters) {
    for (int j = 0; j < cluster.nv; ++j) {
      v[cluster.firstV + j] =
          velocities[cluster.firstVelocity + independentOf(impl().tables, cluster)[j]];
    }
  }
}

void Coordinates::place(VectorIn v, VectorOut velocities) const {
  for (const ClusterEntry& cluster : impl().tables.clusters) {
    for (int j = 0; j < cluster.nv; ++j) {
      velocities[cluster.firstVelocity + independentOf(impl().tables, cluster)[j]] =
          v[cluster.firstV + j];
    }
  }
}

void Coordinates::follow(VectorIn q0, const double* G, VectorIn y, VectorOut q) {
  const TablesView<double>& tables = viewOf<double>(impl());
  DataImpl<double>& d = data_.impl();
  expandPositions(impl(), q0.data(), d.positions.data());
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (cluster.kind == ClusterKind::Explicit) {
      for (int j = 0; j < cluster.nv; ++j) {
        d.q[cluster.firstQ + j] = q0[cluster.firstQ + j] + y[cluster.firstV + j];
      }
      continue;
    }
    const double* base = d.positions.data() + cluster.firstPosition;
    if (cluster.kind == ClusterKind::Implicit) {
      const double* own = G + cluster.firstRatio;
      for (int i = 0; i < cluster.velocities; ++i) {
        tangent_[i] = 0.0;
        for (int j = 0; j < cluster.nv; ++j) {
          tangent_[i] += own[i * cluster.nv + j] * y[cluster.firstV + j];
        }
      }
      followLoops(impl(), cluster, d, base, tangent_.data(), kPart);
      if (regularity_[c] < kNearSingular) {
        closeToRounding(cluster);
      }
    } else {
      retractCluster(tables, cluster, base, y.data() + cluster.firstV, d.loops.q.data());
    }
    contractPositions(tables, cluster, d.loops.q.data(), d.q.data());
  }
  q = Eigen::Map<const Eigen::VectorXd>(d.q.data(), tables.nq);
}

/// Newton steps K_d Δq_d = −φ on the positions in loops.q until they reduce φ no more. followLoops
/// stops at 1e-14, which near a change point is not enough.
void Coordinates::closeToRounding(const ClusterEntry& cluster) {
  const TablesView<double>& tables = viewOf<double>(impl());
  LoopScratch<double>& scratch = data_.impl().loops;
  const int* slots = tables.rowSlots.data() + cluster.firstRow;
  const std::span<const int> dependent = dependentOf(tables, cluster);
  ClusterState<double> state = scratch.state(scratch.q.data());
  double* correction = scratch.step.data();
  double before = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kPolishing; ++round) {
    placeCluster(tables, cluster, state);
    loopValues(tables, impl().mechanism.functions, cluster, state, scratch.forFunctions(),
               scratch.phi.data());
    double size = 0.0;
    for (int r = 0; r < cluster.rows; ++r) {
      if (slots[r] >= 0) {
        scratch.k[slots[r]] = -scratch.phi[r];
        size = std::max(size, std::abs(tables.rowScales[cluster.firstRow + r] * scratch.phi[r]));
      }
    }
    if (size < kRounded) {
      return;
    }
    if (!(size < before)) {
      std::copy_n(polished_.data(), cluster.positions, scratch.q.data());
      return;
    }
    before = size;
    std::copy_n(scratch.q.data(), cluster.positions, polished_.data());
    const double pivots = clusterJacobian(tables, impl().mechanism.functions, cluster, state,
                                          scratch, elimination_.data());
    if (isSingular(pivots)) {
      return;
    }
    solveLoops(tables, cluster, scratch.work(), scratch.k.data(), 1);
    std::fill_n(correction, cluster.velocities, 0.0);
    for (int i = 0; i < cluster.kept; ++i) {
      correction[dependent[i]] = scratch.k[i];
    }
    retractCluster(tables, cluster, polished_.data(), correction, scratch.q.data());
  }
}

void Coordinates::turningStep(const TurningJoint& joint, VectorIn q0, VectorIn y, VectorIn q,
                              double* step) const {
  const TablesView<double>& tables = viewOf<double>(impl());
  const BodyEntry<double>& body = tables.bodies[joint.body];
  if (joint.whole) {
    std::copy_n(y.data() + joint.inV.front(), velocitySize(body.type), step);
    return;
  }
  const ClusterEntry& cluster = tables.clusters[body.cluster];
  const int position = cluster.firstQ + body.firstPosition - cluster.firstPosition;
  jointDifference(body.type, q0.data() + position, q.data() + position, step);
}

void Coordinates::chartRates(VectorIn q0, VectorIn y, VectorIn q, VectorIn v, VectorIn velocities,
                             VectorOut rates) const {
  const TablesView<double>& tables = viewOf<double>(impl());
  rates = v;
  for (const TurningJoint& joint : turning_) {
    const BodyEntry<double>& body = tables.bodies[joint.body];
    std::array<double, 6> step{}, result{};
    turningStep(joint, q0, y, q, step.data());
    coordinateRates(velocitySize(body.type), step.data(), velocities.data() + body.firstVelocity,
                    result.data());
    for (std::size_t i = 0; i < joint.inV.size(); ++i) {
      rates[joint.inV[i]] = result[static_cast<std::size_t>(joint.offset[i])];
    }
  }
}

void Coordinates::moveAcross(VectorIn q, VectorIn direction, double distance, VectorOut result) {
  const TablesView<double>& tables = viewOf<double>(impl());
  DataImpl<double>& d = data_.impl();
  expandPositions(impl(), q.data(), d.positions.data());
  result = q;
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (crossing_[c] == 0) {
      continue;
    }
    const double* own = direction.data() + cluster.firstVelocity;
    const double* length = scales_.length.data() + cluster.firstVelocity;
    double largest = 0.0;
    for (int i = 0; i < cluster.velocities; ++i) {
      largest = std::max(largest, std::abs(own[i]) / length[i]);
    }
    for (int i = 0; i < cluster.velocities; ++i) {
      tangent_[i] = own[i] * (distance / largest);
    }
    followLoops(impl(), cluster, d, d.positions.data() + cluster.firstPosition, tangent_.data(),
                kPart);
    closeToRounding(cluster);
    contractPositions(tables, cluster, d.loops.q.data(), result.data());
  }
}

template <typename Visit>
void Coordinates::forEachCrossingJoint(const Visit& visit) const {
  const TablesView<double>& tables = viewOf<double>(impl());
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    for (int b = 0; crossing_[c] != 0 && b < cluster.bodies; ++b) {
      const BodyEntry<double>& body = tables.bodies[cluster.firstBody + b];
      visit(body, cluster.firstQ + body.firstPosition - cluster.firstPosition);
    }
  }
}

void Coordinates::addDisplacement(VectorIn q, VectorIn node, double weight, VectorOut sum) const {
  forEachCrossingJoint([&](const BodyEntry<double>& body, int position) {
    double step[6];
    jointDifference(body.type, q.data() + position, node.data() + position, step);
    for (int i = 0; i < velocitySize(body.type); ++i) {
      sum[body.firstVelocity + i] += weight * step[i];
    }
  });
}

void Coordinates::displace(VectorIn displacement, VectorOut q) {
  const TablesView<double>& tables = viewOf<double>(impl());
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (crossing_[c] != 0) {
      double* to = data_.impl().loops.q.data();
      retractCluster(tables, cluster, q.data() + cluster.firstQ,
                     displacement.data() + cluster.firstVelocity, to);
      contractPositions(tables, cluster, to, q.data());
    }
  }
}

double Coordinates::secondsAhead(const std::vector<double>& regularity, VectorIn velocities) const {
  double seconds = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < regularity.size(); ++c) {
    const ClusterEntry& cluster = impl().tables.clusters[c];
    if (regularity[c] > kNearSingular) {
      continue;
    }
    double rate = 0.0;
    for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
      rate = std::max(rate, std::abs(velocities[i]) / scales_.length[i]);
    }
    seconds = std::min(seconds, kStepAhead * regularity[c] / rate);
  }
  return seconds;
}

double Coordinates::worstRatio(const double* G) const {
  double worst = 0.0;
  for (const ClusterEntry& cluster : impl().tables.clusters) {
    if (cluster.kind != ClusterKind::Implicit) {
      continue;
    }
    for (int i = 0; i < cluster.velocities; ++i) {
      for (int j = 0; j < cluster.nv; ++j) {
        const double size = std::abs(scales_.scaled(cluster, G + cluster.firstRatio, i, j,
                                                    independentOf(impl().tables, cluster)[j]));
        worst = std::max(worst, size / scales_.ratio[cluster.firstVelocity + i]);
      }
    }
  }
  return worst;
}

void Coordinates::best(VectorIn q, std::vector<std::vector<int>>& independent) {
  const TablesView<double>& tables = viewOf<double>(impl());
  LoopScratch<double>& scratch = data_.impl().loops;
  expandPositions(impl(), q.data(), data_.impl().positions.data());
  independent.assign(tables.clusters.size(), {});
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (cluster.kind != ClusterKind::Implicit || cluster.nv == 0) {
      continue;
    }
    ClusterState<double> state =
        scratch.state(data_.impl().positions.data() + cluster.firstPosition);
    placeCluster(tables, cluster, state);
    loopJacobian(tables, impl().mechanism.functions, cluster, state, scratch.forFunctions(),
                 tables.rowSlots.data() + cluster.firstRow, cluster.kept,
                 scratch.K.data() + cluster.firstK);
    std::vector<int> dependent(static_cast<std::size_t>(cluster.kept), 0);
    if (scales_.regularityOf(cluster, scratch.K.data(), elimination_.data(), dependent.data()) >
        0.0) {
      for (int i = 0; i < cluster.velocities; ++i) {
        if (std::ranges::find(dependent, i) == dependent.end()) {
          independent[c].push_back(i);
        }
      }
    }
  }
}

bool Coordinates::better(const double* G, double gain, std::vector<std::vector<int>>& independent) {
  const TablesView<double>& tables = viewOf<double>(impl());
  independent.assign(tables.clusters.size(), {});
  bool any = false;
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    const int n = cluster.velocities, m = cluster.nv;
    if (cluster.kind != ClusterKind::Implicit || m == 0) {
      continue;
    }
    const auto own = independentOf(tables, cluster);
    std::vector<int> chosen(own.begin(), own.end());
    double* ratios = elimination_.data();
    std::copy_n(G + cluster.firstRatio, n * m, ratios);
    // Exchanging velocity i with coordinate j multiplies det K_d by G_ij.
    bool changed = false;
    for (int round = 0; round < 4 * n * m; ++round) {
      int row = 0, column = 0;
      double largest = gain;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) {
          const double size = std::abs(scales_.scaled(cluster, ratios, i, j, chosen[j]));
          if (size > largest) {
            largest = size;
            row = i;
            column = j;
          }
        }
      }
      if (largest == gain) {
        break;
      }
      changed = true;
      const double pivot = ratios[row * m + column];
      for (int i = 0; i < n; ++i) {
        ratios[i * m + column] /= pivot;
      }
      for (int j = 0; j < m; ++j) {
        const double factor = ratios[row * m + j];
        for (int i = 0; i < n && j != column; ++i) {
          ratios[i * m + j] -= factor * ratios[i * m + column];
        }
      }
      chosen[column] = row;
    }
    if (changed) {
      std::ranges::sort(chosen);
      independent[c] = chosen;
      any = true;
    }
  }
  return any;
}

}  // namespace kempe::detail
