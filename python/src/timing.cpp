#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "choices.hpp"
#include "kempe/forward_dynamics.hpp"
#include "kempe/inverse_dynamics.hpp"
#include "kempe/mass_matrix.hpp"
#include "kempe/operational_inertia.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

struct TimedState {
  Eigen::VectorXd q, v, x;
};

/// Zeros if the array is not given.
ArrayArgument givenOrZero(const PyModel& self, nb::handle array, const char* name) {
  if (!array.is_none()) return argumentV(self, array, name);
  return argumentV(self, nb::module_::import_("numpy").attr("zeros")(self.model().nv()), name);
}

std::vector<TimedState> statesOf(const PyModel& self, nb::handle q, nb::handle v, nb::handle x) {
  Inputs inputs({argumentQ(self, q), givenOrZero(self, v, "v"), givenOrZero(self, x, "x")},
                Inputs::Precision::Double);
  inputs.makeRowsContiguous();
  std::vector<TimedState> states;
  for (Eigen::Index i = 0; i < inputs.states(); ++i) {
    states.push_back(
        {inputs.row<double>(0, i), inputs.row<double>(1, i), inputs.row<double>(2, i)});
  }
  return states;
}

/// Time in seconds of `calls` calls of compute(data, state), cycling through the states. Ctrl-C is
/// checked every few thousand calls, outside the measured time.
template <typename Compute>
double secondsFor(const PyModel& self, const std::vector<TimedState>& states, long calls,
                  const Compute& compute) {
  using Clock = std::chrono::steady_clock;
  constexpr long kCallsAtOnce = 4096;
  std::chrono::duration<double> taken{0};
  std::size_t next = 0;
  for (long done = 0; done < calls; done += kCallsAtOnce) {
    const long last = std::min(calls, done + kCallsAtOnce);
    self.compute<double>([&](Data& data) {
      const Clock::time_point start = Clock::now();
      for (long call = done; call < last; ++call) {
        compute(data, states[next]);
        next = next + 1 == states.size() ? 0 : next + 1;
      }
      taken += Clock::now() - start;
    });
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return taken.count();
}

void refuse(bool given, const char* argument, const std::string& algorithm) {
  if (given) {
    throw std::invalid_argument(std::string(argument) + ": \"" + algorithm + "\" takes none");
  }
}

double secondsPerCall(const PyModel& self, const std::string& algorithm, nb::handle q, nb::handle v,
                      nb::handle x, nb::handle frames, const std::string& method, long calls) {
  if (calls < 1) {
    throw std::invalid_argument("calls: at least one is needed, got " + std::to_string(calls));
  }
  const bool ofMotion = algorithm == "forward_dynamics" || algorithm == "inverse_dynamics";
  refuse(!ofMotion && !v.is_none(), "v", algorithm);
  refuse(!ofMotion && !x.is_none(), "x", algorithm);
  refuse(algorithm != "inverse_operational_inertia" && !frames.is_none(), "frames", algorithm);
  const Model& model = self.model();
  const std::vector<TimedState> states = statesOf(self, q, v, x);
  if (states.empty()) throw std::invalid_argument("q: at least one state is needed");
  const DynamicsOptions how{.method = methodCalled(method)};
  Eigen::VectorXd result(model.nv());
  const auto measured = [&](const auto& compute) {
    return secondsFor(self, states, calls, compute) / static_cast<double>(calls);
  };
  if (algorithm == "forward_dynamics") {
    return measured([&](Data& data, const TimedState& s) {
      forwardDynamics(model, data, s.q, s.v, s.x, result, how);
    });
  }
  if (algorithm == "inverse_dynamics") {
    return measured([&](Data& data, const TimedState& s) {
      inverseDynamics(model, data, s.q, s.v, s.x, result, how);
    });
  }
  if (algorithm == "mass_matrix") {
    if (how.method != Method::Cluster) {
      throw std::invalid_argument("method: mass_matrix is computed by \"cluster\" only");
    }
    Eigen::MatrixXd H(model.nv(), model.nv());
    return measured([&](Data& data, const TimedState& s) { massMatrix(model, data, s.q, H); });
  }
  if (algorithm == "inverse_operational_inertia") {
    const std::vector<int> chosen = framesOf(self, frames);
    const auto size = static_cast<Eigen::Index>(6 * chosen.size());
    Eigen::MatrixXd Omega(size, size);
    return measured([&](Data& data, const TimedState& s) {
      inverseOperationalInertia(model, data, s.q, chosen, Omega, Reference::LocalWorldAligned,
                                how.method);
    });
  }
  throw std::invalid_argument("algorithm: there is no \"" + algorithm +
                              "\"; there are \"forward_dynamics\", \"inverse_dynamics\", "
                              "\"mass_matrix\", \"inverse_operational_inertia\"");
}

}  // namespace

void bindTiming(ModelClass& model) {
  model.def(
      "seconds_per_call", &secondsPerCall,
      signature("def seconds_per_call(self, algorithm: str, q: ArrayLike, v: ArrayLike | None = "
                "None, x: ArrayLike | None = None, *, frames: Frames = None, method: str = "
                "'cluster', calls: int = 1000) -> float"),
      "algorithm"_a, "q"_a.none(), "v"_a.none() = nb::none(), "x"_a.none() = nb::none(),
      nb::kw_only(), "frames"_a.none() = nb::none(), "method"_a = "cluster", "calls"_a = 1000,
      R"(Time of one call of an algorithm in C++, without the overhead of calls from Python.

Args:
    algorithm: "forward_dynamics", "inverse_dynamics", "mass_matrix" or
        "inverse_operational_inertia".
    q: configurations, (nq,) or (N, nq), used in turn.
    v: velocities, (nv,) or (N, nv); zero if not given.
    x: forces of forward or accelerations of inverse dynamics, (nv,) or (N, nv); zero if not given.
    frames: of inverse_operational_inertia; None: all.
    method: as in the algorithm.
    calls: number of consecutive calls to time.

Returns:
    The time of all calls, divided by their number, in s.)");
}

}  // namespace kempe::python
