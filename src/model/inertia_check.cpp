#include "model/inertia_check.hpp"

#include <Eigen/Core>

#include "loops/cluster_velocity.hpp"
#include "mechanism/text.hpp"

namespace kempe::detail {
namespace {

/// An articulated inertia below this fraction of the rigid one is rounding.
constexpr double kNothing = 1e-13;

using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;

Eigen::Matrix<double, 6, 1> vectorOf(const Motion<double>& m) {
  return (Eigen::Matrix<double, 6, 1>() << m.angular.x, m.angular.y, m.angular.z, m.linear.x,
          m.linear.y, m.linear.z)
      .finished();
}

Eigen::Matrix<double, 6, 6> matrixOf(const RigidInertia<double>& inertia) {
  Eigen::Matrix<double, 6, 6> dense;
  for (int j = 0; j < 6; ++j) {
    Motion<double> unit;
    unit[j] = 1.0;
    const Force<double> column = inertia * unit;
    for (int i = 0; i < 6; ++i) {
      dense(i, j) = column[i];
    }
  }
  return dense;
}

/// H = Σ Jᵀ I J over bodies, plus armatures, at the neutral position.
Eigen::MatrixXd massMatrixAtNeutral(const ModelImpl& model) {
  const ModelTables<double>& tables = model.tables;
  LoopScratch<double> scratch(tables);
  std::vector<Transform<double>> X(tables.bodies.size());
  std::vector<Jacobian> J(tables.bodies.size(), Jacobian::Zero(6, tables.nv));
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(tables.nv, tables.nv);
  for (const ClusterEntry& cluster : tables.clusters) {
    const int n = cluster.velocities, m = cluster.nv;
    std::vector<double> G(static_cast<std::size_t>(n * m));
    ClusterState<double> state =
        scratch.state(model.neutralPositions.data() + cluster.firstPosition);
    state.X = X.data() + cluster.firstBody;
    state.outputX = cluster.output == kWorld ? Transform<double>{} : X[cluster.output];
    placeCluster(tables, cluster, state);
    clusterJacobian(tables, model.mechanism.functions, cluster, state, scratch, G.data());
    for (int b = 0; b < cluster.bodies; ++b) {
      const int index = cluster.firstBody + b;
      const BodyEntry<double>& body = tables.bodies[index];
      if (body.parent != kWorld) {
        J[index] = J[body.parent];
      }
      for (int j = 0; j < velocitySize(body.type); ++j) {
        const int velocity = body.firstVelocity - cluster.firstVelocity + j;
        const Eigen::Map<const Eigen::RowVectorXd> ratios(G.data() + velocity * m, m);
        J[index].middleCols(cluster.firstV, m) += vectorOf(state.s[velocity]) * ratios;
        H.block(cluster.firstV, cluster.firstV, m, m) +=
            model.joint(index).armature * ratios.transpose() * ratios;
      }
      H += J[index].transpose() * matrixOf(X[index] * body.inertia) * J[index];
    }
  }
  return H;
}

}  // namespace

void checkThatFreedomsMoveInertia(const ModelImpl& model) {
  // Eliminating from the last DoF to the first leaves on the diagonal the inertia that each one
  // moves while those further out are free.
  Eigen::MatrixXd H = massMatrixAtNeutral(model);
  const Eigen::VectorXd rigid = H.diagonal();
  for (Eigen::Index i = H.rows() - 1; i >= 0; --i) {
    if (!(H(i, i) > kNothing * rigid[i])) {
      const std::string& name = model.vNames[static_cast<std::size_t>(i)];
      throw ModelError(model.mechanism.place() + "coordinate " + quoted(name) +
                       " moves no inertia, so that a force along it would accelerate it without "
                       "bound. Give the bodies that it moves a mass or an inertia, or fix the "
                       "joint.");
    }
    const Eigen::VectorXd column = H.col(i).head(i) / H(i, i);
    H.topLeftCorner(i, i) -= column * H.row(i).head(i);
  }
}

}  // namespace kempe::detail
