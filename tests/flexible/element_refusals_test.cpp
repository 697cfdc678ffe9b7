#include <functional>
#include <limits>
#include <ostream>

#include "flexible/element_testing.hpp"
#include "kempe/errors.hpp"

namespace kempe::test {
namespace {

struct ElementMistake {
  std::string title;
  std::function<void(Elements&, FiniteElementOptions&)> make;
  std::string culprit, remedy;

  friend std::ostream& operator<<(std::ostream& out, const ElementMistake& mistake) {
    return out << mistake.title;
  }
};

class ElementMistakes : public ::testing::TestWithParam<ElementMistake> {};

TEST_P(ElementMistakes, AreNamedWithARemedy) {
  BeamOptions beam = slenderBar();
  beam.elements = 4;
  Elements elements = elementsOf(beam);
  FiniteElementOptions options{.interface = {0}};
  ASSERT_NO_THROW(static_cast<void>(elements.reduced(options)));
  GetParam().make(elements, options);
  try {
    static_cast<void>(elements.reduced(options));
    FAIL() << "nothing was thrown";
  } catch (const ModelError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("flexible body \"frame\": ", 0), 0u) << text;
    EXPECT_NE(text.find(GetParam().culprit), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().remedy), std::string::npos) << text;
  }
}

const std::vector<ElementMistake>& elementMistakes() {
  using E = Elements;
  using O = FiniteElementOptions;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static const std::vector<ElementMistake> mistakes = {
      {"PlanarNodes", [](E& e, O&) { e.nodes.conservativeResize(5, 2); }, "nodes is 5 × 2",
       "a row x, y, z for each node"},
      {"NoNodes", [](E& e, O&) { e.nodes.resize(0, 3); }, "nodes is 0 × 3", "for each node"},
      {"NaNNode", [](E& e, O&) { e.nodes(1, 1) = nan; }, "position in nodes is not finite",
       "finite numbers"},
      {"MassNotSquare", [](E& e, O&) { e.mass.conservativeResize(30, 29); }, "mass is 30 × 29",
       "give a square matrix"},
      {"StiffnessOfFewerNodes", [](E& e, O&) { e.stiffness.conservativeResize(24, 24); },
       "stiffness is 24 × 24, but 5 nodes have 30 displacements", "six rows for each node"},
      {"NaNMass", [](E& e, O&) { e.mass(3, 4) = nan; }, "mass holds nan in row 3, column 4",
       "finite numbers"},
      {"MasslessRotation",
       [](E& e, O&) {
         e.mass.row(15).setZero();
         e.mass.col(15).setZero();
       },
       "mass of node 2 about x is 0", "must not move without mass"},
      {"NegativeStiffness", [](E& e, O&) { e.stiffness(7, 7) = -1; },
       "stiffness of node 1 along y is -1", "it must be positive"},
      {"AsymmetricMass", [](E& e, O&) { e.mass(1, 5) *= 1.1; },
       "mass is not symmetric: row 5, column 1", "both triangles"},
      {"OneTriangle",
       [](E& e, O&) { e.stiffness = Eigen::MatrixXd(e.stiffness.triangularView<Eigen::Lower>()); },
       "stiffness is not symmetric", "both triangles"},
      {"IndefiniteMass", [](E& e, O&) { e.mass(0, 6) = e.mass(6, 0) = 1.5 * e.mass(6, 6); },
       "mass is not positive definite", "consistent mass matrix"},
      {"OtherOrderOfRows", [](E& e, O&) { e.mass.diagonal()[2] *= 1.5; },
       "mass is not that of a body: moving it along", "order the rows node by node"},
      {"Supported", [](E& e, O&) { e.stiffness(26, 26) *= 1.01; },
       "stiffness resists the rigid motion along z at node 4 along z", "leave supports out"},
      {"NodesInMillimetres", [](E& e, O&) { e.nodes *= 1000; },
       "stiffness resists the rigid motion", "axes and units of the matrices"},
      {"IndefiniteStiffness",
       [](E& e, O&) {
         // An axial spring of negative stiffness between the ends.
         const double k = 0.3 * e.stiffness(0, 0);
         e.stiffness(0, 0) -= k;
         e.stiffness(24, 24) -= k;
         e.stiffness(0, 24) += k;
         e.stiffness(24, 0) += k;
       },
       "stiffness is not positive semidefinite", "how the matrix was assembled"},
      {"TwoParts",
       [](E& e, O&) {
         // Two elements each, at the same place, that are not connected.
         BeamOptions beam = slenderBar();
         beam.elements = 1;
         const Elements one = elementsOf(beam);
         e.nodes.resize(4, 3);
         e.nodes << one.nodes, one.nodes;
         e.mass = Eigen::MatrixXd::Zero(24, 24);
         e.mass.topLeftCorner(12, 12) = e.mass.bottomRightCorner(12, 12) = one.mass;
         e.stiffness = Eigen::MatrixXd::Zero(24, 24);
         e.stiffness.topLeftCorner(12, 12) = e.stiffness.bottomRightCorner(12, 12) = one.stiffness;
       },
       "more than six zero-energy modes", "connect all its parts"},
      {"NoModes", [](E&, O& o) { o.modes = 0; }, "modes is 0", "make the body rigid"},
      {"MoreModesThanThereAre", [](E&, O& o) { o.modes = 25; },
       "modes is 25, but 5 nodes have 24 besides the rigid motions", "fewer modes"},
      {"FewerModesThanTheInterfaceTakes",
       [](E&, O& o) {
         o.interface = {0, 1, 4};
         o.modes = 11;
       },
       "modes is 11, but the nodes of interface after the first take 12", "at least that many"},
      {"UnknownNode",
       [](E&, O& o) {
         o.interface = {0, 5};
       },
       "node 5, which does not exist", "from 0 to 4"},
      {"NegativeNode", [](E&, O& o) { o.interface = {-1}; }, "node -1, which does not exist",
       "from 0 to 4"},
      {"NodeTwice",
       [](E&, O& o) {
         o.interface = {0, 0};
       },
       "node 0 twice", "name it once"},
      {"NegativeDamping", [](E&, O& o) { o.damping = -1; }, "damping is -1", "zero or more"},
      {"TooFewNames", [](E&, O& o) { o.names = {"a"}; }, "names holds 1 names for 5 nodes",
       "one for each node"},
      {"NameTwice",
       [](E&, O& o) {
         o.names = {"a", "b", "c", "a", "d"};
       },
       "two nodes are named \"a\"", "another name"},
  };
  return mistakes;
}

INSTANTIATE_TEST_SUITE_P(All, ElementMistakes, ::testing::ValuesIn(elementMistakes()),
                         [](const auto& mistake) { return mistake.param.title; });

}  // namespace
}  // namespace kempe::test
