// Compiled once for each instruction set and scalar type: KEMPE_ISA names the former (baseline, v3
// or v4), KEMPE_SCALAR is the latter. Everything here computes with types that carry the
// instruction set in their name, so that the linker cannot mix up functions of different sets.

#include "lanes/kernel_set.hpp"

#include "algorithms/kernels/host_loops.hpp"
#include "algorithms/kernels/inverse_dynamics.hpp"
#include "algorithms/kernels/mass_matrix.hpp"
#include "algorithms/kernels/operational_inertia.hpp"
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
    const TablesView<S>& tables = context.tables;
    const WorkView<T>& work = workOf(context);
    const KernelOutcome outcome = condense(context, work, q);
    for (int column = 0; !outcome.failed() && column < columns; ++column) {
      T* own = lanes(x) + column * tables.nv;
      // C-ABA at rest without gravity.
      for (int b = 0; b < tables.bodyCount; ++b) {
        work.f[b] = {};
      }
      for (int i = 0; i < tables.nv; ++i) {
        work.u[i] = own[i];
      }
      for (int k = tables.clusterCount - 1; k >= 0; --k) {
        condenseClusterForce(tables, tables.clusters[tables.order[k]], work);
      }
      accelerateClusters(tables, work, own);
    }
    return outcome;
  }

  static KernelOutcome framePlacements(const KernelContext<S>& context, const S* q,
                                       const BodyFrame<S>* frames, int count, S* placements) {
    const WorkView<T>& work = workOf(context);
    const KernelOutcome outcome = place(context, work, q);
    T* out = lanes(placements);
    for (int f = 0; !outcome.failed() && f < count; ++f) {
      const Transform<T> X = placed(work.X[frames[f].body], frames[f].inBody);
      const Vec3<T> p = X.p + *work.origin;
      for (int j = 0; j < 3; ++j) {
        const Vec3<T> column = X.R.column(j);
        for (int i = 0; i < 3; ++i) {
          out[12 * f + 3 * i + j] = column[i];
        }
        out[12 * f + 9 + j] = p[j];
      }
    }
    return outcome;
  }

  static void integrate(const KernelContext<S>& context, const S* q, const S* v, S dt, S* result) {
    const TablesView<S>& tables = context.tables;
    for (int c = 0; c < tables.clusterCount; ++c) {
      const ClusterEntry& cluster = tables.clusters[c];
      const T* from = lanes(q) + cluster.firstQ;
      const T* rate = lanes(v) + cluster.firstV;
      T* to = lanes(result) + cluster.firstQ;
      if (cluster.kind == ClusterKind::Implicit) {
        continue;
      }
      if (cluster.nq == cluster.nv) {
        for (int i = 0; i < cluster.nv; ++i) {
          to[i] = from[i] + T(dt) * rate[i];
        }
        continue;
      }
      // A cluster with a quaternion that is not tied by loops is a single body.
      T step[6], position[7];
      for (int i = 0; i < cluster.nv; ++i) {
        step[i] = T(dt) * rate[i];
      }
      for (int i = 0; i < cluster.nq; ++i) {
        position[i] = from[i];
      }
      normalizeQuaternion(position + cluster.nq - 4);
      jointRetract(tables.bodies[cluster.firstBody].type, position, step, to);
    }
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
