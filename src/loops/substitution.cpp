#include "loops/substitution.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <vector>

#include "loops/coordinate_rows.hpp"

namespace kempe::detail {
namespace {

/// Couplings that determine velocities worse than this are solved with the other rows.
constexpr double kLeastPivot = 1e-6;

/// Columns of A that determine the others, one for each row: those that pivoting of rows and columns
/// chooses. None where the rows are close to dependent.
std::vector<int> pivotColumns(Eigen::MatrixXd A) {
  for (Eigen::Index r = 0; r < A.rows(); ++r) {
    const double largest = A.row(r).cwiseAbs().maxCoeff();
    A.row(r) /= largest > 0.0 ? largest : 1.0;
  }
  std::vector<int> columns;
  for (Eigen::Index k = 0; k < A.rows(); ++k) {
    Eigen::Index row = 0, column = 0;
    const double pivot = A.bottomRows(A.rows() - k).cwiseAbs().maxCoeff(&row, &column);
    if (!(pivot > kLeastPivot)) {
      return {};
    }
    A.row(k).swap(A.row(k + row));
    for (Eigen::Index i = k + 1; i < A.rows(); ++i) {
      A.row(i) -= (A(i, column) / A(k, column)) * A.row(k);
      A(i, column) = 0.0;
    }
    columns.push_back(static_cast<int>(column));
  }
  return columns;
}

void substitute(ModelTables<double>& tables, ClusterEntry& cluster) {
  const int d = cluster.kept;
  const int* dependent = tables.dependent.data() + cluster.firstDependent;
  std::vector<int> slots;
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(d, cluster.velocities);
  for (int l = cluster.firstLoop; l < cluster.firstLoop + cluster.loops; ++l) {
    const LoopEntry<double>& loop = tables.loops[l];
    const int slot = tables.rowSlots[cluster.firstRow + loop.firstRow];
    if (loop.form.kind == RowKind::Coupling && slot >= 0) {
      slots.push_back(slot);
      forCouplingSlopes<double>(
          tables, loop, [&](int /*t*/, int velocity, double slope) { K(slot, velocity) += slope; });
    }
  }
  const std::vector<int> dependents(dependent, dependent + d);
  const Eigen::MatrixXd A = K(slots, Eigen::all);
  std::vector<int> places = pivotColumns(A(Eigen::all, dependents));
  if (places.empty()) {
    return;
  }
  cluster.couplings = static_cast<int>(slots.size());
  cluster.firstSubstituted = static_cast<int>(tables.substituted.size());
  cluster.firstSubstitution = static_cast<int>(tables.substitutions.size());
  const auto complete = [d](std::vector<int>& list) {
    for (int i = 0; i < d; ++i) {
      if (std::ranges::find(list, i) == list.end()) {
        list.push_back(i);
      }
    }
  };
  complete(places);
  complete(slots);
  std::vector<int> velocities;
  velocities.reserve(places.size());
  for (const int place : places) {
    velocities.push_back(dependent[place]);
  }
  for (const std::vector<int>& list : {velocities, places, slots}) {
    tables.substituted.insert(tables.substituted.end(), list.begin(), list.end());
  }

  const Eigen::Index c = cluster.couplings;
  const std::vector<int> own(velocities.begin(), velocities.begin() + c);
  const std::vector<int> others(velocities.begin() + c, velocities.end());
  const int* independent = tables.independent.data() + cluster.firstIndependent;
  const std::vector<int> independents(independent, independent + cluster.nv);
  const Eigen::PartialPivLU<Eigen::MatrixXd> lu(A(Eigen::all, own));
  const auto append = [&](const Eigen::MatrixXd& matrix) {
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
        tables.substitutions.push_back(matrix(i, j));
      }
    }
  };
  append(lu.inverse());                            // P
  append(-lu.solve(A(Eigen::all, others)));        // B
  append(-lu.solve(A(Eigen::all, independents)));  // C
  const Eigen::VectorXd pivots = lu.matrixLU().diagonal().cwiseAbs();
  tables.substitutions.push_back(pivots.minCoeff());
  tables.substitutions.push_back(pivots.maxCoeff());
}

}  // namespace

void substituteCouplings(ModelTables<double>& tables) {
  tables.substituted.clear();
  tables.substitutions.clear();
  for (ClusterEntry& cluster : tables.clusters) {
    cluster.couplings = cluster.firstSubstituted = cluster.firstSubstitution = 0;
    if (cluster.kind == ClusterKind::Implicit) {
      substitute(tables, cluster);
    }
  }
}

}  // namespace kempe::detail
