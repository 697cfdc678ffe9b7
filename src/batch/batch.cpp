#include "kempe/batch.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cmath>
#include <optional>
#include <thread>

#include "kempe/configuration.hpp"
#include "kempe/errors.hpp"
#include "kempe/forward_dynamics.hpp"
#include "kempe/inverse_dynamics.hpp"
#include "kempe/kinematics.hpp"
#include "kempe/mass_matrix.hpp"
#include "kempe/operational_inertia.hpp"
#include "model/arguments.hpp"

namespace kempe {
namespace detail {

template <typename T>
using RowVector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Numbers of several states, lane by lane, on a boundary of registers. Grows, never shrinks.
template <typename T>
class LaneBuffer {
 public:
  T* of(std::size_t numbers) {
    if (numbers > size_) {
      memory_ = AlignedMemory(numbers * sizeof(T));
      size_ = numbers;
    }
    return reinterpret_cast<T*>(memory_.data());
  }

 private:
  AlignedMemory memory_{0};
  std::size_t size_ = 0;
};

/// The scratch memory of one thread.
template <typename T>
struct BatchWorker {
  BatchWorker(const Model& model, const KernelSet<T>& set)
      : data(model), dataDouble(model), kernels(set, viewOf<T>(model.impl())) {}

  BasicData<T> data;  ///< for states that have to be computed on their own
  Data dataDouble;
  KernelMemory<T> kernels;
  LaneBuffer<T> q, v, x, wrenches, W, result;
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
};

namespace {

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
    KernelContext<T> context() const {
      return {call.batch_.tables, worker.kernels.data(), call.impl_.mechanism.functions,
              worker.data.impl().loops.forFunctions(), call.wholeRotors_};
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

  /// Loops that are left cut have no kernel for several states at once.
  void mindCuts() { oneByOne_ = !impl_.cuts.entries.empty(); }

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

/// Forward or inverse dynamics, x → y.
template <typename T, typename Kernel, typename One>
void runDynamics(BatchCall<T>& call, const States<const T>& v, const States<const T>& x,
                 const States<T>& y, const BatchForces<T>& external, Kernel kernel,
                 const One& one) {
  const auto forces = static_cast<Eigen::Index>(external.frames.size());
  States<const T> wrenches = external.wrenches;
  wrenches.states = forces == 0 ? y.states : wrenches.states;
  call.require("external.wrenches", wrenches, 6 * forces, "6 for each frame");
  const BodyFrame<T>* frames = call.prepareFrames(external.frames, external.reference);
  call.run(
      [&](Block<T>& block) {
        const T* blockQ = block.gatherQ();
        const T* blockV = block.gather(v, block.worker.v);
        const T* blockX = block.gather(x, block.worker.x);
        const T* blockWrenches = block.gather(wrenches, block.worker.wrenches);
        if (!block.finite) {
          return false;
        }
        T* result = block.room(block.worker.result, y.entries);
        const KernelOutcome outcome =
            (block.set().*kernel)(block.context(), blockQ, blockV, blockX,
                                  {frames, blockWrenches, static_cast<int>(forces)}, result);
        return block.finish(outcome, result, y);
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        std::vector<FrameForce> single;
        const RowVector<T> own = BatchCall<T>::row(wrenches, state);
        for (std::size_t f = 0; f < external.frames.size(); ++f) {
          FrameForce force{external.frames[f], {}, external.reference};
          for (std::size_t i = 0; i < 6; ++i) {
            force.wrench[i] = static_cast<double>(own[static_cast<Eigen::Index>(6 * f + i)]);
          }
          single.push_back(force);
        }
        RowVector<T> result(y.entries);
        one(worker, call.qOf(state), BatchCall<T>::row(v, state), BatchCall<T>::row(x, state),
            result, DynamicsOptions{.external = single});
        BatchCall<T>::setRow(result, y, state);
      });
}

}  // namespace
}  // namespace detail

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
BasicBatch<T>::BasicBatch(const Model& model, const BatchOptions& options) {
  if (options.threads < 0) {
    throw std::invalid_argument("threads is " + std::to_string(options.threads) +
                                ", but must be 0 (all) or a number of threads");
  }
  const int available = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  impl_ = std::make_unique<BatchImpl<T>>(model, options.threads == 0 ? available : options.threads);
}
template <typename T>
BasicBatch<T>::BasicBatch(BasicBatch&&) noexcept = default;
template <typename T>
BasicBatch<T>& BasicBatch<T>::operator=(BasicBatch&&) noexcept = default;
template <typename T>
BasicBatch<T>::~BasicBatch() = default;
template <typename T>
int BasicBatch<T>::lanes() const {
  return impl_->set.lanes;
}
template <typename T>
int BasicBatch<T>::threads() const {
  return static_cast<int>(impl_->workers.size());
}
template class BasicBatch<double>;
template class BasicBatch<float>;

template <typename T>
void inverseDynamics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                     StatesIn<T> a, StatesOut<T> tau,
                     const BatchForces<std::type_identity_t<T>>& external) {
  BatchCall<T> call(model, batch, q);
  call.requireVelocity("v", v);
  call.requireVelocity("a", a);
  call.requireVelocity("tau", tau);
  runDynamics<T>(call, v, a, tau, external, &KernelSet<T>::inverseDynamics,
                 [&](BatchWorker<T>& worker, auto&&... arguments) {
                   inverseDynamics<T>(model, worker.data, arguments...);
                 });
}

template <typename T>
void forwardDynamics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                     StatesIn<T> tau, StatesOut<T> a,
                     const BatchForces<std::type_identity_t<T>>& external) {
  BatchCall<T> call(model, batch, q);
  call.requireVelocity("v", v);
  call.requireVelocity("tau", tau);
  call.requireVelocity("a", a);
  call.mindCuts();
  runDynamics<T>(call, v, tau, a, external, &KernelSet<T>::forwardDynamics,
                 [&](BatchWorker<T>& worker, auto&&... arguments) {
                   forwardDynamics<T>(model, worker.data, arguments...);
                 });
}

template <typename T>
void massMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> H) {
  BatchCall<T> call(model, batch, q);
  const int nv = call.impl().tables.nv;
  call.require("H", H, static_cast<Eigen::Index>(nv) * nv, "model.nv squared");
  call.runOnQ(
      H,
      [&](Block<T>& block, const T* blockQ, T* result) {
        return block.set().massMatrix(block.context(), blockQ, result, nv);
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> one(nv, nv);
        massMatrix<T>(model, worker.data, call.qOf(state), one);
        call.setRow(one, H, state);
      });
}

template <typename T>
void inverseOperationalInertia(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                               std::span<const int> frames, StatesOut<T> Omega,
                               Reference reference) {
  BatchCall<T> call(model, batch, q);
  const int size = 6 * static_cast<int>(frames.size());
  call.require("Omega", Omega, static_cast<Eigen::Index>(size) * size, "(6 frames) squared");
  const BodyFrame<T>* bodyFrames = call.prepareFrames(frames, reference);
  call.mindCuts();
  call.runOnQ(
      Omega,
      [&](Block<T>& block, const T* blockQ, T* result) {
        T* W = block.room(block.worker.W, static_cast<Eigen::Index>(size) * call.impl().tables.nv);
        return block.set().inverseOperationalInertia(
            block.context(), blockQ, bodyFrames, static_cast<int>(frames.size()), W, result, size);
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> one(size, size);
        inverseOperationalInertia<T>(model, worker.data, call.qOf(state), frames, one, reference);
        call.setRow(one, Omega, state);
      });
}

template <typename T>
void forwardKinematics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                       std::span<const int> frames, StatesOut<T> placements) {
  BatchCall<T> call(model, batch, q);
  const int count = static_cast<int>(frames.size());
  call.require("placements", placements, static_cast<Eigen::Index>(12) * count,
               "12 for each frame");
  const BodyFrame<T>* bodyFrames = call.prepareFrames(frames, Reference::Local);
  call.runOnQ(
      placements,
      [&](Block<T>& block, const T* blockQ, T* result) {
        return block.set().framePlacements(block.context(), blockQ, bodyFrames, count, result);
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        const RowVector<T> one = call.qOf(state);
        RowVector<T> result(placements.entries);
        for (int f = 0; f < count; ++f) {
          const Transform<T> X =
              framePlacement<T>(model, worker.data, one, frames[static_cast<std::size_t>(f)]);
          for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
              result[12 * f + 3 * i + j] = X.R(i, j);
            }
            result[12 * f + 9 + i] = X.p[i];
          }
        }
        call.setRow(result, placements, state);
      });
}

template <typename T>
void integrate(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
               std::type_identity_t<T> dt, StatesOut<T> result) {
  BatchCall<T> call(model, batch, q);
  call.requireVelocity("v", v);
  call.require("result", result, call.impl().tables.nq, "model.nq");
  if (!std::isfinite(dt)) {
    throw std::invalid_argument("dt is not finite");
  }
  bool implicit = false;
  for (const ClusterEntry& cluster : call.impl().tables.clusters) {
    implicit |= cluster.kind == ClusterKind::Implicit;
  }
  call.run(
      [&](Block<T>& block) {
        if (implicit) {
          return false;
        }
        const T* blockQ = block.gatherQ();
        const T* blockV = block.gather(v, block.worker.v);
        if (!block.finite) {
          return false;
        }
        T* next = block.room(block.worker.result, result.entries);
        block.set().integrate(block.context(), blockQ, blockV, dt, next);
        return block.finish({}, next, result);
      },
      [&](BatchWorker<T>& worker, Eigen::Index state) {
        call.readRow(q, state, worker.position);
        call.readRow(v, state, worker.velocity);
        integrate(model, worker.dataDouble, worker.position, worker.velocity,
                  static_cast<double>(dt), worker.position);
        call.setRow(worker.position, result, state);
      });
}

template <typename T>
void forEachState(const Model& model, BasicBatch<T>& batch, Eigen::Index states,
                  const std::function<void(BasicData<std::type_identity_t<T>>& data,
                                           Eigen::Index state)>& compute,
                  Eigen::Index firstNumber) {
  requireBatch(model.impl(), batch.impl());
  forEachBlock(batch.impl(), states, [&](BatchWorker<T>& worker, Eigen::Index state) {
    computeWithNumber(firstNumber + state, [&] { compute(worker.data, state); });
  });
}

#define KEMPE_INSTANTIATE(T)                                                                 \
  template void inverseDynamics<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,   \
                                   StatesIn<T>, StatesOut<T>, const BatchForces<T>&);        \
  template void forwardDynamics<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,   \
                                   StatesIn<T>, StatesOut<T>, const BatchForces<T>&);        \
  template void massMatrix<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesOut<T>);      \
  template void inverseOperationalInertia<T>(const Model&, BasicBatch<T>&, StatesIn<T>,      \
                                             std::span<const int>, StatesOut<T>, Reference); \
  template void forwardKinematics<T>(const Model&, BasicBatch<T>&, StatesIn<T>,              \
                                     std::span<const int>, StatesOut<T>);                    \
  template void integrate<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>, T,      \
                             StatesOut<T>);                                                  \
  template void forEachState<T>(const Model&, BasicBatch<T>&, Eigen::Index,                  \
                                const std::function<void(BasicData<T>&, Eigen::Index)>&,     \
                                Eigen::Index);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
