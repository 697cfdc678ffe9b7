#pragma once

#include <array>
#include <complex>
#include <stdexcept>

#include "kempe/types.hpp"
#include "simulation/forces.hpp"
#include "simulation/lu.hpp"
#include "simulation/tolerances.hpp"

namespace kempe::detail {

/// An implicit step that finds no solution; shorter ones may.
class NoSolution : public std::runtime_error {
 public:
  explicit NoSolution(double h);
};

/// Equations of motion in coordinates y around the start of a step, where y = 0 and ẏ = v.
class ChartMotion {
 public:
  ChartMotion() = default;
  ChartMotion(const ChartMotion&) = delete;
  ChartMotion& operator=(const ChartMotion&) = delete;
  virtual ~ChartMotion() = default;
  /// Computes ẏ, the accelerations v̇ and the power at (t, y, v).
  virtual void rates(double t, VectorIn y, VectorIn v, VectorOut slope, VectorOut a,
                     Power& power) = 0;
};

/// The start of a step.
struct ChartStart {
  double time = 0.0;
  const Eigen::Ref<const Eigen::VectorXd> v, a;
  const Power& power;
  const Power& work;
};

/// Radau IIA of order 5: collocation at three nodes, the last of which is the end of the step, so
/// that stiff motions are damped (Hairer, Wanner, Solving Ordinary Differential Equations II,
/// section IV.8; equations are numbered as there).
///
/// The Jacobian, its factors and the collocation polynomial of the last step are kept as hints for
/// the next: without them the result differs within the tolerances only.
class Radau {
 public:
  static constexpr int kStages = 3;
  static constexpr int kMostIterations = 8;  ///< of Newton's method
  using Stages = std::array<Eigen::VectorXd, kStages>;

  void resize(int nv);
  /// Drops all hints: the next step depends on its start only.
  void forget();

  /// One step of h seconds. Returns its error relative to the tolerances. Throws NoSolution if
  /// Newton's method does not converge.
  double step(ChartMotion& motion, const ChartStart& start, double h, const Tolerances& asked);

  // The end of the last step.
  [[nodiscard]] const Eigen::VectorXd& y() const { return y_[kStages - 1]; }
  [[nodiscard]] const Eigen::VectorXd& changeOfV() const { return v_[kStages - 1]; }
  [[nodiscard]] const Power& work() const { return work_; }

  /// Iterations of Newton's method in the last step.
  [[nodiscard]] int iterations() const { return iterations_; }
  // Since the construction.
  [[nodiscard]] long long allIterations() const { return allIterations_; }
  [[nodiscard]] long long jacobians() const { return jacobians_; }
  /// An estimate of the largest eigenvalue of the Jacobian that was used last, 1/s.
  [[nodiscard]] double spectralRadius();

 private:
  struct Pair {  // of positions and velocities
    Eigen::VectorXd y, v;
  };

  void differentiate(ChartMotion& motion, const ChartStart& start);
  bool factorAt(double h);
  [[nodiscard]] double noise() const;
  void guess(const ChartStart& start, double h, bool extrapolated);
  bool iterate(ChartMotion& motion, const ChartStart& start, double h);
  double errorOf(ChartMotion& motion, const ChartStart& start, double h);
  void stageRates(ChartMotion& motion, const ChartStart& start, double h);
  [[nodiscard]] double sizeOf(const Pair& errors) const;
  void setScales(const ChartStart& start, const Tolerances& asked);
  template <typename T, typename Vector>
  void solve(const Lu<T>& lu, T shift, Vector& y, Vector& v);

  int n_ = 0;
  Tolerances allowed_;
  double converged_ = 0.0;  // relative to allowed_
  Eigen::VectorXd scaleV_;  // tolerances of velocities

  // Z of (8.2): differences from the start at the nodes, and their rates.
  Stages y_, v_, slopes_, accelerations_;
  std::array<Power, kStages> powers_{};
  std::array<Pair, kStages> W_, F_;
  Eigen::VectorXcd complexY_, complexV_, complexWork_;
  Eigen::VectorXd stageV_, realWork_;
  Pair error_, trial_;
  Power work_{};
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
};

}  // namespace kempe::detail
