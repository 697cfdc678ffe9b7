#include "simulation/step_controller.hpp"

#include <algorithm>
#include <cmath>

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

/// Integrator::Auto. The explicit pair is stable for h times an eigenvalue up to kStable on the
/// imaginary axis and up to this on the negative real one.
constexpr double kStableMost = 3.3;
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

void StepController::resize(const Model& model) {
  integrators_.resize(model.nq(), model.nv());
  for (Eigen::VectorXd* each : {&v_, &a_, &y_, &slope_}) {
    each->setZero(model.nv());
  }
  q_ = model.neutral();
}

double StepController::attempt(double h) {
  motion_.next.time = motion_.state.time + h;
  return integrators_.of(inUse()).step(
      equations_, {motion_.state, *motion_.first, h, tolerances(), motion_.next, *motion_.last});
}

void StepController::linearize(double h, EquationDerivatives& derivatives,
                               StepDerivatives& result) {
  motion_.next.time = motion_.state.time + h;
  const Step step{motion_.state, *motion_.first, h, tolerances(), motion_.next, *motion_.last};
  integrators_.radau.forget();
  integrators_.of(inUse()).linearize(equations_, step, derivatives, result);
  integrators_.radau.forget();
}

void StepController::setMemory(const StepControl& memory) {
  settle();
  memory_ = memory;
}

void StepController::restore(const StepControl& memory) {
  setMemory(memory);
  if (asked_ != Integrator::Auto) {
    memory_.inUse = asked_;
  } else if (!controlsError()) {  // a snapshot of another integrator
    memory_.inUse = Integrator::Adaptive;
  }
}

void StepController::restart() {
  setMemory({.inUse = asked_ == Integrator::Auto ? Integrator::Adaptive : asked_});
}

void StepController::startInterval() {
  integrators_.radau.forget();
  unsolved_ = 0;
  evaluationsSoFar_ = effort().evaluations;
}

StepController::Instead::Instead(StepController& controller, Integrator other)
    : of_(controller), asked_(controller.asked_) {
  of_.settle();
  of_.asked_ = other;
  of_.memory_ = {};
}

StepController::Instead::~Instead() {
  of_.settle();
  of_.asked_ = asked_;
}

void StepController::settle() {
  efforts_[static_cast<std::size_t>(inUse())].evaluations += equations_.evaluations() - settled_;
  settled_ = equations_.evaluations();
}

double StepController::proposedStep(double interval) {
  interval_ = std::min(interval, options_.maxStep);
  if (!(memory_.nextStep > 0.0)) {
    memory_.nextStep = firstStep(interval);
  }
  return memory_.nextStep;
}

void StepController::forgetSteps() {
  memory_.nextStep = memory_.previousStep = memory_.previousError = 0.0;
  integrators_.radau.forget();
}

/// Hairer, Nørsett, Wanner I, II.4: with the sizes d0 of the state, d1 of its rates and d2 of their
/// rates, seen in a step of Euler's method, each relative to the tolerances,
///   h0 = 0.01 d0 / d1,   h1 = (0.01 / max(d1, d2))^(1/p),   h = min(100 h0, h1).
double StepController::firstStep(double most) {
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
  v_ = motion_.state.v.cwiseAbs().cwiseMax(1.0);
  const double d0 = size(y_, v_);
  const double d1 = size(motion_.state.v, motion_.first->a);
  const double h0 = kFirstChange * d0 / d1;
  if (!(h0 < most)) {
    return most;
  }
  y_ = h0 * motion_.state.v;
  v_ = motion_.state.v + h0 * motion_.first->a;
  const Step step{motion_.state, *motion_.first, h0, allowed, motion_.next, *motion_.last};
  Power power{};
  try {
    ChartMotion(equations_, step, q_).rates(motion_.state.time + h0, y_, v_, slope_, a_, power);
  } catch (const SingularityError&) {
    return h0;
  } catch (const AssemblyError&) {
    return h0;
  }
  slope_ -= motion_.state.v;
  a_ -= motion_.first->a;
  const double d2 = size(slope_, a_) / h0;
  const double h1 = std::pow(kFirstChange / std::max(d1, d2), 1.0 / kPairPower);
  return std::min({100.0 * h0, h1, most});
}

double StepController::shorterStep(double h, double error) const {
  const double power = inUse() == Integrator::Radau ? kRadauPower : kPairPower;
  const double factor = kSafety * std::pow(error, -1.0 / power);
  return h * (factor > kShrink ? factor : kShrink);  // also if the error is not finite
}

double StepController::acceptStep(double h, double proposed, double error) {
  const double now = std::max(error, 1e-10);
  const double past = memory_.previousError > 0.0 ? memory_.previousError : now;
  double factor = 0.0;
  if (inUse() == Integrator::Radau) {
    // Predictive control (Gustafsson 1994; Hairer, Wanner II, (8.21), (8.25)): errors continue to
    // change as they did. Steps that needed many iterations are not prolonged as much.
    const double safety = kSafety * (2.0 * Radau::kMostIterations + 1.0) /
                          (2.0 * Radau::kMostIterations + integrators_.radau.iterations());
    const double plain = std::pow(now, -1.0 / kRadauPower);
    const double ratio = memory_.previousStep > 0.0 ? h / memory_.previousStep : 1.0;
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
  memory_.nextStep = h < proposed ? std::max(proposed, h * factor) : h * factor;
  memory_.previousStep = h;
  memory_.previousError = now;
  unsolved_ = 0;
  if (asked_ == Integrator::Auto) {
    chooseMethod(h, h < proposed);
  }
  return memory_.nextStep;
}

/// The explicit pair is cheap where accuracy limits its steps. Where stability does, h times the
/// largest eigenvalue is above kHint, and Radau IIA is tried. What it costs is measured: if it is
/// not cheaper, or once the eigenvalues of its Jacobian promise that explicit steps are, the pair
/// returns. Every change back doubles the number of hints that the next one takes, so that the
/// methods do not alternate (after Petzold 1983, Automatic selection of methods for solving stiff
/// and nonstiff systems).
void StepController::chooseMethod(double h, bool cut) {
  StepControl& control = memory_;
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

bool StepController::leaveImplicitSteps() {
  if (asked_ != Integrator::Auto || ++unsolved_ < kUnsolved) {
    return false;
  }
  memory_.patience = std::min(2 * memory_.patience, kMostPatience);
  changeMethod(Integrator::Adaptive);
  return true;
}

void StepController::changeMethod(Integrator next) {
  settle();
  unsolved_ = 0;
  memory_.inUse = next;
  memory_.hints = 0;
  memory_.evaluations = memory_.seconds = 0.0;
  memory_.previousStep = memory_.previousError = 0.0;
  evaluationsSoFar_ = effort().evaluations;
}

IntegratorStatistics StepController::statistics(Integrator integrator) const {
  IntegratorStatistics sum;
  for (std::size_t i = 0; i < efforts_.size(); ++i) {
    if (integrator == Integrator::Auto || integrator == static_cast<Integrator>(i)) {
      sum.steps += efforts_[i].steps;
      sum.refusedSteps += efforts_[i].refusedSteps;
      sum.evaluations += efforts_[i].evaluations;
      if (static_cast<Integrator>(i) == inUse()) {
        sum.evaluations += equations_.evaluations() - settled_;
      }
      const Stepper& stepper = integrators_.of(static_cast<Integrator>(i));
      sum.newtonIterations += stepper.newtonIterations();
      sum.jacobians += stepper.jacobians();
    }
  }
  return sum;
}

}  // namespace kempe::detail
