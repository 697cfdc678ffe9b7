#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "loops/row_slots.hpp"

/// Which constraint rows to keep and which velocities to call independent, judged on scaled
/// constraint Jacobians K at several closed configurations.
namespace kempe::detail {

/// The rank of scaled rows (see scales.hpp), judged by their singular values, which descend.
/// `gap` is by how much the loops stay open, in the same units, when all rows are to close:
/// redundant rows of a file with rounded figures cannot close better, and their singular values are
/// then of that order instead of zero. Values count down to where they
///
///   (1) fall below 1e-8, which is zero,
///   (2) fall below 3e-5 by a factor of 100 or more: no mechanism has such a pair, six digits do,
///   or (3) fall by a factor of 30 or more to below 30 times the gap, which the gap explains.
int rankOf(const Eigen::VectorXd& singularValues, double gap);

/// Scaled rows K at a closed configuration, and the gap that is left there.
struct RowSample {
  Eigen::MatrixXd K;
  double gap = 0.0;
};

struct RowSelection {
  int rank = 0;
  std::vector<int> slots;  ///< a row's place among the kept ones, or see row_slots.hpp
  std::vector<Eigen::MatrixXd> regular;  ///< kept rows at the samples of full rank
  /// The largest singular value that was treated as zero (0 if there is none), and the smallest one
  /// that was kept at the same sample.
  double largestDropped = 0.0, smallestKept = 0.0;

  [[nodiscard]] Eigen::MatrixXd kept(const Eigen::MatrixXd& K) const;
  /// Smallest over largest singular value of some columns of the kept rows; 1 where there are none.
  [[nodiscard]] double conditioning(const Eigen::MatrixXd& K,
                                    const std::vector<int>& columns) const;
};

/// The numbers below `size` that are not among `some`, which ascend.
std::vector<int> complement(const std::vector<int>& some, int size);

/// The generic rank, the largest over the samples, and as many rows, chosen to be as independent as
/// they can be.
RowSelection selectRows(const std::vector<RowSample>& samples);

/// A person's wish for a velocity.
enum class Wish : std::uint8_t { Independent, Unset, Dependent };

struct ColumnSelection {
  enum class Origin { AsMarked, Inadmissible, Chosen };
  std::vector<int> independent, dependent;  ///< ascending
  Origin origin = Origin::AsMarked;
};

/// The set that is marked, where it has `freedoms` members and determines the other velocities;
/// otherwise one that does, keeping to the wishes as far as conditioning allows.
ColumnSelection selectIndependent(const RowSelection& rows, int freedoms,
                                  const std::vector<Wish>& wishes);

}  // namespace kempe::detail
