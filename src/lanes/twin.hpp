#pragma once

#include <cmath>

#include "lanes/pack_trigonometry.hpp"
#include "lanes/wide.hpp"

/// Two numbers in a vector register, one for each of two clusters with equal loops (loops/twins.hpp)
/// of the one state that Wide computes with.
namespace kempe::detail {

template <typename S>
struct TwoNumbers;
template <>
struct TwoNumbers<double> {
  using Type = double __attribute__((vector_size(16)));
};
template <>
struct TwoNumbers<float> {
  using Type = float __attribute__((vector_size(8)));
};

template <typename S, typename Isa>
struct Twin {
  using Two = typename TwoNumbers<S>::Type;
  Two data;

  Twin() = default;
  explicit Twin(S x) : data{x, x} {}
  explicit Twin(Two x) : data(x) {}
  Twin(Wide<S, Isa> a, Wide<S, Isa> b) : data{a.value, b.value} {}

  [[nodiscard]] Wide<S, Isa> operator[](int i) const { return Wide<S, Isa>(data[i]); }

  friend Twin operator+(Twin a, Twin b) { return Twin(a.data + b.data); }
  friend Twin operator-(Twin a, Twin b) { return Twin(a.data - b.data); }
  friend Twin operator*(Twin a, Twin b) { return Twin(a.data * b.data); }
  friend Twin operator/(Twin a, Twin b) { return Twin(a.data / b.data); }
  friend Twin operator-(Twin a) { return Twin(-a.data); }
  Twin& operator+=(Twin b) { return *this = *this + b; }
  Twin& operator-=(Twin b) { return *this = *this - b; }
  Twin& operator*=(Twin b) { return *this = *this * b; }

  /// The outcome of a comparison.
  struct Mask {
    decltype(Two{} < Two{}) lanes;
    friend bool any(Mask mask) { return (mask.lanes[0] | mask.lanes[1]) != 0; }
    friend Twin select(Mask mask, Twin yes, Twin no) {
      return Twin(mask.lanes ? yes.data : no.data);
    }
  };
  friend Mask operator<(Twin a, Twin b) { return {a.data < b.data}; }
  friend Mask operator>(Twin a, Twin b) { return {a.data > b.data}; }
  friend Mask operator<=(Twin a, Twin b) { return {a.data <= b.data}; }
  friend Mask operator>=(Twin a, Twin b) { return {a.data >= b.data}; }

  template <typename Function>
  static Twin each(Twin a, const Function& f) {
    return Twin(Two{f(a.data[0]), f(a.data[1])});
  }
  template <typename Function>
  static Twin each(Twin a, Twin b, const Function& f) {
    return Twin(Two{f(a.data[0], b.data[0]), f(a.data[1], b.data[1])});
  }
  friend Twin sqrt(Twin a) {
    return each(a, [](S x) { return std::sqrt(x); });
  }
  friend Twin abs(Twin a) {
    return each(a, [](S x) { return std::abs(x); });
  }
  friend Twin sin(Twin a) {
    return each(a, [](S x) { return std::sin(x); });
  }
  friend Twin cos(Twin a) {
    return each(a, [](S x) { return std::cos(x); });
  }
  friend Twin tan(Twin a) {
    return each(a, [](S x) { return std::tan(x); });
  }
  friend Twin asin(Twin a) {
    return each(a, [](S x) { return std::asin(x); });
  }
  friend Twin acos(Twin a) {
    return each(a, [](S x) { return std::acos(x); });
  }
  friend Twin atan(Twin a) {
    return each(a, [](S x) { return std::atan(x); });
  }
  friend Twin exp(Twin a) {
    return each(a, [](S x) { return std::exp(x); });
  }
  friend Twin log(Twin a) {
    return each(a, [](S x) { return std::log(x); });
  }
  friend Twin atan2(Twin a, Twin b) {
    return each(a, b, [](S y, S x) { return std::atan2(y, x); });
  }
  friend Twin pow(Twin a, Twin b) {
    return each(a, b, [](S x, S p) { return std::pow(x, p); });
  }
  friend Twin hypot(Twin a, Twin b) {
    return each(a, b, [](S x, S y) { return std::hypot(x, y); });
  }
};

template <typename S, typename Isa>
struct TwinLanes<Wide<S, Isa>> {
  using Type = Twin<S, Isa>;
};

template <typename S, typename Isa>
struct Lanes<Twin<S, Isa>> {
  using Scalar = S;
  using Number = Twin<S, Isa>;
  using Pack = typename Isa::template Pack<S>;
  static constexpr int count = 2;
  static constexpr int kAnglesTogether = static_cast<int>(Pack::size) / count;

  static S get(const Number& x, int lane) { return x.data[lane]; }
  static void set(Number& x, int lane, S value) { x.data[lane] = value; }

  /// A register of the widest kind at a time, as for Wide.
  static void sinCos(const Number* x, int n, Number* sines, Number* cosines) {
    for (int i = 0; i < n; i += kAnglesTogether) {
      Pack sine, cosine;
      packSinCos(Pack::load_unaligned(reinterpret_cast<const S*>(x + i)), sine, cosine);
      sine.store_unaligned(reinterpret_cast<S*>(sines + i));
      cosine.store_unaligned(reinterpret_cast<S*>(cosines + i));
    }
  }
};

}  // namespace kempe::detail
