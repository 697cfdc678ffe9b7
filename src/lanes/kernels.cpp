// Compiled once for each instruction set and scalar type; see kernel_types.hpp.

#include "tables/kernel_set.hpp"

#include <new>
#include <type_traits>

#include "kernels/accelerations.hpp"
#include "kernels/forward_dynamics.hpp"
#include "kernels/integrate.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/inverse_mass_matrix.hpp"
#include "kernels/joint_forces.hpp"
#include "kernels/mass_matrix.hpp"
#include "kernels/operational_inertia.hpp"
#include "kernels/solve_loops.hpp"
#include "lanes/kernel_types.hpp"
#include "lanes/transpose.hpp"

namespace kempe::detail {

/// Of term_kernels.cpp.
TermKernels<KEMPE_SCALAR> KEMPE_JOIN(termKernels_, KEMPE_ISA, _, KEMPE_SCALAR)(bool many);
/// Of constraint_kernels.cpp.
ConstraintKernels<KEMPE_SCALAR> KEMPE_JOIN(constraintKernels_, KEMPE_ISA, _,
                                           KEMPE_SCALAR)(bool many);
/// Of derivative_kernels.cpp.
DerivativeKernels<KEMPE_SCALAR> KEMPE_JOIN(derivativeKernels_, KEMPE_ISA, _,
                                           KEMPE_SCALAR)(bool many);

namespace {

/// Functions of a KernelSet, computing with T.
template <typename T>
struct Kernels : KernelArguments<T> {
  using KernelArguments<T>::kLanes;
  using KernelArguments<T>::lanes;
  using KernelArguments<T>::workOf;
  using KernelArguments<T>::loopsOf;

  static std::size_t memorySize(const TablesView<S>& tables, WorkStage stage) {
    Carver carver(nullptr);
    WorkView<T> counted;
    if (stage == WorkStage::Motion) {
      carver.take<WorkView<T>>(1);
    }
    carveStage(tables, stage, carver, counted);
    return carver.used();
  }
  static void prepare(const TablesView<S>& tables, WorkStage stage, std::byte* part,
                      std::byte* first) {
    Carver carver(part);
    if (stage == WorkStage::Motion) {
      new (carver.take<WorkView<T>>(1)) WorkView<T>;
    }
    WorkView<T>& view = KernelArguments<T>::viewIn(first);
    carveStage(tables, stage, carver, view);
    if (stage == WorkStage::Motion) {
      writeConstants(tables, view);
    }
  }

  static KernelOutcome inverseDynamics(const KernelContext<S>& context, const S* q, const S* v,
                                       const S* a, const ExternalForces<S, S>& external, S* tau) {
    ImplicitLoops<T> loops = loopsOf(context);
    const int singular = inverseDynamicsKernel(context.tables, workOf(context), loops, lanes(q),
                                               lanes(v), lanes(a), lanes(external), lanes(tau));
    return {singular, -1};
  }
  static KernelOutcome forwardDynamics(const KernelContext<S>& context, const S* q, const S* v,
                                       const S* tau, const ExternalForces<S, S>& external, S* a) {
    ImplicitLoops<T> loops = loopsOf(context);
    using Order = std::conditional_t<(kLanes > 1), DepthFirst, LevelByLevel>;
    const WorkView<T>& work = workOf(context);
    if (!context.forcesFollow) {
      return accelerationsKernel<Order>(context.tables, work, loops, lanes(q), lanes(v), lanes(tau),
                                        lanes(external), lanes(a));
    }
    return accelerationsBeforeForces<Order>(context.tables, work, loops, lanes(q), lanes(v),
                                            lanes(tau), lanes(external), lanes(a));
  }

  static void solveLoops(const KernelContext<S>& context, const S* q,
                         const SolvedLoops<S>& result) {
    ImplicitLoops<T> loops = loopsOf(context);
    solveLoopsKernel(context.tables, workOf(context), loops, lanes(q),
                     SolvedLoops<T>{lanes(result.G), lanes(result.K), result.regular});
  }

  static int interBodyForces(const KernelContext<S>& context,
                             const InterBodyRequest<S, S>& request) {
    ImplicitLoops<T> loops = loopsOf(context);
    return InterBodyKernel(context.tables, workOf(context), loops,
                           KernelArguments<T>::template samePointers<InterBodyRequest>(request))
        .run();
  }

  static KernelOutcome place(const KernelContext<S>& context, const WorkView<T>& work, const S* q) {
    ImplicitLoops<T> loops = loopsOf(context);
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
      MassMatrixKernel(context.tables, work, lanes(H), stride).run();
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

  static void integrate(const KernelContext<S>& context, const S* q, const S* v, S dt, S* result) {
    integrateKernel(context.tables, lanes(q), lanes(v), T(dt), lanes(result));
  }

  static bool gather(const S* rows, std::ptrdiff_t stateStride, std::ptrdiff_t entryStride,
                     int count, int width, S* to) {
    const auto state = [&](int l) { return rows + (l < count ? l : count - 1) * stateStride; };
    if constexpr (kLanes > 1) {
      if (entryStride == 1 && width >= kLanes) {
        forBlocks(width, [&](int first) {
          TransposedBlock<S, kLanes> block;
          for (int l = 0; l < kLanes; ++l) {
            block.rows[l] = block.load(state(l) + first);
          }
          block.transpose();
          for (int i = 0; i < kLanes; ++i) {
            block.store(block.rows[i], to + (first + i) * kLanes);
          }
        });
        return areFinite(lanes(to), width);
      }
    }
    for (int l = 0; l < kLanes; ++l) {
      for (int i = 0; i < width; ++i) {
        to[i * kLanes + l] = state(l)[i * entryStride];
      }
    }
    return areFinite(lanes(to), width);
  }
  static void scatter(const S* from, int count, int width, S* rows, std::ptrdiff_t stateStride,
                      std::ptrdiff_t entryStride) {
    if constexpr (kLanes > 1) {
      if (entryStride == 1 && width >= kLanes) {
        forBlocks(width, [&](int first) {
          TransposedBlock<S, kLanes> block;
          for (int i = 0; i < kLanes; ++i) {
            block.rows[i] = block.load(from + (first + i) * kLanes);
          }
          block.transpose();
          for (int l = 0; l < count; ++l) {
            block.store(block.rows[l], rows + l * stateStride + first);
          }
        });
        return;
      }
    }
    for (int l = 0; l < count; ++l) {
      S* state = rows + l * stateStride;
      for (int i = 0; i < width; ++i) {
        state[i * entryStride] = from[i * kLanes + l];
      }
    }
  }
  /// Calls `visit(first)` for blocks of kLanes entries. The last one begins early enough to fit.
  template <typename Visit>
  static void forBlocks(int width, const Visit& visit) {
    for (int first = 0; first < width; first += kLanes) {
      visit(first + kLanes <= width ? first : width - kLanes);
    }
  }
  static bool areFinite(const T* x, int count) {
    T sum(0);  // stays 0 where all is finite
    for (int i = 0; i < count; ++i) {
      sum += T(0) * x[i];
    }
    return !any(select(sum >= T(0), T(0), T(1)) > T(0.5));
  }

  static KernelSet<S> set(bool many) {
    return {kLanes,
            &memorySize,
            &prepare,
            &inverseDynamics,
            &forwardDynamics,
            &interBodyForces,
            &massMatrix,
            &inverseOperationalInertia,
            &applyInverseMassMatrix,
            &integrate,
            &gather,
            &scatter,
            KEMPE_JOIN(termKernels_, KEMPE_ISA, _, KEMPE_SCALAR)(many),
            KEMPE_JOIN(constraintKernels_, KEMPE_ISA, _, KEMPE_SCALAR)(many),
            KEMPE_JOIN(derivativeKernels_, KEMPE_ISA, _, KEMPE_SCALAR)(many),
            &solveLoops};
  }
};

}  // namespace

/// Declared in dispatch.cpp.
const KernelSets<S>& KEMPE_JOIN(kernels_, KEMPE_ISA, _, KEMPE_SCALAR)() {
  static const KernelSets<S> sets{Kernels<OneState>::set(false), Kernels<ManyStates>::set(true)};
  return sets;
}

}  // namespace kempe::detail
