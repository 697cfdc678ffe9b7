#include "simulation/motion_state.hpp"

#include <utility>

namespace kempe::detail {

void MotionState::resize(const Coordinates& coordinates, const ForceElements& elements) {
  first->resize(coordinates, elements);
  last->resize(coordinates, elements);
  const Model& model = coordinates.model();
  for (Vector* vector : {&state.v, &next.v, &v}) {
    vector->setZero(model.nv());
  }
  velocities.setZero(model.nvSpanning());
  heading.setZero(model.nvSpanning());
  state.q = next.q = model.neutral();
  fresh = false;
}

void MotionState::resizeForElements(const ForceElements& elements) {
  first->resizeForElements(elements);
  last->resizeForElements(elements);
  fresh = false;
}

void MotionState::show() {
  v = first->v;
  velocities = first->velocities;
  if (speed() > 0.0) {
    heading = velocities;
  }
  fresh = true;
}

Work MotionState::work() const {
  const Power& work = state.work;
  return {work[kController], work[kExternal], work[kMotors],
          work[kDamping],    work[kFriction], work[kLimits]};
}

void MotionState::advance(double time) {
  std::swap(state, next);
  std::swap(first, last);
  state.time = time;
}

}  // namespace kempe::detail
