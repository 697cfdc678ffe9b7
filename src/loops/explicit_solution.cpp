#include "loops/explicit_solution.hpp"

#include "kempe/errors.hpp"
#include "loops/decompositions.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

Eigen::VectorXd couplingOffsets(const ClusterProblem& problem) {
  Eigen::VectorXd b(problem.cluster.rows);
  for (int l = 0; l < problem.cluster.loops; ++l) {
    const LoopEntry<double>& loop = problem.tables.loops[problem.cluster.firstLoop + l];
    b[loop.firstRow] = loop.form.offset;
  }
  return b;
}

}  // namespace

void requireAgreement(const ClusterProblem& problem, const Eigen::MatrixXd& K) {
  const ClusterEntry& cluster = problem.cluster;
  const Eigen::VectorXd offsets = couplingOffsets(problem);
  const auto mismatch = [&](int rows) {  // of the first couplings; 0 where it is rounding
    const Eigen::MatrixXd A = K.topRows(rows);
    const Eigen::VectorXd b = offsets.head(rows);
    const double gap = (A * leastNormSolution(A, b) - b).cwiseAbs().maxCoeff();
    return gap > 1e-9 * (1.0 + b.cwiseAbs().maxCoeff()) ? gap : 0.0;
  };
  if (mismatch(cluster.rows) == 0.0) {
    return;
  }
  int agree = 0, contradict = cluster.rows;  // so many couplings; more never agree better
  while (contradict - agree > 1) {
    const int middle = (agree + contradict) / 2;
    (mismatch(middle) == 0.0 ? agree : contradict) = middle;
  }
  throw ModelError(problem.rowNames[contradict - 1] +
                   ": it contradicts the couplings before it (the mismatch is " +
                   shortNumber(mismatch(contradict)) +
                   "). Correct its ratios or offset, or remove it.");
}

void writeExplicitSolution(const ClusterProblem& problem, const RowSelection& rows,
                           const Eigen::MatrixXd& allRows, const std::vector<double>& start,
                           ClusterSolution& solution) {
  const int n = problem.cluster.velocities, m = static_cast<int>(solution.independent.size());
  const Eigen::MatrixXd K = rows.kept(allRows);
  const Eigen::VectorXd b = rows.kept(couplingOffsets(problem));
  Eigen::MatrixXd dependent(n - m, n - m), independent(n - m, m);
  for (int j = 0; j < n - m; ++j) {
    dependent.col(j) = K.col(solution.dependent[j]);
  }
  for (int j = 0; j < m; ++j) {
    independent.col(j) = K.col(solution.independent[j]);
  }
  const Eigen::MatrixXd ratio = -solved(dependent, independent);
  const Eigen::VectorXd shift = solved(dependent, b);
  solution.G.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(m), 0.0);
  solution.offset.assign(static_cast<std::size_t>(n), 0.0);
  for (int j = 0; j < m; ++j) {
    solution.G[solution.independent[j] * m + j] = 1.0;
  }
  for (int i = 0; i < n - m; ++i) {
    const int row = solution.dependent[i];
    solution.offset[row] = shift[i];
    for (int j = 0; j < m; ++j) {
      solution.G[row * m + j] = ratio(i, j);
    }
  }
  solution.neutral = solution.offset;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      solution.neutral[i] += solution.G[i * m + j] * start[solution.independent[j]];
    }
  }
}

}  // namespace kempe::detail
