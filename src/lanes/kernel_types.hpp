#pragma once

#include <cstddef>
#include <new>

#include "kernels/implicit_loops.hpp"
#include "tables/kernel_set.hpp"
#ifndef KEMPE_PLAIN
#include "lanes/packs.hpp"
#endif

/// For files that are compiled once for each instruction set and scalar type: KEMPE_ISA names the
/// former (baseline, v3 or v4), KEMPE_SCALAR is the latter. They compute with types that carry the
/// instruction set in their name, so that the linker cannot mix up functions of different sets.

#define KEMPE_JOIN2(a, b, c, d) a##b##c##d
#define KEMPE_JOIN(a, b, c, d) KEMPE_JOIN2(a, b, c, d)

namespace kempe::detail {

#ifdef KEMPE_WIDE
/// x86-64-v3 and v4.
struct KEMPE_JOIN(Isa, _, KEMPE_ISA, ) {
  template <typename T>
  using Pack = xsimd::batch<T, KEMPE_XSIMD_ARCH>;
};
#endif

/// Functions that are the same by name for all sets stay within their file.
namespace {

using S = KEMPE_SCALAR;

#if defined(KEMPE_PLAIN)
using OneState = S;
using ManyStates = S;
#elif defined(KEMPE_WIDE)
using OneState = Wide<S, KEMPE_JOIN(Isa, _, KEMPE_ISA, )>;
using ManyStates = xsimd::batch<S, KEMPE_XSIMD_ARCH>;
#else
using OneState = S;
using ManyStates = xsimd::batch<S, KEMPE_XSIMD_ARCH>;
#endif

/// Arguments of kernels as those of recursions that compute with T.
template <typename T>
struct KernelArguments {
  static constexpr int kLanes = Lanes<T>::count;

  static const T* lanes(const S* x) { return reinterpret_cast<const T*>(x); }
  static T* lanes(S* x) { return reinterpret_cast<T*>(x); }
  static ExternalForces<T, S> lanes(const ExternalForces<S, S>& external) {
    return {external.frames, lanes(external.wrenches), external.count};
  }

  /// A structure of pointers to S as the same of pointers to T. Copied one by one, they would be read
  /// by wider loads than they were written by, for which the processor waits.
  template <template <typename, typename> typename Request>
  static const Request<T, S>& samePointers(const Request<S, S>& request) {
    static_assert(sizeof(Request<T, S>) == sizeof(Request<S, S>));
    return *std::launder(reinterpret_cast<const Request<T, S>*>(&request));
  }

  /// The first part of the memory begins with the view of all of it.
  static WorkView<T>& viewIn(std::byte* first) {
    return *std::launder(reinterpret_cast<WorkView<T>*>(first));
  }
  static const WorkView<T>& workOf(const KernelContext<S>& context) {
    WorkView<T>& work = viewIn(context.memory);
    work.wholeRotors = context.wholeRotors;
    work.loopsSolved = context.loopsSolved;
    return work;
  }
  static ImplicitLoops<T> loopsOf(const KernelContext<S>& context) {
    return {context.tables, context.functions, context.functionScratch};
  }
};

}  // namespace
}  // namespace kempe::detail
