#include "constraints/constraint_rows.hpp"
#include "loops/function_programs.hpp"
#include "spatial/joint_motion.hpp"

namespace kempe {
namespace {

/// A function of time as one of coordinates: time is one more.
Function withTime(TimedFunction timed) {
  Function function;
  function.name = std::move(timed.name);
  function.coordinates = std::move(timed.coordinates);
  function.coordinates.emplace_back("time");
  function.rows = timed.rows;
  function.expression = std::move(timed.expression);
  const auto set = [](auto& to, auto& from) {
    if (from) {
      to = [callback = std::move(from)](auto x, auto phi) {
        callback(x.first(x.size() - 1), x.back(), phi);
      };
    }
  };
  set(function.symbolic, timed.symbolic);
  set(function.value, timed.value);
  set(function.jet, timed.jet);
  return function;
}

}  // namespace

Expression TimedFunction::traced() const {
  return withTime(*this).traced();
}

namespace detail {

void setFunction(Function function, ConstraintEntry& entry) {
  entry.form.kind = RowKind::Function;
  entry.rows = function.rows;
  entry.function = std::move(function);
  try {
    entry.function.expression = entry.function.traced();
  } catch (const TracingError&) {
    return;  // the callbacks compute it
  }
  entry.programs = appendPrograms(entry.function.expression, entry.programSteps);
}

void setFunction(TimedFunction function, ConstraintEntry& entry) {
  entry.timed = true;
  setFunction(withTime(std::move(function)), entry);
}

PrescribedMotion motionAt(const ConstraintEntry& entry, double time) {
  return entry.motion(time);
}

void lockErrors(const ConstraintEntry& entry, const double* positions, double* errors) {
  jointDifference(entry.jointType, entry.reference.data(), positions, errors);
}

}  // namespace detail
}  // namespace kempe
