#include "simulation/implicit_midpoint.hpp"

#include <algorithm>
#include <cmath>

#include "kempe/spatial/factorization.hpp"

namespace kempe::detail {
namespace {

/// Relative to velocities (at least 1).
constexpr double kConverged = 1e-13;
constexpr double kAccepted = 1e-9;
constexpr int kIterations = 50;
/// Above this contraction per round, Newton's method is cheaper.
constexpr double kSlow = 0.3;

}  // namespace

void ImplicitMidpoint::resize(int nq, int nv) {
  const auto clear = [&](auto&... vectors) { (vectors.setZero(nv), ...); };
  clear(middle_, residual_, y_, trialV_, trial_, correction_, following_);
  q_.setZero(nq);
  startQ_.setZero(nq);
  const auto n = static_cast<std::size_t>(nv);
  jacobian_.resize(n * n);
  pivots_.resize(n);
}

void ImplicitMidpoint::ratesAt(EquationsOfMotion& motion, const Step& step,
                               const Eigen::VectorXd& middle) {
  y_ = (0.5 * step.h) * middle;
  motion.follow(step.start.q, step.first.G.data(), y_, q_);
  motion.evaluate(step.start.time + 0.5 * step.h, q_, middle, step.last);
}

/// Fixed-point iteration, or Newton's method where that is slow.
bool ImplicitMidpoint::solve(EquationsOfMotion& motion, const Step& step) {
  middle_ = step.start.v + (0.5 * step.h) * step.first.a;
  double before = 0.0;
  for (int round = 0; round < kIterations; ++round) {
    ratesAt(motion, step, middle_);
    residual_ = step.start.v + (0.5 * step.h) * step.last.a - middle_;
    middle_ += residual_;
    const double change = residual_.cwiseAbs().maxCoeff();
    const double scale = std::max(1.0, middle_.cwiseAbs().maxCoeff());
    if (change <= kConverged * scale) {
      return true;
    }
    if (round > 0 && !(change < kSlow * before)) {
      const bool rounding = change <= kAccepted * scale && !(change < before);
      return rounding || solveByNewton(motion, step);
    }
    before = change;
  }
  return false;
}

double ImplicitMidpoint::step(EquationsOfMotion& motion, const Step& step) {
  const auto& [start, first, h, tolerances, end, last] = step;
  if (!solve(motion, step)) {
    throw NoSolution(h);
  }
  ratesAt(motion, step, middle_);
  end.v = start.v + h * last.a;
  y_ = (0.5 * h) * middle_;
  startQ_ = q_;
  motion.follow(startQ_, last.G.data(), y_, end.q);
  for (int i = 0; i < kFlows; ++i) {
    end.work[i] = start.work[i] + h * last.power[i];
  }
  motion.evaluate(end.time, end.q, end.v, last);
  return 0.0;
}

/// Newton's method on r(v_m) = v_m − v_0 − h/2 a, with a Jacobian by differences; from the start
/// again where fixed-point iteration diverges. Corrections are halved until the next one, by the
/// same Jacobian, is smaller (natural monotonicity test: Deuflhard, Newton Methods for Nonlinear
/// Problems, section 3.3).
bool ImplicitMidpoint::solveByNewton(EquationsOfMotion& motion, const Step& step) {
  constexpr double kShortestCorrection = 1.0 / 1024;
  const auto n = static_cast<int>(step.start.v.size());
  const auto residualAt = [&](const Eigen::VectorXd& middle, Eigen::VectorXd& result) {
    ratesAt(motion, step, middle);
    result = middle - step.start.v - (0.5 * step.h) * step.last.a;
  };
  const auto differentiate = [&] {
    trialV_ = middle_;
    for (int j = 0; j < n; ++j) {
      const double difference = 1e-7 * std::max(1.0, std::abs(middle_[j]));
      trialV_[j] = middle_[j] + difference;
      residualAt(trialV_, trial_);
      trialV_[j] = middle_[j];
      for (int i = 0; i < n; ++i) {
        jacobian_[i * n + j] = (trial_[i] - residual_[i]) / difference;
      }
    }
    return luFactor(jacobian_.data(), n, pivots_.data()) > 0.0;
  };
  const auto correct = [&](Eigen::VectorXd& result) {
    result = residual_;
    luSolve(jacobian_.data(), n, pivots_.data(), result.data(), 1);
    return result.cwiseAbs().maxCoeff();
  };

  middle_ = step.start.v;
  residualAt(middle_, residual_);
  bool current = false;  // the Jacobian is that at middle_
  bool outdated = true;
  double change = 0.0;
  for (int round = 0; round < kIterations; ++round) {
    ++newtonIterations_;
    if (outdated) {
      if (!differentiate()) {
        return false;
      }
      change = correct(correction_);
      current = true;
      outdated = false;
    }
    const double scale = std::max(1.0, middle_.cwiseAbs().maxCoeff());
    double part = 1.0, next = 0.0;
    for (; part >= kShortestCorrection; part *= 0.5) {
      trialV_ = middle_ - part * correction_;
      residualAt(trialV_, residual_);
      next = correct(following_);
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
    middle_ = trialV_;
    if (next <= kConverged * scale) {
      middle_ -= following_;
      return true;
    }
    std::swap(correction_, following_);
    outdated = next > kSlow * change;
    current = false;
    change = next;
  }
  return false;
}

}  // namespace kempe::detail
