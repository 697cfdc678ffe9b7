#include "simulation/occupancy.hpp"

#include <stdexcept>

namespace kempe::detail {

Occupancy::Hold::Hold(Occupancy& occupancy, Use use) {
  if (use == Use::Peek && occupancy.isHeldHere()) {
    return;
  }
  occupancy.requireNotHeldHere();
  occupancy.wait();
  if (use == Use::Change && occupancy.runner_ != std::thread::id{} &&
      occupancy.runner_ != std::this_thread::get_id()) {
    occupancy.leave();
    throw std::logic_error(
        "another thread runs this simulator. Wait until its run ends, or use one simulator per "
        "thread");
  }
  held_ = &occupancy;
}

Occupancy::Hold::~Hold() {
  if (held_ != nullptr) {
    held_->leave();
  }
}

void Occupancy::requireNotHeldHere() const {
  if (isHeldHere()) {
    throw std::logic_error(
        "the simulator is computing: a function that it calls (controller, external forces, "
        "constraint) may read its time, q and v, but not evaluate, step or change it");
  }
}

void Occupancy::beginRun() {
  runner_ = std::this_thread::get_id();
  ++runs_;
}

void Occupancy::endRun() {
  if (runs_ > 0 && --runs_ == 0) {
    runner_ = {};
  }
}

void Occupancy::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  const unsigned long long ticket = next_++;
  turn_.wait(lock, [&] { return serving_ == ticket; });
  owner_ = std::this_thread::get_id();
}

void Occupancy::leave() {
  bool others = false;
  {
    const std::scoped_lock lock(mutex_);
    owner_ = std::thread::id{};
    others = ++serving_ != next_;
  }
  if (others) {
    turn_.notify_all();
  }
}

}  // namespace kempe::detail
