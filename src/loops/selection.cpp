#include "loops/selection.hpp"

#include <algorithm>
#include <set>

#include "loops/decompositions.hpp"

namespace kempe::detail {
namespace {

/// Bounds of rankOf().
constexpr double kZero = 1e-8;
constexpr double kSixDigits = 3e-5;
constexpr double kExplained = 30.0;
/// Scaled rows below this are zero, but for rounding.
constexpr double kRounded = 1e-13;
/// A marked set must be at least this well conditioned at half of the samples, or nearly as well as
/// any other set.
constexpr double kAdmissible = 1e-5;
constexpr double kNearlyAdmissible = 1e-2;
/// Wishes are followed as long as the pivot is at least this fraction of the best one.
constexpr double kWishPivot = 1e-2;

double smallestSingularValue(const Eigen::MatrixXd& A) {
  return A.size() == 0 ? 1.0 : singularValues(A).minCoeff();
}

Eigen::MatrixXd selectedRows(const Eigen::MatrixXd& A, const std::vector<int>& rows) {
  return A(rows, Eigen::all);
}

Eigen::MatrixXd selectedColumns(const Eigen::MatrixXd& A, const std::vector<int>& columns) {
  return A(Eigen::all, columns);
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
    const double least = kWishPivot * left.maxCoeff();
    int best = -1;
    for (const Wish wish : {Wish::Dependent, Wish::Unset, Wish::Independent}) {
      for (int j = 0; j < left.size(); ++j) {
        const bool eligible =
            wishes[static_cast<std::size_t>(j)] == wish && left[j] >= least && left[j] > 0.0;
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
    rest.col(best).setZero();  // and stays zero
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
      result.row(slots[r]) = K.row(row);
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

int rankOf(const Eigen::VectorXd& singularValues, double gap) {
  const double largest = singularValues.size() == 0 ? 0.0 : singularValues[0];
  for (Eigen::Index i = 0; i < singularValues.size(); ++i) {
    const double value = singularValues[i];
    const double before = i == 0 ? std::max(largest, 1.0) : singularValues[i - 1];
    if (value <= kZero * std::max(largest, 1.0) ||                // (1)
        (value <= kSixDigits && before >= 100.0 * value) ||       // (2)
        (value <= kExplained * gap && before >= 30.0 * value)) {  // (3)
      return static_cast<int>(i);
    }
  }
  return static_cast<int>(singularValues.size());
}

RowSelection selectRows(const std::vector<RowSample>& samples) {
  RowSelection selection;
  const auto rows = static_cast<std::size_t>(samples.front().K.rows());
  selection.slots.assign(rows, DroppedRow::kImplied);

  std::vector<int> ranks;
  for (const RowSample& sample : samples) {
    const Eigen::VectorXd values =
        sample.K.size() == 0 ? Eigen::VectorXd() : singularValues(sample.K);
    ranks.push_back(rankOf(values, sample.gap));
    const int rank = ranks.back();
    const double dropped = rank < values.size() ? values[rank] : 0.0;
    const bool more = rank > selection.rank;
    if (more || (rank == selection.rank && dropped > selection.largestDropped)) {
      selection.rank = rank;
      selection.largestDropped = dropped > 1e-9 ? dropped : 0.0;
      selection.smallestKept = rank > 0 ? values[rank - 1] : 0.0;
    }
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (ranks[i] == selection.rank) {
      selection.regular.push_back(samples[i].K);
    }
  }

  // Each regular sample proposes rows; the proposal that is best at its worst sample wins.
  const std::vector<Wish> noWish(rows, Wish::Unset);
  std::vector<int> best;
  std::set<std::vector<int>> proposals;
  double bestScore = -1.0;
  for (const Eigen::MatrixXd& proposer : selection.regular) {
    const std::vector<int> proposal = pickDependent(proposer.transpose(), selection.rank, noWish);
    if (!proposals.insert(proposal).second) {
      continue;
    }
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
  for (std::size_t r = 0; r < rows; ++r) {
    const bool vanishes = std::ranges::all_of(samples, [r](const RowSample& sample) {
      const auto row = sample.K.row(static_cast<Eigen::Index>(r));
      return row.size() == 0 || row.cwiseAbs().maxCoeff() <= kRounded;
    });
    if (vanishes && selection.slots[r] < 0) {
      selection.slots[r] = DroppedRow::kVanishing;
    }
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

  // Chosen for conditioning, taking the marks into account.
  ColumnSelection selection{{}, {}, ColumnSelection::Origin::Chosen};
  std::set<std::vector<int>> proposals;
  double bestScore = -1.0;
  for (const Eigen::MatrixXd& K : rows.regular) {
    const std::vector<int> dependent = pickDependent(K, rows.rank, wishes);
    if (static_cast<int>(dependent.size()) != rows.rank || !proposals.insert(dependent).second) {
      continue;
    }
    const double proposed = score(dependent);
    if (proposed > bestScore) {
      bestScore = proposed;
      selection.dependent = dependent;
    }
  }
  selection.independent = complement(selection.dependent, n);

  // As marked: all that are not marked dependent (unset means yes), or those marked true.
  const std::vector<int> notRefused =
      withWish(wishes, [](Wish wish) { return wish != Wish::Dependent; });
  const std::vector<int> asked =
      withWish(wishes, [](Wish wish) { return wish == Wish::Independent; });
  const double admissible = std::min(kAdmissible, kNearlyAdmissible * bestScore);
  for (const std::vector<int>& wanted : {notRefused, asked}) {
    if (static_cast<int>(wanted.size()) == freedoms) {
      const std::vector<int> dependent = complement(wanted, n);
      if (score(dependent) > admissible) {
        return {wanted, dependent, ColumnSelection::Origin::AsMarked};
      }
      selection.origin = ColumnSelection::Origin::Inadmissible;
    }
  }
  return selection;
}

}  // namespace kempe::detail
