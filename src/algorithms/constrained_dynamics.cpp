#include "kempe/constraints.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/constraint_solver.hpp"
#include "algorithms/cut_loops.hpp"
#include "kempe/configuration.hpp"
#include "kernels/articulated.hpp"
#include "loops/closing_rows.hpp"
#include "model/positions.hpp"
#include "text/messages.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

constexpr int kMaxSteps = 200;      // of projectPositions
constexpr int kMaxHalvings = 12;    // of one of them
constexpr double kClosed = 1e-12;   // metres or radians
constexpr double kRounding = 1e-9;  // the same, of configurations with numbers that are large
constexpr double kLongest = 1.0;    // step, in radians or metres, where rows bend
/// Redundant rows contradict each other by less than this: positions where dimensions are rounded,
/// as in assembly, in metres and radians; velocities where rows drift, relative to the largest.
/// Motions that differ by less in their velocities differ by more in their positions before long.
constexpr double kOpen = 1e-4, kDiverging = 1e-3;

/// Numbers of rows that are on, to their places among all; zeros for those that are off.
template <typename T>
void scatterRows(const ConstraintSolver<T>& solver, int first, const T* values,
                 VectorOutOf<T> all) {
  all.setZero();
  for (const ActiveConstraint& active : solver.active()) {
    for (int r = 0; active.firstOutput >= first && r < active.entry->rows; ++r) {
      all[active.firstOutput - first + r] = values[active.firstRow + r];
    }
  }
}

/// integrate(), or false where the loops of clusters do not reach.
bool moved(const Model& model, Data& data, VectorIn q, VectorIn v, double dt, VectorOut result) {
  try {
    integrate(model, data, q, v, dt, result);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

/// An evaluation of constraints in double, at q and v (null: at rest), inertias not yet condensed.
class RowEvaluation {
 public:
  RowEvaluation(const Model& model, Data& data, const Constraints* constraints, double time,
                VectorIn q, const double* v)
      : e(model, data), solver(e) {
    requireFit(e.impl, *constraints, time);
    start(&constraints->table(), time, q, v);
  }
  /// Of the loops that are cut, and of `table` where it is not null.
  RowEvaluation(const Model& model, Data& data, const ConstraintTable* table, double time,
                VectorIn q, const double* v)
      : e(model, data), solver(e) {
    start(table, time, q, v);
  }

  void evaluate(double time, VectorIn q, const double* v) {
    e.place(q);
    if (v == nullptr) {
      std::fill(e.data.vector.begin(), e.data.vector.end(), 0.0);
      v = e.data.vector.data();
    }
    e.move(v, nullptr);
    solver.evaluate(time);
    if (closing) {
      const StoredMotion<double> motion{*e.work};
      for (const ActiveConstraint& active : solver.active()) {
        if (active.entry->form.kind == RowKind::Joint) {
          const ClosingRows rows = closingRows(active.entry->form.type, active.entry->form.cosine,
                                               motion.end(active.entry->predecessor).X,
                                               motion.end(active.entry->successor).X);
          for (int r = 0; r < rows.count; ++r) {
            solver.scratch.rows[active.firstRow + r].value = rows.value[r];
            solver.scratch.rows[active.firstRow + r].wrench = rows.wrench[r];
          }
        }
      }
    }
  }

  /// Makes K H⁻¹ Kᵀ ready for solve.
  void factorize() {
    const int indefinite = condenseInertias(*e.tables, *e.work);
    if (indefinite >= 0) {
      e.throwIndefinite(indefinite);
    }
    solver.propagate();
    solver.factorize();
  }

  /// λ of K H⁻¹ Kᵀ λ = −(`error` of each row), and H⁻¹ Kᵀ λ.
  template <typename Error>
  void correct(const Error& error, double* change) {
    ConstraintScratch<double>& scratch = solver.scratch;
    for (int r = 0; r < solver.rows(); ++r) {
      scratch.rightSide[r] = -error(scratch.rows[r]);
    }
    solver.solve(scratch.rightSide.data(), scratch.lambda.data());
    std::fill_n(e.work->u, e.tables->nv, 0.0);
    solver.addForces(scratch.lambda.data(), e.work->u);
    accelerateClusters(*e.tables, *e.work, change);
  }

  /// Writes `number` of each active row at the row's index; the other entries are zero.
  template <typename Number>
  void write(const Number& number, VectorOut all) const {
    all.setZero();
    for (const ActiveConstraint& active : solver.active()) {
      const int first = active.firstOutput - e.impl.cuts.rows;
      for (int r = 0; first >= 0 && r < active.entry->rows; ++r) {
        all[first + r] = number(solver.scratch.rows[active.firstRow + r]);
      }
    }
  }

  /// Largest |φ|, and the constraint that has it.
  double worst(const ConstraintEntry** entry) const {
    double largest = 0.0;
    for (const ActiveConstraint& active : solver.active()) {
      for (int r = 0; r < active.entry->rows; ++r) {
        const double size = std::abs(solver.scratch.rows[active.firstRow + r].value);
        if (!(size <= largest)) {
          largest = std::isfinite(size) ? size : std::numeric_limits<double>::infinity();
          *entry = active.entry;
        }
      }
    }
    return largest;
  }

  /// Whether all rows are straight, so that steps may be as long as they like.
  [[nodiscard]] bool allLinear() const {
    return std::ranges::all_of(solver.active(), [](const ActiveConstraint& active) {
      return isLinear(active.entry->form.kind);
    });
  }

  Evaluation<double> e;
  ConstraintSolver<double> solver;
  bool closing = false;  ///< rows of joints are those of closing_rows.hpp

 private:
  void start(const ConstraintTable* table, double time, VectorIn q, const double* v) {
    e.requireQ(q);
    solver.add(e.impl.cuts);
    if (table != nullptr) {
      solver.add(*table);
    }
    e.work->wholeRotors = true;  // every body is moved
    evaluate(time, q, v);
    solver.requireDefined();
  }
};

constexpr const ConstraintTable* kCutsOnly = nullptr;

}  // namespace

void detail::requireFit(const ModelImpl& model, const Constraints& constraints, double time) {
  if (constraints.model().impl().id != model.id) {
    throw std::invalid_argument("constraints were made for another model");
  }
  if (!std::isfinite(time)) {
    throw std::invalid_argument("time is not finite");
  }
}

template <typename T>
void constrainedForwardDynamics(const Model& model, BasicData<T>& data,
                                const Constraints& constraints, double time, VectorInOf<T> q,
                                VectorInOf<T> v, VectorInOf<T> tau, VectorOutOf<T> a,
                                VectorOutOf<T> multipliers, const DynamicsOptions& how,
                                ConstraintReport* report) {
  Evaluation<T> e(model, data);
  requireFit(e.impl, constraints, time);
  e.requireQ(q);
  e.requireInput("v", v);
  e.requireInput("tau", tau);
  e.requireOutput("a", a);
  requireSize("multipliers", multipliers.size(), constraints.rows(), "constraints.rows");
  if (how.method != Method::Cluster) {
    throw std::invalid_argument("method: constraints require Method::Cluster");
  }
  const ExternalForces<T, T> external = e.prepareExternal(how.external);
  ConstraintSolver<T> solver(e);
  solver.add(e.impl.cuts);
  solver.add(constraints.table());
  const double rate = constraints.stabilization();
  std::optional<ConstraintReport> found =
      kernelAccelerations(solver, time, rate, q.data(), v.data(), tau.data(), external, a.data());
  if (!found) {
    found = constrainedAccelerations(solver, time, rate, q.data(), v.data(), tau.data(), external,
                                     a.data());
  }
  scatterRows<T>(solver, e.impl.cuts.rows, solver.scratch.lambda.data(), multipliers);
  if (report != nullptr) {
    *report = *found;
  }
}

void constraintErrors(const Model& model, Data& data, const Constraints& constraints, double time,
                      VectorIn q, VectorOut errors) {
  requireSize("errors", errors.size(), constraints.rows(), "constraints.rows");
  RowEvaluation rows(model, data, &constraints, time, q, nullptr);
  rows.write([](const ConstraintRow<double>& row) { return row.value; }, errors);
}

void constraintVelocityErrors(const Model& model, Data& data, const Constraints& constraints,
                              double time, VectorIn q, VectorIn v, VectorOut errors) {
  requireVector("v", v, model.nv(), "model.nv");
  requireSize("errors", errors.size(), constraints.rows(), "constraints.rows");
  RowEvaluation rows(model, data, &constraints, time, q, v.data());
  rows.write([](const ConstraintRow<double>& row) { return row.rate; }, errors);
}

void constraintRows(const Model& model, Data& data, const Constraints& constraints, double time,
                    VectorIn q, MatrixOut K) {
  RowEvaluation rows(model, data, &constraints, time, q, nullptr);
  rows.e.requireMatrix("K", K, constraints.rows(), model.nv());
  K.setZero();
  for (const ActiveConstraint& active : rows.solver.active()) {
    const int first = active.firstOutput - rows.e.impl.cuts.rows;
    for (int r = 0; first >= 0 && r < active.entry->rows; ++r) {
      rows.solver.row(active.firstRow + r, rows.e.data.vector.data());
      K.row(first + r) =
          Eigen::Map<const Eigen::RowVectorXd>(rows.e.data.vector.data(), model.nv());
    }
  }
}

namespace {

/// The largest distance between neighbouring joints.
double reachOf(const ModelTables<double>& tables) {
  double reach = 0.0;
  for (const BodyEntry<double>& body : tables.bodies) {
    reach = std::max(reach, norm(body.placement.p));
  }
  return reach;
}

/// Gauss-Newton steps until all rows are closed; see projectPositions.
void closeRows(const Model& model, Data& data, RowEvaluation& rows, double time, VectorIn q,
               VectorOut closed) {
  ConstraintScratch<double>& scratch = rows.solver.scratch;
  scratch.q.assign(q.data(), q.data() + q.size());
  scratch.trial.resize(scratch.q.size());
  const Eigen::Map<const Eigen::VectorXd> here(scratch.q.data(), q.size());
  Eigen::Map<Eigen::VectorXd> trial(scratch.trial.data(), q.size());
  const Eigen::Map<const Eigen::VectorXd> change(scratch.free.data(), model.nv());
  const ConstraintEntry* worst = nullptr;
  rows.closing = true;
  rows.evaluate(time, here, nullptr);
  double error = rows.worst(&worst);
  bool polished = false;
  const double target = kClosed * std::max(1.0, reachOf(model.impl().tables));
  for (int step = 0; step < kMaxSteps && (error > target || !polished); ++step) {
    polished = error <= target;  // one more step takes the error down to rounding
    rows.factorize();
    rows.correct([](const ConstraintRow<double>& row) { return row.value; }, scratch.free.data());
    bool improved = false;
    // Where an angle is at the top of its sine, a whole step leads anywhere.
    const double largest = change.cwiseAbs().maxCoeff();
    double length = largest > kLongest && !rows.allLinear() ? kLongest / largest : 1.0;
    for (int halving = 0; halving < kMaxHalvings && !improved; ++halving, length *= 0.5) {
      if (!moved(model, data, here, change, length, trial)) {
        continue;
      }
      rows.evaluate(time, trial, nullptr);
      const double after = rows.worst(&worst);
      improved = after < error;
      if (improved) {
        error = after;
        scratch.q = scratch.trial;
      }
    }
    if (!improved) {
      break;
    }
  }
  const double size = std::max(1.0, reachOf(model.impl().tables));
  const double allowed =
      std::min(kRounding * size, kClosed * std::max(size, here.cwiseAbs().maxCoeff()));
  if (!(error <= allowed)) {
    throw AssemblyError("constraint " + kempe::quoted(worst->name) +
                            " cannot be satisfied: an error of " + shortNumber(error) +
                            " remains. Start closer to a configuration that satisfies it, or "
                            "switch off constraints that contradict it.",
                        worst->name, error);
  }
  closed = here;
}

/// Adds to v the change that an impulse of the rows makes.
void projectRates(const Model& model, Data& data, const ConstraintTable* table, double time,
                  VectorIn q, VectorOut v) {
  RowEvaluation rows(model, data, table, time, q, v.data());
  rows.factorize();
  ConstraintScratch<double>& scratch = rows.solver.scratch;
  rows.correct([](const ConstraintRow<double>& row) { return row.rate; }, scratch.free.data());
  v += Eigen::Map<const Eigen::VectorXd>(scratch.free.data(), model.nv());
}

}  // namespace

void projectPositions(const Model& model, Data& data, const Constraints& constraints, double time,
                      VectorIn q, VectorOut closed) {
  requireSize("closed", closed.size(), model.nq(), "model.nq");
  RowEvaluation rows(model, data, &constraints, time, q, nullptr);
  closeRows(model, data, rows, time, q, closed);
}

void detail::closeCuts(const Model& model, Data& data, VectorIn q, VectorOut closed) {
  RowEvaluation rows(model, data, kCutsOnly, 0.0, q, nullptr);
  closeRows(model, data, rows, 0.0, q, closed);
}

void detail::cutResidual(const Model& model, Data& data, VectorIn q, double* residual) {
  const RowEvaluation rows(model, data, kCutsOnly, 0.0, q, nullptr);
  for (int r = 0; r < rows.solver.rows(); ++r) {
    residual[r] = rows.solver.scratch.rows[r].value;
  }
}

void detail::projectState(const Model& model, Data& data, const ConstraintTable* table, double time,
                          VectorOut q, VectorOut v) {
  const ConstraintEntry* worst = nullptr;
  {
    RowEvaluation rows(model, data, table, time, q, nullptr);
    if (rows.worst(&worst) > 0.1 * kClosed) {
      closeRows(model, data, rows, time, q, q);
    }
  }
  projectRates(model, data, table, time, q, v);
}

namespace {

/// The names of constraints whose part of `left` is large.
[[noreturn]] void throwContradiction(const ConstraintSolver<double>& solver, const double* left,
                                     double largest, const char* level, double time) {
  constexpr double kInvolved = 0.1;  // of the largest
  std::vector<std::string> names;
  for (const ActiveConstraint& active : solver.active()) {
    const double* first = left + active.firstRow;
    if (std::any_of(first, first + active.entry->rows,
                    [&](double x) { return std::abs(x) >= kInvolved * largest; })) {
      names.push_back(active.entry->name);
    }
  }
  std::vector<std::string> shown;
  shown.reserve(names.size());
  for (const std::string& name : names) {
    shown.push_back(kempe::quoted(name));
  }
  const std::string who = names.size() == 1
                              ? "constraint " + shown.front() + " contradicts the loops"
                              : "constraints " + joined(shown) + " contradict each other";
  throw AssemblyError(who + " at t = " + shortNumber(time) + " s: an error of " +
                          shortNumber(largest) + " remains in their " + level +
                          ", whatever the motion. Switch one of them off, or change it.",
                      names.front(), largest);
}

}  // namespace

void detail::requireCompatible(const Model& model, Data& data, const ConstraintTable* table,
                               double time, VectorIn q, VectorIn v) {
  RowEvaluation rows(model, data, table, time, q, v.data());
  rows.factorize();
  ConstraintSolver<double>& solver = rows.solver;
  ConstraintScratch<double>& scratch = solver.scratch;
  if (solver.rank() == solver.rows()) {
    return;
  }
  const auto require = [&](double ConstraintRow<double>::*number, const char* level,
                           const auto& most) {
    double size = 0.0;
    for (int r = 0; r < solver.rows(); ++r) {
      scratch.rightSide[r] = scratch.rows[r].*number;
      size = std::max(size, std::abs(scratch.rightSide[r]));
    }
    // The part of the rows' errors that no change of the motion can take away.
    solver.solve(scratch.rightSide.data(), scratch.lambda.data());
    double largest = 0.0;
    for (int r = 0; r < solver.rows(); ++r) {
      largest = std::max(largest, std::abs(scratch.rightSide[r]));
    }
    if (largest > most(size)) {
      throwContradiction(solver, scratch.rightSide.data(), largest, level, time);
    }
  };
  require(&ConstraintRow<double>::value, "positions",
          [&](double) { return kOpen * std::max(1.0, reachOf(model.impl().tables)); });
  require(&ConstraintRow<double>::rate, "velocities",
          [](double size) { return kDiverging * std::max(1.0, size); });
}

void detail::projectOntoCuts(const Model& model, Data& data, VectorIn q, VectorOut v) {
  projectRates(model, data, kCutsOnly, 0.0, q, v);
}

bool detail::cutForcesAreUnique(const Model& model) {
  Data data(model);
  RowEvaluation rows(model, data, kCutsOnly, 0.0, model.neutral(), nullptr);
  rows.factorize();
  return rows.solver.rank() == rows.solver.rows();
}

namespace {

/// Whether all joints are within their limits.
bool withinLimits(const Model& model, Data& data, const Eigen::VectorXd& q) {
  const ModelImpl& m = model.impl();
  std::vector<double>& positions = data.impl().positions;
  expandPositions(m, q.data(), positions.data());
  for (std::size_t i = 0; i < m.lower.size(); ++i) {
    if (positions[i] < m.lower[i] - 1e-9 || positions[i] > m.upper[i] + 1e-9) {
      return false;
    }
  }
  return true;
}

/// A configuration in which the cut loops are closed by assembling them as embedded ones.
Eigen::VectorXd assembledWithLoopsEmbedded(const Model& model) {
  Mechanism mechanism = model.mechanism();
  const auto embed = [](auto& loops) {
    for (auto& loop : loops) {
      loop.cut = false;
    }
  };
  embed(mechanism.couplings);
  embed(mechanism.loops);
  embed(mechanism.rods);
  embed(mechanism.functions);
  const Model embedded(mechanism, model.options());
  const ModelImpl& from = embedded.impl();
  const ModelImpl& to = model.impl();
  std::vector<double> positions(to.neutralPositions.size());
  for (std::size_t b = 0; b < to.tables.bodies.size(); ++b) {
    const BodyEntry<double>& body = to.tables.bodies[b];
    const int other = from.bodyByJoint.at(to.joint(static_cast<int>(b)).name);
    std::copy_n(from.neutralPositions.begin() + from.tables.bodies[other].firstPosition,
                positionSize(body.type), positions.begin() + body.firstPosition);
  }
  Eigen::VectorXd q(model.nq());
  for (const ClusterEntry& cluster : to.tables.clusters) {
    contractPositions(to.tables, cluster, positions.data() + cluster.firstPosition, q.data());
  }
  return q;
}

}  // namespace

Eigen::VectorXd detail::neutralWithCuts(const Model& model) {
  Data data(model);
  Eigen::VectorXd closed(model.nq());
  bool found = false;
  try {
    closeCuts(model, data, model.neutral(), closed);
    found = true;
    if (withinLimits(model, data, closed)) {
      return closed;
    }
  } catch (const std::runtime_error&) {
    found = false;  // too far away for Gauss-Newton steps
  }
  try {
    Eigen::VectorXd other(model.nq());
    closeCuts(model, data, assembledWithLoopsEmbedded(model), other);
    if (!found || withinLimits(model, data, other)) {
      return other;
    }
  } catch (const std::runtime_error& error) {
    if (!found) {
      throw ModelError(model.mechanism().place() + "the loops that are left cut (" +
                       kempe::joined(model.cutLoops()) + ") cannot be closed: " + error.what());
    }
  }
  return closed;
}

void projectVelocities(const Model& model, Data& data, const Constraints& constraints, double time,
                       VectorIn q, VectorIn v, VectorOut projected, VectorOut impulses) {
  requireVector("v", v, model.nv(), "model.nv");
  requireSize("projected", projected.size(), model.nv(), "model.nv");
  requireSize("impulses", impulses.size(), constraints.rows(), "constraints.rows");
  RowEvaluation rows(model, data, &constraints, time, q, v.data());
  rows.factorize();
  rows.solver.requireAccurate();
  ConstraintScratch<double>& scratch = rows.solver.scratch;
  rows.correct([](const ConstraintRow<double>& row) { return row.rate; }, scratch.free.data());
  scatterRows<double>(rows.solver, rows.e.impl.cuts.rows, scratch.lambda.data(), impulses);
  projected = v + Eigen::Map<const Eigen::VectorXd>(scratch.free.data(), model.nv());
}

std::array<double, 6> constraintWrench(const Model& model, Data& data,
                                       const Constraints& constraints, int constraint, double time,
                                       VectorIn q, VectorIn multipliers) {
  requireVector("multipliers", multipliers, constraints.rows(), "constraints.rows");
  const std::string& name = constraints.name(constraint);
  RowEvaluation rows(model, data, &constraints, time, q, nullptr);
  const ConstraintEntry& entry = constraints.table().entries[static_cast<std::size_t>(constraint)];
  if (!entry.form.betweenBodies()) {
    throw std::invalid_argument("constraint " + kempe::quoted(name) +
                                " acts on coordinates: its multipliers are its forces");
  }
  const WorkView<double>& work = *rows.e.work;
  Force<double> sum{};
  for (const ActiveConstraint& active : rows.solver.active()) {
    for (int r = 0; active.entry == &entry && r < entry.rows; ++r) {
      sum += multipliers[entry.firstRow + r] * rows.solver.scratch.rows[active.firstRow + r].wrench;
    }
  }
  const StoredMotion<double> motion{work};
  const EndMotion<double> A = motion.end(entry.predecessor), B = motion.end(entry.successor);
  const Vector3 point =
      entry.form.kind == RowKind::Rolling ? contactOf(entry.form, A, B).point : B.X.p;
  const Vector3 moment = sum.moment - cross(point, sum.force);
  return {sum.force.x, sum.force.y, sum.force.z, moment.x, moment.y, moment.z};
}

#define KEMPE_INSTANTIATE(T)                                                                 \
  template void constrainedForwardDynamics<T>(                                               \
      const Model&, BasicData<T>&, const Constraints&, double, VectorInOf<T>, VectorInOf<T>, \
      VectorInOf<T>, VectorOutOf<T>, VectorOutOf<T>, const DynamicsOptions&, ConstraintReport*);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
