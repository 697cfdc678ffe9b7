#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/finite_elements.hpp"

namespace kempe {

/// A matrix from a file. Its entries are kept apart from Eigen's matrices, whose memory depends on the
/// flags of the compiler: matrix() makes one in the caller's program.
struct MatrixEntries {
  int rows = 0, columns = 0;
  std::vector<Eigen::Triplet<double>> entries{};  ///< those at the same place are added

  [[nodiscard]] Eigen::SparseMatrix<double> matrix() const {
    Eigen::SparseMatrix<double> result(rows, columns);
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
  }
};

/// Reads a real matrix from a Matrix Market file (`.mtx`): coordinate or array, general or symmetric.
/// Both triangles are stored.
/// @throws ModelError with file and line
[[nodiscard]] KEMPE_API MatrixEntries readMatrix(const std::filesystem::path& path);
/// The same of text; errors refer to it as `source`.
[[nodiscard]] KEMPE_API MatrixEntries readMatrixText(std::string_view text,
                                                     const std::string& source = "matrix");

/// Nodes of a mesh.
struct NodeTable {
  std::vector<double> coordinates{};  ///< x, y and z of each node
  std::vector<std::string> names{};   ///< empty, or one for each node

  /// N × 3, as reduceFiniteElements() takes them.
  [[nodiscard]] Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>
  positions() const {
    return {coordinates.data(), static_cast<Eigen::Index>(coordinates.size() / 3), 3};
  }
};

/// Reads nodes from a text file: a line for each, of three numbers or of a name and three numbers,
/// with commas, semicolons or blanks between them. Empty lines, lines that begin with # and a heading
/// are skipped.
/// @throws ModelError with file and line
[[nodiscard]] KEMPE_API NodeTable readNodes(const std::filesystem::path& path);
[[nodiscard]] KEMPE_API NodeTable readNodesText(std::string_view text,
                                                const std::string& source = "nodes");

}  // namespace kempe
