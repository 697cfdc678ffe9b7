#include <algorithm>

#include "kempe/configuration.hpp"
#include "simulation/simulation.hpp"
#include "text/messages.hpp"

namespace kempe {

namespace detail {

Recording Simulation::emptyRecording(double dt) const {
  Recording recording;
  recording.robot = model.name();
  recording.integrator = options.integrator;
  recording.dt = dt;
  recording.model = fingerprint_;
  recording.qNames = model.qNames();
  recording.vNames = model.vNames();
  recording.velocityNames = model.spanningVelocityNames();
  return recording;
}

Recording::Sample Simulation::sampleNow() {
  refresh();
  const Energy energy = energyNow();
  watch_.addSample(energy);
  const Loads& loads = forces_.loads();
  return {motion_.state.time,
          motion_.state.q,
          motion_.v,
          motion_.first->tau,
          motion_.velocities,
          accelerationsNow(),
          loads.joints,
          loads.bodies,
          energy.kinetic,
          energy.potential,
          loopErrorNow(),
          workNow(),
          0,
          steps_.memory()};
}

void Simulation::record(Recording& recording) {
  Recording::Sample sample = sampleNow();
  const std::vector<std::string>& names = choices_.current().model().vNames();
  const auto known = std::ranges::find(recording.choices, names);
  const auto choice = static_cast<int>(known - recording.choices.begin());
  if (known == recording.choices.end()) {
    recording.choices.push_back(names);
  }
  sample.choice = choice;
  recording.samples.push_back(std::move(sample));
}

}  // namespace detail

/// Cubics between samples, each in the chart of the sample before.
struct Replay::Impl {
  Impl(const Model& given, const Recording& recorded)
      : model(given),
        recording(recorded),
        scales(model),
        y(model.nv()),
        slope(model.nv()),
        start(model.nv()),
        end(model.nv()) {
    if (recording.qNames != model.qNames() || recording.vNames != model.vNames() ||
        recording.velocityNames != model.spanningVelocityNames()) {
      throw std::invalid_argument("recording: it is of " + kempe::quoted(recording.robot) +
                                  ", whose coordinates are not those of " +
                                  kempe::quoted(model.name()) +
                                  ". Give the robot that it was recorded with.");
    }
    if (recording.samples.empty()) {
      throw std::invalid_argument("recording: it has no samples");
    }
    for (const std::vector<std::string>& names : recording.choices) {
      choices.push_back(std::make_unique<detail::Coordinates>(
          names == model.vNames() ? model : model.withIndependent(names), scales));
    }
    G.resize(static_cast<std::size_t>(choices.front()->ratios()));
    choices.front()->writeConstantRatios(G.data());
  }

  void state(double time, VectorOut q, VectorOut velocities) {
    const auto& samples = recording.samples;
    if (!(time >= samples.front().time && time <= samples.back().time)) {
      throw std::invalid_argument(
          "time: " + shortNumber(time) + " s is not within the recording, " +
          shortNumber(samples.front().time) + " to " + shortNumber(samples.back().time) + " s");
    }
    const auto after = std::ranges::lower_bound(samples, time, {}, &Recording::Sample::time);
    if (after->time == time || after == samples.begin()) {
      q = after->q;
      velocities = after->velocities;
      return;
    }
    const Recording::Sample& a = *(after - 1);
    const Recording::Sample& b = *after;
    const double s = (time - a.time) / (b.time - a.time);
    velocities = (1.0 - s) * a.velocities + s * b.velocities;
    // At a change point there is no chart: then from the other sample.
    if (!between(a, b, s, q) && !between(b, a, 1.0 - s, q)) {
      q = s < 0.5 ? a.q : b.q;
    }
  }

  /// The position a part s of the way between samples, in the chart of the first; false where it
  /// has none.
  bool between(const Recording::Sample& base, const Recording::Sample& other, double s,
               VectorOut q) {
    detail::Coordinates& chosen = *choices[static_cast<std::size_t>(base.choice)];
    if (chosen.placeAt(base.q, G.data()) != detail::Standing::Regular) {
      return false;
    }
    difference(chosen.model(), chosen.data(), base.q, other.q, y);
    chosen.pick(base.velocities, start);
    chosen.pick(other.velocities, slope);
    chosen.chartRates(base.q, y, other.q, slope, other.velocities, end);
    // Hermite's cubic with y(0) = 0.
    const double h = other.time - base.time;
    y = (s * s * (3.0 - 2.0 * s)) * y + (h * s * (1.0 - s) * (1.0 - s)) * start -
        (h * s * s * (1.0 - s)) * end;
    chosen.follow(base.q, G.data(), y, q);
    return true;
  }

  /// The loads of a sample.
  detail::Loads loadsOf(std::size_t i) {
    if (i >= recording.samples.size()) {
      throw std::invalid_argument("sample " + std::to_string(i) + ": the recording has " +
                                  std::to_string(recording.samples.size()));
    }
    const Recording::Sample& sample = recording.samples[i];
    if (sample.forces.size() != model.nvSpanning()) {
      throw std::invalid_argument(
          "recording: it is from a file of an earlier version, which has no forces");
    }
    if (!reactions) {
      reactions = std::make_unique<detail::Reactions>(model);
      requireSameModel();
    }
    return {sample.forces, sample.wrenches};
  }

  /// Most of some samples must have the accelerations that their forces give: all but those close to
  /// change points, where accelerations carry noise.
  void requireSameModel() {
    constexpr std::size_t kSamples = 16;
    int alike = 0, different = 0;
    for (std::size_t i = 0; i < kSamples; ++i) {
      const Recording::Sample& sample = recording.samples[i * recording.samples.size() / kSamples];
      if (sample.forces.size() != model.nvSpanning()) {
        continue;
      }
      try {
        const bool explained = reactions->explain(sample.q, sample.velocities,
                                                  {sample.forces, sample.wrenches}, sample.a);
        ++(explained ? alike : different);
      } catch (const SingularityError&) {
        // At a change point, where no forces are computed either.
      }
    }
    if (different > alike) {
      throw std::invalid_argument(
          "model: the forces of the recording do not give its accelerations with this model. Give "
          "the model of the simulator (Simulator::model()), which includes the armatures of its "
          "motors, with the masses that it had.");
    }
  }

  Model model;
  Recording recording;
  detail::LoopScales scales;
  std::vector<std::unique_ptr<detail::Coordinates>> choices;
  std::vector<double> G;
  std::unique_ptr<detail::Reactions> reactions;  // from their first use
  Eigen::VectorXd y, slope, start, end;
};

Replay::Replay(const Model& model, const Recording& recording)
    : impl_(std::make_unique<Impl>(model, recording)) {}
Replay::Replay(Replay&&) noexcept = default;
Replay& Replay::operator=(Replay&&) noexcept = default;
Replay::~Replay() = default;

void Replay::state(double time, VectorOut q, VectorOut velocities) {
  if (q.size() != impl_->model.nq() || velocities.size() != impl_->model.nvSpanning()) {
    throw std::invalid_argument("q and velocities must have model.nq and model.nvSpanning entries");
  }
  impl_->state(time, q, velocities);
}

void Replay::jointForces(std::size_t sample, MatrixOut forces, const ForceOptions& how) {
  const detail::Loads loads = impl_->loadsOf(sample);
  const Recording::Sample& at = impl_->recording.samples[sample];
  impl_->reactions->joints(at.q, at.velocities, loads, forces, how);
}

void Replay::loopForces(std::size_t sample, VectorOut forces, const ForceOptions& how) {
  const detail::Loads loads = impl_->loadsOf(sample);
  const Recording::Sample& at = impl_->recording.samples[sample];
  impl_->reactions->loops(at.q, at.velocities, loads, forces, how);
}

}  // namespace kempe
