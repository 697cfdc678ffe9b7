#pragma once

#include "kempe/spatial/host_device.hpp"

namespace kempe {

/// Returns `yes` if the condition holds, `no` otherwise. Types that hold several numbers have
/// overloads that select element by element, so that code without branches works with them too.
template <typename T>
KEMPE_HD constexpr T select(bool condition, const T& yes, const T& no) {
  return condition ? yes : no;
}

}  // namespace kempe
