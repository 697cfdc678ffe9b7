#pragma once

#include "kernels/articulated.hpp"

namespace kempe::detail {

/// Sᵀ F of the floating base, [linear; angular]: S is the rotation R of the body for both.
template <typename T>
KEMPE_HD void alongBase(const Mat3<T>& transposedR, const Force<T>& F, T* result) {
  const Vec3<T> linear = transposedR * F.force, angular = transposedR * F.moment;
  for (int i = 0; i < 3; ++i) {
    result[i] = linear[i];
    result[i + 3] = angular[i];
  }
}

/// C-CRBA in the common frame, with composite inertias in place of IA of articulated.hpp:
///
///   F = Σ I_i S_i, H_kk = Σ S_iᵀ I_i S_i (rotors and armatures as there), H_jk = S_bᵀ F
///
/// where b is the body of cluster j that carries cluster k. Needs placements, and S but of a
/// floating base. Leaves F of each velocity in U, and the composite inertia of a floating base, for
/// centroidal.hpp. H is column-major with `stride` numbers from column to column.
template <typename T, typename Tables>
class MassMatrixKernel {
 public:
  KEMPE_HD MassMatrixKernel(const Tables& tables, const WorkView<T>& work, T* H, int stride)
      : tables_(tables), work_(work), H_(H), stride_(stride) {
    if (tables.floatingBase >= 0) {
      transposedBase_ = work.X[tables.floatingBase].R.transposed();
    }
  }

  KEMPE_HD void run() const {
    const bool dense = stride_ == tables_.nv;
    const int columns = dense ? 1 : tables_.nv, rows = dense ? tables_.nv * tables_.nv : tables_.nv;
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) {
        H_[j * stride_ + i] = T(0);
      }
    }
    for (int b = 0; b < tables_.bodyCount; ++b) {
      if (!tables_.bodies[b].folded) {
        placeInertia(b);
      }
    }
    forEachCluster<Direction::Inward>(tables_, [&](int c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      switch (shapeOf(cluster, work_)) {
        case ClusterShape::Single:
          composeSingle(c, cluster, tables_.bodies[cluster.moving]);
          break;
        case ClusterShape::FreeBase:
          composeBase(cluster);
          break;
        case ClusterShape::Coupled:
        case ClusterShape::General:
          composeGeneral(c, cluster);
          break;
      }
    });
  }

 private:
  using Body = BodyEntry<typename Tables::Scalar>;

  KEMPE_HD KEMPE_FLATTEN void placeInertia(int b) const {
    work_.I[b] = aboutOrigin(inertiaAt(tables_, b, work_));
  }

  KEMPE_HD KEMPE_FLATTEN void composeSingle(int c, const ClusterEntry& cluster,
                                            const Body& body) const {
    const Motion<T> s = work_.S[body.firstS];
    const RigidInertia<T> inertia = work_.I[cluster.moving];
    Force<T> F = inertia * s;
    H_[cluster.firstV * stride_ + cluster.firstV] = dot(F, s) + T(body.single.reflected);
    if (body.single.geared) {
      F.moment += turned(work_.X[cluster.output].R, body.single.spin);
    }
    work_.U[cluster.firstV] = F;
    if (cluster.output != kWorld) {
      work_.I[cluster.output] += inertia;
      writeAncestors(c, cluster.firstV, F);
    }
  }

  KEMPE_HD KEMPE_FLATTEN void composeBase(const ClusterEntry& cluster) const {
    const Mat3<T>& R_ = work_.X[cluster.firstBody].R;
    const RigidInertia<T> inertia = work_.I[cluster.firstBody];
    // In the body's axes the blocks are m 1, ∓h× and Ī; the rest of the first has been cleared.
    const Vec3<T> h = transposedBase_ * inertia.moment;
    T* block = H_ + cluster.firstV * stride_ + cluster.firstV;
    const auto write = [&](int i, int j, const T& value) {
      block[j * stride_ + i] = value;
      block[i * stride_ + j] = value;
    };
    for (int j = 0; j < 3; ++j) {
      block[j * stride_ + j] = inertia.mass;
      const int next = (j + 1) % 3, last = (j + 2) % 3;
      write(next, last + 3, h[j]);
      write(last, next + 3, -h[j]);
      const Vec3<T> column = transposedBase_ * (inertia.rotation * R_.column(j));
      for (int i = 0; i <= j; ++i) {
        write(i + 3, j + 3, column[i]);
      }
    }
  }

  KEMPE_HD void composeGeneral(int c, const ClusterEntry& cluster) const {
    const int m = cluster.nv, first = cluster.firstV;
    withSize(m, [&]<int M>() { composeCluster<M>(tables_, cluster, work_); });
    const T* D = work_.D + cluster.firstD;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j <= i; ++j) {
        H_[(first + j) * stride_ + first + i] = H_[(first + i) * stride_ + first + j] =
            D[i * m + j];
      }
      writeAncestors(c, first + i, work_.U[first + i]);
    }
  }

  /// H_jk of the DoFs on the way from cluster c to the root, and the same as rows.
  KEMPE_HD void writeAncestors(int c, int column, const Force<T>& F) const {
    T* own = H_ + column * stride_;
    for (const AncestorEntry* a = tables_.ancestors + c; a->cluster >= 0;
         a = tables_.ancestors + a->cluster) {
      if (a->base) {
        alongBase(transposedBase_, F, own + a->firstV);
        for (int i = a->firstV; i < a->firstV + 6; ++i) {
          H_[i * stride_ + column] = own[i];
        }
        continue;
      }
      for (int i = 0; i < a->nv; ++i) {
        const T value = dot(F, work_.S[a->firstS + i]);
        own[a->firstV + i] = value;
        H_[(a->firstV + i) * stride_ + column] = value;
      }
    }
  }

  const Tables& tables_;
  const WorkView<T>& work_;
  T* H_;
  int stride_;
  Mat3<T> transposedBase_ = Mat3<T>::identity();  ///< rotation of the floating base
};

}  // namespace kempe::detail
