// Mobility of the rows of friction and end stops, the impulses that keep them, and the forces that
// balance.

#include <algorithm>
#include <cmath>
#include <limits>

#include "kempe/errors.hpp"
#include "simulation/switch_events.hpp"
#include "simulation/switch_rows.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Across a change point, a row whose mobility is below this part of that around it moves nothing:
/// interpolation is wrong by up to 6e-10 (kSpacing in change_points.hpp).
constexpr double kImmobile = 1e-9;

}  // namespace

void SwitchEvents::requireRank() const {
  if (motion_.first->crossingRows) {
    const std::string& loop = equations_.choices().user().cutLoops().front();
    throw SingularityError(
        "loop " + kempe::quoted(loop) +
            ", which is left cut, is at a change point at t = " + shortNumber(motion_.state.time) +
            " s, where friction or an end stop changes its mode. Do not leave "
            "the loop cut.",
        loop, std::numeric_limits<double>::infinity());
  }
}

void SwitchEvents::makeRoom() {
  if (!switches_.empty()) {
    rowsWanted_.assign(static_cast<std::size_t>(switches_.count()), 1);
    const Switches::EnabledRows enabled(switches_, rowsWanted_);
    SwitchRows all(equations_);
    const int rows = all.solver.rows();
    startRows(rows);
    static_cast<void>(all.solver.kernelRequest());
    const Model& model = equations_.work().model();
    response_.resize(model.nv(), rows);
    tau_.resize(model.nv());
    y_.resize(model.nv());
    q_.resize(model.nq());
    lowReadings_.resize(switches_.count());
  }
}

void SwitchEvents::startRows(int count) {
  box_.resize(count);
  for (std::vector<double>* list : {&rowRates_, &rowValues_, &rowMobilities_}) {
    list->assign(static_cast<std::size_t>(count), 0.0);
  }
}

void SwitchEvents::addMobilities(const SwitchRows& rows, double weight) {
  for (int r = 0; r < rows.solver.rows(); ++r) {
    for (int s = 0; s < rows.solver.rows(); ++s) {
      box_.matrix(r, s) += weight * rows.solver.accelerationAlong(r, rows.solver.unit(s));
    }
    rowMobilities_[r] += std::abs(weight) * rows.solver.accelerationAlong(r, rows.solver.unit(r));
  }
}

/// Rows that move nothing at a change point would otherwise be left with rounding errors.
void SwitchEvents::clearImmobileRows() {
  const int count = static_cast<int>(rowMobilities_.size());
  for (int r = 0; r < count; ++r) {
    if (!(box_.matrix(r, r) > kImmobile * rowMobilities_[r])) {
      for (int s = 0; s < count; ++s) {
        box_.matrix(r, s) = box_.matrix(s, r) = 0.0;
      }
    }
  }
}

bool SwitchEvents::placeRows(VectorIn q, VectorIn v) {
  const SwitchRows enabled(equations_);
  requireRank();
  startRows(enabled.solver.rows());
  response_.setZero();
  const bool across = equations_.points().aroundPosition(
      q, equations_.node().G.data(), [&](double weight, VectorIn at) {
        SwitchRows rows(equations_);
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

void SwitchEvents::addImpulses(VectorOut v) {
  for (std::size_t r = 0; r < box_.x.size(); ++r) {
    v += box_.x[r] * response_.col(static_cast<Eigen::Index>(r));
  }
}

bool SwitchEvents::balanceRows(double t, VectorIn q, VectorIn v, const Rates* acting,
                               double stabilization) {
  const SwitchRows enabled(equations_);
  requireRank();
  startRows(enabled.solver.rows());
  const bool across = equations_.points().aroundPosition(
      q, equations_.node().G.data(), [&](double weight, VectorIn at) {
        if (acting != nullptr) {
          equations_.acting().sumAlong(equations_.choices(), equations_.node().G.data(), *acting,
                                       tau_);
        } else {
          equations_.acting().gather(t, at, v, equations_.choices(), equations_.node(), tau_);
        }
        SwitchRows rows(equations_);
        const detail::ExternalForces<double, double> onBodies = rows.e.prepareExternal(
            acting != nullptr ? acting->external : equations_.node().external);
        freeAccelerations(rows.solver, t, stabilization, at.data(), v.data(), tau_.data(),
                          onBodies);
        addMobilities(rows, weight);
        for (int r = 0; r < rows.solver.rows(); ++r) {
          box_.b[r] +=
              weight * (rows.solver.accelerationAlong(r, rows.solver.scratch.uFree.data()) +
                        rows.solver.scratch.beta[r]);
        }
      });
  if (across) {
    clearImmobileRows();
  }
  const SwitchRows rows(equations_);
  rows.visitHeld([&](int r, int which) { switches_.bounds(which, box_.lower[r], box_.upper[r]); });
  box_.solve();
  return across;
}

void SwitchEvents::addHoldingForces(VectorOut sum) {
  for (int i = 0; i < switches_.count(); ++i) {
    rowsWanted_[i] = static_cast<char>(switches_.holds(i));  // those that are implied too
  }
  const Switches::EnabledRows enabled(switches_, rowsWanted_);
  balanceRows(motion_.state.time, motion_.state.q, motion_.state.v, motion_.first.get(), 0.0);
  const SwitchRows rows(equations_);
  rows.visitHeld([&](int r, int which) {
    sum[switches_.held().entries[which].terms.front().velocity] += box_.x[r];
  });
}

}  // namespace kempe::detail
