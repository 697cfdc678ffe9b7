// Compiled once for each instruction set and scalar type: KEMPE_ISA names the former (baseline, v3
// or v4), KEMPE_SCALAR is the latter. Everything here computes with types that carry the
// instruction set in their name, so that the linker cannot mix up functions of different sets.

#include "tables/kernel_set.hpp"

#include <new>

#include "kernels/forward_dynamics.hpp"
#include "kernels/frame_placements.hpp"
#include "kernels/host_loops.hpp"
#include "kernels/integrate.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/inverse_mass_matrix.hpp"
#include "kernels/joint_forces.hpp"
#include "kernels/mass_matrix.hpp"
#include "kernels/operational_inertia.hpp"
#ifndef KEMPE_PLAIN
#include "lanes/packs.hpp"
#endif

#define KEMPE_JOIN2(a, b, c, d) a##b##c##d
#define KEMPE_JOIN(a, b, c, d) KEMPE_JOIN2(a, b, c, d)

namespace kempe::detail {
namespace {

using S = KEMPE_SCALAR;

#if defined(KEMPE_PLAIN)
using OneState = S;
using ManyStates = S;
#elif defined(KEMPE_WIDE)
/// x86-64-v3 and v4.
struct KEMPE_JOIN(Isa, _, KEMPE_ISA, ) {
  template <typename T>
  using Pack = xsimd::batch<T, KEMPE_XSIMD_ARCH>;
};
using OneState = Wide<S, KEMPE_JOIN(Isa, _, KEMPE_ISA, )>;
using ManyStates = xsimd::batch<S, KEMPE_XSIMD_ARCH>;
#else
using OneState = S;
using ManyStates = xsimd::batch<S, KEMPE_XSIMD_ARCH>;
#endif

/// Functions of a KernelSet, computing with T.
template <typename T>
struct Kernels {
  static constexpr int kLanes = Lanes<T>::count;

  static const T* lanes(const S* x) { return reinterpret_cast<const T*>(x); }
  static T* lanes(S* x) { return reinterpret_cast<T*>(x); }

  /// The memory begins with the view of the rest of it.
  static WorkView<T> carve(const TablesView<S>& tables, std::byte* memory, std::size_t& size) {
    Carver carver(memory);
    carver.take<WorkView<T>>(1);
    const WorkView<T> view = carveWork<T>(tables, carver);
    size = carver.used();
    return view;
  }
  static std::size_t memorySize(const TablesView<S>& tables) {
    std::size_t size = 0;
    carve(tables, nullptr, size);
    return size;
  }
  static void prepare(const TablesView<S>& tables, std::byte* memory) {
    std::size_t size = 0;
    auto* view = new (memory) WorkView<T>(carve(tables, memory, size));
    writeConstantRatios(tables, *view);
  }

  static const WorkView<T>& workOf(const KernelContext<S>& context) {
    auto& work = *std::launder(reinterpret_cast<WorkView<T>*>(context.memory));
    work.wholeRotors = context.wholeRotors;
    return work;
  }
  static HostLoops<T> loopsOf(const KernelContext<S>& context) {
    return {context.tables, context.functions, context.functionScratch};
  }
  static ExternalForces<T, S> lanes(const ExternalForces<S, S>& external) {
    return {external.frames, lanes(external.wrenches), external.count};
  }

  static KernelOutcome inverseDynamics(const KernelContext<S>& context, const S* q, const S* v,
                                       const S* a, const ExternalForces<S, S>& external, S* tau) {
    HostLoops<T> loops = loopsOf(context);
    const int singular = inverseDynamicsKernel(context.tables, workOf(context), loops, lanes(q),
                                               lanes(v), lanes(a), lanes(external), lanes(tau));
    return {singular, -1};
  }
  static KernelOutcome forwardDynamics(const KernelContext<S>& context, const S* q, const S* v,
                                       const S* tau, const ExternalForces<S, S>& external, S* a) {
    HostLoops<T> loops = loopsOf(context);
    return forwardDynamicsKernel(context.tables, workOf(context), loops, lanes(q), lanes(v),
                                 lanes(tau), lanes(external), lanes(a));
  }

  static int interBodyForces(const KernelContext<S>& context,
                             const InterBodyRequest<S, S>& request) {
    const InterBodyRequest<T, S> own{
        request.afterInverse,  request.rotorsDrive,     lanes(request.v),    lanes(request.ydd),
        lanes(request.tau),    lanes(request.spanning), request.frame,       request.reference,
        lanes(request.joints), request.stride,          lanes(request.loops)};
    HostLoops<T> loops = loopsOf(context);
    return InterBodyKernel<T, S, HostLoops<T>>(context.tables, workOf(context), loops, own).run();
  }
  static constexpr auto interBodyForcesOfOne() {
    if constexpr (kLanes == 1) {
      return &interBodyForces;
    } else {
      return nullptr;
    }
  }

  static KernelOutcome place(const KernelContext<S>& context, const WorkView<T>& work, const S* q) {
    HostLoops<T> loops = loopsOf(context);
    return {placeMechanism(context.tables, work, loops, lanes(q)), -1};
  }
  static KernelOutcome condense(const KernelContext<S>& context, const WorkView<T>& work,
                                const S* q) {
    KernelOutcome outcome = place(context, work, q);
    if (!outcome.failed()) {
      outcome.indefinite = condenseInertias(context.tables, work);
    }
    return outcome;
  }

  static KernelOutcome massMatrix(const KernelContext<S>& context, const S* q, S* H, int stride) {
    const WorkView<T>& work = workOf(context);
    const KernelOutcome outcome = q == nullptr ? KernelOutcome{} : place(context, work, q);
    if (!outcome.failed()) {
      MassMatrixKernel<T, S>(context.tables, work, lanes(H), stride).run();
    }
    return outcome;
  }
  static KernelOutcome inverseOperationalInertia(const KernelContext<S>& context, const S* q,
                                                 const BodyFrame<S>* frames, int count, S* W,
                                                 S* Omega, int stride) {
    const WorkView<T>& work = workOf(context);
    const KernelOutcome outcome = condense(context, work, q);
    if (!outcome.failed()) {
      operationalInertiaKernel(context.tables, work, frames, count, lanes(W), lanes(Omega), stride);
    }
    return outcome;
  }
  static KernelOutcome applyInverseMassMatrix(const KernelContext<S>& context, const S* q, S* x,
                                              int columns) {
    const WorkView<T>& work = workOf(context);
    const KernelOutcome outcome = condense(context, work, q);
    for (int column = 0; !outcome.failed() && column < columns; ++column) {
      applyInverseMassMatrixKernel(context.tables, work, lanes(x) + column * context.tables.nv);
    }
    return outcome;
  }

  static KernelOutcome framePlacements(const KernelContext<S>& context, const S* q,
                                       const BodyFrame<S>* frames, int count, S* placements) {
    const WorkView<T>& work = workOf(context);
    const KernelOutcome outcome = place(context, work, q);
    for (int f = 0; !outcome.failed() && f < count; ++f) {
      writePlacement(work, frames[f], lanes(placements) + 12 * f);
    }
    return outcome;
  }

  static void integrate(const KernelContext<S>& context, const S* q, const S* v, S dt, S* result) {
    integrateKernel(context.tables, lanes(q), lanes(v), T(dt), lanes(result));
  }

  static bool gather(const S* rows, std::ptrdiff_t stateStride, std::ptrdiff_t entryStride,
                     int count, int width, S* to) {
    for (int l = 0; l < kLanes; ++l) {
      const S* state = rows + (l < count ? l : count - 1) * stateStride;
      for (int i = 0; i < width; ++i) {
        to[i * kLanes + l] = state[i * entryStride];
      }
    }
    T sum(0);  // stays 0 where all is finite
    for (int i = 0; i < width; ++i) {
      sum += T(0) * lanes(to)[i];
    }
    return !any(select(sum >= T(0), T(0), T(1)) > T(0.5));
  }
  static void scatter(const S* from, int count, int width, S* rows, std::ptrdiff_t stateStride,
                      std::ptrdiff_t entryStride) {
    for (int l = 0; l < count; ++l) {
      S* state = rows + l * stateStride;
      for (int i = 0; i < width; ++i) {
        state[i * entryStride] = from[i * kLanes + l];
      }
    }
  }

  static KernelSet<S> set() {
    return {kLanes,
            &memorySize,
            &prepare,
            &inverseDynamics,
            &forwardDynamics,
            interBodyForcesOfOne(),
            &massMatrix,
            &inverseOperationalInertia,
            &applyInverseMassMatrix,
            &framePlacements,
            &integrate,
            &gather,
            &scatter};
  }
};

}  // namespace

/// Declared in dispatch.cpp.
const KernelSets<S>& KEMPE_JOIN(kernels_, KEMPE_ISA, _, KEMPE_SCALAR)() {
  static const KernelSets<S> sets{Kernels<OneState>::set(), Kernels<ManyStates>::set()};
  return sets;
}

}  // namespace kempe::detail
