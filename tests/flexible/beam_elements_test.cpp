#include "kempe/beam_elements.hpp"

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <string>

#include "flexible/beam_testing.hpp"
#include "kempe/errors.hpp"

namespace kempe::test {
namespace {

Eigen::MatrixXd stiffnessOf(const BeamElement& element, std::size_t modes) {
  const auto n = static_cast<Eigen::Index>(modes);
  return Eigen::Map<const Eigen::MatrixXd>(element.stiffness.data(), n, n);
}

/// Beams with all that enters the stiffness of elements.
std::vector<BeamOptions> beamsOfAllKinds() {
  BeamOptions plain = slenderBar(), tapered = plain, shear = plain, free = plain, oblique = plain;
  tapered.sections = {{4e-4, 2e-8, 1e-8, 1.5e-8}, {2e-4, 1e-8, 4e-9, {}}, {1e-4, 3e-9, 2e-9, {}}};
  tapered.elements = 7;  // the section in the middle lies within an element
  shear.ky = 5.0 / 6.0;
  shear.kz = 0.7;
  shear.interface = {"end"};
  free.fixed = "none";
  oblique.axis = {-0.6, 0.0, 0.8};
  return {plain, tapered, shear, free, oblique};
}

TEST(BeamElements, StrainEnergiesAddUpToTheModalStiffness) {
  for (BeamOptions options : beamsOfAllKinds()) {
    options.modes = 12;
    const FlexibleBody body = reduceBeam("rod", options);
    const std::vector<BeamElement> elements = beamElements(body);
    ASSERT_EQ(elements.size(), static_cast<std::size_t>(options.elements));
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(12, 12);
    double mass = 0.0;
    for (const BeamElement& element : elements) {
      const Eigen::MatrixXd k = stiffnessOf(element, body.modes.size());
      sum += k;
      mass += element.mass;
      const double largest = k.cwiseAbs().maxCoeff();
      EXPECT_LT((k - k.transpose()).cwiseAbs().maxCoeff(), 1e-12 * largest);
      const Eigen::VectorXd eta = Eigen::VectorXd::Random(12);
      EXPECT_GT(eta.dot(k * eta), 0.0) << "a bent element without energy";
    }
    Eigen::VectorXd expected(12);
    for (Eigen::Index i = 0; i < 12; ++i) {
      expected[i] = body.modes[static_cast<std::size_t>(i)].stiffness;
    }
    EXPECT_LT((sum - Eigen::MatrixXd(expected.asDiagonal())).cwiseAbs().maxCoeff(),
              1e-9 * expected.maxCoeff());
    EXPECT_NEAR(mass, body.rigid.mass, 1e-12 * body.rigid.mass);
  }
}

TEST(BeamElements, UnderAForceAtTheEndHaveTheEnergyOfItsBendingMoment) {
  BeamOptions beam = slenderBar();
  beam.interface = {"end"};
  beam.elements = 5;
  const FlexibleBody body = reduceBeam("rod", beam);
  const double force = 3.0;
  Eigen::VectorXd eta(static_cast<Eigen::Index>(body.modes.size()));
  for (std::size_t i = 0; i < body.modes.size(); ++i) {
    eta[static_cast<Eigen::Index>(i)] =
        force * body.findNode("end")->shapes[i].translation.z / body.modes[i].stiffness;
  }
  // With the moment F (L − x): ∫ F² (L − x)² / (2 E I) dx.
  const double h = beam.length / beam.elements;
  const auto upTo = [&](double x) {
    return -force * force * std::pow(beam.length - x, 3) / (6.0 * beam.E * beam.Iy);
  };
  double at = 0.0;
  for (const BeamElement& element : beamElements(body)) {
    const double energy = 0.5 * eta.dot(stiffnessOf(element, body.modes.size()) * eta);
    EXPECT_NEAR(energy, upTo(at + h) - upTo(at), 1e-9 * (upTo(beam.length) - upTo(0.0)));
    at += h;
  }
}

TEST(BeamElements, AreUnknownOfFiniteElementMatrices) {
  FlexibleBody body = reduceBeam("rod", slenderBar());
  body.beam.reset();
  EXPECT_TRUE(beamElements(body).empty());
}

TEST(BeamElements, OfABodyWithoutTheNodesOfItsBeamAreRefused) {
  FlexibleBody body = reduceBeam("rod", slenderBar());
  body.nodes.pop_back();
  try {
    static_cast<void>(beamElements(body));
    FAIL() << "accepted";
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("has 10 nodes, but its options describe 11"),
              std::string::npos)
        << error.what();
  }
}

TEST(BeamElements, LocalAxesAreThoseOfTheOptions) {
  BeamOptions beam = slenderBar();
  for (const auto& [axis, y, z] :
       {std::array<Vec3<double>, 3>{{{2, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
        std::array<Vec3<double>, 3>{{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}},
        std::array<Vec3<double>, 3>{{{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}}}) {
    beam.axis = axis;
    const Mat3<double> axes = beamAxes(beam);
    EXPECT_LT((eigen(axes.column(0)) - eigen(axis).normalized()).norm(), 1e-15);
    EXPECT_LT((eigen(axes.column(1)) - eigen(y)).norm(), 1e-15);
    EXPECT_LT((eigen(axes.column(2)) - eigen(z)).norm(), 1e-15);
  }
}

}  // namespace
}  // namespace kempe::test
