#include <vector>

#include "batch/batch_forces.hpp"
#include "kempe/joint_forces.hpp"
#include "kernels/uneven_rotors.hpp"

/// Dynamics of many states with the forces between bodies.
namespace kempe {
namespace detail {
namespace {

/// Forward or inverse dynamics, x → y, and forces.
template <typename T>
class ForceCall {
 public:
  ForceCall(const Model& model, BasicBatch<T>& batch, const States<const T>& q,
            const BatchForceOptions<T>& how, bool inverse)
      : model_(model), call_(model, batch, q), how_(how), inverse_(inverse) {
    if (how.frame && how.reference) {
      throw std::invalid_argument(
          "reference and frame are both given: a frame has its own point and axes. Give one of "
          "the two");
    }
  }

  void run(const States<const T>& v, const States<const T>& x, const States<T>& y,
           const States<T>& joints, const States<T>& loops) {
    const ModelImpl& impl = call_.impl();
    call_.requireVelocity("v", v);
    call_.requireVelocity(inverse_ ? "a" : "tau", x);
    if (y.data != nullptr) {
      call_.requireVelocity(inverse_ ? "tau" : "a", y);
    }
    if (joints.data != nullptr) {
      call_.require("joints", joints,
                    Eigen::Index{6} * static_cast<Eigen::Index>(impl.tables.bodies.size()),
                    "6 for each joint");
    }
    if (loops.data != nullptr) {
      call_.require("loops", loops, model_.nLoopForces(), "model.nLoopForces");
    }
    const ForcesOfStates<T> external(call_, how_.external, x.states);
    prepareOptions();
    if (pullsAtUneven(impl.tables, external.ofBlock(nullptr))) {
      call_.makeRotorsWhole();
    }
    v_ = v;
    x_ = x;
    y_ = y;
    joints_ = joints;
    loops_ = loops;
    call_.run(
        [&](typename BatchCall<T>::Block& block) { return computeBlock(block, external); },
        [&](BatchWorker<T>& worker, Eigen::Index state) { computeOne(worker, state, external); });
  }

 private:
  void prepareOptions() {
    const ModelImpl& impl = call_.impl();
    if (how_.frame) {
      const FrameEntry& entry = frameAt(impl, *how_.frame);
      frame_ = {entry.body, entry.inBody.template cast<T>(), Reference::Local};
      if (entry.body != kWorld &&
          (impl.tables.bodies[entry.body].folded || isBesideUneven(impl.tables, entry.body))) {
        call_.makeRotorsWhole();
      }
    }
    reference_ = how_.reference.value_or(Reference::LocalWorldAligned);
    if (reference_ == Reference::Local && !how_.frame) {
      call_.makeRotorsWhole();
    }
    call_.mindCuts();
  }

  bool computeBlock(typename BatchCall<T>::Block& block, const ForcesOfStates<T>& external) const {
    BatchWorker<T>& worker = block.worker;
    const T* q = block.gatherQ();
    const T* v = block.gather(v_, worker.v);
    const T* x = block.gather(x_, worker.x);
    const T* wrenches = block.gather(external.wrenches(), worker.wrenches);
    if (!block.finite) {
      return false;
    }
    const KernelSet<T>& set = block.set();
    KernelContext<T> context = block.context();
    context.forcesFollow = true;
    const TablesView<T>& tables = context.tables;
    const Eigen::Index joints = Eigen::Index{6} * tables.bodyCount, nv = tables.nv;
    T* y = block.room(worker.result, nv + joints + loops_.entries);
    const KernelOutcome outcome = (inverse_ ? set.inverseDynamics : set.forwardDynamics)(
        context, q, v, x, external.ofBlock(wrenches), y);
    if (outcome.failed()) {
      return false;
    }
    InterBodyRequest<T, T> request;
    request.afterInverse = inverse_;
    request.rotorsDrive = how_.actuation == Actuation::Rotors;
    request.v = v;
    request.ydd = inverse_ ? x : y;
    request.tau = inverse_ ? y : x;
    request.frame = how_.frame ? &frame_ : nullptr;
    request.reference = reference_;
    T* afterY = y + nv * set.lanes;
    T* afterJoints = afterY + joints * set.lanes;
    request.joints = joints_.data == nullptr ? nullptr : afterY;
    request.loops = loops_.data == nullptr ? nullptr : afterJoints;
    if (set.interBodyForces(block.context(), request) >= 0) {
      return false;
    }
    const auto write = [&](const T* numbers, const States<T>& states) {
      if (states.data != nullptr) {
        block.finish(outcome, numbers, states);
      }
    };
    write(y, y_);
    write(afterY, joints_);
    write(afterJoints, loops_);
    return true;
  }

  void computeOne(BatchWorker<T>& worker, Eigen::Index state,
                  const ForcesOfStates<T>& external) const {
    const std::vector<FrameForce>& acting = external.ofState(state, worker);
    const ForceOptions how{.external = acting,
                           .reference = how_.reference,
                           .frame = how_.frame,
                           .actuation = how_.actuation};
    const Eigen::Index bodies =
        joints_.data == nullptr ? 0 : static_cast<Eigen::Index>(call_.impl().tables.bodies.size());
    RowVector<T> y(model_.nv()), loops(loops_.data == nullptr ? 0 : loops_.entries);
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> joints(bodies == 0 ? 0 : 6, bodies);
    const RowVector<T> q = call_.qOf(state), v = BatchCall<T>::row(v_, state),
                       x = BatchCall<T>::row(x_, state);
    if (inverse_) {
      inverseDynamicsAndForces<T>(model_, worker.data, q, v, x, y, joints, loops, how);
    } else {
      forwardDynamicsAndForces<T>(model_, worker.data, q, v, x, y, joints, loops, how);
    }
    const auto write = [&](const auto& numbers, const States<T>& states) {
      if (states.data != nullptr) {
        BatchCall<T>::setRow(numbers, states, state);
      }
    };
    write(y, y_);
    write(joints, joints_);
    write(loops, loops_);
  }

  const Model& model_;
  BatchCall<T> call_;
  const BatchForceOptions<T>& how_;
  bool inverse_;
  States<const T> v_{}, x_{};
  States<T> y_{}, joints_{}, loops_{};
  BodyFrame<T> frame_{};
  Reference reference_ = Reference::LocalWorldAligned;
};

}  // namespace
}  // namespace detail

template <typename T>
void forwardDynamicsAndForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                              StatesIn<T> v, StatesIn<T> tau, StatesOut<T> a, StatesOut<T> joints,
                              StatesOut<T> loops,
                              const BatchForceOptions<std::type_identity_t<T>>& how) {
  detail::ForceCall<T>(model, batch, q, how, false).run(v, tau, a, joints, loops);
}

template <typename T>
void inverseDynamicsAndForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                              StatesIn<T> v, StatesIn<T> a, StatesOut<T> tau, StatesOut<T> joints,
                              StatesOut<T> loops,
                              const BatchForceOptions<std::type_identity_t<T>>& how) {
  detail::ForceCall<T>(model, batch, q, how, true).run(v, a, tau, joints, loops);
}

#define KEMPE_INSTANTIATE(T)                                                                      \
  template void forwardDynamicsAndForces<T>(const Model&, BasicBatch<T>&, StatesIn<T>,            \
                                            StatesIn<T>, StatesIn<T>, StatesOut<T>, StatesOut<T>, \
                                            StatesOut<T>, const BatchForceOptions<T>&);           \
  template void inverseDynamicsAndForces<T>(const Model&, BasicBatch<T>&, StatesIn<T>,            \
                                            StatesIn<T>, StatesIn<T>, StatesOut<T>, StatesOut<T>, \
                                            StatesOut<T>, const BatchForceOptions<T>&);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
