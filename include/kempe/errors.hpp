#pragma once

#include <stdexcept>
#include <string>

#include "kempe/export.hpp"

namespace kempe {

/// A file or mechanism that cannot become a model. The text names file, line, element and remedy.
class KEMPE_API ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A configuration whose loops cannot be closed. The text names the loop and how far it is open.
class KEMPE_API AssemblyError : public std::runtime_error {
 public:
  AssemblyError(const std::string& text, std::string loop, double gap)
      : std::runtime_error(text), loop_(std::move(loop)), gap_(gap) {}

  /// The loop that is furthest open.
  [[nodiscard]] const std::string& loop() const { return loop_; }
  /// How far, in metres (or radians, for a loop that only couples angles).
  [[nodiscard]] double gap() const { return gap_; }

 private:
  std::string loop_;
  double gap_;
};

/// A position in which the independent coordinates do not determine the others (a dead point).
class KEMPE_API SingularityError : public std::runtime_error {
 public:
  SingularityError(const std::string& text, std::string loop, double condition)
      : std::runtime_error(text), loop_(std::move(loop)), condition_(condition) {}

  /// The loop (of a cluster of several: the first) that is singular.
  [[nodiscard]] const std::string& loop() const { return loop_; }
  /// Condition number of the dependent columns of the constraint Jacobian.
  [[nodiscard]] double condition() const { return condition_; }

 private:
  std::string loop_;
  double condition_;
};

}  // namespace kempe
