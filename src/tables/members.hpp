#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

/// The members of an aggregate, in the order of their declaration, so that code that concerns all
/// of them names none: a field that is added is converted, copied and tested like the others.
///
/// The language cannot list members, but it can give names to all of them at once, which does not
/// compile if one is missing. A type with an array among its members has a constant kMembers,
/// because counting cannot see where the array ends.
namespace kempe::detail {

/// Stands for a value of any type, to count initializers.
struct AnyValue {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor): that is its purpose
};

template <typename Aggregate, std::size_t... i>
consteval bool takesInitializers(std::index_sequence<i...>) {
  return requires {
    Aggregate{(static_cast<void>(i), AnyValue{})...};
  };
}

template <typename Aggregate, std::size_t count = 0>
consteval std::size_t countMembers() {
  static_assert(std::is_aggregate_v<Aggregate>);
  if constexpr (requires { Aggregate::kMembers; }) {
    return Aggregate::kMembers;
  } else if constexpr (takesInitializers<Aggregate>(std::make_index_sequence<count + 1>{})) {
    return countMembers<Aggregate, count + 1>();
  } else {
    return count;
  }
}

/// Number of members; bases are not members.
template <typename Aggregate>
inline constexpr std::size_t kMemberCount = countMembers<std::remove_cv_t<Aggregate>>();

// clang-format off
#define KEMPE_MEMBERS_1 m1
#define KEMPE_MEMBERS_2 KEMPE_MEMBERS_1, m2
#define KEMPE_MEMBERS_3 KEMPE_MEMBERS_2, m3
#define KEMPE_MEMBERS_4 KEMPE_MEMBERS_3, m4
#define KEMPE_MEMBERS_5 KEMPE_MEMBERS_4, m5
#define KEMPE_MEMBERS_6 KEMPE_MEMBERS_5, m6
#define KEMPE_MEMBERS_7 KEMPE_MEMBERS_6, m7
#define KEMPE_MEMBERS_8 KEMPE_MEMBERS_7, m8
#define KEMPE_MEMBERS_9 KEMPE_MEMBERS_8, m9
#define KEMPE_MEMBERS_10 KEMPE_MEMBERS_9, m10
#define KEMPE_MEMBERS_11 KEMPE_MEMBERS_10, m11
#define KEMPE_MEMBERS_12 KEMPE_MEMBERS_11, m12
#define KEMPE_MEMBERS_13 KEMPE_MEMBERS_12, m13
#define KEMPE_MEMBERS_14 KEMPE_MEMBERS_13, m14
#define KEMPE_MEMBERS_15 KEMPE_MEMBERS_14, m15
#define KEMPE_MEMBERS_16 KEMPE_MEMBERS_15, m16
#define KEMPE_MEMBERS_17 KEMPE_MEMBERS_16, m17
#define KEMPE_MEMBERS_18 KEMPE_MEMBERS_17, m18
#define KEMPE_MEMBERS_19 KEMPE_MEMBERS_18, m19
#define KEMPE_MEMBERS_20 KEMPE_MEMBERS_19, m20
#define KEMPE_MEMBERS_21 KEMPE_MEMBERS_20, m21
#define KEMPE_MEMBERS_22 KEMPE_MEMBERS_21, m22
#define KEMPE_MEMBERS_23 KEMPE_MEMBERS_22, m23
#define KEMPE_MEMBERS_24 KEMPE_MEMBERS_23, m24
#define KEMPE_MEMBERS_25 KEMPE_MEMBERS_24, m25
#define KEMPE_MEMBERS_26 KEMPE_MEMBERS_25, m26
#define KEMPE_MEMBERS_27 KEMPE_MEMBERS_26, m27
#define KEMPE_MEMBERS_28 KEMPE_MEMBERS_27, m28
#define KEMPE_MEMBERS_29 KEMPE_MEMBERS_28, m29
#define KEMPE_MEMBERS_30 KEMPE_MEMBERS_29, m30
#define KEMPE_MEMBERS_31 KEMPE_MEMBERS_30, m31
#define KEMPE_MEMBERS_32 KEMPE_MEMBERS_31, m32
#define KEMPE_MEMBERS_33 KEMPE_MEMBERS_32, m33
#define KEMPE_MEMBERS_34 KEMPE_MEMBERS_33, m34
#define KEMPE_MEMBERS_35 KEMPE_MEMBERS_34, m35
#define KEMPE_MEMBERS_36 KEMPE_MEMBERS_35, m36
#define KEMPE_MEMBERS_37 KEMPE_MEMBERS_36, m37
#define KEMPE_MEMBERS_38 KEMPE_MEMBERS_37, m38
#define KEMPE_MEMBERS_39 KEMPE_MEMBERS_38, m39
#define KEMPE_MEMBERS_40 KEMPE_MEMBERS_39, m40
#define KEMPE_MEMBERS_41 KEMPE_MEMBERS_40, m41
#define KEMPE_MEMBERS_42 KEMPE_MEMBERS_41, m42
#define KEMPE_MEMBERS_43 KEMPE_MEMBERS_42, m43
#define KEMPE_MEMBERS_44 KEMPE_MEMBERS_43, m44
#define KEMPE_MEMBERS_45 KEMPE_MEMBERS_44, m45
#define KEMPE_MEMBERS_46 KEMPE_MEMBERS_45, m46
#define KEMPE_MEMBERS_47 KEMPE_MEMBERS_46, m47
#define KEMPE_MEMBERS_48 KEMPE_MEMBERS_47, m48
#define KEMPE_MEMBERS_49 KEMPE_MEMBERS_48, m49
#define KEMPE_MEMBERS_50 KEMPE_MEMBERS_49, m50
#define KEMPE_MEMBERS_51 KEMPE_MEMBERS_50, m51
#define KEMPE_MEMBERS_52 KEMPE_MEMBERS_51, m52
#define KEMPE_MEMBERS_53 KEMPE_MEMBERS_52, m53
#define KEMPE_MEMBERS_54 KEMPE_MEMBERS_53, m54
#define KEMPE_MEMBERS_55 KEMPE_MEMBERS_54, m55
#define KEMPE_MEMBERS_56 KEMPE_MEMBERS_55, m56
#define KEMPE_BIND(n)                                  \
  if constexpr (kMemberCount<Aggregate> == (n)) {      \
    auto& [KEMPE_MEMBERS_##n] = aggregate;             \
    return std::tie(KEMPE_MEMBERS_##n);                \
  } else

/// References to all members.
template <typename Aggregate>
auto membersOf(Aggregate& aggregate) {
  KEMPE_BIND(1) KEMPE_BIND(2) KEMPE_BIND(3) KEMPE_BIND(4) KEMPE_BIND(5) KEMPE_BIND(6)
  KEMPE_BIND(7) KEMPE_BIND(8) KEMPE_BIND(9) KEMPE_BIND(10) KEMPE_BIND(11) KEMPE_BIND(12)
  KEMPE_BIND(13) KEMPE_BIND(14) KEMPE_BIND(15) KEMPE_BIND(16) KEMPE_BIND(17) KEMPE_BIND(18)
  KEMPE_BIND(19) KEMPE_BIND(20) KEMPE_BIND(21) KEMPE_BIND(22) KEMPE_BIND(23) KEMPE_BIND(24)
  KEMPE_BIND(25) KEMPE_BIND(26) KEMPE_BIND(27) KEMPE_BIND(28) KEMPE_BIND(29) KEMPE_BIND(30)
  KEMPE_BIND(31) KEMPE_BIND(32) KEMPE_BIND(33) KEMPE_BIND(34) KEMPE_BIND(35) KEMPE_BIND(36)
  KEMPE_BIND(37) KEMPE_BIND(38) KEMPE_BIND(39) KEMPE_BIND(40) KEMPE_BIND(41) KEMPE_BIND(42)
  KEMPE_BIND(43) KEMPE_BIND(44) KEMPE_BIND(45) KEMPE_BIND(46) KEMPE_BIND(47) KEMPE_BIND(48)
  KEMPE_BIND(49) KEMPE_BIND(50) KEMPE_BIND(51) KEMPE_BIND(52) KEMPE_BIND(53) KEMPE_BIND(54)
  KEMPE_BIND(55) KEMPE_BIND(56)
  {
    static_assert(kMemberCount<Aggregate> == 0, "more members than there are names for");
  }
}
#undef KEMPE_BIND
#undef KEMPE_MEMBERS_1
#undef KEMPE_MEMBERS_2
#undef KEMPE_MEMBERS_3
#undef KEMPE_MEMBERS_4
#undef KEMPE_MEMBERS_5
#undef KEMPE_MEMBERS_6
#undef KEMPE_MEMBERS_7
#undef KEMPE_MEMBERS_8
#undef KEMPE_MEMBERS_9
#undef KEMPE_MEMBERS_10
#undef KEMPE_MEMBERS_11
#undef KEMPE_MEMBERS_12
#undef KEMPE_MEMBERS_13
#undef KEMPE_MEMBERS_14
#undef KEMPE_MEMBERS_15
#undef KEMPE_MEMBERS_16
#undef KEMPE_MEMBERS_17
#undef KEMPE_MEMBERS_18
#undef KEMPE_MEMBERS_19
#undef KEMPE_MEMBERS_20
#undef KEMPE_MEMBERS_21
#undef KEMPE_MEMBERS_22
#undef KEMPE_MEMBERS_23
#undef KEMPE_MEMBERS_24
#undef KEMPE_MEMBERS_25
#undef KEMPE_MEMBERS_26
#undef KEMPE_MEMBERS_27
#undef KEMPE_MEMBERS_28
#undef KEMPE_MEMBERS_29
#undef KEMPE_MEMBERS_30
#undef KEMPE_MEMBERS_31
#undef KEMPE_MEMBERS_32
#undef KEMPE_MEMBERS_33
#undef KEMPE_MEMBERS_34
#undef KEMPE_MEMBERS_35
#undef KEMPE_MEMBERS_36
#undef KEMPE_MEMBERS_37
#undef KEMPE_MEMBERS_38
#undef KEMPE_MEMBERS_39
#undef KEMPE_MEMBERS_40
#undef KEMPE_MEMBERS_41
#undef KEMPE_MEMBERS_42
#undef KEMPE_MEMBERS_43
#undef KEMPE_MEMBERS_44
#undef KEMPE_MEMBERS_45
#undef KEMPE_MEMBERS_46
#undef KEMPE_MEMBERS_47
#undef KEMPE_MEMBERS_48
#undef KEMPE_MEMBERS_49
#undef KEMPE_MEMBERS_50
#undef KEMPE_MEMBERS_51
#undef KEMPE_MEMBERS_52
#undef KEMPE_MEMBERS_53
#undef KEMPE_MEMBERS_54
#undef KEMPE_MEMBERS_55
#undef KEMPE_MEMBERS_56
// clang-format on

/// Calls visit(member) for every member.
template <typename Aggregate, typename Visit>
void forEachMember(Aggregate& aggregate, const Visit& visit) {
  std::apply([&](auto&... member) { (visit(member), ...); }, membersOf(aggregate));
}

/// Calls visit(member of a, member of b) for the members of two versions of an aggregate.
template <typename A, typename B, typename Visit>
void forEachMember(A& a, B& b, const Visit& visit) {
  static_assert(kMemberCount<A> == kMemberCount<B>);
  const auto ofA = membersOf(a);
  const auto ofB = membersOf(b);
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (visit(std::get<i>(ofA), std::get<i>(ofB)), ...);
  }
  (std::make_index_sequence<kMemberCount<A>>{});
}

/// Writes the version of an aggregate in another scalar type: its numbers are rounded, everything
/// that does not depend on the scalar is copied.
template <typename From, typename To>
void convertMembers(const From& from, To& to) {
  if constexpr (std::is_array_v<From>) {
    static_assert(std::extent_v<From> == std::extent_v<To>);
    for (std::size_t i = 0; i < std::extent_v<From>; ++i) {
      convertMembers(from[i], to[i]);
    }
  } else if constexpr (std::is_same_v<From, To>) {
    to = from;
  } else if constexpr (std::is_floating_point_v<From>) {
    static_assert(std::is_floating_point_v<To>);
    to = static_cast<To>(from);
  } else {
    forEachMember(from, to, [](const auto& a, auto& b) { convertMembers(a, b); });
  }
}

}  // namespace kempe::detail
