#include <algorithm>
#include <cmath>

#include "algorithms/baselines/spanning.hpp"
#include "algorithms/constraint_solver.hpp"

/// The spanning tree by recursion, its loops held by multipliers (see kernels/constraint_forces.hpp).
///
/// H of the tree is singular if a body that only its loop can move has no inertia. Such DoFs get an
/// armature E, whose effect on the accelerations is removed by iteration: with q̈₀ = 0,
///
///   (H + E) q̈ₖ₊₁ = τ − c + Kᵀ λ + E q̈ₖ      K q̈ₖ₊₁ = k                                  (1)
///
/// which contracts by the share that E has in the inertia of the independent motions.
namespace kempe::detail {
namespace {

/// Points the evaluation to the tree with armatures.
template <typename T>
void useArmatures(SpanningEvaluation<T>& s) {
  s.e.tables = &s.tree.armatured.template view<T>();
}

}  // namespace

template <typename T>
void cutJointForwardDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                             VectorInOf<T> q, const T* v, const T* tau, T* a) {
  SpanningEvaluation<T> s(e);
  s.place(q, v);
  s.move(v, nullptr);
  useArmatures(s);
  const int n = s.model.velocities;
  T* forces = s.scratch.x.data();
  T* accelerations = s.scratch.accelerations.data();
  T* state = s.scratch.state.data();  // positions and rates, which the recursion overwrites
  std::copy_n(e.work->positions, s.model.positions, state);
  std::copy_n(e.work->rates, n, state + s.model.positions);
  std::fill_n(accelerations, n, T(0));
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    for (int i = 0; i < n; ++i) {
      forces[i] = s.tree.added.empty() ? T(0) : static_cast<T>(s.tree.added[i]) * accelerations[i];
    }
    s.forIndependent([&](int i, int j) { forces[i] += tau[j]; });
    T* next = s.scratch.next.data();
    ConstraintSolver<T> solver(e);
    solver.add(s.tree.loops);
    constrainedAccelerations(solver, 0.0, 0.0, state, state + s.model.positions, forces, external,
                             next);
    T change(0), size(0);
    for (int i = 0; i < n; ++i) {
      change = std::max(change, std::abs(next[i] - accelerations[i]));
      size = std::max(size, std::abs(next[i]));
      accelerations[i] = next[i];
    }
    if (s.tree.added.empty() || change <= kArmatureTakenOff<T> * size) {
      break;
    }
  }
  s.forIndependent([&](int i, int j) { a[j] = accelerations[i]; });
}

template <typename T>
void cutJointOperationalInertia(Evaluation<T>& e, VectorInOf<T> q, std::span<const int> frames,
                                Reference reference, MatrixOutOf<T> Omega) {
  SpanningEvaluation<T> s(e);
  s.place(q, nullptr);
  useArmatures(s);
  s.placeBodies();
  std::fill_n(e.work->rates, s.model.velocities, T(0));
  e.move(e.work->rates, nullptr);
  ConstraintSolver<T> solver(e);
  solver.add(s.tree.loops);
  constrainedOperationalInertia<T>(solver, frames, reference, s.tree.added, Omega);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define KEMPE_INSTANTIATE(T)                                                                       \
  template void cutJointForwardDynamics<T>(Evaluation<T>&, const ExternalForces<T, T>&,            \
                                           VectorInOf<T>, const T*, const T*, T*);                 \
  template void cutJointOperationalInertia<T>(Evaluation<T>&, VectorInOf<T>, std::span<const int>, \
                                              Reference, MatrixOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace kempe::detail
