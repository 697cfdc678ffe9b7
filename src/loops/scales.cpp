#include "loops/scales.hpp"

#include <algorithm>
#include <cmath>

#include "loops/coordinate_rows.hpp"

namespace kempe::detail {
namespace {

constexpr double kBending = 0.1;

/// Units of coordinates that occur only in couplings follow from those of the others.
void followCouplings(const ModelTables<double>& tables, const ClusterEntry& cluster,
                     double* units) {
  std::vector<char> known(static_cast<std::size_t>(cluster.velocities), 0);
  std::vector<const LoopEntry<double>*> couplings;
  for (int l = 0; l < cluster.loops; ++l) {
    const LoopEntry<double>& loop = tables.loops[cluster.firstLoop + l];
    for (int c = 0; c < loop.columns; ++c) {
      known[tables.columns[loop.firstColumn + c].velocity] = 1;
    }
    if (isLinear(loop.form.kind)) {
      couplings.push_back(&loop);
      continue;
    }
    for (int t = 0; t < loop.terms; ++t) {
      known[tables.terms[loop.firstTerm + t].velocity] = 1;
    }
  }
  const auto settle = [&](const LoopEntry<double>& loop) {
    double largest = 0.0;
    bool open = false;
    forCouplingSlopes<double>(tables, loop, [&](int /*t*/, int velocity, double slope) {
      if (known[velocity] != 0) {
        largest = std::max(largest, std::abs(slope) * units[velocity]);
      } else {
        open = true;
      }
    });
    if (!open || largest == 0.0) {
      return false;
    }
    forCouplingSlopes<double>(tables, loop, [&](int /*t*/, int velocity, double slope) {
      if (known[velocity] == 0) {
        known[velocity] = 1;
        units[velocity] = slope != 0.0 ? largest / std::abs(slope) : units[velocity];
      }
    });
    return true;
  };
  for (const LoopEntry<double>* first : couplings) {
    while (std::ranges::any_of(couplings, [&](const auto* loop) { return settle(*loop); })) {
    }
    if (first->terms > 0) {  // couplings among themselves: one coordinate keeps its unit
      known[tables.terms[first->firstTerm].velocity] = 1;
    }
  }
}

}  // namespace

bool slides(JointType type, int velocity) {
  switch (type) {
    case JointType::Prismatic:
      return true;
    case JointType::Cylindrical:
      return velocity == 1;
    case JointType::Planar:
      return velocity < 2;
    case JointType::Free:
      return velocity < 3;
    default:
      return false;
  }
}

const FlexibleEntry& flexibleOfMode(const ModelTables<double>& tables, int part) {
  const int velocity = tables.bodies[part].firstVelocity;
  return *std::ranges::find_if(tables.flexibles, [&](const FlexibleEntry& flexible) {
    return velocity >= flexible.firstVelocity && velocity < flexible.firstVelocity + flexible.modes;
  });
}

double modalUnit(const ModelTables<double>& tables, const FlexibleEntry& flexible, int mode) {
  const BodyEntry<double>& body = tables.bodies[flexible.body];
  const double size = std::sqrt(body.inertia.rotation.trace() / body.inertia.mass);
  double farthest = 0.0;
  for (const NodeEntry<double>& node : tables.nodes) {
    if (node.flexible == body.flexible) {
      const NodeShapeEntry<double>& shape = tables.nodeShapes[node.firstShape + mode];
      farthest = std::max({farthest, norm(Vec3<double>(shape.translation)),
                           size * norm(Vec3<double>(shape.rotation))});
    }
  }
  return farthest > 0.0 ? size / farthest : 1.0;
}

double clusterReach(const ModelTables<double>& tables, const ClusterEntry& cluster) {
  double length = 0.0;
  for (int b = 0; b < cluster.bodies; ++b) {
    length = std::max(length, norm(tables.bodies[cluster.firstBody + b].placement.p));
  }
  for (int l = 0; l < cluster.loops; ++l) {
    const LoopEntry<double>& loop = tables.loops[cluster.firstLoop + l];
    length = std::max(
        {length, norm(loop.predecessor.frame.p), norm(loop.successor.frame.p), loop.form.length});
  }
  return length > 0.0 ? length : 1.0;
}

void setScales(ModelTables<double>& tables, const Functions& functions, const ClusterEntry& cluster,
               LoopScratch<double>& scratch, const std::vector<std::vector<double>>& positions) {
  const double reach = clusterReach(tables, cluster);
  double* units = tables.velocityScales.data() + cluster.firstVelocity;
  for (int b = 0; b < cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[cluster.firstBody + b];
    const int first = body.firstVelocity - cluster.firstVelocity;
    if (body.type == JointType::Mode) {
      const FlexibleEntry& flexible = flexibleOfMode(tables, cluster.firstBody + b);
      units[first] =
          kBending * modalUnit(tables, flexible, body.firstVelocity - flexible.firstVelocity);
      continue;
    }
    for (int i = 0; i < velocitySize(body.type); ++i) {
      units[first + i] = slides(body.type, i) ? reach : 1.0;
    }
  }
  followCouplings(tables, cluster, units);

  double* scales = tables.rowScales.data() + cluster.firstRow;
  for (int l = 0; l < cluster.loops; ++l) {
    const LoopEntry<double>& loop = tables.loops[cluster.firstLoop + l];
    forBodyRows(loop.form, loop.rows, Pose{}, Pose{}, [&](int r, const auto& row) {
      scales[loop.firstRow + r] = row.turns() ? 1.0 : 1.0 / reach;
    });
    if (loop.form.betweenBodies()) {
      continue;
    }
    const LoopTerm<double>* terms = tables.terms.data() + loop.firstTerm;
    std::vector<double> largest(static_cast<std::size_t>(loop.rows), 0.0);
    const auto widen = [&](int r, const auto& slope) {
      double square = 0.0;
      for (int t = 0; t < loop.terms; ++t) {
        const double scaled = slope(t) * units[terms[t].velocity];
        square += scaled * scaled;
      }
      largest[r] = std::isfinite(square) ? std::max(largest[r], square) : largest[r];
    };
    for (const std::vector<double>& q : positions) {
      withLoopRows<double>(tables, functions, loop, scratch.state(q.data()), scratch.forFunctions(),
                           [&](const auto& rows) { rows.slopes(widen); });
    }
    for (int r = 0; r < loop.rows; ++r) {
      scales[loop.firstRow + r] = largest[r] > 0.0 ? 1.0 / std::sqrt(largest[r]) : 1.0;
    }
  }
}

}  // namespace kempe::detail
