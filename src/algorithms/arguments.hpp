#pragma once

#include <stdexcept>
#include <string>

#include "kempe/types.hpp"
#include "model/model_impl.hpp"

/// Checks of what users hand in. They allocate only when they throw.
namespace kempe::detail {

inline void requireSize(const char* name, Eigen::Index size, Eigen::Index expected,
                        const char* meaning) {
  if (size != expected) {
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(size) +
                                " entries, but " + meaning + " is " + std::to_string(expected));
  }
}

inline void requireFinite(const char* name, VectorIn x) {
  if (!x.allFinite()) {
    Eigen::Index i = 0;
    while (std::isfinite(x[i])) {
      ++i;
    }
    throw std::invalid_argument(std::string(name) + " is not finite at entry " + std::to_string(i));
  }
}

inline void requireVector(const char* name, VectorIn x, int expected, const char* meaning) {
  requireSize(name, x.size(), expected, meaning);
  requireFinite(name, x);
}

/// Quaternions must have a direction; their length is not minded.
void requireConfiguration(const char* name, const ModelImpl& model, VectorIn q);

/// Data made for another model may be too small.
inline void requireData(const ModelImpl& model, const DataImpl& data) {
  if (data.modelId != model.id) {
    throw std::invalid_argument("data was made for another model");
  }
}

}  // namespace kempe::detail
