#pragma once

#include <cstring>
#include <utility>

/// Transposes square blocks of numbers in registers. Numbers that are written one by one and then
/// read as a register make the processor wait.
namespace kempe::detail {

template <typename S, int kSize>
struct TransposedBlock {
  // NOLINTNEXTLINE(modernize-use-using): attributes apply to dependent types in this form only
  typedef S Row __attribute__((vector_size(sizeof(S) * kSize)));
  Row rows[kSize];

  static Row load(const S* from) {
    Row row;
    std::memcpy(&row, from, sizeof(Row));
    return row;
  }
  static void store(const Row& row, S* to) { std::memcpy(to, &row, sizeof(Row)); }

  /// Exchanges rows and columns: blocks of one number, then of two, four, ...
  void transpose() { exchange<1>(); }

 private:
  template <int kBlock>
  void exchange() {
    if constexpr (kBlock < kSize) {
      for (int i = 0; i < kSize; ++i) {
        if ((i & kBlock) == 0) {
          const Row a = rows[i], b = rows[i + kBlock];
          rows[i] = upper<kBlock>(a, b, std::make_integer_sequence<int, kSize>{});
          rows[i + kBlock] = lower<kBlock>(a, b, std::make_integer_sequence<int, kSize>{});
        }
      }
      exchange<2 * kBlock>();
    }
  }
  template <int kBlock, int... kLane>
  static Row upper(const Row& a, const Row& b, std::integer_sequence<int, kLane...>) {
    return __builtin_shufflevector(a, b,
                                   ((kLane & kBlock) == 0 ? kLane : kSize + kLane - kBlock)...);
  }
  template <int kBlock, int... kLane>
  static Row lower(const Row& a, const Row& b, std::integer_sequence<int, kLane...>) {
    return __builtin_shufflevector(a, b,
                                   ((kLane & kBlock) == 0 ? kLane + kBlock : kSize + kLane)...);
  }
};

}  // namespace kempe::detail
