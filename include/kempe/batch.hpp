#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"

/// Many states at once: several in the lanes of vector registers, and those on several threads.
/// Results are those of one state at a time, to rounding.
///
///     kempe::Batch batch(model);
///     kempe::forwardDynamics(model, batch, q, v, tau, a);   // matrices with a row per state
///
/// All functions throw what their namesakes for one state throw, with the number of the state, and
/// nothing is then known of the results. They allocate nothing but what the threads' runtime does.
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

/// States in memory, used where they are: number i of state k is data[k * stateStride + i *
/// entryStride]. Any Eigen matrix with a row for each state is one: row-major it is an array of
/// states, column-major a structure of arrays.
template <typename T>
struct States {
  T* data = nullptr;
  Eigen::Index states = 0;       ///< how many
  Eigen::Index entries = 0;      ///< numbers of each
  Eigen::Index stateStride = 0;  ///< from state to state
  Eigen::Index entryStride = 1;  ///< from number to number of one state
  Eigen::Index firstNumber = 0;  ///< what errors call the first state, where these are part of more

  States() = default;
  /// One after the other, (states, entries) row-major.
  States(T* first, Eigen::Index stateCount, Eigen::Index entryCount)
      : data(first), states(stateCount), entries(entryCount), stateStride(entryCount) {}
  States(T* first, Eigen::Index stateCount, Eigen::Index entryCount, Eigen::Index perState,
         Eigen::Index perEntry)
      : data(first),
        states(stateCount),
        entries(entryCount),
        stateStride(perState),
        entryStride(perEntry) {}
  /// What can be written can be read.
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
  /// Threads that share the work; 0: as many as the machine has; 1: the caller alone.
  int threads = 0;
};

/// Scratch memory of evaluations of many states, as Data is of one. One for each caller: it brings
/// its own threads.
template <typename T>
class BasicBatch {
 public:
  KEMPE_API explicit BasicBatch(const Model& model, const BatchOptions& options = {});
  KEMPE_API BasicBatch(BasicBatch&&) noexcept;
  KEMPE_API BasicBatch& operator=(BasicBatch&&) noexcept;
  KEMPE_API ~BasicBatch();

  /// States that one core computes at once.
  [[nodiscard]] KEMPE_API int lanes() const;
  [[nodiscard]] KEMPE_API int threads() const;

  [[nodiscard]] detail::BatchImpl<T>& impl() { return *impl_; }

 private:
  std::unique_ptr<detail::BatchImpl<T>> impl_;
};
using Batch = BasicBatch<double>;
using BatchF = BasicBatch<float>;

/// Calls `compute(data, state)` for all states, on the threads of the batch: for what has no
/// function of its own here. Errors get the number of the state, counted from `firstNumber`.
template <typename T>
KEMPE_API void forEachState(const Model& model, BasicBatch<T>& batch, Eigen::Index states,
                            const std::function<void(BasicData<std::type_identity_t<T>>& data,
                                                     Eigen::Index state)>& compute,
                            Eigen::Index firstNumber = 0);

/// Forces on frames, the same frames in all states.
template <typename T>
struct BatchForces {
  std::span<const int> frames{};  ///< Model::frameIndex
  States<const T> wrenches{};     ///< 6 numbers, [force; moment], for each frame
  Reference reference = Reference::LocalWorldAligned;
};

/// (N, nq), (N, nv), (N, nv) → (N, nv). Outputs may be one of the inputs of the same size.
template <typename T>
KEMPE_API void inverseDynamics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                               StatesIn<T> v, StatesIn<T> a, StatesOut<T> tau,
                               const BatchForces<std::type_identity_t<T>>& external = {});
template <typename T>
KEMPE_API void forwardDynamics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                               StatesIn<T> v, StatesIn<T> tau, StatesOut<T> a,
                               const BatchForces<std::type_identity_t<T>>& external = {});

/// (N, nq) → (N, nv²), each a full symmetric matrix.
template <typename T>
KEMPE_API void massMatrix(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesOut<T> H);

/// (N, nq) → (N, 36 k²) of k frames, each a full symmetric matrix.
template <typename T>
KEMPE_API void inverseOperationalInertia(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                         std::span<const int> frames, StatesOut<T> Omega,
                                         Reference reference = Reference::LocalWorldAligned);

/// (N, nq) → (N, 12 k): of each of k frames the rotation, row by row, and the position in the
/// world.
template <typename T>
KEMPE_API void forwardKinematics(const Model& model, BasicBatch<T>& batch, StatesIn<T> q,
                                 std::span<const int> frames, StatesOut<T> placements);

/// (N, nq), (N, nv) → (N, nq). Clusters with loops to close are solved in double, one state after
/// the other.
template <typename T>
KEMPE_API void integrate(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                         std::type_identity_t<T> dt, StatesOut<T> result);

}  // namespace kempe
