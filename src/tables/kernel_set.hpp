#pragma once

#include <cstddef>

#include "tables/constraint_request.hpp"
#include "tables/kernel_arguments.hpp"
#include "tables/motion_derivative_request.hpp"
#include "tables/term_request.hpp"
#include "tables/workspace.hpp"

/// The recursions as compiled for an instruction set, behind plain function pointers.
namespace kempe::detail {

/// The arguments of a kernel. `memory` has been prepared for the tables by the same set, in all
/// stages that the kernel needs.
template <typename S>
struct KernelContext {
  const TablesView<S>& tables;
  std::byte* memory;
  const Functions& functions;
  FunctionScratch functionScratch;
  bool wholeRotors = false;
  /// Whether interBodyForces follows, for which forwardDynamics leaves its results in the memory.
  bool forcesFollow = false;
  /// Whether KernelSet::solveLoops has solved the loops at the same q in the same memory, which no
  /// kernel at another q has used since.
  bool loopsSolved = false;
};

/// Kinematics, and all terms that follow from them. They use KernelContext::loopsSolved.
template <typename S>
struct TermKernels {
  /// Brings the motion in the memory from level `known`, to which a call before brought it at the
  /// same q, v and a, to level `wanted`, and computes the request, whose level is not higher. Inputs
  /// of known levels are not read, except v. Later calls that know the level may follow until
  /// another kernel uses the memory.
  KernelOutcome (*evaluate)(const KernelContext<S>&, const S* q, const S* v, const S* a,
                            MotionLevel known, MotionLevel wanted,
                            const TermRequest<S, S>& request) = nullptr;
  /// Bytes of TermRequest::coriolisMemory.
  std::size_t (*coriolisMemorySize)(const TablesView<S>& tables) = nullptr;
};

/// Forward dynamics under constraints. It uses KernelContext::loopsSolved.
template <typename S>
struct ConstraintKernels {
  /// Returns false where a state of the call has to be computed on its own, by ConstraintSolver: it
  /// fails, or it is in doubt which rows are redundant. `a` may be `tau` or `v`.
  bool (*forwardDynamics)(const KernelContext<S>&, const S* q, const S* v, const S* tau,
                          const ExternalForces<S, S>&, const ConstraintRequest<S>&, S* a) = nullptr;
  /// Bytes of ConstraintRequest::memory.
  std::size_t (*memorySize)(const TablesView<S>& tables, const ConstraintRequest<S>&) = nullptr;
};

/// Three nv × nv matrices of derivatives, and `memory` of DerivativeKernels::memorySize bytes.
template <typename T, typename R>
struct DerivativeRequest {
  MatrixAt<T> byQ{}, byV{}, third{};
  void* memory = nullptr;
};

/// Derivatives along the tangent of q, and with respect to v.
template <typename S>
struct DerivativeKernels {
  /// ∂τ/∂q, ∂τ/∂v and H = ∂τ/∂a.
  KernelOutcome (*inverseDynamics)(const KernelContext<S>&, const S* q, const S* v, const S* a,
                                   const ExternalForces<S, S>&,
                                   const DerivativeRequest<S, S>& request) = nullptr;
  /// ∂a/∂q, ∂a/∂v and H⁻¹ = ∂a/∂τ.
  KernelOutcome (*forwardDynamics)(const KernelContext<S>&, const S* q, const S* v, const S* tau,
                                   const ExternalForces<S, S>&,
                                   const DerivativeRequest<S, S>& request) = nullptr;
  /// ∂τ/∂q of the gravity forces τ, as request.byQ.
  KernelOutcome (*gravityForces)(const KernelContext<S>&, const S* q,
                                 const DerivativeRequest<S, S>& request) = nullptr;
  /// Bytes of DerivativeRequest::memory and MotionDerivativeRequest::memory.
  std::size_t (*memorySize)(const TablesView<S>& tables) = nullptr;
  /// Derivatives of kinematics, at the motion to which TermKernels::evaluate has brought the same
  /// memory: velocities and, where the request needs them, accelerations, with v and `a` (null:
  /// zero) of that call. Leaves the motion as it is.
  void (*motion)(const KernelContext<S>&, const S* v, const S* a,
                 const MotionDerivativeRequest<S, S>& request) = nullptr;
};

/// All numbers of a state are `lanes` numbers, one for each of as many states: number i of state l
/// is at [i * lanes + l]. Arrays of more than one lane start at multiples of Carver::kAlignment.
template <typename S>
struct KernelSet {
  int lanes = 1;
  std::size_t (*memorySize)(const TablesView<S>& tables, WorkStage stage) = nullptr;
  /// Makes a part of the memory ready for use; `first` is that of WorkStage::Motion.
  void (*prepare)(const TablesView<S>& tables, WorkStage stage, std::byte* part,
                  std::byte* first) = nullptr;

  KernelOutcome (*inverseDynamics)(const KernelContext<S>&, const S* q, const S* v, const S* a,
                                   const ExternalForces<S, S>&, S* tau) = nullptr;
  /// Uses KernelContext::loopsSolved.
  KernelOutcome (*forwardDynamics)(const KernelContext<S>&, const S* q, const S* v, const S* tau,
                                   const ExternalForces<S, S>&, S* a) = nullptr;
  /// Forces between bodies, after one of the two above on the same memory, with
  /// KernelContext::forcesFollow. Returns a cluster whose
  /// rotors do not determine its velocities but should, in a state of the call, or −1.
  int (*interBodyForces)(const KernelContext<S>&, const InterBodyRequest<S, S>&) = nullptr;
  /// Column-major; null q: at the placements of the call before. Both triangles.
  KernelOutcome (*massMatrix)(const KernelContext<S>&, const S* q, S* H, int stride) = nullptr;
  /// `W` has room for 6 nv numbers of each frame.
  KernelOutcome (*inverseOperationalInertia)(const KernelContext<S>&, const S* q,
                                             const BodyFrame<S>* frames, int count, S* W, S* Omega,
                                             int stride) = nullptr;
  /// H⁻¹ x of `columns` x, nv numbers each, in place.
  KernelOutcome (*applyInverseMassMatrix)(const KernelContext<S>&, const S* q, S* x,
                                          int columns) = nullptr;
  /// q ⊞ dt v of clusters without loops to solve; the others' part of `result` is left alone.
  void (*integrate)(const KernelContext<S>&, const S* q, const S* v, S dt, S* result) = nullptr;
  /// Rows of `width` numbers into lanes and back: state l begins at rows + l * stateStride, its
  /// numbers are entryStride apart. States beyond `count` repeat the last one. False where a number
  /// is not finite.
  bool (*gather)(const S* rows, std::ptrdiff_t stateStride, std::ptrdiff_t entryStride, int count,
                 int width, S* lanes) = nullptr;
  void (*scatter)(const S* lanes, int count, int width, S* rows, std::ptrdiff_t stateStride,
                  std::ptrdiff_t entryStride) = nullptr;
  TermKernels<S> terms{};
  ConstraintKernels<S> constraints{};
  DerivativeKernels<S> derivatives{};
  /// Solves all loops at q, with folded rotors.
  void (*solveLoops)(const KernelContext<S>&, const S* q, const SolvedLoops<S>&) = nullptr;
};

/// For one state, and for several at once.
template <typename S>
struct KernelSets {
  KernelSet<S> single, pack;
};

/// The sets of the instruction set in use.
template <typename S>
const KernelSets<S>& kernelSets();

/// Memory for kernels of one set on one model.
template <typename S>
class KernelMemory {
 public:
  explicit KernelMemory(const KernelSet<S>& set) : set_(&set) {}

  /// The memory for kernels that need the parts up to `last`, for tables of the same sizes at every
  /// call.
  std::byte* upTo(const TablesView<S>& tables, WorkStage last) {
    return memory_.upTo(
        last, [&](WorkStage stage) { return set_->memorySize(tables, stage); },
        [&](WorkStage stage, std::byte* part, std::byte* first) {
          set_->prepare(tables, stage, part, first);
        });
  }

 private:
  const KernelSet<S>* set_;
  StagedMemory memory_;
};

}  // namespace kempe::detail
