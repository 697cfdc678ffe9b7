#include "simulation/error_watch.hpp"

#include <algorithm>
#include <cmath>

namespace kempe::detail {

void ErrorWatch::restart() {
  known_ = false;
  fastest_ = elapsed_ = sum_ = 0.0;
}

void ErrorWatch::add(Integrator method, double h, std::size_t choice, VectorIn v0, VectorIn a0,
                     VectorIn v1, VectorIn a1, VectorIn lastStage) {
  const bool known = known_ && choice == choice_;
  const bool euler = method == Integrator::SemiImplicitEuler;
  const bool classic = method == Integrator::RungeKutta4;
  const double ahead = known ? 1.0 / (h * (h + length_)) : 0.0;
  const double back = known ? 1.0 / (length_ * (h + length_)) : 0.0;
  const double half = 0.5 * h, cube = h * h * h / 6.0, sixth = h / 6.0;
  // y₁ is h v₁ of semi-implicit Euler, h/2 (v₀ + v₁) of the midpoint rule, nearly that of (3)
  // with v₁ of Runge-Kutta.
  const double ofVelocities = euler ? half : 0.0;
  const double ofAccelerations = classic ? 0.0 : h * h / 12.0;
  double ofV = 0.0, ofY = 0.0;  // the largest errors
  for (Eigen::Index i = 0; i < v0.size(); ++i) {
    const double change = a1[i] - a0[i];
    const double c = change * ahead - (a0[i] - before_[i]) * back;  // (1)
    const double velocity = known || !classic
                                ? v1[i] - v0[i] - half * (a0[i] + a1[i]) + cube * c  // (2)
                                : sixth * (a1[i] - lastStage[i]);                    // (4)
    const double position =
        half * velocity + ofVelocities * (v1[i] - v0[i]) + ofAccelerations * change;  // (3)
    ofV = std::max(ofV, std::abs(velocity));
    ofY = std::max(ofY, std::abs(position));
    fastest_ = std::max(fastest_, std::abs(v1[i]));
  }
  elapsed_ += h;
  sum_ += std::max(ofY, ofV * (fastest_ * elapsed_ > 1.0 ? 1.0 / fastest_ : elapsed_));
  before_ = a0;
  length_ = h;
  choice_ = choice;
  known_ = true;
}

}  // namespace kempe::detail
