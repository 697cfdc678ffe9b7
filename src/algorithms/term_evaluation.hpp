#pragma once

#include <utility>

#include "algorithms/varied_dynamics.hpp"

namespace kempe::detail {

/// An evaluation of kinematics, or of terms that follow from them. The motion of the bodies stays in
/// Data, where the next one finds it if it is at the same state (HeldMotion).
template <typename T>
class TermEvaluation : public Evaluation<T> {
 public:
  using VectorRef = Eigen::Ref<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  using Evaluation<T>::Evaluation;

  /// The frame of the request below, with rotors whole if it is on one.
  void setFrame(int index, Reference reference) {
    const FrameEntry& entry = this->frame(index);
    frame_ = this->bodyFrame(entry, reference);
    wholeRotors |= entry.body != kWorld && this->modelTables.bodies[entry.body].folded;
    request.frames = &frame_;
    request.frameCount = 1;
  }
  void setFrames(const BodyFrame<T>* frames, std::size_t count) {
    request.frames = frames;
    request.frameCount = static_cast<int>(count);
    wholeRotors |= this->work->wholeRotors;
  }

  /// Checks the state and computes the request. `v` and `a` are needed if the request needs them.
  void run(const VectorRef& q, const VectorRef* v = nullptr, const VectorRef* a = nullptr) {
    if (request.coriolis && takesVariedDynamics(this->impl)) {
      const MatrixAt<T> C = std::exchange(request.coriolis, {});
      run(q, v, a);
      variedCoriolis<T>(*this, q, v->data(), C);
      return;
    }
    requireSize("q", q.size(), this->impl.tables.nq, "model.nq");
    for (const auto& [name, x] : {std::pair{"v", v}, std::pair{"a", a}}) {
      if (x != nullptr) {
        requireSize(name, x->size(), this->impl.tables.nv, "model.nv");
      }
    }
    const T* ofV = v == nullptr ? nullptr : v->data();
    const T* ofA = a == nullptr ? nullptr : a->data();
    HeldMotion<T>& held = this->data.held;
    const MotionLevel wanted = request.level(a != nullptr);
    const MotionLevel known = held.levelAt(q.data(), ofV, ofA, wholeRotors);
    // What is held was finite.
    if (known == MotionLevel::None) {
      this->requireQ(q);
    }
    if (v != nullptr && known < MotionLevel::Velocities) {
      requireFinite("v", *v);
    }
    if (a != nullptr && known < MotionLevel::Accelerations) {
      requireFinite("a", *a);
    }
    const bool whole = known == MotionLevel::None ? wholeRotors : held.wholeRotors();
    this->work->wholeRotors = whole;
    const bool solved = held.hasLoopsAt(q.data(), whole);
    if (known < wanted) {
      held.prepare(known, q.data(), ofV, ofA, wholeRotors);
    }
    KernelContext<T> context = this->heldContext();
    context.loopsSolved = solved;
    this->require(this->kernels().terms.evaluate(context, held.q(), held.v(), held.a(), known,
                                                 wanted, request),
                  q);
    if (known < wanted) {
      held.reach(wanted);
    }
    if (solved) {
      held.keepLoops();
    }
  }

  TermRequest<T, T> request;
  bool wholeRotors = false;

 private:
  BodyFrame<T> frame_;
};

/// A matrix of the user as output.
template <typename T>
MatrixAt<T> matrixAt(MatrixOutOf<T>& matrix) {
  return {matrix.data(), 1, static_cast<int>(matrix.outerStride())};
}

}  // namespace kempe::detail
