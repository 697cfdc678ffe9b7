#include "loops/selection.hpp"

#include <algorithm>

#include "loops/decompositions.hpp"

namespace kempe::detail {
namespace {

/// A marked set must be at least this well conditioned at half of the samples.
constexpr double kAdmissible = 1e-5;
/// Wishes are followed as long as the pivot is at least this fraction of the best one.
constexpr double kWishPivot = 1e-2;

double smallestSingularValue(const Eigen::MatrixXd& A) {
  return A.size() == 0 ? 1.0 : singularValues(A).minCoeff();
}

int rankOf(const Eigen::MatrixXd& A) {
  if (A.size() == 0) {
    return 0;
  }
  const Eigen::VectorXd values = singularValues(A);
  return static_cast<int>((values.array() > kRankTolerance * values.maxCoeff()).count());
}

Eigen::MatrixXd selectedRows(const Eigen::MatrixXd& A, const std::vector<int>& rows) {
  return A(rows, Eigen::all);
}

Eigen::MatrixXd selectedColumns(const Eigen::MatrixXd& A, const std::vector<int>& columns) {
  return A(Eigen::all, columns);
}

/// 1 / largest norm of each row over the samples; rows that vanish in all of them weigh nothing.
Eigen::VectorXd rowWeights(const std::vector<Eigen::MatrixXd>& jacobians) {
  Eigen::VectorXd norms = Eigen::VectorXd::Zero(jacobians.front().rows());
  for (const Eigen::MatrixXd& K : jacobians) {
    norms = norms.cwiseMax(K.rowwise().norm());
  }
  const double largest = norms.size() == 0 ? 0.0 : norms.maxCoeff();
  return norms.unaryExpr([&](double x) { return x > kRankTolerance * largest ? 1.0 / x : 0.0; });
}

/// The value in the middle of a sorted list.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Picks `count` columns that are as independent as they can be: in each round the one with the
/// most left after projecting out those picked before. Velocities wished dependent go first.
std::vector<int> pickDependent(const Eigen::MatrixXd& K, int count,
                               const std::vector<Wish>& wishes) {
  Eigen::MatrixXd rest = K;
  std::vector<int> picked;
  while (static_cast<int>(picked.size()) < count) {
    const Eigen::VectorXd left = rest.colwise().norm();
    int best = -1;
    for (const Wish wish : {Wish::Dependent, Wish::Unset, Wish::Independent}) {
      for (int j = 0; j < left.size(); ++j) {
        const bool eligible = wishes[static_cast<std::size_t>(j)] == wish &&
                              left[j] >= kWishPivot * left.maxCoeff() && left[j] > 0.0;
        if (eligible && (best < 0 || left[j] > left[best])) {
          best = j;
        }
      }
      if (best >= 0) {
        break;
      }
    }
    if (best < 0) {
      break;
    }
    picked.push_back(best);
    const Eigen::VectorXd direction = rest.col(best).normalized();
    rest -= direction * (direction.transpose() * rest).eval();
    for (const int j : picked) {
      rest.col(j).setZero();
    }
  }
  std::ranges::sort(picked);
  return picked;
}

std::vector<int> withWish(const std::vector<Wish>& wishes, auto accepts) {
  std::vector<int> list;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    if (accepts(wishes[i])) {
      list.push_back(static_cast<int>(i));
    }
  }
  return list;
}

}  // namespace

std::vector<int> complement(const std::vector<int>& some, int size) {
  std::vector<int> others;
  for (int i = 0; i < size; ++i) {
    if (!std::ranges::binary_search(some, i)) {
      others.push_back(i);
    }
  }
  return others;
}

Eigen::MatrixXd RowSelection::kept(const Eigen::MatrixXd& K) const {
  Eigen::MatrixXd result(rank, K.cols());
  for (std::size_t r = 0; r < slots.size(); ++r) {
    if (slots[r] >= 0) {
      const auto row = static_cast<Eigen::Index>(r);
      result.row(slots[r]) = weights[row] * K.row(row);
    }
  }
  return result;
}

double RowSelection::conditioning(const Eigen::MatrixXd& K, const std::vector<int>& columns) const {
  if (columns.empty()) {
    return 1.0;
  }
  const Eigen::VectorXd values = singularValues(selectedColumns(kept(K), columns));
  return values.maxCoeff() > 0.0 ? values.minCoeff() / values.maxCoeff() : 0.0;
}

RowSelection selectRows(const std::vector<Eigen::MatrixXd>& jacobians) {
  RowSelection selection;
  selection.weights = rowWeights(jacobians);
  const int rows = static_cast<int>(selection.weights.size());
  selection.slots.assign(static_cast<std::size_t>(rows), -1);

  std::vector<Eigen::MatrixXd> weighted;
  std::vector<int> ranks;
  for (const Eigen::MatrixXd& K : jacobians) {
    weighted.emplace_back(selection.weights.asDiagonal() * K);
    ranks.push_back(rankOf(weighted.back()));
    selection.rank = std::max(selection.rank, ranks.back());
  }
  for (std::size_t i = 0; i < weighted.size(); ++i) {
    if (ranks[i] == selection.rank) {
      selection.regular.push_back(weighted[i]);
    }
  }

  // Each regular sample proposes rows; the proposal that is best at its worst sample wins.
  const std::vector<Wish> noWish(static_cast<std::size_t>(rows), Wish::Unset);
  std::vector<int> best;
  double bestScore = -1.0;
  for (const Eigen::MatrixXd& proposer : selection.regular) {
    const std::vector<int> proposal = pickDependent(proposer.transpose(), selection.rank, noWish);
    double score = 1e300;
    for (const Eigen::MatrixXd& K : selection.regular) {
      score = std::min(score, smallestSingularValue(selectedRows(K, proposal)));
    }
    if (static_cast<int>(proposal.size()) == selection.rank && score > bestScore) {
      bestScore = score;
      best = proposal;
    }
  }
  for (std::size_t slot = 0; slot < best.size(); ++slot) {
    selection.slots[static_cast<std::size_t>(best[slot])] = static_cast<int>(slot);
  }
  for (Eigen::MatrixXd& K : selection.regular) {
    K = selectedRows(K, best);
  }
  return selection;
}

ColumnSelection selectIndependent(const RowSelection& rows, int freedoms,
                                  const std::vector<Wish>& wishes) {
  const int n = static_cast<int>(wishes.size());
  const auto score = [&](const std::vector<int>& dependent) {
    std::vector<double> values;
    for (const Eigen::MatrixXd& K : rows.regular) {
      values.push_back(smallestSingularValue(selectedColumns(K, dependent)));
    }
    return median(values);
  };

  // What is marked: all that is not marked dependent (unset means yes), or what is marked true.
  ColumnSelection selection;
  const std::vector<int> notRefused =
      withWish(wishes, [](Wish wish) { return wish != Wish::Dependent; });
  const std::vector<int> asked =
      withWish(wishes, [](Wish wish) { return wish == Wish::Independent; });
  bool marked = false;
  for (const std::vector<int>& wanted : {notRefused, asked}) {
    if (static_cast<int>(wanted.size()) == freedoms) {
      marked = true;
      const std::vector<int> dependent = complement(wanted, n);
      if (score(dependent) > kAdmissible) {
        return {wanted, dependent, ColumnSelection::Origin::AsMarked};
      }
    }
  }

  selection.origin =
      marked ? ColumnSelection::Origin::Inadmissible : ColumnSelection::Origin::Chosen;
  double bestScore = -1.0;
  for (const Eigen::MatrixXd& K : rows.regular) {
    const std::vector<int> dependent = pickDependent(K, rows.rank, wishes);
    if (static_cast<int>(dependent.size()) == rows.rank && score(dependent) > bestScore) {
      bestScore = score(dependent);
      selection.dependent = dependent;
    }
  }
  selection.independent = complement(selection.dependent, n);
  return selection;
}

}  // namespace kempe::detail
