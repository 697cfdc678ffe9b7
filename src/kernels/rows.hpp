#pragma once

#include "kempe/spatial/host_device.hpp"

namespace kempe::detail {

/// Rows of numbers, a register at a time. A `Chunk` holds `kWidth` numbers of a row: one where T is a
/// plain number or a pack of states; lanes/wide_rows.hpp has the rows of one state in vector
/// registers. Rows in memory have room for whole chunks.
template <typename T>
struct Rows {
  static constexpr int kWidth = 1;
  /// Chunks of four rows that are summed up side by side: 32 registers go with the widest packs.
  static constexpr int kTogether = sizeof(T) == 64 ? 6 : 3;
  using Chunk = T;
  /// A chunk for the end of a row that fills no more of it.
  using Tail = T;
  static constexpr int kTailWidth = 1;

  KEMPE_HD static Chunk load(const T* from) { return *from; }
  KEMPE_HD static void store(const Chunk& chunk, T* to) { *to = chunk; }
  KEMPE_HD static Tail loadTail(const T* from) { return *from; }
  KEMPE_HD static Tail tailOf(const Chunk& chunk) { return chunk; }
  template <typename AnyChunk>
  KEMPE_HD static AnyChunk all(const T& x) {
    return x;
  }
  /// 1 at the place of number i of a row in its chunk, 0 elsewhere.
  KEMPE_HD static Chunk unit(int /*i*/) { return T(1); }
  /// The first `count` numbers, `stride` apart.
  template <typename AnyChunk>
  KEMPE_HD static void write(const AnyChunk& chunk, int /*count*/, T* to, int /*stride*/) {
    *to = chunk;
  }
};

/// Length of a row of n numbers in whole chunks.
template <typename T>
KEMPE_HD constexpr int rowLength(int n) {
  constexpr int width = Rows<T>::kWidth;
  return (n + width - 1) / width * width;
}

/// visit<count>(), count ≤ kMost.
template <int kMost, typename Visit>
KEMPE_HD void withCount(int count, const Visit& visit) {
  if constexpr (kMost > 0) {
    if (count < kMost) {
      return withCount<kMost - 1>(count, visit);
    }
  }
  visit.template operator()<kMost>();
}

/// Calls visit<chunks, with a tail>(first) for groups of up to kTogether chunks of a row of n
/// numbers.
template <typename T, int kTogether = Rows<T>::kTogether, typename Visit>
KEMPE_HD void forChunks(int n, const Visit& visit) {
  constexpr int kWidth = Rows<T>::kWidth;
  const int rest = n % kWidth;
  const bool hasTail = rest > 0 && rest <= Rows<T>::kTailWidth;
  const int chunks = hasTail ? n / kWidth : rowLength<T>(n) / kWidth;
  int done = 0;
  for (; chunks - done > kTogether; done += kTogether) {
    visit.template operator()<kTogether, false>(done * kWidth);
  }
  withCount<kTogether>(chunks - done, [&]<int kCount>() {
    if constexpr (kWidth > 1) {
      if (hasTail) {
        return visit.template operator()<kCount, true>(done * kWidth);
      }
    }
    visit.template operator()<kCount, false>(done * kWidth);
  });
}

}  // namespace kempe::detail
