#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "flexible/element_options.hpp"
#include "flexible/node_sets.hpp"

namespace kempe {
namespace {

using detail::Sparse;

/// The lowest modes: of the free body, or of the body held at the first interface node and, if there
/// are more of them, reduced to their displacements and to inner modes (Craig and Bampton 1968).
detail::Eigenmodes elementModes(const detail::FiniteElements& elements,
                                const FiniteElementOptions& options) {
  if (options.interface.empty()) {
    return detail::lowestFreeModes(elements.stiffness, elements.mass,
                                   detail::rigidMotions(elements.nodes, elements.rowsPerNode()),
                                   detail::supports(elements), options.modes);
  }
  const auto [T, interfaceRows] = detail::interfaceCoordinates(elements, options.interface);
  const auto transformed = [&T = T](const Sparse& matrix) -> Sparse {
    const Sparse result = T.transpose() * matrix * T;
    return 0.5 * (result + Sparse(result.transpose()));
  };
  const Sparse K = transformed(elements.stiffness), M = transformed(elements.mass);
  enum class Row : char { Inner, Kept, Held };
  std::vector<Row> kinds(static_cast<std::size_t>(K.rows()), Row::Inner);
  for (const std::vector<int>& rows : interfaceRows) {
    for (const int row : rows) {
      kinds[static_cast<std::size_t>(row)] =
          &rows == &interfaceRows.front() ? Row::Held : Row::Kept;
    }
  }
  std::vector<int> inner, kept;
  for (int row = 0; row < K.rows(); ++row) {
    const Row kind = kinds[static_cast<std::size_t>(row)];
    if (kind == Row::Inner) {
      inner.push_back(row);
    } else if (kind == Row::Kept) {
      kept.push_back(row);
    }
  }
  const auto nKept = static_cast<Eigen::Index>(kept.size());
  const Sparse Kii = detail::part(K, inner, inner), Mii = detail::part(M, inner, inner);
  const detail::Eigenmodes normal =
      detail::lowestModes(Kii, Mii, options.modes - static_cast<int>(nKept));
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(K.rows(), options.modes);
  basis(inner, Eigen::seq(nKept, Eigen::last)) = normal.shapes;
  if (nKept == 0) {
    return {normal.values, T * basis};
  }
  basis(kept, Eigen::seqN(0, nKept)).setIdentity();
  if (!inner.empty()) {
    basis(inner, Eigen::seqN(0, nKept)) =
        -detail::ScaledFactorization(Kii).solve(Eigen::MatrixXd(detail::part(K, inner, kept)));
  }
  const auto reduced = [&](const Sparse& matrix) -> Eigen::MatrixXd {
    const Eigen::MatrixXd result = basis.transpose() * (matrix * basis);
    return 0.5 * (result + result.transpose());
  };
  detail::Eigenmodes modes = detail::eigenmodes(reduced(K), reduced(M), 0);
  modes.shapes = T * (basis * modes.shapes);
  return modes;
}

/// The motion of a node or set of the mesh: six rows, a column per mode.
Eigen::MatrixXd motionsOf(const detail::FiniteElements& elements, const NodeSet& set,
                          const Eigen::MatrixXd& shapes) {
  if (const auto rows = detail::displacementsOf(elements, set)) {
    return *rows * shapes;
  }
  return detail::displacementsAmongNeighbours(elements, set.nodes.front()) * shapes;
}

/// Displacements and rotations of nodes (columns), each crossed with an axis: e × u.
Eigen::MatrixXd turnedAbout(int axis, const Eigen::MatrixXd& shapes) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(shapes.rows(), shapes.cols());
  const int next = (axis + 1) % 3, last = (axis + 2) % 3;
  for (Eigen::Index row = 0; row < shapes.rows(); row += 3) {
    result.row(row + next) = -shapes.row(row + last);
    result.row(row + last) = shapes.row(row + next);
  }
  return result;
}

/// The symmetric matrix with these entries.
template <typename Entry>
SymMat3<double> symmetricFrom(const Entry& at) {
  return {at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)};
}

/// Equations (2) to (4), with ∫ a·b dm = aᵀ M b for displacements a and b of the nodes:
///   e_k·h_i = ∫ e_k·φ_i dm,  e_k·c_i = ∫ (e_k × r)·φ_i dm,  e_k·c_ij = ∫ (e_k × φ_j)·φ_i dm,
///   e_a·J_i e_b = ∫ (e_a × r)·(e_b × φ_i) + (e_b × r)·(e_a × φ_i) dm, and J_ij likewise.
void addElementIntegrals(FlexibleBody& body, const detail::FiniteElements& elements,
                         const Eigen::MatrixXd& shapes) {
  const Sparse& M = elements.mass;
  const Eigen::MatrixXd R = detail::rigidMotions(elements.nodes, elements.rowsPerNode()),
                        MR = M * R;
  const Eigen::MatrixXd rigid = R.transpose() * MR;
  body.rigid.mass = rigid.topLeftCorner<3, 3>().trace() / 3.0;
  // Turning about e_b moves the mass with e_b × h.
  const Eigen::Matrix3d B = rigid.topRightCorner<3, 3>();
  body.rigid.moment = {0.5 * (B(1, 2) - B(2, 1)), 0.5 * (B(2, 0) - B(0, 2)),
                       0.5 * (B(0, 1) - B(1, 0))};
  body.rigid.rotation = symmetricFrom([&](int a, int b) { return rigid(3 + a, 3 + b); });

  std::array<Eigen::MatrixXd, 3> turned, mixed;  // e_k × φ_i; φ_iᵀ M (e_k × φ_j)
  std::array<Eigen::MatrixXd, 3> withRigid;      // (e_a × r)ᵀ M (e_k × φ_i)
  std::array<std::array<Eigen::MatrixXd, 3>, 3> turnedTurned;  // (e_a × φ_i)ᵀ M (e_b × φ_j)
  for (int k = 0; k < 3; ++k) {
    turned[k] = turnedAbout(k, shapes);
  }
  for (int k = 0; k < 3; ++k) {
    const Eigen::MatrixXd momentum = M * turned[k];
    mixed[k] = shapes.transpose() * momentum;
    withRigid[k] = R.rightCols<3>().transpose() * momentum;
    for (int a = 0; a < 3; ++a) {
      turnedTurned[a][k] = turned[a].transpose() * momentum;
    }
  }
  const Eigen::MatrixXd momenta = MR.transpose() * shapes;
  const Eigen::Index n = shapes.cols();
  body.pairs.resize(static_cast<std::size_t>(n * n));
  for (Eigen::Index i = 0; i < n; ++i) {
    Mode& mode = body.modes[static_cast<std::size_t>(i)];
    mode.linear = {momenta(0, i), momenta(1, i), momenta(2, i)};
    mode.angular = {momenta(3, i), momenta(4, i), momenta(5, i)};
    mode.inertia =
        symmetricFrom([&](int a, int b) { return withRigid[b](a, i) + withRigid[a](b, i); });
    for (Eigen::Index j = 0; j < n; ++j) {
      ModePair& pair = body.pairs[static_cast<std::size_t>(i * n + j)];
      for (int k = 0; k < 3; ++k) {
        pair.angular[k] = 0.5 * (mixed[k](i, j) - mixed[k](j, i));
      }
      pair.inertia = symmetricFrom(
          [&](int a, int b) { return turnedTurned[a][b](i, j) + turnedTurned[b][a](i, j); });
    }
  }
}

FlexibleBody reduceElements(std::string_view name, detail::FiniteElements elements,
                            const FiniteElementOptions& options) {
  detail::checkMatrices(name, elements, options);
  detail::Eigenmodes modes = elementModes(elements, options);
  Eigen::MatrixXd& shapes = modes.shapes;
  FlexibleBody body;
  body.body = name;
  for (Eigen::Index i = 0; i < shapes.cols(); ++i) {
    detail::orient(shapes.col(i), static_cast<int>(elements.rowsPerNode()), 3);
    Mode& mode = body.modes.emplace_back();
    mode.stiffness = modes.values[i];
    mode.damping = 2.0 * options.damping * std::sqrt(modes.values[i]);
  }
  addElementIntegrals(body, elements, shapes);
  for (const NodeSet& set : detail::keptNodes(name, elements, options)) {
    FlexibleNode& node = body.nodes.emplace_back();
    node.name = set.name;
    const Eigen::RowVector3d place = detail::placeOf(elements, set);
    node.position = {place[0], place[1], place[2]};
    const Eigen::MatrixXd motions = motionsOf(elements, set, shapes);
    for (Eigen::Index j = 0; j < shapes.cols(); ++j) {
      const auto at = [&](Eigen::Index k) { return motions(k, j); };
      node.shapes.push_back({{at(0), at(1), at(2)}, {at(3), at(4), at(5)}});
    }
  }
  return body;
}

}  // namespace

FlexibleBody reduceFiniteElements(std::string_view body,
                                  const Eigen::Ref<const Eigen::MatrixXd>& nodes,
                                  const Eigen::Ref<const Eigen::MatrixXd>& mass,
                                  const Eigen::Ref<const Eigen::MatrixXd>& stiffness,
                                  const FiniteElementOptions& options) {
  // Full matrices are mostly zeros too.
  return reduceElements(body, {nodes, mass.sparseView(), stiffness.sparseView()}, options);
}

FlexibleBody reduceFiniteElements(std::string_view body,
                                  const Eigen::Ref<const Eigen::MatrixXd>& nodes,
                                  const Eigen::Ref<const Eigen::SparseMatrix<double>>& mass,
                                  const Eigen::Ref<const Eigen::SparseMatrix<double>>& stiffness,
                                  const FiniteElementOptions& options) {
  return reduceElements(body, {nodes, Sparse(mass), Sparse(stiffness)}, options);
}

}  // namespace kempe
