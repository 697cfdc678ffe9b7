#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include "kempe/constraints.hpp"
#include "kempe/export.hpp"
#include "kempe/joint_forces.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

/// Algorithms on many states at once: each core computes several states in the lanes of its vector
/// registers, and several threads share the work. Results equal those of the functions for one
/// state, to rounding.
///
///     kempe::Batch batch(model);
///     kempe::forwardDynamics(model, batch, q, v, tau, a);   // matrices with a row per state
///
/// All functions throw the same exceptions as their namesakes for one state, with the index of the
/// state in the message; the outputs are then unspecified. They allocate no memory, except inside
/// the threading runtime.
namespace kempe {

namespace detail {
template <typename T>
struct BatchImpl;

template <typename Matrix, typename T>
concept MatrixOf = requires(Matrix& m) {
  { m.data() } -> std::convertible_to<T*>;
  { m.rowStride() } -> std::convertible_to<Eigen::Index>;
  { m.colStride() } -> std::convertible_to<Eigen::Index>;
};
}  // namespace detail

/// A view of states in memory, without a copy: entry i of state k is data[k * stateStride + i *
/// entryStride]. Any Eigen matrix with one row per state converts to it: a row-major matrix is an
/// array of structures, a column-major one a structure of arrays.
template <typename T>
struct States {
  T* data = nullptr;
  Eigen::Index states = 0;       ///< number of states
  Eigen::Index entries = 0;      ///< number of entries per state
  Eigen::Index stateStride = 0;  ///< distance between consecutive states
  Eigen::Index entryStride = 1;  ///< distance between consecutive entries of one state
  Eigen::Index firstNumber = 0;  ///< index of the first state in errors, if this is part of a batch

  States() = default;
  /// Contiguous states: (states, entries), row-major.
  States(T* first, Eigen::Index stateCount, Eigen::Index entryCount)
      : data(first), states(stateCount), entries(entryCount), stateStride(entryCount) {}
  States(T* first, Eigen::Index stateCount, Eigen::Index entryCount, Eigen::Index perState,
         Eigen::Index perEntry)
      : data(first),
        states(stateCount),
        entries(entryCount),
        stateStride(perState),
        entryStride(perEntry) {}
  /// Converts writable states to read-only ones.
  template <typename U>
  requires std::same_as<const U, T>
  // NOLINTNEXTLINE(google-explicit-constructor)
  States(const States<U>& other)
      : States(other.data, other.states, other.entries, other.stateStride, other.entryStride) {
    firstNumber = other.firstNumber;
  }
  template <typename Matrix>
  requires detail::MatrixOf<Matrix, T>
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  States(Matrix&& m) : States(m.data(), m.rows(), m.cols(), m.rowStride(), m.colStride()) {}
};
template <typename T>
using StatesIn = States<const std::type_identity_t<T>>;
template <typename T>
using StatesOut = States<std::type_identity_t<T>>;

struct BatchOptions {
  /// Number of threads that share the work. 0: one per hardware thread; 1: the calling thread only.
  int threads = 0;
};

/// Scratch memory and threads for evaluating many states, as Data is for one state. Every calling
/// thread needs its own.
template <typename T>
class BasicBatch {
 public:
  KEMPE_API explicit BasicBatch(const Model& model, const BatchOptions& options = {});
  KEMPE_API BasicBatch(BasicBatch&&) noexcept;
  KEMPE_API BasicBatch& operator=(BasicBatch&&) noexcept;
  KEMPE_API ~BasicBatch();

  /// Number of states that one core computes at once.
  [[nodiscard]] KEMPE_API int lanes() const;
  [[nodiscard]] KEMPE_API int threads() const;

  [[nodiscard]] detail::BatchImpl<T>& impl() { return *impl_; }

 private:
  std::unique_ptr<detail::BatchImpl<T>> impl_;
};
using Batch = BasicBatch<double>;
using BatchF = BasicBatch<float>;

/// Calls `compute(data, state)` for all states, on the threads of the batch: for algorithms that
/// have no batch version here. Errors name the index of the state, counted from `firstNumber`.
template <typename T>
KEMPE_API void forEachState(const Model& model, BasicBatch<T>& batch, Eigen::Index states,
                            const std::function<void(BasicData<std::type_identity_t<T>>& data,
                                                     Eigen::Index state)>& compute,
                            Eigen::Index firstNumber = 0);

/// External forces on frames; the frames are the same in all states.
template <typename T>
struct BatchForces {
  std::span<const int> frames{};  ///< Model::frameIndex
  States<const T> wrenches{};     ///< 6 entries, [force; moment], per frame
  Reference reference = Reference::LocalWorldAligned;
};

/// (N, nq), (N, nv), (N, nv) → (N, nv). An output may alias an input of the same size.
template <typename T>
KEMPE_API void inverseDynamics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                               StatesIn<T> v, StatesIn<T> a, StatesOut<T> tau,
                               const BatchForces<std::type_identity_t<T>>& external = {});
template <typename T>
KEMPE_API void forwardDynamics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                               StatesIn<T> v, StatesIn<T> tau, StatesOut<T> a,
                               const BatchForces<std::type_identity_t<T>>& external = {});

/// Dynamics under constraints, (N, nq), (N, nv), (N, nv) → (N, nv) and the multipliers,
/// (N, constraints.rows()). `reports` has an entry per state, or none.
template <typename T>
KEMPE_API void constrainedForwardDynamics(const Model& model, BasicBatch<T>& batch,
                                          const Constraints& constraints, double time,
                                          StatesIn<T> q, StatesIn<T> v, StatesIn<T> tau,
                                          StatesOut<T> a, StatesOut<T> multipliers,
                                          const BatchForces<std::type_identity_t<T>>& external = {},
                                          std::span<ConstraintReport> reports = {});

/// (N, nv²) each: one matrix per state, row-major; see inverse_dynamics_derivatives.hpp and
/// forward_dynamics_derivatives.hpp.
template <typename T>
KEMPE_API void inverseDynamicsDerivatives(
    const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v, StatesIn<T> a,
    StatesOut<T> dtau_dq, StatesOut<T> dtau_dv, StatesOut<T> H,
    const BatchForces<std::type_identity_t<T>>& external = {});
template <typename T>
KEMPE_API void forwardDynamicsDerivatives(
    const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v, StatesIn<T> tau,
    StatesOut<T> da_dq, StatesOut<T> da_dv, StatesOut<T> da_dtau,
    const BatchForces<std::type_identity_t<T>>& external = {});

/// (N, nv²): one matrix per state, row-major.
template <typename T>
KEMPE_API void gravityForcesDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                        StatesOut<T> dtau_dq);

/// Options of the forces between bodies of many states, as ForceOptions of one.
template <typename T>
struct BatchForceOptions {
  BatchForces<T> external{};
  std::optional<Reference> reference{};
  std::optional<int> frame{};
  Actuation actuation = Actuation::Independent;
};

/// Dynamics of many states with the forces of all joints, (N, 6 joints), and of all loops,
/// (N, model.nLoopForces()). Outputs without data (`{}`) are not computed.
template <typename T>
KEMPE_API void forwardDynamicsAndForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                        StatesIn<T> v, StatesIn<T> tau, StatesOut<T> a,
                                        StatesOut<T> joints, StatesOut<T> loops,
                                        const BatchForceOptions<std::type_identity_t<T>>& how = {});
template <typename T>
KEMPE_API void inverseDynamicsAndForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                        StatesIn<T> v, StatesIn<T> a, StatesOut<T> tau,
                                        StatesOut<T> joints, StatesOut<T> loops,
                                        const BatchForceOptions<std::type_identity_t<T>>& how = {});

/// (N, nq) → (N, nv²): one full symmetric matrix per state.
template <typename T>
KEMPE_API void massMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> H);

/// (N, nq) → (N, 36 k²) for k frames: one full symmetric matrix per state.
template <typename T>
KEMPE_API void inverseOperationalInertia(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                         std::span<const int> frames, StatesOut<T> Omega,
                                         Reference reference = Reference::LocalWorldAligned);

/// (N, nq) → (N, 12 k) for k frames: for each frame its rotation matrix, row-major, then its
/// position, in the world.
template <typename T>
KEMPE_API void forwardKinematics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                 std::span<const int> frames, StatesOut<T> placements);

/// Velocities, accelerations and J̇ v of k frames, (N, 6 k); their Jacobians, (N, 6 nv k), row-major:
/// entry (i, j) of frame f is 6 nv f + i nv + j.
template <typename T>
KEMPE_API void frameVelocity(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                             std::span<const int> frames, StatesOut<T> velocities,
                             Reference reference = Reference::LocalWorldAligned);
template <typename T>
KEMPE_API void frameAcceleration(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                 StatesIn<T> v, StatesIn<T> a, std::span<const int> frames,
                                 StatesOut<T> accelerations,
                                 Reference reference = Reference::LocalWorldAligned);
template <typename T>
KEMPE_API void frameJacobian(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                             std::span<const int> frames, StatesOut<T> J,
                             Reference reference = Reference::LocalWorldAligned);
template <typename T>
KEMPE_API void frameJacobianRate(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                 StatesIn<T> v, std::span<const int> frames, StatesOut<T> rates,
                                 Reference reference = Reference::LocalWorldAligned);

/// Derivatives of velocities and accelerations of k frames and the rates of their Jacobians,
/// (N, 6 nv k), in the order of Jacobians; see kinematics_derivatives.hpp.
template <typename T>
KEMPE_API void frameVelocityDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                        StatesIn<T> v, std::span<const int> frames,
                                        StatesOut<T> dv_dq, StatesOut<T> J,
                                        Reference reference = Reference::LocalWorldAligned);
template <typename T>
KEMPE_API void frameAccelerationDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                            StatesIn<T> v, StatesIn<T> a,
                                            std::span<const int> frames, StatesOut<T> da_dq,
                                            StatesOut<T> da_dv, StatesOut<T> J,
                                            Reference reference = Reference::LocalWorldAligned);
template <typename T>
KEMPE_API void frameJacobianTimeDerivative(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                           StatesIn<T> v, std::span<const int> frames,
                                           StatesOut<T> rate,
                                           Reference reference = Reference::LocalWorldAligned);

/// Bias forces without external ones, and gravity forces, (N, nv).
template <typename T>
KEMPE_API void biasForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                          StatesOut<T> h);
template <typename T>
KEMPE_API void gravityForces(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                             StatesOut<T> tau);

/// Centres of mass, (N, 3), their Jacobians, (N, 3 nv), momenta, (N, 6), and centroidal momentum
/// matrices, (N, 6 nv). Matrices are row-major.
template <typename T>
KEMPE_API void centerOfMass(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                            StatesOut<T> centers);
template <typename T>
KEMPE_API void centerOfMassJacobian(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                    StatesOut<T> J);
template <typename T>
KEMPE_API void momentum(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                        StatesOut<T> h);
template <typename T>
KEMPE_API void centroidalMomentumMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                        StatesOut<T> A);

/// Velocities and accelerations of centres of mass, (N, 3), and rates of momenta, (N, 6).
template <typename T>
KEMPE_API void centerOfMassVelocity(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                    StatesIn<T> v, StatesOut<T> velocities);
template <typename T>
KEMPE_API void centerOfMassAcceleration(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                        StatesIn<T> v, StatesIn<T> a, StatesOut<T> accelerations);
template <typename T>
KEMPE_API void momentumRate(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                            StatesIn<T> a, StatesOut<T> rate);

/// Derivatives of momenta and their rates, (N, 6 nv), and of velocities and accelerations of centres
/// of mass, (N, 3 nv), row-major; see momentum_derivatives.hpp.
template <typename T>
KEMPE_API void momentumDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                   StatesIn<T> v, StatesOut<T> dh_dq, StatesOut<T> A);
template <typename T>
KEMPE_API void momentumRateDerivatives(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                       StatesIn<T> v, StatesIn<T> a, StatesOut<T> drate_dq,
                                       StatesOut<T> drate_dv, StatesOut<T> A);
template <typename T>
KEMPE_API void centerOfMassVelocityDerivatives(const Model& model, BasicBatch<T>& batch,
                                               StatesIn<T> q, StatesIn<T> v, StatesOut<T> dv_dq,
                                               StatesOut<T> J);
template <typename T>
KEMPE_API void centerOfMassAccelerationDerivatives(const Model& model, BasicBatch<T>& batch,
                                                   StatesIn<T> q, StatesIn<T> v, StatesIn<T> a,
                                                   StatesOut<T> da_dq, StatesOut<T> da_dv,
                                                   StatesOut<T> J);

/// Kinetic and potential energies, (N, 2).
template <typename T>
KEMPE_API void energy(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                      StatesOut<T> energies);

/// Coriolis matrices, (N, nv²), row-major.
template <typename T>
KEMPE_API void coriolisMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                              StatesIn<T> v, StatesOut<T> C);

/// (N, nq), (N, nv) → (N, nq). Clusters whose loops are solved numerically are computed in double,
/// one state at a time.
template <typename T>
KEMPE_API void integrate(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                         std::type_identity_t<T> dt, StatesOut<T> result);

}  // namespace kempe
