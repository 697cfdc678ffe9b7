#include "algorithms/varied_mechanism.hpp"

#include <algorithm>
#include <array>

namespace kempe::detail {

template <typename Base>
BasicVariedState<Base>::BasicVariedState(const ModelImpl& model, const FunctionScratch& functions,
                                         WorkStage last, Carver& carver)
    : tables(viewOf<double>(model)), loops(tables, model.mechanism.functions, functions) {
  for (const WorkStage stage : {WorkStage::Motion, WorkStage::Articulated, WorkStage::LoopForces}) {
    if (stage <= last) {
      carveStage(tables, stage, carver, work);
    }
  }
  q = carver.take<Number>(tables.nq);
  v = carver.take<Number>(tables.nv);
  a = carver.take<Number>(tables.nv);
  valueQ = carver.take<Base>(tables.nq);
  valueV = carver.take<Base>(tables.nv);
  valueA = carver.take<Base>(tables.nv);
  rates_ = carver.take<Base>(tables.velocities);
  unit_ = carver.take<double>(tables.nv);
}

template <typename Base>
template <typename T>
void BasicVariedState<Base>::set(const T* qGiven, const T* vGiven, const T* aGiven,
                                 bool wholeRotors) {
  writeConstants(tables, work);
  work.wholeRotors = wholeRotors;
  const auto copy = [](const T* from, int n, Base* to) {
    for (int i = 0; i < n; ++i) {
      to[i] = from == nullptr ? Base(0) : static_cast<Base>(from[i]);
    }
  };
  copy(qGiven, tables.nq, valueQ);
  copy(vGiven, tables.nv, valueV);
  copy(aGiven, tables.nv, valueA);
  vary(nullptr, nullptr, nullptr);
}

template <typename Base>
int BasicVariedState<Base>::findRatios() {
  vary(nullptr, nullptr, nullptr);
  return place();
}

template <typename Base>
void BasicVariedState<Base>::setRatios(const Base* G) {
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    const int ratios = cluster.kind == ClusterKind::Implicit ? cluster.velocities * cluster.nv : 0;
    for (int i = cluster.firstRatio; i < cluster.firstRatio + ratios; ++i) {
      work.G[i] = {G[i], Base(0)};
    }
  }
}

template <typename Base>
void BasicVariedState<Base>::vary(const double* dq, const double* dv, const double* da) {
  const auto varied = [](const Base* at, const double* along, int n, Number* result) {
    for (int i = 0; i < n; ++i) {
      result[i] = {at[i], Base(along == nullptr ? 0.0 : along[i])};
    }
  };
  varied(valueQ, nullptr, tables.nq, q);
  varied(valueV, dv, tables.nv, v);
  varied(valueA, da, tables.nv, a);
  if (dq != nullptr) {
    varyPositions(dq);
  }
}

template <typename Base>
const double* BasicVariedState<Base>::unit(int k) {
  for (int i = 0; i < tables.nv; ++i) {
    unit_[i] = i == k ? 1.0 : 0.0;
  }
  return unit_;
}

template <typename Base>
void BasicVariedState<Base>::varyPositions(const double* along) {
  for (int c = 0; c < tables.clusterCount; ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    const double* own = along + cluster.firstV;
    if (cluster.kind == ClusterKind::Explicit) {
      for (int j = 0; j < cluster.nv; ++j) {
        q[cluster.firstQ + j].slope = Base(own[j]);
      }
      continue;
    }
    for (int i = 0; i < cluster.velocities; ++i) {
      Base& rate = rates_[cluster.firstVelocity + i] = Base(0);
      for (int j = 0; j < cluster.nv; ++j) {
        rate += ratio(cluster, i, j) * Base(own[j]);
      }
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<double>& body = tables.bodies[b];
      const int first = cluster.firstQ + body.firstPosition - cluster.firstPosition;
      std::array<Number, 7> from{}, to{};
      std::array<Number, 6> step{};
      std::copy_n(q + first, positionSize(body.type), from.begin());
      for (int i = 0; i < velocitySize(body.type); ++i) {
        step[static_cast<std::size_t>(i)] = {Base(0), rates_[body.firstVelocity + i]};
      }
      jointRetract(body.type, from.data(), step.data(), to.data());
      std::copy_n(to.data(), positionSize(body.type), q + first);
    }
  }
}

template class BasicVariedState<double>;
template void BasicVariedState<double>::set(const double*, const double*, const double*, bool);
template void BasicVariedState<double>::set(const float*, const float*, const float*, bool);
template class BasicVariedState<Dual<double>>;
template void BasicVariedState<Dual<double>>::set(const Dual<double>*, const Dual<double>*,
                                                  const Dual<double>*, bool);

}  // namespace kempe::detail
