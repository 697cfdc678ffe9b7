#pragma once

#include <string>

#include "constraints/table.hpp"

namespace kempe::detail {

/// Compares the velocities and accelerations of prescribed motions with differences of their
/// positions and velocities. Where they disagree, the motion obeys none of them, and forces, work and
/// energy are wrong.
class PrescribedWatch {
 public:
  /// Forgets what was found.
  void restart() { *this = {}; }
  /// Looks at the motions that are on, at the start of an interval of this length.
  void check(const ConstraintTable& table, double time, double interval);
  /// The first disagreement; empty if there is none.
  [[nodiscard]] const std::string& warning() const { return warning_; }

 private:
  long long intervals_ = 0;
  std::string warning_;
};

}  // namespace kempe::detail
