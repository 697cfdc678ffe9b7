// Compiled once for each instruction set and scalar type; see kernel_types.hpp.

#include <algorithm>

#include "kernels/forward_dynamics.hpp"
#include "kernels/inverse_dynamics_derivatives.hpp"
#include "kernels/kinematic_derivatives.hpp"
#include "kernels/tree_factor.hpp"
#include "lanes/kernel_types.hpp"

namespace kempe::detail {
namespace {

/// Functions of DerivativeKernels, computing with T.
template <typename T>
struct Derivatives : KernelArguments<T> {
  using Base = KernelArguments<T>;

  /// The parts of DerivativeRequest::memory.
  struct Memory {
    DerivativeWork<T> work;
    T* a;        ///< nv
    T* H;        ///< nv × nv
    T* sides;    ///< nv rows of sidesWidth(): ∂τ/∂q, ∂τ/∂v, 1
    int* chain;  ///< nv
  };
  static Memory carve(const TablesView<S>& tables, Carver& carver) {
    const int n = tables.nv;
    return {carveDerivatives<T>(tables, carver), carver.take<T>(n), carver.take<T>(n * n),
            carver.take<T>(n * sidesWidth(n)), carver.take<int>(n)};
  }
  static int sidesWidth(int n) {
    constexpr int multiple = Lanes<T>::kRowMultiple;
    return (3 * n + multiple - 1) / multiple * multiple;
  }
  static Memory memoryOf(const KernelContext<S>& context, const DerivativeRequest<S, S>& request) {
    Carver carver(static_cast<std::byte*>(request.memory));
    return carve(context.tables, carver);
  }
  static std::size_t memorySize(const TablesView<S>& tables) {
    Carver ofDynamics(nullptr), ofMotion(nullptr);
    carve(tables, ofDynamics);
    carveKinematicDerivatives<T>(tables, ofMotion);
    return std::max(ofDynamics.used(), ofMotion.used());
  }

  static KernelOutcome differentiate(const KernelContext<S>& context, const Memory& memory,
                                     const T* q, const T* v, const T* a,
                                     const ExternalForces<T, S>& external,
                                     const DerivativeMatrices<T>& result) {
    ImplicitLoops<T> loops = Base::loopsOf(context);
    InverseDynamicsDerivativesKernel kernel(context.tables, Base::workOf(context), memory.work,
                                            external, result);
    return {kernel.run(loops, q, v, a), -1};
  }

  static KernelOutcome inverseDynamics(const KernelContext<S>& context, const S* q, const S* v,
                                       const S* a, const ExternalForces<S, S>& external,
                                       const DerivativeRequest<S, S>& request) {
    const auto& own = Base::template samePointers<DerivativeRequest>(request);
    return differentiate(context, memoryOf(context, request), Base::lanes(q), Base::lanes(v),
                         Base::lanes(a), Base::lanes(external), {own.byQ, own.byV, own.third});
  }

  /// Those of inverse dynamics at rest.
  static KernelOutcome gravityForces(const KernelContext<S>& context, const S* q,
                                     const DerivativeRequest<S, S>& request) {
    const Memory memory = memoryOf(context, request);
    const int n = context.tables.nv;
    for (int i = 0; i < n; ++i) {
      memory.a[i] = T(0);
    }
    const auto& own = Base::template samePointers<DerivativeRequest>(request);
    return differentiate(context, memory, Base::lanes(q), memory.a, memory.a, {},
                         {own.byQ, {memory.sides, n, 1}, {memory.H, n, 1}});
  }

  /// ∂a/∂x = −H⁻¹ ∂τ/∂x at the accelerations a, ∂a/∂τ = H⁻¹.
  static KernelOutcome forwardDynamics(const KernelContext<S>& context, const S* q, const S* v,
                                       const S* tau, const ExternalForces<S, S>& external,
                                       const DerivativeRequest<S, S>& request) {
    const Memory memory = memoryOf(context, request);
    ImplicitLoops<T> loops = Base::loopsOf(context);
    const KernelOutcome outcome = forwardDynamicsKernel<LevelByLevel>(
        context.tables, Base::workOf(context), loops, Base::lanes(q), Base::lanes(v),
        Base::lanes(tau), Base::lanes(external), memory.a);
    if (outcome.failed()) {
      return outcome;
    }
    const int n = context.tables.nv, width = sidesWidth(n);
    differentiate(context, memory, Base::lanes(q), Base::lanes(v), memory.a, Base::lanes(external),
                  {{memory.sides, width, 1}, {memory.sides + n, width, 1}, {memory.H, n, 1}});
    for (int i = 0; i < n; ++i) {
      for (int j = 2 * n; j < width; ++j) {
        memory.sides[i * width + j] = T(i + 2 * n == j ? 1 : 0);
      }
    }
    const TreeFactor factor(context.tables, memory.H, memory.chain);
    factor.factor();
    factor.solve(memory.sides, width);
    const auto& own = Base::template samePointers<DerivativeRequest>(request);
    for (int i = 0; i < n; ++i) {
      const T* row = memory.sides + i * width;
      for (int j = 0; j < n; ++j) {
        own.byQ(i, j) = -row[j];
        own.byV(i, j) = -row[n + j];
        own.third(i, j) = row[2 * n + j];
      }
    }
    return {};
  }

  static void motion(const KernelContext<S>& context, const S* v, const S* a,
                     const MotionDerivativeRequest<S, S>& request) {
    const auto& own = Base::template samePointers<MotionDerivativeRequest>(request);
    Carver carver(static_cast<std::byte*>(request.memory));
    const KinematicDerivativeWork<T> work = carveKinematicDerivatives<T>(context.tables, carver);
    KinematicDerivativesKernel(context.tables, Base::workOf(context), work, Base::lanes(v),
                               Base::lanes(a), own)
        .run();
  }
  static DerivativeKernels<S> set() {
    return {&inverseDynamics, &forwardDynamics, &gravityForces, &memorySize, &motion};
  }
};

}  // namespace

/// Declared in kernels.cpp.
DerivativeKernels<S> KEMPE_JOIN(derivativeKernels_, KEMPE_ISA, _, KEMPE_SCALAR)(bool many) {
  return many ? Derivatives<ManyStates>::set() : Derivatives<OneState>::set();
}

}  // namespace kempe::detail
