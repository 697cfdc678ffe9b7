#pragma once

#include <stdexcept>
#include <string>

#include "kempe/export.hpp"

namespace kempe {

/// A file or mechanism cannot be compiled into a model. The message names the file, line and
/// element and suggests a remedy.
class KEMPE_API ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The loops of a configuration cannot be closed. The message names the loop and the remaining gap.
class KEMPE_API AssemblyError : public std::runtime_error {
 public:
  AssemblyError(const std::string& text, std::string loop, double gap)
      : std::runtime_error(text), loop_(std::move(loop)), gap_(gap) {}

  /// Name of the loop with the largest gap.
  [[nodiscard]] const std::string& loop() const { return loop_; }
  /// The gap in metres (in radians for a loop that only couples angles).
  [[nodiscard]] double gap() const { return gap_; }

 private:
  std::string loop_;
  double gap_;
};

/// The configuration is singular (a dead point): the independent coordinates do not determine the
/// others.
class KEMPE_API SingularityError : public std::runtime_error {
 public:
  SingularityError(const std::string& text, std::string loop, double condition)
      : std::runtime_error(text), loop_(std::move(loop)), condition_(condition) {}

  /// Name of the singular loop; in a cluster of several loops, of the first one.
  [[nodiscard]] const std::string& loop() const { return loop_; }
  /// Condition number of the dependent columns of the constraint matrix K.
  [[nodiscard]] double condition() const { return condition_; }

 private:
  std::string loop_;
  double condition_;
};

}  // namespace kempe
