#pragma once

#include <deque>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "kempe/method.hpp"
#include "py_model.hpp"

namespace kempe::python {

/// The argument `external`: a dictionary of wrenches by frame, each for one state or for all.
class ExternalForces {
 public:
  ExternalForces(const PyModel& self, nanobind::handle external, const std::string& reference);

  /// Checks that the inputs of a call and the forces have the same number of states.
  void joinWith(Inputs& inputs) const;
  /// Copies wrenches that a result would overwrite.
  void separateFrom(const Result& result);

  /// Those of one state.
  [[nodiscard]] std::vector<FrameForce> of(Eigen::Index state) const;
  /// Those of some states. `wrenches` is room for them in the scalar of the call.
  template <typename T>
  BatchForces<T> part(Eigen::Index first, Eigen::Index count, std::vector<T>& wrenches) const {
    const auto entries = static_cast<Eigen::Index>(6 * frames_.size());
    wrenches.resize(static_cast<std::size_t>(count * entries));
    for (Eigen::Index state = 0; state < count; ++state) {
      for (Eigen::Index i = 0; i < entries; ++i) {
        wrenches[static_cast<std::size_t>(state * entries + i)] =
            static_cast<T>(number(first + state, i));
      }
    }
    return {frames_, {wrenches.data(), count, entries}, reference_};
  }

 private:
  [[nodiscard]] double number(Eigen::Index state, Eigen::Index i) const {
    return wrenches_[static_cast<std::size_t>(i / 6)].row<double>(state)[i % 6];
  }

  Reference reference_;
  std::vector<int> frames_;
  std::deque<std::string> names_;  // of the wrenches in error messages
  std::vector<ArrayArgument> wrenches_;
};

}  // namespace kempe::python
