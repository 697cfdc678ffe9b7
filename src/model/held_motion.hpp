#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tables/tables.hpp"
#include "tables/term_request.hpp"

namespace kempe::detail {

/// The state at which the memory of kernels has the motion of the bodies, so that functions that are
/// called at the same state do not compute it again. States are compared number by number: there is
/// nothing for the user to keep in step. Whoever else uses the memory calls forget().
template <typename T>
class HeldMotion {
 public:
  explicit HeldMotion(const ModelTables<double>& tables)
      : q_(static_cast<std::size_t>(tables.nq)),
        v_(static_cast<std::size_t>(tables.nv)),
        a_(v_.size()) {}

  void forget() {
    level_ = MotionLevel::None;
    solved_ = false;
  }

  /// The level of motion that is known at a state. `v` and `a` are null where they do not matter.
  [[nodiscard]] MotionLevel levelAt(const T* q, const T* v, const T* a, bool wholeRotors) const {
    if (level_ == MotionLevel::None || (wholeRotors && !wholeRotors_) || !equal(q_, q)) {
      return MotionLevel::None;
    }
    if (v == nullptr || level_ < MotionLevel::Velocities || !equal(v_, v)) {
      return MotionLevel::Placements;
    }
    const bool otherA = level_ == MotionLevel::Accelerations && (a == nullptr || !equal(a_, a));
    return otherA ? MotionLevel::Velocities : level_;
  }

  /// Whether KernelSet::solveLoops has solved the loops of q.
  [[nodiscard]] bool hasLoopsAt(const T* q, bool wholeRotors) const {
    return solved_ && wholeRotors_ == wholeRotors && equal(q_, q);
  }
  /// They are solved at the q of prepare(), or still are after a kernel that used them.
  void keepLoops() { solved_ = true; }

  /// Copies the inputs by which the memory comes from level `known`, as levelAt() gave it, to a
  /// higher one. Outputs of the user may overwrite his inputs, but not these copies. Until reach()
  /// or keepLoops() nothing is held.
  void prepare(MotionLevel known, const T* q, const T* v, const T* a, bool wholeRotors) {
    forget();
    if (known == MotionLevel::None) {
      std::copy_n(q, q_.size(), q_.begin());
      wholeRotors_ = wholeRotors;
    }
    if (v != nullptr && known < MotionLevel::Velocities) {
      std::copy_n(v, v_.size(), v_.begin());
    }
    if (a != nullptr) {
      std::copy_n(a, a_.size(), a_.begin());
    }
  }
  void reach(MotionLevel level) { level_ = level; }

  [[nodiscard]] const T* q() const { return q_.data(); }
  [[nodiscard]] const T* v() const { return v_.data(); }
  [[nodiscard]] const T* a() const { return a_.data(); }
  /// Whether rotors are whole in the memory.
  [[nodiscard]] bool wholeRotors() const { return wholeRotors_; }

 private:
  /// Bit by bit: 0 and −0 differ.
  static bool equal(const std::vector<T>& held, const T* x) {
    using Bits =
        std::conditional_t<sizeof(T) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
    Bits difference = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      difference |= std::bit_cast<Bits>(held[i]) ^ std::bit_cast<Bits>(x[i]);
    }
    return difference == 0;
  }

  MotionLevel level_ = MotionLevel::None;
  bool wholeRotors_ = false;
  bool solved_ = false;  // whatever the level is
  std::vector<T> q_, v_, a_;
};

}  // namespace kempe::detail
