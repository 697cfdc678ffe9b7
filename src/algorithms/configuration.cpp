#include "kempe/configuration.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/cut_loops.hpp"
#include "algorithms/differentiable.hpp"
#include "algorithms/varied_dynamics.hpp"
#include "loops/assembly.hpp"
#include "loops/cluster_velocity.hpp"
#include "loops/random_positions.hpp"
#include "model/arguments.hpp"
#include "model/follow_loops.hpp"
#include "model/positions.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

constexpr int kRestarts = 24;           // of project, before it gives up
constexpr double kContinuation = 0.25;  // radians or metres that integrate moves in one go

/// Closes an implicit cluster from `base`, independent positions held; the result is in scratch.q.
/// Starts elsewhere on the dependent side only where `base` itself does not lead there, and then
/// takes the first solution, from starts that move away little by little.
void projectCluster(const ModelImpl& model, const ClusterEntry& cluster, DataImpl<double>& data,
                    const double* base) {
  LoopScratch<double>& scratch = data.loops;
  const std::span<const int> dependent = dependentOf(model.tables, cluster);
  Closure nearest;
  Random random(1);
  for (int start = 0; start <= kRestarts; ++start) {
    std::fill_n(scratch.step.begin(), cluster.velocities, 0.0);
    const double spread = 3.0 * start / kRestarts;
    for (const int i : dependent) {
      scratch.step[i] =
          random.uniform(-spread, spread) * model.tables.velocityScales[cluster.firstVelocity + i];
    }
    const Closure closure = closeLoops(viewOf<double>(model), model.mechanism.functions, cluster,
                                       scratch, base, scratch.step.data(), dependent, Rows::Kept);
    if (closure.closed) {
      return;
    }
    if (start == 0 || closure.gap < nearest.gap) {
      nearest = closure;
    }
  }
  throwAssemblyError(model, cluster, base, nearest.opening, nearest.worstRow);
}

/// Places a cluster, seen from its output body, at its spanning positions.
ClusterState<double> placed(const ModelImpl& model, const ClusterEntry& cluster,
                            DataImpl<double>& data) {
  ClusterState<double> state = data.loops.state(data.positions.data() + cluster.firstPosition);
  placeCluster(viewOf<double>(model), cluster, state);
  return state;
}

/// G of one cluster into data.G; throws where it is singular.
void jacobianOf(const ModelImpl& model, const ClusterEntry& cluster,
                const ClusterState<double>& state, DataImpl<double>& data) {
  const double ratio = clusterJacobian(viewOf<double>(model), model.mechanism.functions, cluster,
                                       state, data.loops, data.G.data());
  if (isSingular(ratio)) {
    throwSingularityError(model, cluster, data.positions.data() + cluster.firstPosition);
  }
}

/// q̇ = G v of one cluster, after jacobianOf.
void spanRates(const ClusterEntry& cluster, const DataImpl<double>& data, VectorIn v,
               double* rates) {
  for (int i = 0; i < cluster.velocities; ++i) {
    rates[i] = 0.0;
    for (int j = 0; j < cluster.nv; ++j) {
      rates[i] += data.G[i * cluster.nv + j] * v[cluster.firstV + j];
    }
  }
}

/// A cluster's n×m numbers, row-major, as its block of a matrix.
void writeBlock(const ClusterEntry& cluster, const std::vector<double>& block, MatrixOut& matrix) {
  for (int i = 0; i < cluster.velocities; ++i) {
    for (int j = 0; j < cluster.nv; ++j) {
      matrix(cluster.firstVelocity + i, cluster.firstV + j) = block[i * cluster.nv + j];
    }
  }
}

/// Whether loops act on nodes of flexible bodies, so that G depends on their modes.
bool bindsModes(const ModelImpl& model) {
  return std::ranges::any_of(model.tables.columns,
                             [](const LoopColumn& column) { return column.shape >= 0; });
}

/// Moves an implicit cluster along v; the result is in scratch.q.
void integrateCluster(const ModelImpl& model, const ClusterEntry& cluster, DataImpl<double>& data,
                      VectorIn v, double dt) {
  const ClusterState<double> state = placed(model, cluster, data);
  jacobianOf(model, cluster, state, data);
  double* tangent = data.velocities.data() + cluster.firstVelocity;
  spanRates(cluster, data, v, tangent);
  for (int i = 0; i < cluster.velocities; ++i) {
    tangent[i] *= dt;
  }
  followLoops(model, cluster, data, data.positions.data() + cluster.firstPosition, tangent,
              kContinuation);
}

}  // namespace

void project(const Model& model, Data& data, VectorIn q, VectorOut closed) {
  const ModelImpl& m = model.impl();
  DataImpl<double>& d = data.impl();
  requireData(m, d);
  requireConfiguration<double>("q", m, q);
  requireSize("closed", closed.size(), m.tables.nq, "model.nq");
  expandPositions(m, q.data(), d.positions.data());
  for (const ClusterEntry& cluster : m.tables.clusters) {
    const double* positions = d.positions.data() + cluster.firstPosition;
    if (cluster.kind == ClusterKind::Implicit) {
      projectCluster(m, cluster, d, positions);
      positions = d.loops.q.data();
    }
    contractPositions(m.tables, cluster, positions, d.q.data());
  }
  closed = Eigen::Map<const Eigen::VectorXd>(d.q.data(), m.tables.nq);
  if (!m.cuts.entries.empty()) {
    closeCuts(model, data, closed, closed);
  }
}

void integrate(const Model& model, Data& data, VectorIn q, VectorIn v, double dt,
               VectorOut result) {
  const ModelImpl& m = model.impl();
  DataImpl<double>& d = data.impl();
  requireData(m, d);
  requireConfiguration<double>("q", m, q);
  requireVector("v", v, m.tables.nv, "model.nv");
  requireSize("result", result.size(), m.tables.nq, "model.nq");
  if (!std::isfinite(dt)) {
    throw std::invalid_argument("dt is not finite");
  }
  expandPositions(m, q.data(), d.positions.data());
  for (const ClusterEntry& cluster : m.tables.clusters) {
    if (cluster.kind == ClusterKind::Explicit) {
      for (int j = 0; j < cluster.nv; ++j) {
        d.q[cluster.firstQ + j] = q[cluster.firstQ + j] + dt * v[cluster.firstV + j];
      }
      continue;
    }
    if (cluster.kind == ClusterKind::Implicit) {
      integrateCluster(m, cluster, d, v, dt);
    } else {
      for (int i = 0; i < cluster.nv; ++i) {
        d.loops.step[i] = dt * v[cluster.firstV + i];
      }
      retractCluster(m.tables, cluster, d.positions.data() + cluster.firstPosition,
                     d.loops.step.data(), d.loops.q.data());
    }
    contractPositions(m.tables, cluster, d.loops.q.data(), d.q.data());
  }
  result = Eigen::Map<const Eigen::VectorXd>(d.q.data(), m.tables.nq);
}

void difference(const Model& model, Data& data, VectorIn from, VectorIn to, VectorOut v) {
  const ModelImpl& m = model.impl();
  DataImpl<double>& d = data.impl();
  requireData(m, d);
  requireConfiguration<double>("from", m, from);
  requireConfiguration<double>("to", m, to);
  requireSize("v", v.size(), m.tables.nv, "model.nv");
  for (const ClusterEntry& cluster : m.tables.clusters) {
    if (cluster.kind == ClusterKind::Explicit) {
      v.segment(cluster.firstV, cluster.nv) =
          to.segment(cluster.firstQ, cluster.nq) - from.segment(cluster.firstQ, cluster.nq);
      continue;
    }
    differenceOfCluster(m.tables, cluster, from.data() + cluster.firstQ, to.data() + cluster.firstQ,
                        d.loops.step.data());
    const std::span<const int> independent = independentOf(m.tables, cluster);
    for (int j = 0; j < cluster.nv; ++j) {
      v[cluster.firstV + j] = d.loops.step[independent[j]];
    }
  }
}

void spanningPositions(const Model& model, Data& data, VectorIn q, VectorOut positions) {
  const ModelImpl& m = model.impl();
  requireData(m, data.impl());
  requireConfiguration<double>("q", m, q);
  requireSize("positions", positions.size(), m.tables.positions, "model.nqSpanning");
  expandPositions(m, q.data(), data.impl().positions.data());
  positions = Eigen::Map<const Eigen::VectorXd>(data.impl().positions.data(), m.tables.positions);
}

void spanning(const Model& model, Data& data, VectorIn q, VectorIn v, VectorOut positions,
              VectorOut velocities) {
  const ModelImpl& m = model.impl();
  DataImpl<double>& d = data.impl();
  requireVector("v", v, m.tables.nv, "model.nv");
  requireSize("velocities", velocities.size(), m.tables.velocities, "model.nvSpanning");
  spanningPositions(model, data, q, positions);
  for (const ClusterEntry& cluster : m.tables.clusters) {
    jacobianOf(m, cluster, placed(m, cluster, d), d);
    spanRates(cluster, d, v, d.velocities.data() + cluster.firstVelocity);
  }
  velocities = Eigen::Map<const Eigen::VectorXd>(d.velocities.data(), m.tables.velocities);
}

void constraintJacobian(const Model& model, Data& data, VectorIn q, MatrixOut G) {
  const ModelImpl& m = model.impl();
  DataImpl<double>& d = data.impl();
  requireData(m, d);
  requireConfiguration<double>("q", m, q);
  requireSize("G (rows)", G.rows(), m.tables.velocities, "model.nvSpanning");
  requireSize("G (columns)", G.cols(), m.tables.nv, "model.nv");
  expandPositions(m, q.data(), d.positions.data());
  G.setZero();
  for (const ClusterEntry& cluster : m.tables.clusters) {
    jacobianOf(m, cluster, placed(m, cluster, d), d);
    writeBlock(cluster, d.G, G);
  }
}

void constraintBias(const Model& model, Data& data, VectorIn q, VectorIn v, VectorOut g) {
  const ModelImpl& m = model.impl();
  DataImpl<double>& d = data.impl();
  requireData(m, d);
  requireConfiguration<double>("q", m, q);
  requireVector("v", v, m.tables.nv, "model.nv");
  requireSize("g", g.size(), m.tables.velocities, "model.nvSpanning");
  expandPositions(m, q.data(), d.positions.data());
  for (const ClusterEntry& cluster : m.tables.clusters) {
    ClusterState<double> state = placed(m, cluster, d);
    jacobianOf(m, cluster, state, d);
    spanRates(cluster, d, v, d.loops.rates.data());
    moveCluster(viewOf<double>(m), cluster, state);
    clusterBias(viewOf<double>(m), m.mechanism.functions, cluster, state, d.loops,
                d.velocities.data() + cluster.firstVelocity);
  }
  g = Eigen::Map<const Eigen::VectorXd>(d.velocities.data(), m.tables.velocities);
}

void constraintJacobianRate(const Model& model, Data& data, VectorIn q, VectorIn v,
                            MatrixOut rate) {
  const ModelImpl& m = model.impl();
  DataImpl<double>& d = data.impl();
  requireData(m, d);
  requireConfiguration<double>("q", m, q);
  requireVector("v", v, m.tables.nv, "model.nv");
  requireSize("rate (rows)", rate.rows(), m.tables.velocities, "model.nvSpanning");
  requireSize("rate (columns)", rate.cols(), m.tables.nv, "model.nv");
  if (bindsModes(m)) {
    requireExpressions(m);
    Evaluation<double> e(model, data);
    variedJacobianRate(e, q, v.data(), rate);
    return;
  }
  expandPositions(m, q.data(), d.positions.data());
  rate.setZero();
  for (const ClusterEntry& cluster : m.tables.clusters) {
    if (cluster.kind != ClusterKind::Implicit) {
      continue;  // G is constant
    }
    ClusterState<double> state = placed(m, cluster, d);
    jacobianOf(m, cluster, state, d);
    spanRates(cluster, d, v, d.loops.rates.data());
    moveCluster(viewOf<double>(m), cluster, state);
    rateDirections(viewOf<double>(m), cluster, state, d.loops.sRates.data());
    clusterJacobianRate(viewOf<double>(m), m.mechanism.functions, cluster, state, d.loops.work(),
                        d.loops.forFunctions(), d.loops.sRates.data(), d.G.data(),
                        d.loops.normal.data());
    writeBlock(cluster, d.loops.normal, rate);
  }
}

void loopResidual(const Model& model, Data& data, VectorIn q, VectorOut residual) {
  const ModelImpl& m = model.impl();
  DataImpl<double>& d = data.impl();
  requireData(m, d);
  requireConfiguration<double>("q", m, q);
  requireSize("residual", residual.size(), model.nLoopRows(), "model.nLoopRows");
  expandPositions(m, q.data(), d.positions.data());
  for (const ClusterEntry& cluster : m.tables.clusters) {
    ClusterState<double> state = d.loops.state(d.positions.data() + cluster.firstPosition);
    if (cluster.bodyLoops) {
      placeCluster(viewOf<double>(m), cluster, state);
    }
    loopValues(viewOf<double>(m), m.mechanism.functions, cluster, state, d.loops.forFunctions(),
               residual.data() + cluster.firstRow);
  }
  if (!m.cuts.entries.empty()) {
    cutResidual(model, data, q, residual.data() + m.tables.rows);
  }
}

}  // namespace kempe
