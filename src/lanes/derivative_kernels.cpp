// Compiled once for each instruction set and scalar type; see kernel_types.hpp.

#include <algorithm>

#include "kernels/forward_dynamics.hpp"
#include "kernels/forward_dynamics_derivatives.hpp"
#include "kernels/inverse_dynamics_derivatives.hpp"
#include "kernels/kinematic_derivatives.hpp"
#include "lanes/kernel_types.hpp"
#ifdef KEMPE_WIDE
#include "lanes/wide_rows.hpp"
#endif

namespace kempe::detail {
namespace {

/// Functions of DerivativeKernels, computing with T.
template <typename T>
struct Derivatives : KernelArguments<T> {
  using Base = KernelArguments<T>;

  /// The parts of DerivativeRequest::memory.
  struct Memory {
    DerivativeWork<T> work;
    InverseMassMatrixWork<T> inverse;
    T* a;          ///< nv
    T *byQ, *byV;  ///< nv × nv, column-major: of τ
  };
  static Memory carve(const TablesView<S>& tables, Carver& carver) {
    const int n = tables.nv;
    return {carveDerivatives<T>(tables, carver), carveInverseMassMatrix<T>(tables, carver),
            carver.take<T>(n), carver.take<T>(n * n), carver.take<T>(n * n)};
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

  /// Packs of states go down a limb and back before the next, so that it stays in the nearest cache.
  using Order = std::conditional_t<(Base::kLanes > 1), DepthFirst, LevelByLevel>;

  static KernelOutcome inverseDynamics(const KernelContext<S>& context, const S* q, const S* v,
                                       const S* a, const ExternalForces<S, S>& external,
                                       const DerivativeRequest<S, S>& request) {
    const Memory memory = memoryOf(context, request);
    const auto& own = Base::template samePointers<DerivativeRequest>(request);
    const DerivativeMatrices<T> result{own.byQ, own.byV, own.third};
    const ExternalForces<T, S> forces = Base::lanes(external);
    ImplicitLoops<T> loops = Base::loopsOf(context);
    InverseDynamicsDerivativesKernel kernel(context.tables, Base::workOf(context), memory.work,
                                            forces, result);
    return {kernel.template run<Order>(loops, Base::lanes(q), Base::lanes(v), Base::lanes(a)), -1};
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
    const DerivativeMatrices<T> result{own.byQ, {memory.byV, n, 1}, {}};
    const ExternalForces<T, S> none{};
    ImplicitLoops<T> loops = Base::loopsOf(context);
    InverseDynamicsDerivativesKernel kernel(context.tables, Base::workOf(context), memory.work,
                                            none, result);
    return {kernel.template run<Order>(loops, Base::lanes(q), memory.a, memory.a), -1};
  }

  static KernelOutcome forwardDynamics(const KernelContext<S>& context, const S* q, const S* v,
                                       const S* tau, const ExternalForces<S, S>& external,
                                       const DerivativeRequest<S, S>& request) {
    const Memory memory = memoryOf(context, request);
    const WorkView<T>& work = Base::workOf(context);
    const ExternalForces<T, S> forces = Base::lanes(external);
    ImplicitLoops<T> loops = Base::loopsOf(context);
    const KernelOutcome outcome =
        forwardDynamicsKernel<Order>(context.tables, work, loops, Base::lanes(q), Base::lanes(v),
                                     Base::lanes(tau), forces, memory.a);
    if (outcome.failed()) {
      return outcome;
    }
    const int n = context.tables.nv;
    const DerivativeMatrices<T> ofForces{
        {memory.byQ, 1, n}, {memory.byV, 1, n}, {}, memory.inverse.L};
    InverseDynamicsDerivativesKernel kernel(context.tables, work, memory.work, forces, ofForces);
    kernel.template runAfterForwardDynamics<Order>(loops, Base::lanes(v), memory.a);
    const auto& own = Base::template samePointers<DerivativeRequest>(request);
    InverseMassMatrixWork<T> inverseWork = memory.inverse;
    if (Base::kLanes > 1 && distanceOfLines(own.third) == n) {
      // Matrices of packs are too large for the nearest cache: one in place of three.
      inverseWork.Z = inverseWork.inverse = own.third.numbers;
    }
    InverseMassMatrixKernel inverse(context.tables, work, inverseWork);
    inverse.run();
    inverse.multiply(memory.byQ, memory.byV, kernel.keepsForces(), own.byQ, own.byV);
    inverse.writeTo(own.third);
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
