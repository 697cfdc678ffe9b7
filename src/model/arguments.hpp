#pragma once

#include <stdexcept>
#include <string>

#include "kempe/types.hpp"
#include "model/model_impl.hpp"

/// Checks of user input. They allocate only when they throw.
namespace kempe::detail {

inline void requireSize(const char* name, Eigen::Index size, Eigen::Index expected,
                        const char* meaning) {
  if (size != expected) {
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(size) +
                                " entries, but " + meaning + " is " + std::to_string(expected));
  }
}

template <typename Vector>
void requireFinite(const char* name, const Vector& x) {
  using T = typename Vector::Scalar;
  // Sums of zeros, unless a number is infinite or NaN; several, which do not wait for one another.
  T sums[4] = {};
  const T* numbers = x.data();
  Eigen::Index n = x.size();
  for (; n >= 4; n -= 4, numbers += 4) {
    for (int i = 0; i < 4; ++i) {
      sums[i] += T(0) * numbers[i];
    }
  }
  for (; n > 0; --n, ++numbers) {
    sums[0] += T(0) * *numbers;
  }
  if (!(sums[0] + sums[1] + sums[2] + sums[3] == T(0))) {
    Eigen::Index i = 0;
    while (std::isfinite(x.data()[i])) {
      ++i;
    }
    throw std::invalid_argument(std::string(name) + " is not finite at entry " + std::to_string(i));
  }
}

template <typename Vector>
void requireVector(const char* name, const Vector& x, int expected, const char* meaning) {
  requireSize(name, x.size(), expected, meaning);
  requireFinite(name, x);
}

/// Quaternions must be non-zero; they need not be normalised.
template <typename T>
void requireConfiguration(const char* name, const ModelImpl& model, VectorInOf<T> q);

/// Refuses models with flexible bodies where an algorithm would leave their bending out.
inline void requireRigid(const ModelImpl& model, const char* what) {
  if (!model.mechanism.flexibleBodies.empty()) {
    throw std::invalid_argument(std::string(what) + " of models with flexible bodies, such as \"" +
                                model.mechanism.flexibleBodies.front().body +
                                "\", are not available yet");
  }
}

/// A frame by its number.
inline const FrameEntry& frameAt(const ModelImpl& model, int index) {
  if (index < 0 || index >= static_cast<int>(model.frames.size())) {
    throw std::invalid_argument("frame " + std::to_string(index) + ": the model has frames 0 to " +
                                std::to_string(model.frames.size() - 1) +
                                " (Model::frameIndex returns the index of a frame)");
  }
  return model.frames[static_cast<std::size_t>(index)];
}

/// Data made for another model may be too small.
template <typename T>
void requireData(const ModelImpl& model, const DataImpl<T>& data) {
  if (data.modelId != model.id) {
    throw std::invalid_argument("data was made for another model");
  }
}

}  // namespace kempe::detail
