#include "simulation/error_watch.hpp"

#include <algorithm>
#include <cmath>

namespace kempe::detail {

void ErrorWatch::restart() {
  known_ = false;
  sum_ = 0.0;
}

void ErrorWatch::add(Integrator method, double h, std::size_t choice, VectorIn v0, VectorIn a0,
                     VectorIn v1, VectorIn a1) {
  if (known_ && choice == choice_) {
    const double ahead = 1.0 / (h * (h + length_)), back = 1.0 / (length_ * (h + length_));
    const double half = 0.5 * h, cube = h * h * h / 6.0;
    // y₁ is h v₁ of semi-implicit Euler, h/2 (v₀ + v₁) of the midpoint rule, nearly that of (3)
    // with v₁ of Runge-Kutta.
    const bool euler = method == Integrator::SemiImplicitEuler;
    const double ofVelocities = euler ? half : 0.0;
    const double ofAccelerations = euler || method == Integrator::ImplicitMidpoint ? h * h / 12 : 0;
    double largest = 0.0;
    for (Eigen::Index i = 0; i < v0.size(); ++i) {
      const double change = a1[i] - a0[i];
      const double c = change * ahead - (a0[i] - before_[i]) * back;              // (1)
      const double velocity = v1[i] - v0[i] - half * (a0[i] + a1[i]) + cube * c;  // (2)
      const double position =
          half * velocity + ofVelocities * (v1[i] - v0[i]) + ofAccelerations * change;  // (3)
      const double size = std::max(1.0, std::abs(v1[i]));
      if (std::abs(velocity) > largest * size) {
        largest = std::abs(velocity) / size;
      }
      largest = std::max(largest, std::abs(position));
    }
    sum_ += largest;
  }
  before_ = a0;
  length_ = h;
  choice_ = choice;
  known_ = true;
}

}  // namespace kempe::detail
