#include "recordings.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::
    literals;  // NOLINT(google-build-using-namespace): the form that nanobind documents

namespace kempe::python {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Calls visit(name, numbers) for the fields of kempe.Run, but for wrenches, which not every sample
/// has.
template <typename Visit>
void visitFields(const Recording::Sample& sample, const Visit& visit) {
  const auto numbers = [&](const char* name, const Vector& vector) {
    visit(name, std::span<const double>(vector.data(), static_cast<std::size_t>(vector.size())));
  };
  const auto number = [&](const char* name, double x) {
    visit(name, std::span<const double>(&x, 1));
  };
  numbers("q", sample.q);
  numbers("v", sample.v);
  numbers("a", sample.a);
  numbers("tau", sample.tau);
  number("kinetic", sample.kinetic);
  number("potential", sample.potential);
  number("work", sample.work.supplied());
  number("losses", sample.work.lost());
  number("loop_error", sample.loopError);
  numbers("spanning_velocities", sample.velocities);
  numbers("spanning_forces", sample.forces);
}

/// The integrators that were at work at the ends of steps.
std::vector<std::string> integratorsUsed(const Recording& recording) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < recording.samples.size(); ++i) {
    const Integrator used = recording.integrator == Integrator::Auto
                                ? recording.samples[i].stepControl.inUse
                                : recording.integrator;
    const std::string name(toString(used));
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

/// The fields of a kempe.Run: arrays with one row for each sample, and values.
nb::dict fieldsOf(const std::string& path) {
  const Recording recording = Recording::load(path);
  const auto& samples = recording.samples;
  const auto count = static_cast<Eigen::Index>(samples.size());
  nb::dict fields;
  fields["robot"] = recording.robot;
  fields["dt"] = recording.dt;
  fields["integrator"] = std::string(toString(recording.integrator));
  fields["q_names"] = recording.qNames;
  fields["v_names"] = recording.vNames;
  fields["warnings"] = recording.warnings;
  fields["integrators_used"] = integratorsUsed(recording);
  fields["energy_exchanged"] = recording.energyExchanged;

  Eigen::VectorXd times(count);
  Eigen::Index wrenches = 0;
  bool forces = true;
  for (Eigen::Index i = 0; i < count; ++i) {
    const Recording::Sample& sample = samples[static_cast<std::size_t>(i)];
    times[i] = sample.time;
    wrenches = std::max(wrenches, sample.wrenches.size());
    forces = forces && sample.forces.size() == sample.velocities.size();
  }
  fields["t"] = times;
  std::size_t at = 0;
  visitFields(samples.front(), [&](const std::string& name, std::span<const double> first) {
    const std::size_t field = at++;
    if (name == "spanning_forces" && !forces) {
      return;  // a file of an earlier version
    }
    RowMajor rows(count, static_cast<Eigen::Index>(first.size()));
    for (Eigen::Index i = 0; i < count; ++i) {
      std::size_t other = 0;
      visitFields(samples[static_cast<std::size_t>(i)],
                  [&](const char* /*name*/, std::span<const double> numbers) {
                    if (other++ == field) {
                      std::ranges::copy(numbers, rows.row(i).data());
                    }
                  });
    }
    fields[name.c_str()] = rows;
  });
  if (wrenches > 0) {
    RowMajor rows = RowMajor::Zero(count, wrenches);
    for (Eigen::Index i = 0; i < count; ++i) {
      const Vector& own = samples[static_cast<std::size_t>(i)].wrenches;
      rows.row(i).head(own.size()) = own.transpose();
    }
    fields["body_forces"] = rows;
  }
  return fields;
}

}  // namespace

Eigen::VectorXd sampleArray(const Recording::Sample& sample) {
  Eigen::Index size = sample.wrenches.size(), at = 0;
  visitFields(sample, [&](const char* /*name*/, std::span<const double> numbers) {
    size += static_cast<Eigen::Index>(numbers.size());
  });
  Eigen::VectorXd array(size);
  visitFields(sample, [&](const char* /*name*/, std::span<const double> numbers) {
    std::ranges::copy(numbers, array.data() + at);
    at += static_cast<Eigen::Index>(numbers.size());
  });
  array.tail(sample.wrenches.size()) = sample.wrenches;
  return array;
}

std::vector<std::pair<std::string, int>> sampleFields(const Model& model) {
  Recording::Sample sample;
  sample.q.resize(model.nq());
  for (Vector* vector : {&sample.v, &sample.a, &sample.tau}) {
    vector->resize(model.nv());
  }
  sample.velocities.resize(model.nvSpanning());
  sample.forces.resize(model.nvSpanning());
  std::vector<std::pair<std::string, int>> fields;
  visitFields(sample, [&](const char* name, std::span<const double> numbers) {
    fields.emplace_back(name, static_cast<int>(numbers.size()));
  });
  return fields;
}

void bindRecordings(nb::module_& m) {
  m.def("fields_of_recording", &fieldsOf,
        signature("def fields_of_recording(path: str) -> dict[str, typing.Any]"), "path"_a,
        "For kempe.Run: its fields from a file that Recording::save of the C++ library wrote, with "
        "one row of numbers for each sample. Raises RuntimeError, which names file and line, for "
        "other files.");
}

}  // namespace kempe::python
