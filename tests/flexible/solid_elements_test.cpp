#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "flexible/element_testing.hpp"
#include "kempe/errors.hpp"

namespace kempe::test {
namespace {

/// A tower of cells of bars between masses: a mesh whose nodes have no rotation. Its axis is z.
Elements tower(int storeys, double skew = 0.0) {
  constexpr int perStorey = 4;
  const int count = perStorey * (storeys + 1);
  Elements result{Eigen::MatrixXd(count, 3), Eigen::MatrixXd::Zero(3 * count, 3 * count),
                  Eigen::MatrixXd::Zero(3 * count, 3 * count)};
  for (int i = 0; i < count; ++i) {
    const int corner = i % perStorey, side = corner / 2, storey = i / perStorey;
    result.nodes.row(i) << 0.1 * (corner % 2) + 0.03 * skew * i, 0.1 * side, 0.12 * storey;
    result.mass.diagonal().segment<3>(3 * i).setConstant(0.02 + 0.005 * (i % 3));
  }
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count && b / perStorey <= a / perStorey + 1; ++b) {
      const Eigen::Vector3d d = (result.nodes.row(b) - result.nodes.row(a)).transpose();
      const Eigen::Matrix3d k =
          (2e4 + 1e3 * (a % 5)) / d.norm() * d.normalized() * d.normalized().transpose();
      result.stiffness.block<3, 3>(3 * a, 3 * a) += k;
      result.stiffness.block<3, 3>(3 * b, 3 * b) += k;
      result.stiffness.block<3, 3>(3 * a, 3 * b) -= k;
      result.stiffness.block<3, 3>(3 * b, 3 * a) -= k;
    }
  }
  return result;
}

std::vector<int> storey(int i) {
  return {4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3};
}

/// Mean displacement and rotation of nodes by the normal equations of their rigid fit.
Eigen::MatrixXd fit(const Elements& elements, const std::vector<int>& nodes) {
  const auto n = static_cast<Eigen::Index>(nodes.size());
  Eigen::RowVector3d mean = Eigen::RowVector3d::Zero();
  for (const int node : nodes) {
    mean += elements.nodes.row(node) / static_cast<double>(n);
  }
  Eigen::MatrixXd G(3 * n, 6), all = Eigen::MatrixXd::Zero(6, elements.mass.rows());
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Vector3d d =
        (elements.nodes.row(nodes[static_cast<std::size_t>(i)]) - mean).transpose();
    G.block<3, 3>(3 * i, 0).setIdentity();
    for (int axis = 0; axis < 3; ++axis) {
      G.block<3, 1>(3 * i, 3 + axis) = Eigen::Vector3d::Unit(axis).cross(d);
    }
  }
  const Eigen::MatrixXd C = (G.transpose() * G).inverse() * G.transpose();
  for (Eigen::Index i = 0; i < n; ++i) {
    all.middleCols<3>(3 * nodes[static_cast<std::size_t>(i)]) = C.middleCols<3>(3 * i);
  }
  return all;
}

/// Displacements under `load` with the mean displacement and rotation of `held` zero.
Eigen::VectorXd deflection(const Elements& elements, const Eigen::MatrixXd& held,
                           const Eigen::VectorXd& load) {
  const Eigen::Index n = load.size();
  Eigen::MatrixXd saddle = Eigen::MatrixXd::Zero(n + 6, n + 6);
  const double scale = elements.stiffness(0, 0);
  saddle.topLeftCorner(n, n) = elements.stiffness;
  saddle.topRightCorner(n, 6) = scale * held.transpose();
  saddle.bottomLeftCorner(6, n) = scale * held;
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n + 6);
  right.head(n) = load;
  return saddle.partialPivLu().solve(right).head(n);
}

Eigen::VectorXd motionOf(const FlexibleNode& node, std::size_t mode) {
  const NodeShape& shape = node.shapes[mode];
  return (Eigen::VectorXd(6) << eigen(shape.translation), eigen(shape.rotation)).finished();
}

TEST(SolidElements, DeflectAtSetsAsTheMeshDoes) {
  for (const int storeys : {3, 30}) {  // dense and iterative solvers
    const Elements elements = tower(storeys, 0.1);
    const std::vector<int> base = storey(0), top = storey(storeys);
    const FlexibleBody body = elements.reduced({.modes = 9,
                                                .interface = {{"base", base}, {"top", top}},
                                                .keep = {{{"tip", 4 * storeys}}}});
    ASSERT_EQ(body.nodes.size(), 3u);
    const Eigen::MatrixXd C0 = fit(elements, base), C = fit(elements, top);
    for (int direction = 0; direction < 6; ++direction) {
      const Eigen::VectorXd u = deflection(elements, C0, C.row(direction).transpose());
      Eigen::VectorXd found = Eigen::VectorXd::Zero(6), held = found;
      for (std::size_t i = 0; i < 9; ++i) {
        const Eigen::VectorXd motion = motionOf(*body.findNode("top"), i);
        found += motion * motion[direction] / body.modes[i].stiffness;
        held += motionOf(*body.findNode("base"), i);
      }
      EXPECT_LT((found - C * u).norm(), 1e-7 * (C * u).norm()) << storeys << direction;
      EXPECT_LT(held.norm(), 1e-7);
    }
    const Eigen::RowVector3d middle = elements.nodes(top, Eigen::all).colwise().mean();
    EXPECT_LT((eigen(body.findNode("top")->position).transpose() - middle).norm(), 1e-12);
    EXPECT_NEAR(body.rigid.mass, elements.mass.trace() / 3.0, 1e-9);
  }
}

TEST(SolidElements, VibrateAsTheMeshDoes) {
  for (const int storeys : {2, 30}) {
    const Elements elements = tower(storeys);
    const FlexibleBody held = elements.reduced({.modes = 5, .interface = {{"base", storey(0)}}});
    const FlexibleBody free = elements.reduced({.modes = 5});
    const Eigen::Index n = elements.mass.rows();
    const Eigen::MatrixXd C = fit(elements, storey(0));
    // All displacements that leave the base where it is.
    const Eigen::MatrixXd Z = Eigen::FullPivLU<Eigen::MatrixXd>(C).kernel();
    const Eigen::VectorXd squares =
        Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(
            Z.transpose() * elements.stiffness * Z, Z.transpose() * elements.mass * Z)
            .eigenvalues();
    const Eigen::VectorXd freeSquares =
        Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(elements.stiffness, elements.mass)
            .eigenvalues();
    ASSERT_EQ(Z.cols(), n - 6);
    for (Eigen::Index i = 0; i < 5; ++i) {
      const auto k = static_cast<std::size_t>(i);
      EXPECT_NEAR(held.modes[k].stiffness / squares[i], 1.0, 1e-7) << storeys << i;
      EXPECT_NEAR(free.modes[k].stiffness / freeSquares[6 + i], 1.0, 1e-7) << storeys << i;
    }
  }
}

TEST(SolidElements, HaveNodesThatTurnWithTheirNeighbours) {
  // In a mode that is nearly a uniform bend, a node turns as the storey around it does.
  const Elements elements = tower(30);
  const FlexibleBody body = elements.reduced(
      {.modes = 2, .interface = {{"base", storey(0)}}, .keep = {{62, {"middle", storey(15)}}}});
  const Eigen::VectorXd node = motionOf(*body.findNode("62"), 0),
                        around = motionOf(*body.findNode("middle"), 0);
  EXPECT_LT((node - around).tail<3>().norm(), 0.05 * around.tail<3>().norm());
  EXPECT_EQ(body.findNode("61"), nullptr);
}

TEST(SolidElements, MassesHaveTheIntegralsOfPoints) {
  const Elements elements = tower(2, 0.2);
  const FlexibleBody body = elements.reduced({.modes = 4, .interface = {{"base", storey(0)}}});
  for (std::size_t i = 0; i < 4; ++i) {
    Eigen::Vector3d h = Eigen::Vector3d::Zero(), c = h;
    double trace = 0.0;
    for (std::size_t k = 0; k < 12; ++k) {
      const auto at = static_cast<Eigen::Index>(3 * k);
      const Eigen::Vector3d p = elements.nodes.row(static_cast<Eigen::Index>(k)).transpose();
      const Eigen::Vector3d phi = eigen(body.nodes[k].shapes[i].translation);
      h += elements.mass(at, at) * phi;
      c += elements.mass(at, at) * p.cross(phi);
      trace += 4.0 * elements.mass(at, at) * p.dot(phi);
    }
    EXPECT_LT((eigen(body.modes[i].linear) - h).norm(), 1e-10);
    EXPECT_LT((eigen(body.modes[i].angular) - c).norm(), 1e-10);
    EXPECT_NEAR(eigen(body.modes[i].inertia).trace(), trace, 1e-10);
  }
}

std::string refusal(const Elements& elements, const FiniteElementOptions& options) {
  try {
    static_cast<void>(elements.reduced(options));
  } catch (const ModelError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SolidElements, ThatDefineNoBodyAreRefused) {
  const Elements elements = tower(2);
  const auto expect = [&](const FiniteElementOptions& options, const char* reason) {
    EXPECT_NE(refusal(elements, options).find(reason), std::string::npos)
        << refusal(elements, options);
  };
  expect({.interface = {0}}, "node 0 of interface has no rotation");
  expect({.interface = {{"edge", {0, 4, 8}}}}, "set \"edge\" lie on a line");
  expect({.interface = {{"", {0, 1, 2}}}}, "3 nodes without a name");
  expect({.interface = {{"base", std::vector<int>()}}}, "\"base\" without nodes");
  expect({.interface = {{"base", {0, 1, 1}}}}, "names node 1 twice");
  expect({.interface = {{"base", storey(0)}, {"side", {0, 4, 8, 9}}}}, "names node 0 twice");
  expect({.modes = 6, .interface = {{"a", storey(0)}, {"b", storey(1)}, {"c", storey(2)}}},
         "after the first take 12");
  expect({.keep = {{{"far", {1, 2, 12}}}}}, "keep names node 12, which does not exist");
  expect({.keep = {{3, {"3", 4}}}}, "two nodes are named \"3\"");
  Elements line = elements;
  line.nodes.leftCols<2>().setZero();
  EXPECT_NE(refusal(line, {}).find("stiffness resists"), std::string::npos) << refusal(line, {});
  Elements many = elements;
  many.nodes = Eigen::MatrixXd::Zero(1001, 3);
  EXPECT_NE(refusal(many, {}).find("1001 nodes, each of which would become a frame"),
            std::string::npos);
}

}  // namespace
}  // namespace kempe::test
