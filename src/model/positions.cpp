#include "model/positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kempe/errors.hpp"
#include "loops/cluster_velocity.hpp"
#include "loops/decompositions.hpp"
#include "loops/expand_cluster.hpp"
#include "model/arguments.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// "joint1 = 0.5, joint2 = 1.2": the independent positions of a cluster, a few of them.
std::string independentPositions(const ModelImpl& model, const ClusterEntry& cluster,
                                 const double* clusterPositions) {
  const int* independent = model.tables.independent.data() + cluster.firstIndependent;
  std::string text;
  int listed = 0;
  for (int b = 0; b < cluster.bodies && listed < 6; ++b) {
    const BodyEntry<double>& body = model.tables.bodies[cluster.firstBody + b];
    const int velocity = body.firstVelocity - cluster.firstVelocity;
    const int position = body.firstPosition - cluster.firstPosition;
    for (int i = 0; hasScalarCoordinates(body.type) && i < velocitySize(body.type); ++i) {
      if (std::find(independent, independent + cluster.nv, velocity + i) !=
          independent + cluster.nv) {
        text += (listed++ > 0 ? ", " : " at ") +
                model.velocityNames[cluster.firstVelocity + velocity + i] + " = " +
                shortNumber(clusterPositions[position + i]);
      }
    }
  }
  return text;
}

/// The loop that a row of the cluster belongs to.
const std::string& loopOfRow(const ModelImpl& model, const ClusterEntry& cluster, int row) {
  return model.rowNames[cluster.firstRow + row];
}

}  // namespace

void expandPositions(const ModelImpl& model, const double* q, double* positions) {
  const TablesView<double>& tables = viewOf<double>(model);
  for (const ClusterEntry& cluster : model.tables.clusters) {
    expandCluster(tables, cluster, q, positions);
  }
}

template <typename T>
void requireConfiguration(const char* name, const ModelImpl& model, VectorInOf<T> q) {
  requireVector(name, q, model.tables.nq, "model.nq");
  for (const QuaternionEntry& entry : model.quaternions) {
    const int first = entry.firstQ;
    if (!(q.template segment<4>(first).norm() > T(1e-6))) {
      throw std::invalid_argument(std::string(name) + ": the quaternion of joint " +
                                  kempe::quoted(model.jointNames[entry.body]) + " (entries " +
                                  std::to_string(first) + " to " + std::to_string(first + 3) +
                                  ") is zero");
    }
  }
}

template void requireConfiguration<double>(const char*, const ModelImpl&, VectorInOf<double>);
template void requireConfiguration<float>(const char*, const ModelImpl&, VectorInOf<float>);

void throwAssemblyError(const ModelImpl& model, const ClusterEntry& cluster,
                        const double* clusterPositions, double gap, int row) {
  const std::string& loop = loopOfRow(model, cluster, row);
  throw AssemblyError("loop " + kempe::quoted(loop) + " cannot be closed: it stays open by " +
                          shortNumber(gap) +
                          independentPositions(model, cluster, clusterPositions) +
                          ". Choose independent positions that the loop can reach, or start from "
                          "dependent positions nearer to closing it.",
                      loop, gap);
}

void throwSingularityError(const ModelImpl& model, const ClusterEntry& cluster,
                           const double* clusterPositions) {
  LoopScratch<double> scratch(model.tables);
  ClusterState<double> state = scratch.state(clusterPositions);
  placeCluster(model.tables, cluster, state);
  const int n = cluster.velocities, d = cluster.kept;
  loopJacobian(model.tables, model.mechanism.functions, cluster, state, scratch.forFunctions(),
               model.tables.rowSlots.data() + cluster.firstRow, d, scratch.K.data());
  Eigen::MatrixXd dependentK(d, d);
  for (int r = 0; r < d; ++r) {
    for (int j = 0; j < d; ++j) {
      dependentK(r, j) = scratch.K[r * n + model.tables.dependent[cluster.firstDependent + j]];
    }
  }
  const std::string& loop = loopOfRow(model, cluster, 0);
  if (!dependentK.allFinite()) {
    throw SingularityError("loop " + kempe::quoted(loop) + " is not defined" +
                               independentPositions(model, cluster, clusterPositions) +
                               ": its derivatives are not finite. Move away from there; if it is a "
                               "function, extend its domain.",
                           loop, std::numeric_limits<double>::infinity());
  }
  const Eigen::VectorXd values = singularValues(dependentK);
  const double smallest = values[d - 1];
  const double condition =
      smallest > 0.0 ? values[0] / smallest : std::numeric_limits<double>::infinity();
  throw SingularityError(
      "loop " + kempe::quoted(loop) + " is in a singular configuration (dead point)" +
          independentPositions(model, cluster, clusterPositions) +
          ": its dependent velocities are not determined, " +
          (std::isfinite(condition) ? "condition number " + shortNumber(condition)
                                    : std::string("K_d is exactly singular")) +
          ". Move away from it or mark other coordinates independent.",
      loop, condition);
}

namespace {

[[noreturn]] void throwIndefiniteCoordinate(const ModelImpl& model, const ClusterEntry& cluster,
                                            const std::string& coordinate) {
  std::vector<std::string> joints;
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    if (model.tables.bodies[b].type != JointType::Node) {  // these have no coordinates
      joints.push_back(model.jointNames[static_cast<std::size_t>(b)]);
    }
  }
  const std::string loop = cluster.loops > 0 ? loopOfRow(model, cluster, 0) : std::string();
  throw SingularityError(
      "coordinate " + kempe::quoted(coordinate) +
          (joints.size() > 1 ? " (cluster of joints " + joined(joints) + ")" : std::string()) +
          " moves no inertia in this configuration, so that its acceleration is not determined. "
          "Give the bodies that it moves mass and inertia, or its joint an armature, or move away "
          "from this configuration." +
          (model.tables.flexibles.empty()
               ? std::string()
               : std::string(" The inertia of flexible bodies holds for small deformations: reduce "
                             "modal coordinates that are large, or leave out high modes.")),
      loop, std::numeric_limits<double>::infinity());
}

}  // namespace

void throwIndefiniteError(const ModelImpl& model, int velocity) {
  const auto found = std::ranges::find_if(model.tables.clusters, [&](const ClusterEntry& cluster) {
    return velocity < cluster.firstV + cluster.nv;
  });
  throwIndefiniteCoordinate(model, *found, model.vNames[static_cast<std::size_t>(velocity)]);
}

void throwSpanningIndefiniteError(const ModelImpl& model, int spanningVelocity) {
  const auto found = std::ranges::find_if(model.tables.clusters, [&](const ClusterEntry& cluster) {
    return spanningVelocity < cluster.firstVelocity + cluster.velocities;
  });
  throwIndefiniteCoordinate(model, *found,
                            model.velocityNames[static_cast<std::size_t>(spanningVelocity)]);
}

void throwIllConditionedError(double error) {
  throw SingularityError(
      "the equations of motion are ill-conditioned in this configuration: " +
          (std::isfinite(error)
               ? "the relative error of the accelerations is about " + shortNumber(error)
               : std::string("they do not determine the accelerations")) +
          ". Use masses, inertias and lengths of similar magnitude, or move away from this "
          "configuration.",
      std::string(), error / std::numeric_limits<double>::epsilon());
}

void throwUndrivenError(const ModelImpl& model, const ClusterEntry& cluster,
                        const double* clusterPositions) {
  std::vector<std::string> rotors;
  rotors.reserve(static_cast<std::size_t>(cluster.drives));
  for (int i = 0; i < cluster.drives; ++i) {
    rotors.push_back(
        model.velocityNames[cluster.firstVelocity + model.tables.drives[cluster.firstDrive + i]]);
  }
  const std::string& loop = loopOfRow(model, cluster, 0);
  throw SingularityError("the rotors (" + joined(rotors) + ") of the cluster of loop " +
                             kempe::quoted(loop) + " cannot move it in this configuration" +
                             independentPositions(model, cluster, clusterPositions) +
                             ": no torques at them are equivalent to tau. Move away from it or "
                             "apply tau at the independent joints.",
                         loop, std::numeric_limits<double>::infinity());
}

}  // namespace kempe::detail
