#include "mechanism/text.hpp"

#include <cstdio>

namespace kempe {

std::string quoted(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

std::string shortNumber(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

}  // namespace kempe
