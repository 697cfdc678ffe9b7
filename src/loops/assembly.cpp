#include "loops/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kempe/spatial/factorization.hpp"
#include "loops/closing_rows.hpp"

namespace kempe::detail {
namespace {

constexpr int kMaxIterations = 100;
constexpr int kMaxTrials = 16;        // of damping, per iteration
constexpr int kSlowSteps = 6;         // of assembleLoops, in a row, before it stops
constexpr double kLongestStep = 0.5;  // in units of the velocities: longer ones change the branch
/// Damping that is always there, as a fraction of the largest diagonal of KᵀK. In closeLoops it
/// only keeps redundant coordinates where they are. In assembleLoops directions whose singular
/// value is below √1e-9 = 3e-5 hardly move.
constexpr double kLeastDamping = 1e-12;
constexpr double kAssemblyDamping = 1e-9;

/// Costs of a step in the unit of WorkBudget: placing the cluster and its rows, and writing K, KᵀK and
/// its factor. Functions that are called back count as one instruction for each of their arguments.
struct StepWork {
  double place = 0.0;  ///< of evaluate()
  double build = 0.0;  ///< of buildNormalEquations()

  StepWork() = default;
  StepWork(const TablesView<double>& tables, const ClusterEntry& cluster) {
    const double n = cluster.velocities;
    place = 60.0 * cluster.bodies;
    build = n * n + 2.0 * cluster.rows * n;
    for (int l = 0; l < cluster.loops; ++l) {
      const LoopEntry<double>& loop = tables.loops[cluster.firstLoop + l];
      const double columns = loop.columns + loop.terms;
      place += 40.0 * loop.rows + 8.0 * loop.programs.value.steps;
      build += loop.rows * (10.0 * columns + columns * columns) + 8.0 * loop.programs.slopes.steps;
    }
  }
  static double factor(double movable) { return movable * movable * (movable / 6.0 + 4.0); }
};

/// One run of the damped Newton (Levenberg–Marquardt) method; holds the data that its steps share.
class Descent {
 public:
  Descent(const TablesView<double>& tables, const Functions& functions, const ClusterEntry& cluster,
          LoopScratch<double>& scratch, const double* base, std::span<const int> movable,
          const AssemblyOptions& options, double leastDamping)
      : tables_(tables),
        functions_(functions),
        cluster_(cluster),
        scratch_(scratch),
        base_(base),
        movable_(movable),
        options_(options),
        leastDamping_(leastDamping),
        work_(options.budget != nullptr ? StepWork(tables, cluster) : StepWork()),
        rowScales_(tables.rowScales.data() + cluster.firstRow),
        units_(tables.velocityScales.data() + cluster.firstVelocity) {}

  Closure run(double* step) {
    const int n = cluster_.velocities;
    const bool assembling = leastDamping_ == kAssemblyDamping;
    clampToLimits(step);
    double cost = evaluate(step, scratch_.q.data());
    double damping = 0.0;
    bool polished = false;
    int slow = 0;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      const Closure now = measure();
      if (!std::isfinite(cost)) {
        break;
      }
      const double tolerance = kClosed * scale();
      if (now.gap <= tolerance) {
        if (polished || now.gap <= 1e-2 * tolerance) {
          break;
        }
        polished = true;  // one more step takes the gap down to rounding
      }
      buildNormalEquations(step);
      const double before = cost;
      bool improved = false;
      for (int trial = 0; trial < kMaxTrials && !improved && !isSpent(); ++trial) {
        if (takeStep(damping, step)) {
          const double trialCost = evaluate(scratch_.trialStep.data(), scratch_.q.data());
          improved = trialCost < cost;
          if (improved) {
            cost = trialCost;
            std::copy_n(scratch_.trialStep.data(), n, step);
          }
        }
        // Damping appears only where the plain Newton step fails, so that it stays quadratic.
        damping = improved ? (damping > 1e-9 * largest_ ? 0.1 * damping : 0.0)
                           : std::max(10.0 * damping, 1e-6 * largest_);
      }
      if (!improved) {
        break;
      }
      // Redundant rows that rounding leaves open: nothing is gained by going on.
      slow = assembling && now.gap < kRounding && cost > 0.25 * before ? slow + 1 : 0;
      if (slow == kSlowSteps) {
        break;
      }
    }
    evaluate(step, scratch_.q.data());
    Closure result = measure();
    result.closed = result.gap <= kClosed * scale();
    return result;
  }

 private:
  [[nodiscard]] bool isSpent() const {
    return options_.budget != nullptr && options_.budget->isSpent();
  }
  void spend(double work) const {
    if (options_.budget != nullptr) {
      options_.budget->spend(work);
    }
  }

  [[nodiscard]] bool counts(int row) const {
    return options_.slots == nullptr || options_.slots[row] >= 0;
  }

  /// Σ (scaled φ)² over the rows that count, at base ⊞ step.
  double evaluate(const double* step, double* q) {
    spend(work_.place);
    retractCluster(tables_, cluster_, base_, step, q);
    ClusterState<double> state = scratch_.state(q);
    placeCluster(tables_, cluster_, state);
    for (int l = 0; l < cluster_.loops; ++l) {
      const LoopEntry<double>& loop = tables_.loops[cluster_.firstLoop + l];
      double* phi = scratch_.phi.data() + loop.firstRow;
      if (loop.form.kind == RowKind::Joint) {
        const ClosingRows rows = closingRowsOf(loop, state);
        std::copy_n(rows.value, rows.count, phi);
      } else {
        valuesOfLoop(tables_, functions_, loop, state, scratch_.forFunctions(), phi);
      }
    }
    double cost = 0.0;
    for (int r = 0; r < cluster_.rows; ++r) {
      const double phi = rowScales_[r] * scratch_.phi[r];
      cost += counts(r) ? phi * phi : 0.0;
    }
    return cost;
  }

  static ClosingRows closingRowsOf(const LoopEntry<double>& loop,
                                   const ClusterState<double>& state) {
    return closingRows(loop.form.type, loop.form.cosine,
                       endPlacement(loop.form, loop.predecessor, state),
                       endPlacement(loop.form, loop.successor, state));
  }

  [[nodiscard]] Closure measure() const {
    Closure result;
    for (int r = 0; r < cluster_.rows; ++r) {
      // A value that is not finite counts as open without bound.
      const double opening = std::isfinite(scratch_.phi[r])
                                 ? std::abs(scratch_.phi[r])
                                 : std::numeric_limits<double>::infinity();
      if (counts(r) && rowScales_[r] * opening > result.gap) {
        result.gap = rowScales_[r] * opening;
        result.opening = opening;
        result.worstRow = r;
      }
    }
    return result;
  }

  /// Rounding of φ grows with the positions it is computed from (a rotor after many turns).
  [[nodiscard]] double scale() const {
    double largest = 1.0;
    for (int b = 0; b < cluster_.bodies; ++b) {
      const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
      const int position = body.firstPosition - cluster_.firstPosition;
      const int velocity = body.firstVelocity - cluster_.firstVelocity;
      for (int i = 0; i < positionSize(body.type) && i < velocitySize(body.type); ++i) {
        largest = std::max(largest, std::abs(scratch_.q[position + i]) / units_[velocity + i]);
      }
    }
    return largest;
  }

  /// KᵀK and Kᵀφ over all columns, K with respect to `step`, all in scaled units. evaluate() has
  /// placed the cluster there.
  void buildNormalEquations(const double* step) {
    spend(work_.build);
    const int n = cluster_.velocities;
    const ClusterState<double> state = scratch_.state(scratch_.q.data());
    std::fill_n(scratch_.K.data(), cluster_.rows * n, 0.0);
    for (int l = 0; l < cluster_.loops; ++l) {
      const LoopEntry<double>& loop = tables_.loops[cluster_.firstLoop + l];
      double* own = scratch_.K.data() + loop.firstRow * n;
      if (loop.form.kind == RowKind::Joint) {
        const ClosingRows rows = closingRowsOf(loop, state);
        for (int r = 0; r < rows.count; ++r) {
          spreadWrench(tables_, loop, state, rows.wrench[r], own + r * n);
        }
      } else {
        jacobianOfLoop(tables_, functions_, loop, state, scratch_.forFunctions(),
                       [&](int r) { return own + r * n; });
      }
    }
    differentiateRetraction(step);
    for (int r = 0; r < cluster_.rows; ++r) {
      double* row = scratch_.K.data() + r * n;
      for (int j = 0; j < n; ++j) {
        row[j] *= counts(r) ? rowScales_[r] * units_[j] : 0.0;
      }
    }
    // A loop has few of the columns of a large cluster.
    std::fill_n(scratch_.normal.data(), n * n, 0.0);
    std::fill_n(scratch_.gradient.data(), n, 0.0);
    for (int l = 0; l < cluster_.loops; ++l) {
      const LoopEntry<double>& loop = tables_.loops[cluster_.firstLoop + l];
      const auto add = [&](int count, const auto& columnAt) {
        for (int r = loop.firstRow; r < loop.firstRow + loop.rows; ++r) {
          // Rows that do not count are zero in K, but their φ need not be finite.
          if (counts(r)) {
            addRow(r, count, columnAt);
          }
        }
      };
      const auto first = tables_.columns.begin() + loop.firstColumn;
      if (std::any_of(first, first + loop.columns,
                      [](const LoopColumn& column) { return column.shape >= 0; })) {
        add(n, [](int j) { return j; });  // columns of nodes occur twice
      } else if (loop.form.betweenBodies()) {
        add(loop.columns, [&](int c) { return tables_.columns[loop.firstColumn + c].velocity; });
      } else {
        add(loop.terms, [&](int t) { return tables_.terms[loop.firstTerm + t].velocity; });
      }
    }
    largest_ = 0.0;
    for (const int j : movable_) {
      largest_ = std::max(largest_, scratch_.normal[j * n + j]);
    }
  }

  /// Adds a row of K and its φ to the lower triangle of KᵀK and to Kᵀφ; `columnAt` lists the columns
  /// in which the row is not zero.
  template <typename Columns>
  void addRow(int r, int count, const Columns& columnAt) {
    const int n = cluster_.velocities;
    const double* row = scratch_.K.data() + r * n;
    double* normal = scratch_.normal.data();
    for (int a = 0; a < count; ++a) {
      const int i = columnAt(a);
      const double entry = row[i];
      scratch_.gradient[i] += entry * rowScales_[r] * scratch_.phi[r];
      for (int b = 0; b <= a; ++b) {
        const int j = columnAt(b);
        normal[std::max(i, j) * n + std::min(i, j)] += entry * row[j];
      }
    }
  }

  /// K was with respect to velocities; for balls and free joints that is not yet the step.
  void differentiateRetraction(const double* step) {
    const int n = cluster_.velocities;
    for (int b = 0; b < cluster_.bodies; ++b) {
      const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
      if (hasScalarCoordinates(body.type)) {
        continue;
      }
      const int first = body.firstVelocity - cluster_.firstVelocity;
      const int size = velocitySize(body.type);
      double J[36];
      retractJacobian(body.type, step + first, J);
      for (int r = 0; r < cluster_.rows; ++r) {
        double* row = scratch_.K.data() + r * n + first;
        double turned[6];
        for (int j = 0; j < size; ++j) {
          turned[j] = 0.0;
          for (int i = 0; i < size; ++i) {
            turned[j] += row[i] * J[i * size + j];
          }
        }
        std::copy_n(turned, size, row);
      }
    }
  }

  /// Writes the damped step from `step` to trialStep; false where the equations are singular.
  bool takeStep(double damping, const double* step) {
    const int m = static_cast<int>(movable_.size());
    scratch_.held.assign(static_cast<std::size_t>(m), 0);
    // A coordinate at its limit that would go beyond is held, and the others are solved for again.
    do {
      if (!solve(damping)) {
        return false;
      }
    } while (holdAtLimits(step));
    double longest = 0.0;
    for (int i = 0; i < m; ++i) {
      longest = std::max(longest, std::abs(scratch_.rightSide[i]));
    }
    const double shorten = longest > kLongestStep ? kLongestStep / longest : 1.0;
    std::copy_n(step, cluster_.velocities, scratch_.trialStep.data());
    for (int i = 0; i < m; ++i) {
      scratch_.trialStep[movable_[i]] += shorten * scratch_.rightSide[i] * units_[movable_[i]];
    }
    clampToLimits(scratch_.trialStep.data());
    return std::isfinite(longest);
  }

  /// The damped step of the coordinates that are not held, into rightSide.
  bool solve(double damping) {
    const int n = cluster_.velocities, m = static_cast<int>(movable_.size());
    spend(StepWork::factor(m));
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j <= i; ++j) {
        scratch_.factor[i * m + j] = scratch_.normal[movable_[i] * n + movable_[j]];
      }
      scratch_.factor[i * m + i] += damping + leastDamping_ * largest_;
      scratch_.rightSide[i] = -scratch_.gradient[movable_[i]];
    }
    for (int i = 0; i < m; ++i) {
      if (scratch_.held[i] == 0) {
        continue;
      }
      std::fill_n(scratch_.factor.data() + i * m, i, 0.0);
      for (int j = i; j < m; ++j) {
        scratch_.factor[j * m + i] = j == i ? 1.0 : 0.0;
      }
      scratch_.rightSide[i] = 0.0;
    }
    if (!choleskyFactor(scratch_.factor.data(), m)) {
      return false;
    }
    choleskySolve(scratch_.factor.data(), m, scratch_.rightSide.data());
    return true;
  }

  /// Calls visit(velocity, lower, upper) with the bounds that limits set to each entry of `step`.
  template <typename Visitor>
  void forEachLimit(const Visitor& visit) const {
    if (options_.lower == nullptr) {
      return;
    }
    for (int b = 0; b < cluster_.bodies; ++b) {
      const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
      if (hasScalarCoordinates(body.type)) {
        const int position = body.firstPosition - cluster_.firstPosition;
        const int velocity = body.firstVelocity - cluster_.firstVelocity;
        for (int i = 0; i < velocitySize(body.type); ++i) {
          visit(velocity + i, options_.lower[position + i] - base_[position + i],
                options_.upper[position + i] - base_[position + i]);
        }
      }
    }
  }

  void clampToLimits(double* step) const {
    forEachLimit([&](int velocity, double lower, double upper) {
      step[velocity] = std::clamp(step[velocity], lower, upper);
    });
  }

  /// Marks as held the coordinates at a limit that the step in rightSide would exceed. Returns
  /// whether any is new.
  bool holdAtLimits(const double* step) {
    bool any = false;
    forEachLimit([&](int velocity, double lower, double upper) {
      const auto found = std::ranges::find(movable_, velocity);
      if (found == movable_.end()) {
        return;
      }
      const auto i = static_cast<std::size_t>(found - movable_.begin());
      const double way = scratch_.rightSide[i];
      const bool beyond =
          (step[velocity] >= upper && way > 0.0) || (step[velocity] <= lower && way < 0.0);
      any |= beyond && scratch_.held[i] == 0;
      scratch_.held[i] = static_cast<char>(scratch_.held[i] | static_cast<char>(beyond));
    });
    return any;
  }

  const TablesView<double>& tables_;
  const Functions& functions_;
  const ClusterEntry& cluster_;
  LoopScratch<double>& scratch_;
  const double* base_;
  std::span<const int> movable_;
  AssemblyOptions options_;
  double leastDamping_;
  StepWork work_;
  const double* rowScales_;
  const double* units_;
  double largest_ = 0.0;  // of the diagonal of KᵀK
};

}  // namespace

Closure closeLoops(const TablesView<double>& tables, const Functions& functions,
                   const ClusterEntry& cluster, LoopScratch<double>& scratch, const double* base,
                   double* step, std::span<const int> movable, Rows rows) {
  const auto descend = [&](const int* slots) {
    return Descent(tables, functions, cluster, scratch, base, movable, {.slots = slots},
                   kLeastDamping)
        .run(step);
  };
  const Closure all = descend(nullptr);
  if (all.closed || rows == Rows::All || !(all.gap < kRounding)) {
    return all;
  }
  // All rows close to the rounding of the numbers in the file: close the kept ones exactly.
  return descend(tables.rowSlots.data() + cluster.firstRow);
}

double assemblyStepWork(const TablesView<double>& tables, const ClusterEntry& cluster) {
  const StepWork work(tables, cluster);
  return work.place + work.build + StepWork::factor(cluster.velocities);
}

Closure assembleLoops(const TablesView<double>& tables, const Functions& functions,
                      const ClusterEntry& cluster, LoopScratch<double>& scratch, const double* base,
                      double* step, std::span<const int> movable, const AssemblyOptions& options) {
  return Descent(tables, functions, cluster, scratch, base, movable, options, kAssemblyDamping)
      .run(step);
}

}  // namespace kempe::detail
