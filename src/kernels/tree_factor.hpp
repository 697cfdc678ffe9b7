#pragma once

#include "spatial/scalar_lanes.hpp"
#include "tables/workspace.hpp"

namespace kempe::detail {

/// H = Lᵀ D L along the tree of clusters, in place of H: L has ones on its diagonal and, in row k,
/// entries only for the DoFs that carry k (Featherstone 2008, §6.5; the DoFs of a cluster as a
/// chain). H is nv × nv, row-major, of which the lower triangle is used.
template <typename T, typename Tables>
class TreeFactor {
 public:
  /// `chain` has room for nv numbers.
  KEMPE_HD TreeFactor(const Tables& tables, T* H, int* chain)
      : tables_(tables), H_(H), n_(tables.nv), chain_(chain) {}

  KEMPE_HD void factor() const {
    forDofsInward([&](int k, int length) {
      T* row = H_ + k * n_;
      const T inverse = T(1) / row[k];
      for (int a = 0; a < length; ++a) {
        const int i = chain_[a];
        const T ratio = row[i] * inverse;
        T* other = H_ + i * n_;
        for (int b = a; b < length; ++b) {
          other[chain_[b]] -= ratio * row[chain_[b]];
        }
        row[i] = ratio;
      }
      row[k] = inverse;  // the factor D is kept inverted
    });
  }

  /// H⁻¹ X in place, after factor(); X is nv × width, row-major, width a multiple of
  /// Lanes<T>::kRowMultiple.
  KEMPE_HD void solve(T* X, int width) const {
    const auto subtract = [&](T* from, const T& factor, const T* row) {
      Lanes<T>::subtractMultiple(from, factor, row, width);
    };
    forDofsInward([&](int k, int length) {
      T* row = X + k * width;
      for (int a = 0; a < length; ++a) {
        subtract(X + chain_[a] * width, H_[k * n_ + chain_[a]], row);
      }
      const T inverse = H_[k * n_ + k];
      for (int j = 0; j < width; ++j) {
        row[j] *= inverse;
      }
    });
    for (int c = 0; c < tables_.clusterCount; ++c) {
      const int first = tables_.clusters[c].firstV;
      for (int k = first; k < first + tables_.clusters[c].nv; ++k) {
        Lanes<T>::subtractMultiples(X + k * width, H_ + k * n_, X, chain_, collect(c, k), width);
      }
    }
  }

 private:
  /// Calls visit(k, number of DoFs that carry k) with these in chain_, nearest first.
  template <typename Visit>
  KEMPE_HD void forDofsInward(const Visit& visit) const {
    for (int c = tables_.clusterCount - 1; c >= 0; --c) {
      const int first = tables_.clusters[c].firstV;
      for (int k = first + tables_.clusters[c].nv - 1; k >= first; --k) {
        visit(k, collect(c, k));
      }
    }
  }
  KEMPE_HD int collect(int c, int k) const {
    int length = 0;
    for (int i = k - 1; i >= tables_.clusters[c].firstV; --i) {
      chain_[length++] = i;
    }
    for (const AncestorEntry* a = tables_.ancestors + c; a->cluster >= 0;
         a = tables_.ancestors + a->cluster) {
      for (int i = a->firstV + a->nv - 1; i >= a->firstV; --i) {
        chain_[length++] = i;
      }
    }
    return length;
  }

  const Tables& tables_;
  T* H_;
  int n_;
  int* chain_;
};

}  // namespace kempe::detail
