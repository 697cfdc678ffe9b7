#pragma once

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kempe/batch.hpp"
#include "kempe/errors.hpp"
#include "model/arguments.hpp"

/// How calls on many states are divided among threads and lanes.
namespace kempe::detail {

template <typename T>
using RowVector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Numbers of several states, lane by lane, on a boundary of registers. Grows, never shrinks.
template <typename T>
class LaneBuffer {
 public:
  T* of(std::size_t numbers) { return reinterpret_cast<T*>(memory_.of(numbers * sizeof(T))); }

 private:
  GrowingMemory memory_;
};

/// Arguments and results of a state that is computed on its own. They grow, and never shrink.
template <typename T>
struct SingleState {
  RowVector<T> q, v, x, result;
  std::array<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>, 3> matrices;
  std::vector<FrameForce> external;
};

/// The scratch memory of one thread.
template <typename T>
struct BatchWorker {
  BatchWorker(const Model& model, const KernelSet<T>& set)
      : data(model), dataDouble(model), kernels(set) {}

  BasicData<T> data;      ///< for states that have to be computed on their own
  SingleState<T> single;  ///< likewise
  Data dataDouble;
  KernelMemory<T> kernels;
  LaneBuffer<T> q, v, x, wrenches, W, result, coriolis, multipliers, derivatives;
  Eigen::VectorXd position, velocity;  ///< one state's, for integrate
};

template <typename T>
struct BatchImpl {
  BatchImpl(const Model& model, int threadCount)
      : modelId(model.impl().id),
        tables(viewOf<T>(model.impl())),
        set(kernelSets<T>().pack),
        arena(threadCount) {
    if (threadCount > tbb::this_task_arena::max_concurrency()) {
      moreThreads.emplace(tbb::global_control::max_allowed_parallelism,
                          static_cast<std::size_t>(threadCount));
    }
    for (int i = 0; i < threadCount; ++i) {
      workers.push_back(std::make_unique<BatchWorker<T>>(model, set));
    }
  }

  std::uint64_t modelId;
  const TablesView<T>& tables;  ///< the model's; every call brings the model along
  const KernelSet<T>& set;
  std::optional<tbb::global_control> moreThreads;  ///< than the machine has cores
  tbb::task_arena arena;
  std::vector<std::unique_ptr<BatchWorker<T>>> workers;
  std::vector<BodyFrame<T>> frames;
  ActiveConstraints active;  ///< of a call with constraints
};

template <typename T>
void requireBatch(const ModelImpl& model, const BatchImpl<T>& batch) {
  if (batch.modelId != model.id) {
    throw std::invalid_argument("batch was made for another model");
  }
}

/// Errors of a computation with the number of its state.
template <typename Function>
void computeWithNumber(Eigen::Index state, const Function& function) {
  const auto place = [state](const std::exception& error) {
    return "state " + std::to_string(state) + ": " + error.what();
  };
  try {
    function();
  } catch (const SingularityError& error) {
    throw SingularityError(place(error), error.loop(), error.condition());
  } catch (const AssemblyError& error) {
    throw AssemblyError(place(error), error.loop(), error.gap());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(place(error));
  }
}

/// `compute(worker, block)` of all blocks, on all threads.
template <typename T, typename Compute>
void forEachBlock(BatchImpl<T>& batch, Eigen::Index blocks, const Compute& compute) {
  if (batch.workers.size() == 1 || blocks < 2) {
    for (Eigen::Index b = 0; b < blocks; ++b) {
      compute(*batch.workers.front(), b);
    }
    return;
  }
  constexpr Eigen::Index kGrain = 4;  // blocks of states, some microseconds
  batch.arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<Eigen::Index>(0, blocks, kGrain),
                      [&](const tbb::blocked_range<Eigen::Index>& range) {
                        BatchWorker<T>& worker =
                            *batch.workers[tbb::this_task_arena::current_thread_index()];
                        for (Eigen::Index b = range.begin(); b < range.end(); ++b) {
                          compute(worker, b);
                        }
                      });
  });
}

/// One call: checks the arguments and runs blocks of states on the workers.
template <typename T>
class BatchCall {
 public:
  BatchCall(const Model& model, BasicBatch<T>& batch, const States<const T>& q)
      : impl_(model.impl()), batch_(batch.impl()), q_(q) {
    requireBatch(impl_, batch_);
    require("q", q, impl_.tables.nq, "model.nq");
  }

  /// Every argument has as many states as q, and `entries` numbers of each.
  template <typename U>
  void require(const char* name, const States<U>& states, Eigen::Index entries,
               const char* meaning) const {
    if (states.states != q_.states) {
      throw std::invalid_argument(std::string(name) + " has " + std::to_string(states.states) +
                                  " states, but q has " + std::to_string(q_.states));
    }
    if (states.entries != entries) {
      throw std::invalid_argument(std::string(name) + " has " + std::to_string(states.entries) +
                                  " entries per state, but must have " + std::to_string(entries) +
                                  " (" + meaning + ")");
    }
  }
  template <typename U>
  void requireVelocity(const char* name, const States<U>& states) const {
    require(name, states, impl_.tables.nv, "model.nv");
  }

  /// Frames by their bodies; rotors on which they sit are then whole.
  const BodyFrame<T>* prepareFrames(std::span<const int> frames, Reference reference) {
    batch_.frames.clear();
    for (const int index : frames) {
      const FrameEntry& frame = frameAt(impl_, index);
      wholeRotors_ |= frame.body != kWorld && impl_.tables.bodies[frame.body].folded;
      batch_.frames.push_back({frame.body, frame.inBody.cast<T>(), reference});
    }
    return batch_.frames.data();
  }

  /// A block of up to `lanes` states that one worker computes.
  struct Block {
    const BatchCall& call;
    BatchWorker<T>& worker;
    Eigen::Index first;
    int count;
    bool finite = true;

    const KernelSet<T>& set() const { return call.batch_.set; }
    /// `last` is the last part of the scratch memory that the kernel needs.
    KernelContext<T> context(WorkStage last = WorkStage::LoopForces) const {
      return {call.batch_.tables, worker.kernels.upTo(call.batch_.tables, last),
              call.impl_.mechanism.functions, worker.data.impl().loops.forFunctions(),
              call.wholeRotors_};
    }
    T* room(LaneBuffer<T>& buffer, Eigen::Index entries) const {
      return buffer.of(static_cast<std::size_t>(entries) * static_cast<std::size_t>(set().lanes));
    }
    const T* gather(const States<const T>& states, LaneBuffer<T>& buffer) {
      T* to = room(buffer, states.entries);
      const T* from = states.data + first * states.stateStride;
      finite &= set().gather(from, states.stateStride, states.entryStride, count,
                             static_cast<int>(states.entries), to);
      return to;
    }
    const T* gatherQ() {
      const T* q = gather(call.q_, worker.q);
      finite &= call.quaternionsHaveLength(q);
      return q;
    }
    /// Writes the result, unless the kernel failed: outputs may be inputs.
    bool finish(const KernelOutcome& outcome, const T* result, const States<T>& states) const {
      if (!outcome.failed()) {
        set().scatter(result, count, static_cast<int>(states.entries),
                      states.data + first * states.stateStride, states.stateStride,
                      states.entryStride);
      }
      return !outcome.failed();
    }
  };

  /// For terms that need the motion of rotors themselves.
  void makeRotorsWhole() { wholeRotors_ = true; }
  [[nodiscard]] bool wholeRotors() const { return wholeRotors_; }

  /// The loops that are left cut and the constraints of `table` (null: none) that are on; rotors on
  /// which they pull are then whole.
  const ActiveConstraints& useConstraints(const ConstraintTable* table) {
    batch_.active.clear();
    batch_.active.add(impl_.cuts);
    if (table != nullptr) {
      batch_.active.add(*table);
    }
    wholeRotors_ |= batch_.active.onRotors;
    return batch_.active;
  }

  /// Loops that are left cut have no kernel for several states at once.
  void mindCuts() { oneByOne_ |= !impl_.cuts.entries.empty(); }

  /// `compute(block)` gives false where it failed; `computeOne(worker, state)` is then asked for
  /// each of the block's states, and throws the error that says why.
  template <typename Compute, typename ComputeOne>
  void run(const Compute& compute, const ComputeOne& computeOne) {
    const Eigen::Index lanes = batch_.set.lanes;
    const Eigen::Index blocks = (q_.states + lanes - 1) / lanes;
    forEachBlock(batch_, blocks, [&](BatchWorker<T>& worker, Eigen::Index b) {
      const Eigen::Index first = b * lanes;
      const int count = static_cast<int>(std::min(lanes, q_.states - first));
      Block block{*this, worker, first, count};
      if (!oneByOne_ && compute(block)) {
        return;
      }
      for (Eigen::Index state = first; state < first + count; ++state) {
        computeWithNumber(q_.firstNumber + state, [&] { computeOne(worker, state); });
      }
    });
  }

  /// Kernels of q alone: `kernel(block, q, result)`.
  template <typename Kernel, typename ComputeOne>
  void runOnQ(const States<T>& results, const Kernel& kernel, const ComputeOne& computeOne) {
    run(
        [&](Block& block) {
          const T* q = block.gatherQ();
          if (!block.finite) {
            return false;
          }
          T* result = block.room(block.worker.result, results.entries);
          return block.finish(kernel(block, q, result), result, results);
        },
        computeOne);
  }

  /// A state as a vector.
  template <typename U>
  static void readRow(const States<const T>& states, Eigen::Index state, RowVector<U>& x) {
    x.resize(states.entries);
    for (Eigen::Index i = 0; i < states.entries; ++i) {
      x[i] = static_cast<U>(states.data[state * states.stateStride + i * states.entryStride]);
    }
  }
  static RowVector<T> row(const States<const T>& states, Eigen::Index state) {
    RowVector<T> x;
    readRow(states, state, x);
    return x;
  }
  template <typename Vector>
  static void setRow(const Vector& x, const States<T>& states, Eigen::Index state) {
    for (Eigen::Index i = 0; i < states.entries; ++i) {
      states.data[state * states.stateStride + i * states.entryStride] =
          static_cast<T>(x.data()[i]);
    }
  }
  RowVector<T> qOf(Eigen::Index state) const { return row(q_, state); }
  const States<const T>& q() const { return q_; }
  const ModelImpl& impl() const { return impl_; }

 private:
  bool quaternionsHaveLength(const T* q) const {
    const int lanes = batch_.set.lanes;
    for (const QuaternionEntry& entry : impl_.quaternions) {
      for (int l = 0; l < lanes; ++l) {
        T square(0);
        for (int i = 0; i < 4; ++i) {
          const T x = q[(entry.firstQ + i) * lanes + l];
          square += x * x;
        }
        if (!(square > T(1e-12))) {
          return false;
        }
      }
    }
    return true;
  }

  const ModelImpl& impl_;
  BatchImpl<T>& batch_;
  States<const T> q_;
  bool wholeRotors_ = false;
  bool oneByOne_ = false;
};

template <typename T>
using Block = typename BatchCall<T>::Block;

}  // namespace kempe::detail
