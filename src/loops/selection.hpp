#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

/// Which constraint rows to keep and which velocities to call independent, judged on constraint
/// Jacobians K at several closed configurations.
namespace kempe::detail {

/// Singular values below this fraction of the largest count as zero; wide, because files round.
inline constexpr double kRankTolerance = 1e-6;

struct RowSelection {
  int rank = 0;
  std::vector<int> slots;   ///< a row's place among the kept ones; −1: dropped
  Eigen::VectorXd weights;  ///< per row: brings metres, radians and ratios to one scale
  std::vector<Eigen::MatrixXd> regular;  ///< kept, weighted rows at the samples of full rank

  /// The kept rows, weighted.
  [[nodiscard]] Eigen::MatrixXd kept(const Eigen::MatrixXd& K) const;
  /// Smallest over largest singular value of some columns of the kept rows; 1 where there are none.
  [[nodiscard]] double conditioning(const Eigen::MatrixXd& K,
                                    const std::vector<int>& columns) const;
};

/// The numbers below `size` that are not among `some`, which ascend.
std::vector<int> complement(const std::vector<int>& some, int size);

/// The generic rank, and as many rows as that, chosen to be as independent as they can be.
RowSelection selectRows(const std::vector<Eigen::MatrixXd>& jacobians);

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
