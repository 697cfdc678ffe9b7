#include "constraints/constraint_rows.hpp"
#include "loops/function_programs.hpp"
#include "spatial/joint_motion.hpp"

namespace kempe {
namespace {

/// A function of time as one of coordinates: time is one more.
Function withTime(const TimedFunction& timed) {
  Function function;
  function.name = timed.name;
  function.coordinates = timed.coordinates;
  function.coordinates.emplace_back("time");
  function.rows = timed.rows;
  function.expression = timed.expression;
  const auto of = [](const auto& callback) {
    return [callback](auto x, auto phi) { callback(x.first(x.size() - 1), x.back(), phi); };
  };
  if (timed.symbolic) {
    function.symbolic = of(timed.symbolic);
  }
  if (timed.value) {
    function.value = of(timed.value);
  }
  if (timed.jet) {
    function.jet = of(timed.jet);
  }
  return function;
}

}  // namespace

Expression TimedFunction::traced() const {
  return withTime(*this).traced();
}

namespace detail {

void setFunction(const Function& function, ConstraintEntry& entry) {
  entry.form.kind = RowKind::Function;
  entry.rows = function.rows;
  entry.function = function;
  try {
    entry.function.expression = function.traced();
    entry.programs = appendPrograms(entry.function.expression, entry.programSteps);
  } catch (const TracingError&) {
    if (!function.jet) {
      throw;
    }
    entry.programSteps.clear();  // the callbacks compute it
  }
}

void setFunction(const TimedFunction& function, ConstraintEntry& entry) {
  entry.timed = true;
  setFunction(withTime(function), entry);
}

PrescribedMotion motionAt(const ConstraintEntry& entry, double time) {
  return entry.motion(time);
}

void lockErrors(const ConstraintEntry& entry, const double* positions, double* errors) {
  jointDifference(entry.jointType, entry.reference.data(), positions, errors);
}

}  // namespace detail
}  // namespace kempe
