#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/term_evaluation.hpp"
#include "batch/batch_call.hpp"
#include "kempe/all_terms.hpp"

/// Kinematics of many states, and the terms that follow from them.
namespace kempe {
namespace detail {
namespace {

/// A call of the kernel for terms, on outputs that are named one by one.
template <typename T>
class TermCall {
 public:
  using Request = TermRequest<T, T>;
  /// Makes numbers of one state, or of a block, the place of an output.
  using Place = void (*)(Request& request, T* numbers, int nv);

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
    call_.require(name, states, entries, meaning);
    outputs_[count_++] = {states, entries_, place};
    entries_ += entries;
    return *this;
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

  void run() {
    call_.run([&](typename BatchCall<T>::Block& block) { return computeBlock(block); },
              [&](BatchWorker<T>& worker, Eigen::Index state) { computeOne(worker, state); });
  }

  [[nodiscard]] int nv() const { return call_.impl().tables.nv; }

 private:
  struct Output {
    States<T> states;
    Eigen::Index first = 0;  ///< among the numbers of a state
    Place place = nullptr;
  };

  /// With as many numbers between outputs as `lanes` states have.
  Request requestAt(T* numbers, Eigen::Index lanes) const {
    Request request;
    request.frames = frames_;
    request.frameCount = frameCount_;
    for (int i = 0; i < count_; ++i) {
      outputs_[i].place(request, numbers + outputs_[i].first * lanes, nv());
    }
    return request;
  }

  bool computeBlock(typename BatchCall<T>::Block& block) const {
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
    const KernelOutcome outcome =
        kernels.evaluate(context, q, v, a, MotionLevel::None, request.level(a != nullptr), request);
    for (int i = 0; i < count_; ++i) {
      block.finish(outcome, numbers + outputs_[i].first * lanes, outputs_[i].states);
    }
    return !outcome.failed();
  }

  void computeOne(BatchWorker<T>& worker, Eigen::Index state) const {
    using VectorRef = typename TermEvaluation<T>::VectorRef;
    RowVector<T> numbers(entries_), v, a;
    const auto read = [&](const States<const T>& states, RowVector<T>& x) {
      if (states.data != nullptr) {
        x = BatchCall<T>::row(states, state);
      }
    };
    read(v_, v);
    read(a_, a);
    TermEvaluation<T> e(model_, worker.data);
    e.request = requestAt(numbers.data(), 1);
    e.request.coriolisMemory = coriolis_ ? e.data.coriolis.data() : nullptr;
    e.wholeRotors = call_.wholeRotors();
    const RowVector<T> q = call_.qOf(state);
    const VectorRef qView(q), vView(v), aView(a);
    e.run(qView, v_.data == nullptr ? nullptr : &vView, a_.data == nullptr ? nullptr : &aView);
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
  bool coriolis_ = false;
  std::array<Output, kMost> outputs_{};
  Eigen::Index entries_ = 0;
};

// Outputs that more than one function has.

template <typename T>
void addPlacements(TermCall<T>& call, const States<T>& placements) {
  call.outputOfFrames("placements", placements, 12, "12 for each frame",
                      [](auto& r, T* x, int) { r.placements = x; });
}
template <typename T>
void addVelocities(TermCall<T>& call, const States<T>& velocities) {
  call.outputOfFrames("velocities", velocities, 6, "6 for each frame",
                      [](auto& r, T* x, int) { r.velocities = x; });
}
template <typename T>
void addAccelerations(TermCall<T>& call, const char* name, const States<T>& accelerations) {
  call.outputOfFrames(name, accelerations, 6, "6 for each frame",
                      [](auto& r, T* x, int) { r.accelerations = x; });
}
template <typename T>
void addJacobians(TermCall<T>& call, const States<T>& J) {
  call.outputOfFrames("J", J, Eigen::Index{6} * call.nv(), "6 model.nv for each frame",
                      [](auto& r, T* x, int n) {
                        r.jacobians = {x, n, 1};
                        r.jacobianStride = 6 * n;
                      });
}
template <typename T>
void addMassMatrix(TermCall<T>& call, const States<T>& H) {
  call.output("H", H, Eigen::Index{call.nv()} * call.nv(), "model.nv squared",
              [](auto& r, T* x, int n) {
                r.H = x;
                r.stride = n;
              });
}
template <typename T>
void addBias(TermCall<T>& call, const States<T>& h) {
  call.output("h", h, call.nv(), "model.nv", [](auto& r, T* x, int) { r.bias = x; });
}
template <typename T>
void addGravity(TermCall<T>& call, const States<T>& tau) {
  call.output("tau", tau, call.nv(), "model.nv", [](auto& r, T* x, int) { r.gravity = x; });
}
template <typename T>
void addCenterOfMass(TermCall<T>& call, const States<T>& centers) {
  call.output("centers", centers, 3, "the size of a point",
              [](auto& r, T* x, int) { r.centerOfMass = x; });
}
template <typename T>
void addCenterJacobian(TermCall<T>& call, const States<T>& J) {
  call.output("J", J, Eigen::Index{3} * call.nv(), "3 model.nv", [](auto& r, T* x, int n) {
    r.centerOfMassJacobian = {x, n, 1};
  });
}
template <typename T>
void addMomentum(TermCall<T>& call, const States<T>& h) {
  call.output("h", h, 6, "the size of a spatial vector",
              [](auto& r, T* x, int) { r.momentum = x; });
}
template <typename T>
void addMomentumMatrix(TermCall<T>& call, const States<T>& A) {
  call.output("A", A, Eigen::Index{6} * call.nv(), "6 model.nv", [](auto& r, T* x, int n) {
    r.momentumMatrix = {x, n, 1};
  });
}
template <typename T>
void addEnergy(TermCall<T>& call, const States<T>& energies) {
  call.output("energies", energies, 2, "kinetic and potential energy",
              [](auto& r, T* x, int) { r.energy = x; });
}

}  // namespace
}  // namespace detail

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void massMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> H) {
  TermCall<T> call(model, batch, q);
  addMassMatrix<T>(call, H);
  call.run();
}

template <typename T>
void forwardKinematics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                       std::span<const int> frames, StatesOut<T> placements) {
  TermCall<T> call(model, batch, q);
  call.takeFrames(frames, Reference::Local);
  addPlacements<T>(call, placements);
  call.run();
}

template <typename T>
void frameVelocity(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                   std::span<const int> frames, StatesOut<T> velocities, Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeFrames(frames, reference);
  addVelocities<T>(call, velocities);
  call.run();
}

template <typename T>
void frameAcceleration(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                       StatesIn<T> a, std::span<const int> frames, StatesOut<T> accelerations,
                       Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeA(a).takeFrames(frames, reference);
  addAccelerations<T>(call, "accelerations", accelerations);
  call.run();
}

template <typename T>
void frameJacobian(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                   std::span<const int> frames, StatesOut<T> J, Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeFrames(frames, reference);
  addJacobians<T>(call, J);
  call.run();
}

template <typename T>
void frameJacobianRate(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                       std::span<const int> frames, StatesOut<T> rates, Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeFrames(frames, reference);
  addAccelerations<T>(call, "rates", rates);
  call.run();
}

template <typename T>
void biasForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                StatesOut<T> h) {
  TermCall<T> call(model, batch, q);
  call.takeV(v);
  addBias<T>(call, h);
  call.run();
}

template <typename T>
void gravityForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> tau) {
  TermCall<T> call(model, batch, q);
  addGravity<T>(call, tau);
  call.run();
}

template <typename T>
void centerOfMass(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> centers) {
  TermCall<T> call(model, batch, q);
  addCenterOfMass<T>(call, centers);
  call.run();
}

template <typename T>
void centerOfMassJacobian(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> J) {
  TermCall<T> call(model, batch, q);
  addCenterJacobian<T>(call, J);
  call.run();
}

template <typename T>
void momentum(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
              StatesOut<T> h) {
  TermCall<T> call(model, batch, q);
  call.takeV(v);
  addMomentum<T>(call, h);
  call.run();
}

template <typename T>
void centroidalMomentumMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                              StatesOut<T> A) {
  TermCall<T> call(model, batch, q);
  addMomentumMatrix<T>(call, A);
  call.run();
}

template <typename T>
void energy(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
            StatesOut<T> energies) {
  TermCall<T> call(model, batch, q);
  call.takeV(v);
  addEnergy<T>(call, energies);
  call.run();
}

template <typename T>
void coriolisMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                    StatesOut<T> C) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).outputCoriolis(C);
  call.run();
}

template <typename T>
void allTerms(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
              std::span<const int> frames, const BatchTerms<std::type_identity_t<T>>& terms,
              Reference reference) {
  TermCall<T> call(model, batch, q);
  call.takeV(v).takeFrames(frames, reference);
  const auto add = [&](const States<T>& states, const auto& addIt) {
    if (states.data != nullptr) {
      addIt(call, states);
    }
  };
  add(terms.H, &addMassMatrix<T>);
  add(terms.bias, &addBias<T>);
  add(terms.gravity, &addGravity<T>);
  add(terms.centerOfMass, &addCenterOfMass<T>);
  add(terms.centerOfMassJacobian, &addCenterJacobian<T>);
  add(terms.momentum, &addMomentum<T>);
  add(terms.centroidalMomentumMatrix, &addMomentumMatrix<T>);
  add(terms.energy, &addEnergy<T>);
  add(terms.placements, &addPlacements<T>);
  add(terms.velocities, &addVelocities<T>);
  add(terms.jacobians, &addJacobians<T>);
  add(terms.jacobianRates, [](TermCall<T>& c, const States<T>& rates) {
    addAccelerations<T>(c, "jacobianRates", rates);
  });
  call.run();
}

#define KEMPE_INSTANTIATE(T)                                                                       \
  template void massMatrix<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesOut<T>);            \
  template void forwardKinematics<T>(const Model&, BasicBatch<T>&, StatesIn<T>,                    \
                                     std::span<const int>, StatesOut<T>);                          \
  template void frameVelocity<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,           \
                                 std::span<const int>, StatesOut<T>, Reference);                   \
  template void frameAcceleration<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,       \
                                     StatesIn<T>, std::span<const int>, StatesOut<T>, Reference);  \
  template void frameJacobian<T>(const Model&, BasicBatch<T>&, StatesIn<T>, std::span<const int>,  \
                                 StatesOut<T>, Reference);                                         \
  template void frameJacobianRate<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,       \
                                     std::span<const int>, StatesOut<T>, Reference);               \
  template void biasForces<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,              \
                              StatesOut<T>);                                                       \
  template void gravityForces<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesOut<T>);         \
  template void centerOfMass<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesOut<T>);          \
  template void centerOfMassJacobian<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesOut<T>);  \
  template void momentum<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>, StatesOut<T>); \
  template void centroidalMomentumMatrix<T>(const Model&, BasicBatch<T>&, StatesIn<T>,             \
                                            StatesOut<T>);                                         \
  template void energy<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>, StatesOut<T>);   \
  template void coriolisMatrix<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,          \
                                  StatesOut<T>);                                                   \
  template void allTerms<T>(const Model&, BasicBatch<T>&, StatesIn<T>, StatesIn<T>,                \
                            std::span<const int>, const BatchTerms<T>&, Reference);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
