#include "flexible/node_sets.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace kempe::detail {
namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

Eigen::Matrix3d crossMatrix(const Eigen::Vector3d& a) {
  return Eigen::Matrix3d{{0, -a.z(), a.y()}, {a.z(), 0, -a.x()}, {-a.y(), a.x(), 0}};
}

/// Σ |d|² 1 − d dᵀ of the distances d of nodes from their mean.
Eigen::Matrix3d spread(const FiniteElements& elements, const NodeSet& set) {
  const Eigen::RowVector3d mean = placeOf(elements, set);
  Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
  for (const int node : set.nodes) {
    const Eigen::Vector3d d = (elements.nodes.row(node) - mean).transpose();
    sum += d.squaredNorm() * Eigen::Matrix3d::Identity() - d * d.transpose();
  }
  return sum;
}

/// The rotation of nodes is `inverse` Σ d × u.
void addRotation(const FiniteElements& elements, const NodeSet& set, const Eigen::Matrix3d& inverse,
                 Triplets& entries) {
  const Eigen::RowVector3d mean = placeOf(elements, set);
  const int perNode = static_cast<int>(elements.rowsPerNode());
  for (const int node : set.nodes) {
    const Eigen::Vector3d d = (elements.nodes.row(node) - mean).transpose();
    const Eigen::Matrix3d factor = inverse * crossMatrix(d);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        entries.emplace_back(3 + a, perNode * node + b, factor(a, b));
      }
    }
  }
}

Sparse sixRows(const FiniteElements& elements, const Triplets& entries) {
  Sparse result(6, elements.mass.rows());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace

bool isNode(const FiniteElements& elements, const NodeSet& set) {
  return set.nodes.size() == 1 && elements.rowsPerNode() == 6;
}

Eigen::RowVector3d placeOf(const FiniteElements& elements, const NodeSet& set) {
  Eigen::RowVector3d sum = Eigen::RowVector3d::Zero();
  for (const int node : set.nodes) {
    sum += elements.nodes.row(node);
  }
  return sum / static_cast<double>(set.nodes.size());
}

std::optional<Sparse> displacementsOf(const FiniteElements& elements, const NodeSet& set) {
  Triplets entries;
  if (isNode(elements, set)) {
    for (int row = 0; row < 6; ++row) {
      entries.emplace_back(row, 6 * set.nodes.front() + row, 1.0);
    }
    return sixRows(elements, entries);
  }
  const Eigen::Matrix3d theta = spread(elements, set);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> spreads(theta, Eigen::EigenvaluesOnly);
  if (!(spreads.eigenvalues()[0] > 1e-8 * spreads.eigenvalues()[2])) {
    return std::nullopt;
  }
  const int perNode = static_cast<int>(elements.rowsPerNode());
  for (const int node : set.nodes) {
    for (int axis = 0; axis < 3; ++axis) {
      entries.emplace_back(axis, perNode * node + axis,
                           1.0 / static_cast<double>(set.nodes.size()));
    }
  }
  addRotation(elements, set, theta.inverse(), entries);
  return sixRows(elements, entries);
}

Sparse displacementsAmongNeighbours(const FiniteElements& elements, int node) {
  NodeSet set(node);
  Triplets entries;
  for (int axis = 0; axis < 3; ++axis) {
    entries.emplace_back(axis, 3 * node + axis, 1.0);
    for (Sparse::InnerIterator entry(elements.stiffness, 3 * node + axis); entry; ++entry) {
      set.nodes.push_back(static_cast<int>(entry.row() / 3));
    }
  }
  std::sort(set.nodes.begin(), set.nodes.end());
  set.nodes.erase(std::unique(set.nodes.begin(), set.nodes.end()), set.nodes.end());
  const Eigen::Matrix3d inverse =
      spread(elements, set).completeOrthogonalDecomposition().pseudoInverse();
  addRotation(elements, set, inverse, entries);
  return sixRows(elements, entries);
}

std::vector<int> supports(const FiniteElements& elements) {
  const Eigen::MatrixXd& nodes = elements.nodes;
  const Eigen::Index perNode = elements.rowsPerNode();
  // Nodes far apart: the first, the farthest from it, and the farthest from the line between them.
  const Eigen::MatrixXd d = nodes.rowwise() - nodes.row(0);
  std::array<Eigen::Index, 3> chosen{};
  const double size = std::sqrt(d.rowwise().squaredNorm().maxCoeff(&chosen[1]));
  const Eigen::RowVector3d line =
      size > 0.0 ? Eigen::RowVector3d(d.row(chosen[1]) / size) : Eigen::RowVector3d::Zero();
  (d - d * line.transpose() * line).rowwise().squaredNorm().maxCoeff(&chosen[2]);

  const Eigen::MatrixXd rigid = rigidMotions(d, perNode);
  Eigen::MatrixXd motions(6, 3 * perNode);
  for (std::size_t k = 0; k < 3; ++k) {
    motions.middleCols(static_cast<Eigen::Index>(k) * perNode, perNode) =
        rigid.middleRows(perNode * chosen[k], perNode).transpose();
  }
  motions.bottomRows<3>() /= size > 0.0 ? size : 1.0;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(motions);
  qr.setThreshold(1e-6);
  std::vector<int> rows;
  for (Eigen::Index i = 0; i < qr.rank(); ++i) {
    const Eigen::Index column = qr.colsPermutation().indices()[i];
    const auto k = static_cast<std::size_t>(column / perNode);
    rows.push_back(static_cast<int>(perNode * chosen[k] + column % perNode));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

InterfaceCoordinates interfaceCoordinates(const FiniteElements& elements,
                                          const std::vector<NodeSet>& interface) {
  InterfaceCoordinates result;
  const Eigen::Index n = elements.mass.rows();
  std::vector<bool> replaced(static_cast<std::size_t>(n), false);
  Triplets entries;
  for (const NodeSet& set : interface) {
    const Sparse C = *displacementsOf(elements, set);
    std::vector<int> columns;
    for (int column = 0; column < n; ++column) {
      if (C.col(column).nonZeros() > 0) {
        columns.push_back(column);
      }
    }
    // The six columns that are best to solve for.
    const auto size = static_cast<Eigen::Index>(columns.size());
    Eigen::MatrixXd dense(6, size);
    for (Eigen::Index k = 0; k < size; ++k) {
      dense.col(k) = C.col(columns[static_cast<std::size_t>(k)]);
    }
    Eigen::MatrixXd scaled = dense;
    if (!isNode(elements, set)) {  // rotations have another unit
      scaled.topRows<3>() *= static_cast<double>(set.nodes.size());
      scaled.bottomRows<3>() /= scaled.bottomRows<3>().cwiseAbs().maxCoeff();
    }
    const Eigen::VectorXi order =
        Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(scaled).colsPermutation().indices();
    std::vector<Eigen::Index> pivots(order.begin(), order.begin() + 6);
    std::sort(pivots.begin(), pivots.end());
    const Eigen::MatrixXd inverse = Eigen::MatrixXd(dense(Eigen::all, pivots)).inverse();
    const Eigen::MatrixXd others = inverse * dense;
    std::vector<int>& rows = result.rows.emplace_back();
    for (const Eigen::Index pivot : pivots) {
      rows.push_back(columns[static_cast<std::size_t>(pivot)]);
      replaced[static_cast<std::size_t>(rows.back())] = true;
    }
    for (Eigen::Index i = 0; i < 6; ++i) {
      const int row = rows[static_cast<std::size_t>(i)];
      for (Eigen::Index k = 0; k < 6; ++k) {
        entries.emplace_back(row, rows[static_cast<std::size_t>(k)], inverse(i, k));
      }
      for (Eigen::Index k = 0; k < size; ++k) {
        if (!std::ranges::binary_search(pivots, k)) {
          entries.emplace_back(row, columns[static_cast<std::size_t>(k)], -others(i, k));
        }
      }
    }
  }
  for (int row = 0; row < n; ++row) {
    if (!replaced[static_cast<std::size_t>(row)]) {
      entries.emplace_back(row, row, 1.0);
    }
  }
  result.T.resize(n, n);
  result.T.setFromTriplets(entries.begin(), entries.end());
  result.T.prune(0.0, 0.0);
  return result;
}

}  // namespace kempe::detail
