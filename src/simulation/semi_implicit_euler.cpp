#include "simulation/semi_implicit_euler.hpp"

#include "simulation/step_derivatives.hpp"

namespace kempe::detail {

double SemiImplicitEuler::step(EquationsOfMotion& motion, const Step& step) {
  const auto& [start, first, h, tolerances, end, last] = step;
  end.v = start.v + h * first.a;
  y_ = h * end.v;
  motion.follow(start.q, first.G.data(), y_, end.q);
  motion.evaluate(end.time, end.q, end.v, last);
  // The work from the powers at both ends.
  for (int i = 0; i < kFlows; ++i) {
    end.work[i] = start.work[i] + 0.5 * h * (first.power[i] + last.power[i]);
  }
  // tau is constant over the step, v is not.
  end.work[kController] = start.work[kController] + 0.5 * h * first.tau.dot(first.v + last.v);
  return 0.0;
}

void SemiImplicitEuler::linearize(EquationsOfMotion& motion, const Step& step,
                                  EquationDerivatives& derivatives, StepDerivatives& result) {
  const auto& [start, first, h, tolerances, end, last] = step;
  this->step(motion, step);
  result.start();
  slopes_.resizeLike(result.v);
  y_.setZero();
  derivatives.ofRates({start.time, start.q, first.G.data(), y_, start.q, start.v}, last,
                      result.stage);
  result.stage.acceleration(result.startTangent, result.startV, slopes_);
  result.v = result.startV + h * slopes_;
  slopes_ = h * result.v;
  y_ = h * end.v;
  derivatives.ofPosition({end.time, start.q, first.G.data(), y_, end.q, end.v}, result.stage);
  result.stage.tangent(result.startTangent, slopes_, result.tangent);
}

}  // namespace kempe::detail
