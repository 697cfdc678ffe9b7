#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "kempe/configuration.hpp"
#include "kempe/errors.hpp"
#include "kempe/mechanism.hpp"
#include "kempe/model.hpp"

// What the fuzz targets share. A law that does not hold ends the program, which is a finding.

namespace kempe::fuzz {

inline void require(bool holds, std::string_view law) {
  if (!holds) {
    std::cerr << law << '\n';
    std::abort();
  }
}

inline std::string_view textOf(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// An error in a file begins with its name and a line, and then has something to say.
inline void requirePlace(const ModelError& error, std::string_view source) {
  const std::string text = error.what();
  const std::string place = std::string(source) + ":";
  const auto digits = text.find_first_not_of("0123456789", place.size());
  require(text.starts_with(place) && digits != std::string::npos && digits > place.size() &&
              text.substr(digits).starts_with(": ") && text.size() > digits + 10,
          "an error does not begin with file and line: " + text);
}

/// Compiles what was read, if it is small enough to take no time. It may turn out impossible, which
/// is a ModelError; any other exception is a finding.
inline void compileIfSmall(const Mechanism& mechanism) {
  constexpr std::size_t most = 8;
  if (mechanism.joints.size() > most || mechanism.couplings.size() > most ||
      mechanism.loops.size() > most || mechanism.rods.size() > most ||
      mechanism.functions.size() > most) {
    return;
  }
  try {
    const Model model(mechanism);
    require(model.nv() > 0, "a model has no degree of freedom");
    require(model.neutral().size() == model.nq() && model.neutral().allFinite(),
            "the neutral configuration is not one");
    Data data(model);
    Eigen::VectorXd residual(model.nLoopRows());
    loopResidual(model, data, model.neutral(), residual);
    require(residual.allFinite(), "the loops cannot be evaluated where they should be closed");
  } catch (const ModelError& error) {
    require(std::string_view(error.what()).size() > 10, "an error says nothing");
  }
}

}  // namespace kempe::fuzz
