// Compiled only: the spatial algebra as device code, for double and float.

#include "kempe/spatial/factorization.hpp"
#include "kempe/spatial/transform.hpp"

namespace {

/// Touches every type and every kind of operation, so that none is left uninstantiated.
template <typename T>
__device__ T useEverything(const T* in) {
  using namespace kempe;
  const Vec3<T> a{in[0], in[1], in[2]}, b{in[3], in[4], in[5]};
  const Quaternion<T> q = quaternionFromVector(a) * quaternionFromRotation(rotationFromVector(b));
  const Mat3<T> R = timesRotationZ(rotationTakingZTo(normalized(a)), in[0], in[1]) *
                    rotationFromQuaternion(normalized(q)) * rotationFromRollPitchYaw(b);
  const Transform<T> X = Transform<T>{R, a} * Transform<T>{rotationZ(in[2]), b}.inverse();
  const Motion<T> v = X * Motion<T>{a, b};
  const Force<T> f = cross(v, X * Force<T>{vectorFromQuaternion(q), X.point(b)});

  const auto body = X * RigidInertia<T>::fromCenterOfMass(in[0], a, pointInertia(b));
  ArticulatedInertia<T> inertia = X * ArticulatedInertia<T>::fromRigid(body);
  inertia += body;
  inertia.addOuter(T(-1) / dot(f, v), f);

  T matrix[9], rhs[3] = {in[0], in[1], in[2]};
  for (int i = 0; i < 9; ++i) {
    matrix[i] = inertia.A.full()(i / 3, i % 3);
  }
  if (choleskyFactor(matrix, 3)) {
    choleskySolve(matrix, 3, rhs);
  } else {
    int pivots[3];
    if (luFactor(matrix, 3, pivots) > T(0)) {
      luSolve(matrix, 3, pivots, rhs, 1);
    }
  }
  return dot(inertia * v, cross(v, v)) + rhs[0] + rhs[1] + rhs[2];
}

template <typename T>
__global__ void spatialKernel(const T* in, T* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) {
    out[i] = useEverything(in + 6 * i);
  }
}

template __global__ void spatialKernel<double>(const double*, double*, int);
template __global__ void spatialKernel<float>(const float*, float*, int);

}  // namespace
