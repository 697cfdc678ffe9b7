#pragma once

#include "kempe/spatial/host_device.hpp"

namespace kempe {

/// `yes` where the condition holds. Types that hold several numbers have overloads that choose for
/// each: code without branches on numbers computes with them too.
template <typename T>
KEMPE_HD constexpr T select(bool condition, const T& yes, const T& no) {
  return condition ? yes : no;
}

}  // namespace kempe
