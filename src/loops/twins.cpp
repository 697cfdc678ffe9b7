#include "loops/twins.hpp"

#include <algorithm>
#include <vector>

namespace kempe::detail {
namespace {

/// Whether a cluster is one of those that have twins: small, with loops along coordinates that
/// programs evaluate, and up to two rows to factor.
bool isCandidate(const ModelTables<double>& tables, const ClusterEntry& cluster) {
  const int rows = cluster.kept - cluster.couplings;
  if (cluster.kind != ClusterKind::Implicit || !cluster.plainJoints || cluster.bodyLoops ||
      cluster.wide || rows < 1 || rows > 2 || cluster.nv < 1 ||
      cluster.velocities > kMostTwinVelocities ||
      cluster.velocities * cluster.nv > kMostTwinRatios) {
    return false;
  }
  const auto first = tables.loops.begin() + cluster.firstLoop;
  return std::all_of(first, first + cluster.loops, [](const LoopEntry<double>& loop) {
    return loop.form.kind == RowKind::Coupling || loop.programs.exist();
  });
}

template <typename Entry, typename Equal>
bool areEqual(const std::vector<Entry>& array, int a, int b, int count, const Equal& equal) {
  return std::equal(array.begin() + a, array.begin() + a + count, array.begin() + b, equal);
}
template <typename Entry>
bool areEqual(const std::vector<Entry>& array, int a, int b, int count) {
  return areEqual(array, a, b, count, std::equal_to<Entry>{});
}

bool areEqual(const ModelTables<double>& tables, const ProgramEntry& a, const ProgramEntry& b) {
  return a.steps == b.steps && a.arguments == b.arguments && a.results == b.results &&
         areEqual(tables.programSteps, a.first, b.first, a.steps,
                  [](const ProgramStep<double>& x, const ProgramStep<double>& y) {
                    return x.instruction == y.instruction && x.operation == y.operation &&
                           std::ranges::equal(x.operands, y.operands) && x.together == y.together &&
                           x.angles == y.angles && x.constant == y.constant;
                  });
}

bool areEqual(const ModelTables<double>& tables, const LoopEntry<double>& a,
              const LoopEntry<double>& b) {
  return a.form.kind == b.form.kind && a.firstRow == b.firstRow && a.rows == b.rows &&
         a.terms == b.terms &&
         areEqual(tables.terms, a.firstTerm, b.firstTerm, a.terms,
                  [](const LoopTerm<double>& x, const LoopTerm<double>& y) {
                    return x.position == y.position && x.velocity == y.velocity &&
                           x.coefficient == y.coefficient;
                  }) &&
         areEqual(tables, a.programs.slopes, b.programs.slopes) &&
         areEqual(tables, a.programs.secondRate, b.programs.secondRate);
}

/// Whether the loops of two candidates are equal.
bool areTwins(const ModelTables<double>& tables, const ClusterEntry& a, const ClusterEntry& b) {
  if (a.velocities != b.velocities || a.positions != b.positions || a.nv != b.nv ||
      a.rows != b.rows || a.kept != b.kept || a.couplings != b.couplings || a.loops != b.loops) {
    return false;
  }
  const int c = a.couplings, numbers = c * a.velocities + 2;  // P, B, C and pivots
  return areEqual(tables.rowSlots, a.firstRow, b.firstRow, a.rows) &&
         areEqual(tables.independent, a.firstIndependent, b.firstIndependent, a.nv) &&
         areEqual(tables.dependent, a.firstDependent, b.firstDependent, a.kept) &&
         (c == 0 ||
          (areEqual(tables.substituted, a.firstSubstituted, b.firstSubstituted, 3 * a.kept) &&
           areEqual(tables.substitutions, a.firstSubstitution, b.firstSubstitution, numbers))) &&
         areEqual(tables.loops, a.firstLoop, b.firstLoop, a.loops,
                  [&](const LoopEntry<double>& x, const LoopEntry<double>& y) {
                    return areEqual(tables, x, y);
                  });
}

}  // namespace

void findTwins(ModelTables<double>& tables) {
  std::vector<int> depth;
  for (ClusterEntry& cluster : tables.clusters) {
    cluster.twin = -1;
    depth.push_back(cluster.output == kWorld ? 0
                                             : depth[tables.bodies[cluster.output].cluster] + 1);
  }
  for (std::size_t a = 0; a < tables.clusters.size(); ++a) {
    ClusterEntry& first = tables.clusters[a];
    if (first.twin >= 0 || !isCandidate(tables, first)) {
      continue;
    }
    for (std::size_t b = a + 1; b < tables.clusters.size(); ++b) {
      ClusterEntry& second = tables.clusters[b];
      if (second.twin < 0 && depth[a] == depth[b] && isCandidate(tables, second) &&
          areTwins(tables, first, second)) {
        first.twin = static_cast<int>(b);
        second.twin = static_cast<int>(a);
        break;
      }
    }
  }
}

}  // namespace kempe::detail
