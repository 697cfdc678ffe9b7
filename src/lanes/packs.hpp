#pragma once

#include <xsimd/xsimd.hpp>

#include "lanes/pack_functions.hpp"
#include "lanes/pack_trigonometry.hpp"
#include "lanes/twin.hpp"
#include "lanes/wide.hpp"

/// Numbers of several states at once, one in each lane of a vector register: xsimd's batches are
/// the scalar T of the recursions.
namespace kempe::detail {

template <typename S, typename Arch>
struct Lanes<xsimd::batch<S, Arch>> : RowOperations<xsimd::batch<S, Arch>> {
  using Scalar = S;
  using Pack = xsimd::batch<S, Arch>;
  static constexpr int count = static_cast<int>(Pack::size);
  static constexpr int kAnglesTogether = 1;

  static S get(const Pack& x, int lane) {
    alignas(Pack) S all[Pack::size];
    x.store_aligned(all);
    return all[lane];
  }
  static void set(Pack& x, int lane, S value) {
    alignas(Pack) S all[Pack::size];
    x.store_aligned(all);
    all[lane] = value;
    x = Pack::load_aligned(all);
  }

  static void sinCos(const Pack* x, int n, Pack* sines, Pack* cosines) {
    for (int i = 0; i < n; ++i) {
      packSinCos(x[i], sines[i], cosines[i]);
    }
  }

  template <typename Operands>
  static bool function(Operation operation, const Operands& x, Pack& result) {
    return packFunction(operation, x, result);
  }
};

template <typename S, typename Isa>
struct Lanes<Wide<S, Isa>> {
  using Scalar = S;
  using Number = Wide<S, Isa>;
  static constexpr int count = 1;
  static constexpr int kAnglesTogether = static_cast<int>(Isa::template Pack<S>::size);

  static constexpr int kRowMultiple = kAnglesTogether;

  static void subtractMultiple(Number* to, const Number& factor, const Number* row, int n) {
    using Pack = typename Isa::template Pack<S>;
    const Pack scale(factor.value);
    for (int i = 0; i < n; i += kRowMultiple) {
      (Pack::load_unaligned(&to[i].value) - scale * Pack::load_unaligned(&row[i].value))
          .store_unaligned(&to[i].value);
    }
  }

  static void subtractMultiples(Number* to, const Number* factors, const Number* rows,
                                const int* list, int length, int n) {
    using Pack = typename Isa::template Pack<S>;
    for (int i = 0; i < n; i += kRowMultiple) {
      Pack sum = Pack::load_unaligned(&to[i].value);
      for (int a = 0; a < length; ++a) {
        sum -= Pack(factors[list[a]].value) * Pack::load_unaligned(&rows[list[a] * n + i].value);
      }
      sum.store_unaligned(&to[i].value);
    }
  }

  static S get(const Number& x, int) { return x.value; }
  static void set(Number& x, int, S value) { x.value = value; }

  /// A register at a time: reads and writes up to the next full register.
  static void sinCos(const Number* x, int n, Number* sines, Number* cosines) {
    using Pack = typename Isa::template Pack<S>;
    constexpr int size = static_cast<int>(Pack::size);
    for (int i = 0; i < n; i += size) {
      Pack sine, cosine;
      packSinCos(Pack::load_unaligned(&x[i].value), sine, cosine);
      sine.store_unaligned(&sines[i].value);
      cosine.store_unaligned(&cosines[i].value);
    }
  }
};

}  // namespace kempe::detail
