#pragma once

#include <optional>

#include "algorithms/differentiable.hpp"
#include "algorithms/term_evaluation.hpp"
#include "algorithms/varied_dynamics.hpp"

namespace kempe::detail {

/// The memory of DerivativeKernels, allocated at the first call.
template <typename T>
void* derivativeMemory(Evaluation<T>& e) {
  std::optional<AlignedMemory>& memory = e.data.derivatives;
  if (!memory) {
    memory.emplace(e.kernels().derivatives.memorySize(e.modelTables));
  }
  return memory->data();
}

/// An evaluation of derivatives of kinematics, at the motion that functions of kinematics share. The
/// Jacobians among them are those of `request`.
template <typename T>
class MotionDerivativeEvaluation : public TermEvaluation<T> {
 public:
  using VectorRef = typename TermEvaluation<T>::VectorRef;

  MotionDerivativeEvaluation(const Model& model, BasicData<T>& userData)
      : TermEvaluation<T>(model, userData) {
    requireExpressions(this->impl);
    if (!takesVariedDynamics(this->impl)) {
      derivatives.memory = derivativeMemory(*this);
    }
  }

  /// Checks the state and computes both requests; `a` is null where it is zero.
  void run(const VectorRef& q, const VectorRef& v, const VectorRef* a = nullptr) {
    this->request.needsVelocities = true;
    this->request.needsAccelerations = derivatives.accelerates();
    derivatives.frames = this->request.frames;
    derivatives.frameCount = this->request.frameCount;
    TermEvaluation<T>::run(q, &v, a);
    const T* const heldV = this->data.held.v();
    const T* const heldA = a == nullptr ? nullptr : this->data.held.a();
    if (takesVariedDynamics(this->impl)) {
      variedMotion<T>(*this, q, heldV, heldA, derivatives);
    } else {
      this->kernels().derivatives.motion(this->heldContext(), heldV, heldA, derivatives);
    }
  }

  MotionDerivativeRequest<T, T> derivatives;
};

}  // namespace kempe::detail
