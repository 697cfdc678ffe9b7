#pragma once

#include "kempe/export.hpp"
#include "kempe/model.hpp"

/// Sums over all moving bodies; what is fixed to the world does not count.
///
/// All functions throw std::invalid_argument and SingularityError as inverseDynamics() does, and
/// allocate nothing.
namespace kempe {

/// Centre of mass in the world.
template <typename T>
KEMPE_API Vec3<T> centerOfMass(const Model& model, BasicData<T>& data, VectorInOf<T> q);

/// Momentum about the centre of mass, axes of the world: [linear; angular].
template <typename T>
KEMPE_API void momentum(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                        VectorOutOf<T> h);

/// A of momentum() = A v, 6 × model.nv(): the centroidal momentum matrix (Orin, Goswami, Lee 2013).
template <typename T>
KEMPE_API void centroidalMomentumMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                        MatrixOutOf<T> A);

/// Joules. Potential energy is that of gravity, zero at the world's origin, and of the joints'
/// springs; kinetic energy includes armatures.
struct Energy {
  double kinetic = 0.0;
  double potential = 0.0;
};
template <typename T>
KEMPE_API Energy energy(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v);

}  // namespace kempe
