#include "simulation/reactions.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kempe/forward_dynamics.hpp"
#include "simulation/coordinate_choices.hpp"
#include "simulation/regularity.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Accelerations under the loads of a sample may differ from those of the sample by this share:
/// above what projections and Baumgarte's method leave (1e-8), below what the armature of a motor or
/// a changed mass does.
constexpr double kExplained = 1e-4;
/// Accelerations below this are rounding errors of forces that balance.
constexpr double kRest = 1e-9;

/// `loop` is empty if it is constraints that are there.
[[noreturn]] void throwAtChangePoint(const std::string& loop) {
  const std::string what =
      loop.empty() ? "the constraints are" : "loop " + kempe::quoted(loop) + " is";
  throw SingularityError(
      what +
          " at a change point, where the motion of rigid bodies does not determine the forces. "
          "Ask for the forces a little earlier or later.",
      loop, std::numeric_limits<double>::infinity());
}

}  // namespace

Reactions::Reactions(const Model& model) : scales_(model) {
  choices_.push_back(
      std::make_unique<Coordinates>(derivedModel(model, {.withoutFriction = true}), scales_));
  G_.resize(static_cast<std::size_t>(choices_.front()->ratios()));
  choices_.front()->writeConstantRatios(G_.data());
  const ModelImpl& impl = model.impl();
  for (int body = 0; body < static_cast<int>(impl.tables.bodies.size()); ++body) {
    const auto own = std::ranges::find(impl.frames, body, &FrameEntry::body);
    frames_.push_back(static_cast<int>(own - impl.frames.begin()));
  }
  external_.reserve(frames_.size());
  for (Eigen::VectorXd* each : {&v_, &none_, &tau_, &a_}) {
    each->setZero(model.nv());
  }
}

Coordinates& Reactions::bestAt(VectorIn q) {
  Coordinates& own = *choices_.front();
  own.best(q, lists_);
  ModelChanges changes{.independent = lists_};
  auto found = std::make_unique<Coordinates>(derivedModel(own.model(), changes), scales_);
  for (const std::unique_ptr<Coordinates>& known : choices_) {
    if (known->independent() == found->independent()) {
      return *known;
    }
  }
  choices_.push_back(std::move(found));
  return *choices_.back();
}

Coordinates& Reactions::choose(VectorIn q, VectorIn velocities) {
  Coordinates* chosen = choices_.front().get();
  const auto isRegular = [&] {
    return chosen->placeAt(q, G_.data()) == Standing::Regular &&
           std::ranges::all_of(chosen->regularity(),
                               [](double r) { return r > kForcesDetermined; });
  };
  if (!isRegular() || chosen->worstRatio(G_.data()) > Coordinates::kExchange) {
    scales_.learn(chosen->model(), chosen->positions());
    chosen = &bestAt(q);
    if (!isRegular()) {
      const auto worst = std::ranges::min_element(chosen->regularity());
      const auto cluster = static_cast<std::size_t>(worst - chosen->regularity().begin());
      throwAtChangePoint(chosen->model().clusters()[cluster].loops.front());
    }
  }
  chosen->pick(velocities, v_);
  return *chosen;
}

ForceOptions Reactions::under(const Loads& loads, const ForceOptions& how) {
  if (!how.external.empty() || !how.spanning.empty() || how.actuation != Actuation::Independent) {
    throw std::invalid_argument(
        "external, spanning and actuation: the forces of a simulation are those of its own "
        "elements. Give reference or frame only.");
  }
  if (loads.joints.hasNaN()) {  // see StateForces::loads()
    const std::vector<std::string>& cut = choices_.front()->model().cutLoops();
    throwAtChangePoint(cut.empty() ? std::string() : cut.front());
  }
  external_.clear();
  for (std::size_t body = 0; 6 * static_cast<Eigen::Index>(body) < loads.bodies.size(); ++body) {
    const double* six = loads.bodies.data() + 6 * body;
    if (std::any_of(six, six + 6, [](double x) { return x != 0.0; })) {
      FrameForce& force = external_.emplace_back();
      force.frame = frames_[body];
      force.reference = Reference::World;
      std::copy_n(six, 6, force.wrench.begin());
    }
  }
  ForceOptions all = how;
  all.external = external_;
  all.spanning = {loads.joints.data(), static_cast<std::size_t>(loads.joints.size())};
  return all;
}

void Reactions::joints(VectorIn q, VectorIn velocities, const Loads& loads, MatrixOut forces,
                       const ForceOptions& how) {
  const ForceOptions all = under(loads, how);
  Coordinates& chosen = choose(q, velocities);
  jointForces(chosen.model(), chosen.data(), q, v_, none_, forces, all);
}

bool Reactions::explain(VectorIn q, VectorIn velocities, const Loads& loads, VectorIn a) {
  const ForceOptions all = under(loads, {});
  Coordinates& chosen = choose(q, velocities);
  if (&chosen != choices_.front().get() || a.hasNaN()) {
    return true;  // there are no accelerations to compare with
  }
  // A robot that is held still has no accelerations: those of its fall are the measure then.
  forwardDynamics(chosen.model(), chosen.data(), q, v_, none_, a_);
  const double fall = a_.norm();
  chosen.gather(G_.data(), loads.joints, tau_);
  forwardDynamics(chosen.model(), chosen.data(), q, v_, tau_, a_, {.external = all.external});
  return (a_ - a).norm() <= kExplained * std::max({a_.norm(), a.norm(), fall, kRest});
}

void Reactions::loops(VectorIn q, VectorIn velocities, const Loads& loads, VectorOut forces,
                      const ForceOptions& how) {
  const ForceOptions all = under(loads, how);
  Coordinates& chosen = choose(q, velocities);
  loopForces(chosen.model(), chosen.data(), q, v_, none_, forces, all);
}

}  // namespace kempe::detail
