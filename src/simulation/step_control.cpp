#include <algorithm>
#include <cmath>

#include "simulation/simulation.hpp"

namespace kempe::detail {
namespace {

constexpr double kShrink = 0.2, kGrow = 5.0, kSafety = 0.9;
/// Estimated errors are proportional to this power of the step: one more than the order of the
/// embedded method.
constexpr double kPairPower = 5.0, kRadauPower = 4.0;
/// A step of Radau IIA that could be longer by less than this keeps its length, and with it the
/// factors of its matrices.
constexpr double kSame = 1.2;
/// The first step changes the state by about this part of its size (Hairer, Nørsett, Wanner,
/// Solving Ordinary Differential Equations I, section II.4).
constexpr double kFirstChange = 0.01;

/// Integrator::Auto. The explicit pair is stable for h times an eigenvalue up to 1 on the imaginary
/// axis and up to kStableMost on the negative real one.
constexpr double kStable = 1.0, kStableMost = 3.3;
/// Above this, steps hint at stability as their limit: vibrations below the tolerances, which grow
/// slowly beyond the limit and are damped below it, keep h times the eigenvalue at 0.8 to 1 on
/// average. Steps that follow an oscillation at the default tolerances have 0.1 to 0.5.
constexpr double kHint = 0.6;
constexpr double kPairEvaluations = 6.0;
constexpr double kFading = 0.8;  // of the costs of earlier steps
constexpr int kPatience = 15;    // hints before the first change (Hairer, Wanner II, IV.2)
constexpr int kMostPatience = 4000;
/// The first step of Radau IIA is so many times longer than the explicit one: it then damps the
/// vibrations that limit this one, where steps of the same length would follow them.
constexpr double kLeap = 50.0;
constexpr int kTrial = 10;        // steps of Radau IIA, which prolongs them five times at most
constexpr int kUnsolved = 8;      // implicit steps without a solution, in a row
constexpr double kCheaper = 0.5;  // promised costs that a change back takes

}  // namespace

double Simulation::attempt(double h) {
  motion_.next.time = motion_.state.time + h;
  return integrators_.of(integratorInUse())
      .step(equations_,
            {motion_.state, *motion_.first, h, tolerances(), motion_.next, *motion_.last});
}

double Simulation::proposedStep(double interval) {
  interval_ = std::min(interval, options.maxStep);
  if (!(stepControl_.nextStep > 0.0)) {
    stepControl_.nextStep = firstStep(interval);
  }
  return stepControl_.nextStep;
}

void Simulation::forgetSteps() {
  stepControl_.nextStep = stepControl_.previousStep = stepControl_.previousError = 0.0;
  integrators_.radau.forget();
}

/// Hairer, Nørsett, Wanner I, II.4: with the sizes d0 of the state, d1 of its rates and d2 of their
/// rates, seen in a step of Euler's method, each relative to the tolerances,
///   h0 = 0.01 d0 / d1,   h1 = (0.01 / max(d1, d2))^(1/p),   h = min(100 h0, h1).
double Simulation::firstStep(double most) {
  const Tolerances allowed = tolerances();
  const auto size = [&](const Eigen::VectorXd& positions, const Eigen::VectorXd& velocities) {
    double sum = 0.0;
    for (Eigen::Index k = 0; k < positions.size(); ++k) {
      const double x = positions[k] / allowed.ofPosition();
      const double v = velocities[k] / allowed.ofVelocity(motion_.state.v[k]);
      sum += x * x + v * v;
    }
    return std::sqrt(sum / std::max(1.0, 2.0 * static_cast<double>(positions.size())));
  };
  y_.setOnes();
  stageV_ = motion_.state.v.cwiseAbs().cwiseMax(1.0);
  const double d0 = size(y_, stageV_);
  const double d1 = size(motion_.state.v, motion_.first->a);
  const double h0 = kFirstChange * d0 / d1;
  if (!(h0 < most)) {
    return most;
  }
  y_ = h0 * motion_.state.v;
  stageV_ = motion_.state.v + h0 * motion_.first->a;
  const Step step{motion_.state, *motion_.first, h0, allowed, motion_.next, *motion_.last};
  Power power{};
  try {
    ChartMotion(equations_, step, stageQ_)
        .rates(motion_.state.time + h0, y_, stageV_, slope_, stageA_, power);
  } catch (const SingularityError&) {
    return h0;
  } catch (const AssemblyError&) {
    return h0;
  }
  slope_ -= motion_.state.v;
  stageA_ -= motion_.first->a;
  const double d2 = size(slope_, stageA_) / h0;
  const double h1 = std::pow(kFirstChange / std::max(d1, d2), 1.0 / kPairPower);
  return std::min({100.0 * h0, h1, most});
}

double Simulation::shorterStep(double h, double error) const {
  const double power = integratorInUse() == Integrator::Radau ? kRadauPower : kPairPower;
  const double factor = kSafety * std::pow(error, -1.0 / power);
  return h * (factor > kShrink ? factor : kShrink);  // also if the error is not finite
}

void Simulation::acceptStep(double h, double proposed, double error) {
  const double now = std::max(error, 1e-10);
  const double past = stepControl_.previousError > 0.0 ? stepControl_.previousError : now;
  double factor = 0.0;
  if (integratorInUse() == Integrator::Radau) {
    // Predictive control (Gustafsson 1994; Hairer, Wanner II, (8.21), (8.25)): errors continue to
    // change as they did. Steps that needed many iterations are not prolonged as much.
    const double safety = kSafety * (2.0 * Radau::kMostIterations + 1.0) /
                          (2.0 * Radau::kMostIterations + integrators_.radau.iterations());
    const double plain = std::pow(now, -1.0 / kRadauPower);
    const double ratio = stepControl_.previousStep > 0.0 ? h / stepControl_.previousStep : 1.0;
    const double predicted = plain * ratio * std::pow(past / now, 1.0 / kRadauPower);
    factor = std::clamp(safety * std::min(plain, predicted), kShrink, kGrow);
    factor = factor > 1.0 && factor < kSame ? 1.0 : factor;
  } else {
    // PI control (Gustafsson 1991), which keeps step lengths from swinging.
    factor =
        std::clamp(kSafety * std::pow(now, -0.7 / kPairPower) * std::pow(past, 0.4 / kPairPower),
                   kShrink, kGrow);
  }
  // A step that was cut short tells little about longer ones.
  stepControl_.nextStep = h < proposed ? std::max(proposed, h * factor) : h * factor;
  stepControl_.previousStep = h;
  stepControl_.previousError = now;
  unsolved_ = 0;
  if (options.integrator == Integrator::Auto) {
    chooseMethod(h, h < proposed);
  }
}

/// The explicit pair is cheap where accuracy limits its steps. Where stability does, h times the
/// largest eigenvalue is above kHint, and Radau IIA is tried. What it costs is measured: if it is
/// not cheaper, or once the eigenvalues of its Jacobian promise that explicit steps are, the pair
/// returns. Every change back doubles the number of hints that the next one takes, so that the
/// methods do not alternate (after Petzold 1983, Automatic selection of methods for solving stiff
/// and nonstiff systems).
void Simulation::chooseMethod(double h, bool cut) {
  StepControl& control = stepControl_;
  const bool implicit = control.inUse == Integrator::Radau;
  const auto spent = static_cast<double>(effort().evaluations - evaluationsSoFar_);
  evaluationsSoFar_ = effort().evaluations;
  control.evaluations = kFading * control.evaluations + spent;
  control.seconds = kFading * control.seconds + h;
  control.patience = std::max(control.patience, kPatience);
  const double cost = control.evaluations / control.seconds;  // evaluations per second
  if (!implicit) {
    if (integrators_.pair.stiffness() > kHint) {
      ++control.hints;
    } else if (!cut) {
      control.hints = std::max(0, control.hints - 2);
    }
    // One step of Radau IIA per sample or of the longest that is allowed, with the Jacobian and two
    // iterations.
    const double least = (2.0 * static_cast<double>(motion_.state.v.size()) + 7.0) / interval_;
    if (control.hints >= control.patience && least < cost) {
      control.evaluationsBefore = cost;
      control.nextStep = std::min(std::max(control.nextStep, kLeap * h), interval_);
      changeMethod(Integrator::Radau);
    }
    return;
  }
  ++control.hints;
  const bool tried = control.hints == kTrial;
  const double radius = integrators_.radau.spectralRadius();
  const double promised = kPairEvaluations * radius / kStableMost;
  if ((tried && cost > control.evaluationsBefore) ||
      (control.hints > kTrial && promised < kCheaper * cost)) {
    control.patience = std::min(2 * control.patience, kMostPatience);
    if (radius * control.nextStep > kStable) {
      control.nextStep = kStable / radius;
    }
    changeMethod(Integrator::Adaptive);
  }
}

bool Simulation::leaveImplicitSteps() {
  if (options.integrator != Integrator::Auto || ++unsolved_ < kUnsolved) {
    return false;
  }
  stepControl_.patience = std::min(2 * stepControl_.patience, kMostPatience);
  changeMethod(Integrator::Adaptive);
  return true;
}

void Simulation::changeMethod(Integrator next) {
  unsolved_ = 0;
  stepControl_.inUse = next;
  stepControl_.hints = 0;
  stepControl_.evaluations = stepControl_.seconds = 0.0;
  stepControl_.previousStep = stepControl_.previousError = 0.0;
  evaluationsSoFar_ = effort().evaluations;
}

IntegratorStatistics Simulation::statistics(Integrator integrator) const {
  IntegratorStatistics sum;
  for (std::size_t i = 0; i < efforts_.size(); ++i) {
    if (integrator == Integrator::Auto || integrator == static_cast<Integrator>(i)) {
      sum.steps += efforts_[i].steps;
      sum.refusedSteps += efforts_[i].refusedSteps;
      sum.evaluations += efforts_[i].evaluations;
      const Stepper& stepper = integrators_.of(static_cast<Integrator>(i));
      sum.newtonIterations += stepper.newtonIterations();
      sum.jacobians += stepper.jacobians();
    }
  }
  return sum;
}

}  // namespace kempe::detail
