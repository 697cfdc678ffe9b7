#include "loops/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kempe/errors.hpp"
#include "loops/assembly.hpp"
#include "loops/decompositions.hpp"
#include "loops/force_analysis.hpp"
#include "loops/random_positions.hpp"
#include "loops/scales.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

constexpr int kSamples = 12;
/// Starts from which a closed position is sought: so many at most, and with so much work.
constexpr int kStarts = 400;
constexpr double kWork = 3e9;
/// The same for finding which loops cannot close even alone.
constexpr int kStartsAlone = 20;
constexpr double kWorkAlone = 7e8;
/// Starts that are given to finding a closed position within the limits, once one beyond is known.
constexpr int kStartsForLimits = 40;
/// The same for one that closes exactly, once one is known that rounding would leave open so far.
constexpr int kStartsForExactness = 20;
/// Starts of the other joints for closing the loops with those of the start pose held, with so much
/// work, and how far from it, in radians or reaches, the neutral position may be without a warning.
constexpr int kStartsForPose = 20;
constexpr double kWorkForPose = 7e8;
/// All searches may make so many steps, however large the cluster is.
constexpr double kLeastSteps = 40;
constexpr double kFarFromPose = 0.1;
/// A neutral position is regular where it is so well conditioned, or nearly as well as any sample.
constexpr double kWellConditioned = 1e-3;
constexpr double kNearlyAsGood = 2e-2;

class ClusterAnalyzer {
 public:
  explicit ClusterAnalyzer(const ClusterProblem& problem)
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
  }

  ClusterSolution run() {
    std::vector<std::vector<double>> places{start_};
    for (int i = 0; i < 4; ++i) {
      places.push_back(randomPlace());
    }
    setScales(tables_, problem_.functions, cluster_, scratch_, places);
    if (cluster_.kind != ClusterKind::Explicit) {
      holdStartPose();
    }
    cluster_.kind == ClusterKind::Explicit ? sampleCouplings() : sampleConfigurations();
    std::vector<RowSample> scaled = scaledRows();
    RowSelection rows = selectRows(scaled);
    const int mobility = cluster_.velocities - rows.rank;
    ColumnSelection columns = selectIndependent(rows, mobility, problem_.wishes);
    if (columns.origin == ColumnSelection::Origin::Inadmissible &&
        cluster_.kind == ClusterKind::Implicit && findBranchOfMarked(rows, mobility)) {
      scaled = scaledRows();
      rows = selectRows(scaled);
      columns = selectIndependent(rows, mobility, problem_.wishes);
    }
    reportIndependent(columns, mobility);

    solution_.independent = columns.independent;
    solution_.dependent = columns.dependent;
    // From here on the cluster knows which rows are kept.
    std::copy(rows.slots.begin(), rows.slots.end(), tables_.rowSlots.begin() + cluster_.firstRow);
    rows_ = std::move(rows);
    solution_.forceIsUnique = uniqueForces(tables_, cluster_, rows_, scaled);
    if (cluster_.kind == ClusterKind::Explicit) {
      solveCouplings();
      solution_.couplingForces =
          couplingForces(tables_, cluster_, samples_.front().K, solution_.dependent);
    } else {
      chooseNeutral();
      reportStartPose();
      reportRounding();
    }
    if (mobility == 0) {
      warn("the loops leave it no degree of freedom: it is a rigid structure.");
    }
    return std::move(solution_);
  }

 private:
  struct Sample {
    std::vector<double> q;
    Eigen::MatrixXd K;  ///< all rows
    double gap = 0.0;   ///< relative, see assembly.hpp
  };

  void warn(const std::string& text) {
    solution_.warnings.push_back(problem_.description + ": " + text);
  }

  /// K of all rows at positions q.
  Eigen::MatrixXd jacobianAt(const std::vector<double>& q) {
    ClusterState<double> state = scratch_.state(q.data());
    placeCluster(tables_, cluster_, state);
    loopJacobian(tables_, problem_.functions, cluster_, state, scratch_.forFunctions(), nullptr,
                 cluster_.rows, scratch_.K.data());
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<RowMajor>(scratch_.K.data(), cluster_.rows, cluster_.velocities);
  }

  /// K in the units of scales.hpp.
  [[nodiscard]] Eigen::MatrixXd scaled(const Eigen::MatrixXd& K) const {
    const Eigen::Map<const Eigen::VectorXd> rows(tables_.rowScales.data() + cluster_.firstRow,
                                                 cluster_.rows);
    const Eigen::Map<const Eigen::VectorXd> units(
        tables_.velocityScales.data() + cluster_.firstVelocity, cluster_.velocities);
    return rows.asDiagonal() * K * units.asDiagonal();
  }

  [[nodiscard]] std::vector<RowSample> scaledRows() const {
    std::vector<RowSample> list;
    for (const Sample& sample : samples_) {
      list.push_back({scaled(sample.K), sample.gap});
    }
    return list;
  }

  /// How far positions are beyond their limits, in radians or reaches.
  [[nodiscard]] double beyondLimits(const std::vector<double>& q) const {
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
  [[nodiscard]] bool withinLimits(const std::vector<double>& q) const {
    return beyondLimits(q) <= 1e-9;
  }

  [[nodiscard]] std::vector<int> allVelocities() const {
    std::vector<int> all(static_cast<std::size_t>(cluster_.velocities));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  std::vector<double> randomPlace() {
    std::vector<double> q(static_cast<std::size_t>(cluster_.positions));
    randomPositions(tables_, cluster_, problem_.lower.data(), problem_.upper.data(), reach_,
                    random_, q.data());
    return q;
  }

  /// q ⊞ a step in the units of the velocities.
  [[nodiscard]] std::vector<double> moved(const std::vector<double>& q,
                                          const Eigen::VectorXd& way) const {
    const Eigen::Map<const Eigen::VectorXd> units(
        tables_.velocityScales.data() + cluster_.firstVelocity, cluster_.velocities);
    const Eigen::VectorXd step = way.cwiseProduct(units);
    std::vector<double> result(q.size());
    retractCluster(tables_, cluster_, q.data(), step.data(), result.data());
    return result;
  }

  Eigen::VectorXd randomWay(double spread) {
    Eigen::VectorXd way(cluster_.velocities);
    for (double& x : way) {
      x = random_.uniform(-spread, spread);
    }
    return way;
  }

  /// Closes the loops from `q`, moving `movable`; q becomes the result.
  Closure close(std::vector<double>& q, const std::vector<int>& movable, Rows rows) {
    std::vector<double> step(static_cast<std::size_t>(cluster_.velocities), 0.0);
    const Closure closure = closeLoops(tables_, problem_.functions, cluster_, scratch_, q.data(),
                                       step.data(), movable, rows);
    std::copy_n(scratch_.q.begin(), q.size(), q.begin());
    return closure;
  }

  /// The same with all coordinates, from afar.
  Closure assemble(std::vector<double>& q, const AssemblyOptions& options) {
    return assemble(q, allVelocities(), options);
  }
  /// The same with some coordinates.
  Closure assemble(std::vector<double>& q, const std::vector<int>& movable,
                   const AssemblyOptions& options) {
    std::vector<double> step(static_cast<std::size_t>(cluster_.velocities), 0.0);
    const Closure closure = assembleLoops(tables_, problem_.functions, cluster_, scratch_, q.data(),
                                          step.data(), movable, options);
    std::copy_n(scratch_.q.begin(), q.size(), q.begin());
    return closure;
  }

  /// Closes the loops with the joints of the start pose where it has them, if that is possible, and
  /// starts from there.
  void holdStartPose() {
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

  /// A start pose that the neutral position is far away from.
  void reportStartPose() {
    std::vector<std::string> elsewhere;
    for (int b = 0; b < cluster_.bodies; ++b) {
      const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
      const int position = body.firstPosition - cluster_.firstPosition;
      const int velocity = body.firstVelocity - cluster_.firstVelocity;
      if (!hasScalarCoordinates(body.type) ||
          !std::ranges::binary_search(problem_.posed, velocity)) {
        continue;
      }
      for (int i = 0; i < velocitySize(body.type); ++i) {
        const double given = problem_.start[position + i], x = solution_.neutral[position + i];
        if (std::abs(x - given) > kFarFromPose * tables_.velocityScales[body.firstVelocity + i]) {
          elsewhere.push_back(problem_.names[velocity + i] + " = " + shortNumber(x) +
                              " instead of " + shortNumber(given));
        }
      }
    }
    if (!elsewhere.empty()) {
      warn("the loops cannot be closed at the start pose; the neutral configuration has " +
           joined(elsewhere) + ".");
    }
  }

  /// The start, then places that move away from it little by little, then anywhere.
  std::vector<double> startOf(int attempt) {
    if (attempt == 0) {
      return start_;
    }
    return attempt % 2 == 1 && attempt < 60 ? moved(start_, randomWay(std::min(3.0, 0.1 * attempt)))
                                            : randomPlace();
  }

  /// Calls attempt(q, budget) with one start after the other until it returns true or the budget is
  /// spent; the number of starts.
  template <typename Attempt>
  int fromManyStarts(int most, const Attempt& attempt) {
    WorkBudget budget = budgetOf(kWork);
    int starts = 0;
    while (starts < most) {
      if (attempt(startOf(starts++), budget) || budget.isSpent()) {
        break;
      }
    }
    return starts;
  }

  [[nodiscard]] WorkBudget budgetOf(double work) const {
    return {std::max(work, kLeastSteps * assemblyStepWork(tables_, cluster_))};
  }

  /// Implicit clusters: a closed position near the start, and others that the mechanism reaches
  /// from there. Other ways to assemble the same parts may have another mobility and do not count.
  void sampleConfigurations() {
    samples_.push_back(closedPosition());
    if (mobilityAt(samples_.front()) == 0) {
      lookForMobility();
    }
    // Branches of the motion meet where the mobility is larger than elsewhere (a ladder of four-bars
    // drawn flat), so only the samples of least mobility count, and walks start from these. Once
    // branches are known to meet, every other walk leaves them all.
    const int wanted = cluster_.velocities <= 60 ? kSamples : kSamples / 2;
    std::vector<std::size_t> regular{0};
    int mobility = mobilityAt(samples_.front());
    bool branchesMeet = false;
    for (int walk = 0;
         mobility > 0 && walk < 3 * kSamples && static_cast<int>(regular.size()) < wanted; ++walk) {
      const Sample& from = samples_[regular[static_cast<std::size_t>(walk) % regular.size()]];
      const bool aside = branchesMeet && walk % 2 == 1;
      if (!(aside ? stepAside(walk % 4 == 1 ? samples_.front() : from)
                  : walkFrom(from, mobility) || stepAside(from))) {
        continue;
      }
      const int here = mobilityAt(samples_.back());
      if (here < mobility) {
        mobility = here;
        branchesMeet = true;
        regular.clear();
        walk = -1;
      }
      if (here == mobility) {
        regular.push_back(samples_.size() - 1);
      }
    }
    if ((branchesMeet || regular.size() == 1) &&
        !movesFreely(samples_[regular.front()], mobility)) {
      warn(
          "its " + counted(mobility, "degree", "degrees") +
          " of freedom may be too many: it is drawn where several branches of its motion meet, and "
          "no regular position was found beside. Draw it elsewhere, or give a start pose.");
    }
  }

  /// The first closed position that is found within the limits and closes all rows exactly; beyond
  /// the limits or, with rounded figures, not quite closed where there is no other.
  Sample closedPosition() {
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

  [[nodiscard]] int mobilityAt(const Sample& sample) const {
    return cluster_.velocities - rankOf(singularValues(scaled(sample.K)), sample.gap);
  }

  /// The position found is a rigid one: other ways to assemble the parts may move.
  void lookForMobility() {
    fromManyStarts(kSamples, [&](const std::vector<double>& from, WorkBudget& budget) {
      std::vector<double> q = from;
      const Closure closure = assemble(q, {.budget = &budget});
      if (closure.gap >= kRounding || !withinLimits(q)) {
        return false;
      }
      Sample sample{q, jacobianAt(q), closure.gap};
      if (mobilityAt(sample) == 0) {
        return false;
      }
      samples_.front() = std::move(sample);
      return true;
    });
  }

  /// Adds a sample some way from another, along a direction that the loops allow there; false where
  /// none is found.
  bool walkFrom(const Sample& from, int mobility) {
    const auto [values, V] = leftSingularVectors(scaled(from.K).transpose());
    Eigen::VectorXd way = V.rightCols(mobility) * randomWay(1.0).head(mobility);
    way /= way.cwiseAbs().maxCoeff();
    for (double stride = random_.uniform(0.1, 0.6); stride > 0.005; stride *= 0.5) {
      if (addSampleNear(from, stride * way, allVelocities(), 0.2 * stride)) {
        return true;
      }
    }
    return false;
  }

  /// Whether the loops let the mechanism move in all directions that they allow to first order.
  bool movesFreely(const Sample& from, int mobility) {
    constexpr double kStride = 1e-3;
    const auto [values, V] = leftSingularVectors(scaled(from.K).transpose());
    for (int i = 0; i < mobility; ++i) {
      const std::vector<double> ahead = moved(from.q, kStride * V.rightCols(mobility).col(i));
      std::vector<double> q = ahead;
      if (assemble(q, {}).gap >= kRounding || distance(ahead, q) > 0.1 * kStride) {
        return false;
      }
    }
    return true;
  }

  /// Adds a sample beside another with one coordinate moved and held: where branches meet, the sum
  /// of directions of several branches leads nowhere.
  bool stepAside(const Sample& from) {
    const int held = static_cast<int>(random_.uniform(0.0, cluster_.velocities));
    Eigen::VectorXd way = Eigen::VectorXd::Zero(cluster_.velocities);
    way[held] = std::copysign(random_.uniform(0.2, 1.0), random_.uniform(-1.0, 1.0));
    return addSampleNear(from, way, complement({held}, cluster_.velocities), 0.1);
  }

  /// Closes the loops from `way` beside a sample with `movable` coordinates, and adds the result if it is so far away.
  bool addSampleNear(const Sample& from, const Eigen::VectorXd& way,
                     const std::vector<int>& movable, double far) {
    std::vector<double> q = moved(from.q, way);
    Closure closure = assemble(q, movable, {});
    // Beside a point where branches meet, loops seem closed before the mechanism is on one of them.
    std::vector<double> closed = q;
    if (const Closure exact = close(closed, movable, Rows::All); exact.closed) {
      closure = exact;
      q = closed;
    }
    if (closure.gap >= kRounding || distance(from.q, q) <= far ||
        (withinLimits(from.q) && !withinLimits(q))) {
      return false;
    }
    samples_.push_back({q, jacobianAt(q), closure.gap});
    return true;
  }

  /// Samples on a branch on which the coordinates that are marked independent determine the others,
  /// instead of those found; false where there is none. A kite whose crank lies on the ground link
  /// has another branch, on which only its other two links turn.
  bool findBranchOfMarked(const RowSelection& rows, int mobility) {
    std::vector<int> marked, dependent;
    for (int i = 0; i < cluster_.velocities; ++i) {
      (problem_.wishes[i] == Wish::Independent ? marked : dependent).push_back(i);
    }
    if (static_cast<int>(marked.size()) != mobility) {
      return false;
    }
    std::vector<Sample> found;
    const auto consider = [&](const Sample& sample) {
      const Eigen::MatrixXd K = scaled(sample.K);
      if (rankOf(singularValues(K), sample.gap) == rows.rank &&
          rows.conditioning(K, dependent) > kWellConditioned) {
        found.push_back(sample);
      }
    };
    std::ranges::for_each(samples_, consider);
    fromManyStarts(4 * kSamples, [&](const std::vector<double>& from, WorkBudget& budget) {
      std::vector<double> q = from;
      const Closure closure = assemble(q, {.budget = &budget});
      if (closure.gap < kRounding && withinLimits(q)) {
        consider({q, jacobianAt(q), closure.gap});
      }
      return found.size() >= kSamples;
    });
    if (found.empty()) {
      return false;
    }
    samples_ = std::move(found);
    return true;
  }

  /// Largest difference of positions, in the units of the velocities.
  [[nodiscard]] double distance(const std::vector<double>& from,
                                const std::vector<double>& to) const {
    double largest = 0.0;
    for (int b = 0; b < cluster_.bodies; ++b) {
      const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
      const int position = body.firstPosition - cluster_.firstPosition;
      double step[6];
      jointDifference(body.type, from.data() + position, to.data() + position, step);
      for (int i = 0; i < velocitySize(body.type); ++i) {
        largest =
            std::max(largest, std::abs(step[i]) / tables_.velocityScales[body.firstVelocity + i]);
      }
    }
    return largest;
  }

  /// " at a = 1, b = 2": some positions.
  [[nodiscard]] std::string positionsText(const std::vector<double>& q) const {
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

  /// Velocities that move the ends of a loop against each other, ascending.
  [[nodiscard]] std::vector<int> velocitiesOf(const LoopEntry<double>& loop) const {
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

  /// By how much each loop stays open when it alone is to close.
  std::string loopsTriedAlone() {
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

  [[noreturn]] void failToClose(const Closure& closest, const std::vector<double>& q, int starts) {
    const std::string& name = problem_.rowNames[closest.worstRow];
    if (!std::isfinite(closest.gap)) {
      throw ModelError(name + ": its value is not finite in any of " + std::to_string(starts) +
                       " starts, the first" + positionsText(q) +
                       ". Check that it gives finite numbers over the range of its joints.");
    }
    throw ModelError(name + ": the loop cannot be closed; in the best of " +
                     std::to_string(starts) + " starts it stayed open by " +
                     shortNumber(closest.opening) + positionsText(q) + "." + loopsTriedAlone() +
                     " Check lengths, origins and axes of its ends and the joints between them, or "
                     "give a start pose near a closed position.");
  }

  /// Explicit clusters: K is constant, and the couplings must agree with each other.
  void sampleCouplings() {
    const Eigen::MatrixXd K = jacobianAt(start_);
    samples_.push_back({start_, K, 0.0});
    const Eigen::VectorXd offsets = couplingOffsets();
    const auto mismatch = [&](int rows) {  // of the first couplings; 0 where it is rounding
      const Eigen::MatrixXd A = K.topRows(rows);
      const Eigen::VectorXd b = offsets.head(rows);
      const double gap = (A * leastNormSolution(A, b) - b).cwiseAbs().maxCoeff();
      return gap > 1e-9 * (1.0 + b.cwiseAbs().maxCoeff()) ? gap : 0.0;
    };
    if (mismatch(cluster_.rows) == 0.0) {
      return;
    }
    int agree = 0, contradict = cluster_.rows;  // so many couplings; more never agree better
    while (contradict - agree > 1) {
      const int middle = (agree + contradict) / 2;
      (mismatch(middle) == 0.0 ? agree : contradict) = middle;
    }
    throw ModelError(problem_.rowNames[contradict - 1] +
                     ": it contradicts the couplings before it (the mismatch is " +
                     shortNumber(mismatch(contradict)) +
                     "). Correct its ratios or offset, or remove it.");
  }

  Eigen::VectorXd couplingOffsets() const {
    Eigen::VectorXd b(cluster_.rows);
    for (int l = 0; l < cluster_.loops; ++l) {
      const LoopEntry<double>& loop = tables_.loops[cluster_.firstLoop + l];
      b[loop.firstRow] = loop.form.offset;
    }
    return b;
  }

  /// q = G y + offset of an explicit cluster.
  void solveCouplings() {
    const int n = cluster_.velocities, m = static_cast<int>(solution_.independent.size());
    const Eigen::MatrixXd K = rows_.kept(samples_.front().K);
    const Eigen::VectorXd b = rows_.kept(couplingOffsets());
    Eigen::MatrixXd dependent(n - m, n - m), independent(n - m, m);
    for (int j = 0; j < n - m; ++j) {
      dependent.col(j) = K.col(solution_.dependent[j]);
    }
    for (int j = 0; j < m; ++j) {
      independent.col(j) = K.col(solution_.independent[j]);
    }
    const Eigen::MatrixXd ratio = -solved(dependent, independent);
    const Eigen::VectorXd shift = solved(dependent, b);
    solution_.G.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(m), 0.0);
    solution_.offset.assign(static_cast<std::size_t>(n), 0.0);
    for (int j = 0; j < m; ++j) {
      solution_.G[solution_.independent[j] * m + j] = 1.0;
    }
    for (int i = 0; i < n - m; ++i) {
      const int row = solution_.dependent[i];
      solution_.offset[row] = shift[i];
      for (int j = 0; j < m; ++j) {
        solution_.G[row * m + j] = ratio(i, j);
      }
    }
    solution_.neutral = solution_.offset;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < m; ++j) {
        solution_.neutral[i] += solution_.G[i * m + j] * start_[solution_.independent[j]];
      }
    }
  }

  /// The start with the dependent positions solved for, where that is regular and within the
  /// limits; else, of closed positions nearly as well conditioned as any found, the nearest.
  void chooseNeutral() {
    struct Candidate {
      std::vector<double> q;
      double conditioning;
      double distance;
      bool within;
    };
    std::vector<Candidate> candidates;
    Closure open;
    std::vector<double> openAt;
    const auto consider = [&](std::vector<double> q) {
      const Closure closure = close(q, solution_.dependent, Rows::Kept);
      if (!closure.closed) {
        open = closure;
        openAt = std::move(q);
        return;
      }
      const double conditioning = rows_.conditioning(scaled(jacobianAt(q)), solution_.dependent);
      candidates.push_back({q, conditioning, distance(start_, q), withinLimits(q)});
    };
    // The drawn pose first, then the closed position nearest to it, then the others.
    consider(start_);
    const std::size_t drawn = candidates.size();
    for (const Sample& sample : samples_) {
      consider(sample.q);
    }
    const auto bestOf = [&](bool anyWithin) {
      double best = 0.0;
      for (const Candidate& c : candidates) {
        best = c.within || !anyWithin ? std::max(best, c.conditioning) : best;
      }
      return best;
    };
    const auto regular = [&](const Candidate& c) {
      return c.within && c.conditioning > std::min(kWellConditioned, kNearlyAsGood * bestOf(true));
    };
    if (drawn == 1 && regular(candidates.front())) {
      solution_.neutral = candidates.front().q;
      return;
    }
    for (const double turn : {0.3, -0.3, 0.6, -0.6, 1.0, -1.0, 1.5, -1.5}) {
      Eigen::VectorXd way = Eigen::VectorXd::Zero(cluster_.velocities);
      way(solution_.independent).setConstant(turn);
      consider(moved(start_, way));
    }
    if (candidates.empty()) {
      failToClose(open, openAt, static_cast<int>(samples_.size()));
    }
    const bool anyWithin = std::ranges::any_of(candidates, &Candidate::within);
    const double best = bestOf(anyWithin);
    const Candidate* chosen = nullptr;
    for (const Candidate& c : candidates) {
      const bool good = (c.within || !anyWithin) && c.conditioning >= 0.3 * best;
      if (good && (chosen == nullptr || c.distance < chosen->distance)) {
        chosen = &c;
      }
    }
    solution_.neutral = chosen->q;
    if (!anyWithin) {
      reportLimits();
    }
  }

  void reportLimits() {
    std::vector<std::string> beyond;
    for (int b = 0; b < cluster_.bodies; ++b) {
      const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
      for (int i = 0; hasScalarCoordinates(body.type) && i < velocitySize(body.type); ++i) {
        const int p = body.firstPosition - cluster_.firstPosition + i;
        const double x = solution_.neutral[p];
        if (x < problem_.lower[p] || x > problem_.upper[p]) {
          beyond.push_back(problem_.names[body.firstVelocity - cluster_.firstVelocity + i] + " = " +
                           shortNumber(x) + " (" + shortNumber(problem_.lower[p]) + " to " +
                           shortNumber(problem_.upper[p]) + ")");
        }
      }
    }
    warn("no closed configuration within its joint limits was found; the neutral one has " +
         joined(beyond) + ". Check the limits, or give a start pose.");
  }

  /// Warns about rows that are redundant only to the rounding of the numbers in the file.
  void reportRounding() {
    std::vector<double> q = solution_.neutral;
    close(q, solution_.dependent, Rows::Kept);
    const double* scales = tables_.rowScales.data() + cluster_.firstRow;
    double gap = 0.0;
    int worst = -1;
    for (int r = 0; r < cluster_.rows; ++r) {
      const double open = scales[r] * std::abs(scratch_.phi[r]);
      if (rows_.slots[r] < 0 && open > std::max(gap, 1e-10)) {
        gap = open;
        worst = r;
      }
    }
    if (worst < 0 && rows_.largestDropped < 1e-7) {
      return;
    }
    const std::string stays = worst < 0
                                  ? ""
                                  : "; " + problem_.rowNames[worst] + " stays open there by " +
                                        shortNumber(std::abs(scratch_.phi[worst]));
    warn(
        "it is partly redundant, to the rounding of the numbers in the file: singular values of "
        "its rows down to " +
        shortNumber(rows_.smallestKept) + " are kept, those from " +
        shortNumber(rows_.largestDropped) + " on are treated as zero" + stays +
        ". Give the numbers with more digits.");
  }

  /// Coordinates of flexible bodies count as marked, but nobody marked them: they are left out.
  void reportIndependent(const ColumnSelection& columns, int mobility) {
    if (columns.origin == ColumnSelection::Origin::AsMarked || mobility == 0) {
      return;
    }
    std::vector<char> modal(static_cast<std::size_t>(cluster_.velocities), 0);
    for (int b = cluster_.firstBody; b < cluster_.firstBody + cluster_.bodies; ++b) {
      if (tables_.bodies[b].type == JointType::Mode) {
        modal[tables_.bodies[b].firstVelocity - cluster_.firstVelocity] = 1;
      }
    }
    std::vector<std::string> chosen, added, marked, following;
    for (const int i : columns.dependent) {
      if (modal[i] != 0) {
        following.push_back(problem_.names[i]);
      }
    }
    if (!following.empty()) {
      warn("its loops bind flexible bodies: " + joined(following) +
           (following.size() == 1 ? " follows" : " follow") + " from the other coordinates.");
    }
    for (const int i : columns.independent) {
      if (modal[i] != 0) {
        --mobility;
        continue;
      }
      chosen.push_back(problem_.names[i]);
      if (problem_.wishes[i] != Wish::Independent) {
        added.push_back(problem_.names[i]);
      }
    }
    for (int i = 0; i < cluster_.velocities; ++i) {
      if (problem_.wishes[i] == Wish::Independent && modal[i] == 0) {
        marked.push_back(problem_.names[i]);
      }
    }
    const bool allKept = chosen.size() == added.size() + marked.size();
    if (allKept && added.empty()) {
      return;
    }
    const std::string degrees =
        counted(mobility, "degree of freedom", "degrees of freedom") +
        (std::ranges::count(modal, 1) > 0 ? " beside the modes of its flexible bodies" : "");
    const std::string coordinates = counted(marked.size(), "coordinate is", "coordinates are") +
                                    " marked independent (" + joined(marked) + "); ";
    const std::string result = "chosen for good conditioning: " + joined(chosen) + ".";
    if (columns.origin == ColumnSelection::Origin::Inadmissible && !marked.empty()) {
      warn("the coordinates marked independent do not determine the others; " + result);
    } else if (marked.empty()) {
      warn("it has " + degrees + " and no independent coordinates are marked; " + result);
    } else if (allKept) {
      warn("it has " + degrees + ", but only " + coordinates +
           "added for good conditioning: " + joined(added) + ".");
    } else {
      warn("it has " + degrees + ", but " + coordinates + result + " Mark " +
           std::to_string(mobility) + ".");
    }
  }

  const ClusterProblem& problem_;
  ModelTables<double>& tables_;
  const ClusterEntry& cluster_;
  LoopScratch<double> scratch_;
  Random random_;
  double reach_;
  std::vector<double> start_;  // within the limits
  bool limited_ = false;
  std::vector<Sample> samples_;
  RowSelection rows_;
  ClusterSolution solution_;
};

}  // namespace

void zeroPositions(const ModelTables<double>& tables, const ClusterEntry& cluster, double* q) {
  std::fill_n(q, cluster.positions, 0.0);
  for (int b = 0; b < cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[cluster.firstBody + b];
    if (!hasScalarCoordinates(body.type)) {
      const int last = body.firstPosition - cluster.firstPosition + positionSize(body.type) - 1;
      q[last] = 1.0;  // w of the quaternion
    }
  }
}

ClusterSolution analyzeCluster(const ClusterProblem& problem) {
  return ClusterAnalyzer(problem).run();
}

}  // namespace kempe::detail
