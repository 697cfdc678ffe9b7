#include "model/follow_loops.hpp"

#include <algorithm>
#include <cmath>

#include "loops/assembly.hpp"
#include "model/positions.hpp"

namespace kempe::detail {

void followLoops(const ModelImpl& model, const ClusterEntry& cluster, DataImpl<double>& data,
                 const double* base, const double* tangent, double part) {
  // `advance` is how far each DoF is expected to go in one part: along the tangent at first,
  // then as in the part before.
  const TablesView<double>& tables = viewOf<double>(model);
  const int n = cluster.velocities;
  LoopScratch<double>& scratch = data.loops;
  double longest = 0.0;
  for (int i = 0; i < n; ++i) {
    longest = std::max(longest, std::abs(tangent[i]));
  }
  const double parts = std::clamp(std::ceil(longest / part), 1.0, 1e4);
  double* advance = scratch.rates.data();
  double* step = scratch.step.data();
  double* before = data.g.data();
  for (int i = 0; i < n; ++i) {
    advance[i] = tangent[i] / parts;
    step[i] = 0.0;
  }
  for (int done = 1; done <= static_cast<int>(parts); ++done) {
    std::copy_n(step, n, before);
    for (int i = 0; i < n; ++i) {
      step[i] += advance[i];
    }
    for (const int i : independentOf(tables, cluster)) {
      step[i] = tangent[i] * (done / parts);
    }
    const Closure closure = closeLoops(tables, model.mechanism.functions, cluster, scratch, base,
                                       step, dependentOf(tables, cluster), Rows::Kept);
    if (!closure.closed) {
      throwAssemblyError(model, cluster, scratch.q.data(), closure.opening, closure.worstRow);
    }
    for (int i = 0; i < n; ++i) {
      advance[i] = step[i] - before[i];
    }
  }
}

}  // namespace kempe::detail
