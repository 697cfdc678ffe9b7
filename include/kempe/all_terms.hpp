#pragma once

#include <span>

#include "kempe/batch.hpp"
#include "kempe/export.hpp"
#include "kempe/method.hpp"
#include "kempe/model.hpp"
#include "kempe/momentum.hpp"

/// The terms of the equations of motion and the kinematics of frames in one evaluation, for
/// controllers that need several of them: bodies are placed and moved once.
///
/// The functions for single terms share this work too. A Data keeps the motion of the bodies at the
/// last state, and kinematics (kinematics.hpp), momentum.hpp, massMatrix(), gravityForces(),
/// biasForces() without external forces and coriolisMatrix() use it when they are called at the same
/// q and v. They compare the numbers of q and v, so that a result can never belong to another state.
namespace kempe {

/// Views of the results of allTerms(), valid until the next call of allTerms() with the same data.
template <typename T>
struct AllTerms {
  using VectorView = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  using MatrixView = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>;

  MatrixView H;                         ///< mass matrix, nv × nv
  VectorView bias;                      ///< biasForces(), nv
  VectorView gravity;                   ///< gravityForces(), nv
  Vec3<T> centerOfMass;                 ///< in the world
  MatrixView centerOfMassJacobian;      ///< 3 × nv
  VectorView momentum;                  ///< [linear; angular] about the centre of mass
  MatrixView centroidalMomentumMatrix;  ///< A of momentum = A v, 6 × nv
  Energy energy;
  std::span<const Transform<T>> placements;  ///< of the frames, in the world
  MatrixView velocities;                     ///< 6 × frames, columns as of frameVelocity()
  MatrixView jacobianRates;                  ///< J̇ v, 6 × frames
  MatrixView jacobians;                      ///< those of all frames side by side, 6 × (frames nv)

  /// J of frame `i` of the list that allTerms() was given.
  [[nodiscard]] MatrixView jacobian(Eigen::Index i) const {
    return {jacobians.data() + 6 * i * H.cols(), 6, H.cols()};
  }
};

/// Computes all terms at q, v; those of frames for `frames` (Model::frameIndex).
///
/// Allocates memory for its results at the first call, and where a later call has more frames. Throws
/// the same exceptions as inverseDynamics().
template <typename T>
KEMPE_API AllTerms<T> allTerms(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                               VectorInOf<T> v, std::span<const int> frames = {},
                               Reference reference = Reference::LocalWorldAligned);

/// Outputs of allTerms() for many states; those without data are not computed. Matrices are
/// row-major: entry (i, j) of a matrix with nv columns is i nv + j.
template <typename T>
struct BatchTerms {
  States<T> H{};                         ///< nv²
  States<T> bias{}, gravity{};           ///< nv
  States<T> centerOfMass{};              ///< 3
  States<T> centerOfMassJacobian{};      ///< 3 nv
  States<T> momentum{};                  ///< 6
  States<T> centroidalMomentumMatrix{};  ///< 6 nv
  States<T> energy{};                    ///< 2: kinetic, potential
  States<T> placements{};                ///< 12 of each frame, as of forwardKinematics()
  States<T> velocities{};                ///< 6 of each frame
  States<T> jacobians{};                 ///< 6 nv of each frame
  States<T> jacobianRates{};             ///< 6 of each frame
};
template <typename T>
KEMPE_API void allTerms(const Model& model, BasicBatch<T>& batch, StatesIn<T> q, StatesIn<T> v,
                        std::span<const int> frames,
                        const BatchTerms<std::type_identity_t<T>>& terms,
                        Reference reference = Reference::LocalWorldAligned);

}  // namespace kempe
