#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "kempe/batch.hpp"
#include "kempe/model.hpp"
#include "pool.hpp"

namespace kempe::python {

/// Number of threads for batches; 0: as many as the machine has.
int threadsInUse();
void useThreads(int count);

/// A model as a Python object, with scratch memory for any number of threads. Computations release
/// the GIL.
class PyModel {
 public:
  explicit PyModel(Model model) : model_(std::move(model)) {}

  [[nodiscard]] const Model& model() const { return model_; }

  // Warnings about limits that were given (see limits.hpp); access requires the GIL.
  mutable bool checkedNeutral = false;
  mutable bool warnedOfRandom = false;

  /// Calls `function(data)` on scratch memory of its own.
  template <typename T, typename Function>
  void compute(const Function& function) const {
    const nanobind::gil_scoped_release unlocked;
    const auto data =
        pools_->get<T>().data.borrow([](const BasicData<T>&) { return true; },
                                     [this] { return std::make_unique<BasicData<T>>(model_); });
    function(*data);
  }

  /// Calls `function(batch, first, count)` for all of many states, a few thousand at a time, and
  /// checks for Ctrl-C between calls.
  template <typename T, typename Function>
  void computeMany(Eigen::Index states, const Function& function) const {
    constexpr Eigen::Index kStatesAtOnce = 4096;
    for (Eigen::Index first = 0; first < states; first += kStatesAtOnce) {
      {
        const nanobind::gil_scoped_release unlocked;
        const int threads = threadsInUse();
        const auto batch = pools_->get<T>().batches.borrow(
            [&](const BasicBatch<T>& idle) { return idle.threads() == threads; },
            [&] {
              return std::make_unique<BasicBatch<T>>(model_, BatchOptions{.threads = threads});
            });
        function(*batch, first, std::min(kStatesAtOnce, states - first));
      }
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
  }

 private:
  template <typename T>
  struct PoolsOf {
    Pool<BasicData<T>> data;
    Pool<BasicBatch<T>> batches;
  };
  struct Pools {
    PoolsOf<double> ofDouble;
    PoolsOf<float> ofFloat;

    template <typename T>
    PoolsOf<T>& get() {
      if constexpr (std::is_same_v<T, double>) {
        return ofDouble;
      } else {
        return ofFloat;
      }
    }
  };

  Model model_;
  std::unique_ptr<Pools> pools_ = std::make_unique<Pools>();
};

}  // namespace kempe::python
