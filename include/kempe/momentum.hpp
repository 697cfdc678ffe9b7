#pragma once

#include "kempe/export.hpp"
#include "kempe/model.hpp"

/// Centre of mass, momentum and energy of all moving bodies, without those fixed to the world.
///
/// All functions throw the same exceptions as inverseDynamics() and allocate no memory.
namespace kempe {

/// Returns the centre of mass in the world.
template <typename T>
KEMPE_API Vec3<T> centerOfMass(const Model& model, BasicData<T>& data, VectorInOf<T> q);

/// Computes the Jacobian J of the centre of mass, 3 × model.nv(): its velocity is J v.
template <typename T>
KEMPE_API void centerOfMassJacobian(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                    MatrixOutOf<T> J);

/// Returns the velocity of the centre of mass.
template <typename T>
KEMPE_API Vec3<T> centerOfMassVelocity(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                       VectorInOf<T> v);

/// Returns the acceleration of the centre of mass, which does not include gravity: it is what `a`
/// gives.
template <typename T>
KEMPE_API Vec3<T> centerOfMassAcceleration(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                           VectorInOf<T> v, VectorInOf<T> a);

/// Computes the momentum [linear; angular] about the centre of mass, in world axes.
template <typename T>
KEMPE_API void momentum(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                        VectorOutOf<T> h);

/// Computes the rate of momentum(), A a + Ȧ v: the sum of the forces and moments about the centre of
/// mass that act on the robot from outside, gravity among them.
template <typename T>
KEMPE_API void momentumRate(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                            VectorInOf<T> v, VectorInOf<T> a, VectorOutOf<T> rate);

/// Computes the centroidal momentum matrix A of momentum() = A v, 6 × model.nv() (Orin, Goswami,
/// Lee 2013).
template <typename T>
KEMPE_API void centroidalMomentumMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                        MatrixOutOf<T> A);

/// Energy in joules. The potential energy is that of gravity (zero at the world's origin) and of
/// joint springs; the kinetic energy includes armatures.
struct Energy {
  double kinetic = 0.0;
  double potential = 0.0;
};
template <typename T>
KEMPE_API Energy energy(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v);

}  // namespace kempe
