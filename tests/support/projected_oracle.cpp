#include "support/projected_oracle.hpp"

#include <algorithm>
#include <cmath>

#include "kempe/configuration.hpp"
#include "support/decompositions.hpp"

namespace kempe::test {

ProjectedOracle::ProjectedOracle(const Model& model) : oracle(model), model_(model), data_(model) {}

void ProjectedOracle::set(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const int n = model_.nvSpanning(), m = model_.nv();
  positions.resize(model_.nqSpanning());
  spanningPositions(model_, data_, q, positions);
  std::vector<int> independent(static_cast<std::size_t>(m)), dependent;
  for (int i = 0; i < n; ++i) {
    const auto& names = model_.vNames();
    const auto found =
        std::ranges::find(names, model_.spanningVelocityNames()[static_cast<std::size_t>(i)]);
    if (found == names.end()) {
      dependent.push_back(i);
    } else {
      independent[static_cast<std::size_t>(found - names.begin())] = i;
    }
  }
  const Eigen::MatrixXd K = oracle.constraintRows(positions);
  const Eigen::MatrixXd Ki = K(Eigen::all, independent);
  G.setZero(n, m);
  for (int j = 0; j < m; ++j) {
    G(independent[static_cast<std::size_t>(j)], j) = 1.0;
  }
  const Eigen::MatrixXd Kd = K(Eigen::all, dependent);
  if (!dependent.empty()) {
    const Eigen::MatrixXd ratios = -leastNorm(Kd, Ki, 1e-9).X;
    G(dependent, Eigen::all) = ratios;
  }
  rates = G * v;
  g.setZero(n);
  if (!dependent.empty()) {
    const Eigen::VectorXd bias = leastNorm(Kd, oracle.constraintBias(positions, rates), 1e-9).X;
    g(dependent) = bias;
  }
  H = oracle.massMatrix(positions);
  h = oracle.biasForces(positions, rates);
  springs = oracle.springForces(positions);
  resistance.setZero(n);
  for (const std::string& name : model_.jointNames()) {
    const Joint& joint = *model_.mechanism().findJoint(name);
    for (int i = 0; i < velocitySize(joint.type); ++i) {
      const int at = model_.jointVelocityIndex(name) + i;
      const double rate = rates[at];
      const double slip = model_.mechanism().frictionSlipSpeed;
      const double direction =
          slip > 0 ? std::tanh(rate / slip) : (rate > 0 ? 1.0 : (rate < 0 ? -1.0 : 0.0));
      resistance[at] = joint.damping * rate + joint.friction * direction;
    }
  }
}

Eigen::MatrixXd ProjectedOracle::jacobian(const std::string& body,
                                          const Eigen::Vector3d& point) const {
  const Oracle::Motion m = oracle.motion(body, point, positions, rates);
  Eigen::MatrixXd J(6, G.cols());
  J << m.linear * G, m.angular * G;
  return J;
}

Eigen::VectorXd ProjectedOracle::jacobianRate(const std::string& body,
                                              const Eigen::Vector3d& point) const {
  const Oracle::Motion m = oracle.motion(body, point, positions, rates);
  Eigen::VectorXd rate(6);
  rate << m.acceleration + m.linear * g, m.angularAcceleration + m.angular * g;
  return rate;
}

}  // namespace kempe::test
