#include "loops/mobility_samples.hpp"

#include <algorithm>
#include <cmath>

#include "loops/decompositions.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

constexpr int kSamples = 12;

}  // namespace

std::string MobilitySamples::collect() {
  samples_.push_back(search_.nearStart());
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
    const ClosedPosition& from = samples_[regular[static_cast<std::size_t>(walk) % regular.size()]];
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
  if ((branchesMeet || regular.size() == 1) && !movesFreely(samples_[regular.front()], mobility)) {
    return "its " + counted(mobility, "degree", "degrees") +
           " of freedom may be too many: it is drawn where several branches of its motion meet, "
           "and "
           "no regular position was found beside. Draw it elsewhere, or give a start pose.";
  }
  return "";
}

int MobilitySamples::mobilityAt(const ClosedPosition& sample) const {
  return cluster_.velocities - rankOf(singularValues(search_.scaled(sample.K)), sample.gap);
}

void MobilitySamples::lookForMobility() {
  search_.fromManyStarts(kSamples, [&](const std::vector<double>& from, WorkBudget& budget) {
    std::vector<double> q = from;
    const Closure closure = search_.assemble(q, {.budget = &budget});
    if (closure.gap >= kRounding || !search_.withinLimits(q)) {
      return false;
    }
    ClosedPosition sample{q, search_.jacobianAt(q), closure.gap};
    if (mobilityAt(sample) == 0) {
      return false;
    }
    samples_.front() = std::move(sample);
    return true;
  });
}

bool MobilitySamples::walkFrom(const ClosedPosition& from, int mobility) {
  const auto [values, V] = leftSingularVectors(search_.scaled(from.K).transpose());
  Eigen::VectorXd way = V.rightCols(mobility) * search_.randomWay(1.0).head(mobility);
  way /= way.cwiseAbs().maxCoeff();
  for (double stride = search_.random().uniform(0.1, 0.6); stride > 0.005; stride *= 0.5) {
    if (addSampleNear(from, stride * way, search_.allVelocities(), 0.2 * stride)) {
      return true;
    }
  }
  return false;
}

bool MobilitySamples::movesFreely(const ClosedPosition& from, int mobility) {
  constexpr double kStride = 1e-3;
  const auto [values, V] = leftSingularVectors(search_.scaled(from.K).transpose());
  for (int i = 0; i < mobility; ++i) {
    const std::vector<double> ahead = search_.moved(from.q, kStride * V.rightCols(mobility).col(i));
    std::vector<double> q = ahead;
    if (search_.assemble(q, {}).gap >= kRounding || search_.distance(ahead, q) > 0.1 * kStride) {
      return false;
    }
  }
  return true;
}

bool MobilitySamples::stepAside(const ClosedPosition& from) {
  const int held = static_cast<int>(search_.random().uniform(0.0, cluster_.velocities));
  Eigen::VectorXd way = Eigen::VectorXd::Zero(cluster_.velocities);
  const double direction = search_.random().uniform(-1.0, 1.0);
  way[held] = std::copysign(search_.random().uniform(0.2, 1.0), direction);
  return addSampleNear(from, way, complement({held}, cluster_.velocities), 0.1);
}

bool MobilitySamples::addSampleNear(const ClosedPosition& from, const Eigen::VectorXd& way,
                                    const std::vector<int>& movable, double far) {
  std::vector<double> q = search_.moved(from.q, way);
  Closure closure = search_.assemble(q, movable, {});
  // Beside a point where branches meet, loops seem closed before the mechanism is on one of them.
  std::vector<double> closed = q;
  if (const Closure exact = search_.close(closed, movable, Rows::All); exact.closed) {
    closure = exact;
    q = closed;
  }
  if (closure.gap >= kRounding || search_.distance(from.q, q) <= far ||
      (search_.withinLimits(from.q) && !search_.withinLimits(q))) {
    return false;
  }
  samples_.push_back({q, search_.jacobianAt(q), closure.gap});
  return true;
}

bool MobilitySamples::findBranchOfMarked(const RowSelection& rows, int mobility) {
  std::vector<int> marked, dependent;
  for (int i = 0; i < cluster_.velocities; ++i) {
    (problem_.wishes[i] == Wish::Independent ? marked : dependent).push_back(i);
  }
  if (static_cast<int>(marked.size()) != mobility) {
    return false;
  }
  std::vector<ClosedPosition> found;
  const auto consider = [&](const ClosedPosition& sample) {
    const Eigen::MatrixXd K = search_.scaled(sample.K);
    if (rankOf(singularValues(K), sample.gap) == rows.rank &&
        rows.conditioning(K, dependent) > kWellConditioned) {
      found.push_back(sample);
    }
  };
  std::ranges::for_each(samples_, consider);
  search_.fromManyStarts(4 * kSamples, [&](const std::vector<double>& from, WorkBudget& budget) {
    std::vector<double> q = from;
    const Closure closure = search_.assemble(q, {.budget = &budget});
    if (closure.gap < kRounding && search_.withinLimits(q)) {
      consider({q, search_.jacobianAt(q), closure.gap});
    }
    return found.size() >= kSamples;
  });
  if (found.empty()) {
    return false;
  }
  samples_ = std::move(found);
  return true;
}

}  // namespace kempe::detail
