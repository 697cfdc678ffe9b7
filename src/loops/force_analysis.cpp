#include "loops/force_analysis.hpp"

#include "loops/decompositions.hpp"

namespace kempe::detail {
namespace {

/// Shares of a balanced set of multipliers below this are rounding, of files too.
constexpr double kShare = 1e-5;

}  // namespace

std::vector<bool> uniqueForces(const ModelTables<double>& tables, const ClusterEntry& cluster,
                               const RowSelection& rows, const std::vector<RowSample>& samples) {
  std::vector<bool> unique(static_cast<std::size_t>(cluster.loops), true);
  if (rows.rank == cluster.rows) {
    return unique;
  }
  for (const RowSample& sample : samples) {
    const auto [values, U] = firstLeftSingularVectors(sample.K);
    if (rankOf(values, sample.gap) != rows.rank) {
      continue;  // a singular configuration, where more is undetermined than elsewhere
    }
    // Rows of a square U have length 1, and its last columns are the balanced sets: their share of
    // a row is what the first columns leave.
    const Eigen::VectorXd balanced =
        (1.0 - U.leftCols(rows.rank).rowwise().squaredNorm().array()).max(0.0).sqrt();
    for (int l = 0; l < cluster.loops; ++l) {
      const LoopEntry<double>& loop = tables.loops[cluster.firstLoop + l];
      if (balanced.segment(loop.firstRow, loop.rows).maxCoeff() > kShare) {
        unique[static_cast<std::size_t>(l)] = false;
      }
    }
  }
  return unique;
}

std::vector<double> couplingForces(const ModelTables<double>& tables, const ClusterEntry& cluster,
                                   const Eigen::MatrixXd& K, const std::vector<int>& dependent) {
  const auto d = static_cast<Eigen::Index>(dependent.size());
  if (d == 0) {
    return {};
  }
  const Eigen::MatrixXd scaled = K.rowwise().normalized();
  const Eigen::MatrixXd ofDependent = scaled(Eigen::all, dependent);
  const Eigen::MatrixXd multipliers = pseudoInverse(ofDependent.transpose());
  std::vector<double> forces;
  for (int l = 0; l < cluster.loops; ++l) {
    const LoopEntry<double>& loop = tables.loops[cluster.firstLoop + l];
    for (int t = 0; t < loop.terms; ++t) {
      const int column = tables.terms[static_cast<std::size_t>(loop.firstTerm + t)].velocity;
      for (Eigen::Index j = 0; j < d; ++j) {
        forces.push_back(scaled(loop.firstRow, column) * multipliers(loop.firstRow, j));
      }
    }
  }
  return forces;
}

}  // namespace kempe::detail
