// Rows of friction and end stops that hold, beside those of constraints.

#include "simulation/switch_rows.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/articulated.hpp"
#include "model/follow_loops.hpp"

namespace kempe::detail {

SwitchRows::SwitchRows(RobotEquations& equations)
    : switches(equations.switches()),
      e(equations.work().model(), equations.work().data()),
      solver(e) {
  solver.add(e.impl.cuts);
  if (equations.constraints) {
    solver.add(equations.constraints->table());
  }
  firstHeld = solver.rows();
  solver.add(switches.held());
}

void SwitchRows::place(double t, VectorIn q, VectorIn v) {
  e.work->wholeRotors = true;
  e.place(q);
  e.move(v.data(), nullptr);
  solver.evaluate(t);
  solver.requireDefined();
  const int indefinite = condenseInertias(*e.tables, *e.work);
  if (indefinite >= 0) {
    e.throwIndefinite(indefinite);
  }
  solver.propagate();
}

void SwitchRows::addResponse(double weight, Eigen::MatrixXd& response) {
  double* a = solver.scratch.accelerations.data();
  for (int r = 0; r < solver.rows(); ++r) {
    std::copy_n(solver.unit(r), e.tables->nv, e.work->u);
    accelerateClusters(*e.tables, *e.work, a);
    response.col(r) += weight * Eigen::Map<const Eigen::VectorXd>(a, e.tables->nv);
  }
}

void SwitchRows::markImplied(BoxProblem& box, double least) {
  // Cholesky's method, which leaves out rows of which too little remains.
  const auto keep = [&](int r, bool wanted) {
    const double own = box.matrix(r, r);
    double rest = own;
    for (int s = 0; s < r; ++s) {
      double sum = box.matrix(r, s);
      for (int t = 0; t < s; ++t) {
        sum -= box.matrix(r, t) * box.matrix(s, t);
      }
      box.matrix(r, s) = box.matrix(s, s) > 0.0 ? sum / box.matrix(s, s) : 0.0;
      rest -= box.matrix(r, s) * box.matrix(r, s);
    }
    const bool kept = wanted && rest > least * own;
    box.matrix(r, r) = kept ? std::sqrt(rest) : 0.0;
    return kept;
  };
  for (int r = 0; r < firstHeld; ++r) {
    keep(r, true);
  }
  visitHeld([&](int r, int which) {
    const bool holding = switches.holds(which);
    const bool kept = keep(r, holding);
    if (holding) {
      switches.markImplied(which, !kept);
    }
  });
}

int rankOfRows(RobotEquations& equations, double t, VectorIn q, VectorIn v) {
  SwitchRows rows(equations);
  rows.place(t, q, v);
  rows.solver.factorize();
  return rows.solver.rank();
}

void holdExactly(const Switches& switches, const Coordinates& coordinates, VectorOut x) {
  const ModelTables<double>& tables = coordinates.impl().tables;
  for (int i = 0; i < switches.count(); ++i) {
    if (!switches.holds(i)) {
      continue;
    }
    const ConstraintEntry& entry = switches.held().entries[i];
    const ClusterEntry& cluster = tables.clusters[entry.clusters.front()];
    const int own = entry.terms.front().velocity - cluster.firstVelocity;
    for (int j = 0; j < cluster.nv; ++j) {
      if (independentOf(tables, cluster)[j] == own) {
        x[cluster.firstV + j] = 0.0;
      }
    }
  }
}

}  // namespace kempe::detail
