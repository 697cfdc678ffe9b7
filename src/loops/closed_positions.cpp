#include "loops/closed_positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kempe/errors.hpp"
#include "loops/scales.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Starts from which a closed position is sought, at most.
constexpr int kStarts = 400;
/// The same for finding which loops cannot close even alone, with so much work.
constexpr int kStartsAlone = 20;
constexpr double kWorkAlone = 7e8;
/// Starts that are given to finding a closed position within the limits, once one beyond is known.
constexpr int kStartsForLimits = 40;
/// The same for one that closes exactly, once one is known that rounding would leave open so far.
constexpr int kStartsForExactness = 20;
/// Starts of the other joints for closing the loops with those of the start pose held, with so much
/// work.
constexpr int kStartsForPose = 20;
constexpr double kWorkForPose = 7e8;
/// All searches may make so many steps, however large the cluster is.
constexpr double kLeastSteps = 40;

}  // namespace

ClosedPositionSearch::ClosedPositionSearch(const ClusterProblem& problem)
    : problem_(problem),
      tables_(problem.tables),
      cluster_(problem.cluster),
      scratch_(problem.tables),
      random_(1),
      reach_(clusterReach(problem.tables, problem.cluster)),
      start_(problem.start) {
  for (int i = 0; i < cluster_.positions; ++i) {
    start_[i] = std::clamp(start_[i], problem.lower[i], problem.upper[i]);
    limited_ |= std::isfinite(problem.lower[i]) || std::isfinite(problem.upper[i]);
  }
  std::vector<std::vector<double>> places{start_};
  for (int i = 0; i < 4; ++i) {
    places.push_back(randomPlace());
  }
  setScales(problem.tables, problem.functions, cluster_, scratch_, places);
  if (cluster_.kind != ClusterKind::Explicit) {
    holdStartPose();
  }
}

Eigen::MatrixXd ClosedPositionSearch::jacobianAt(const std::vector<double>& q) {
  ClusterState<double> state = scratch_.state(q.data());
  placeCluster(tables_, cluster_, state);
  loopJacobian(tables_, problem_.functions, cluster_, state, scratch_.forFunctions(), nullptr,
               cluster_.rows, scratch_.K.data());
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<RowMajor>(scratch_.K.data(), cluster_.rows, cluster_.velocities);
}

Eigen::MatrixXd ClosedPositionSearch::scaled(const Eigen::MatrixXd& K) const {
  const Eigen::Map<const Eigen::VectorXd> rows(tables_.rowScales.data() + cluster_.firstRow,
                                               cluster_.rows);
  const Eigen::Map<const Eigen::VectorXd> units(
      tables_.velocityScales.data() + cluster_.firstVelocity, cluster_.velocities);
  return rows.asDiagonal() * K * units.asDiagonal();
}

double ClosedPositionSearch::beyondLimits(const std::vector<double>& q) const {
  double most = 0.0;
  for (int b = 0; limited_ && b < cluster_.bodies; ++b) {
    const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
    for (int i = 0; hasScalarCoordinates(body.type) && i < velocitySize(body.type); ++i) {
      const int p = body.firstPosition - cluster_.firstPosition + i;
      const double beyond = std::max(problem_.lower[p] - q[p], q[p] - problem_.upper[p]);
      most = std::max(most, beyond / tables_.velocityScales[body.firstVelocity + i]);
    }
  }
  return most;
}

std::vector<int> ClosedPositionSearch::allVelocities() const {
  std::vector<int> all(static_cast<std::size_t>(cluster_.velocities));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<double> ClosedPositionSearch::randomPlace() {
  std::vector<double> q(static_cast<std::size_t>(cluster_.positions));
  randomPositions(tables_, cluster_, problem_.lower.data(), problem_.upper.data(), reach_, random_,
                  q.data());
  return q;
}

std::vector<double> ClosedPositionSearch::moved(const std::vector<double>& q,
                                                const Eigen::VectorXd& way) const {
  const Eigen::Map<const Eigen::VectorXd> units(
      tables_.velocityScales.data() + cluster_.firstVelocity, cluster_.velocities);
  const Eigen::VectorXd step = way.cwiseProduct(units);
  std::vector<double> result(q.size());
  retractCluster(tables_, cluster_, q.data(), step.data(), result.data());
  return result;
}

Eigen::VectorXd ClosedPositionSearch::randomWay(double spread) {
  Eigen::VectorXd way(cluster_.velocities);
  for (double& x : way) {
    x = random_.uniform(-spread, spread);
  }
  return way;
}

double ClosedPositionSearch::distance(const std::vector<double>& from,
                                      const std::vector<double>& to) const {
  std::vector<double> step(static_cast<std::size_t>(cluster_.velocities));
  differenceOfCluster(tables_, cluster_, from.data(), to.data(), step.data());
  double largest = 0.0;
  for (int i = 0; i < cluster_.velocities; ++i) {
    largest =
        std::max(largest, std::abs(step[i]) / tables_.velocityScales[cluster_.firstVelocity + i]);
  }
  return largest;
}

Closure ClosedPositionSearch::close(std::vector<double>& q, const std::vector<int>& movable,
                                    Rows rows) {
  std::vector<double> step(static_cast<std::size_t>(cluster_.velocities), 0.0);
  const Closure closure = closeLoops(tables_, problem_.functions, cluster_, scratch_, q.data(),
                                     step.data(), movable, rows);
  std::copy_n(scratch_.q.begin(), q.size(), q.begin());
  return closure;
}

Closure ClosedPositionSearch::assemble(std::vector<double>& q, const AssemblyOptions& options) {
  return assemble(q, allVelocities(), options);
}

Closure ClosedPositionSearch::assemble(std::vector<double>& q, const std::vector<int>& movable,
                                       const AssemblyOptions& options) {
  std::vector<double> step(static_cast<std::size_t>(cluster_.velocities), 0.0);
  const Closure closure = assembleLoops(tables_, problem_.functions, cluster_, scratch_, q.data(),
                                        step.data(), movable, options);
  std::copy_n(scratch_.q.begin(), q.size(), q.begin());
  return closure;
}

void ClosedPositionSearch::holdStartPose() {
  if (problem_.posed.empty()) {
    return;
  }
  const std::vector<int> others = complement(problem_.posed, cluster_.velocities);
  WorkBudget budget = budgetOf(kWorkForPose);
  for (int attempt = 0; attempt < kStartsForPose && !budget.isSpent(); ++attempt) {
    Eigen::VectorXd way = randomWay(std::min(3.0, 0.2 * attempt));
    way(problem_.posed).setZero();
    std::vector<double> q = moved(start_, way);
    if (assemble(q, others, {.budget = &budget}).gap < kRounding) {
      start_ = q;
      return;
    }
  }
}

std::vector<double> ClosedPositionSearch::startOf(int attempt) {
  if (attempt == 0) {
    return start_;
  }
  return attempt % 2 == 1 && attempt < 60 ? moved(start_, randomWay(std::min(3.0, 0.1 * attempt)))
                                          : randomPlace();
}

WorkBudget ClosedPositionSearch::budgetOf(double work) const {
  return {std::max(work, kLeastSteps * assemblyStepWork(tables_, cluster_))};
}

ClosedPosition ClosedPositionSearch::nearStart() {
  struct Position {
    std::vector<double> q;
    Closure closure;
    double beyond = std::numeric_limits<double>::infinity();
    [[nodiscard]] bool within() const { return beyond <= 1e-9; }
    [[nodiscard]] bool exact() const { return closure.gap <= 100.0 * kClosed; }
  };
  Position best, open;
  open.closure.gap = std::numeric_limits<double>::infinity();
  const auto isBetter = [&](const Position& p) {
    if (p.within() != best.within()) {
      return p.within();
    }
    return p.exact() != best.exact() ? p.exact() : p.beyond < best.beyond - 1e-9;
  };
  best.closure.gap = std::numeric_limits<double>::infinity();
  int startsSinceClosed = 0;
  const int starts =
      fromManyStarts(kStarts, [&](const std::vector<double>& from, WorkBudget& budget) {
        for (const bool minded : {true, false}) {
          if (minded && !limited_) {
            continue;
          }
          Position p{from, {}, 0.0};
          AssemblyOptions options{.budget = &budget};
          if (minded) {
            options.lower = problem_.lower.data();
            options.upper = problem_.upper.data();
          }
          p.closure = assemble(p.q, options);
          if (p.closure.gap < kRounding) {
            p.beyond = beyondLimits(p.q);
            if (isBetter(p)) {
              best = std::move(p);
            }
            break;
          }
          if (p.closure.gap < open.closure.gap || open.q.empty()) {
            open = std::move(p);
          }
        }
        startsSinceClosed += best.q.empty() ? 0 : 1;
        return startsSinceClosed >= kStartsForLimits ||
               (best.within() && (best.exact() || startsSinceClosed >= kStartsForExactness));
      });
  if (best.q.empty()) {
    failToClose(open.closure, open.q, starts);
  }
  return {best.q, jacobianAt(best.q), best.closure.gap};
}

std::string ClosedPositionSearch::positionsText(const std::vector<double>& q) const {
  std::string text;
  int listed = 0;
  for (int b = 0; b < cluster_.bodies && listed < 4; ++b) {
    const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
    if (hasScalarCoordinates(body.type)) {
      const int position = body.firstPosition - cluster_.firstPosition;
      const int velocity = body.firstVelocity - cluster_.firstVelocity;
      text += (listed++ > 0 ? ", " : " at ") + problem_.names[velocity] + " = " +
              shortNumber(q[position]);
    }
  }
  return text;
}

std::vector<int> ClosedPositionSearch::velocitiesOf(const LoopEntry<double>& loop) const {
  std::vector<int> own;
  own.reserve(static_cast<std::size_t>(loop.columns + loop.terms));
  for (int c = 0; c < loop.columns; ++c) {
    own.push_back(tables_.columns[loop.firstColumn + c].velocity);
  }
  for (int t = 0; t < loop.terms; ++t) {
    own.push_back(tables_.terms[loop.firstTerm + t].velocity);
  }
  std::ranges::sort(own);
  return own;
}

std::string ClosedPositionSearch::loopsTriedAlone() {
  if (cluster_.loops == 1) {
    return "";
  }
  WorkBudget budget{kWorkAlone};
  std::vector<std::string> open;
  int tried = 0;
  for (; tried < cluster_.loops && !budget.isSpent(); ++tried) {
    const LoopEntry<double>& loop = tables_.loops[cluster_.firstLoop + tried];
    const std::vector<int> movable = velocitiesOf(loop);
    std::vector<int> slots(static_cast<std::size_t>(cluster_.rows), -1);
    std::fill_n(slots.begin() + loop.firstRow, loop.rows, 0);
    Closure best;
    best.gap = best.opening = std::numeric_limits<double>::infinity();
    int start = 0;
    for (; start < kStartsAlone && best.gap >= kRounding && !budget.isSpent(); ++start) {
      std::vector<double> q = startOf(start);
      const Closure closure = assemble(q, movable, {.slots = slots.data(), .budget = &budget});
      best = closure.gap < best.gap ? closure : best;
    }
    if (best.gap >= kRounding && start < kStartsAlone) {
      break;  // other starts might have closed it
    }
    if (best.gap >= kRounding) {
      open.push_back(problem_.rowNames[loop.firstRow] + " stays open by " +
                     shortNumber(best.opening));
    }
  }
  if (tried == 0) {
    return "";
  }
  const std::string which =
      tried == cluster_.loops ? "" : " the first " + std::to_string(tried) + " loops:";
  if (!open.empty()) {
    return " Tried alone," + which + " " + joined(open) + "; the others close.";
  }
  return tried == cluster_.loops
             ? " Each loop closes alone, but not together with the others."
             : " Each of the first " + std::to_string(tried) + " loops closes alone.";
}

void ClosedPositionSearch::failToClose(const Closure& closest, const std::vector<double>& q,
                                       int starts) {
  const std::string& name = problem_.rowNames[closest.worstRow];
  if (!std::isfinite(closest.gap)) {
    throw ModelError(name + ": its value is not finite in any of " + std::to_string(starts) +
                     " starts, the first" + positionsText(q) +
                     ". Check that it gives finite numbers over the range of its joints.");
  }
  throw ModelError(name + ": the loop cannot be closed; in the best of " + std::to_string(starts) +
                   " starts it stayed open by " + shortNumber(closest.opening) + positionsText(q) +
                   "." + loopsTriedAlone() +
                   " Check lengths, origins and axes of its ends and the joints between them, or "
                   "give a start pose near a closed position.");
}

}  // namespace kempe::detail
