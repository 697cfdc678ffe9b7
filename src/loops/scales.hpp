#pragma once

#include "loops/scratch.hpp"

/// Units in which the loops of a cluster are closed and their ranks decided, so that neither
/// depends on the size of the mechanism, on metres beside radians, or on gear ratios.
///
///   velocity   rotation 1 rad, translation the cluster's reach, mode a tenth of its modalUnit(): to
///              close, loops turn joints rather than bend bodies; a coordinate that occurs only in
///              couplings: such that its weight in them equals that of the others
///   row        offsets and rods 1 / reach, alignments 1, couplings and functions 1 / norm of their
///              slopes in the units of the velocities
namespace kempe::detail {

/// Whether a velocity of a joint is a length per time.
bool slides(JointType type, int velocity);

/// The flexible body of a part that is one of its modes.
const FlexibleEntry& flexibleOfMode(const ModelTables<double>& tables, int part);

/// A modal coordinate that, to first order, displaces a node by the size of the body or turns one by
/// a radian.
double modalUnit(const ModelTables<double>& tables, const FlexibleEntry& flexible, int mode);

/// The largest extent of a cluster. 1 if it has none.
double clusterReach(const ModelTables<double>& tables, const ClusterEntry& cluster);

/// Fills in rowScales and velocityScales of a cluster. The slopes of functions are measured at
/// `positions`, each a list of the cluster's positions.
void setScales(ModelTables<double>& tables, const Functions& functions, const ClusterEntry& cluster,
               LoopScratch<double>& scratch, const std::vector<std::vector<double>>& positions);

}  // namespace kempe::detail
