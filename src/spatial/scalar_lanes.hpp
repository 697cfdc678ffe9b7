#pragma once

#include <cmath>

#include "kempe/spatial/select.hpp"

/// Operations other than arithmetic that the recursions need, for types that hold one state. Packs
/// of several states have overloads of the same names.
namespace kempe::detail {

/// Operations on rows of numbers, one number after the other.
template <typename T>
struct RowOperations {
  /// Numbers of a row that subtractMultiple takes at once.
  static constexpr int kRowMultiple = 1;
  /// to −= factor row, for n numbers, a multiple of kRowMultiple.
  KEMPE_HD static void subtractMultiple(T* to, const T& factor, const T* row, int n) {
    for (int i = 0; i < n; ++i) {
      to[i] -= factor * row[i];
    }
  }

  /// to −= Σ factors[k] (row k of `rows`, n numbers each) over the `length` k that are listed.
  KEMPE_HD static void subtractMultiples(T* to, const T* factors, const T* rows, const int* list,
                                         int length, int n) {
    for (int i = 0; i < n; ++i) {
      T sum = to[i];
      for (int a = 0; a < length; ++a) {
        sum -= factors[list[a]] * rows[list[a] * n + i];
      }
      to[i] = sum;
    }
  }
};

template <typename T>
struct Lanes : RowOperations<T> {
  using Scalar = T;
  static constexpr int count = 1;
  /// Angles whose sines and cosines sinCos computes at the cost of one; 0: it takes them one by one,
  /// and sine and cosine separately.
  static constexpr int kAnglesTogether = 0;

  KEMPE_HD static T get(const T& x, int) { return x; }
  KEMPE_HD static void set(T& x, int, const T& value) { x = value; }

  /// Sines and cosines of n numbers.
  KEMPE_HD static void sinCos(const T* x, int n, T* sines, T* cosines) {
    using std::cos;
    using std::sin;
    for (int i = 0; i < n; ++i) {
      sines[i] = sin(x[i]);
      cosines[i] = cos(x[i]);
    }
  }
};

/// See TwinOf.
template <typename T>
struct TwinLanes {
  using Type = T;
};
/// A type with two numbers for T that holds one, where there is one; otherwise T.
template <typename T>
using TwinOf = typename TwinLanes<T>::Type;

KEMPE_HD inline bool any(bool condition) {
  return condition;
}

}  // namespace kempe::detail
