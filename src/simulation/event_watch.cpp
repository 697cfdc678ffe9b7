#include "simulation/event_watch.hpp"

#include <algorithm>

#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Errors of steps that ignore events count from here on: a hundredth of those that are reported of
/// steps of fixed length (motion_watch.cpp). The last bounces of a joint that comes to rest are a
/// thousand times smaller (kBounces in switches.cpp).
constexpr double kVisibleDelay = 1e-4;

}  // namespace

void EventWatch::First::add(double at, const std::string& where) {
  if (++count == 1) {
    time = at;
    element = where;
  }
}

void EventWatch::addUnbalanced(double time, const std::string& element, double part) {
  unbalanced_.add(time, element);
  part_ = std::max(part_, part);
}

void EventWatch::addEndlessImpacts(double time, const std::string& joint) {
  endless_.add(time, joint);
}

void EventWatch::startRapid(double time, const std::string& joint) {
  rapid_.add(time, joint);
}

void EventWatch::addBlindStep(double h, double distance, double velocity, double acceleration,
                              double speed) {
  // An event that was missed shifts what changed by at most the length of the step.
  seconds_ += h;
  error_ += std::max(distance + h * velocity, h * acceleration / std::max(1.0, speed));
}

std::vector<std::string> EventWatch::warnings() const {
  std::vector<std::string> texts;
  const auto where = [](const First& first) {
    return kempe::quoted(first.element) + " at t = " + shortNumber(first.time) + " s" +
           (first.count > 1 ? " (first of " + std::to_string(first.count) + " times)" : "");
  };
  if (unbalanced_.count > 0) {
    texts.push_back("forces of friction and end stops could not be balanced at " +
                    where(unbalanced_) + "; accelerations there are wrong by up to " +
                    shortNumber(part_) +
                    " of their terms. Remove constraints that act against the stop or the "
                    "friction, or give the stop a stiffness.");
  }
  if (undetermined_.count > 0) {
    texts.push_back(
        "loops that are left cut are at rest in a change point at t = " +
        shortNumber(undetermined_.time) +
        " s, where branches of their motion meet: which one they follow is not determined, and "
        "neither are the forces in them. Start from another position, or with a velocity.");
  }
  if (endless_.count > 0) {
    texts.push_back("impacts on end stops did not come to an end at joint " + where(endless_) +
                    "; some stops are still being hit. Give the stops a lower restitution, or a "
                    "stiffness.");
  }
  if (error_ > kVisibleDelay) {
    texts.push_back(
        "events of friction and end stops follow one another too fast to be located, "
        "first at joint " +
        where(rapid_) + ": over " + shortNumber(seconds_) +
        " s steps are of first order only, with errors of about " + shortNumber(error_) +
        " rad or m. Use a smaller dt, a lower restitution, or give the stops a "
        "stiffness.");
  }
  return texts;
}

}  // namespace kempe::detail
