// Compiled once for each instruction set and scalar type; see kernel_types.hpp.

#include <type_traits>

#include "kernels/constrained_dynamics.hpp"
#include "lanes/kernel_types.hpp"

namespace kempe::detail {
namespace {

/// Functions of ConstraintKernels, computing with T.
template <typename T>
struct UnderConstraints : KernelArguments<T> {
  using Base = KernelArguments<T>;
  using Kernel = ConstrainedDynamicsKernel<T, OneState>;

  static bool forwardDynamics(const KernelContext<S>& context, const S* q, const S* v, const S* tau,
                              const ExternalForces<S, S>& external,
                              const ConstraintRequest<S>& request, S* a) {
    ImplicitLoops<T> loops = Base::loopsOf(context);
    using Order = std::conditional_t<(Base::kLanes > 1), DepthFirst, LevelByLevel>;
    Carver carver(request.memory);
    return Kernel(context.tables, Base::workOf(context), request, carver)
        .template run<Order>(loops, Base::lanes(q), Base::lanes(v), Base::lanes(tau),
                             Base::lanes(external), Base::lanes(request.lambda),
                             Base::lanes(request.slopesAlong), Base::lanes(a));
  }

  static std::size_t memorySize(const TablesView<S>& tables, const ConstraintRequest<S>& request) {
    Carver carver(nullptr);
    const WorkView<T> unused;
    Kernel(tables, unused, request, carver);
    return carver.used();
  }

  static ConstraintKernels<S> set() { return {&forwardDynamics, &memorySize}; }
};

}  // namespace

/// Declared in kernels.cpp.
ConstraintKernels<S> KEMPE_JOIN(constraintKernels_, KEMPE_ISA, _, KEMPE_SCALAR)(bool many) {
  return many ? UnderConstraints<ManyStates>::set() : UnderConstraints<OneState>::set();
}

}  // namespace kempe::detail
