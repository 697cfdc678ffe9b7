#pragma once

#include <nanobind/nanobind.h>

#include <Eigen/Core>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kempe/batch.hpp"

/// Arrays from Python and back.
namespace kempe::python {

/// Memory that a result is written to, in rows of `entries` numbers, one for each state.
struct ResultMemory {
  const void* data;
  Eigen::Index states, entries;
  bool isFloat;

  [[nodiscard]] Eigen::Index bytes() const {
    return states * entries * static_cast<Eigen::Index>(isFloat ? sizeof(float) : sizeof(double));
  }
};

/// An array argument: numbers of one state, or a row of them for each of several states. A NumPy
/// array of doubles or floats is read in place, whatever its strides; anything else is converted by
/// NumPy (lists, other types, other byte orders). Throws ValueError naming the argument where it
/// does not hold real numbers.
class ArrayArgument {
 public:
  /// `entries` is the size of a state, `meaning` the name of that size, such as "model.nq".
  ArrayArgument(nanobind::handle object, const char* name, Eigen::Index entries,
                const char* meaning = nullptr);

  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] bool isFloat() const { return isFloat_; }
  [[nodiscard]] bool isBatch() const { return isBatch_; }
  [[nodiscard]] Eigen::Index states() const { return states_; }

  /// Converts the numbers to double.
  void widen();
  /// Makes the numbers of each state contiguous.
  void makeRowsContiguous();
  /// Copies the numbers if a result would overwrite some of them before they are read.
  void separateFrom(const ResultMemory& result);

  /// The numbers of a state that makeRowsContiguous() has been called for.
  template <typename T>
  const T* row(Eigen::Index state) const {
    return static_cast<const T*>(data_) + state * stateStride_;
  }
  /// Some of the states. A single state is broadcast.
  template <typename T>
  States<const T> part(Eigen::Index first, Eigen::Index count) const {
    States<const T> states(row<T>(first), count, entries_, stateStride_, entryStride_);
    states.firstNumber = first;
    return states;
  }

 private:
  void adopt(nanobind::object array);
  [[nodiscard]] bool overlaps(const ResultMemory& result) const;
  [[nodiscard]] bool hasTheRowsOf(const ResultMemory& result) const;
  [[noreturn]] void refuseShape(nanobind::handle array) const;

  nanobind::object array_;  // keeps the numbers alive
  const char* name_;
  const char* meaning_;
  Eigen::Index entries_;
  const void* data_ = nullptr;
  bool isFloat_ = false;
  bool isBatch_ = false;
  Eigen::Index states_ = 1;
  Eigen::Index stateStride_ = 0;
  Eigen::Index entryStride_ = 1;
};

/// The array arguments of one call, which agree on the number of states. Float where all are.
class Inputs {
 public:
  enum class Precision {
    AsGiven,
    Double  ///< for algorithms that exist in double only; results are given as float all the same
  };
  Inputs(std::initializer_list<ArrayArgument> arguments, Precision precision = Precision::AsGiven);

  /// No arrays; a batch where a number of states is given.
  explicit Inputs(std::optional<Eigen::Index> states);

  /// Checks the number of states of a further argument, which does not affect the precision.
  void alsoWith(const ArrayArgument& argument);

  [[nodiscard]] bool computesInFloat() const { return float_ && precision_ == Precision::AsGiven; }
  [[nodiscard]] bool givesFloat() const { return float_; }
  [[nodiscard]] bool isBatch() const { return isBatch_; }
  [[nodiscard]] Eigen::Index states() const { return states_; }

  void makeRowsContiguous();
  void separateFrom(const ResultMemory& result);
  template <typename T>
  States<const T> part(int argument, Eigen::Index first, Eigen::Index count) const {
    return arguments_[static_cast<std::size_t>(argument)].part<T>(first, count);
  }
  template <typename T>
  Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>> row(int argument,
                                                            Eigen::Index state) const {
    const States<const T> one = part<T>(argument, state, 1);
    return {one.data, one.entries};
  }

 private:
  void agreeOnStates(const ArrayArgument& argument);

  std::vector<ArrayArgument> arguments_;
  Precision precision_;
  bool float_ = true;
  bool isBatch_ = false;
  Eigen::Index states_ = 1;
  const char* batchName_ = nullptr;
};

/// The array for a result: the one that the caller gave as `out`, or a new one.
class Result {
 public:
  /// `shape` is that of one state. Inputs that share memory with `out` are copied, unless they are
  /// `out` itself, whose rows are read before they are written.
  Result(Inputs& inputs, std::initializer_list<Eigen::Index> shape,
         nanobind::handle out = nanobind::none());

  [[nodiscard]] const ResultMemory& memory() const { return memory_; }

  template <typename T>
  T* row(Eigen::Index state) const {
    return static_cast<T*>(data_) + state * memory_.entries;
  }
  template <typename T>
  States<T> part(Eigen::Index first, Eigen::Index count) const {
    return {row<T>(first), count, memory_.entries};
  }
  /// The finished array, in the precision that was asked for.
  [[nodiscard]] nanobind::object array() const;

 private:
  nanobind::object array_;     // owns data_
  nanobind::object out_;       // as the caller gave it
  nanobind::object outArray_;  // the same as a NumPy array
  void* data_ = nullptr;
  ResultMemory memory_{};
  bool narrow_ = false;
};

}  // namespace kempe::python
