#include "model/rotors.hpp"

#include "loops/cluster_velocity.hpp"
#include "loops/decompositions.hpp"
#include "model/fold_rotors.hpp"

namespace kempe::detail {
namespace {

/// Rotors slower than this fraction of the fastest joint cannot drive a cluster.
constexpr double kSlowest = 1e-6;

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
  tables.drives.clear();
  for (ClusterEntry& cluster : tables.clusters) {
    cluster.firstDrive = static_cast<int>(tables.drives.size());
    cluster.drives = 0;
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
    const Eigen::MatrixXd G = neutralRatios(model, cluster, scratch), own = G(rotors, Eigen::all);
    const Eigen::VectorXd values = singularValues(own);
    if (values.minCoeff() > kSlowest * G.cwiseAbs().maxCoeff()) {
      cluster.drives = cluster.nv;
      tables.drives.insert(tables.drives.end(), rotors.begin(), rotors.end());
    }
  }
}

void listRotors(ModelTables<double>& tables) {
  tables.rotors.clear();
  for (std::size_t b = 0; b < tables.bodies.size(); ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    if (!body.folded || body.node >= 0 || body.type == JointType::Mode) {
      continue;
    }
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    const CentralInertia<double> central = CentralInertia<double>::fromRigid(body.own);
    RotorEntry<double> rotor;
    rotor.body = static_cast<int>(b);
    rotor.parent = body.parent;
    rotor.velocity = body.firstVelocity;
    rotor.firstV = cluster.firstV;
    rotor.implicit = cluster.kind == ClusterKind::Implicit;
    if (cluster.kind == ClusterKind::Explicit) {
      rotor.ratios = cluster.nv;
      rotor.firstRatio = cluster.firstG + (body.firstVelocity - cluster.firstVelocity) * cluster.nv;
    }
    rotor.axis = body.placement.R.column(2);
    rotor.offset = central.center.z;
    rotor.center = body.placement.p + rotor.offset * rotor.axis;
    rotor.mass = central.mass;
    rotor.along = central.rotation.zz;
    rotor.across = central.rotation.xx;
    tables.rotors.push_back(rotor);
  }
}

}  // namespace kempe::detail
