#include "kempe/momentum.hpp"

#include "algorithms/term_evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
Vec3<T> centerOfMass(const Model& model, BasicData<T>& data, VectorInOf<T> q) {
  TermEvaluation<T> e(model, data);
  T center[3];
  e.request.centerOfMass = center;
  e.run(q);
  return {center[0], center[1], center[2]};
}

template <typename T>
void centerOfMassJacobian(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                          MatrixOutOf<T> J) {
  TermEvaluation<T> e(model, data);
  e.requireMatrix("J", J, 3, e.tables->nv);
  e.request.centerOfMassJacobian = matrixAt<T>(J);
  e.run(q);
}

template <typename T>
Vec3<T> centerOfMassVelocity(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                             VectorInOf<T> v) {
  TermEvaluation<T> e(model, data);
  T velocity[3];
  e.request.centerVelocity = velocity;
  e.run(q, &v);
  return {velocity[0], velocity[1], velocity[2]};
}

template <typename T>
Vec3<T> centerOfMassAcceleration(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                                 VectorInOf<T> v, VectorInOf<T> a) {
  TermEvaluation<T> e(model, data);
  T acceleration[3];
  e.request.centerAcceleration = acceleration;
  e.run(q, &v, &a);
  return {acceleration[0], acceleration[1], acceleration[2]};
}

template <typename T>
void momentum(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
              VectorOutOf<T> h) {
  TermEvaluation<T> e(model, data);
  requireSize("h", h.size(), 6, "the size of a spatial vector");
  e.request.momentum = h.data();
  e.run(q, &v);
}

template <typename T>
void momentumRate(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                  VectorInOf<T> a, VectorOutOf<T> rate) {
  TermEvaluation<T> e(model, data);
  requireSize("rate", rate.size(), 6, "the size of a spatial vector");
  e.request.momentumRate = rate.data();
  e.run(q, &v, &a);
}

template <typename T>
void centroidalMomentumMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                              MatrixOutOf<T> A) {
  TermEvaluation<T> e(model, data);
  e.requireMatrix("A", A, 6, e.tables->nv);
  e.request.momentumMatrix = matrixAt<T>(A);
  e.run(q);
}

template <typename T>
Energy energy(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v) {
  TermEvaluation<T> e(model, data);
  T energies[2];
  e.request.energy = energies;
  e.run(q, &v);
  return {static_cast<double>(energies[0]), static_cast<double>(energies[1])};
}

#define KEMPE_INSTANTIATE(T)                                                               \
  template Vec3<T> centerOfMass<T>(const Model&, BasicData<T>&, VectorInOf<T>);            \
  template void centerOfMassJacobian<T>(const Model&, BasicData<T>&, VectorInOf<T>,        \
                                        MatrixOutOf<T>);                                   \
  template Vec3<T> centerOfMassVelocity<T>(const Model&, BasicData<T>&, VectorInOf<T>,     \
                                           VectorInOf<T>);                                 \
  template Vec3<T> centerOfMassAcceleration<T>(const Model&, BasicData<T>&, VectorInOf<T>, \
                                               VectorInOf<T>, VectorInOf<T>);              \
  template void momentumRate<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>, \
                                VectorInOf<T>, VectorOutOf<T>);                            \
  template void momentum<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,     \
                            VectorOutOf<T>);                                               \
  template void centroidalMomentumMatrix<T>(const Model&, BasicData<T>&, VectorInOf<T>,    \
                                            MatrixOutOf<T>);                               \
  template Energy energy<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
