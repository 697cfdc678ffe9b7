#pragma once

#include <nanobind/nanobind.h>

#include <Eigen/Core>

namespace kempe::python {

/// A vector of numbers from Python, read without copying where it already is a contiguous array of
/// doubles, through numpy otherwise (lists, other types). Throws ValueError naming the argument
/// where it is not a vector of real numbers. Sizes and values are for the library to check.
class VectorArgument {
 public:
  VectorArgument(nanobind::handle object, const char* name);

  [[nodiscard]] Eigen::Map<const Eigen::VectorXd> view() const { return {data_, size_}; }

 private:
  nanobind::object array_;  // keeps the numbers alive
  const double* data_ = nullptr;
  Eigen::Index size_ = 0;
};

}  // namespace kempe::python
