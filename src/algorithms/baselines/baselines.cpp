#include "algorithms/baselines/baselines.hpp"

#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Only two methods know loops that are left cut.
template <typename T>
void refuseCuts(const Evaluation<T>& e, Method method) {
  if (!e.impl.cuts.entries.empty() && method != Method::CutJoint) {
    throw std::invalid_argument("method: loop " + kempe::quoted(e.impl.cutNames.front()) +
                                " is left cut, which only Method::Cluster and Method::CutJoint "
                                "support. Use one of them, or embed the loop.");
  }
}

}  // namespace

template <typename T>
void comparedInverseDynamics(Evaluation<T>& e, const DynamicsOptions& how,
                             const ExternalForces<T, T>& external, VectorInOf<T> q, const T* v,
                             const T* a, T* tau) {
  switch (how.method) {
    case Method::Projection:
      return projectedInverseDynamics(e, external, q, v, a, tau);
    case Method::Lagrange:
    case Method::CutJoint:  // a given motion leaves nothing to the recursion
    case Method::Absolute:
      return lagrangeInverseDynamics(e, external, q, v, a, tau);
    case Method::Cluster:
      return;  // not one of them
    case Method::Approximate:
    case Method::Unconstrained:
      return independentInverseDynamics(e, how, q, v, a, tau);
  }
}

template <typename T>
void comparedForwardDynamics(Evaluation<T>& e, const DynamicsOptions& how,
                             const ExternalForces<T, T>& external, VectorInOf<T> q, const T* v,
                             const T* tau, T* a) {
  refuseCuts(e, how.method);
  switch (how.method) {
    case Method::Projection:
      return projectedForwardDynamics(e, external, q, v, tau, a);
    case Method::Lagrange:
      return lagrangeForwardDynamics(e, external, q, v, tau, a);
    case Method::CutJoint:
      return cutJointForwardDynamics(e, external, q, v, tau, a);
    case Method::Absolute:
      return absoluteForwardDynamics(e, external, q, v, tau, a);
    case Method::Cluster:
      return;  // not one of them
    case Method::Approximate:
    case Method::Unconstrained:
      return independentForwardDynamics(e, how, q, v, tau, a);
  }
}

template <typename T>
void comparedOperationalInertia(Evaluation<T>& e, Method method, VectorInOf<T> q,
                                std::span<const int> frames, Reference reference,
                                MatrixOutOf<T> Omega) {
  refuseCuts(e, method);
  switch (method) {
    case Method::Projection:
      return projectedOperationalInertia(e, q, frames, reference, Omega);
    case Method::Lagrange:
      return lagrangeOperationalInertia(e, q, frames, reference, Omega);
    case Method::CutJoint:
      return cutJointOperationalInertia(e, q, frames, reference, Omega);
    case Method::Absolute:
      throw std::invalid_argument("method: Method::Absolute computes forward dynamics only");
    case Method::Cluster:
      return;  // not one of them
    case Method::Approximate:
    case Method::Unconstrained:
      return independentOperationalInertia(e, method, q, frames, reference, Omega);
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define KEMPE_INSTANTIATE(T)                                                                     \
  template void comparedInverseDynamics<T>(Evaluation<T>&, const DynamicsOptions&,               \
                                           const ExternalForces<T, T>&, VectorInOf<T>, const T*, \
                                           const T*, T*);                                        \
  template void comparedForwardDynamics<T>(Evaluation<T>&, const DynamicsOptions&,               \
                                           const ExternalForces<T, T>&, VectorInOf<T>, const T*, \
                                           const T*, T*);                                        \
  template void comparedOperationalInertia<T>(Evaluation<T>&, Method, VectorInOf<T>,             \
                                              std::span<const int>, Reference, MatrixOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace kempe::detail
