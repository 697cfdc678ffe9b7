#pragma once

#include "kernels/mass_matrix.hpp"
#include "kernels/rows.hpp"
#include "tables/term_request.hpp"

/// Derivatives of C-ABA from those of C-RNEA: ∂a/∂x = −H⁻¹ ∂τ/∂x, and H⁻¹ itself.
///
/// C-ABA is a factorization of H along the tree of clusters, H = 𝓛ᵀ 𝓓 𝓛 with the D of the clusters on
/// the diagonal of 𝓓 and, of 𝓛 with ones on its diagonal, for cluster c and one that carries it, a,
///
///   𝓛_ca = D_c⁻¹ U_cᵀ S_a = L⁻ᵀ Δ⁻¹ Yᵀ S_a                 (1)
///
/// in the notation of articulated.hpp; S_a of the body that carries c. With it
///
///   Z = 𝓛⁻ᵀ:  Z_a = 1_a − Σ 𝓛_caᵀ Z_c over the clusters c that a carries        (2)
///   H⁻¹:      row c = D_c⁻¹ Z_c − Σ 𝓛_ca (row a) over those that carry c       (3)
///
/// where rows of Z have entries only for the DoFs of the cluster and of those that it carries.
/// ∂τ_i/∂x_j is zero unless one of i, j carries the other, which the product with H⁻¹ makes use of.
/// Along DoF j of the floating base, whose S_j all bodies share, ∂τ/∂y_j = H w_j with w_j = a₀ × S_j,
/// a motion of the base, and along ẏ_j = ẋ with v the velocity of the base and S_j a translation
/// ∂τ/∂ẏ_j = H w_j with w_j = v × S_j (motion_derivatives.hpp). So that without external forces that
/// keep their direction
///
///   ∂a/∂y_j = −w_j,   ∂a/∂ẏ_j = −w_j of translations                            (4)
///
/// Clusters are numbered depth first (mechanism/clusters.hpp), so that the DoFs which a cluster
/// carries follow its own.
namespace kempe::detail {

/// Memory of the kernel below. A limb is a sequence of clusters of which each carries the next one
/// and no other.
template <typename T>
struct InverseMassMatrixWork {
  T* L;         ///< nv × nv, by rows: 𝓛, off its diagonal; Yᵀ S of (1) before run
  T* Z;         ///< nv rows; may be those of H⁻¹
  T* inverse;   ///< nv rows: H⁻¹
  T* scales;    ///< per DoF: the factor between its row of Z and the first term of (3)
  int* ends;    ///< per cluster and, behind those, per DoF: behind the last DoF that it carries
  int* depths;  ///< per cluster: number of DoFs that carry it
  int* limbs;   ///< per limb and one more: its first cluster
  int* limbOf;  ///< per cluster
  int*
      relatives;  ///< per limb, nv: DoFs that carry it, from the root, its own, those that it carries
  int* branches;  ///< nv: those of a limb's DoFs beyond it that a chunk of (2) comes from
};

template <typename T, typename R>
InverseMassMatrixWork<T> carveInverseMassMatrix(const TablesView<R>& tables, Carver& carver) {
  const int n = tables.nv, numbers = n * rowLength<T>(n), clusters = tables.clusterCount;
  InverseMassMatrixWork<T> w;
  w.L = carver.take<T>(n * n);
  w.Z = carver.take<T>(numbers);
  w.inverse = carver.take<T>(numbers);
  w.scales = carver.take<T>(n);
  w.ends = carver.take<int>(clusters + n);
  w.depths = carver.take<int>(clusters);
  w.limbs = carver.take<int>(clusters + 1);
  w.limbOf = carver.take<int>(clusters);
  w.relatives = carver.take<int>(clusters * n);
  w.branches = carver.take<int>(n);
  return w;
}

/// Between the rows or columns of a symmetric matrix.
template <typename T>
KEMPE_HD int distanceOfLines(const MatrixAt<T>& matrix) {
  return matrix.columnStride == 1 ? matrix.rowStride : matrix.columnStride;
}

template <typename T, typename Tables>
class InverseMassMatrixKernel {
 public:
  /// For forward dynamics in `work`, of which X, S, U, D and its factors are used.
  KEMPE_HD InverseMassMatrixKernel(const Tables& tables, const WorkView<T>& work,
                                   const InverseMassMatrixWork<T>& own)
      : tables_(tables), work_(work), own_(own), n_(tables.nv), width_(rowLength<T>(tables.nv)) {
    if (tables.floatingBase >= 0) {
      transposedBase_ = work.X[tables.floatingBase].R.transposed();
    }
  }

  /// H⁻¹, kept for the functions below.
  KEMPE_HD void run() {
    findLimbs();
    for (int c = 0; c < tables_.clusterCount; ++c) {
      findRatios(c);
    }
    for (int limb = limbCount_ - 1; limb >= 0; --limb) {
      gatherRows(limbAt(limb));
    }
    for (int limb = 0; limb < limbCount_; ++limb) {
      spreadRows(limbAt(limb));
    }
  }

  /// Unless it is there already.
  KEMPE_HD void writeTo(const MatrixAt<T>& result) const {
    if (result.numbers == own_.inverse) {
      return;
    }
    const int lines = distanceOfLines(result);
    for (int i = 0; i < n_; ++i) {
      const T* row = own_.inverse + i * width_;
      T* line = result.numbers + i * lines;
      int j = 0;
      for (; j + kWidth <= n_; j += kWidth) {
        Rows<T>::store(load(row + j), line + j);
      }
      if (j < n_) {
        Rows<T>::write(load(row + j), n_ - j, line + j, 1);
      }
    }
  }

  /// −H⁻¹ A and −H⁻¹ B, derivatives by q and v, column-major, of whose entries those are read of
  /// which a row or column carries the other; (4) in place of columns of the floating base.
  /// `keepsForces`: that is not so of those of A.
  KEMPE_HD void multiply(const T* A, const T* B, bool keepsForces, const MatrixAt<T>& resultA,
                         const MatrixAt<T>& resultB) const {
    for (int l = 0; l < limbCount_; ++l) {
      const Limb limb = limbAt(l);
      int j = limb.first;
      const auto byQ = [&](int i) { return product(A, i, resultA); };
      const auto byV = [&](int i) { return product(B, i, resultB); };
      if (shapeOf(tables_.clusters[limb.firstCluster], work_) == ClusterShape::FreeBase) {
        multiplyBase(limb, A, B, keepsForces, resultA, resultB);
        j += 6;
      }
      // A single column would leave the processor waiting for the sums of its chunks.
      if ((limb.last - j) % 2 == 1 && limb.last - j > 1 && n_ <= kThreeTogether * kWidth) {
        multiplyColumns<kThreeTogether>(
            limb, {byQ(j), byQ(j + 1), byQ(j + 2), byV(j), byV(j + 1), byV(j + 2)});
        j += 3;
      }
      for (; j + 1 < limb.last; j += 2) {
        multiplyColumns(limb, {byQ(j), byQ(j + 1), byV(j), byV(j + 1)});
      }
      if (j < limb.last) {
        multiplyColumns(limb, {byQ(j), byV(j)});
      }
    }
  }

 private:
  using Chunk = typename Rows<T>::Chunk;
  using Tail = typename Rows<T>::Tail;
  static constexpr int kWidth = Rows<T>::kWidth;
  /// Chunks of three columns of both products that are summed up side by side, in as many registers as
  /// kTogether of two.
  static constexpr int kThreeTogether = Rows<T>::kTogether * 2 / 3;

  template <typename AnyChunk = Chunk>
  KEMPE_HD static AnyChunk all(const T& x) {
    return Rows<T>::template all<AnyChunk>(x);
  }
  KEMPE_HD static Chunk load(const T* from) { return Rows<T>::load(from); }

  /// A column of a factor, and of −H⁻¹ times that.
  struct Product {
    const T* from;
    T* to;
    int stride;
  };

  KEMPE_HD Product product(const T* of, int j, const MatrixAt<T>& result) const {
    return {of + j * n_, result.numbers + j * result.columnStride, result.rowStride};
  }

  /// DoFs from `first` to `last` − 1, with those that it carries to `end` − 1.
  struct Limb {
    int firstCluster, lastCluster;  ///< the second is behind the last
    int first, last, end, depth;
    const int* relatives;
  };

  /// Columns of DoFs of a limb.
  template <int kTogether = Rows<T>::kTogether, int kColumns>
  KEMPE_HD void multiplyColumns(const Limb& limb, const Product (&columns)[kColumns]) const {
    const int count = limb.depth + limb.end - limb.first;
    forChunks<T, kTogether>(n_, [&]<int kCount, bool kTail>(int i) {
      combine<kCount, kTail>(i, limb.relatives, count, columns);
    });
  }

  /// The columns of the floating base.
  [[gnu::noinline]] KEMPE_HD void multiplyBase(const Limb& limb, const T* A, const T* B,
                                               bool keepsForces, const MatrixAt<T>& resultA,
                                               const MatrixAt<T>& resultB) const {
    const int j = limb.first;
    const auto byQ = [&](int i) { return product(A, j + i, resultA); };
    const auto byV = [&](int i) { return product(B, j + i, resultB); };
    for (int i = 0; i < 3; ++i) {
      const Vec3<T> axis = work_.X[tables_.floatingBase].R.column(i);
      writeTranslation(cross(work_.v[tables_.floatingBase].angular, axis), j, byV(i));
      if (!keepsForces) {
        writeTranslation({}, j, byQ(i));
        writeTranslation(cross(work_.a[kWorld].linear, axis), j, byQ(i + 3));
      }
    }
    multiplyColumns(limb, {byV(3), byV(4), byV(5)});
    if (keepsForces) {
      multiplyColumns(limb, {byQ(0), byQ(1), byQ(2)});
      multiplyColumns(limb, {byQ(3), byQ(4), byQ(5)});
    }
  }

  /// The column −w of (4), for a w that is a translation; along the axes of the base,
  /// whose first DoF is `first`.
  KEMPE_HD void writeTranslation(const Vec3<T>& w, int first, const Product& column) const {
    for (int i = 0; i < n_; ++i) {
      column.to[i * column.stride] = T(0);
    }
    const Vec3<T> own = transposedBase_ * w;
    for (int i = 0; i < 3; ++i) {
      column.to[(first + i) * column.stride] = -own[i];
    }
  }

  /// kCount chunks of columns of the product, from row `first` on, and a tail behind them.
  template <int kCount, bool kTail, int kColumns>
  KEMPE_HD void combine(int first, const int* related, int count,
                        const Product (&columns)[kColumns]) const {
    const T* rows = own_.inverse + first;
    Chunk sums[kColumns][kCount + static_cast<int>(kCount == 0)];
    Tail tails[kColumns];
    for (int x = 0; x < kColumns; ++x) {
      for (int g = 0; g < kCount; ++g) {
        sums[x][g] = all(T(0));
      }
      tails[x] = all<Tail>(T(0));
    }
    for (int k = 0; k < count; ++k) {
      const int i = related[k];
      const T* row = rows + i * width_;
      Chunk factors[kColumns];
      for (int x = 0; x < kColumns; ++x) {
        factors[x] = all(columns[x].from[i]);
      }
      for (int g = 0; g < kCount; ++g) {
        const Chunk h = load(row + g * kWidth);
        for (int x = 0; x < kColumns; ++x) {
          sums[x][g] -= factors[x] * h;
        }
      }
      if constexpr (kTail) {
        const Tail h = Rows<T>::loadTail(row + kCount * kWidth);
        for (int x = 0; x < kColumns; ++x) {
          tails[x] -= Rows<T>::tailOf(factors[x]) * h;
        }
      }
    }
    // Only the last chunk may be longer than what is left of a column.
    for (int x = 0; x < kColumns; ++x) {
      const int stride = columns[x].stride;
      T* to = columns[x].to + first * stride;
      for (int g = 0; g < kCount; ++g) {
        if (stride == 1 && (kTail || g + 1 < kCount)) {
          Rows<T>::store(sums[x][g], to + g * kWidth);
        } else {
          Rows<T>::write(sums[x][g], n_ - first - g * kWidth, to + g * kWidth * stride, stride);
        }
      }
      if constexpr (kTail) {
        Rows<T>::write(tails[x], n_ - first - kCount * kWidth, to + kCount * kWidth * stride,
                       stride);
      }
    }
  }

  KEMPE_HD Limb limbAt(int limb) const {
    const int c = own_.limbs[limb], behind = own_.limbs[limb + 1];
    const ClusterEntry& outermost = tables_.clusters[behind - 1];
    return {c,
            behind,
            tables_.clusters[c].firstV,
            outermost.firstV + outermost.nv,
            own_.ends[c],
            own_.depths[c],
            own_.relatives + limb * n_};
  }

  KEMPE_HD void findLimbs() {
    const int count = tables_.clusterCount;
    int* ends = own_.ends;
    for (int c = 0; c < count; ++c) {
      ends[c] = tables_.clusters[c].firstV + tables_.clusters[c].nv;
    }
    for (int c = count - 1; c >= 0; --c) {
      const int carrier = tables_.ancestors[c].cluster;
      if (carrier >= 0 && ends[carrier] < ends[c]) {
        ends[carrier] = ends[c];
      }
    }
    for (int c = 0; c < count; ++c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
        ends[count + i] = ends[c];
      }
      const AncestorEntry& carrier = tables_.ancestors[c];
      const int before = carrier.cluster;
      own_.depths[c] = before < 0 ? 0 : own_.depths[before] + carrier.nv;
      if (c > 0 && before == c - 1 && ends[c] == ends[c - 1]) {
        own_.limbOf[c] = limbCount_ - 1;
        continue;
      }
      int* relatives = own_.relatives + limbCount_ * n_;
      const int* from = before < 0 ? nullptr : own_.relatives + own_.limbOf[before] * n_;
      int length = 0;
      for (; length < own_.depths[c]; ++length) {
        relatives[length] = from[length];
      }
      for (int i = cluster.firstV; i < ends[c]; ++i) {
        relatives[length++] = i;
      }
      own_.limbOf[c] = limbCount_;
      own_.limbs[limbCount_++] = c;
    }
    own_.limbs[limbCount_] = count;
  }

  /// (1), from Yᵀ S.
  KEMPE_HD void findRatios(int c) const {
    const ClusterEntry& cluster = tables_.clusters[c];
    const int m = cluster.nv, first = cluster.firstV;
    if (m == 1) {
      return;
    }
    for (int i = 1; i < m; ++i) {
      for (int k = 0; k < i; ++k) {
        own_.L[(first + i) * n_ + first + k] = T(0);
      }
    }
    const int* carriers = own_.relatives + own_.limbOf[c] * n_;
    const T* L = work_.D + cluster.firstD;
    for (int i = m - 2; i >= 0; --i) {
      for (int k = i + 1; k < m; ++k) {
        for (int a = 0; a < own_.depths[c]; ++a) {
          const int x = carriers[a];
          own_.L[(first + i) * n_ + x] -= L[k * m + i] * own_.L[(first + k) * n_ + x];
        }
      }
    }
  }

  /// (2), after the limbs that this one carries.
  KEMPE_HD void gatherRows(const Limb& limb) const {
    const int* ends = own_.ends + tables_.clusterCount;
    for (int x = 0; x < n_; x += kWidth) {
      if (x + kWidth <= limb.first || x >= limb.end) {
        for (int i = limb.first; i < limb.last; ++i) {
          Rows<T>::store(all(T(0)), own_.Z + i * width_ + x);
        }
        continue;
      }
      // DoFs with entries in this chunk: those beyond the limb, then its own.
      const int upTo = limb.end < x + kWidth ? limb.end : x + kWidth;
      int count = 0;
      for (int k = limb.last; k < upTo; ++k) {
        own_.branches[count] = k;
        count += ends[k] > x ? 1 : 0;
      }
      int i = limb.last;
      for (; i - 3 >= limb.first; i -= 3) {
        gather<3>(i - 3, x, count);
        own_.branches[count++] = i - 1;
        own_.branches[count++] = i - 2;
        own_.branches[count++] = i - 3;
      }
      if (i - 2 == limb.first) {
        gather<2>(i - 2, x, count);
      } else if (i - 1 == limb.first) {
        gather<1>(i - 1, x, count);
      }
    }
  }

  /// A chunk of kRows rows from row i, with `count` DoFs further out.
  template <int kRows>
  KEMPE_HD void gather(int i, int x, int count) const {
    Chunk sums[kRows];
    for (int r = 0; r < kRows; ++r) {
      const bool own = x <= i + r && i + r < x + kWidth;
      sums[r] = own ? Rows<T>::unit(i + r) : all(T(0));
    }
    for (int b = 0; b < count; ++b) {
      const int k = own_.branches[b];
      const Chunk z = load(own_.Z + k * width_ + x);
      const T* ratios = own_.L + k * n_ + i;
      for (int r = 0; r < kRows; ++r) {
        sums[r] -= all(ratios[r]) * z;
      }
    }
    for (int r = kRows - 1; r >= 0; --r) {
      for (int k = r + 1; k < kRows; ++k) {
        sums[r] -= all(own_.L[(i + k) * n_ + i + r]) * sums[k];
      }
      Rows<T>::store(sums[r], own_.Z + (i + r) * width_ + x);
    }
  }

  /// (3)
  KEMPE_HD void spreadRows(const Limb& limb) const {
    for (int c = limb.firstCluster; c < limb.lastCluster; ++c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      if (cluster.nv == 1) {
        own_.scales[cluster.firstV] = work_.dInverse[cluster.firstV];
      } else {
        applyBlock(cluster);
      }
    }
    int i = limb.first;
    for (; i + 2 < limb.last; i += 3) {
      spread<3>(limb, i);
    }
    if (i + 1 < limb.last) {
      spread<2>(limb, i);
    } else if (i < limb.last) {
      spread<1>(limb, i);
    }
  }

  /// kRows rows of a limb from row i.
  template <int kRows>
  KEMPE_HD void spread(const Limb& limb, int i) const {
    const int count = limb.depth + i - limb.first;
    forChunks<T>(n_, [&]<int kCount, bool kTail>(int x) {
      constexpr int kAll = kCount + (kTail ? 1 : 0);
      Chunk sums[kRows][kAll + static_cast<int>(kAll == 0)];
      for (int r = 0; r < kRows; ++r) {
        const Chunk scale = all(own_.scales[i + r]);
        for (int g = 0; g < kAll; ++g) {
          sums[r][g] = scale * load(own_.Z + (i + r) * width_ + x + g * kWidth);
        }
      }
      const T* ratios = own_.L + i * n_;
      for (int a = 0; a < count; ++a) {
        const int k = limb.relatives[a];
        const T* row = own_.inverse + k * width_ + x;
        for (int g = 0; g < kAll; ++g) {
          const Chunk h = load(row + g * kWidth);
          for (int r = 0; r < kRows; ++r) {
            sums[r][g] -= all(ratios[r * n_ + k]) * h;
          }
        }
      }
      for (int r = 0; r < kRows; ++r) {
        for (int g = 0; g < kAll; ++g) {
          for (int k = 0; k < r; ++k) {
            sums[r][g] -= all(ratios[r * n_ + i + k]) * sums[k][g];
          }
          Rows<T>::store(sums[r][g], own_.inverse + (i + r) * width_ + x + g * kWidth);
        }
      }
    });
  }

  /// D⁻¹ Z of a cluster of several DoFs, in place of Z.
  KEMPE_HD void applyBlock(const ClusterEntry& cluster) const {
    switch (cluster.nv) {
      case 2:
        applyBlockOf<2>(cluster);
        break;
      case 3:
        applyBlockOf<3>(cluster);
        break;
      case 6:
        applyBlockOf<6>(cluster);
        break;
      default:
        applyBlockOf<0>(cluster);
    }
    for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
      own_.scales[i] = T(1);
    }
  }
  template <int M>
  KEMPE_HD void applyBlockOf(const ClusterEntry& cluster) const {
    const int m = M > 0 ? M : cluster.nv;
    const bool base = M == 6 && shapeOf(cluster, work_) == ClusterShape::FreeBase;
    for (int x = 0; x < n_; x += kWidth) {
      T* rows = own_.Z + cluster.firstV * width_ + x;
      if constexpr (M > 0) {
        Chunk chunks[M];
        for (int i = 0; i < M; ++i) {
          chunks[i] = load(rows + i * width_);
        }
        if (base) {
          turnBase(work_.X[cluster.firstBody].R, chunks);
        }
        solveBlock(cluster, M, chunks);
        if (base) {
          turnBase(transposedBase_, chunks);
        }
        for (int i = 0; i < M; ++i) {
          Rows<T>::store(chunks[i], rows + i * width_);
        }
      } else {
        solveBlock(cluster, m, Strided{rows, width_});
      }
    }
  }

  /// A chunk of each of several rows in memory.
  struct Strided {
    T* first;
    int stride;

    struct Place {
      T* at;
      // NOLINTNEXTLINE(google-explicit-constructor): a chunk that is loaded where it is read
      KEMPE_HD operator Chunk() const { return Rows<T>::load(at); }
      KEMPE_HD void operator-=(const Chunk& x) const { Rows<T>::store(Rows<T>::load(at) - x, at); }
      KEMPE_HD void operator*=(const Chunk& x) const { Rows<T>::store(Rows<T>::load(at) * x, at); }
    };
    KEMPE_HD Place operator[](int i) const { return {first + i * stride}; }
  };

  /// D⁻¹ times `rows`, by the factors of D.
  template <typename Chunks>
  KEMPE_HD void solveBlock(const ClusterEntry& cluster, int m, Chunks&& rows) const {
    const T* L = work_.D + cluster.firstD;
    for (int i = 1; i < m; ++i) {
      for (int k = 0; k < i; ++k) {
        rows[i] -= all(L[i * m + k]) * static_cast<Chunk>(rows[k]);
      }
    }
    for (int i = 0; i < m; ++i) {
      rows[i] *= all(work_.dInverse[cluster.firstV + i]);
    }
    for (int i = m - 2; i >= 0; --i) {
      for (int k = i + 1; k < m; ++k) {
        rows[i] -= all(L[k * m + i]) * static_cast<Chunk>(rows[k]);
      }
    }
  }

  /// Of the floating base D = IA acts on [angular; linear] along the axes of the world, the DoFs are
  /// [linear; angular] along those of the body: exchanges three rows and three, each turned by R.
  template <int M>
  KEMPE_HD static void turnBase(const Mat3<T>& R_, Chunk (&rows)[M]) {
    if constexpr (M == 6) {
      Chunk turned[6];
      for (int i = 0; i < 3; ++i) {
        turned[i] = turned[i + 3] = all(T(0));
        for (int k = 0; k < 3; ++k) {
          const Chunk entry = all(R_.column(k)[i]);
          turned[i] += entry * rows[k + 3];
          turned[i + 3] += entry * rows[k];
        }
      }
      for (int i = 0; i < 6; ++i) {
        rows[i] = turned[i];
      }
    }
  }

  const Tables& tables_;
  const WorkView<T>& work_;
  const InverseMassMatrixWork<T>& own_;
  int n_, width_, limbCount_ = 0;
  Mat3<T> transposedBase_ = Mat3<T>::identity();
};

}  // namespace kempe::detail
