// Compiled only: the recursions as device code, one state per thread.

#include "kernels/coriolis.hpp"
#include "kernels/forward_dynamics.hpp"
#include "kernels/implicit_loops.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/joint_forces.hpp"
#include "kernels/mass_matrix.hpp"
#include "kernels/operational_inertia.hpp"
#include "kernels/terms.hpp"
#include "loops/run_program.hpp"

namespace {

using kempe::detail::BodyFrame;
using kempe::detail::CoriolisWork;
using kempe::detail::ExternalForces;
using kempe::detail::ImplicitLoops;
using kempe::detail::InterBodyKernel;
using kempe::detail::InterBodyRequest;
using kempe::detail::MotionLevel;
using kempe::detail::NoLoops;
using kempe::detail::TablesView;
using kempe::detail::TermRequest;
using kempe::detail::WorkView;

/// Inverse dynamics, mass matrix, forward dynamics, forces between bodies and the way of unit forces
/// through the mechanism, for models whose loops are couplings. `work` holds one view per state;
/// `status` is −1, or a cluster whose D is not positive definite.
template <typename T>
__global__ void dynamicsKernel(TablesView<T> tables, const WorkView<T>* work, const T* q,
                               const T* v, const T* a, T* tau, T* H, T* ydd, T* W, T* Omega,
                               T* joints, T* loopForces, int forces, int* status,
                               int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  NoLoops loops;
  const int nv = tables.nv;
  const WorkView<T>& own = work[i];
  const ExternalForces<T, T> none;
  kempe::detail::inverseDynamicsKernel(tables, own, loops, q + i * tables.nq, v + i * nv,
                                       a + i * nv, none, tau + i * nv);
  kempe::detail::MassMatrixKernel(tables, own, H + i * nv * nv, nv).run();
  status[i] = kempe::detail::forwardDynamicsKernel(tables, own, loops, q + i * tables.nq,
                                                   v + i * nv, tau + i * nv, none, ydd + i * nv)
                  .indefinite;
  InterBodyRequest<T, T> request;
  request.v = v + i * nv;
  request.ydd = ydd + i * nv;
  request.tau = tau + i * nv;
  request.joints = joints + i * 6 * tables.bodyCount;
  request.loops = loopForces + i * forces;
  InterBodyKernel(tables, own, loops, request).run();
  const BodyFrame<T> last{tables.bodyCount - 1, {}, kempe::Reference::Local};
  kempe::detail::operationalInertiaKernel(tables, own, &last, 1, W + i * 6 * nv, Omega + i * 36, 6);
}

template __global__ void dynamicsKernel<float>(TablesView<float>, const WorkView<float>*,
                                               const float*, const float*, const float*, float*,
                                               float*, float*, float*, float*, float*, float*, int,
                                               int*, int);
template __global__ void dynamicsKernel<double>(TablesView<double>, const WorkView<double>*,
                                                const double*, const double*, const double*,
                                                double*, double*, double*, double*, double*,
                                                double*, double*, int, int*, int);

/// Kinematics and the terms that follow from them, for models whose loops are couplings.
template <typename T>
__global__ void termsKernel(TablesView<T> tables, const WorkView<T>* work, const T* q, const T* v,
                            const TermRequest<T, T>* requests, const CoriolisWork<T>* coriolis,
                            int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  NoLoops loops;
  const T* own = v + i * tables.nv;
  kempe::detail::bringMotion(tables, work[i], loops, q + i * tables.nq, own,
                             static_cast<const T*>(nullptr), MotionLevel::None,
                             MotionLevel::BiasAccelerations);
  kempe::detail::writeTerms(tables, work[i], own, static_cast<const T*>(nullptr), requests[i]);
  kempe::detail::CoriolisKernel<T, T, NoLoops>(tables, work[i], loops, coriolis[i],
                                               requests[i].coriolis)
      .run();
}

template __global__ void termsKernel<float>(TablesView<float>, const WorkView<float>*, const float*,
                                            const float*, const TermRequest<float, float>*,
                                            const CoriolisWork<float>*, int);
template __global__ void termsKernel<double>(TablesView<double>, const WorkView<double>*,
                                             const double*, const double*,
                                             const TermRequest<double, double>*,
                                             const CoriolisWork<double>*, int);

/// Dynamics and forces of models whose loops are solved, functions among them if they are
/// expressions. `status` is −1, or a cluster in a singular configuration.
template <typename T>
__global__ void loopsKernel(TablesView<T> tables, const WorkView<T>* work, const T* q, const T* v,
                            const T* tau, T* ydd, T* back, T* joints, T* loopForces, int forces,
                            int* status, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  ImplicitLoops<T> loops(tables, {}, {});
  const int nv = tables.nv;
  const WorkView<T>& own = work[i];
  const ExternalForces<T, T> none;
  status[i] = kempe::detail::forwardDynamicsKernel<kempe::detail::DepthFirst>(
                  tables, own, loops, q + i * tables.nq, v + i * nv, tau + i * nv, none,
                  ydd + i * nv)
                  .singular;
  InterBodyRequest<T, T> request;
  request.v = v + i * nv;
  request.ydd = ydd + i * nv;
  request.tau = tau + i * nv;
  request.joints = joints + i * 6 * tables.bodyCount;
  request.loops = loopForces + i * forces;
  InterBodyKernel(tables, own, loops, request).run();
  kempe::detail::inverseDynamicsKernel(tables, own, loops, q + i * tables.nq, v + i * nv,
                                       ydd + i * nv, none, back + i * nv);
}

template __global__ void loopsKernel<float>(TablesView<float>, const WorkView<float>*, const float*,
                                            const float*, const float*, float*, float*, float*,
                                            float*, int, int*, int);
template __global__ void loopsKernel<double>(TablesView<double>, const WorkView<double>*,
                                             const double*, const double*, const double*, double*,
                                             double*, double*, double*, int, int*, int);

/// The program of a function, one state per thread; `registers` holds its arguments.
template <typename T>
__global__ void functionKernel(TablesView<T> tables, kempe::detail::ProgramEntry program,
                               T* registers, T* results, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) {
    return;
  }
  const T* own = kempe::detail::runProgram(tables.programSteps.data(), program,
                                           registers + i * program.registers());
  for (int r = 0; r < program.results; ++r) {
    results[i * program.results + r] = own[r];
  }
}

template __global__ void functionKernel<float>(TablesView<float>, kempe::detail::ProgramEntry,
                                               float*, float*, int);
template __global__ void functionKernel<double>(TablesView<double>, kempe::detail::ProgramEntry,
                                                double*, double*, int);

}  // namespace
