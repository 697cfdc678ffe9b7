#include "loops/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>

/// Which constraint rows are kept, and why the others are not.
namespace kempe::detail {
namespace {

TEST(SelectRows, TellsRowsThatVanishFromThoseThatOthersImply) {
  Eigen::MatrixXd first(5, 3), second(5, 3);
  first << 1, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 1e-15;
  second << 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 2, 2, 1e-15, 0, 0;
  std::vector<RowSample> samples(2);
  samples[0].K = first;
  samples[1].K = second;
  const RowSelection rows = selectRows(samples);
  EXPECT_EQ(rows.rank, 2);
  EXPECT_EQ(rows.slots[1], DroppedRow::kVanishing);
  EXPECT_EQ(rows.slots[4], DroppedRow::kVanishing);
  EXPECT_GE(rows.slots[2], 0);
  EXPECT_EQ(std::min(rows.slots[0], rows.slots[3]), DroppedRow::kImplied);
  EXPECT_GE(std::max(rows.slots[0], rows.slots[3]), 0);
}

/// A row may be zero at one position alone, or small by the rounded figures of a file.
TEST(SelectRows, CountsNoRowAsVanishingThatIsNot) {
  Eigen::MatrixXd first(3, 2), second(3, 2);
  first << 1, 0, 0, 0, 1e-12, 0;
  second << 1, 0, 0.5, 0, 1e-12, 0;
  std::vector<RowSample> samples(2);
  samples[0].K = first;
  samples[1].K = second;
  const RowSelection rows = selectRows(samples);
  EXPECT_EQ(rows.rank, 1);
  EXPECT_EQ(rows.slots, (std::vector<int>{0, DroppedRow::kImplied, DroppedRow::kImplied}));
}

}  // namespace
}  // namespace kempe::detail
