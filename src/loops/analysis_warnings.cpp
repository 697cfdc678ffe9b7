#include "loops/analysis_warnings.hpp"

#include <algorithm>
#include <cmath>

#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// How far from the start pose, in radians or reaches, the neutral position may be without a warning.
constexpr double kFarFromPose = 0.1;

}  // namespace

std::string startPoseWarning(const ClusterProblem& problem, const std::vector<double>& neutral) {
  const ModelTables<double>& tables = problem.tables;
  const ClusterEntry& cluster = problem.cluster;
  std::vector<std::string> elsewhere;
  for (int b = 0; b < cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[cluster.firstBody + b];
    const int position = body.firstPosition - cluster.firstPosition;
    const int velocity = body.firstVelocity - cluster.firstVelocity;
    if (!hasScalarCoordinates(body.type) || !std::ranges::binary_search(problem.posed, velocity)) {
      continue;
    }
    for (int i = 0; i < velocitySize(body.type); ++i) {
      const double given = problem.start[position + i], x = neutral[position + i];
      if (std::abs(x - given) > kFarFromPose * tables.velocityScales[body.firstVelocity + i]) {
        elsewhere.push_back(problem.names[velocity + i] + " = " + shortNumber(x) + " instead of " +
                            shortNumber(given));
      }
    }
  }
  if (elsewhere.empty()) {
    return "";
  }
  return "the loops cannot be closed at the start pose; the neutral configuration has " +
         joined(elsewhere) + ".";
}

std::string limitsWarning(const ClusterProblem& problem, const std::vector<double>& neutral) {
  const ModelTables<double>& tables = problem.tables;
  const ClusterEntry& cluster = problem.cluster;
  std::vector<std::string> beyond;
  for (int b = 0; b < cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[cluster.firstBody + b];
    for (int i = 0; hasScalarCoordinates(body.type) && i < velocitySize(body.type); ++i) {
      const int p = body.firstPosition - cluster.firstPosition + i;
      const double x = neutral[p];
      if (x < problem.lower[p] || x > problem.upper[p]) {
        beyond.push_back(problem.names[body.firstVelocity - cluster.firstVelocity + i] + " = " +
                         shortNumber(x) + " (" + shortNumber(problem.lower[p]) + " to " +
                         shortNumber(problem.upper[p]) + ")");
      }
    }
  }
  return "no closed configuration within its joint limits was found; the neutral one has " +
         joined(beyond) + ". Check the limits, or give a start pose.";
}

std::string roundingWarning(const ClusterProblem& problem, const RowSelection& rows,
                            const std::vector<double>& phi) {
  const ModelTables<double>& tables = problem.tables;
  const ClusterEntry& cluster = problem.cluster;
  const double* scales = tables.rowScales.data() + cluster.firstRow;
  double gap = 0.0;
  int worst = -1;
  for (int r = 0; r < cluster.rows; ++r) {
    const double open = scales[r] * std::abs(phi[r]);
    if (rows.slots[r] < 0 && open > std::max(gap, 1e-10)) {
      gap = open;
      worst = r;
    }
  }
  if (worst < 0 && rows.largestDropped < 1e-7) {
    return "";
  }
  const std::string stays = worst < 0 ? ""
                                      : "; " + problem.rowNames[worst] + " stays open there by " +
                                            shortNumber(std::abs(phi[worst]));
  return "it is partly redundant, to the rounding of the numbers in the file: singular values of "
         "its rows down to " +
         shortNumber(rows.smallestKept) + " are kept, those from " +
         shortNumber(rows.largestDropped) + " on are treated as zero" + stays +
         ". Give the numbers with more digits.";
}

std::vector<std::string> independentWarnings(const ClusterProblem& problem,
                                             const ColumnSelection& columns, int mobility) {
  const ModelTables<double>& tables = problem.tables;
  const ClusterEntry& cluster = problem.cluster;
  std::vector<std::string> texts;
  if (columns.origin == ColumnSelection::Origin::AsMarked || mobility == 0) {
    return texts;
  }
  std::vector<char> modal(static_cast<std::size_t>(cluster.velocities), 0);
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    if (tables.bodies[b].type == JointType::Mode) {
      modal[tables.bodies[b].firstVelocity - cluster.firstVelocity] = 1;
    }
  }
  std::vector<std::string> chosen, added, marked, following;
  for (const int i : columns.dependent) {
    if (modal[i] != 0) {
      following.push_back(problem.names[i]);
    }
  }
  if (!following.empty()) {
    texts.push_back("its loops bind flexible bodies: " + joined(following) +
                    (following.size() == 1 ? " follows" : " follow") +
                    " from the other coordinates.");
  }
  for (const int i : columns.independent) {
    if (modal[i] != 0) {
      --mobility;
      continue;
    }
    chosen.push_back(problem.names[i]);
    if (problem.wishes[i] != Wish::Independent) {
      added.push_back(problem.names[i]);
    }
  }
  for (int i = 0; i < cluster.velocities; ++i) {
    if (problem.wishes[i] == Wish::Independent && modal[i] == 0) {
      marked.push_back(problem.names[i]);
    }
  }
  const bool allKept = chosen.size() == added.size() + marked.size();
  if (allKept && added.empty()) {
    return texts;
  }
  const std::string degrees =
      counted(mobility, "degree of freedom", "degrees of freedom") +
      (std::ranges::count(modal, 1) > 0 ? " beside the modes of its flexible bodies" : "");
  const std::string coordinates = counted(marked.size(), "coordinate is", "coordinates are") +
                                  " marked independent (" + joined(marked) + "); ";
  const std::string result = "chosen for good conditioning: " + joined(chosen) + ".";
  if (columns.origin == ColumnSelection::Origin::Inadmissible && !marked.empty()) {
    texts.push_back("the coordinates marked independent do not determine the others; " + result);
  } else if (marked.empty()) {
    texts.push_back("it has " + degrees + " and no independent coordinates are marked; " + result);
  } else if (allKept) {
    texts.push_back("it has " + degrees + ", but only " + coordinates +
                    "added for good conditioning: " + joined(added) + ".");
  } else {
    texts.push_back("it has " + degrees + ", but " + coordinates + result + " Mark " +
                    std::to_string(mobility) + ".");
  }
  return texts;
}

}  // namespace kempe::detail
