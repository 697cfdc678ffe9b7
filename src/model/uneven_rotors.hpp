#pragma once

#include "tables/tables.hpp"

namespace kempe::detail {

/// A joint with one direction, which is its axis.
constexpr bool hasOneAxis(JointType type) {
  return type == JointType::Revolute || type == JointType::Continuous ||
         type == JointType::Prismatic;
}

/// Ratio of a DoF in a cluster with one independent velocity.
inline double ratioOf(const ModelTables<double>& tables, const ClusterEntry& cluster,
                      int velocity) {
  return cluster.kind == ClusterKind::Tree
             ? 1.0
             : tables.G[cluster.firstG + velocity - cluster.firstVelocity];
}

/// Position of a joint in such a cluster where the independent one is zero.
inline double offsetOf(const ModelTables<double>& tables, const ClusterEntry& cluster,
                       int velocity) {
  return cluster.kind == ClusterKind::Tree
             ? 0.0
             : tables.offset[cluster.firstOffset + velocity - cluster.firstVelocity];
}

/// Appends the rotors of a cluster with couplings to the tables and sets its `moving`, if it
/// consists of a link and rotors of kernels/uneven_rotors.hpp; returns whether it does.
bool listUnevenRotors(ModelTables<double>& tables, ClusterEntry& cluster);

/// The inertias of all bodies with the constant part of the rotors that are listed.
void mergeUnevenRotors(ModelTables<double>& tables);

}  // namespace kempe::detail
