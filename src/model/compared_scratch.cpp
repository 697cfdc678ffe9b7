#include "model/compared_scratch.hpp"

#include "kempe/spatial/factorization.hpp"
#include "model/model_impl.hpp"

namespace kempe::detail {
namespace {

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

/// Couplings, solved for the dependent velocities: q̇_d − G_d ẏ = 0.
template <typename T>
void writeCouplings(const ModelImpl& model, std::vector<T>& K) {
  const ModelTables<double>& tables = model.tables;
  for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
    const ClusterEntry& cluster = tables.clusters[c];
    if (cluster.kind != ClusterKind::Explicit) {
      continue;
    }
    for (int r = 0; r < cluster.kept; ++r) {
      T* row = K.data() + model.spanning().clusters[c].firstK + r * cluster.velocities;
      const int dependent = tables.dependent[cluster.firstDependent + r];
      row[dependent] = T(1);
      for (int j = 0; j < cluster.nv; ++j) {
        row[tables.independent[cluster.firstIndependent + j]] =
            T(-tables.G[cluster.firstG + dependent * cluster.nv + j]);
      }
    }
  }
}

}  // namespace

template <typename T>
ComparedScratch<T>::ComparedScratch(const ModelImpl& model)
    : freedoms(model.spanning().freedomAbove),
      coordinates(model.spanning().coordinateAbove),
      spanningKernels(kernelSets<T>().single),
      H(product(model.tables.velocities, model.tables.velocities)),
      projected(product(model.tables.nv, model.tables.nv)),
      x(static_cast<std::size_t>(model.tables.velocities)),
      accelerations(x.size()),
      next(x.size()),
      diagonal(x.size()),
      state(x.size() + static_cast<std::size_t>(model.tables.positions)),
      K(static_cast<std::size_t>(model.spanning().kNumbers)),
      W(product(model.tables.velocities, model.spanning().rows)),
      A(product(model.spanning().rows, model.spanning().rows)),
      multipliers(static_cast<std::size_t>(model.spanning().rows)),
      independentKernels(kernelSets<T>().single),
      q(static_cast<std::size_t>(model.independentTree().plain.view<double>().nq)),
      v(static_cast<std::size_t>(model.tables.nv)),
      a(v.size()),
      tau(v.size()),
      g(v.size()),
      ratios(static_cast<std::size_t>(model.tables.dNumbers)),
      factors(ratios.size()),
      pivots(v.size()) {
  int widest = 0;
  for (const ClusterEntry& cluster : model.tables.clusters) {
    widest = std::max(widest, cluster.nv);
  }
  columns.resize(product(widest, model.tables.velocities));
  unknowns.resize(x.size() + multipliers.size());
  if (!model.spanning().added.empty()) {
    saddlePoint.resize(static_cast<int>(unknowns.size()));
  }
  writeCouplings(model, K);
  const IndependentTree& tree = model.independentTree();
  for (std::size_t c = 0; tree.problem.empty() && c < tree.ratios.size(); ++c) {
    const ClusterEntry& cluster = model.tables.clusters[c];
    if (tree.ratios[c] != TreeRatio::Constant) {
      continue;
    }
    for (int i = 0; i < cluster.nv; ++i) {
      for (int j = 0; j < cluster.nv; ++j) {
        const int row = tree.rows[cluster.firstV + i];
        factors[cluster.firstD + i * cluster.nv + j] = ratios[cluster.firstD + i * cluster.nv + j] =
            T(model.tables.G[cluster.firstG + row * cluster.nv + j]);
      }
    }
    luFactor(factors.data() + cluster.firstD, cluster.nv, pivots.data() + cluster.firstV);
  }
}

template struct ComparedScratch<double>;
template struct ComparedScratch<float>;

}  // namespace kempe::detail
