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
#include "mechanism/text.hpp"

namespace kempe::detail {
namespace {

constexpr int kSamples = 12;
constexpr int kAttempts = 240;
/// A neutral position at least this well conditioned is taken as it is.
constexpr double kWellConditioned = 1e-3;

class ClusterAnalyzer {
 public:
  explicit ClusterAnalyzer(const ClusterProblem& problem)
      : problem_(problem),
        tables_(problem.tables),
        cluster_(problem.cluster),
        scratch_(problem.tables),
        random_(1) {}

  ClusterSolution run() {
    cluster_.kind == ClusterKind::Explicit ? sampleCouplings() : sampleConfigurations();
    RowSelection rows = selectRows(jacobians());
    const int freedoms = cluster_.velocities - rows.rank;
    ColumnSelection columns = selectIndependent(rows, freedoms, problem_.wishes);
    reportIndependent(columns, freedoms);

    solution_.independent = columns.independent;
    solution_.dependent = columns.dependent;
    // From here on the cluster knows which rows are kept.
    std::copy(rows.slots.begin(), rows.slots.end(), tables_.rowSlots.begin() + cluster_.firstRow);
    rows_ = std::move(rows);
    solution_.forceIsUnique = uniqueForces(tables_, cluster_, rows_, jacobians());
    if (cluster_.kind == ClusterKind::Explicit) {
      solveCouplings();
      solution_.couplingForces =
          couplingForces(tables_, cluster_, samples_.front().K, solution_.dependent);
    } else {
      chooseNeutral();
    }
    if (freedoms == 0) {
      warn("the loops leave it no freedom: it is a rigid structure.");
    }
    return std::move(solution_);
  }

 private:
  struct Sample {
    std::vector<double> q;
    Eigen::MatrixXd K;
    bool exact = true;
  };

  void warn(const std::string& text) {
    solution_.warnings.push_back(problem_.description + ": " + text);
  }

  std::vector<Eigen::MatrixXd> jacobians() const {
    std::vector<Eigen::MatrixXd> list;
    for (const Sample& sample : samples_) {
      list.push_back(sample.K);
    }
    return list;
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

  bool withinLimits(const std::vector<double>& q) const {
    for (int i = 0; i < cluster_.positions; ++i) {
      if (q[i] < problem_.lower[i] - 1e-9 || q[i] > problem_.upper[i] + 1e-9) {
        return false;
      }
    }
    return true;
  }

  std::vector<double> clampedZero() const {
    std::vector<double> q(static_cast<std::size_t>(cluster_.positions));
    zeroPositions(tables_, cluster_, q.data());
    for (int i = 0; i < cluster_.positions; ++i) {
      q[i] = std::clamp(q[i], problem_.lower[i], problem_.upper[i]);
    }
    return q;
  }

  std::vector<int> allVelocities() const {
    std::vector<int> all(static_cast<std::size_t>(cluster_.velocities));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  /// Closes the loops from `q`, moving `movable`; q becomes the result.
  Closure close(std::vector<double>& q, const std::vector<int>& movable, Rows rows) {
    std::vector<double> step(static_cast<std::size_t>(cluster_.velocities), 0.0);
    const Closure closure = closeLoops(tables_, problem_.functions, cluster_, scratch_, q.data(),
                                       step.data(), movable, rows);
    std::copy_n(scratch_.q.begin(), q.size(), q.begin());
    return closure;
  }

  /// Implicit clusters: closed configurations from starts near zero first, then anywhere.
  void sampleConfigurations() {
    const std::vector<double> zero = clampedZero();
    const std::vector<int> all = allVelocities();
    const double length = clusterReach(tables_, cluster_);
    double closest = std::numeric_limits<double>::infinity();
    std::vector<double> closestQ = zero;
    int closestRow = 0;
    for (int attempt = 0; attempt < kAttempts && exactSamples() < kSamples; ++attempt) {
      std::vector<double> q = zero;
      if (attempt > 0) {
        std::vector<double> step(static_cast<std::size_t>(cluster_.velocities));
        const double spread = std::min(3.0, 0.1 * attempt);
        for (double& s : step) {
          s = random_.uniform(-spread, spread) * (attempt % 2 == 0 ? length : 1.0);
        }
        retractCluster(tables_, cluster_, zero.data(), step.data(), q.data());
        if (attempt > 20) {
          randomPositions(tables_, cluster_, problem_.lower.data(), problem_.upper.data(), length,
                          random_, q.data());
        }
      }
      const Closure closure = close(q, all, Rows::All);
      if (closure.closed || closure.gap < kRedundantClosed) {
        samples_.push_back({q, jacobianAt(q), closure.closed});
      } else if (attempt == 0 || closure.gap < closest) {
        closest = closure.gap;
        closestQ = q;
        closestRow = closure.worstRow;
      }
    }
    if (samples_.empty()) {
      failToClose(closest, closestQ, closestRow);
    }
    if (exactSamples() > 0) {
      std::erase_if(samples_, [](const Sample& sample) { return !sample.exact; });
    }
  }

  int exactSamples() const {
    return static_cast<int>(std::ranges::count_if(samples_, &Sample::exact));
  }

  [[noreturn]] void failToClose(double gap, const std::vector<double>& q, int row) const {
    std::string positions;
    int listed = 0;
    for (int b = 0; b < cluster_.bodies && listed < 4; ++b) {
      const BodyEntry<double>& body = tables_.bodies[cluster_.firstBody + b];
      if (hasScalarCoordinates(body.type)) {
        const int position = body.firstPosition - cluster_.firstPosition;
        const int velocity = body.firstVelocity - cluster_.firstVelocity;
        positions += (listed++ > 0 ? ", " : " at ") + problem_.names[velocity] + " = " +
                     shortNumber(q[position]);
      }
    }
    if (!std::isfinite(gap)) {
      throw ModelError(problem_.rowNames[row] + ": its value is not finite in any of " +
                       std::to_string(kAttempts) + " starts, the first" + positions +
                       ". Check that it gives finite numbers over the range of its joints.");
    }
    throw ModelError(problem_.rowNames[row] + ": the loop cannot be closed; in " +
                     std::to_string(kAttempts) + " starts it stayed open by at least " +
                     shortNumber(gap) + positions +
                     ". Check lengths, origins and axes of its ends, and the joints between them.");
  }

  /// Explicit clusters: K is constant, and the couplings must agree with each other.
  void sampleCouplings() {
    const std::vector<double> zero = clampedZero();
    const Eigen::MatrixXd K = jacobianAt(zero);
    samples_.push_back({zero, K, true});
    for (int rows = 1; rows <= cluster_.rows; ++rows) {
      const Eigen::MatrixXd A = K.topRows(rows);
      const Eigen::VectorXd b = couplingOffsets().head(rows);
      const Eigen::VectorXd q = leastNormSolution(A, b);
      const double gap = (A * q - b).cwiseAbs().maxCoeff();
      if (gap > 1e-9 * (1.0 + b.cwiseAbs().maxCoeff())) {
        throw ModelError(problem_.rowNames[rows - 1] +
                         ": it contradicts the couplings before it (they miss each other by " +
                         shortNumber(gap) + "). Correct its ratios or offset, or remove it.");
      }
    }
  }

  Eigen::VectorXd couplingOffsets() const {
    Eigen::VectorXd b(cluster_.rows);
    for (int l = 0; l < cluster_.loops; ++l) {
      const LoopEntry<double>& loop = tables_.loops[cluster_.firstLoop + l];
      b[loop.firstRow] = loop.offset;
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
    const std::vector<double> zero = clampedZero();
    solution_.neutral = solution_.offset;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < m; ++j) {
        solution_.neutral[i] += solution_.G[i * m + j] * zero[solution_.independent[j]];
      }
    }
  }

  /// Smallest over largest singular value of the dependent columns at q.
  double conditioning(const std::vector<double>& q) {
    return rows_.conditioning(jacobianAt(q), solution_.dependent);
  }

  /// Zero with the dependent positions solved for, where that is regular and within the limits;
  /// else, of closed configurations nearly as well conditioned as any found, the one nearest zero.
  void chooseNeutral() {
    const std::vector<double> zero = clampedZero();
    struct Candidate {
      std::vector<double> q;
      double conditioning;
      double distance;
      bool within;
    };
    std::vector<Candidate> candidates;
    const auto consider = [&](std::vector<double> q) {
      if (!close(q, solution_.dependent, Rows::Kept).closed) {
        return false;
      }
      double distance = 0.0;
      for (int i = 0; i < cluster_.positions; ++i) {
        distance = std::max(distance, std::abs(q[i] - zero[i]));
      }
      candidates.push_back({q, conditioning(q), distance, withinLimits(q)});
      return true;
    };
    if (consider(zero) && candidates.back().within &&
        candidates.back().conditioning > kWellConditioned) {
      solution_.neutral = candidates.back().q;
    } else {
      for (const double turn : {0.3, -0.3, 0.6, -0.6, 1.0, -1.0, 1.5, -1.5}) {
        std::vector<double> step(static_cast<std::size_t>(cluster_.velocities), 0.0);
        for (const int i : solution_.independent) {
          step[i] = turn;
        }
        std::vector<double> q(zero.size());
        retractCluster(tables_, cluster_, zero.data(), step.data(), q.data());
        consider(std::move(q));
      }
      for (const Sample& sample : samples_) {
        consider(sample.q);
      }
      if (candidates.empty()) {
        failToClose(kRedundantClosed, samples_.front().q, 0);
      }
      const bool anyWithin = std::ranges::any_of(candidates, &Candidate::within);
      if (!anyWithin) {
        warn("no closed configuration within its joint limits was found.");
      }
      const auto eligible = [&](const Candidate& c) { return c.within || !anyWithin; };
      double best = 0.0;
      for (const Candidate& c : candidates) {
        best = eligible(c) ? std::max(best, c.conditioning) : best;
      }
      const Candidate* chosen = nullptr;
      for (const Candidate& c : candidates) {
        const bool good = eligible(c) && c.conditioning >= 0.3 * best;
        if (good && (chosen == nullptr || c.distance < chosen->distance)) {
          chosen = &c;
        }
      }
      solution_.neutral = chosen->q;
    }
    reportRounding();
  }

  void reportRounding() {
    std::vector<double> q = solution_.neutral;
    close(q, solution_.dependent, Rows::Kept);
    for (int r = 0; r < cluster_.rows; ++r) {
      if (rows_.slots[r] < 0 && std::abs(scratch_.phi[r]) > 1e-10) {
        warn(problem_.rowNames[r] + " is redundant in part and stays open there by " +
             shortNumber(std::abs(scratch_.phi[r])) +
             ": the file's figures are rounded. Give them with more digits.");
        return;
      }
    }
  }

  void reportIndependent(const ColumnSelection& columns, int freedoms) {
    if (columns.origin == ColumnSelection::Origin::AsMarked || freedoms == 0) {
      return;
    }
    std::vector<std::string> chosen, marked;
    for (const int i : columns.independent) {
      chosen.push_back(problem_.names[i]);
    }
    for (int i = 0; i < cluster_.velocities; ++i) {
      if (problem_.wishes[i] == Wish::Independent) {
        marked.push_back(problem_.names[i]);
      }
    }
    const std::string count = std::to_string(freedoms);
    const std::string result = "chosen for good conditioning: " + joined(chosen) + ".";
    if (columns.origin == ColumnSelection::Origin::Inadmissible) {
      warn("the coordinates marked independent do not determine the others; " + result);
    } else if (marked.empty()) {
      warn("it has " + count + " freedom(s) and no independent coordinates are marked; " + result);
    } else {
      warn("it has " + count + " freedom(s), but " + std::to_string(marked.size()) +
           " coordinate(s) are marked independent (" + joined(marked) + "); " + result + " Mark " +
           count + ".");
    }
  }

  const ClusterProblem& problem_;
  ModelTables<double>& tables_;
  const ClusterEntry& cluster_;
  LoopScratch<double> scratch_;
  Random random_;
  std::vector<Sample> samples_;
  RowSelection rows_;
  ClusterSolution solution_;
};

}  // namespace

double clusterReach(const ModelTables<double>& tables, const ClusterEntry& cluster) {
  double length = 0.0;
  for (int b = 0; b < cluster.bodies; ++b) {
    length = std::max(length, norm(tables.bodies[cluster.firstBody + b].placement.p));
  }
  for (int l = 0; l < cluster.loops; ++l) {
    const LoopEntry<double>& loop = tables.loops[cluster.firstLoop + l];
    length = std::max(
        {length, norm(loop.predecessor.frame.p), norm(loop.successor.frame.p), loop.length});
  }
  return length > 0.0 ? length : 1.0;
}

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
