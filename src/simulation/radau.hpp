#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <vector>

#include "simulation/lu.hpp"
#include "simulation/stepper.hpp"

namespace kempe::detail {

/// Radau IIA of order 5: collocation at three nodes, the last of which is the end of the step, so
/// that stiff motions are damped (Hairer, Wanner, Solving Ordinary Differential Equations II,
/// section IV.8; equations are numbered as there).
///
/// The Jacobian, its factors and the collocation polynomial of the last step are kept as hints for
/// the next: without them the result differs within the tolerances only.
class Radau : public Stepper {
 public:
  static constexpr int kStages = 3;
  static constexpr int kMostIterations = 8;  ///< of Newton's method
  using Stages = std::array<Eigen::VectorXd, kStages>;

  void resize(int nq, int nv) override;
  /// Drops all hints.
  void forget() override;
  double step(EquationsOfMotion& motion, const Step& step) override;
  /// Of the exact solution of its equations: step() solves them to the tolerances only.
  void linearize(EquationsOfMotion& motion, const Step& step, EquationDerivatives& derivatives,
                 StepDerivatives& result) override;

  /// Iterations of Newton's method in the last step.
  [[nodiscard]] int iterations() const { return iterations_; }
  [[nodiscard]] long long newtonIterations() const override { return allIterations_; }
  [[nodiscard]] long long jacobians() const override { return jacobians_; }
  /// An estimate of the largest eigenvalue of the Jacobian that was used last, 1/s.
  [[nodiscard]] double spectralRadius();

 private:
  struct Pair {  // of positions and velocities
    Eigen::VectorXd y, v;
  };

  /// Solves for the stages y_, v_. Returns the error.
  double solveStages(ChartMotion& motion, const Step& step);
  void differentiate(ChartMotion& motion, const Step& step);
  bool factorAt(double h);
  [[nodiscard]] double noise() const;
  void guess(const Step& step, bool extrapolated);
  bool iterate(ChartMotion& motion, const Step& step);
  double errorOf(ChartMotion& motion, const Step& step);
  void stageRates(ChartMotion& motion, const Step& step);
  [[nodiscard]] double sizeOf(const Pair& errors) const;
  void setScales(const Step& step);
  template <typename T, typename Vector>
  void solve(const Lu<T>& lu, T shift, Vector& y, Vector& v);

  int n_ = 0;
  std::size_t choice_ = 0;  // of coordinates, to which the hints refer
  Tolerances allowed_;
  double converged_ = 0.0;  // relative to allowed_
  Eigen::VectorXd scaleV_;  // tolerances of velocities

  // Z of (8.2): differences from the start at the nodes, and their rates.
  Stages y_, v_, slopes_, accelerations_;
  std::array<Power, kStages> powers_{};
  std::array<Pair, kStages> W_, F_;
  Eigen::VectorXcd complexY_, complexV_, complexWork_;
  Eigen::VectorXd stageV_, realWork_, stageQ_;
  Pair error_, trial_;
  int iterations_ = 0;
  long long allIterations_ = 0;

  // ∂(ẏ, v̇)/∂(y, v) = [C 1; Aq Av] at y = 0; M(s) = s² − s P + Q.
  Eigen::MatrixXd C_, Aq_, Av_, P_, Q_;
  Lu<double> real_;
  Lu<std::complex<double>> complex_;
  bool known_ = false;       // the Jacobian
  bool outdated_ = false;    // it should be computed again at the next start
  double factoredAt_ = 0.0;  // h of the factors, 0 if there are none
  double jacobianTime_ = 0.0;
  Eigen::VectorXd jacobianV_;
  long long jacobians_ = 0;

  // Hints of the last step that converged.
  double lastTime_ = 0.0, lastStep_ = 0.0;
  Stages lastY_, lastV_;

  // Of linearize(): the matrix of all stages and its right-hand sides, by rows.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix_, sides_;
  std::vector<int> pivots_;
  Eigen::MatrixXd ofQ_, ofStart_, columns_;
};

}  // namespace kempe::detail
