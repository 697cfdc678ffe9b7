#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/motion_derivative_evaluation.hpp"
#include "batch/batch_call.hpp"

namespace kempe::detail {

/// A call of the kernel for terms, on outputs that are named one by one.
template <typename T>
class TermCall {
 public:
  using Request = TermRequest<T, T>;
  using Derivatives = MotionDerivativeRequest<T, T>;
  /// Makes numbers of one state, or of a block, the place of an output.
  using Place = void (*)(Request& request, T* numbers, int nv);
  using PlaceDerivative = void (*)(Derivatives& derivatives, T* numbers, int nv);

  TermCall(const Model& model, BasicBatch<T>& batch, const States<const T>& q)
      : model_(model), call_(model, batch, q) {}

  TermCall& takeV(const States<const T>& v) {
    call_.requireVelocity("v", v);
    v_ = v;
    return *this;
  }
  TermCall& takeA(const States<const T>& a) {
    call_.requireVelocity("a", a);
    a_ = a;
    return *this;
  }
  TermCall& takeFrames(std::span<const int> frames, Reference reference) {
    frames_ = call_.prepareFrames(frames, reference);
    frameCount_ = static_cast<int>(frames.size());
    return *this;
  }

  TermCall& output(const char* name, const States<T>& states, Eigen::Index entries,
                   const char* meaning, Place place) {
    return add(name, states, entries, meaning, {.place = place});
  }
  TermCall& outputOfFrames(const char* name, const States<T>& states, Eigen::Index entries,
                           const char* meaning, Place place) {
    return output(name, states, entries * frameCount_, meaning, place);
  }
  TermCall& outputCoriolis(const States<T>& C) {
    call_.makeRotorsWhole();
    coriolis_ = true;
    return output("C", C, Eigen::Index{nv()} * nv(), "model.nv squared",
                  [](Request& r, T* x, int n) {
                    r.coriolis = {x, n, 1};
                  });
  }

  /// A matrix of `rows` × nv derivatives, row-major.
  TermCall& outputDerivative(const char* name, const States<T>& states, Eigen::Index rows,
                             const char* meaning, PlaceDerivative place) {
    requireExpressions(call_.impl());
    differentiates_ = true;
    return add(name, states, rows * nv(), meaning, {.placeDerivative = place});
  }
  /// The same of each frame.
  TermCall& outputDerivativeOfFrames(const char* name, const States<T>& states,
                                     PlaceDerivative place) {
    return outputDerivative(name, states, Eigen::Index{6} * frameCount_,
                            "6 model.nv for each frame", place);
  }

  void run() {
    call_.run([&](typename BatchCall<T>::Block& block) { return computeBlock(block); },
              [&](BatchWorker<T>& worker, Eigen::Index state) { computeOne(worker, state); });
  }

  [[nodiscard]] int nv() const { return call_.impl().tables.nv; }

 private:
  struct Output {
    Place place = nullptr;  ///< one of the two
    PlaceDerivative placeDerivative = nullptr;
    States<T> states{};
    Eigen::Index first = 0;  ///< among the numbers of a state
  };

  TermCall& add(const char* name, const States<T>& states, Eigen::Index entries,
                const char* meaning, Output output) {
    call_.require(name, states, entries, meaning);
    output.states = states;
    output.first = entries_;
    outputs_[count_++] = output;
    entries_ += entries;
    return *this;
  }

  /// With as many numbers between outputs as `lanes` states have.
  Request requestAt(T* numbers, Eigen::Index lanes) const {
    Request request;
    request.frames = frames_;
    request.frameCount = frameCount_;
    for (int i = 0; i < count_; ++i) {
      if (outputs_[i].place != nullptr) {
        outputs_[i].place(request, numbers + outputs_[i].first * lanes, nv());
      }
    }
    return request;
  }
  Derivatives derivativesAt(T* numbers, Eigen::Index lanes) const {
    Derivatives derivatives;
    derivatives.frames = frames_;
    derivatives.frameCount = frameCount_;
    derivatives.frameStride = 6 * nv();
    for (int i = 0; i < count_; ++i) {
      if (outputs_[i].placeDerivative != nullptr) {
        outputs_[i].placeDerivative(derivatives, numbers + outputs_[i].first * lanes, nv());
      }
    }
    return derivatives;
  }

  bool computeBlock(typename BatchCall<T>::Block& block) const {
    if ((differentiates_ || coriolis_) && takesVariedDynamics(call_.impl())) {
      return false;  // one state at a time
    }
    BatchWorker<T>& worker = block.worker;
    const T* q = block.gatherQ();
    const T* v = v_.data == nullptr ? nullptr : block.gather(v_, worker.v);
    const T* a = a_.data == nullptr ? nullptr : block.gather(a_, worker.x);
    if (!block.finite) {
      return false;
    }
    const Eigen::Index lanes = block.set().lanes;
    T* numbers = block.room(worker.result, entries_);
    Request request = requestAt(numbers, lanes);
    const TermKernels<T>& kernels = block.set().terms;
    const KernelContext<T> context = block.context();
    if (coriolis_) {
      request.coriolisMemory =
          worker.coriolis.of(kernels.coriolisMemorySize(context.tables) / sizeof(T) + 1);
    }
    const Derivatives derivatives = derivativesAt(numbers, lanes);
    request.needsVelocities = differentiates_;
    request.needsAccelerations = derivatives.accelerates();
    const KernelOutcome outcome =
        kernels.evaluate(context, q, v, a, MotionLevel::None, request.level(a != nullptr), request);
    if (differentiates_ && !outcome.failed()) {
      differentiate(block, context, v, a, derivatives);
    }
    for (int i = 0; i < count_; ++i) {
      block.finish(outcome, numbers + outputs_[i].first * lanes, outputs_[i].states);
    }
    return !outcome.failed();
  }

  static void differentiate(typename BatchCall<T>::Block& block, const KernelContext<T>& context,
                            const T* v, const T* a, Derivatives derivatives) {
    const DerivativeKernels<T>& kernels = block.set().derivatives;
    derivatives.memory =
        block.worker.derivatives.of(kernels.memorySize(context.tables) / sizeof(T) + 1);
    kernels.motion(context, v, a, derivatives);
  }

  void computeOne(BatchWorker<T>& worker, Eigen::Index state) const {
    using VectorRef = typename TermEvaluation<T>::VectorRef;
    SingleState<T>& single = worker.single;
    RowVector<T>& numbers = single.result;
    numbers.resize(entries_);
    const auto read = [&](const States<const T>& states, RowVector<T>& x) {
      if (states.data != nullptr) {
        BatchCall<T>::readRow(states, state, x);
      }
    };
    read(call_.q(), single.q);
    read(v_, single.v);
    read(a_, single.x);
    const VectorRef qView(single.q), vView(single.v), aView(single.x);
    const VectorRef* ofA = a_.data == nullptr ? nullptr : &aView;
    const auto prepare = [&](TermEvaluation<T>& e) {
      e.request = requestAt(numbers.data(), 1);
      e.request.coriolisMemory = coriolis_ ? e.data.coriolis.data() : nullptr;
      e.wholeRotors = call_.wholeRotors();
    };
    if (differentiates_) {
      MotionDerivativeEvaluation<T> e(model_, worker.data);
      prepare(e);
      void* memory = e.derivatives.memory;
      e.derivatives = derivativesAt(numbers.data(), 1);
      e.derivatives.memory = memory;
      e.run(qView, vView, ofA);
    } else {
      TermEvaluation<T> e(model_, worker.data);
      prepare(e);
      e.run(qView, v_.data == nullptr ? nullptr : &vView, ofA);
    }
    for (int i = 0; i < count_; ++i) {
      BatchCall<T>::setRow(numbers.segment(outputs_[i].first, outputs_[i].states.entries),
                           outputs_[i].states, state);
    }
  }

  static constexpr int kMost = 12;  ///< outputs of allTerms

  const Model& model_;
  BatchCall<T> call_;
  States<const T> v_{}, a_{};
  const BodyFrame<T>* frames_ = nullptr;
  int frameCount_ = 0, count_ = 0;
  bool coriolis_ = false, differentiates_ = false;
  std::array<Output, kMost> outputs_{};
  Eigen::Index entries_ = 0;
};

// Jacobians, which are outputs of derivatives too.

template <typename T>
void addJacobians(TermCall<T>& call, const States<T>& J) {
  call.outputOfFrames("J", J, Eigen::Index{6} * call.nv(), "6 model.nv for each frame",
                      [](auto& r, T* x, int n) {
                        r.jacobians = {x, n, 1};
                        r.jacobianStride = 6 * n;
                      });
}
template <typename T>
void addCenterJacobian(TermCall<T>& call, const States<T>& J) {
  call.output("J", J, Eigen::Index{3} * call.nv(), "3 model.nv", [](auto& r, T* x, int n) {
    r.centerOfMassJacobian = {x, n, 1};
  });
}
template <typename T>
void addMomentumMatrix(TermCall<T>& call, const States<T>& A) {
  call.output("A", A, Eigen::Index{6} * call.nv(), "6 model.nv", [](auto& r, T* x, int n) {
    r.momentumMatrix = {x, n, 1};
  });
}

}  // namespace kempe::detail
