#include "kempe/mass_matrix.hpp"

#include "algorithms/evaluation.hpp"
#include "algorithms/kernels/mass_matrix.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// C-ABA at rest without gravity: forces x in work.u, accelerations into result.
template <typename T>
void solve(Evaluation<T>& e, T* result) {
  for (int b = 0; b < e.tables.bodyCount; ++b) {
    e.work.f[b] = {};
  }
  for (int c = e.tables.clusterCount - 1; c >= 0; --c) {
    const ClusterEntry& cluster = e.tables.clusters[c];
    withSize(cluster.nv, [&]<int M>() { condenseForce<M>(e.tables, cluster, e.work); });
  }
  for (int c = 0; c < e.tables.clusterCount; ++c) {
    const ClusterEntry& cluster = e.tables.clusters[c];
    withSize(cluster.nv, [&]<int M>() { accelerateCluster<M>(e.tables, cluster, e.work, result); });
  }
}

}  // namespace

template <typename T>
void massMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q, MatrixOutOf<T> H) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  e.requireMatrix("H", H, e.tables.nv, e.tables.nv);
  e.place(q);
  massMatrixKernel(e.tables, e.work, H.data(), static_cast<int>(H.outerStride()));
}

template <typename T>
void applyInverseMassMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                            VectorInOf<T> x, VectorOutOf<T> result) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  e.requireInput("x", x);
  e.requireOutput("result", result);
  e.place(q);
  e.condense();
  for (int i = 0; i < e.tables.nv; ++i) {
    e.work.u[i] = x[i];
  }
  solve(e, result.data());
}

template <typename T>
void inverseMassMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                       MatrixOutOf<T> inverse) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  e.requireMatrix("inverse", inverse, e.tables.nv, e.tables.nv);
  e.place(q);
  e.condense();
  for (int j = 0; j < e.tables.nv; ++j) {
    for (int i = 0; i < e.tables.nv; ++i) {
      e.work.u[i] = T(i == j ? 1 : 0);
    }
    solve(e, inverse.col(j).data());
  }
}

#define KEMPE_INSTANTIATE(T)                                                               \
  template void massMatrix<T>(const Model&, BasicData<T>&, VectorInOf<T>, MatrixOutOf<T>); \
  template void applyInverseMassMatrix<T>(const Model&, BasicData<T>&, VectorInOf<T>,      \
                                          VectorInOf<T>, VectorOutOf<T>);                  \
  template void inverseMassMatrix<T>(const Model&, BasicData<T>&, VectorInOf<T>, MatrixOutOf<T>);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
