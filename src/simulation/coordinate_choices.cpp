#include "simulation/coordinate_choices.hpp"

#include <algorithm>
#include <stdexcept>

#include "model/follow_loops.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

constexpr std::size_t kMostChoices = 32;  // of coordinates, that are kept

}  // namespace

Model derivedModel(const Model& from, const ModelChanges& changes) {
  return Model(std::make_shared<const ModelImpl>(derived(from.impl(), changes)));
}

void CoordinateChoices::start(const Model& user) {
  user_ = std::make_unique<Model>(user);
  scales_ = std::make_unique<LoopScales>(user);
  const ModelTables<double>& tables = user.impl().tables;
  hasFriction_ = std::ranges::any_of(tables.friction, [](double x) { return x != 0.0; });
  choices_.clear();
  choices_.push_back(std::make_unique<Coordinates>(
      hasFriction_ ? derivedModel(user, {.withoutFriction = true}) : user, *scales_));
  index_ = saved_ = 0;
  userVelocities_.clear();
  for (const ClusterEntry& cluster : tables.clusters) {
    for (const int i : independentOf(tables, cluster)) {
      userVelocities_.push_back(cluster.firstVelocity + i);
    }
  }
}

std::size_t CoordinateChoices::indexOf(const std::vector<std::vector<int>>& independent) {
  const ModelTables<double>& tables = current().impl().tables;
  const ModelTables<double>& user = user_->impl().tables;
  std::vector<int> wanted = tables.independent;
  ModelChanges changes;
  changes.independent.resize(tables.clusters.size());
  for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (!independent[c].empty()) {
      std::ranges::copy(independent[c], wanted.begin() + cluster.firstIndependent);
    }
    const auto own = wanted.begin() + cluster.firstIndependent;
    if (!std::equal(own, own + cluster.nv, user.independent.begin() + cluster.firstIndependent)) {
      changes.independent[c].assign(own, own + cluster.nv);
    }
  }
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i]->independent() == wanted) {
      return i;
    }
  }
  changes.withoutFriction = hasFriction_;
  auto made = std::make_unique<Coordinates>(derivedModel(*user_, changes), *scales_);
  if (choices_.size() < kMostChoices) {
    choices_.push_back(std::move(made));
    return choices_.size() - 1;
  }
  // Robots with many loops can come by more choices than are worth keeping.
  do {
    replaced_ = replaced_ % (kMostChoices - 1) + 1;
  } while (replaced_ == index_ || replaced_ == saved_);
  choices_[replaced_] = std::move(made);
  return replaced_;
}

bool CoordinateChoices::exchange(const double* G, double gain) {
  if (!current().better(G, gain, lists_)) {
    return false;
  }
  changeTo(indexOf(lists_));
  return true;
}

std::size_t CoordinateChoices::bestAt(VectorIn q) {
  current().best(q, lists_);
  return indexOf(lists_);
}

std::size_t CoordinateChoices::bestOfUsersAt(VectorIn q) {
  users().best(q, lists_);
  return indexOf(lists_);
}

std::size_t CoordinateChoices::named(const std::vector<std::string>& names) {
  const ModelTables<double>& tables = user_->impl().tables;
  lists_.assign(tables.clusters.size(), {});
  if (static_cast<int>(names.size()) != user_->nv()) {
    throw std::invalid_argument("coordinates: the model has " + std::to_string(user_->nv()) +
                                " of them, the snapshot " + std::to_string(names.size()));
  }
  std::size_t next = 0;
  for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    for (int j = 0; j < cluster.nv; ++j) {
      const std::string& name = names[next++];
      const auto first = user_->spanningVelocityNames().begin() + cluster.firstVelocity;
      const auto found = std::find(first, first + cluster.velocities, name);
      if (found == first + cluster.velocities) {
        throw std::invalid_argument("coordinates: " + kempe::quoted(name) +
                                    " is not a coordinate of this model, or is at the wrong index. "
                                    "Restore a snapshot of the same robot.");
      }
      lists_[c].push_back(static_cast<int>(found - first));
    }
  }
  return indexOf(lists_);
}

void CoordinateChoices::pickUsers(VectorIn velocities, VectorOut v) const {
  for (std::size_t i = 0; i < userVelocities_.size(); ++i) {
    v[static_cast<Eigen::Index>(i)] = velocities[userVelocities_[i]];
  }
}

void CoordinateChoices::addUsers(VectorIn tau, VectorOut forces) const {
  for (std::size_t i = 0; i < userVelocities_.size(); ++i) {
    forces[userVelocities_[i]] += tau[static_cast<Eigen::Index>(i)];
  }
}

}  // namespace kempe::detail
