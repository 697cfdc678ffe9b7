#pragma once

#include <Eigen/Core>
#include <random>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"

// Linear models of steps, and steps from states that are moved along random directions.

namespace kempe::test {

struct LinearStep {
  Eigen::MatrixXd A, B;
};

inline LinearStep linearStepOf(const Simulator& simulator, double dt) {
  const int n = simulator.model().nv();
  LinearStep result{poisoned(2 * n, 2 * n), poisoned(2 * n, n)};
  simulator.linearize(dt, result.A, result.B);
  return result;
}

/// Random directions of positions, velocities and forces; `step(x)` is the end of the step from a
/// state moved by x along them, relative to that from the state itself.
class StepFromMovedState {
 public:
  StepFromMovedState(Simulator& simulator, double dt, unsigned seed)
      : simulator_(simulator), model_(simulator.model()), data_(model_), dt_(dt), engine_(seed) {}
  virtual ~StepFromMovedState() = default;
  StepFromMovedState(const StepFromMovedState&) = delete;
  StepFromMovedState& operator=(const StepFromMovedState&) = delete;

  /// Takes other directions.
  void turn() {
    alongQ_ = random();
    alongV_ = random();
    alongTau_ = random();
  }
  /// Puts the simulator into the state moved by x.
  virtual void moveStart(double x) = 0;

  Eigen::VectorXd step(double x) {
    const End end = ended(x);
    Eigen::VectorXd result(2 * model_.nv()), way(model_.nv());
    difference(model_, data_, end_.q, end.q, way);
    result << way, end.v - end_.v;
    return result;
  }
  [[nodiscard]] Eigen::VectorXd alongDirection(const LinearStep& of) const {
    Eigen::VectorXd x(2 * model_.nv());
    x << alongQ_, alongV_;
    return of.A * x + of.B * alongTau_;
  }

 protected:
  struct End {
    Eigen::VectorXd q, v;
  };
  /// Of the step from the state itself: to be called once it is known.
  void rememberEnd() {
    turn();
    end_ = ended(0.0);
  }
  Eigen::VectorXd random() {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    return Eigen::VectorXd::NullaryExpr(model_.nv(), [&] { return uniform(engine_); });
  }
  End ended(double x) {
    moveStart(x);
    const long long before = simulator_.statistics().steps;
    simulator_.step(dt_);
    EXPECT_EQ(simulator_.statistics().steps, before + 1) << "the step was divided";
    return {simulator_.q(), simulator_.v()};
  }

  Simulator& simulator_;
  const Model& model_;
  Data data_;
  double dt_;
  std::mt19937_64 engine_;
  Eigen::VectorXd tau_, alongQ_, alongV_, alongTau_;

 private:
  End end_;
};

}  // namespace kempe::test
