#include "simulation/loop_scales.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "loops/cluster_velocity.hpp"
#include "loops/scales.hpp"
#include "model/follow_loops.hpp"
#include "model/positions.hpp"

namespace kempe::detail {
namespace {

/// Random configurations from which the usual is known, beside the neutral one.
constexpr std::uint64_t kSamples = 3;
/// A configuration that is this many times as regular as the best of them, or has rows so much
/// longer, becomes another one.
constexpr double kMuchMore = 3.0;

/// The smallest pivot of a row-major K (rows × columns, overwritten) with complete pivoting, and
/// the columns of all pivots, unless null. K is followed by room for one number per row.
double smallestPivot(double* K, int rows, int columns, int* pivotColumns) {
  double* largest = K + rows * columns;  // of each row; rows that a pivot leaves alone keep theirs
  const auto findLargest = [&](int r) {
    const double* row = K + r * columns;
    double even = 0.0, odd = 0.0;  // two at a time, so that neither waits for the other
    int j = 0;
    for (; j + 1 < columns; j += 2) {
      even = std::max(even, std::abs(row[j]));
      odd = std::max(odd, std::abs(row[j + 1]));
    }
    largest[r] = std::max({even, odd, j < columns ? std::abs(row[j]) : 0.0});
  };
  for (int r = 0; r < rows; ++r) {
    findLargest(r);
  }
  double smallest = rows > 0 ? std::numeric_limits<double>::infinity() : 1.0;
  for (int done = 0; done < rows; ++done) {
    const int row = static_cast<int>(std::max_element(largest + done, largest + rows) - largest);
    if (!(largest[row] > 0.0)) {
      return 0.0;
    }
    smallest = std::min(smallest, largest[row]);
    int column = 0;
    while (std::abs(K[row * columns + column]) < largest[row]) {
      ++column;
    }
    if (pivotColumns != nullptr) {
      pivotColumns[done] = column;
    }
    if (row != done) {
      std::swap_ranges(K + row * columns, K + (row + 1) * columns, K + done * columns);
      std::swap(largest[row], largest[done]);
    }
    const double pivot = K[done * columns + column];
    for (int r = done + 1; r < rows; ++r) {
      if (K[r * columns + column] == 0.0) {
        continue;
      }
      const double factor = K[r * columns + column] / pivot;
      for (int j = 0; j < columns; ++j) {
        K[r * columns + j] -= factor * K[done * columns + j];
      }
      K[r * columns + column] = 0.0;
      findLargest(r);
    }
  }
  return smallest;
}

/// Space for the kept rows of K of a cluster, and one number for each.
std::vector<double> roomFor(const ClusterEntry& cluster) {
  return std::vector<double>(static_cast<std::size_t>(LoopScales::roomOf(cluster)));
}

}  // namespace

double LoopScales::regularityOf(const ClusterEntry& cluster, const double* K, double* room,
                                int* pivotColumns) const {
  const int n = cluster.velocities;
  for (int r = 0; r < cluster.kept; ++r) {
    const double scale = row[cluster.firstRow + r];
    for (int i = 0; i < n; ++i) {
      room[r * n + i] = scale * K[cluster.firstK + r * n + i] * length[cluster.firstVelocity + i];
    }
  }
  return smallestPivot(room, cluster.kept, n, pivotColumns);
}

LoopScales::LoopScales(const Model& model)
    : length(static_cast<std::size_t>(model.nvSpanning()), 1.0),
      row(static_cast<std::size_t>(model.nLoopRows()), 0.0),
      regularity(model.impl().tables.clusters.size(), 0.0),
      ratio(static_cast<std::size_t>(model.nvSpanning()), std::numeric_limits<double>::infinity()) {
  const ModelImpl& m = model.impl();
  bool loops = false;
  for (const ClusterEntry& cluster : m.tables.clusters) {
    loops |= cluster.kind == ClusterKind::Implicit;
    const double reach = clusterReach(m.tables, cluster);
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<double>& body = m.tables.bodies[b];
      for (int i = 0; i < velocitySize(body.type); ++i) {
        length[body.firstVelocity + i] = slides(body.type, i) ? reach : 1.0;
      }
    }
  }
  if (!loops) {
    return;
  }
  std::vector<std::vector<double>> samples{m.neutralPositions};
  for (std::uint64_t seed = 0; seed < kSamples; ++seed) {
    const Eigen::VectorXd q = model.randomConfiguration(seed);
    expandPositions(m, q.data(), samples.emplace_back(m.neutralPositions).data());
  }
  LoopScratch<double> scratch(viewOf<double>(m));
  for (std::size_t c = 0; c < m.tables.clusters.size(); ++c) {
    const ClusterEntry& cluster = m.tables.clusters[c];
    if (cluster.kind != ClusterKind::Implicit) {
      continue;
    }
    for (const std::vector<double>& positions : samples) {
      sampleRows(m, cluster, scratch, positions);
    }
    for (int r = cluster.firstRow; r < cluster.firstRow + cluster.kept; ++r) {
      row[r] = row[r] > 0.0 ? 1.0 / row[r] : 1.0;
    }
    for (const std::vector<double>& positions : samples) {
      sampleRatios(m, c, scratch, positions);
    }
    for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
      ratio[i] = std::isfinite(ratio[i]) ? std::max(ratio[i], 1.0) : 1.0;
    }
  }
}

void LoopScales::learn(const Model& model, const std::vector<double>& positions) {
  const ModelImpl& m = model.impl();
  LoopScratch<double> scratch(viewOf<double>(m));
  for (std::size_t c = 0; c < m.tables.clusters.size(); ++c) {
    const ClusterEntry& cluster = m.tables.clusters[c];
    if (cluster.kind != ClusterKind::Implicit) {
      continue;
    }
    std::vector<double> room = roomFor(cluster);
    ClusterState<double> state = scratch.state(positions.data() + cluster.firstPosition);
    placeCluster(viewOf<double>(m), cluster, state);
    loopJacobian(viewOf<double>(m), m.mechanism.functions, cluster, state, scratch.forFunctions(),
                 m.tables.rowSlots.data() + cluster.firstRow, cluster.kept,
                 scratch.K.data() + cluster.firstK);
    bool more = regularityOf(cluster, scratch.K.data(), room.data()) > kMuchMore * regularity[c];
    for (int r = 0; r < cluster.kept; ++r) {
      more = more || rowLength(cluster, scratch, r) * row[cluster.firstRow + r] > kMuchMore;
    }
    if (!more) {
      continue;
    }
    ++learned;
    for (int r = cluster.firstRow; r < cluster.firstRow + cluster.kept; ++r) {
      row[r] = 1.0 / row[r];
    }
    sampleRows(m, cluster, scratch, positions);
    for (int r = cluster.firstRow; r < cluster.firstRow + cluster.kept; ++r) {
      row[r] = 1.0 / row[r];
    }
    regularity[c] = 0.0;
    sampleRatios(m, c, scratch, positions);
    for (int i = cluster.firstVelocity; i < cluster.firstVelocity + cluster.velocities; ++i) {
      ratio[i] = std::max(ratio[i], 1.0);
    }
  }
}

/// The norm of each kept row at the sample where it is largest.
void LoopScales::sampleRows(const ModelImpl& m, const ClusterEntry& cluster,
                            LoopScratch<double>& scratch, const std::vector<double>& positions) {
  ClusterState<double> state = scratch.state(positions.data() + cluster.firstPosition);
  placeCluster(viewOf<double>(m), cluster, state);
  loopJacobian(viewOf<double>(m), m.mechanism.functions, cluster, state, scratch.forFunctions(),
               m.tables.rowSlots.data() + cluster.firstRow, cluster.kept,
               scratch.K.data() + cluster.firstK);
  for (int r = 0; r < cluster.kept; ++r) {
    row[cluster.firstRow + r] = std::max(row[cluster.firstRow + r], rowLength(cluster, scratch, r));
  }
}

double LoopScales::rowLength(const ClusterEntry& cluster, const LoopScratch<double>& scratch,
                             int r) const {
  double square = 0.0;
  for (int i = 0; i < cluster.velocities; ++i) {
    const double x =
        scratch.K[cluster.firstK + r * cluster.velocities + i] * length[cluster.firstVelocity + i];
    square += x * x;
  }
  return std::sqrt(square);
}

void LoopScales::sampleRatios(const ModelImpl& m, std::size_t c, LoopScratch<double>& scratch,
                              const std::vector<double>& positions) {
  const ClusterEntry& cluster = m.tables.clusters[c];
  ClusterState<double> state = scratch.state(positions.data() + cluster.firstPosition);
  placeCluster(viewOf<double>(m), cluster, state);
  std::vector<double> G(static_cast<std::size_t>(cluster.velocities * cluster.nv));
  std::vector<double> room = roomFor(cluster);
  const double pivots =
      clusterJacobian(viewOf<double>(m), m.mechanism.functions, cluster, state, scratch, G.data());
  regularity[c] = std::max(regularity[c], regularityOf(cluster, scratch.K.data(), room.data()));
  for (int i = 0; i < cluster.velocities && !isSingular(pivots); ++i) {
    double largest = 0.0;
    for (int j = 0; j < cluster.nv; ++j) {
      largest = std::max(
          largest, std::abs(scaled(cluster, G.data(), i, j, independentOf(m.tables, cluster)[j])));
    }
    double& usual = ratio[cluster.firstVelocity + i];
    usual = std::min(usual, largest);
  }
}

}  // namespace kempe::detail
