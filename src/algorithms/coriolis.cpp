#include "kempe/coriolis.hpp"

#include "algorithms/evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// B of one body by its columns: ½ (v ×* (I m) − I (v × m) + m ×* (I v)) for unit motions m.
template <typename T>
SpatialMatrix<T> coriolisOf(const RigidInertia<T>& I, const Motion<T>& v) {
  SpatialMatrix<T> B;
  const Force<T> momentum = I * v;
  for (int i = 0; i < 6; ++i) {
    Motion<T> m{};
    m[i] = T(1);
    B.columns[i] = T(0.5) * (cross(v, I * m) - I * cross(v, m) + cross(m, momentum));
  }
  return B;
}

/// Rates of the joint directions, and of S, of a cluster that moves.
template <typename T>
void rateCluster(Evaluation<T>& e, int c) {
  const ClusterEntry& cluster = e.tables->clusters[c];
  const int m = cluster.nv;
  Motion<T>* sRates = e.data.directionRates.data();
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<T>& body = e.tables->bodies[b];
    const Motion<T>* s = directionsOf(cluster, body, *e.work);
    const int withParent = directionsFixedInParent(body.type);
    for (int i = 0; i < velocitySize(body.type); ++i) {
      const Motion<T> carrier = i < withParent ? e.work->v[body.parent] : e.work->v[b];
      sRates[body.firstVelocity - cluster.firstVelocity + i] = cross(carrier, s[i]);
    }
  }
  T* ratioRates = e.data.ratioRates.data();
  if (cluster.kind == ClusterKind::Implicit) {
    e.loops.ratioRates(c, *e.work, sRates, ratioRates);
  }
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<T>& body = e.tables->bodies[b];
    const int first = body.firstVelocity - cluster.firstVelocity;
    const bool inside = body.parent >= cluster.firstBody;
    for (int j = 0; j < m; ++j) {
      Motion<T> column =
          inside ? e.data.SRates[e.tables->bodies[body.parent].firstS + j] : Motion<T>{};
      for (int i = first; i < first + velocitySize(body.type); ++i) {
        if (cluster.kind == ClusterKind::Tree) {
          column += i == j ? sRates[i] : Motion<T>{};
          continue;
        }
        column += e.work->G[cluster.firstRatio + i * m + j] * sRates[i];
        if (cluster.kind == ClusterKind::Implicit) {
          column += ratioRates[i * m + j] * e.work->s[cluster.firstVelocity + i];
        }
      }
      e.data.SRates[body.firstS + j] = column;
    }
  }
}

/// J Gᵀ Ġ of each DoF with an armature J, after rateCluster.
template <typename T>
void addArmatures(const Evaluation<T>& e, const ClusterEntry& cluster, MatrixOutOf<T> C) {
  if (cluster.kind != ClusterKind::Implicit || !cluster.armatured) {
    return;
  }
  const T* G = e.work->G + cluster.firstRatio;
  for (int i = 0; i < cluster.velocities; ++i) {
    const T armature(e.tables->armature[cluster.firstVelocity + i]);
    for (int l = 0; l < cluster.nv; ++l) {
      for (int j = 0; j < cluster.nv; ++j) {
        C(cluster.firstV + l, cluster.firstV + j) +=
            armature * G[i * cluster.nv + l] * e.data.ratioRates[i * cluster.nv + j];
      }
    }
  }
}

}  // namespace

template <typename T>
void coriolisMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                    MatrixOutOf<T> C) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  e.requireInput("v", v);
  e.requireMatrix("C", C, e.tables->nv, e.tables->nv);
  e.work->wholeRotors = true;
  e.place(q);
  C.setZero();
  for (int c = 0; c < e.tables->clusterCount; ++c) {
    moveBodies<T>(*e.tables, c, *e.work, e.loops, v.data(), nullptr);
    rateCluster(e, c);
    addArmatures<T>(e, e.tables->clusters[c], C);
  }
  const auto& bodies = e.tables->bodies;
  std::vector<SpatialMatrix<T>>& B = e.data.coriolis;
  for (int b = 0; b < e.tables->bodyCount; ++b) {
    e.work->I[b] = e.work->X[b] * bodies[b].own;
    B[b] = coriolisOf(e.work->I[b], e.work->v[b]);
  }
  for (int c = e.tables->clusterCount - 1; c >= 0; --c) {
    const ClusterEntry& cluster = e.tables->clusters[c];
    for (int j = 0; j < cluster.nv; ++j) {
      // For this DoF j: the force on the subtree due to its column and, for its row, the force due
      // to the rates and motions of the DoFs above.
      Force<T> column{}, momentum{}, transposed{};
      for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
        const Motion<T>& S = e.work->S[bodies[b].firstS + j];
        const Force<T> force = e.work->I[b] * e.data.SRates[bodies[b].firstS + j] + B[b] * S;
        column += force;
        momentum += e.work->I[b] * S;
        transposed += transposeTimes(B[b], S);
        for (int l = 0; l < cluster.nv; ++l) {
          C(cluster.firstV + l, cluster.firstV + j) += dot(force, e.work->S[bodies[b].firstS + l]);
        }
      }
      for (int r = cluster.output; r != kWorld;) {
        const ClusterEntry& above = e.tables->clusters[bodies[r].cluster];
        for (int l = 0; l < above.nv; ++l) {
          const Motion<T>& S = e.work->S[bodies[r].firstS + l];
          C(above.firstV + l, cluster.firstV + j) = dot(column, S);
          C(cluster.firstV + j, above.firstV + l) =
              dot(momentum, e.data.SRates[bodies[r].firstS + l]) + dot(transposed, S);
        }
        r = above.output;
      }
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      if (cluster.output != kWorld) {
        e.work->I[cluster.output] += e.work->I[b];
        B[cluster.output] += B[b];
      }
    }
  }
}

template void coriolisMatrix<double>(const Model&, BasicData<double>&, VectorInOf<double>,
                                     VectorInOf<double>, MatrixOutOf<double>);
template void coriolisMatrix<float>(const Model&, BasicData<float>&, VectorInOf<float>,
                                    VectorInOf<float>, MatrixOutOf<float>);

}  // namespace kempe
