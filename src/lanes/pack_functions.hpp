#pragma once

#include <cmath>
#include <limits>
#include <xsimd/xsimd.hpp>

#include "kempe/expression.hpp"

/// Functions of packs that return what those of <cmath> return for every argument. xsimd's are
/// wrong for zeros, infinities, subnormal numbers and near overflow (0^0, atan2(0, 0),
/// hypot(1e200, 0)); lanes with such arguments are left to <cmath>, one by one, so that results do
/// not depend on what the other lanes hold.
namespace kempe::detail {

/// Where the fast functions hold.
template <typename S>
struct PackRange;
template <>
struct PackRange<double> {
  static constexpr double exponent = 700.0;  ///< of e: results are normal numbers
  static constexpr double whole = 1e15;      ///< below it, odd numbers can be told from even ones
  static constexpr double squares[2] = {1e-140, 1e150};  ///< no square overflows or loses digits
};
template <>
struct PackRange<float> {
  static constexpr float exponent = 86.0F;
  static constexpr float whole = 1e6F;
  static constexpr float squares[2] = {1e-15F, 1e18F};
};

/// `fast` in the regular lanes, and f of the others.
template <typename S, typename Arch, typename Function>
xsimd::batch<S, Arch> exceptWhere(const xsimd::batch_bool<S, Arch>& regular,
                                  const xsimd::batch<S, Arch>& fast, const xsimd::batch<S, Arch>& a,
                                  const xsimd::batch<S, Arch>& b, const Function& f) {
  using Pack = xsimd::batch<S, Arch>;
  if (xsimd::all(regular)) {
    return fast;
  }
  constexpr int size = static_cast<int>(Pack::size);
  alignas(Pack) S results[Pack::size], first[Pack::size], second[Pack::size];
  alignas(Pack) bool keep[Pack::size];
  fast.store_aligned(results);
  a.store_aligned(first);
  b.store_aligned(second);
  regular.store_aligned(keep);
  for (int lane = 0; lane < size; ++lane) {
    if (!keep[lane]) {
      results[lane] = f(first[lane], second[lane]);
    }
  }
  return Pack::load_aligned(results);
}

/// e^a where a is in range, 1 elsewhere: xsimd would convert what is not to an integer.
template <typename S, typename Arch>
xsimd::batch<S, Arch> expWithinRange(const xsimd::batch<S, Arch>& a) {
  using Pack = xsimd::batch<S, Arch>;
  return xsimd::exp(xsimd::select(xsimd::abs(a) <= Pack(PackRange<S>::exponent), a, Pack(S(0))));
}

template <typename S, typename Arch>
xsimd::batch<S, Arch> packExp(const xsimd::batch<S, Arch>& a) {
  using Pack = xsimd::batch<S, Arch>;
  return exceptWhere(xsimd::abs(a) <= Pack(PackRange<S>::exponent), expWithinRange(a), a, a,
                     [](S x, S) { return std::exp(x); });
}

template <typename S, typename Arch>
xsimd::batch<S, Arch> packLog(const xsimd::batch<S, Arch>& a) {
  using Pack = xsimd::batch<S, Arch>;
  using Limits = std::numeric_limits<S>;
  return exceptWhere(a >= Pack(Limits::min()) && a <= Pack(Limits::max()), xsimd::log(a), a, a,
                     [](S x, S) { return std::log(x); });
}

template <typename S, typename Arch>
xsimd::batch<S, Arch> packAtan2(const xsimd::batch<S, Arch>& y, const xsimd::batch<S, Arch>& x) {
  using Pack = xsimd::batch<S, Arch>;
  const Pack sum = xsimd::abs(y) + xsimd::abs(x);
  return exceptWhere(sum > Pack(S(0)) && sum <= Pack(std::numeric_limits<S>::max()),
                     xsimd::atan2(y, x), y, x, [](S b, S a) { return std::atan2(b, a); });
}

template <typename S, typename Arch>
xsimd::batch<S, Arch> packHypot(const xsimd::batch<S, Arch>& a, const xsimd::batch<S, Arch>& b) {
  using Pack = xsimd::batch<S, Arch>;
  const Pack low(PackRange<S>::squares[0]), high(PackRange<S>::squares[1]);
  const Pack first = xsimd::abs(a), second = xsimd::abs(b);
  return exceptWhere((first >= low || second >= low) && first <= high && second <= high,
                     xsimd::sqrt(xsimd::fma(a, a, b * b)), a, b,
                     [](S x, S y) { return std::hypot(x, y); });
}

/// ±e^(p log|a|); minus for negative a and odd p.
template <typename S, typename Arch>
xsimd::batch<S, Arch> packPow(const xsimd::batch<S, Arch>& a, const xsimd::batch<S, Arch>& p) {
  using Pack = xsimd::batch<S, Arch>;
  using Limits = std::numeric_limits<S>;
  const Pack size = xsimd::abs(a), exponent = p * xsimd::log(size),
             power = expWithinRange(exponent);
  const auto negative = a < Pack(S(0));
  const Pack half = Pack(S(0.5)) * p;
  const auto odd = xsimd::floor(half) != half;  // if p is a whole number
  const auto regular = size >= Pack(Limits::min()) && size <= Pack(Limits::max()) &&
                       xsimd::abs(p) <= Pack(PackRange<S>::whole) &&
                       xsimd::abs(exponent) <= Pack(PackRange<S>::exponent) &&
                       (!negative || xsimd::floor(p) == p);
  return exceptWhere(regular, xsimd::select(negative && odd, -power, power), a, p,
                     [](S x, S y) { return std::pow(x, y); });
}

/// Computes an operation of an expression if it is one of the above; x(i) returns operand i.
template <typename S, typename Arch, typename Operands>
bool packFunction(Operation operation, const Operands& x, xsimd::batch<S, Arch>& result) {
  switch (operation) {
    case Operation::Exp:
      result = packExp(x(0));
      return true;
    case Operation::Log:
      result = packLog(x(0));
      return true;
    case Operation::Atan2:
      result = packAtan2(x(0), x(1));
      return true;
    case Operation::Hypot:
      result = packHypot(x(0), x(1));
      return true;
    case Operation::Pow:
      result = packPow(x(0), x(1));
      return true;
    default:
      return false;
  }
}

}  // namespace kempe::detail
