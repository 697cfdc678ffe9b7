#pragma once

#include <cstddef>
#include <vector>

namespace kempe::detail {

/// Hands out parts of a block of memory; without a block it only counts.
class Carver {
 public:
  static constexpr std::size_t kAlignment = 64;

  explicit Carver(std::byte* memory) : memory_(memory) {}

  template <typename U>
  U* take(int count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(U);
    std::byte* part = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<U*>(part);
  }
  /// Entries for all bodies and, at index kWorld, for the world.
  template <typename U>
  U* takeWithWorld(int bodies) {
    U* first = take<U>(bodies + 1);
    return first == nullptr ? nullptr : first + 1;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

/// A block of memory that starts at a multiple of Carver::kAlignment, all zero.
class AlignedMemory {
 public:
  explicit AlignedMemory(std::size_t bytes) : lines_(bytes / Carver::kAlignment + 1) {}
  std::byte* data() { return lines_.front().bytes; }
  [[nodiscard]] const std::byte* data() const { return lines_.front().bytes; }

 private:
  struct alignas(Carver::kAlignment) Line {
    std::byte bytes[Carver::kAlignment]{};
  };
  std::vector<Line> lines_;
};

/// Such a block that grows to the largest size asked for, and never shrinks.
class GrowingMemory {
 public:
  std::byte* of(std::size_t bytes) {
    if (bytes > size_) {
      memory_ = AlignedMemory(bytes);
      size_ = bytes;
    }
    return memory_.data();
  }

 private:
  AlignedMemory memory_{0};
  std::size_t size_ = 0;
};

}  // namespace kempe::detail
