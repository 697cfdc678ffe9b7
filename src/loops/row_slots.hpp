#pragma once

/// TableArrays::rowSlots of rows that are dropped.
namespace kempe::detail {

inline constexpr int kImplied = -1;    ///< the rows that are kept imply it
inline constexpr int kVanishing = -2;  ///< zero at all positions, as across a planar linkage

}  // namespace kempe::detail
