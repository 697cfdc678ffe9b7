#include "simulation/runge_kutta.hpp"

#include <algorithm>
#include <cmath>

#include "simulation/step_derivatives.hpp"

namespace kempe::detail {
namespace {

constexpr double kClassicNodes[] = {0, 0.5, 0.5, 1};
constexpr double kClassicA[] = {0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 1, 0};
constexpr double kClassicWeights[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

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

}  // namespace

constinit const Tableau kClassicTableau{4, kClassicNodes, kClassicA, kClassicWeights, nullptr};
constinit const Tableau kDormandPrinceTableau{7, kPairNodes, kPairA, kPairWeights, kPairErrors};

void RungeKutta::resize(int nq, int nv) {
  const auto clear = [&](auto&... vectors) { (vectors.setZero(nv), ...); };
  clear(y_, v_, otherY_, otherV_);
  q_.setZero(nq);
  const auto stages = static_cast<std::size_t>(tableau_.stages);
  slopes_.assign(stages, y_);
  accelerations_.assign(stages, y_);
  powers_.assign(stages, {});
}

void RungeKutta::setStage(int stage, const Step& step) {
  y_.setZero();
  v_ = step.start.v;
  for (int j = 0; j < stage; ++j) {
    const double weight = tableau_.A[stage * tableau_.stages + j];
    if (weight != 0.0) {
      y_ += (weight * step.h) * slopes_[j];
      v_ += (weight * step.h) * accelerations_[j];
    }
  }
}

/// Stages at y_i = h Σ A_ij ẏ_j around the start (Munthe-Kaas 1999).
double RungeKutta::step(EquationsOfMotion& motion, const Step& step) {
  const auto& [start, first, h, tolerances, end, last] = step;
  ChartMotion chart(motion, step, q_);
  slopes_[0] = start.v;
  accelerations_[0] = first.a;
  powers_[0] = first.power;
  for (int i = 1; i < tableau_.stages; ++i) {
    setStage(i, step);
    if (tableau_.errors != nullptr && i == tableau_.stages - 2) {
      otherY_ = y_;
      otherV_ = v_;
    }
    chart.rates(start.time + tableau_.nodes[i] * h, y_, v_, slopes_[i], accelerations_[i],
                powers_[i]);
  }
  end.work = start.work;
  for (int i = 0; i < tableau_.stages; ++i) {
    for (int flow = 0; flow < kFlows; ++flow) {
      end.work[flow] += h * tableau_.weights[i] * powers_[i][flow];
    }
  }
  if (tableau_.errors != nullptr) {  // its last stage is the result
    end.q = q_;
    end.v = v_;
    // Both last stages are at the end of the step, so that their difference shows the largest
    // eigenvalue of the motion (Hairer, Wanner II, (2.16)).
    const int one = tableau_.stages - 2, other = tableau_.stages - 1;
    const double change = (y_ - otherY_).squaredNorm() + (v_ - otherV_).squaredNorm();
    const double rate = (slopes_[other] - slopes_[one]).squaredNorm() +
                        (accelerations_[other] - accelerations_[one]).squaredNorm();
    stiffness_ = change > 0.0 ? h * std::sqrt(rate / change) : 0.0;
    return errorOf(step);
  }
  y_.setZero();
  end.v = start.v;
  for (int i = 0; i < tableau_.stages; ++i) {
    y_ += (tableau_.weights[i] * h) * slopes_[i];
    end.v += (tableau_.weights[i] * h) * accelerations_[i];
  }
  motion.follow(start.q, first.G.data(), y_, end.q);
  motion.evaluate(end.time, end.q, end.v, last);
  return 0.0;
}

/// The variations of the stages are δy_i = h Σ A_ij δẏ_j and δv_i = δv_0 + h Σ A_ij δv̇_j.
void RungeKutta::linearize(EquationsOfMotion& motion, const Step& step,
                           EquationDerivatives& derivatives, StepDerivatives& result) {
  const auto& [start, first, h, tolerances, end, last] = step;
  this->step(motion, step);
  result.start();
  for (Eigen::MatrixXd* columns : {&yColumns_, &vColumns_, &tangentColumns_}) {
    columns->resizeLike(result.v);
  }
  slopeColumns_.resize(slopes_.size());
  accelerationColumns_.resize(slopes_.size());
  const auto sum = [&, length = step.h](const double* weights, int stages) {
    yColumns_.setZero();
    vColumns_ = result.startV;
    for (int j = 0; j < stages; ++j) {
      if (weights[j] != 0.0) {
        yColumns_ += (weights[j] * length) * slopeColumns_[j];
        vColumns_ += (weights[j] * length) * accelerationColumns_[j];
      }
    }
  };
  for (int i = 0; i < tableau_.stages; ++i) {
    if (tableau_.errors != nullptr && i == tableau_.stages - 1) {
      break;  // the result, which no other stage needs
    }
    slopeColumns_[i].resizeLike(result.v);
    accelerationColumns_[i].resizeLike(result.v);
    setStage(i, step);
    sum(tableau_.A + i * tableau_.stages, i);
    if (i == 0) {
      q_ = start.q;
    } else {
      motion.follow(start.q, first.G.data(), y_, q_);
    }
    derivatives.ofRates({start.time + tableau_.nodes[i] * h, start.q, first.G.data(), y_, q_, v_},
                        last, result.stage);
    result.stage.tangent(result.startTangent, yColumns_, tangentColumns_);
    result.stage.slope(result.startTangent, yColumns_, vColumns_, slopeColumns_[i]);
    result.stage.acceleration(tangentColumns_, vColumns_, accelerationColumns_[i]);
  }
  y_.setZero();
  for (int i = 0; i < tableau_.stages; ++i) {
    y_ += (tableau_.weights[i] * h) * slopes_[i];
  }
  const int used = tableau_.errors != nullptr ? tableau_.stages - 1 : tableau_.stages;
  sum(tableau_.weights, used);
  result.v = vColumns_;
  derivatives.ofPosition({end.time, start.q, first.G.data(), y_, end.q, end.v}, result.stage);
  result.stage.tangent(result.startTangent, yColumns_, result.tangent);
}

double RungeKutta::errorOf(const Step& step) const {
  const double h = step.h;
  double sum = 0.0;
  for (Eigen::Index k = 0; k < step.start.v.size(); ++k) {
    double position = 0.0, velocity = 0.0;
    for (int i = 0; i < tableau_.stages; ++i) {
      position += h * tableau_.errors[i] * slopes_[i][k];
      velocity += h * tableau_.errors[i] * accelerations_[i][k];
    }
    const double size = std::max(std::abs(step.start.v[k]), std::abs(step.end.v[k]));
    position /= step.tolerances.ofPosition();
    velocity /= step.tolerances.ofVelocity(size);
    sum += position * position + velocity * velocity;
  }
  // Work too, as it can change where nothing else does: in an end stop that does not pull.
  for (int flow = 0; flow < kFlows; ++flow) {
    double work = 0.0;
    for (int i = 0; i < tableau_.stages; ++i) {
      work += h * tableau_.errors[i] * powers_[i][flow];
    }
    work /= step.tolerances.ofWork(step.end.work[flow]);
    sum += work * work;
  }
  return std::sqrt(sum / (2.0 * static_cast<double>(step.start.v.size())));
}

}  // namespace kempe::detail
