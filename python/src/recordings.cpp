#include "recordings.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <system_error>

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
  const Work& work = sample.work;
  visit("work_terms",
        std::span<const double>(std::array{work.controller, work.external, work.motors,
                                           work.damping, work.friction, work.limits}));
  const StepControl& steps = sample.stepControl;
  visit("step_control",
        std::span<const double>(
            std::array{steps.nextStep, steps.previousStep, steps.previousError, steps.evaluations,
                       steps.seconds, steps.evaluationsBefore, static_cast<double>(steps.inUse),
                       static_cast<double>(steps.hints), static_cast<double>(steps.patience)}));
}

/// An attribute of a kempe.Run that has one row for each sample.
RowMajor rowsOf(nb::handle run, const char* name) {
  const nb::object given = run.attr(name);
  if (given.is_none()) {
    throw std::invalid_argument("the run of " + nb::cast<std::string>(run.attr("robot")) +
                                " has no " + name +
                                ": it was saved by a version of kempe that did not record it. "
                                "Simulate again.");
  }
  const auto numpy = nb::module_::import_("numpy");
  const nb::object rows = numpy.attr("reshape")(given, nb::make_tuple(nb::len(given), -1));
  return nb::cast<RowMajor>(numpy.attr("ascontiguousarray")(rows, numpy.attr("float64")));
}

/// `count` samples of a kempe.Run, from sample `first` on.
Recording recordingOf(nb::handle run, Eigen::Index first, Eigen::Index count) {
  const auto numbers = [&](const char* name) {
    RowMajor rows = rowsOf(run, name);
    if (rows.rows() < first + count) {
      throw std::invalid_argument(std::string(name) + ": " + std::to_string(rows.rows()) +
                                  " samples, expected at least " + std::to_string(first + count));
    }
    return rows;
  };
  Recording recording;
  recording.robot = nb::cast<std::string>(run.attr("robot"));
  recording.integrator = integratorCalled(nb::cast<std::string>(run.attr("integrator")));
  recording.dt = nb::cast<double>(run.attr("dt"));
  recording.model = nb::cast<std::uint64_t>(run.attr("fingerprint"));
  recording.qNames = nb::cast<std::vector<std::string>>(run.attr("q_names"));
  recording.vNames = nb::cast<std::vector<std::string>>(run.attr("v_names"));
  recording.velocityNames = nb::cast<std::vector<std::string>>(run.attr("spanning_names"));
  recording.choices = nb::cast<std::vector<std::vector<std::string>>>(run.attr("choices"));
  recording.warnings = nb::cast<std::vector<std::string>>(run.attr("warnings"));
  recording.energyExchanged = nb::cast<double>(run.attr("energy_exchanged"));

  const RowMajor t = numbers("t"), q = numbers("q"), v = numbers("v"), a = numbers("a"),
                 tau = numbers("tau"), kinetic = numbers("kinetic"),
                 potential = numbers("potential"), loopError = numbers("loop_error"),
                 velocities = numbers("spanning_velocities"), forces = numbers("spanning_forces"),
                 work = numbers("work_terms"), steps = numbers("step_control"),
                 choice = numbers("choice");
  const RowMajor wrenches =
      run.attr("body_forces").is_none() ? RowMajor(t.rows(), 0) : numbers("body_forces");
  for (Eigen::Index i = first; i < first + count; ++i) {
    Recording::Sample& sample = recording.samples.emplace_back();
    sample.time = t(i, 0);
    sample.q = q.row(i).transpose();
    sample.v = v.row(i).transpose();
    sample.a = a.row(i).transpose();
    sample.tau = tau.row(i).transpose();
    sample.velocities = velocities.row(i).transpose();
    sample.forces = forces.row(i).transpose();
    sample.wrenches = wrenches.row(i).transpose();
    sample.kinetic = kinetic(i, 0);
    sample.potential = potential(i, 0);
    sample.loopError = loopError(i, 0);
    sample.work = {work(i, 0), work(i, 1), work(i, 2), work(i, 3), work(i, 4), work(i, 5)};
    sample.choice = static_cast<int>(choice(i, 0));
    const auto whole = [&](Eigen::Index column) { return static_cast<int>(steps(i, column)); };
    sample.stepControl = {steps(i, 0), steps(i, 1), steps(i, 2), static_cast<Integrator>(whole(6)),
                          whole(7),    whole(8),    steps(i, 3), steps(i, 4),
                          steps(i, 5)};
  }
  return recording;
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
  fields["spanning_names"] = recording.velocityNames;
  fields["choices"] = recording.choices;
  fields["fingerprint"] = recording.model;

  Eigen::VectorXd times(count);
  Eigen::VectorXi choice(count);
  Eigen::Index wrenches = 0;
  bool forces = true;
  for (Eigen::Index i = 0; i < count; ++i) {
    const Recording::Sample& sample = samples[static_cast<std::size_t>(i)];
    times[i] = sample.time;
    choice[i] = sample.choice;
    wrenches = std::max(wrenches, sample.wrenches.size());
    forces = forces && sample.forces.size() == sample.velocities.size();
  }
  fields["t"] = times;
  fields["choice"] = choice;
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
  m.def(
      "save_recording",
      [](const std::string& path, nb::handle run) {
        const Recording recording = recordingOf(run, 0, static_cast<Eigen::Index>(nb::len(run)));
        try {
          recording.save(path);
        } catch (const std::system_error& error) {
          errno = error.code().value();
          PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
          throw nb::python_error();
        }
      },
      signature("def save_recording(path: str, run: typing.Any) -> None"), "path"_a, "run"_a,
      "For kempe.Run: writes it to a file that Recording::load of the C++ library reads. Raises "
      "OSError.");
  m.def(
      "snapshot_of_run",
      [](nb::handle run, int sample) { return recordingOf(run, sample, 1).snapshot(0); },
      signature("def snapshot_of_run(run: typing.Any, sample: int) -> Snapshot"), "run"_a,
      "sample"_a, "For kempe.Run: the state at a sample, to continue from.");
  m.def("fields_of_recording", &fieldsOf,
        signature("def fields_of_recording(path: str) -> dict[str, typing.Any]"), "path"_a,
        "For kempe.Run: its fields from a file that Recording::save of the C++ library wrote, with "
        "one row of numbers for each sample. Raises RuntimeError, which names file and line, for "
        "other files.");
}

}  // namespace kempe::python
