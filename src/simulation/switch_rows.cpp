// Rows of friction and end stops that hold, beside those of constraints: their mobility, the
// impulses that keep them, and the forces that balance.

#include "simulation/switch_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kempe/errors.hpp"
#include "kernels/articulated.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Across a change point, a row whose mobility is below this part of that around it moves nothing:
/// interpolation is wrong by up to 6e-10 (kSpacing in change_points.cpp).
constexpr double kImmobile = 1e-9;

}  // namespace

Simulation::Rows::Rows(Simulation& of)
    : simulation(of), e(of.work().model(), of.work().data()), solver(e) {
  solver.add(e.impl.cuts);
  if (of.constraints) {
    solver.add(of.constraints->table());
  }
  firstHeld = solver.rows();
  solver.add(of.elements.switches.held());
}

void Simulation::Rows::place(double t, VectorIn q, VectorIn v) {
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

void Simulation::Rows::requireRank() const {
  if (simulation.first().crossingRows) {
    const std::string& loop = simulation.model.cutLoops().front();
    throw SingularityError("loop " + kempe::quoted(loop) +
                               ", which is left cut, is at a change point at t = " +
                               shortNumber(simulation.state().time) +
                               " s, where friction or an end stop changes its mode. Do not leave "
                               "the loop cut.",
                           loop, std::numeric_limits<double>::infinity());
  }
}

void Simulation::Rows::addResponse(double weight, Eigen::MatrixXd& response) {
  double* a = solver.scratch.accelerations.data();
  for (int r = 0; r < solver.rows(); ++r) {
    std::copy_n(solver.unit(r), e.tables->nv, e.work->u);
    accelerateClusters(*e.tables, *e.work, a);
    response.col(r) += weight * Eigen::Map<const Eigen::VectorXd>(a, e.tables->nv);
  }
}

void Simulation::Rows::markImplied(BoxProblem& box, double least) {
  // Cholesky's method, which leaves out rows of which too little remains.
  Switches& switches = simulation.elements.switches;
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

void Simulation::makeRoomForRows() {
  Switches& switches = elements.switches;
  if (!switches.empty()) {
    rowsWanted_.assign(static_cast<std::size_t>(switches.count()), 1);
    const Switches::EnabledRows enabled(switches, rowsWanted_);
    const int rows = Rows(*this).solver.rows();
    startRows(rows);
    response_.resize(model.nv(), rows);
  }
}

int Simulation::rankOfRows(VectorIn q) {
  Rows rows(*this);
  rows.place(motion_.state.time, q, motion_.state.v);
  rows.solver.factorize();
  return rows.solver.rank();
}

void Simulation::startRows(int count) {
  box_.resize(count);
  for (std::vector<double>* list : {&rowRates_, &rowValues_, &rowMobilities_}) {
    list->assign(static_cast<std::size_t>(count), 0.0);
  }
}

void Simulation::addMobilities(const Rows& rows, double weight) {
  for (int r = 0; r < rows.solver.rows(); ++r) {
    for (int s = 0; s < rows.solver.rows(); ++s) {
      box_.matrix(r, s) += weight * rows.solver.accelerationAlong(r, rows.solver.unit(s));
    }
    rowMobilities_[r] += std::abs(weight) * rows.solver.accelerationAlong(r, rows.solver.unit(r));
  }
}

/// Rows that move nothing at a change point would otherwise be left with rounding errors.
void Simulation::clearImmobileRows() {
  const int count = static_cast<int>(rowMobilities_.size());
  for (int r = 0; r < count; ++r) {
    if (!(box_.matrix(r, r) > kImmobile * rowMobilities_[r])) {
      for (int s = 0; s < count; ++s) {
        box_.matrix(r, s) = box_.matrix(s, r) = 0.0;
      }
    }
  }
}

bool Simulation::placeRows(VectorIn q, VectorIn v) {
  const Rows enabled(*this);
  enabled.requireRank();
  startRows(enabled.solver.rows());
  response_.setZero();
  const bool across = points_.aroundPosition(q, node_.G.data(), [&](double weight, VectorIn at) {
    Rows rows(*this);
    rows.place(motion_.state.time, at, v);
    addMobilities(rows, weight);
    rows.addResponse(weight, response_);
    for (int r = 0; r < rows.solver.rows(); ++r) {
      rowRates_[r] += weight * rows.solver.scratch.rows[r].rate;
      rowValues_[r] += weight * rows.solver.scratch.rows[r].value;
    }
  });
  if (across) {
    clearImmobileRows();
  }
  return across;
}

void Simulation::addImpulses(VectorOut v) {
  for (std::size_t r = 0; r < box_.x.size(); ++r) {
    v += box_.x[r] * response_.col(static_cast<Eigen::Index>(r));
  }
}

bool Simulation::balanceRows(double t, VectorIn q, VectorIn v, const Rates* acting,
                             double stabilization) {
  const Rows enabled(*this);
  enabled.requireRank();
  startRows(enabled.solver.rows());
  const bool across = points_.aroundPosition(q, node_.G.data(), [&](double weight, VectorIn at) {
    if (acting != nullptr) {
      spanningForces_ = acting->forces;
      choices_.addUsers(acting->tau, spanningForces_);
      work().gather(node_.G.data(), spanningForces_, tau_);
    } else {
      gatherForces(t, at, v, node_);
    }
    Rows rows(*this);
    const detail::ExternalForces<double, double> onBodies =
        rows.e.prepareExternal(acting != nullptr ? acting->external : node_.external);
    freeAccelerations(rows.solver, t, stabilization, at.data(), v.data(), tau_.data(), onBodies);
    addMobilities(rows, weight);
    for (int r = 0; r < rows.solver.rows(); ++r) {
      box_.b[r] += weight * (rows.solver.accelerationAlong(r, rows.solver.scratch.uFree.data()) +
                             rows.solver.scratch.beta[r]);
    }
  });
  if (across) {
    clearImmobileRows();
  }
  const Rows rows(*this);
  rows.visitHeld(
      [&](int r, int which) { elements.switches.bounds(which, box_.lower[r], box_.upper[r]); });
  box_.solve();
  return across;
}

void Simulation::addHoldingForces(VectorOut sum) {
  Switches& switches = elements.switches;
  for (int i = 0; i < switches.count(); ++i) {
    rowsWanted_[i] = static_cast<char>(switches.holds(i));  // those that are implied too
  }
  const Switches::EnabledRows enabled(switches, rowsWanted_);
  balanceRows(motion_.state.time, motion_.state.q, motion_.state.v, motion_.first.get(), 0.0);
  const Rows rows(*this);
  rows.visitHeld([&](int r, int which) {
    sum[switches.held().entries[which].terms.front().velocity] += box_.x[r];
  });
}

}  // namespace kempe::detail
