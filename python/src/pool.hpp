#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace kempe::python {

/// Scratch memory of one kind for any number of threads: each call borrows one and gives it back.
template <typename Scratch>
class Pool {
 public:
  class Borrowed {
   public:
    Borrowed(Pool& pool, std::unique_ptr<Scratch> scratch)
        : pool_(pool), scratch_(std::move(scratch)) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() { pool_.giveBack(std::move(scratch_)); }

    Scratch& operator*() const { return *scratch_; }

   private:
    Pool& pool_;
    std::unique_ptr<Scratch> scratch_;
  };

  /// One that `fits`, or the result of `make`; idle ones that do not fit are dropped.
  template <typename Fits, typename Make>
  Borrowed borrow(const Fits& fits, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      while (!idle_.empty()) {
        std::unique_ptr<Scratch> scratch = std::move(idle_.back());
        idle_.pop_back();
        if (fits(*scratch)) return {*this, std::move(scratch)};
      }
    }
    return {*this, make()};
  }

 private:
  void giveBack(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scratch));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace kempe::python
