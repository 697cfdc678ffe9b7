#include "kempe/momentum.hpp"

#include "algorithms/evaluation.hpp"
#include "kernels/articulated.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// Mass and first moment of all bodies, rotors among them, in the common frame.
template <typename T>
RigidInertia<T> totalInertia(const Evaluation<T>& e) {
  RigidInertia<T> total;
  for (int b = 0; b < e.tables->bodyCount; ++b) {
    total += e.work->X[b] * e.tables->bodies[b].own;
  }
  return total;
}

template <typename T>
Vec3<T> centerOf(const RigidInertia<T>& inertia) {
  return (T(1) / inertia.mass) * inertia.moment;
}

/// A momentum of the common frame as [linear; angular] about a point.
template <typename T, typename Out>
void write(const Force<T>& h, const Vec3<T>& point, Out&& out) {
  const Vec3<T> angular = h.moment - cross(point, h.force);
  for (int i = 0; i < 3; ++i) {
    out[i] = h.force[i];
    out[i + 3] = angular[i];
  }
}

}  // namespace

template <typename T>
Vec3<T> centerOfMass(const Model& model, BasicData<T>& data, VectorInOf<T> q) {
  const PlacedEvaluation<T> e(model, data, q);
  return centerOf(totalInertia(e)) + *e.work->origin;
}

template <typename T>
void momentum(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
              VectorOutOf<T> h) {
  PlacedEvaluation<T> e(model, data, q);
  e.requireInput("v", v);
  requireSize("h", h.size(), 6, "the size of a spatial vector");
  e.move(v.data(), nullptr);
  Force<T> sum{};
  for (int b = 0; b < e.tables->bodyCount; ++b) {
    sum += (e.work->X[b] * e.tables->bodies[b].own) * e.work->v[b];
  }
  write(sum, centerOf(totalInertia(e)), h);
}

template <typename T>
void centroidalMomentumMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                              MatrixOutOf<T> A) {
  const PlacedEvaluation<T> e(model, data, q);
  e.requireMatrix("A", A, 6, e.tables->nv);
  for (int b = 0; b < e.tables->bodyCount; ++b) {
    e.work->I[b] = e.work->X[b] * e.tables->bodies[b].own;
  }
  const Vec3<T> center = centerOf(totalInertia(e));
  for (int c = e.tables->clusterCount - 1; c >= 0; --c) {
    const ClusterEntry& cluster = e.tables->clusters[c];
    for (int j = 0; j < cluster.nv; ++j) {
      Force<T> column{};
      for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
        column += e.work->I[b] * e.work->S[e.tables->bodies[b].firstS + j];
      }
      write(column, center, A.col(cluster.firstV + j));
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      if (cluster.output != kWorld) {
        e.work->I[cluster.output] += e.work->I[b];
      }
    }
  }
}

template <typename T>
Energy energy(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v) {
  PlacedEvaluation<T> e(model, data, q);
  e.requireInput("v", v);
  e.move(v.data(), nullptr);
  T twice(0);
  for (int b = 0; b < e.tables->bodyCount; ++b) {
    const Motion<T>& velocity = e.work->v[b];
    twice += dot((e.work->X[b] * e.tables->bodies[b].own) * velocity, velocity);
  }
  for (int i = 0; i < e.tables->velocities; ++i) {
    twice += e.tables->armature[i] * e.work->rates[i] * e.work->rates[i];
  }
  const RigidInertia<T> total = totalInertia(e);
  const T height = dot(e.tables->gravity, total.moment + total.mass * *e.work->origin);
  T springs(0);  // twice their energy
  for (int c = 0; c < e.tables->clusterCount; ++c) {
    forSprings(*e.tables, e.tables->clusters[c], *e.work, [&](int i, const T& force) {
      const T stiffness = e.tables->stiffness[i];
      springs += stiffness > T(0) ? force * force / stiffness : T(0);
    });
  }
  return {0.5 * static_cast<double>(twice),
          0.5 * static_cast<double>(springs) - static_cast<double>(height)};
}

#define KEMPE_INSTANTIATE(T)                                                            \
  template Vec3<T> centerOfMass<T>(const Model&, BasicData<T>&, VectorInOf<T>);         \
  template void momentum<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,  \
                            VectorOutOf<T>);                                            \
  template void centroidalMomentumMatrix<T>(const Model&, BasicData<T>&, VectorInOf<T>, \
                                            MatrixOutOf<T>);                            \
  template Energy energy<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
