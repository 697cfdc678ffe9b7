#pragma once

#include "algorithms/evaluation.hpp"

/// The methods that Cluster is compared with (Chignoli et al. 2023, section II). Arguments have
/// been checked, and prepareExternal called, which gave `external`. Outputs may alias inputs of the
/// same size.
namespace kempe::detail {

/// By any method but Cluster.
template <typename T>
void comparedInverseDynamics(Evaluation<T>& e, const DynamicsOptions& how,
                             const ExternalForces<T, T>& external, VectorInOf<T> q, const T* v,
                             const T* a, T* tau);
template <typename T>
void comparedForwardDynamics(Evaluation<T>& e, const DynamicsOptions& how,
                             const ExternalForces<T, T>& external, VectorInOf<T> q, const T* v,
                             const T* tau, T* a);
/// Ω, 6k × 6k. Allocates nothing once it has been called with as many frames.
template <typename T>
void comparedOperationalInertia(Evaluation<T>& e, Method method, VectorInOf<T> q,
                                std::span<const int> frames, Reference reference,
                                MatrixOutOf<T> Omega);

/// τ = Gᵀ RNEA(q, G v, G a + g) on the spanning tree.
template <typename T>
void projectedInverseDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                              VectorInOf<T> q, const T* v, const T* a, T* tau);
/// ÿ = (Gᵀ H G)⁻¹ (τ − Gᵀ (c + H g)).
template <typename T>
void projectedForwardDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                              VectorInOf<T> q, const T* v, const T* tau, T* a);
/// Ω = J G (Gᵀ H G)⁻¹ Gᵀ Jᵀ, J of the spanning tree.
template <typename T>
void projectedOperationalInertia(Evaluation<T>& e, VectorInOf<T> q, std::span<const int> frames,
                                 Reference reference, MatrixOutOf<T> Omega);

/// Multipliers from the rows of the dependent joints, forces from those of the independent ones.
template <typename T>
void lagrangeInverseDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                             VectorInOf<T> q, const T* v, const T* a, T* tau);
/// H q̈ = τ − c + Kᵀ λ, K q̈ = k, by the Schur complement K H⁻¹ Kᵀ.
template <typename T>
void lagrangeForwardDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                             VectorInOf<T> q, const T* v, const T* tau, T* a);
/// Ω = J (H⁻¹ − H⁻¹ Kᵀ (K H⁻¹ Kᵀ)⁻¹ K H⁻¹) Jᵀ.
template <typename T>
void lagrangeOperationalInertia(Evaluation<T>& e, VectorInOf<T> q, std::span<const int> frames,
                                Reference reference, MatrixOutOf<T> Omega);

/// Multipliers by recursion on the spanning tree.
template <typename T>
void cutJointForwardDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                             VectorInOf<T> q, const T* v, const T* tau, T* a);
template <typename T>
void cutJointOperationalInertia(Evaluation<T>& e, VectorInOf<T> q, std::span<const int> frames,
                                Reference reference, MatrixOutOf<T> Omega);

/// Multipliers for all joints and loops of free bodies.
template <typename T>
void absoluteForwardDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                             VectorInOf<T> q, const T* v, const T* tau, T* a);

/// RNEA, ABA and EFPA on the independent tree, with reflected inertia (Approximate) or without
/// (Unconstrained). Throw std::invalid_argument where the model has no such tree, or a frame sits
/// on a body that it leaves out.
template <typename T>
void independentInverseDynamics(Evaluation<T>& e, const DynamicsOptions& how, VectorInOf<T> q,
                                const T* v, const T* a, T* tau);
template <typename T>
void independentForwardDynamics(Evaluation<T>& e, const DynamicsOptions& how, VectorInOf<T> q,
                                const T* v, const T* tau, T* a);
template <typename T>
void independentOperationalInertia(Evaluation<T>& e, Method method, VectorInOf<T> q,
                                   std::span<const int> frames, Reference reference,
                                   MatrixOutOf<T> Omega);

}  // namespace kempe::detail
