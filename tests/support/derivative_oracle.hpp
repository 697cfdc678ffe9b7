#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>

#include "kempe/method.hpp"
#include "kempe/model.hpp"

namespace kempe::test {

/// Exact derivatives of inverse dynamics by a dense computation that shares no code with the library:
/// closing rows by homogeneous matrices, G and g by least squares over all of them at once, forces by
/// Newton and Euler about each body's centre of mass, all in numbers that carry derivatives. From the
/// library it takes the mechanism's description, the spanning positions and the order of coordinates.
class DerivativeOracle {
 public:
  explicit DerivativeOracle(const Model& model);
  ~DerivativeOracle();
  DerivativeOracle(const DerivativeOracle&) = delete;
  DerivativeOracle& operator=(const DerivativeOracle&) = delete;

  /// A direction of the state, that of q in the tangent: nv numbers each.
  struct Direction {
    Eigen::VectorXd q, v, a;
  };

  void set(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
           std::span<const FrameForce> external = {});

  /// tau = Gᵀ (H (G a + g) + h + resistance + springs − external)
  [[nodiscard]] Eigen::VectorXd tau() const;
  /// The derivative of tau along a direction.
  [[nodiscard]] Eigen::VectorXd along(const Direction& direction) const;
  /// The derivative of along(direction) while the state moves along `then`, where `direction` keeps its
  /// components.
  [[nodiscard]] Eigen::VectorXd along(const Direction& direction, const Direction& then) const;

  /// Derivatives with respect to q, v and a, the last of which are the mass matrix.
  struct Matrices {
    Eigen::MatrixXd byQ, byV, byA;
  };
  [[nodiscard]] Matrices derivatives() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace kempe::test
