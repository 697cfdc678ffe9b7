#pragma once

#include "arrays.hpp"
#include "py_model.hpp"

/// Evaluation of algorithms for one or many states, in double or float.
namespace kempe::python {

/// The inputs of one state, by their numbers in the call.
template <typename T>
struct StateInputs {
  const Inputs& inputs;
  Eigen::Index state;

  auto operator[](int argument) const { return inputs.row<T>(argument, state); }
};

/// The same of some of the states.
template <typename T>
struct StatesInputs {
  const Inputs& inputs;
  Eigen::Index first, count;

  States<const T> operator[](int argument) const { return inputs.part<T>(argument, first, count); }
};

/// `one(data, x, result, state)` for every state: x[i] are its inputs, `result` its part of the
/// result.
template <typename T, typename One>
void evaluateIn(const PyModel& self, Inputs& inputs, const Result& result, const One& one) {
  const auto compute = [&](BasicData<T>& data, Eigen::Index state) {
    one(data, StateInputs<T>{inputs, state}, result.row<T>(state), state);
  };
  if (!inputs.isBatch()) {
    self.compute<T>([&](BasicData<T>& data) { compute(data, 0); });
    return;
  }
  inputs.makeRowsContiguous();
  self.computeMany<T>(
      inputs.states(), [&](BasicBatch<T>& batch, Eigen::Index first, Eigen::Index count) {
        forEachState<T>(
            self.model(), batch, count,
            [&](BasicData<T>& data, Eigen::Index state) { compute(data, first + state); }, first);
      });
}

/// In the precision of the inputs.
template <typename One>
nanobind::object evaluate(const PyModel& self, Inputs& inputs, const Result& result,
                          const One& one) {
  if (inputs.computesInFloat()) {
    evaluateIn<float>(self, inputs, result, one);
  } else {
    evaluateIn<double>(self, inputs, result, one);
  }
  return result.array();
}

/// `many(batch, x, result)` where there are many, for algorithms that have a function of their own
/// for these: x[i] are the inputs of some of the states, `result` their part of the result.
template <typename T, typename Many>
void evaluateManyIn(const PyModel& self, const Inputs& inputs, const Result& result,
                    const Many& many) {
  self.computeMany<T>(
      inputs.states(), [&](BasicBatch<T>& batch, Eigen::Index first, Eigen::Index count) {
        many(batch, StatesInputs<T>{inputs, first, count}, result.part<T>(first, count));
      });
}
template <typename Many>
nanobind::object evaluateMany(const PyModel& self, const Inputs& inputs, const Result& result,
                              const Many& many) {
  if (inputs.computesInFloat()) {
    evaluateManyIn<float>(self, inputs, result, many);
  } else {
    evaluateManyIn<double>(self, inputs, result, many);
  }
  return result.array();
}

/// The one or the other.
template <typename One, typename Many>
nanobind::object evaluate(const PyModel& self, Inputs& inputs, const Result& result, const One& one,
                          const Many& many) {
  return inputs.isBatch() ? evaluateMany(self, inputs, result, many)
                          : evaluate(self, inputs, result, one);
}

/// The scalar of a Data or a Batch.
template <typename T>
T scalarOf(const BasicData<T>&);
template <typename T>
T scalarOf(const BasicBatch<T>&);

/// `compute(matrix)` on a matrix of the library, whose numbers then go row by row to `result`.
template <typename T, typename Compute>
void writeRowByRow(T* result, Eigen::Index rows, Eigen::Index columns, const Compute& compute) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> matrix(rows, columns);
  compute(matrix);
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(result, rows,
                                                                                columns) = matrix;
}

template <typename T>
Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> vectorAt(T* numbers, Eigen::Index size) {
  return {numbers, size};
}

}  // namespace kempe::python
