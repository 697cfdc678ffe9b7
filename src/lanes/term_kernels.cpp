// Compiled once for each instruction set and scalar type; see kernel_types.hpp.

#include "kernels/coriolis.hpp"
#include "kernels/terms.hpp"
#include "lanes/kernel_types.hpp"

namespace kempe::detail {
namespace {

/// Functions of TermKernels, computing with T.
template <typename T>
struct Terms : KernelArguments<T> {
  using Base = KernelArguments<T>;

  static KernelOutcome evaluate(const KernelContext<S>& context, const S* q, const S* v, const S* a,
                                MotionLevel known, MotionLevel wanted,
                                const TermRequest<S, S>& request) {
    const WorkView<T>& work = Base::workOf(context);
    ImplicitLoops<T> loops = Base::loopsOf(context);
    const int singular = bringMotion(context.tables, work, loops, Base::lanes(q), Base::lanes(v),
                                     Base::lanes(a), known, wanted);
    if (singular >= 0) {
      return {singular, -1};
    }
    const auto& own = Base::template samePointers<TermRequest>(request);
    writeTerms(context.tables, work, Base::lanes(v),
               wanted == MotionLevel::Accelerations ? Base::lanes(a) : nullptr, own);
    if (own.coriolis) {
      Carver carver(static_cast<std::byte*>(own.coriolisMemory));
      CoriolisKernel<T, S, ImplicitLoops<T>>(context.tables, work, loops,
                                             carveCoriolis<T>(context.tables, carver), own.coriolis)
          .run();
    }
    return {};
  }

  static std::size_t coriolisMemorySize(const TablesView<S>& tables) {
    Carver carver(nullptr);
    carveCoriolis<T>(tables, carver);
    return carver.used();
  }

  static TermKernels<S> set() { return {&evaluate, &coriolisMemorySize}; }
};

}  // namespace

/// Declared in kernels.cpp.
TermKernels<S> KEMPE_JOIN(termKernels_, KEMPE_ISA, _, KEMPE_SCALAR)(bool many) {
  return many ? Terms<ManyStates>::set() : Terms<OneState>::set();
}

}  // namespace kempe::detail
