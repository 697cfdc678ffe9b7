#pragma once

#include <vector>

#include "batch/batch_call.hpp"
#include "kempe/method.hpp"

namespace kempe::detail {

/// External forces of a call on many states.
template <typename T>
class ForcesOfStates {
 public:
  /// Checks them against the call, in which rotors on which they act become whole.
  ForcesOfStates(BatchCall<T>& call, const BatchForces<T>& external, Eigen::Index states)
      : external_(external), wrenches_(external.wrenches) {
    const auto count = static_cast<Eigen::Index>(external.frames.size());
    wrenches_.states = count == 0 ? states : wrenches_.states;
    call.require("external.wrenches", wrenches_, 6 * count, "6 for each frame");
    frames_ = call.prepareFrames(external.frames, external.reference);
  }

  [[nodiscard]] const States<const T>& wrenches() const { return wrenches_; }
  /// Those of a block whose wrenches have been gathered.
  [[nodiscard]] ExternalForces<T, T> ofBlock(const T* gathered) const {
    return {frames_, gathered, static_cast<int>(external_.frames.size())};
  }
  /// Those of one state, in memory of the worker.
  const std::vector<FrameForce>& ofState(Eigen::Index state, BatchWorker<T>& worker) const {
    std::vector<FrameForce>& forces = worker.single.external;
    forces.clear();
    const T* own = wrenches_.data + state * wrenches_.stateStride;
    for (std::size_t f = 0; f < external_.frames.size(); ++f) {
      FrameForce force{external_.frames[f], {}, external_.reference};
      for (std::size_t i = 0; i < 6; ++i) {
        force.wrench[i] =
            static_cast<double>(own[static_cast<Eigen::Index>(6 * f + i) * wrenches_.entryStride]);
      }
      forces.push_back(force);
    }
    return forces;
  }

 private:
  const BatchForces<T>& external_;
  States<const T> wrenches_;
  const BodyFrame<T>* frames_ = nullptr;
};

}  // namespace kempe::detail
