#pragma once

#include <cmath>

#include "spatial/mixed.hpp"
#include "spatial/scalar_lanes.hpp"

/// Spatial algebra for one state on vector registers: three numbers and one to spare are a
/// register, so that a matrix by its columns times a vector is three multiplications. Measured
/// against plain numbers and against six numbers in a register of eight in docs/performance.md.
///
/// The recursions are written on Vec3, Mat3, SymMat3 and inertias; they become these by computing
/// with the scalar Wide<S, Isa>. `Isa` names the instruction set that a translation unit is
/// compiled for and keeps its functions apart from those of the others.
namespace kempe::detail {

template <typename S, typename Isa>
struct Wide {
  S value;

  Wide() = default;
  constexpr explicit Wide(S x) : value(x) {}

  friend constexpr Wide operator+(Wide a, Wide b) { return Wide(a.value + b.value); }
  friend constexpr Wide operator-(Wide a, Wide b) { return Wide(a.value - b.value); }
  friend constexpr Wide operator*(Wide a, Wide b) { return Wide(a.value * b.value); }
  friend constexpr Wide operator/(Wide a, Wide b) { return Wide(a.value / b.value); }
  friend constexpr Wide operator-(Wide a) { return Wide(-a.value); }
  constexpr Wide& operator+=(Wide b) { return *this = *this + b; }
  constexpr Wide& operator-=(Wide b) { return *this = *this - b; }
  constexpr Wide& operator*=(Wide b) { return *this = *this * b; }
  friend constexpr bool operator<(Wide a, Wide b) { return a.value < b.value; }
  friend constexpr bool operator>(Wide a, Wide b) { return a.value > b.value; }
  friend constexpr bool operator>=(Wide a, Wide b) { return a.value >= b.value; }
  friend constexpr bool operator<=(Wide a, Wide b) { return a.value <= b.value; }
  friend Wide sqrt(Wide a) { return Wide(std::sqrt(a.value)); }
  friend Wide abs(Wide a) { return Wide(std::abs(a.value)); }
  friend Wide sin(Wide a) { return Wide(std::sin(a.value)); }
  friend Wide cos(Wide a) { return Wide(std::cos(a.value)); }
  friend Wide tan(Wide a) { return Wide(std::tan(a.value)); }
  friend Wide asin(Wide a) { return Wide(std::asin(a.value)); }
  friend Wide acos(Wide a) { return Wide(std::acos(a.value)); }
  friend Wide atan(Wide a) { return Wide(std::atan(a.value)); }
  friend Wide atan2(Wide y, Wide x) { return Wide(std::atan2(y.value, x.value)); }
  friend Wide tanh(Wide a) { return Wide(std::tanh(a.value)); }
  friend Wide exp(Wide a) { return Wide(std::exp(a.value)); }
  friend Wide log(Wide a) { return Wide(std::log(a.value)); }
  friend Wide pow(Wide a, Wide p) { return Wide(std::pow(a.value, p.value)); }
  friend Wide hypot(Wide a, Wide b) { return Wide(std::hypot(a.value, b.value)); }
};

/// Four numbers; the last is never read, but finite where the others are.
template <typename S>
struct Register;
template <>
struct Register<double> {
  using Type = double __attribute__((vector_size(32)));
};
template <>
struct Register<float> {
  using Type = float __attribute__((vector_size(16)));
};

}  // namespace kempe::detail

namespace kempe {

template <typename S, typename Isa>
struct Vec3<detail::Wide<S, Isa>> {
  using T = detail::Wide<S, Isa>;
  using Four = typename detail::Register<S>::Type;
  Four data{};

  Vec3() = default;
  // Copies of larger structures go vector by vector because of these. Copied as blocks of memory
  // they would be read by wider loads than they were written by, for which the processor waits.
  Vec3(const Vec3& b) : data(b.data) {}
  Vec3& operator=(const Vec3& b) {
    data = b.data;
    return *this;
  }
  explicit Vec3(Four x) : data(x) {}
  Vec3(T x, T y, T z) : data{x.value, y.value, z.value, S(0)} {}

  T operator[](int i) const { return T(data[i]); }
  /// Component i in every place.
  [[nodiscard]] Four all(int i) const {
    return i == 0   ? __builtin_shufflevector(data, data, 0, 0, 0, 0)
           : i == 1 ? __builtin_shufflevector(data, data, 1, 1, 1, 1)
                    : __builtin_shufflevector(data, data, 2, 2, 2, 2);
  }
  /// From four numbers in memory.
  static Vec3 ofFour(const void* numbers) {
    Vec3 result;
    __builtin_memcpy(&result.data, numbers, sizeof(Four));
    return result;
  }
  static Four broadcast(S x) { return Four{x, x, x, x}; }
  static Four unit(int i) { return Four{S(i == 0), S(i == 1), S(i == 2), S(0)}; }

  Vec3& operator+=(const Vec3& b) {
    data += b.data;
    return *this;
  }
  Vec3& operator-=(const Vec3& b) {
    data -= b.data;
    return *this;
  }
  friend Vec3 operator+(const Vec3& a, const Vec3& b) { return Vec3(a.data + b.data); }
  friend Vec3 operator-(const Vec3& a, const Vec3& b) { return Vec3(a.data - b.data); }
  friend Vec3 operator-(const Vec3& a) { return Vec3(-a.data); }
  friend Vec3 operator*(const T& s, const Vec3& a) { return Vec3(broadcast(s.value) * a.data); }
};

namespace detail {

template <typename S, typename Isa>
using WideVec3 = Vec3<Wide<S, Isa>>;

/// The first three added up.
template <typename S, typename Isa>
Wide<S, Isa> sumOf(typename Register<S>::Type x) {
  return Wide<S, Isa>(x[0] + x[1] + x[2]);
}

/// y, z, x of x, y, z.
template <typename Four>
Four rotated(Four a) {
  return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}

}  // namespace detail

template <typename S, typename Isa>
detail::Wide<S, Isa> dot(const detail::WideVec3<S, Isa>& a, const detail::WideVec3<S, Isa>& b) {
  return detail::sumOf<S, Isa>(a.data * b.data);
}

template <typename S, typename Isa>
detail::WideVec3<S, Isa> cross(const detail::WideVec3<S, Isa>& a,
                               const detail::WideVec3<S, Isa>& b) {
  using detail::rotated;
  return detail::WideVec3<S, Isa>(rotated(a.data * rotated(b.data) - rotated(a.data) * b.data));
}

template <typename S, typename Isa>
detail::Wide<S, Isa> dot(const Force<detail::Wide<S, Isa>>& f,
                         const Motion<detail::Wide<S, Isa>>& m) {
  return detail::sumOf<S, Isa>(f.moment.data * m.angular.data + f.force.data * m.linear.data);
}

namespace detail {

template <typename S, typename Isa, typename... More>
typename Register<S>::Type sumOfProducts(const WideVec3<S, Isa>& a, const WideVec3<S, Isa>& x,
                                         const More&... more) {
  if constexpr (sizeof...(more) == 0) {
    return a.data * x.data;
  } else {
    return a.data * x.data + sumOfProducts(more...);
  }
}

/// As in spatial/mixed.hpp, but the three components are added up once.
template <typename S, typename Isa, typename... More>
Wide<S, Isa> sumOfDots(const WideVec3<S, Isa>& a, const WideVec3<S, Isa>& x, const More&... more) {
  return sumOf<S, Isa>(sumOfProducts(a, x, more...));
}

}  // namespace detail

/// By columns.
template <typename S, typename Isa>
struct Mat3<detail::Wide<S, Isa>> {
  using T = detail::Wide<S, Isa>;
  using V = Vec3<T>;
  V c0, c1, c2;

  Mat3() = default;
  /// From rows.
  Mat3(const V& r0, const V& r1, const V& r2)
      : c0(r0[0], r1[0], r2[0]), c1(r0[1], r1[1], r2[1]), c2(r0[2], r1[2], r2[2]) {}
  static Mat3 identity() {
    return fromColumns({T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)});
  }
  static Mat3 fromColumns(const V& a, const V& b, const V& c) {
    Mat3 result;
    result.c0 = a;
    result.c1 = b;
    result.c2 = c;
    return result;
  }

  [[nodiscard]] const V& column(int j) const { return j == 0 ? c0 : (j == 1 ? c1 : c2); }

  Mat3& operator+=(const Mat3& b) {
    c0 += b.c0;
    c1 += b.c1;
    c2 += b.c2;
    return *this;
  }
  [[nodiscard]] Mat3 transposed() const { return {c0, c1, c2}; }
  friend V operator*(const Mat3& a, const V& x) {
    return V(a.c0.data * x.all(0) + a.c1.data * x.all(1) + a.c2.data * x.all(2));
  }
  friend Mat3 operator+(Mat3 a, const Mat3& b) { return a += b; }
  friend Mat3 operator*(const T& s, const Mat3& a) {
    return fromColumns(s * a.c0, s * a.c1, s * a.c2);
  }
  friend Mat3 operator*(const Mat3& a, const Mat3& b) {
    return fromColumns(a * b.c0, a * b.c1, a * b.c2);
  }
};

template <typename S, typename Isa>
Mat3<detail::Wide<S, Isa>> skew(const detail::WideVec3<S, Isa>& v) {
  const detail::Wide<S, Isa> zero(0);
  return {{zero, -v[2], v[1]}, {v[2], zero, -v[0]}, {-v[1], v[0], zero}};
}

/// aᵀ x
template <typename S, typename Isa>
detail::WideVec3<S, Isa> transposeTimes(const Mat3<detail::Wide<S, Isa>>& a,
                                        const detail::WideVec3<S, Isa>& x) {
  return {dot(a.c0, x), dot(a.c1, x), dot(a.c2, x)};
}

template <typename S, typename Isa>
Mat3<detail::Wide<S, Isa>> timesRotationZ(const Mat3<detail::Wide<S, Isa>>& R,
                                          const detail::Wide<S, Isa>& sine,
                                          const detail::Wide<S, Isa>& cosine) {
  return Mat3<detail::Wide<S, Isa>>::fromColumns(cosine * R.c0 + sine * R.c1,
                                                 cosine * R.c1 - sine * R.c0, R.c2);
}

/// By columns, in full: no more work than its half.
template <typename S, typename Isa>
struct SymMat3<detail::Wide<S, Isa>> {
  using T = detail::Wide<S, Isa>;
  using V = Vec3<T>;
  V c0, c1, c2;

  SymMat3() = default;
  SymMat3(const V& x, const V& y, const V& z) : c0(x), c1(y), c2(z) {}
  SymMat3(T xx, T xy, T xz, T yy, T yz, T zz) : c0(xx, xy, xz), c1(xy, yy, yz), c2(xz, yz, zz) {}

  SymMat3& operator+=(const SymMat3& b) {
    c0 += b.c0;
    c1 += b.c1;
    c2 += b.c2;
    return *this;
  }
  friend SymMat3 operator+(SymMat3 a, const SymMat3& b) { return a += b; }
  friend SymMat3 operator-(const SymMat3& a, const SymMat3& b) {
    return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
  }
  friend SymMat3 operator*(const T& s, const SymMat3& a) { return {s * a.c0, s * a.c1, s * a.c2}; }
  friend V operator*(const SymMat3& a, const V& x) {
    return V(a.c0.data * x.all(0) + a.c1.data * x.all(1) + a.c2.data * x.all(2));
  }
};

namespace detail {

/// As in spatial/mixed.hpp.
template <typename S, typename Isa>
SymMat3<Wide<S, Isa>> symmetricMatrix(const WideVec3<S, Isa>& moments,
                                      const WideVec3<S, Isa>& products) {
  using V = WideVec3<S, Isa>;
  const auto m = moments.data, p = products.data;
  return {V(__builtin_shufflevector(m, p, 0, 6, 5, 3)),
          V(__builtin_shufflevector(m, p, 6, 1, 4, 3)),
          V(__builtin_shufflevector(m, p, 5, 4, 2, 3))};
}

}  // namespace detail

/// R a Rᵀ
template <typename S, typename Isa>
SymMat3<detail::Wide<S, Isa>> congruence(const Mat3<detail::Wide<S, Isa>>& R,
                                         const SymMat3<detail::Wide<S, Isa>>& a) {
  using V = detail::WideVec3<S, Isa>;
  const V x = R * a.c0, y = R * a.c1, z = R * a.c2;
  const auto column = [&](int j) {
    return V(x.data * R.c0.all(j) + y.data * R.c1.all(j) + z.data * R.c2.all(j));
  };
  return {column(0), column(1), column(2)};
}

/// h·v 1 − v hᵀ for parallel v and h.
template <typename S, typename Isa>
SymMat3<detail::Wide<S, Isa>> pointInertia(const detail::WideVec3<S, Isa>& h,
                                           const detail::WideVec3<S, Isa>& v) {
  using V = detail::WideVec3<S, Isa>;
  const auto square = V::broadcast(dot(h, v).value);
  const auto column = [&](int j) { return V(square * V::unit(j) - v.data * h.all(j)); };
  return {column(0), column(1), column(2)};
}

/// [A B; Bᵀ C] by its six columns.
template <typename S, typename Isa>
struct ArticulatedInertia<detail::Wide<S, Isa>> {
  using T = detail::Wide<S, Isa>;
  Force<T> columns[6];

  static ArticulatedInertia fromRigid(const RigidInertia<T>& a) {
    using V = Vec3<T>;
    using Four = typename V::Four;
    const Four h = a.moment.data, m = V::broadcast(a.mass.value);
    // Columns of the matrix h×.
    const Four columnsOfSkew[3] = {
        __builtin_shufflevector(h, h, 0, 2, 1, 3) * Four{S(0), S(1), S(-1), S(0)},
        __builtin_shufflevector(h, h, 2, 1, 0, 3) * Four{S(-1), S(0), S(1), S(0)},
        __builtin_shufflevector(h, h, 1, 0, 2, 3) * Four{S(1), S(-1), S(0), S(0)}};
    ArticulatedInertia result;
    result.columns[0].moment = a.rotation.c0;
    result.columns[1].moment = a.rotation.c1;
    result.columns[2].moment = a.rotation.c2;
    for (int j = 0; j < 3; ++j) {
      result.columns[j].force.data = -columnsOfSkew[j];
      result.columns[j + 3].moment.data = columnsOfSkew[j];
      result.columns[j + 3].force.data = m * V::unit(j);
    }
    return result;
  }

  void setRigid(const RigidInertia<T>& a) { *this = fromRigid(a); }

  ArticulatedInertia& operator+=(const ArticulatedInertia& b) {
    for (int j = 0; j < 6; ++j) {
      columns[j] += b.columns[j];
    }
    return *this;
  }
  ArticulatedInertia& operator+=(const RigidInertia<T>& b) { return *this += fromRigid(b); }

  friend Force<T> operator*(const ArticulatedInertia& a, const Motion<T>& m) {
    // Two sums, so that additions do not wait for one another.
    Force<T> fromAngular, fromLinear;
    for (int j = 0; j < 3; ++j) {
      fromAngular.moment.data += m.angular.all(j) * a.columns[j].moment.data;
      fromAngular.force.data += m.angular.all(j) * a.columns[j].force.data;
      fromLinear.moment.data += m.linear.all(j) * a.columns[j + 3].moment.data;
      fromLinear.force.data += m.linear.all(j) * a.columns[j + 3].force.data;
    }
    return fromAngular + fromLinear;
  }

  /// Adds scale · a aᵀ to the moment from angular motion.
  void addTurning(const T& scale, const Vec3<T>& a) {
    const Vec3<T> scaled = scale * a;
    for (int j = 0; j < 3; ++j) {
      columns[j].moment.data += a.all(j) * scaled.data;
    }
  }

  /// Adds scale · f fᵀ.
  void addOuter(const T& scale, const Force<T>& f) {
    const Force<T> scaled = scale * f;
    for (int j = 0; j < 3; ++j) {
      columns[j].moment.data += f.moment.all(j) * scaled.moment.data;
      columns[j].force.data += f.moment.all(j) * scaled.force.data;
      columns[j + 3].moment.data += f.force.all(j) * scaled.moment.data;
      columns[j + 3].force.data += f.force.all(j) * scaled.force.data;
    }
  }

  /// Subtracts Σ scales[i] · f[i] f[i]ᵀ of n forces, column by column.
  void subtractOuters(int n, const T* scales, const Force<T>* f) {
    for (int j = 0; j < 6; ++j) {
      auto moment = columns[j].moment.data, force = columns[j].force.data;
      for (int i = 0; i < n; ++i) {
        const T component = j < 3 ? f[i].moment[j] : f[i].force[j - 3];
        const auto factor = Vec3<T>::broadcast((scales[i] * component).value);
        moment -= factor * f[i].moment.data;
        force -= factor * f[i].force.data;
      }
      columns[j].moment.data = moment;
      columns[j].force.data = force;
    }
  }

  /// Adds inertia + scale · f fᵀ, column by column.
  void addCondensed(const ArticulatedInertia& inertia, const T& scale, const Force<T>& f) {
    const Force<T> scaled = scale * f;
    const auto add = [&](Force<T>& to, const Force<T>& from, const auto& factor) {
      to.moment.data += from.moment.data + factor * scaled.moment.data;
      to.force.data += from.force.data + factor * scaled.force.data;
    };
    for (int j = 0; j < 3; ++j) {
      add(columns[j], inertia.columns[j], f.moment.all(j));
      add(columns[j + 3], inertia.columns[j + 3], f.force.all(j));
    }
  }
  void addCondensed(const RigidInertia<T>& inertia, const T& scale, const Force<T>& f) {
    addCondensed(fromRigid(inertia), scale, f);
  }

  /// Row i, column j.
  [[nodiscard]] T at(int i, int j) const {
    return i < 3 ? columns[j].moment[i] : columns[j].force[i - 3];
  }
};

namespace detail {

template <typename S, typename Isa>
WideVec3<S, Isa> turned(const Mat3<Wide<S, Isa>>& R, const Vec3<S>& x) {
  using V = WideVec3<S, Isa>;
  return V(R.c0.data * V::broadcast(x.x) + R.c1.data * V::broadcast(x.y) +
           R.c2.data * V::broadcast(x.z));
}
template <typename S, typename Isa>
Mat3<Wide<S, Isa>> turned(const Mat3<Wide<S, Isa>>& R, const Mat3<S>& b) {
  return Mat3<Wide<S, Isa>>::fromColumns(turned(R, b.column(0)), turned(R, b.column(1)),
                                         turned(R, b.column(2)));
}
template <typename S, typename Isa>
SymMat3<Wide<S, Isa>> turned(const Mat3<Wide<S, Isa>>& R, const SymMat3<S>& a) {
  using V = WideVec3<S, Isa>;
  const V x = turned(R, Vec3<S>{a.xx, a.xy, a.xz});
  const V y = turned(R, Vec3<S>{a.xy, a.yy, a.yz});
  const V z = turned(R, Vec3<S>{a.xz, a.yz, a.zz});
  const auto column = [&](int j) {
    return V(x.data * R.c0.all(j) + y.data * R.c1.all(j) + z.data * R.c2.all(j));
  };
  return {column(0), column(1), column(2)};
}

/// As in kernels/inverse_dynamics_derivatives.hpp.
template <typename S, typename Isa>
Wide<S, Isa> dotBoth(const Force<Wide<S, Isa>>& f, const Motion<Wide<S, Isa>>& m,
                     const WideVec3<S, Isa>& n, const WideVec3<S, Isa>& w) {
  return sumOf<S, Isa>(f.moment.data * m.angular.data + f.force.data * m.linear.data +
                       n.data * w.data);
}

/// As in kernels/coriolis_inertia.hpp.
template <typename S, typename Isa>
Mat3<Wide<S, Isa>> coriolisMatrix(const WideVec3<S, Isa>& omega, const SymMat3<Wide<S, Isa>>& I,
                                  const WideVec3<S, Isa>& c, const WideVec3<S, Isa>& p) {
  using V = WideVec3<S, Isa>;
  const auto half = V::broadcast(S(0.5) * (I.c0.data[0] + I.c1.data[1] + I.c2.data[2]));
  const auto along = V::broadcast(dot(c, p).value);
  const auto column = [&](const V& own, int j) {
    const V turning = cross(omega, V(own.data - half * V::unit(j)));
    return V(turning.data + along * V::unit(j) - p.data * c.all(j));
  };
  return Mat3<Wide<S, Isa>>::fromColumns(column(I.c0, 0), column(I.c1, 1), column(I.c2, 2));
}

}  // namespace detail
}  // namespace kempe
