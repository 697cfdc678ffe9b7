#include "model/drives.hpp"

#include <Eigen/Dense>

#include "loops/cluster_velocity.hpp"
#include "model/fold_rotors.hpp"

namespace kempe::detail {
namespace {

/// Rotors whose rows of G are worse conditioned drive nothing.
constexpr double kWorstConditioning = 1e-6;

/// G of a cluster at the neutral configuration.
Eigen::MatrixXd neutralRatios(const ModelImpl& model, const ClusterEntry& cluster,
                              LoopScratch<double>& scratch) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor G(cluster.velocities, cluster.nv);
  ClusterState<double> state = scratch.state(&model.neutralPositions[cluster.firstPosition]);
  placeCluster(model.tables, cluster, state);
  clusterJacobian(model.tables, model.mechanism.functions, cluster, state, scratch, G.data());
  return G;
}

}  // namespace

void findDrives(ModelImpl& model) {
  ModelTables<double>& tables = model.tables;
  LoopScratch<double> scratch(tables);
  for (ClusterEntry& cluster : tables.clusters) {
    cluster.firstDrive = static_cast<int>(tables.drives.size());
    if (cluster.kind == ClusterKind::Tree) {
      continue;
    }
    std::vector<int> rotors;
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<double>& body = tables.bodies[b];
      const bool hasInertia = body.own.mass > 0.0 || body.own.rotation.zz > 0.0;
      if (hasInertia && isRotor(tables, b)) {
        rotors.push_back(body.firstVelocity - cluster.firstVelocity);
      }
    }
    if (rotors.empty() || static_cast<int>(rotors.size()) != cluster.nv) {
      continue;
    }
    const Eigen::MatrixXd own = neutralRatios(model, cluster, scratch)(rotors, Eigen::all);
    const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(own).singularValues();
    if (values.minCoeff() > kWorstConditioning * values.maxCoeff()) {
      cluster.drives = cluster.nv;
      tables.drives.insert(tables.drives.end(), rotors.begin(), rotors.end());
    }
  }
}

}  // namespace kempe::detail
