#include "simulation/singular_point.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "loops/assembly.hpp"
#include "loops/cluster_velocity.hpp"
#include "loops/decompositions.hpp"
#include "model/positions.hpp"
#include "simulation/regularity.hpp"

namespace kempe::detail {
namespace {

/// The search gives up farther than this, in radians or lengths of the cluster, from its start.
constexpr double kReach = 0.5;
constexpr int kNewtonIterations = 12;
/// A search that failed is not repeated nearer than this to its start.
constexpr double kSameStart = 0.01;
/// Newton's method stops at steps of this length; f* is then right to its square.
constexpr double kFound = 1e-9;
/// Half the distance over which F is differenced: B is right to the square of this, which makes
/// Newton's method gain eight digits per iteration.
constexpr double kHalfDifference = 1e-4;
/// Directions in which B is below this fraction of its largest are along the crease.
constexpr double kCrease = 1e-5;
/// The same in the first iteration, at a distance of up to kNarrow (regularity.hpp) from a crease:
/// B along it is of that order there, and a step by that would lead far along the crease.
constexpr double kCreaseAhead = 0.03;
/// The same of its eigenvalues where branches meet in a crease.
constexpr double kFlat = 1e-3;

}  // namespace

SingularPoint::SingularPoint(const Model& model, const LoopScales& scales, int cluster)
    : model_(model), scales_(scales), index_(cluster), scratch_(viewOf<double>(model.impl())) {
  const ClusterEntry& own = this->cluster();
  const auto positions = static_cast<std::size_t>(own.positions);
  q_.resize(positions);
  aside_.resize(positions);
  moved_.resize(positions);
  step_.resize(static_cast<std::size_t>(own.velocities));
  rows_.resize(static_cast<std::size_t>(own.kept));
  columns_.resize(static_cast<std::size_t>(own.velocities));
  all_.resize(columns_.size());
  std::iota(all_.begin(), all_.end(), 0);
  reduced_.setZero(own.kept, own.velocities + 1);
}

void SingularPoint::reduce(const double* q) {
  const TablesView<double>& tables = viewOf<double>(model_.impl());
  const Functions& functions = model_.impl().mechanism.functions;
  const int n = cluster().velocities;
  const int* slots = tables.rowSlots.data() + cluster().firstRow;
  ClusterState<double> state = scratch_.state(q);
  placeCluster(tables, cluster(), state);
  loopValues(tables, functions, cluster(), state, scratch_.forFunctions(), scratch_.phi.data());
  loopJacobian(tables, functions, cluster(), state, scratch_.forFunctions(), slots, cluster().kept,
               scratch_.K.data());
  for (int r = 0; r < cluster().rows; ++r) {
    if (slots[r] >= 0) {
      scratch_.k[slots[r]] = scratch_.phi[r];
    }
  }
  for (int i = 0; i < cluster().kept; ++i) {
    const int row = rows_[i];
    const double scale = scales_.row[cluster().firstRow + row];
    for (int j = 0; j < n; ++j) {
      reduced_(i, j) = scale * scratch_.K[row * n + columns_[j]] *
                       scales_.length[cluster().firstVelocity + columns_[j]];
    }
    reduced_(i, n) = scale * scratch_.k[row];
  }
  // Column by column: few loops of a large cluster share a column, so that most entries are zero.
  for (int d = 0; d < regular(); ++d) {
    reduced_.row(d).tail(n + 1 - d) /= reduced_(d, d);
    for (int j = d + 1; j <= n; ++j) {
      const double entry = reduced_(d, j);
      if (entry != 0.0) {
        reduced_.col(j) -= entry * reduced_.col(d);
        reduced_(d, j) = entry;
      }
    }
    reduced_.col(d).setZero();
    reduced_(d, d) = 1.0;
  }
}

/// Orders rows and columns by complete pivoting at q_; the widest gap between pivots separates the
/// regular ones.
bool SingularPoint::choosePivots() {
  const int rows = cluster().kept, n = cluster().velocities;
  std::iota(rows_.begin(), rows_.end(), 0);
  std::iota(columns_.begin(), columns_.end(), 0);
  corank_ = rows;
  reduce(q_.data());  // nothing but K
  double before = 0.0, widest = 1.0;
  int regular = rows;
  for (int d = 0; d < rows; ++d) {
    Eigen::Index row = 0, column = 0;
    const double pivot = reduced_.block(d, d, rows - d, n - d).cwiseAbs().maxCoeff(&row, &column);
    if (!(pivot > 0.0)) {
      regular = std::min(regular, d);
      break;
    }
    if (d > 0 && before / pivot > widest) {
      widest = before / pivot;
      regular = d;
    }
    before = pivot;
    reduced_.row(d).swap(reduced_.row(d + row));
    reduced_.col(d).swap(reduced_.col(d + column));
    std::swap(rows_[d], rows_[d + row]);
    std::swap(columns_[d], columns_[d + column]);
    const int below = rows - d - 1;
    reduced_.col(d).tail(below) /= reduced_(d, d);
    for (int j = d + 1; j < n; ++j) {
      const double entry = reduced_(d, j);
      if (entry != 0.0) {
        reduced_.col(j).tail(below) -= entry * reduced_.col(d).tail(below);
      }
    }
  }
  corank_ = rows - regular;
  return corank_ > 0;
}

void SingularPoint::closeRegularRows(std::vector<double>& q) {
  const int n = cluster().velocities;
  for (int round = 0; round < 6; ++round) {
    reduce(q.data());
    const double size = regular() > 0 ? reduced_.col(n).head(regular()).cwiseAbs().maxCoeff() : 0.0;
    if (size < 1e-15) {
      return;
    }
    std::ranges::fill(step_, 0.0);
    for (int i = 0; i < regular(); ++i) {
      step_[columns_[i]] = -reduced_(i, n) * scales_.length[cluster().firstVelocity + columns_[i]];
    }
    std::ranges::copy(q, moved_.begin());
    retractCluster(model_.impl().tables, cluster(), moved_.data(), step_.data(), q.data());
  }
  reduce(q.data());
}

Eigen::VectorXd SingularPoint::spread(const Eigen::VectorXd& beta) const {
  const int n = cluster().velocities;
  Eigen::VectorXd velocities(n);
  const Eigen::VectorXd regularPart =
      -reduced_.block(0, regular(), regular(), free()) * beta;  // T β
  for (int i = 0; i < n; ++i) {
    velocities[columns_[i]] = (i < regular() ? regularPart[i] : beta[i - regular()]) *
                              scales_.length[cluster().firstVelocity + columns_[i]];
  }
  return velocities;
}

void SingularPoint::moveFree(const Eigen::VectorXd& beta, std::vector<double>& q) {
  const Eigen::VectorXd step = spread(beta);
  std::ranges::copy(q, moved_.begin());
  retractCluster(model_.impl().tables, cluster(), moved_.data(), step.data(), q.data());
  closeRegularRows(q);
}

/// B by central differences of F at q_.
void SingularPoint::differentiate() {
  B_.assign(static_cast<std::size_t>(corank_), Eigen::MatrixXd::Zero(free(), free()));
  const auto difference = [&](int k, double way) {
    reduce(q_.data());
    std::ranges::copy(q_, aside_.begin());
    moveFree(Eigen::VectorXd::Unit(free(), k) * way, aside_);
    for (int i = 0; i < corank_; ++i) {
      B_[i].col(k) +=
          reduced_.row(regular() + i).segment(regular(), free()).transpose() / (2.0 * way);
    }
  };
  for (int k = 0; k < free(); ++k) {
    difference(k, kHalfDifference);
    difference(k, -kHalfDifference);
  }
  for (Eigen::MatrixXd& B : B_) {
    B = (0.5 * (B + B.transpose())).eval();
  }
  reduce(q_.data());
}

bool SingularPoint::locate(const double* from) {
  found_ = false;
  searched_.assign(from, from + cluster().positions);
  std::copy_n(from, cluster().positions, q_.begin());
  if (!choosePivots()) {
    return false;
  }
  Eigen::VectorXd way = Eigen::VectorXd::Zero(free());
  for (int iteration = 0; iteration < kNewtonIterations; ++iteration) {
    closeRegularRows(q_);
    if (iteration < 3) {
      differentiate();
    }
    // Σ_k B_ijk β_k = −F_ij; along a crease there are many solutions, of which the nearest counts.
    Eigen::MatrixXd A(corank_ * free(), free());
    Eigen::VectorXd b(corank_ * free());
    for (int i = 0; i < corank_; ++i) {
      A.middleRows(i * free(), free()) = B_[i];
      b.segment(i * free(), free()) =
          -reduced_.row(regular() + i).segment(regular(), free()).transpose();
    }
    const auto [beta, rank] = leastNormSolution(A, b, iteration == 0 ? kCreaseAhead : kCrease);
    way += beta;
    if (!(way.cwiseAbs().maxCoeff() < kReach)) {
      return false;
    }
    moveFree(beta, q_);
    if (beta.cwiseAbs().maxCoeff() < kFound) {
      miss_ = reduced_.col(cluster().velocities).tail(corank_).cwiseAbs().maxCoeff();
      // Of more curvature, it is the tip of a cone, which a motion passes at some distance.
      found_ = rank <= corank_ + 1;
      findCrease();
      ofKeptRows_ = found_ && cluster().rows > cluster().kept &&
                    regularityOfAllRows(q_.data()) >
                        kNearSingular * regularityOfAllRows(model_.impl().neutralPositions.data() +
                                                            cluster().firstPosition);
      return found_;
    }
  }
  return false;
}

double SingularPoint::regularityOfAllRows(const double* q) {
  const TablesView<double>& tables = viewOf<double>(model_.impl());
  const int n = cluster().velocities;
  std::vector<double> K(static_cast<std::size_t>(cluster().rows * n));
  ClusterState<double> state = scratch_.state(q);
  placeCluster(tables, cluster(), state);
  loopJacobian(tables, model_.impl().mechanism.functions, cluster(), state, scratch_.forFunctions(),
               nullptr, cluster().rows, K.data());
  Eigen::MatrixXd scaled(cluster().rows, n);
  for (int r = 0; r < cluster().rows; ++r) {
    for (int i = 0; i < n; ++i) {
      scaled(r, i) = tables.rowScales[cluster().firstRow + r] * K[r * n + i] *
                     scales_.length[cluster().firstVelocity + i];
    }
  }
  return singularValues(scaled)[cluster().kept - 1];
}

void SingularPoint::difference(const double* from, const double* to, double* step) const {
  differenceOfCluster(viewOf<double>(model_.impl()), cluster(), from, to, step);
}

/// Directions in which B vanishes, if there is one reduced equation.
void SingularPoint::findCrease() {
  const int n = cluster().velocities;
  crease_.resize(n, 0);
  if (!found_ || corank_ != 1 || free() < 3) {
    return;
  }
  const SymmetricEigen eigen = symmetricEigen(B_[0]);
  const double largest = eigen.values.cwiseAbs().maxCoeff();
  for (int k = 0; k < free(); ++k) {
    if (std::abs(eigen.values[k]) > kFlat * largest) {
      continue;
    }
    Eigen::VectorXd column = spread(eigen.V.col(k));
    for (int i = 0; i < n; ++i) {
      column[i] /= scales_.length[cluster().firstVelocity + i];
    }
    column -= crease_ * (crease_.transpose() * column);
    crease_.conservativeResize(n, crease_.cols() + 1);
    crease_.rightCols(1) = column.normalized();
  }
}

double SingularPoint::distanceAlong(const double* direction, const double* positions) {
  // δ = a d + C c: with d⊥ = d − C Cᵀ d, a = d⊥·δ / d⊥·d.
  difference(q_.data(), positions, step_.data());
  const int n = cluster().velocities;
  across_.resize(n);
  double largest = 0.0;
  for (int i = 0; i < n; ++i) {
    across_[i] = direction[i] / scales_.length[cluster().firstVelocity + i];
    largest = std::max(largest, std::abs(across_[i]));
  }
  if (crease_.cols() > 0) {
    across_ -= crease_ * (crease_.transpose() * across_);
  }
  double along = 0.0, square = 0.0;
  for (int i = 0; i < n; ++i) {
    const double length = scales_.length[cluster().firstVelocity + i];
    along += across_[i] * step_[i] / length;
    square += across_[i] * direction[i] / length;
  }
  return along * largest / square;
}

std::optional<SingularPoint::Turn> SingularPoint::turn(const double* direction) const {
  const int n = cluster().velocities;
  if (!found_ || corank_ != 1) {
    return std::nullopt;
  }
  // B has one positive and one negative eigenvalue, and m − 1 that vanish, along the crease.
  const SymmetricEigen eigen = symmetricEigen(B_[0]);
  const int last = free() - 1;
  const double largest = eigen.values.cwiseAbs().maxCoeff();
  for (int i = 1; i < last; ++i) {
    if (std::abs(eigen.values[i]) > kFlat * largest) {
      return std::nullopt;
    }
  }
  if (!(eigen.values[0] < -kFlat * largest && eigen.values[last] > kFlat * largest)) {
    return std::nullopt;
  }
  // Asymptotes d of ½ βᵀ B β = −f*: the one that the motion follows, and the other.
  Eigen::VectorXd coming(free());
  for (int i = 0; i < free(); ++i) {
    const int column = columns_[regular() + i];
    coming[i] = direction[column] / scales_.length[cluster().firstVelocity + column];
  }
  const double x = eigen.V.col(last).dot(coming), y = eigen.V.col(0).dot(coming);
  const Eigen::VectorXd positive = eigen.V.col(last) / std::sqrt(eigen.values[last]);
  const Eigen::VectorXd negative = eigen.V.col(0) / std::sqrt(-eigen.values[0]);
  const double sideX = x < 0.0 ? -1.0 : 1.0, sideY = y < 0.0 ? -1.0 : 1.0;
  const Eigen::VectorXd along = sideX * positive + sideY * negative;
  Eigen::VectorXd other = sideX * positive - sideY * negative;
  // With β = a d₁ + b d₂, a b = −f* / d₁ᵀ B d₂. a comes from below zero, so b goes the way of
  // −a b.
  const double product = -reduced_(regular(), n) / along.dot(B_[0] * other);
  other *= product > 0.0 ? -1.0 : 1.0;
  Turn result;
  result.after = spread(other);
  double size = 0.0;
  for (int i = 0; i < n; ++i) {
    size = std::max(size, std::abs(result.after[i]) / scales_.length[cluster().firstVelocity + i]);
  }
  result.after /= size;
  result.width = std::sqrt(std::abs(product)) * std::max(size, along.cwiseAbs().maxCoeff());
  result.crease.resize(n, last - 1);
  for (int i = 1; i < last; ++i) {
    result.crease.col(i - 1) = spread(eigen.V.col(i));
  }
  return result;
}

void SingularPoint::placeBeside(double distance, const Eigen::VectorXd& branch, double* positions) {
  // All velocities move, so that no choice of coordinates is needed.
  for (int i = 0; i < cluster().velocities; ++i) {
    step_[i] = distance * branch[i];
  }
  const Closure closure =
      closeLoops(viewOf<double>(model_.impl()), model_.impl().mechanism.functions, cluster(),
                 scratch_, q_.data(), step_.data(), all_, Rows::Kept);
  if (!closure.closed) {
    throwAssemblyError(model_.impl(), cluster(), scratch_.q.data(), closure.opening,
                       closure.worstRow);
  }
  std::copy_n(scratch_.q.data(), cluster().positions, positions);
}

double SingularPoint::distance(const std::vector<double>& from, const double* positions) {
  difference(from.data(), positions, step_.data());
  double largest = 0.0;
  for (int i = 0; i < cluster().velocities; ++i) {
    largest = std::max(largest, std::abs(step_[i]) / scales_.length[cluster().firstVelocity + i]);
  }
  return largest;
}

bool SingularPoint::isNear(const double* positions) {
  return found_ && distance(q_, positions) < 0.5 * kReach;
}

bool SingularPoint::isKnownNear(const double* positions) {
  // A search that failed will fail again nearby; one along a crease leads to another point.
  if (found_) {
    return cluster().nv == 1 && isNear(positions);
  }
  return !searched_.empty() && distance(searched_, positions) < kSameStart;
}

}  // namespace kempe::detail
