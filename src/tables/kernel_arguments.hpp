#pragma once

#include <deque>

#include "kempe/method.hpp"
#include "tables/tables.hpp"

/// What the recursions take and return beside tables and workspace.
namespace kempe::detail {

/// A frame on a body, and the reference in which its spatial vectors are expressed.
template <typename R>
struct BodyFrame {
  int body = kWorld;
  Transform<R> inBody{};
  Reference reference = Reference::LocalWorldAligned;
};

/// Forces on frames, `wrenches` [force; moment] of each.
template <typename T, typename R>
struct ExternalForces {
  const BodyFrame<R>* frames = nullptr;
  const T* wrenches = nullptr;
  int count = 0;
};

/// The forces between bodies to compute, and the motion.
template <typename T, typename R>
struct InterBodyRequest {
  bool afterInverse = false;            ///< the evaluation before was C-RNEA, not C-ABA
  bool rotorsDrive = false;             ///< τ acts at rotors where they determine their cluster
  const T* v = nullptr;                 ///< ẏ
  const T* ydd = nullptr;               ///< ÿ
  const T* tau = nullptr;               ///< τ at the independent joints, or its equivalent
  const T* spanning = nullptr;          ///< forces at all joints beyond τ; may be null
  const BodyFrame<R>* frame = nullptr;  ///< write all wrenches in it; null: each in its own
  Reference reference = Reference::LocalWorldAligned;  ///< of own frames
  T* joints = nullptr;  ///< [force; moment] of each joint, `stride` apart; may be null
  int stride = 6;
  T* loops = nullptr;  ///< forces of each loop; may be null
};

/// Where implicit clusters go whose loops are solved; what there is for other clusters is left alone.
template <typename T>
struct SolvedLoops {
  T* G = nullptr;  ///< as WorkView::G
  T* K = nullptr;  ///< as LoopWork::K; rows of couplings that are substituted are left alone
  char* regular = nullptr;  ///< per cluster; G is not usable where it is 0
};

/// The cluster or velocity at which an evaluation failed; −1 if it succeeded.
struct KernelOutcome {
  int singular = -1;    ///< a cluster in a singular configuration
  int indefinite = -1;  ///< a velocity that moves no inertia

  [[nodiscard]] KEMPE_HD bool failed() const { return singular >= 0 || indefinite >= 0; }
};

/// Scratch for functions that are called back, which see double and Jet only.
struct FunctionScratch {
  double* q = nullptr;
  double* phi = nullptr;
  Jet* jetQ = nullptr;
  Jet* jetPhi = nullptr;
};

using Functions = std::deque<Function>;

/// The functions that are called back where they have no program; none in device code.
class FunctionCalls {
 public:
  FunctionCalls() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as good as the functions
  FunctionCalls(const Functions& functions) : functions_(&functions) {}

  const Function& operator[](int i) const { return (*functions_)[static_cast<std::size_t>(i)]; }

 private:
  const Functions* functions_ = nullptr;
};

}  // namespace kempe::detail
