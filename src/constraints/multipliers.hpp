#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "constraints/pivoted_cholesky.hpp"
#include "kempe/spatial/factorization.hpp"
#include "spatial/scalar_lanes.hpp"

/// λ of A λ = b with A = K H⁻¹ Kᵀ of one state, where rows may be redundant.
namespace kempe::detail {

/// When rows count as redundant and results as accurate, in numbers of type S.
template <typename S>
struct RowTolerances {
  static constexpr bool kFloat = std::is_same_v<S, float>;
  /// A row counts as implied by others where they leave less than this of its own K H⁻¹ Kᵀ.
  static constexpr S kImplied = kFloat ? S(1e-5) : S(1e-11);
  /// Less than this is left of a row by rounding alone.
  static constexpr S kCertainlyImplied = kFloat ? S(1e-6) : S(1e-14);
  /// Rows of K of which others leave less than this depend on them, whatever the masses.
  static constexpr S kDependent = kFloat ? S(1e-4) : S(1e-7);
  /// Rows of which others leave more than this are independent whatever the order of elimination:
  /// far from kImplied, also after the growth by 2 for each row that no pivoting allows.
  static constexpr S kClearlyIndependent = kFloat ? S(1e-2) : S(1e-4);
  /// Rows that others imply contradict them by less than this.
  static constexpr S kConsistent = kFloat ? S(1e-3) : S(1e-9);
  /// Estimated relative errors above this are improved on, and reported if that fails.
  static constexpr S kTolerated = kFloat ? S(1e-2) : S(1e-7);
  /// Errors of accelerations below this are negligible, rad/s² or m/s²: rounding errors at rest.
  static constexpr S kNegligible = kFloat ? S(1e-2) : S(1e-9);
  /// Relative error of sums that cancel. Errors of one coordinate grow on their way to others.
  static constexpr S kCancellation = S(64) * std::numeric_limits<S>::epsilon();
};

/// The system on memory of its user.
template <typename T>
struct MultiplierSystem {
  using S = typename Lanes<T>::Scalar;

  int rows = 0;
  T* A = nullptr;      ///< rows², row-major, lower triangle; its factor after factorize()
  T* least = nullptr;  ///< rows²: LᵀL where rows are redundant
  T* scale = nullptr;  ///< of the diagonal, see pivotedCholesky()
  T* diagonal = nullptr;
  int* order = nullptr;
  PivotedRank<T> factored{};

  /// Finds redundant rows.
  void factorize() {
    factored = pivotedCholesky(A, rows, T(RowTolerances<S>::kImplied), scale, order, diagonal);
    const int rank = factored.rank;
    if (rank == rows) {
      return;
    }
    for (int i = 0; i < rank; ++i) {
      for (int j = 0; j <= i; ++j) {
        T sum(0);
        for (int k = i; k < rows; ++k) {
          sum += A[k * rows + i] * A[k * rows + j];
        }
        least[i * rank + j] = sum;
      }
    }
    choleskyFactor(least, rank);
  }

  /// λ of least norm. `rightSide` is overwritten by the residual.
  void solve(T* rightSide, T* lambda) const {
    const T* L = A;
    const int n = rows, rank = factored.rank;
    T* x = diagonal;
    if (rank == n) {
      for (int i = 0; i < n; ++i) {
        x[i] = rightSide[order[i]];
      }
      choleskySolve(L, n, x);
      for (int i = 0; i < n; ++i) {
        lambda[order[i]] = x[i];
        rightSide[i] = T(0);
      }
      return;
    }
    // A⁺ = L (LᵀL)⁻² Lᵀ
    for (int i = 0; i < rank; ++i) {
      x[i] = T(0);
      for (int k = i; k < n; ++k) {
        x[i] += L[k * n + i] * rightSide[order[k]];
      }
    }
    choleskySolve(least, rank, x);
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < rank && i <= k; ++i) {
        rightSide[order[k]] -= L[k * n + i] * x[i];
      }
    }
    choleskySolve(least, rank, x);
    for (int k = 0; k < n; ++k) {
      T sum(0);
      for (int i = 0; i < rank && i <= k; ++i) {
        sum += L[k * n + i] * x[i];
      }
      lambda[order[k]] = sum;
    }
  }

  /// Whether a row may have been mistaken for redundant. `contradicted`: rows were left open.
  [[nodiscard]] bool inDoubt(bool contradicted) const {
    return factored.rank < rows &&
           (contradicted || !(factored.dropped < T(RowTolerances<S>::kCertainlyImplied)));
  }

  /// Whether the rows that were dropped depend on the others whatever the masses: as rows of K, or as
  /// u_r = 𝓛⁻ᵀ K_rᵀ, which depend on each other exactly where those do. `row(r)` points to the
  /// `numbers` numbers of row r; `left` is scratch of as many. May return false where the others are
  /// nearly dependent.
  ///
  /// With L = [L₁; L₂] row k of L₂ is c L₁, and so is u_k = Σ c_j u_j if masses did not hide the rest.
  template <typename Row>
  [[nodiscard]] bool areImplied(int numbers, const Row& row, T* left) const {
    constexpr S kLeft = RowTolerances<S>::kDependent * RowTolerances<S>::kDependent;
    const T* L = A;
    const int rank = factored.rank;
    for (int k = rank; k < rows; ++k) {
      T* c = diagonal;
      for (int j = 0; j < rank; ++j) {
        c[j] = L[k * rows + j];
      }
      std::copy_n(row(order[k]), numbers, left);
      const T own = sumOfSquares(left, numbers);
      for (int j = rank - 1; j >= 0; --j) {
        c[j] = c[j] / L[j * rows + j];
        for (int i = 0; i < j; ++i) {
          c[i] -= c[j] * L[j * rows + i];
        }
        const T* other = row(order[j]);
        for (int i = 0; i < numbers; ++i) {
          left[i] -= c[j] * other[i];
        }
      }
      if (!(sumOfSquares(left, numbers) <= T(kLeft) * own)) {
        return false;
      }
    }
    return true;
  }

 private:
  static T sumOfSquares(const T* x, int n) {
    T sum(0);
    for (int i = 0; i < n; ++i) {
      sum += x[i] * x[i];
    }
    return sum;
  }
};

}  // namespace kempe::detail
