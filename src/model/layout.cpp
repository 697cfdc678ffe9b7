#include "model/layout.hpp"

namespace kempe::detail {

void layOut(ModelImpl& model) {
  ModelTables<double>& tables = model.tables;
  tables.gravity = model.mechanism.gravity;
  tables.frictionSlipSpeed = model.mechanism.frictionSlipSpeed;
  tables.links = model.linkFrames;
  tables.armature.resize(static_cast<std::size_t>(tables.velocities));
  tables.damping.resize(static_cast<std::size_t>(tables.velocities));
  tables.friction.resize(static_cast<std::size_t>(tables.velocities));
  tables.stiffness.resize(static_cast<std::size_t>(tables.velocities));
  tables.springReference.resize(static_cast<std::size_t>(tables.velocities));
  for (ClusterEntry& cluster : tables.clusters) {
    cluster.firstRatio = tables.ratios;
    cluster.firstD = tables.dNumbers;
    tables.ratios += cluster.velocities * cluster.nv;
    tables.dNumbers += cluster.nv * cluster.nv;
    if (cluster.output != kWorld) {
      tables.bodies[cluster.output].carrier = true;
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      BodyEntry<double>& body = tables.bodies[b];
      body.firstS = tables.sColumns;
      tables.sColumns += cluster.nv;
      const Joint& joint = model.joint(b);
      for (int i = 0; i < velocitySize(body.type); ++i) {
        tables.armature[body.firstVelocity + i] = joint.armature;
        tables.damping[body.firstVelocity + i] = joint.damping;
        tables.friction[body.firstVelocity + i] = joint.friction;
        tables.stiffness[body.firstVelocity + i] = joint.stiffness;
        tables.springReference[body.firstVelocity + i] = joint.springReference;
      }
      cluster.armatured |= joint.armature != 0.0;
      cluster.dissipates |= joint.damping != 0.0 || joint.friction != 0.0;
      cluster.sprung |= joint.stiffness != 0.0;
      if (body.type == JointType::Free && body.parent == kWorld && tables.floatingBase < 0) {
        tables.floatingBase = b;
      }
    }
  }
}

}  // namespace kempe::detail
