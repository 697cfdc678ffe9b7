#include "kempe/all_terms.hpp"

#include "algorithms/term_evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
AllTerms<T> allTerms(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                     std::span<const int> frames, Reference reference) {
  TermEvaluation<T> e(model, data);
  e.setFrames(e.prepareFrames(frames, reference), frames.size());
  const Eigen::Index nv = e.tables->nv, count = static_cast<Eigen::Index>(frames.size());
  std::vector<T>& numbers = e.data.terms;
  const Eigen::Index size = nv * nv + 2 * nv + 9 * nv + 6 + 3 + 2 + count * (12 + 12 + 6 * nv);
  if (numbers.size() < static_cast<std::size_t>(size)) {
    numbers.resize(static_cast<std::size_t>(size));
  }
  T* next = numbers.data();
  const auto take = [&](Eigen::Index n) {
    T* first = next;
    next += n;
    return first;
  };
  const int rows = static_cast<int>(nv);
  TermRequest<T, T>& request = e.request;
  request.H = take(nv * nv);
  request.stride = rows;
  request.bias = take(nv);
  request.gravity = take(nv);
  request.centerOfMassJacobian = {take(3 * nv), 1, 3};
  request.momentumMatrix = {take(6 * nv), 1, 6};
  request.momentum = take(6);
  request.centerOfMass = take(3);
  request.energy = take(2);
  request.placements = take(12 * count);
  request.velocities = take(6 * count);
  request.accelerations = take(6 * count);
  request.jacobians = {take(6 * nv * count), 1, 6};
  request.jacobianStride = 6 * rows;
  e.run(q, &v);
  using OneColumn = typename AllTerms<T>::VectorView;
  using Matrix = typename AllTerms<T>::MatrixView;
  const T* center = request.centerOfMass;
  return {Matrix(request.H, nv, nv),
          OneColumn(request.bias, nv),
          OneColumn(request.gravity, nv),
          {center[0], center[1], center[2]},
          Matrix(request.centerOfMassJacobian.numbers, 3, nv),
          OneColumn(request.momentum, 6),
          Matrix(request.momentumMatrix.numbers, 6, nv),
          {static_cast<double>(request.energy[0]), static_cast<double>(request.energy[1])},
          {reinterpret_cast<const Transform<T>*>(request.placements), frames.size()},
          Matrix(request.velocities, 6, count),
          Matrix(request.accelerations, 6, count),
          Matrix(request.jacobians.numbers, 6, nv * count)};
}

template AllTerms<double> allTerms<double>(const Model&, BasicData<double>&, VectorInOf<double>,
                                           VectorInOf<double>, std::span<const int>, Reference);
template AllTerms<float> allTerms<float>(const Model&, BasicData<float>&, VectorInOf<float>,
                                         VectorInOf<float>, std::span<const int>, Reference);

}  // namespace kempe
