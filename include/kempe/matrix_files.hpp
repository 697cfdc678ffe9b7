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

/// Reads a real matrix from a Matrix Market file (`.mtx`): coordinate or array, general or symmetric.
/// Entries of coordinate files that occur several times are added. Both triangles are stored.
/// @throws ModelError with file and line
[[nodiscard]] KEMPE_API Eigen::SparseMatrix<double> readMatrix(const std::filesystem::path& path);
/// The same of text; errors refer to it as `source`.
[[nodiscard]] KEMPE_API Eigen::SparseMatrix<double> readMatrixText(
    std::string_view text, const std::string& source = "matrix");

/// Nodes of a mesh.
struct NodeTable {
  Eigen::MatrixXd positions{};       ///< N × 3
  std::vector<std::string> names{};  ///< empty, or one for each node
};

/// Reads nodes from a text file: a line for each, of three numbers or of a name and three numbers,
/// with commas, semicolons or blanks between them. Empty lines, lines that begin with # and a heading
/// are skipped.
/// @throws ModelError with file and line
[[nodiscard]] KEMPE_API NodeTable readNodes(const std::filesystem::path& path);
[[nodiscard]] KEMPE_API NodeTable readNodesText(std::string_view text,
                                                const std::string& source = "nodes");

}  // namespace kempe
