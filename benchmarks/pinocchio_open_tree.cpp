#include <memory>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/delassus.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "pinocchio_tree.hpp"

/// Pinocchio's algorithms for trees, each in the conventions that it offers.
namespace kempe::bench {
namespace {

struct OpenTree {
  explicit OpenTree(const PeerRobot& robot) : tree(robot) {
    for (const PeerState& state : robot.states) {
      q.emplace_back(mapOf(state.positions)(tree.position));
      v.emplace_back(mapOf(state.velocities)(tree.velocity));
      tau.emplace_back(mapOf(state.tau)(tree.velocity));
    }
    for (const std::string& end : robot.ends) {
      ends.push_back(tree.joint.at(end));
      contacts.emplace_back(pinocchio::CONTACT_6D, tree.model, tree.joint.at(end),
                            tree.placement.at(end), pinocchio::LOCAL);
      contactData.emplace_back(contacts.back());
      points.emplace_back(pinocchio::CONTACT_3D, tree.model, tree.joint.at(end),
                          tree.placement.at(end), pinocchio::LOCAL);
      pointData.emplace_back(points.back());
    }
    const auto rows = static_cast<Eigen::Index>(6 * ends.size());
    J.setZero(rows, tree.model.nv);
    JMinv.setZero(tree.model.nv, rows);
    Omega.setZero(rows, rows);
    end6.setZero(6, tree.model.nv);
    pinocchio::initPvDelassus(tree.model, tree.data, contacts);
  }

  [[nodiscard]] std::vector<double> back(const Eigen::VectorXd& x) const {
    Eigen::VectorXd result(tree.model.nv);
    result(tree.velocity) = x;
    return plain(result);
  }
  /// From the upper triangle of a symmetric matrix.
  [[nodiscard]] Eigen::MatrixXd symmetric(Eigen::MatrixXd upper) const {
    upper.triangularView<Eigen::StrictlyLower>() = upper.transpose();
    Eigen::MatrixXd result(tree.model.nv, tree.model.nv);
    result(tree.velocity, tree.velocity) = upper;
    return result;
  }
  [[nodiscard]] std::vector<double> massMatrix() const { return plain(symmetric(tree.data.M)); }

  /// Three matrices of derivatives, one after the other, of which the last is symmetric. It also
  /// gives the size of numbers: by q and v, those of a robot that nothing acts on along its joints
  /// and whose mass matrix is constant are all rounding.
  template <typename A, typename B, typename C>
  [[nodiscard]] std::vector<double> derivatives(const A& byQ, const B& byV, const C& upper) const {
    const int n = tree.model.nv;
    Eigen::MatrixXd all(n, 3 * n), own(n, n);
    own(tree.velocity, tree.velocity) = byQ;
    all.leftCols(n) = own;
    own(tree.velocity, tree.velocity) = byV;
    all.middleCols(n, n) = own;
    all.rightCols(n) = symmetric(upper);
    return plain(all);
  }

  PinocchioTree<> tree;
  std::vector<Eigen::VectorXd> q, v, tau;
  std::vector<pinocchio::JointIndex> ends;
  std::vector<pinocchio::RigidConstraintModel> contacts;
  std::vector<pinocchio::RigidConstraintData> contactData;
  /// Of the ends, held at their points.
  std::vector<pinocchio::RigidConstraintModel> points;
  std::vector<pinocchio::RigidConstraintData> pointData;
  pinocchio::ProximalSettings settings;
  Eigen::MatrixXd J, JMinv, Omega;
  Eigen::Matrix<double, 6, Eigen::Dynamic> end6;
};

/// J M⁻¹ Jᵀ through the Jacobians and the factor of M along the tree.
void omegaByCholesky(OpenTree& t, std::size_t i) {
  pinocchio::crba(t.tree.model, t.tree.data, t.q[i], pinocchio::Convention::WORLD);
  pinocchio::cholesky::decompose(t.tree.model, t.tree.data);
  for (std::size_t k = 0; k < t.ends.size(); ++k) {
    t.end6.setZero();
    pinocchio::getJointJacobian(t.tree.model, t.tree.data, t.ends[k], pinocchio::LOCAL, t.end6);
    t.J.middleRows<6>(static_cast<Eigen::Index>(6 * k)) = t.end6;
  }
  t.JMinv = t.J.transpose();
  pinocchio::cholesky::solve(t.tree.model, t.tree.data, t.JMinv);
  t.Omega.noalias() = t.J * t.JMinv;
}

}  // namespace

std::vector<PeerWay> pinocchioOpenTree(const PeerRobot& robot) {
  const auto shared = std::make_shared<OpenTree>(robot);
  std::vector<PeerWay> ways;
  const auto add = [&](const char* algorithm, const std::string& name, auto compute, auto result) {
    ways.push_back({.algorithm = algorithm,
                    .name = name,
                    .compute = [shared, compute](std::size_t i) { compute(*shared, i); },
                    .result = [shared, result] { return result(*shared); }});
  };
  for (const auto& [suffix, convention] : {std::pair{"local", pinocchio::Convention::LOCAL},
                                           std::pair{"world", pinocchio::Convention::WORLD}}) {
    add(
        "forward_dynamics", std::string("aba_") + suffix,
        [chosen = convention](OpenTree& t, std::size_t i) {
          pinocchio::aba(t.tree.model, t.tree.data, t.q[i], t.v[i], t.tau[i], chosen);
        },
        [](OpenTree& t) { return t.back(t.tree.data.ddq); });
    add(
        "mass_matrix", std::string("crba_") + suffix,
        [chosen = convention](OpenTree& t, std::size_t i) {
          pinocchio::crba(t.tree.model, t.tree.data, t.q[i], chosen);
        },
        [](OpenTree& t) { return t.massMatrix(); });
  }
  add(
      "inverse_dynamics", "rnea",
      [](OpenTree& t, std::size_t i) {
        pinocchio::rnea(t.tree.model, t.tree.data, t.q[i], t.v[i], t.tau[i]);
      },
      [](OpenTree& t) { return t.back(t.tree.data.tau); });
  add(
      "forward_dynamics_derivatives", "aba_derivatives",
      [](OpenTree& t, std::size_t i) {
        pinocchio::computeABADerivatives(t.tree.model, t.tree.data, t.q[i], t.v[i], t.tau[i]);
      },
      [](OpenTree& t) {
        return t.derivatives(t.tree.data.ddq_dq, t.tree.data.ddq_dv, t.tree.data.Minv);
      });
  add(
      "inverse_dynamics_derivatives", "rnea_derivatives",
      [](OpenTree& t, std::size_t i) {
        pinocchio::computeRNEADerivatives(t.tree.model, t.tree.data, t.q[i], t.v[i], t.tau[i]);
      },
      [](OpenTree& t) {
        return t.derivatives(t.tree.data.dtau_dq, t.tree.data.dtau_dv, t.tree.data.M);
      });
  if (!robot.ends.empty() && !robot.states.front().heldAcceleration.empty()) {
    const auto held = std::make_shared<OpenTree>(robot);  // whose data are for these constraints
    pinocchio::initConstraintDynamics(held->tree.model, held->tree.data, held->points,
                                      held->pointData);
    add(
        "constrained_dynamics", "constraint_dynamics",
        [held](OpenTree&, std::size_t i) {
          pinocchio::constraintDynamics(held->tree.model, held->tree.data, held->q[i], held->v[i],
                                        held->tau[i], held->points, held->pointData,
                                        held->settings);
        },
        [held](OpenTree&) { return held->back(held->tree.data.ddq); });
  }
  add("inverse_operational_inertia", "cholesky", omegaByCholesky,
      [](OpenTree& t) { return plain(t.Omega); });
  add(
      "inverse_operational_inertia", "delassus",
      [](OpenTree& t, std::size_t i) {
        pinocchio::computeDelassusMatrix(t.tree.model, t.tree.data, t.q[i], t.contacts,
                                         t.contactData, t.Omega);
      },
      [](OpenTree& t) { return plain(t.Omega.selfadjointView<Eigen::Upper>()); });
  return ways;
}

std::string pinocchioVersion() {
  return PINOCCHIO_VERSION
      ", compiled by "
#ifdef __clang__
      "clang " __clang_version__;
#else
      "GCC " __VERSION__;
#endif
}

}  // namespace kempe::bench
