#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace kempe::test {

/// The text of the std::invalid_argument that `action` throws.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace kempe::test
