#pragma once

#include <algorithm>
#include <set>

#include "pinocchio_tree.hpp"

/// Between all joints of a tree in Pinocchio and the independent ones, where couplings make the
/// matrix G constant. As fast as can be written by hand: only numbers that are not zero are
/// touched.
namespace kempe::bench {

class SparseProjection {
 public:
  /// `order` is the independent velocity of each number of the reduced order.
  SparseProjection(const PeerRobot& robot, const PinocchioTree<>& tree,
                   const std::vector<int>& order)
      : reduced_(Eigen::MatrixXd::Zero(robot.nv, robot.nv)) {
    const PeerState& first = robot.states.front();
    const auto G = mapOf(first.G, robot.nvSpanning);
    const int n = tree.model.nv;
    for (int row = 0; row < n; ++row) {
      for (std::size_t i = 0; i < order.size(); ++i) {
        const double ratio = G(tree.velocity[row], order[i]);
        if (ratio != 0.0) {
          entries_.push_back({row, static_cast<int>(i), ratio});
        }
      }
    }
    findPositions(robot, tree);
    findProducts(tree);
  }

  /// Spanning positions of Pinocchio from independent ones in the model's order.
  void expandPositions(const Eigen::VectorXd& q, Eigen::VectorXd& positions) const {
    positions = offset_;
    for (const Entry& e : positionEntries_) {
      positions[e.row] += e.ratio * q[e.column];
    }
  }
  void expand(const Eigen::VectorXd& x, Eigen::VectorXd& all) const {  // G x
    all.setZero();
    for (const Entry& e : entries_) {
      all[e.row] += e.ratio * x[e.column];
    }
  }
  void project(const Eigen::VectorXd& all, Eigen::VectorXd& x) const {  // Gᵀ x
    x.setZero();
    for (const Entry& e : entries_) {
      x[e.column] += e.ratio * all[e.row];
    }
  }
  /// Gᵀ H G from the upper triangle of H, upper triangle.
  const Eigen::MatrixXd& project(const Eigen::MatrixXd& H) {
    double* out = reduced_.data();
    for (const int i : touched_) {
      out[i] = 0.0;
    }
    const double* in = H.data();
    for (const Product& p : products_) {
      out[p.to] += p.factor * in[p.from];
    }
    return reduced_;
  }

 private:
  struct Entry {
    int row, column;
    double ratio;
  };
  struct Product {
    int from, to;
    double factor;
  };

  /// From the first state and, for offsets, what is left there.
  void findPositions(const PeerRobot& robot, const PinocchioTree<>& tree) {
    const PeerState& first = robot.states.front();
    const auto G = mapOf(first.G, robot.nvSpanning);
    offset_ = mapOf(first.positions)(tree.position);
    for (Eigen::Index row = 0; row < offset_.size(); ++row) {
      const auto own = std::ranges::find(robot.independentPositions, tree.position[row]);
      if (own != robot.independentPositions.end()) {
        positionEntries_.push_back({static_cast<int>(row),
                                    static_cast<int>(own - robot.independentPositions.begin()),
                                    1.0});
        offset_[row] = 0.0;
      }
    }
    for (const auto& [joint, place] : robot.position) {
      const int v = robot.velocity.at(joint);
      if (std::ranges::find(robot.independentPositions, place) !=
          robot.independentPositions.end()) {
        continue;
      }
      const int row =
          static_cast<int>(std::ranges::find(tree.position, place) - tree.position.begin());
      for (const auto& [driver, driverPlace] : robot.position) {
        const auto i = std::ranges::find(robot.independent, robot.velocity.at(driver));
        const auto own = std::ranges::find(robot.independentPositions, driverPlace);
        if (i == robot.independent.end() || own == robot.independentPositions.end()) {
          continue;
        }
        const double ratio = G(v, i - robot.independent.begin());
        if (ratio != 0.0) {
          const auto column = static_cast<int>(own - robot.independentPositions.begin());
          positionEntries_.push_back({row, column, ratio});
          offset_[row] -= ratio * first.q[static_cast<std::size_t>(column)];
        }
      }
    }
  }

  void findProducts(const PinocchioTree<>& tree) {
    const int n = tree.model.nv;
    const auto nr = static_cast<int>(reduced_.rows());
    std::set<int> touched;
    for (const Entry& a : entries_) {
      for (const Entry& b : entries_) {
        if (a.column > b.column || !related(tree, a.row, b.row)) {
          continue;
        }
        const int to = a.column + nr * b.column;
        products_.push_back(
            {std::min(a.row, b.row) + n * std::max(a.row, b.row), to, a.ratio * b.ratio});
        touched.insert(to);
      }
    }
    std::ranges::sort(products_, {}, &Product::from);
    touched_.assign(touched.begin(), touched.end());
  }

  /// Whether one of two velocities moves the other's joint.
  static bool related(const PinocchioTree<>& tree, int a, int b) {
    for (int above = std::max(a, b); above >= 0;
         above = tree.data.parents_fromRow[static_cast<std::size_t>(above)]) {
      if (above == std::min(a, b)) {
        return true;
      }
    }
    return false;
  }

  std::vector<Entry> entries_, positionEntries_;
  std::vector<Product> products_;
  std::vector<int> touched_;
  Eigen::VectorXd offset_;
  Eigen::MatrixXd reduced_;
};

}  // namespace kempe::bench
