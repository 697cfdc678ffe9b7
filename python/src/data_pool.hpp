#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "kempe/model.hpp"

namespace kempe::python {

/// Scratch memory of one model for any number of threads: each call borrows one and gives it back.
class DataPool {
 public:
  class Borrowed {
   public:
    Borrowed(DataPool& pool, std::unique_ptr<Data> data) : pool_(pool), data_(std::move(data)) {}
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() { pool_.giveBack(std::move(data_)); }

    Data& operator*() const { return *data_; }

   private:
    DataPool& pool_;
    std::unique_ptr<Data> data_;
  };

  Borrowed borrow(const Model& model) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Data> data = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(data)};
      }
    }
    return {*this, std::make_unique<Data>(model)};
  }

 private:
  void giveBack(std::unique_ptr<Data> data) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(data));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Data>> idle_;
};

}  // namespace kempe::python
