#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kempe/spatial/factorization.hpp"
#include "simulation/simulation.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

constexpr double kClassicNodes[] = {0, 0.5, 0.5, 1};
constexpr double kClassicA[] = {0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 1, 0};
constexpr double kClassicWeights[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
constexpr Tableau kClassic{4, kClassicNodes, kClassicA, kClassicWeights, nullptr};

// Dormand and Prince 1980, order 5 with an embedded method of order 4; the last stage is at the
// result.
constexpr double kPairNodes[] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
constexpr double kPairA[] = {
    // clang-format off
    0, 0, 0, 0, 0, 0, 0,
    1.0 / 5, 0, 0, 0, 0, 0, 0,
    3.0 / 40, 9.0 / 40, 0, 0, 0, 0, 0,
    44.0 / 45, -56.0 / 15, 32.0 / 9, 0, 0, 0, 0,
    19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729, 0, 0, 0,
    9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656, 0, 0,
    35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0,
    // clang-format on
};
constexpr double kPairWeights[] = {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784,
                                   11.0 / 84,  0};
constexpr double kPairErrors[] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                  -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
constexpr Tableau kPair{7, kPairNodes, kPairA, kPairWeights, kPairErrors};

/// Of implicit steps, relative to velocities (at least 1).
constexpr double kConverged = 1e-13;
constexpr double kAccepted = 1e-9;
constexpr int kIterations = 50;
/// Above this contraction per round, Newton's method is cheaper.
constexpr double kSlow = 0.3;

}  // namespace

double Simulation::attempt(double h) {
  next_.time = state_.time + h;
  switch (integratorInUse()) {
    case Integrator::SemiImplicitEuler:
      semiImplicitEuler(h);
      break;
    case Integrator::RungeKutta4:
      rungeKutta(kClassic, h);
      break;
    case Integrator::ImplicitMidpoint:
      implicitMidpoint(h);
      break;
    case Integrator::Adaptive:
      return rungeKutta(kPair, h);
    case Integrator::Radau:
      return radauStep(h);
    case Integrator::Auto:  // is one of the others at any time
      break;
  }
  evaluate(next_.time, next_.q, next_.v, *last_);
  if (options.integrator == Integrator::SemiImplicitEuler) {
    workByTrapezoids(h);
  }
  return 0.0;
}

/// v first, then q with the new v.
void Simulation::semiImplicitEuler(double h) {
  next_.v = state_.v + h * first_->a;
  y_ = h * next_.v;
  work().follow(state_.q, first_->G.data(), y_, next_.q);
}

void Simulation::workByTrapezoids(double h) {
  for (int i = 0; i < kFlows; ++i) {
    next_.work[i] = state_.work[i] + 0.5 * h * (first_->power[i] + last_->power[i]);
  }
  // tau is constant over the step, v is not.
  next_.work[kController] =
      state_.work[kController] + 0.5 * h * first_->tau.dot(first_->v + last_->v);
}

/// Stages at y_i = h Σ A_ij ẏ_j around the start (Munthe-Kaas 1999).
double Simulation::rungeKutta(const Tableau& tableau, double h) {
  slopes_[0] = state_.v;
  accelerations_[0] = first_->a;
  powers_[0] = first_->power;
  for (int i = 1; i < tableau.stages; ++i) {
    y_.setZero();
    stageV_ = state_.v;
    for (int j = 0; j < i; ++j) {
      const double weight = tableau.A[i * tableau.stages + j];
      if (weight != 0.0) {
        y_ += (weight * h) * slopes_[j];
        stageV_ += (weight * h) * accelerations_[j];
      }
    }
    if (tableau.errors != nullptr && i == tableau.stages - 2) {
      trial_ = y_;
      middle_ = stageV_;
    }
    work().follow(state_.q, first_->G.data(), y_, stageQ_);
    evaluate(state_.time + tableau.nodes[i] * h, stageQ_, stageV_, *last_);
    work().chartRates(state_.q, y_, stageQ_, stageV_, last_->velocities, slopes_[i]);
    accelerations_[i] = last_->a;
    powers_[i] = last_->power;
  }
  next_.work = state_.work;
  for (int i = 0; i < tableau.stages; ++i) {
    for (int flow = 0; flow < kFlows; ++flow) {
      next_.work[flow] += h * tableau.weights[i] * powers_[i][flow];
    }
  }
  if (tableau.errors != nullptr) {  // its last stage is the result
    next_.q = stageQ_;
    next_.v = stageV_;
    // Both last stages are at the end of the step, so that their difference shows the largest
    // eigenvalue of the motion (Hairer, Wanner II, (2.16)).
    const int one = tableau.stages - 2, other = tableau.stages - 1;
    const double change = (y_ - trial_).squaredNorm() + (stageV_ - middle_).squaredNorm();
    const double rate = (slopes_[other] - slopes_[one]).squaredNorm() +
                        (accelerations_[other] - accelerations_[one]).squaredNorm();
    stiffness_ = change > 0.0 ? h * std::sqrt(rate / change) : 0.0;
    return tolerated(h, tableau);
  }
  y_.setZero();
  next_.v = state_.v;
  for (int i = 0; i < tableau.stages; ++i) {
    y_ += (tableau.weights[i] * h) * slopes_[i];
    next_.v += (tableau.weights[i] * h) * accelerations_[i];
  }
  work().follow(state_.q, first_->G.data(), y_, next_.q);
  return 0.0;
}

/// Root mean square of the estimated errors relative to their tolerances.
double Simulation::tolerated(double h, const Tableau& tableau) const {
  const Tolerances allowed = tolerances();
  double sum = 0.0;
  for (Eigen::Index k = 0; k < state_.v.size(); ++k) {
    double position = 0.0, velocity = 0.0;
    for (int i = 0; i < tableau.stages; ++i) {
      position += h * tableau.errors[i] * slopes_[i][k];
      velocity += h * tableau.errors[i] * accelerations_[i][k];
    }
    const double size = std::max(std::abs(state_.v[k]), std::abs(next_.v[k]));
    position /= allowed.ofPosition();
    velocity /= allowed.ofVelocity(size);
    sum += position * position + velocity * velocity;
  }
  // Work too, as it can change where nothing else does: in an end stop that does not pull.
  for (int flow = 0; flow < kFlows; ++flow) {
    double work = 0.0;
    for (int i = 0; i < tableau.stages; ++i) {
      work += h * tableau.errors[i] * powers_[i][flow];
    }
    work /= allowed.ofWork(next_.work[flow]);
    sum += work * work;
  }
  return std::sqrt(sum / (2.0 * static_cast<double>(state_.v.size())));
}

/// The equations of motion in the chart around state_.
class Simulation::ChartAtState : public ChartMotion {
 public:
  explicit ChartAtState(Simulation& simulation) : of_(simulation) {}

  void rates(double t, VectorIn y, VectorIn v, VectorOut slope, VectorOut a,
             Power& power) override {
    of_.work().follow(of_.state_.q, of_.first_->G.data(), y, of_.stageQ_);
    of_.evaluate(t, of_.stageQ_, v, *of_.last_);
    of_.work().chartRates(of_.state_.q, y, of_.stageQ_, v, of_.last_->velocities, slope);
    a = of_.last_->a;
    power = of_.last_->power;
  }

 private:
  Simulation& of_;
};

double Simulation::radauStep(double h) {
  if (radauChoice_ != choice_) {
    radau_.forget();
    radauChoice_ = choice_;
  }
  ChartAtState chart(*this);
  const ChartStart start{state_.time, state_.v, first_->a, first_->power, state_.work};
  const double error = radau_.step(chart, start, h, tolerances());
  work().follow(state_.q, first_->G.data(), radau_.y(), next_.q);
  next_.v = state_.v + radau_.changeOfV();
  for (int i = 0; i < kFlows; ++i) {
    next_.work[i] = state_.work[i] + radau_.work()[i];
  }
  if (!(error > 1.0)) {
    evaluate(next_.time, next_.q, next_.v, *last_);
  }
  return error;
}

/// Rates at the middle of a step with the velocity `middle` there, into last_; the position is in
/// stageQ_.
void Simulation::midpointRates(double h, const Eigen::VectorXd& middle) {
  y_ = (0.5 * h) * middle;
  work().follow(state_.q, first_->G.data(), y_, stageQ_);
  evaluate(state_.time + 0.5 * h, stageQ_, middle, *last_);
}

/// With the velocity v_m and the position q_m at the middle,
///   v_m = v_0 + h/2 a(q_m, v_m),   q_m = q_0 ⊞ h/2 v_m,
///   v_1 = v_0 + h a(q_m, v_m),     q_1 = q_m ⊞ h/2 v_m.
/// The step back leads to the start again, so that energies of swinging robots stay bounded.
void Simulation::implicitMidpoint(double h) {
  middle_ = state_.v + (0.5 * h) * first_->a;
  double before = 0.0;
  bool converged = false;
  for (int round = 0; round < kIterations && !converged; ++round) {
    midpointRates(h, middle_);
    residual_ = state_.v + (0.5 * h) * last_->a - middle_;
    middle_ += residual_;
    const double change = residual_.cwiseAbs().maxCoeff();
    const double scale = std::max(1.0, middle_.cwiseAbs().maxCoeff());
    converged = change <= kConverged * scale;
    if (round > 0 && !converged && !(change < kSlow * before)) {
      converged = change <= kAccepted * scale && !(change < before);  // rounding
      if (!converged && newtonMidpoint(h)) {
        converged = true;
      }
      break;
    }
    before = change;
  }
  if (!converged) {
    throw NoSolution(h);
  }
  midpointRates(h, middle_);
  next_.v = state_.v + h * last_->a;
  y_ = (0.5 * h) * middle_;
  startQ_ = stageQ_;
  work().follow(startQ_, last_->G.data(), y_, next_.q);
  for (int i = 0; i < kFlows; ++i) {
    next_.work[i] = state_.work[i] + h * last_->power[i];
  }
}

/// Newton's method on r(v_m) = v_m − v_0 − h/2 a, with a Jacobian by differences; from the start
/// again where fixed-point iteration diverges. Corrections are halved until the next one, by the
/// same Jacobian, is smaller (natural monotonicity test: Deuflhard, Newton Methods for Nonlinear
/// Problems, section 3.3).
bool Simulation::newtonMidpoint(double h) {
  constexpr double kShortestCorrection = 1.0 / 1024;
  const auto n = static_cast<int>(state_.v.size());
  const auto residualAt = [&](const Eigen::VectorXd& middle, Eigen::VectorXd& result) {
    midpointRates(h, middle);
    result = middle - state_.v - (0.5 * h) * last_->a;
  };
  const auto differentiate = [&] {
    stageV_ = middle_;
    for (int j = 0; j < n; ++j) {
      const double step = 1e-7 * std::max(1.0, std::abs(middle_[j]));
      stageV_[j] = middle_[j] + step;
      residualAt(stageV_, trial_);
      stageV_[j] = middle_[j];
      for (int i = 0; i < n; ++i) {
        jacobian_[i * n + j] = (trial_[i] - residual_[i]) / step;
      }
    }
    return luFactor(jacobian_.data(), n, pivots_.data()) > 0.0;
  };
  Eigen::VectorXd &correction = slopes_[0], &following = slopes_[1];
  const auto correct = [&](Eigen::VectorXd& result) {
    result = residual_;
    luSolve(jacobian_.data(), n, pivots_.data(), result.data(), 1);
    return result.cwiseAbs().maxCoeff();
  };

  middle_ = state_.v;
  residualAt(middle_, residual_);
  bool current = false;  // the Jacobian is that at middle_
  bool outdated = true;
  double change = 0.0;
  for (int round = 0; round < kIterations; ++round) {
    ++effort().newtonIterations;
    if (outdated) {
      if (!differentiate()) {
        return false;
      }
      change = correct(correction);
      current = true;
      outdated = false;
    }
    const double scale = std::max(1.0, middle_.cwiseAbs().maxCoeff());
    double part = 1.0, next = 0.0;
    for (; part >= kShortestCorrection; part *= 0.5) {
      stageV_ = middle_ - part * correction;
      residualAt(stageV_, residual_);
      next = correct(following);
      if (next <= (1.0 - 0.5 * part) * change || next <= kConverged * scale) {
        break;
      }
      if (change <= kAccepted * scale) {  // rounding
        return true;
      }
    }
    if (part < kShortestCorrection) {
      if (current) {
        return false;
      }
      residualAt(middle_, residual_);
      outdated = true;
      continue;
    }
    middle_ = stageV_;
    if (next <= kConverged * scale) {
      middle_ -= following;
      return true;
    }
    std::swap(correction, following);
    outdated = next > kSlow * change;
    current = false;
    change = next;
  }
  return false;
}

}  // namespace kempe::detail
