#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "algorithms/named_coordinates.hpp"
#include "kempe/configuration.hpp"
#include "kempe/constraints.hpp"
#include "kempe/errors.hpp"
#include "loops/assembly.hpp"
#include "loops/decompositions.hpp"
#include "model/arguments.hpp"
#include "model/follow_loops.hpp"
#include "model/positions.hpp"
#include "text/messages.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// Directions that change the rows by less, relative to the largest, are motions that loops allow.
constexpr double kAllowed = 1e-10;

/// Steps over which curvatures of loops are taken, and named joints are moved to find a branch, in
/// radians or reaches.
constexpr double kCurvatureStep = 1e-3, kBranchStep = 0.02;

/// The two branches that meet at a change point, for velocities u + α d which loops allow to first
/// order. They stay closed to second order if, with the combination w of rows that K lacks,
///   w · (dK/dt) (u + α d) = 0,
/// a quadratic equation in α. Returns its roots; none if they are complex or d is no branch.
std::vector<double> branches(const Model& model, Data& data, const ClusterEntry& cluster,
                             const std::vector<double>& positions, const Eigen::MatrixXd& K,
                             const Eigen::VectorXd& u, const Eigen::VectorXd& d) {
  const ModelTables<double>& tables = model.impl().tables;
  const Eigen::VectorXd w = leftSingularVectors(K).U.col(cluster.kept - 1);
  const Eigen::Map<const Eigen::VectorXd> units(
      tables.velocityScales.data() + cluster.firstVelocity, cluster.velocities);
  const auto jacobianAt = [&](const Eigen::VectorXd& step) {
    const Eigen::VectorXd way = step.cwiseProduct(units);
    std::vector<double> moved = positions;
    retractCluster(tables, cluster, positions.data() + cluster.firstPosition, way.data(),
                   moved.data() + cluster.firstPosition);
    return scaledLoopJacobian(model, data, cluster, moved);
  };
  const auto curvature = [&](const Eigen::VectorXd& v) {
    const auto difference = [&](double h) {
      return w.dot((jacobianAt(h * v) - jacobianAt(-h * v)) * v) / (2.0 * h);
    };
    const double h = kCurvatureStep / v.cwiseAbs().maxCoeff();
    return (4.0 * difference(h) - difference(2.0 * h)) / 3.0;  // of order four (Richardson)
  };
  const double at = curvature(u), up = curvature(u + d), down = curvature(u - d);
  const double a = 0.5 * (up + down) - at, b = 0.5 * (up - down);
  const double size = std::abs(a) + std::abs(b) + std::abs(at);
  const double discriminant = b * b - 4.0 * a * at;
  if (!(size > kAllowed) || discriminant < 0.0) {
    return {};
  }
  if (std::abs(a) <= kAllowed * size) {
    return std::abs(b) <= kAllowed * size ? std::vector<double>{} : std::vector<double>{-at / b};
  }
  const double q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
  return {q / a, q == 0.0 ? 0.0 : at / q};
}

/// The velocity with which a cluster leaves `positions` if the named joints go on from the branch
/// that they are on when moved there from the neutral position, roughly; nothing if they do not pass
/// these positions.
std::optional<Eigen::VectorXd> velocityFromNeutral(const Model& model, Data& data,
                                                   const ClusterEntry& cluster,
                                                   const std::vector<double>& positions,
                                                   const NamedCoordinates& named) {
  const ModelImpl& m = model.impl();
  double fastest = 0.0;
  for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
    fastest = std::max(fastest, std::abs(named.values[i]) / m.tables.velocityScales[i]);
  }
  const double time = kBranchStep / fastest;
  NamedValues targets;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<double>& body = m.tables.bodies[b];
    for (int i = 0; hasScalarCoordinates(body.type) && i < velocitySize(body.type); ++i) {
      if (named.given[body.firstVelocity + i] != 0) {
        const int position = body.firstPosition + i;
        targets[m.positionNames[position]] = {positions[position] +
                                              time * named.values[body.firstVelocity + i]};
      }
    }
  }
  Eigen::VectorXd q(model.nq());
  try {
    configurationAt(model, data, targets, q);
  } catch (const AssemblyError&) {
    return std::nullopt;
  }
  std::vector<double> next(positions.size());
  expandPositions(m, q.data(), next.data());
  Eigen::VectorXd velocity(cluster.velocities);
  differenceOfCluster(m.tables, cluster, positions.data() + cluster.firstPosition,
                      next.data() + cluster.firstPosition, velocity.data());
  const Eigen::Map<const Eigen::VectorXd> units(
      m.tables.velocityScales.data() + cluster.firstVelocity, cluster.velocities);
  velocity = velocity.cwiseQuotient(units) / time;
  // Joints that move much faster than those named have jumped to another branch.
  constexpr double kFast = 20.0;
  if (!(velocity.cwiseAbs().maxCoeff() <= kFast * fastest)) {
    return std::nullopt;
  }
  return velocity;
}

/// Velocities of one cluster with loops, in the units of ModelTables::velocityScales.
///
/// Velocities that keep the loops closed are N y, with an orthonormal basis N of the null space of
/// K. Of all y for which E N y is nearest to the named velocities, the shortest gives the shortest
/// N y. At a change point, that on the branch to which the neutral position leads.
Eigen::VectorXd velocitiesOfCluster(const Model& model, Data& data, const ClusterEntry& cluster,
                                    const std::vector<double>& positions,
                                    const NamedCoordinates& named) {
  const ModelImpl& m = model.impl();
  const int n = cluster.velocities;
  const Eigen::Map<const Eigen::VectorXd> units(
      m.tables.velocityScales.data() + cluster.firstVelocity, n);
  const Eigen::MatrixXd K = scaledLoopJacobian(model, data, cluster, positions);
  const LeftSingularVectors decomposed = leftSingularVectors(K.transpose());
  const auto rank = std::ranges::count_if(
      decomposed.values, [&](double x) { return x > kAllowed * decomposed.values[0]; });
  if (rank == n) {
    return Eigen::VectorXd::Zero(n);  // a rigid structure
  }
  const Eigen::MatrixXd N = decomposed.U.rightCols(n - rank);

  std::vector<int> given;
  for (int i = 0; i < n; ++i) {
    if (named.given[cluster.firstVelocity + i] != 0) {
      given.push_back(i);
    }
  }
  const auto solveFor = [&](const std::vector<int>& rows) -> Eigen::VectorXd {
    Eigen::VectorXd wanted(static_cast<Eigen::Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      wanted[static_cast<Eigen::Index>(i)] =
          named.values[cluster.firstVelocity + rows[i]] / units[rows[i]];
    }
    const Eigen::MatrixXd all = N(rows, Eigen::all);
    // Relative to the columns of N, of length one: a joint at its dead point does not move.
    const Eigen::MatrixXd EN = (all.array().abs() > kAllowed).select(all, 0.0);
    const Eigen::VectorXd velocity = N * leastNormSolution(EN, wanted, kAllowed).x;
    const bool isChangePoint = n - rank == cluster.nv + 1 && rank == cluster.kept - 1;
    if (!isChangePoint || velocity.isZero(0.0)) {
      return velocity;
    }
    const LeftSingularVectors open = leftSingularVectors(EN.transpose());
    const auto fixed = std::ranges::count_if(open.values, [](double x) { return x > kAllowed; });
    if (fixed != cluster.nv) {
      return velocity;
    }
    const Eigen::VectorXd d = velocity.norm() * (N * open.U.col(cluster.nv));
    const std::vector<double> roots = branches(model, data, cluster, positions, K, velocity, d);
    if (roots.empty()) {
      return velocity;
    }
    const Eigen::VectorXd near =
        velocityFromNeutral(model, data, cluster, positions, named).value_or(velocity);
    const double best = *std::ranges::min_element(
        roots, {}, [&](double root) { return (velocity + root * d - near).norm(); });
    return velocity + best * d;
  };
  const std::span<const int> independent = independentOf(m.tables, cluster);
  if (areAmong(given, independent)) {
    // Independent joints that are not named are at rest if that is possible.
    const Eigen::VectorXd velocity = solveFor({independent.begin(), independent.end()});
    const bool met = std::ranges::all_of(independent, [&](int i) {
      const double wanted = named.values[cluster.firstVelocity + i] / units[i];
      return std::abs(velocity[i] - wanted) <= 1e-9 * std::max(1.0, std::abs(wanted));
    });
    if (met) {
      return velocity.cwiseProduct(units);
    }
  }
  return solveFor(given).cwiseProduct(units);
}

/// Changes v by an impulse so that loops that are cut stay closed, named velocities held.
void keepCutsClosed(const Model& model, Data& data, VectorIn q,
                    const std::vector<double>& positions, const NamedCoordinates& named,
                    VectorOut v) {
  const ModelImpl& m = model.impl();
  Constraints rates(model);
  for (int b = 0; b < static_cast<int>(m.tables.bodies.size()); ++b) {
    const BodyEntry<double>& body = m.tables.bodies[b];
    for (int i = 0; hasScalarCoordinates(body.type) && i < velocitySize(body.type); ++i) {
      if (named.given[body.firstVelocity + i] != 0) {
        const PrescribedMotion motion{positions[body.firstPosition + i],
                                      named.values[body.firstVelocity + i], 0.0};
        rates.prescribe(m.velocityNames[body.firstVelocity + i], {m.jointNames[b], i},
                        [motion](double) { return motion; });
      }
    }
  }
  Eigen::VectorXd impulses(rates.rows());
  projectVelocities(model, data, rates, 0.0, q, Eigen::VectorXd(v), v, impulses);
}

}  // namespace

void velocitiesAt(const Model& model, Data& data, VectorIn q, const NamedValues& named, VectorOut v,
                  VectorOut velocities) {
  const ModelImpl& m = model.impl();
  requireData(m, data.impl());
  requireConfiguration<double>("q", m, q);
  requireSize("v", v.size(), model.nv(), "model.nv");
  requireSize("velocities", velocities.size(), model.nvSpanning(), "model.nvSpanning");
  const NamedCoordinates given(
      m, named, NamedQuantity::Velocity,
      std::vector<double>(static_cast<std::size_t>(model.nvSpanning()), 0.0));
  std::vector<double> positions(static_cast<std::size_t>(m.tables.positions));
  expandPositions(m, q.data(), positions.data());
  Eigen::VectorXd all = Eigen::Map<const Eigen::VectorXd>(given.values.data(), model.nvSpanning());
  Eigen::VectorXd own(model.nv());
  for (const ClusterEntry& cluster : m.tables.clusters) {
    auto part = all.segment(cluster.firstVelocity, cluster.velocities);
    if (hasLoops(cluster) && !part.isZero(0.0)) {
      part = velocitiesOfCluster(model, data, cluster, positions, given);
    }
    const std::span<const int> independent = independentOf(m.tables, cluster);
    for (int i = 0; i < cluster.nv; ++i) {
      own[cluster.firstV + i] = part[independent[i]];
    }
  }
  if (!m.cuts.entries.empty() && !all.isZero(0.0)) {
    const Eigen::VectorXd here = q;
    keepCutsClosed(model, data, here, positions, given, own);
    Eigen::VectorXd unused(model.nqSpanning());
    spanning(model, data, here, own, unused, all);
  }
  for (int i = 0; i < model.nvSpanning(); ++i) {
    const double wanted = given.values[i];
    if (given.given[i] != 0 &&
        !(std::abs(all[i] - wanted) <=
          kNamedTolerance * std::max(m.tables.velocityScales[i], std::abs(wanted)))) {
      throw std::invalid_argument(
          "velocity of " + kempe::quoted(m.velocityNames[i]) + ": the loops do not allow " +
          shortNumber(wanted) + " here; the nearest velocity is " + shortNumber(all[i]) +
          ". Choose velocities that the loops allow, or name fewer joints.");
    }
  }
  v = own;
  velocities = all;
}

}  // namespace kempe
