#pragma once

#include "tables/tables.hpp"

/// Couplings among the loops of an implicit cluster: their rows of K are constant, so that c of the
/// dependent velocities follow from the other ones, z of them, and from the independent ones:
///
///   A_c q̇_c + A_z q̇_z + A_i ẏ = 0                                               (1)
///   q̇_c = B q̇_z + C ẏ,   P = A_c⁻¹,  B = −P A_z,  C = −P A_i                   (2)
///
/// The other rows N then determine q̇_z alone, and only they are factored:
///
///   (N_z + N_c B) q̇_z = −(N_i + N_c C) ẏ                                       (3)
///
/// Of such a cluster ModelTables::substituted has the velocities q̇_c and q̇_z, the places of both
/// in ModelTables::dependent, and the rows of K of the couplings and of the other rows: c and z
/// each. ModelTables::substitutions has P, B and C, row-major, and the smallest and the largest
/// pivot of A_c.
namespace kempe::detail {

/// The part of the tables that belongs to one cluster.
template <typename R>
struct Substitution {
  int c, z, m;
  const int* velocities;  ///< of q̇_c, then of q̇_z
  const int* places;      ///< likewise, among the dependent velocities
  const int* slots;       ///< of the couplings, then of the other rows
  const R *P, *B, *C;
  const R* pivots;  ///< smallest, largest

  KEMPE_HD Substitution(const TablesView<R>& tables, const ClusterEntry& cluster)
      : c(cluster.couplings),
        z(cluster.kept - cluster.couplings),
        m(cluster.nv),
        velocities(tables.substituted + cluster.firstSubstituted),
        places(velocities + listed(cluster)),
        slots(places + listed(cluster)),
        P(tables.substitutions + cluster.firstSubstitution),
        B(P + c * c),
        C(B + c * z),
        pivots(C + c * m) {}

 private:
  /// Length of each list; clusters without couplings have none.
  static KEMPE_HD int listed(const ClusterEntry& cluster) {
    return cluster.couplings > 0 ? cluster.kept : 0;
  }
};

/// Finds the substitutions of all implicit clusters, for their present choice of coordinates.
void substituteCouplings(ModelTables<double>& tables);

}  // namespace kempe::detail
