#include "simulation/integrators.hpp"

namespace kempe::detail {

void Integrators::resize(int nq, int nv) {
  for (Stepper* stepper : all_) {
    stepper->resize(nq, nv);
  }
}

}  // namespace kempe::detail
