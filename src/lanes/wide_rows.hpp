#pragma once

#include <utility>

#include "kernels/rows.hpp"
#include "lanes/wide.hpp"

namespace kempe::detail {

/// Rows of one state: as many numbers in a chunk as a register of the instruction set holds, and half
/// of that at the end of a row where this is enough.
template <typename S, typename Isa>
struct Rows<Wide<S, Isa>> {
  using T = Wide<S, Isa>;
  static constexpr int kWidth = static_cast<int>(Isa::template Pack<S>::size);
  static constexpr int kTogether = sizeof(S) * kWidth == 64 ? 5 : 3;
  static constexpr int kTailWidth = kWidth / 2;
  // NOLINTBEGIN(modernize-use-using): attributes apply to dependent types in this form only
  typedef S Chunk __attribute__((vector_size(sizeof(S) * kWidth)));
  typedef S Tail __attribute__((vector_size(sizeof(S) * kTailWidth)));
  // NOLINTEND(modernize-use-using)

  static Chunk load(const T* from) { return *anywhere<Chunk>(&from->value); }
  static Tail loadTail(const T* from) { return *anywhere<Tail>(&from->value); }
  static Tail tailOf(const Chunk& chunk) {
    return firstOf(chunk, std::make_integer_sequence<int, kTailWidth>{});
  }
  static void store(const Chunk& chunk, T* to) { *anywhere<Chunk>(&to->value) = chunk; }
  template <typename AnyChunk>
  static AnyChunk all(const T& x) {
    return x.value - AnyChunk{};
  }
  static Chunk unit(int i) {
    static constexpr Units kUnits{};
    return *anywhere<Chunk>(kUnits.numbers + kWidth - 1 - i % kWidth);
  }
  template <typename AnyChunk>
  static void write(const AnyChunk& chunk, int count, T* to, int stride) {
    constexpr int width = static_cast<int>(sizeof(AnyChunk) / sizeof(S));
    if (stride == 1 && count >= width) {
      *anywhere<AnyChunk>(&to->value) = chunk;
      return;
    }
    for (int i = 0; i < width && i < count; ++i) {
      to[i * stride].value = chunk[i];
    }
  }

 private:
  template <int... kPlace>
  static Tail firstOf(const Chunk& chunk, std::integer_sequence<int, kPlace...>) {
    return __builtin_shufflevector(chunk, chunk, kPlace...);
  }

  /// A one among zeros.
  struct Units {
    S numbers[2 * kWidth - 1]{};
    constexpr Units() { numbers[kWidth - 1] = S(1); }
  };

  /// A chunk among numbers, at any address.
  template <typename AnyChunk>
  struct Place {
    // NOLINTNEXTLINE(modernize-use-using)
    typedef AnyChunk Type __attribute__((aligned(alignof(S)), may_alias));
  };
  template <typename AnyChunk>
  static const typename Place<AnyChunk>::Type* anywhere(const S* numbers) {
    return reinterpret_cast<const typename Place<AnyChunk>::Type*>(numbers);
  }
  template <typename AnyChunk>
  static typename Place<AnyChunk>::Type* anywhere(S* numbers) {
    return reinterpret_cast<typename Place<AnyChunk>::Type*>(numbers);
  }
};

/// As in kernels/derivative_work.hpp.
template <typename S, typename Isa>
void writeSix(const WideVec3<S, Isa>& a, const WideVec3<S, Isa>& b, Wide<S, Isa>* to) {
  // NOLINTBEGIN(modernize-use-using): attributes apply to dependent types in this form only
  typedef S Four __attribute__((vector_size(4 * sizeof(S)), aligned(alignof(S)), may_alias));
  typedef S Two __attribute__((vector_size(2 * sizeof(S)), aligned(alignof(S)), may_alias));
  // NOLINTEND(modernize-use-using)
  *reinterpret_cast<Four*>(&to->value) = a.data;  // the last of these is overwritten
  *reinterpret_cast<Two*>(&to[3].value) = __builtin_shufflevector(b.data, b.data, 0, 1);
  to[5] = b[2];
}

/// As in kernels/derivative_work.hpp: sums of two registers at a time.
template <typename S, typename Isa>
void writeProducts(const Force<Wide<S, Isa>>& Fq, const Force<Wide<S, Isa>>& Fv,
                   const Force<Wide<S, Isa>>& h, const WideVec3<S, Isa>& twiceB,
                   const Motion<Wide<S, Isa>>& M, const Motion<Wide<S, Isa>>& Q,
                   const Motion<Wide<S, Isa>>& Qv, const WideVec3<S, Isa>& P, Wide<S, Isa>& columnQ,
                   Wide<S, Isa>& columnV, Wide<S, Isa>& rowQ, Wide<S, Isa>& rowV) {
  using Four = typename Register<S>::Type;
  const auto write = [](const Four& a, const Four& b, Wide<S, Isa>& toA, Wide<S, Isa>& toB) {
    const Four even = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    const Four odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Four sums = even + odd + __builtin_shufflevector(even, even, 2, 3, 2, 3);
    toA.value = sums[0];
    toB.value = sums[1];
  };
  write(Fq.moment.data * M.angular.data + Fq.force.data * M.linear.data,
        Fv.moment.data * M.angular.data + Fv.force.data * M.linear.data, columnQ, columnV);
  write(h.moment.data * Q.angular.data + h.force.data * Q.linear.data + twiceB.data * P.data,
        h.moment.data * Qv.angular.data + h.force.data * Qv.linear.data +
            twiceB.data * M.angular.data,
        rowQ, rowV);
}

}  // namespace kempe::detail
