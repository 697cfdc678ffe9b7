#include "model/inertia_check.hpp"

#include <Eigen/Core>

#include "loops/cluster_velocity.hpp"
#include "loops/decompositions.hpp"
#include "text/messages.hpp"

/// The inertias that DoFs move while those further out are free, from the last DoF to the first.
/// Per cluster, which is seen from its output body, with the symbols of docs/maths.md:
///
///   U  = Σ IA_i S_i      D = Σ S_iᵀ IA_i S_i      X = D⁻¹ Uᵀ              (1)
///   Ia = Σ IA_i − U X                                                     (2)
///
/// and with the errors E of all this in units of rounding: those that come from further out pass
/// through the motion P_i that a body makes when its output body moves and its DoFs follow freely,
/// and those of (2) are of the order of its terms:
///
///   Ea = Σ P_iᵀ E_i P_i + Σ IA_i      P_i = 1 − S_i X                     (3)
namespace kempe::detail {
namespace {

/// An inertia below this multiple of its error in units of rounding is rounding.
constexpr double kNothing = 1e-13;

using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;

Eigen::Matrix<double, 6, 1> vectorOf(const Motion<double>& m) {
  return (Eigen::Matrix<double, 6, 1>() << m.angular.x, m.angular.y, m.angular.z, m.linear.x,
          m.linear.y, m.linear.z)
      .finished();
}

/// A linear map of motions to motions or forces.
template <typename Map>
Matrix6 matrixOf(const Map& map) {
  Matrix6 dense;
  for (int j = 0; j < 6; ++j) {
    Motion<double> unit;
    unit[j] = 1.0;
    const auto column = map * unit;
    for (int i = 0; i < 6; ++i) {
      dense(i, j) = column[i];
    }
  }
  return dense;
}

class InertiaCheck {
 public:
  explicit InertiaCheck(const ModelImpl& model)
      : model_(model), tables_(model.tables), scratch_(model.tables) {
    for (const BodyEntry<double>& body : tables_.bodies) {
      IA_.push_back(matrixOf(body.inertia));
    }
    E_ = IA_;
  }

  void run() {
    for (std::size_t c = tables_.clusters.size(); c-- > 0;) {
      condense(tables_.clusters[c]);
    }
  }

 private:
  void condense(const ClusterEntry& cluster) {
    const int n = cluster.velocities, m = cluster.nv;
    ClusterState<double> state =
        scratch_.state(model_.neutralPositions.data() + cluster.firstPosition);
    placeCluster(tables_, cluster, state);
    G_.resize(static_cast<std::size_t>(n * m));
    clusterJacobian(tables_, model_.mechanism.functions, cluster, state, scratch_, G_.data());

    std::vector<Jacobian> S(static_cast<std::size_t>(cluster.bodies), Jacobian::Zero(6, m));
    Jacobian U = Jacobian::Zero(6, m);
    Eigen::MatrixXd D = Eigen::MatrixXd::Zero(m, m);
    Eigen::VectorXd errors = Eigen::VectorXd::Zero(m);
    Matrix6 Ia = Matrix6::Zero();
    for (int b = 0; b < cluster.bodies; ++b) {
      const int index = cluster.firstBody + b;
      const BodyEntry<double>& body = tables_.bodies[index];
      if (body.parent != cluster.output) {
        S[b] = S[body.parent - cluster.firstBody];
      }
      for (int j = 0; j < velocitySize(body.type); ++j) {
        const int velocity = body.firstVelocity - cluster.firstVelocity + j;
        const Eigen::Map<const Eigen::RowVectorXd> ratios(G_.data() + velocity * m, m);
        S[b] += vectorOf(state.s[velocity]) * ratios;
        const Eigen::MatrixXd armature = model_.joint(index).armature * ratios.transpose() * ratios;
        D += armature;
        errors += armature.diagonal();
      }
      const Matrix6 toBody = matrixOf(state.X[b].inverse());
      IA_[index] = toBody.transpose() * IA_[index] * toBody;
      E_[index] = toBody.transpose() * E_[index] * toBody;
      const Jacobian IAS = IA_[index] * S[b];
      U += IAS;  // (1)
      D += S[b].transpose() * IAS;
      errors += (S[b].transpose() * E_[index] * S[b]).diagonal();
      Ia += IA_[index];
    }
    requireInertia(cluster, D, errors);
    if (cluster.output == kWorld) {
      return;
    }
    const Eigen::MatrixXd X = solved(D, U.transpose());
    E_[cluster.output] += Ia;
    for (int b = 0; b < cluster.bodies; ++b) {
      const Matrix6 P = Matrix6::Identity() - S[b] * X;
      E_[cluster.output] += P.transpose() * E_[cluster.firstBody + b] * P;  // (3)
    }
    Ia -= U * X;  // (2)
    IA_[cluster.output] += 0.5 * (Ia + Ia.transpose());
  }

  /// Eliminating from the last DoF of a cluster to its first leaves on the diagonal of D the inertia
  /// that each one moves.
  void requireInertia(const ClusterEntry& cluster, Eigen::MatrixXd D,
                      const Eigen::VectorXd& errors) const {
    for (Eigen::Index i = D.rows() - 1; i >= 0; --i) {
      // Where a function has no derivative in the neutral position nothing is known: the algorithms
      // refuse such positions.
      if (D(i, i) <= kNothing * errors[i]) {
        const std::string& name = model_.vNames[static_cast<std::size_t>(cluster.firstV + i)];
        throw ModelError(model_.mechanism.place() + "coordinate " + kempe::quoted(name) +
                         " moves no inertia, so that a force along it would accelerate it without "
                         "bound. Give the bodies that it moves a mass or an inertia, or fix the "
                         "joint.");
      }
      const Eigen::VectorXd column = D.col(i).head(i) / D(i, i);
      D.topLeftCorner(i, i) -= column * D.row(i).head(i);
    }
  }

  const ModelImpl& model_;
  const ModelTables<double>& tables_;
  LoopScratch<double> scratch_;
  std::vector<double> G_;
  std::vector<Matrix6> IA_, E_;  // per body, seen from it; then from its cluster's output body
};

}  // namespace

void checkThatFreedomsMoveInertia(const ModelImpl& model) {
  InertiaCheck(model).run();
}

}  // namespace kempe::detail
