#include "loops/analysis.hpp"

#include <algorithm>

#include "loops/analysis_warnings.hpp"
#include "loops/closed_positions.hpp"
#include "loops/explicit_solution.hpp"
#include "loops/force_analysis.hpp"
#include "loops/mobility_samples.hpp"

namespace kempe::detail {
namespace {

/// A neutral position is regular where it is well conditioned (kWellConditioned), or where its
/// conditioning is this part of the best of any sample.
constexpr double kNearlyAsGood = 2e-2;

class ClusterAnalyzer {
 public:
  explicit ClusterAnalyzer(const ClusterProblem& problem)
      : problem_(problem), cluster_(problem.cluster), search_(problem) {}

  ClusterSolution run() {
    cluster_.kind == ClusterKind::Explicit ? solveExplicit() : solveImplicit();
    if (solution_.independent.empty()) {
      warn("the loops leave it no degree of freedom: it is a rigid structure.");
    }
    return std::move(solution_);
  }

 private:
  void warn(const std::string& text) {
    if (!text.empty()) {
      solution_.warnings.push_back(problem_.description + ": " + text);
    }
  }

  /// The couplings are linear: K is constant, and the same position serves for everything.
  void solveExplicit() {
    const Eigen::MatrixXd K = search_.jacobianAt(search_.start());
    requireAgreement(problem_, K);
    const std::vector<RowSample> rows{{search_.scaled(K), 0.0}};
    rows_ = selectRows(rows);
    adopt(selectColumns(), rows);
    writeExplicitSolution(problem_, rows_, K, search_.start(), solution_);
    solution_.couplingForces = couplingForces(problem_.tables, cluster_, K, solution_.dependent);
  }

  void solveImplicit() {
    MobilitySamples samples(problem_, search_);
    warn(samples.collect());
    std::vector<RowSample> rows = scaledRows(samples);
    rows_ = selectRows(rows);
    ColumnSelection columns = selectColumns();
    if (columns.origin == ColumnSelection::Origin::Inadmissible &&
        samples.findBranchOfMarked(rows_, mobility())) {
      rows = scaledRows(samples);
      rows_ = selectRows(rows);
      columns = selectColumns();
    }
    adopt(columns, rows);
    chooseNeutral(samples.list());
    warn(startPoseWarning(problem_, solution_.neutral));
    std::vector<double> q = solution_.neutral;
    search_.close(q, solution_.dependent, Rows::Kept);
    warn(roundingWarning(problem_, rows_, search_.rows()));
  }

  [[nodiscard]] int mobility() const { return cluster_.velocities - rows_.rank; }

  [[nodiscard]] ColumnSelection selectColumns() const {
    return selectIndependent(rows_, mobility(), problem_.wishes);
  }

  /// From here on the cluster knows which rows are kept.
  void adopt(const ColumnSelection& columns, const std::vector<RowSample>& samples) {
    for (const std::string& text : independentWarnings(problem_, columns, mobility())) {
      warn(text);
    }
    solution_.independent = columns.independent;
    solution_.dependent = columns.dependent;
    std::ranges::copy(rows_.slots, problem_.tables.rowSlots.begin() + cluster_.firstRow);
    solution_.forceIsUnique = uniqueForces(problem_.tables, cluster_, rows_, samples);
  }

  /// K at the samples, in the units of scales.hpp.
  [[nodiscard]] std::vector<RowSample> scaledRows(const MobilitySamples& samples) const {
    std::vector<RowSample> list;
    for (const ClosedPosition& sample : samples.list()) {
      list.push_back({search_.scaled(sample.K), sample.gap});
    }
    return list;
  }

  /// The start with the dependent positions solved for, where that is regular and within the
  /// limits; else, of closed positions nearly as well conditioned as any found, the nearest.
  void chooseNeutral(const std::vector<ClosedPosition>& samples) {
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
      const Closure closure = search_.close(q, solution_.dependent, Rows::Kept);
      if (!closure.closed) {
        open = closure;
        openAt = std::move(q);
        return;
      }
      const double conditioning =
          rows_.conditioning(search_.scaled(search_.jacobianAt(q)), solution_.dependent);
      candidates.push_back(
          {q, conditioning, search_.distance(search_.start(), q), search_.withinLimits(q)});
    };
    // The drawn pose first, then the closed position nearest to it, then the others.
    consider(search_.start());
    const std::size_t drawn = candidates.size();
    for (const ClosedPosition& sample : samples) {
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
      consider(search_.moved(search_.start(), way));
    }
    if (candidates.empty()) {
      search_.failToClose(open, openAt, static_cast<int>(samples.size()));
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
      warn(limitsWarning(problem_, solution_.neutral));
    }
  }

  const ClusterProblem& problem_;
  const ClusterEntry& cluster_;
  ClosedPositionSearch search_;
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
