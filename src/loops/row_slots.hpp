#pragma once

namespace kempe::detail {

/// TableArrays::rowSlots of rows that are dropped.
struct DroppedRow {
  static constexpr int kImplied = -1;    ///< the rows that are kept imply it
  static constexpr int kVanishing = -2;  ///< zero at all positions, as across a planar linkage
};

}  // namespace kempe::detail
