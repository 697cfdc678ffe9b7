#include "simulation/ratio_derivatives.hpp"

#include <algorithm>

#include "kernels/motion.hpp"

namespace kempe::detail {

void RatioDerivatives::use(Coordinates& coordinates) {
  coordinates_ = &coordinates;
  if (!model_.empty() && &model_.front().impl() == &coordinates.impl()) {
    return;
  }
  model_.assign(1, coordinates.model());
  mechanism_ = std::make_unique<VariedMechanism>(model_.front().impl());
  const ModelTables<double>& tables = coordinates.impl().tables;
  directions_ = 0;
  for (const ClusterEntry& cluster : tables.clusters) {
    if (cluster.kind == ClusterKind::Implicit) {
      directions_ = std::max(directions_, cluster.nv);
    }
  }
  ratios_ = static_cast<std::size_t>(coordinates.ratios());
  slopes_.assign(static_cast<std::size_t>(directions_) * ratios_, 0.0);
  along_.setZero(tables.nv);
}

/// G of a cluster depends on the positions of that cluster alone, so that one pass differentiates
/// along the k-th DoF of every cluster.
void RatioDerivatives::differentiate(VectorIn q, const double* G) {
  const ModelTables<double>& tables = coordinates_->impl().tables;
  VariedState& state = mechanism_->state();
  state.set<double>(q.data(), nullptr, nullptr, true);
  state.setRatios(G);
  for (int k = 0; k < directions_; ++k) {
    along_.setZero();
    for (const ClusterEntry& cluster : tables.clusters) {
      if (cluster.kind == ClusterKind::Implicit && k < cluster.nv) {
        along_[cluster.firstV + k] = 1.0;
      }
    }
    state.vary(along_.data(), nullptr, nullptr);
    if (state.place() >= 0) {
      coordinates_->throwSingular();
    }
    const Dual<double>* varied = state.work.G;
    double* slopes = slopes_.data() + static_cast<std::size_t>(k) * ratios_;
    for (const ClusterEntry& cluster : tables.clusters) {
      const int numbers =
          cluster.kind == ClusterKind::Implicit ? cluster.velocities * cluster.nv : 0;
      for (int i = cluster.firstRatio; i < cluster.firstRatio + numbers; ++i) {
        slopes[i] = varied[i].slope;
      }
    }
  }
}

const WorkView<Dual<double>>& RatioDerivatives::motionAlong(VectorIn q, const double* G, VectorIn v,
                                                            int k) {
  VariedState& state = mechanism_->state();
  state.set<double>(q.data(), v.data(), nullptr, true);
  state.setRatios(G);
  state.vary(state.unit(k), nullptr, nullptr);
  if (state.place() >= 0) {
    coordinates_->throwSingular();
  }
  moveMechanism<false>(state.tables, state.work, state.loops, state.v,
                       static_cast<const Dual<double>*>(nullptr));
  return state.work;
}

}  // namespace kempe::detail
