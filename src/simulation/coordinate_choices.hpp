#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "model/derive.hpp"
#include "simulation/coordinates.hpp"

namespace kempe::detail {

[[nodiscard]] Model derivedModel(const Model& from, const ModelChanges& changes);

/// The choices of independent coordinates that a simulation has come by, one of which is current.
/// Their models have no dry friction, which is among the forces of a simulation.
class CoordinateChoices {
 public:
  /// Makes the user's coordinates the only choice.
  void start(const Model& user);

  [[nodiscard]] Coordinates& current() { return *choices_[index_]; }
  [[nodiscard]] const Coordinates& current() const { return *choices_[index_]; }
  [[nodiscard]] Coordinates& at(std::size_t index) { return *choices_[index]; }
  [[nodiscard]] Coordinates& users() { return *choices_.front(); }
  /// Of the current choice; 0 is that of the user.
  [[nodiscard]] std::size_t index() const { return index_; }
  void select(std::size_t index) { index_ = index; }
  /// Selects a choice that suits the motion better.
  void changeTo(std::size_t index) {
    index_ = index;
    ++changes_;
  }
  /// The number of such changes.
  [[nodiscard]] int changes() const { return changes_; }
  /// The current choice is kept, so that restore() can return to it.
  void save() {
    saved_ = index_;
    savedChanges_ = changes_;
  }
  void restore() {
    index_ = saved_;
    changes_ = savedChanges_;
  }

  /// Selects coordinates that are better by `gain` for this G; false if there are none.
  bool exchange(const double* G, double gain);
  /// The index of the best choice at q, whatever the current one is there.
  std::size_t bestAt(VectorIn q);
  /// The same, found with the user's coordinates.
  std::size_t bestOfUsersAt(VectorIn q);
  /// The index of a choice, given by the names of all its coordinates. Throws std::invalid_argument
  /// if they are not such names.
  std::size_t named(const std::vector<std::string>& names);

  /// Takes the user's coordinates out of all velocities.
  void pickUsers(VectorIn velocities, VectorOut v) const;
  /// Adds forces along the user's coordinates to those along all.
  void addUsers(VectorIn tau, VectorOut forces) const;

  /// The user's model, with dry friction.
  [[nodiscard]] const Model& user() const { return *user_; }
  [[nodiscard]] LoopScales& scales() { return *scales_; }

 private:
  /// The index of a choice, in which the lists that are not empty replace the current ones.
  std::size_t indexOf(const std::vector<std::vector<int>>& independent);

  std::vector<std::unique_ptr<Coordinates>> choices_;  // the user's first
  std::size_t index_ = 0, saved_ = 0;
  int changes_ = 0, savedChanges_ = 0;
  std::size_t replaced_ = 0;  // the last choice that was replaced by another
  std::unique_ptr<LoopScales> scales_;
  std::unique_ptr<Model> user_;
  std::vector<int> userVelocities_;      // the user's coordinates in all velocities
  bool hasFriction_ = false;             // some joint of the user's model
  std::vector<std::vector<int>> lists_;  // scratch
};

}  // namespace kempe::detail
