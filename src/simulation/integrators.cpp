#include "simulation/integrators.hpp"

namespace kempe::detail {

void Integrators::resize(const Model& model) {
  for (Stepper* stepper : all_) {
    stepper->resize(model);
  }
}

}  // namespace kempe::detail
