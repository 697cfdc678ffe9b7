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
/// Ratios 𝓛 and forces ∂τ along the base are given along the axes of the world, in the order of its
/// DoFs: those along its own are R of both parts of them. So the rows of Z and H⁻¹ that belong to the
/// base are R times those of (2) and (3), R 1_a and D in the axes of the world in place of 1_a and D,
/// until H⁻¹ is an output.
///
/// Clusters are numbered depth first (mechanism/clusters.hpp), so that the DoFs which a cluster
/// carries follow its own.
namespace kempe::detail {

/// A limb is a sequence of clusters of which each carries the next one and no other: DoFs from
/// `first` to `last` − 1, with those that it carries to `end` − 1.
struct Limb {
  int firstCluster, lastCluster;  ///< the second is behind the last
  int first, last, end;
  int depth;             ///< number of DoFs that carry it
  const int* relatives;  ///< DoFs that carry it, from the root, its own, those that it carries
};

/// Memory of the kernel below.
template <typename T>
struct InverseMassMatrixWork {
  T* L;            ///< nv × nv, by rows: 𝓛, off its diagonal; Yᵀ S of (1) before run
  T* Z;            ///< nv rows; may be those of H⁻¹
  T* inverse;      ///< nv rows: H⁻¹, those of the floating base along the axes of the world
  T* scales;       ///< per DoF: the factor between its row of Z and the first term of (3)
  int* ends;       ///< per cluster: behind the last DoF that it carries
  int* depths;     ///< per cluster: number of DoFs that carry it
  Limb* limbs;     ///< per limb, a limb before those that it carries
  int* limbOf;     ///< per cluster
  int* relatives;  ///< per limb, nv
};

template <typename T, typename R>
InverseMassMatrixWork<T> carveInverseMassMatrix(const TablesView<R>& tables, Carver& carver) {
  const int n = tables.nv, numbers = n * rowLength<T>(n), clusters = tables.clusterCount;
  InverseMassMatrixWork<T> w;
  w.L = carver.take<T>(n * n);
  w.Z = carver.take<T>(numbers);
  w.inverse = carver.take<T>(numbers);
  w.scales = carver.take<T>(n);
  w.ends = carver.take<int>(clusters);
  w.depths = carver.take<int>(clusters);
  w.limbs = carver.take<Limb>(clusters);
  w.limbOf = carver.take<int>(clusters);
  w.relatives = carver.take<int>(clusters * n);
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
      base_ = tables.clusters[tables.bodies[tables.floatingBase].cluster].firstV;
      transposedBase_ = work.X[tables.floatingBase].R.transposed();
    }
  }

  /// H⁻¹, kept for the functions below.
  KEMPE_HD void run() {
    if (base_ >= 0) {
      placeBaseRows();
    }
    findLimbs();
    for (int c = 0; c < tables_.clusterCount; ++c) {
      findRatios(c);
    }
    for (int limb = limbCount_ - 1; limb >= 0; --limb) {
      gatherRows(limb);
    }
    for (int limb = 0; limb < limbCount_; ++limb) {
      spreadRows(own_.limbs[limb]);
    }
  }

  /// Where H⁻¹ is kept in the result, this comes after the products below.
  KEMPE_HD void writeTo(const MatrixAt<T>& result) const {
    const int lines = distanceOfLines(result);
    for (int i = 0; result.numbers != own_.inverse && i < n_; ++i) {
      for (int j = 0; !isOfBase(i) && j < n_; j += kWidth) {
        writeChunk(load(own_.inverse + i * width_ + j), j, result.numbers + i * lines);
      }
    }
    for (int j = 0; base_ >= 0 && j < n_; j += kWidth) {
      Chunk chunks[kBaseRows];
      for (int i = 0; i < kBaseRows; ++i) {
        chunks[i] = load(own_.inverse + (base_ + i) * width_ + j);
      }
      turnToBase(chunks);
      for (int i = 0; i < kBaseRows; ++i) {
        writeChunk(chunks[i], j, result.numbers + (base_ + i) * lines);
      }
    }
  }

  /// −H⁻¹ A and −H⁻¹ B, derivatives by q and v, column-major, of whose entries those are read of
  /// which a row or column carries the other; (4) in place of columns of the floating base.
  /// `keepsForces`: that is not so of those of A.
  KEMPE_HD void multiply(const T* A, const T* B, bool keepsForces, const MatrixAt<T>& resultA,
                         const MatrixAt<T>& resultB) const {
    for (int l = 0; l < limbCount_; ++l) {
      const Limb limb = own_.limbs[l];
      int j = limb.first;
      const auto byQ = [&](int i) { return product(A, i, resultA); };
      const auto byV = [&](int i) { return product(B, i, resultB); };
      if (isOfBase(j)) {
        multiplyBase(limb, A, B, keepsForces, resultA, resultB);
        j += kBaseRows;
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
  static constexpr int kBaseRows = 6;  ///< those of the floating base
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
    for (int i = 0; column.stride != 1 && i < n_; ++i) {
      column.to[i * column.stride] = T(0);
    }
    for (int i = 0; column.stride == 1 && i < n_; i += kWidth) {
      writeChunk(all(T(0)), i, column.to);
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
      const AncestorEntry& carrier = tables_.ancestors[c];
      const int before = carrier.cluster, first = cluster.firstV, last = first + cluster.nv;
      const int depth = before < 0 ? 0 : own_.depths[before] + carrier.nv;
      own_.depths[c] = depth;
      if (c > 0 && before == c - 1 && ends[c] == ends[c - 1]) {
        own_.limbOf[c] = limbCount_ - 1;
        own_.limbs[limbCount_ - 1].lastCluster = c + 1;
        own_.limbs[limbCount_ - 1].last = last;
        continue;
      }
      int* relatives = own_.relatives + limbCount_ * n_;
      const int* from = before < 0 ? nullptr : own_.relatives + own_.limbOf[before] * n_;
      int length = 0;
      for (; length < depth; ++length) {
        relatives[length] = from[length];
      }
      for (int i = first; i < ends[c]; ++i) {
        relatives[length++] = i;
      }
      own_.limbOf[c] = limbCount_;
      own_.limbs[limbCount_++] = {c, c + 1, first, last, ends[c], depth, relatives};
    }
  }

  KEMPE_HD bool isOfBase(int i) const { return i >= base_ && i < base_ + kBaseRows; }

  /// R 1 of (2) for the floating base.
  KEMPE_HD void placeBaseRows() const {
    const Mat3<T>& R_ = work_.X[tables_.floatingBase].R;
    for (int i = 0; i < kBaseRows; ++i) {
      T* row = own_.Z + (base_ + i) * width_;
      for (int x = 0; x < width_; x += kWidth) {
        Rows<T>::store(all(T(0)), row + x);
      }
      for (int j = 0; j < 3; ++j) {
        row[base_ + (i < 3 ? 0 : 3) + j] = R_.column(j)[i % 3];
      }
    }
  }

  /// Turns rows of the floating base from the axes of the world to its own.
  KEMPE_HD void turnToBase(Chunk (&rows)[kBaseRows]) const {
    const Mat3<T>& R_ = work_.X[tables_.floatingBase].R;
    for (int part = 0; part < kBaseRows; part += 3) {
      const Chunk x = rows[part], y = rows[part + 1], z = rows[part + 2];
      for (int i = 0; i < 3; ++i) {
        const Vec3<T> axis = R_.column(i);
        rows[part + i] = all(axis[0]) * x + all(axis[1]) * y + all(axis[2]) * z;
      }
    }
  }

  /// A chunk of a row from number j on, into a line of a result.
  KEMPE_HD void writeChunk(const Chunk& chunk, int j, T* line) const {
    if (j + kWidth <= n_) {
      Rows<T>::store(chunk, line + j);
    } else {
      Rows<T>::write(chunk, n_ - j, line + j, 1);
    }
  }

  /// (1), from Yᵀ S.
  KEMPE_HD void findRatios(int c) const {
    const ClusterEntry& cluster = tables_.clusters[c];
    const int m = cluster.nv, first = cluster.firstV;
    if (m == 1 || isOfBase(first)) {
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
  KEMPE_HD void gatherRows(int l) const {
    const Limb limb = own_.limbs[l];
    const int own = isOfBase(limb.first) ? limb.first + kBaseRows : limb.first;
    for (int x = 0; x < n_; x += kWidth) {
      if (x + kWidth <= limb.first || x >= limb.end) {
        for (int i = limb.first; i < limb.last; ++i) {
          Rows<T>::store(all(T(0)), own_.Z + i * width_ + x);
        }
        continue;
      }
      int i = limb.last;
      for (; i - 3 >= own; i -= 3) {
        gather<3>(l, limb, i - 3, x);
      }
      if (i - 2 == own) {
        gather<2>(l, limb, own, x);
      } else if (i - 1 == own) {
        gather<1>(l, limb, own, x);
      }
      if (own > limb.first) {
        gather<kBaseRows>(l, limb, limb.first, x);
      }
    }
  }

  /// A chunk of kRows rows from row i of limb number l, after the rows behind them.
  template <int kRows>
  KEMPE_HD void gather(int l, const Limb& limb, int i, int x) const {
    Chunk sums[kRows];
    for (int r = 0; r < kRows; ++r) {
      if constexpr (kRows == kBaseRows) {
        sums[r] = load(own_.Z + (i + r) * width_ + x);
      } else {
        const bool own = x <= i + r && i + r < x + kWidth;
        sums[r] = own ? Rows<T>::unit(i + r) : all(T(0));
      }
    }
    const auto subtract = [&](int first, int last) {
      const T* z = own_.Z + first * width_ + x;
      const T* ratios = own_.L + first * n_ + i;
      for (int k = first; k < last && k < x + kWidth; ++k, z += width_, ratios += n_) {
        const Chunk chunk = load(z);
        for (int r = 0; r < kRows; ++r) {
          sums[r] -= all(ratios[r]) * chunk;
        }
      }
    };
    subtract(i + kRows, limb.last);
    for (int m = l + 1; m < limbCount_ && own_.limbs[m].first < limb.end; ++m) {
      const Limb& beyond = own_.limbs[m];
      if (beyond.end > x) {
        subtract(beyond.first, beyond.last);
      }
    }
    for (int r = kRows - 1; r >= 0; --r) {
      for (int k = r + 1; kRows != kBaseRows && k < kRows; ++k) {
        sums[r] -= all(own_.L[(i + k) * n_ + i + r]) * sums[k];
      }
      Rows<T>::store(sums[r], own_.Z + (i + r) * width_ + x);
    }
  }

  /// (3)
  KEMPE_HD void spreadRows(const Limb& of) const {
    const Limb limb = of;
    for (int c = limb.firstCluster; c < limb.lastCluster; ++c) {
      const ClusterEntry& cluster = tables_.clusters[c];
      if (cluster.nv == 1) {
        own_.scales[cluster.firstV] = work_.dInverse[cluster.firstV];
      } else if (isOfBase(cluster.firstV)) {
        applyBlockOf<kBaseRows, 3>(cluster, own_.inverse);  // nothing carries it
      } else {
        applyBlock(cluster);
      }
    }
    int i = isOfBase(limb.first) ? limb.first + kBaseRows : limb.first;
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
        applyBlockOf<2>(cluster, own_.Z);
        break;
      case 3:
        applyBlockOf<3>(cluster, own_.Z);
        break;
      case 6:
        applyBlockOf<6>(cluster, own_.Z);
        break;
      default:
        for (int x = 0; x < n_; x += kWidth) {
          solveBlock(cluster, cluster.nv, Strided{own_.Z + cluster.firstV * width_ + x, width_});
        }
    }
    for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
      own_.scales[i] = T(1);
    }
  }
  /// Of M DoFs, into the rows of `result`. Of the floating base D = IA acts on [angular; linear], the
  /// DoFs are [linear; angular]: kExchanged rows and the others change places.
  template <int M, int kExchanged = 0>
  KEMPE_HD void applyBlockOf(const ClusterEntry& cluster, T* result) const {
    for (int x = 0; x < n_; x += kWidth) {
      const int first = cluster.firstV * width_ + x;
      Chunk chunks[M];
      for (int i = 0; i < M; ++i) {
        chunks[i] = load(own_.Z + first + (i + kExchanged) % M * width_);
      }
      solveBlock(cluster, M, chunks);
      for (int i = 0; i < M; ++i) {
        Rows<T>::store(chunks[i], result + first + (i + kExchanged) % M * width_);
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

  const Tables& tables_;
  const WorkView<T>& work_;
  const InverseMassMatrixWork<T>& own_;
  int n_, width_, limbCount_ = 0;
  int base_ = -kBaseRows;  ///< the first DoF of the floating base, or none
  Mat3<T> transposedBase_ = Mat3<T>::identity();
};

}  // namespace kempe::detail
