#include "algorithms/varied_mechanism.hpp"

#include <array>

#include "kernels/motion.hpp"

namespace kempe::detail {

VariedMechanism::VariedMechanism(const ModelImpl& model)
    : tables_(viewOf<double>(model)),
      scratch_(tables_),
      loops_(tables_, model.mechanism.functions, scratch_.forFunctions()),
      q_(static_cast<std::size_t>(tables_.nq)),
      v_(static_cast<std::size_t>(tables_.nv)) {
  Carver counter(nullptr);
  carveStage(tables_, WorkStage::Motion, counter, work_);
  Carver carver(memory_.emplace_back(counter.used()).data());
  carveStage(tables_, WorkStage::Motion, carver, work_);
  writeConstants(tables_, work_);
  work_.wholeRotors = true;
}

void varyPositions(const TablesView<double>& tables, const double* q, const double* along,
                   const double* rates, Dual<double>* result) {
  using Number = Dual<double>;
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (cluster.kind == ClusterKind::Explicit) {
      for (int j = 0; j < cluster.nv; ++j) {
        result[cluster.firstQ + j] = {q[cluster.firstQ + j], along[cluster.firstV + j]};
      }
      continue;
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<double>& body = tables.bodies[b];
      const int first = cluster.firstQ + body.firstPosition - cluster.firstPosition;
      std::array<Number, 7> from{}, to{};
      std::array<Number, 6> step{};
      for (int i = 0; i < positionSize(body.type); ++i) {
        from[static_cast<std::size_t>(i)] = Number(q[first + i]);
      }
      for (int i = 0; i < velocitySize(body.type); ++i) {
        step[static_cast<std::size_t>(i)] = {0.0, rates[body.firstVelocity + i]};
      }
      jointRetract(body.type, from.data(), step.data(), to.data());
      std::copy_n(to.data(), positionSize(body.type), result + first);
    }
  }
}

int VariedMechanism::place() {
  return placeMechanism(tables_, work_, loops_, q_.data());
}

void VariedMechanism::move(const double* v) {
  for (std::size_t i = 0; i < v_.size(); ++i) {
    v_[i] = Number(v[i]);
  }
  moveMechanism<false>(tables_, work_, loops_, v_.data(), static_cast<const Number*>(nullptr));
}

}  // namespace kempe::detail
