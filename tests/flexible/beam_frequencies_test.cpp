#include <array>

#include "flexible/beam_testing.hpp"

namespace kempe::test {
namespace {

// Roots β L of the characteristic equations of uniform beams (Blevins 1979, table 8-1).
constexpr std::array kClampedRoots{1.87510407, 4.69409113, 7.85475744};
constexpr std::array kFreeRoots{4.73004074, 7.85320462, 10.9956078};

double bendingFrequency(const BeamOptions& beam, double root, double I) {
  return std::pow(root / beam.length, 2) * std::sqrt(beam.E * I / (beam.density * beam.area));
}

void expectBending(const FlexibleBody& body, const BeamOptions& beam,
                   const std::array<double, 3>& roots) {
  for (const auto& [kind, I] : {std::pair{'y', beam.Iz}, {'z', beam.Iy}}) {
    const std::vector<double> found = frequenciesOf(body, kind);
    ASSERT_GE(found.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      const double expected = bendingFrequency(beam, roots[i], I);
      EXPECT_NEAR(found[i], expected, 1e-3 * expected) << kind << i;
      // A consistent stiffness and mass bound frequencies from above; the wire is so slender that
      // rotary inertia takes less away.
      EXPECT_GT(found[i], expected * (1.0 - 1e-5));
    }
  }
}

TEST(BeamFrequencies, OfACantilever) {
  BeamOptions beam = wire();
  beam.elements = 20;
  beam.modes = 10;
  expectBending(reduceBeam("rod", beam), beam, kClampedRoots);
}

TEST(BeamFrequencies, OfAFreeBeam) {
  BeamOptions beam = wire();
  beam.elements = 20;
  beam.modes = 10;
  beam.fixed = "none";
  const FlexibleBody body = reduceBeam("rod", beam);
  expectBending(body, beam, kFreeRoots);
  // Modes without a rigid part have no momentum.
  for (const Mode& mode : body.modes) {
    EXPECT_LT(norm(mode.linear), 1e-9);
    EXPECT_LT(norm(mode.angular), 1e-9);
  }
}

TEST(BeamFrequencies, OfAllModesDoNotDependOnTheKeptNodes) {
  BeamOptions beam = wire();
  beam.elements = 6;
  beam.modes = 36;
  const FlexibleBody clamped = reduceBeam("rod", beam);
  beam.interface = {"end", "3"};
  const FlexibleBody kept = reduceBeam("rod", beam);
  for (std::size_t i = 0; i < clamped.modes.size(); ++i) {
    EXPECT_NEAR(kept.modes[i].frequency() / clamped.modes[i].frequency(), 1.0, 1e-7) << i;
  }
}

TEST(BeamFrequencies, AxialAndTorsional) {
  BeamOptions beam = slenderBar();
  beam.elements = 20;
  beam.modes = 120;
  beam.G = 8e10;
  beam.J = 4.6e-9;
  const FlexibleBody body = reduceBeam("rod", beam);
  ASSERT_EQ(body.modes.size(), 120u);
  const double sound = std::sqrt(beam.E / beam.density);
  const double twist = std::sqrt(*beam.G * *beam.J / (beam.density * (beam.Iy + beam.Iz)));
  const std::vector<double> axial = frequenciesOf(body, 'x'), torsion = frequenciesOf(body, 't');
  ASSERT_EQ(axial.size(), 20u);
  ASSERT_EQ(torsion.size(), 20u);
  for (int n = 1; n <= 3; ++n) {
    // A quarter wave; linear elements leave (π (2n − 1) / 2 / 20)² / 24 of error.
    const double wave = (2 * n - 1) * std::numbers::pi / (2.0 * beam.length);
    const double error = std::pow(wave / beam.elements, 2) / 24.0 * 1.01;
    const auto i = static_cast<std::size_t>(n - 1);
    EXPECT_NEAR(axial[i], wave * sound, error * wave * sound);
    EXPECT_NEAR(torsion[i], wave * twist, error * wave * twist);
  }
  EXPECT_NEAR(axial[0] / (std::numbers::pi / 2 * sound), 1.0, 1e-3);
}

TEST(BeamFrequencies, ConvergeWithTheFourthPowerOfTheElementLength) {
  BeamOptions beam = wire();
  const auto frequency = [&](int elements) {
    beam.elements = elements;
    return frequenciesOf(reduceBeam("rod", beam), 'y')[0];
  };
  // Differences do not depend on the share of rotary inertia, which the closed form leaves out.
  const double f2 = frequency(2), f4 = frequency(4), f8 = frequency(8);
  EXPECT_GE(std::log2((f2 - f4) / (f4 - f8)), 3.8);
  EXPECT_NEAR(f8 / bendingFrequency(beam, kClampedRoots[0], beam.Iz), 1.0, 1e-5);
}

/// The determinant that vanishes at the natural frequencies of Timoshenko's beam (1921), free at its
/// end and at its start either clamped or free; its differential equations, integrated by Runge and
/// Kutta's method. `flexibility` is 1 / (k G A).
double boundaryDeterminant(const BeamOptions& beam, double I, double flexibility, double omega) {
  // Deflection, turn, moment and shear force.
  const double square = omega * omega, EI = beam.E * I;
  Eigen::Matrix4d A = Eigen::Matrix4d::Zero();
  A(0, 1) = 1.0;
  A(0, 3) = flexibility;
  A(1, 2) = 1.0 / EI;
  A(2, 1) = -beam.density * I * square;
  A(2, 3) = -1.0;
  A(3, 0) = -beam.density * beam.area * square;
  const bool clamped = beam.fixed == "start";
  Eigen::Matrix<double, 4, 2> y = Eigen::Matrix<double, 4, 2>::Zero();
  y.block<2, 2>(clamped ? 2 : 0, 0).setIdentity();
  const int steps = 2000;
  const double h = beam.length / steps;
  for (int i = 0; i < steps; ++i) {
    const Eigen::Matrix<double, 4, 2> k1 = A * y, k2 = A * (y + 0.5 * h * k1),
                                      k3 = A * (y + 0.5 * h * k2), k4 = A * (y + h * k3);
    y += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  return y.bottomRows<2>().determinant();
}

TEST(BeamFrequencies, OfAStubbyBeamSolveTheDifferentialEquations) {
  BeamOptions beam = slenderBar();
  beam.length = 0.1;
  beam.elements = 30;
  beam.modes = 30;
  for (const char* fixed : {"start", "none"}) {
    for (const bool shear : {false, true}) {
      beam.fixed = fixed;
      beam.ky = beam.kz = shear ? std::optional(5.0 / 6.0) : std::nullopt;
      const FlexibleBody body = reduceBeam("rod", beam);
      // With shear, elements leave an error of the second power of their length: a load on them
      // bends them otherwise than loads at their ends do.
      const double tolerance = shear ? 3e-3 : 1e-4;
      const double flexibility = shear ? 1.0 / (5.0 / 6.0 * beam.E / 2.6 * beam.area) : 0.0;
      for (const char kind : {'y', 'z'}) {
        const double I = kind == 'y' ? beam.Iz : beam.Iy;
        const std::vector<double> found = frequenciesOf(body, kind);
        ASSERT_GE(found.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i) {
          const auto determinant = [&](double factor) {
            return boundaryDeterminant(beam, I, flexibility, factor * found[i]);
          };
          EXPECT_LT(determinant(1.0 - tolerance) * determinant(1.0 + 1e-8), 0.0)
              << fixed << kind << i << " shear " << shear;
        }
      }
    }
  }
}

/// The first bending frequency of a clamped beam of constant steps, from the matrices in any
/// textbook (Przemieniecki 1968), without rotary inertia.
double steppedFrequency(const BeamOptions& beam, const BeamSection& start, const BeamSection& end,
                        int steps) {
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(2 * steps + 2, 2 * steps + 2), M = K;
  const double L = beam.length / steps;
  for (int e = 0; e < steps; ++e) {
    const double t = (e + 0.5) / steps;
    const double EI = beam.E * (start.Iz + t * (end.Iz - start.Iz));
    const double mass = beam.density * (start.area + t * (end.area - start.area)) * L;
    K.block<4, 4>(2 * e, 2 * e) += EI / (L * L * L) *
                                   Eigen::Matrix4d{{12, 6 * L, -12, 6 * L},
                                                   {6 * L, 4 * L * L, -6 * L, 2 * L * L},
                                                   {-12, -6 * L, 12, -6 * L},
                                                   {6 * L, 2 * L * L, -6 * L, 4 * L * L}};
    M.block<4, 4>(2 * e, 2 * e) += mass / 420.0 *
                                   Eigen::Matrix4d{{156, 22 * L, 54, -13 * L},
                                                   {22 * L, 4 * L * L, 13 * L, -3 * L * L},
                                                   {54, 13 * L, 156, -22 * L},
                                                   {-13 * L, -3 * L * L, -22 * L, 4 * L * L}};
  }
  // Inverse iteration, from the static deflection under a load at the tip.
  const Eigen::MatrixXd k = K.bottomRightCorner(2 * steps, 2 * steps);
  const Eigen::MatrixXd m = M.bottomRightCorner(2 * steps, 2 * steps);
  Eigen::VectorXd x = Eigen::VectorXd::Unit(2 * steps, 2 * steps - 2);
  const Eigen::LLT<Eigen::MatrixXd> factor(k);
  for (int i = 0; i < 30; ++i) {
    x = factor.solve(m * x).normalized();
  }
  return std::sqrt(x.dot(k * x) / x.dot(m * x));
}

TEST(BeamFrequencies, OfATaperedBeamAreThoseOfManySteps) {
  BeamOptions beam = wire();
  const BeamSection start{2e-6, 3e-13, 6e-13}, end{1e-6, 1e-13, 1e-13};
  beam.sections = {start, end};
  beam.elements = 20;
  const double expected = steppedFrequency(beam, start, end, 100);
  EXPECT_NEAR(frequenciesOf(reduceBeam("rod", beam), 'y')[0] / expected, 1.0, 5e-5);
  // A section in the middle that lies on the line between the others changes nothing, also where
  // an element does not end there.
  beam.elements = 5;
  const double two = reduceBeam("rod", beam).modes[0].frequency();
  beam.sections = {start, {1.5e-6, 2e-13, 3.5e-13}, end};
  EXPECT_NEAR(reduceBeam("rod", beam).modes[0].frequency() / two, 1.0, 1e-9);
}

TEST(BeamModes, OfARoundSectionBendAlongTheLocalAxes) {
  BeamOptions beam = slenderBar();
  beam.Iy = beam.Iz;
  for (const char* fixed : {"start", "none"}) {
    beam.fixed = fixed;
    const FlexibleBody body = reduceBeam("rod", beam);
    EXPECT_EQ(kindOf(body, 0), 'y');
    EXPECT_EQ(kindOf(body, 1), 'z');
    EXPECT_EQ(body.modes[0].stiffness, body.modes[1].stiffness);
    for (const FlexibleNode& node : body.nodes) {
      EXPECT_EQ(node.shapes[0].translation.z, 0.0);
      EXPECT_EQ(node.shapes[0].translation.y, node.shapes[1].translation.z);
    }
  }
}

TEST(BeamModes, AscendAndHaveUnitMassAndTheirDamping) {
  BeamOptions beam = slenderBar();
  beam.modes = 20;
  beam.damping = 0.03;
  beam.interface = {"end"};
  const FlexibleBody body = reduceBeam("rod", beam);
  ASSERT_EQ(body.modes.size(), 20u);
  ASSERT_EQ(body.pairs.size(), 400u);
  for (std::size_t i = 0; i < 20; ++i) {
    const Mode& mode = body.modes[i];
    EXPECT_EQ(mode.mass, 1.0);
    EXPECT_NEAR(mode.damping, 2 * 0.03 * std::sqrt(mode.stiffness * mode.mass),
                1e-12 * mode.damping);
    EXPECT_TRUE(i == 0 || mode.stiffness >= body.modes[i - 1].stiffness);
  }
}

TEST(BeamModes, HaveTheMassOfTheInertiaIntegrals) {
  // Without shortening the trace of J_ij is 4 ∫ φ_i·φ_j dm, and c_ij = −c_ji.
  BeamOptions beam = slenderBar();
  beam.length = 0.08;
  beam.modes = 20;
  beam.interface = {"end"};
  beam.stiffening = false;
  beam.sections = {{2e-4, 1e-9, 7e-9}, {1e-4, 3e-10, 5e-9}, {3e-4, 3e-9, 5e-9}};
  beam.elements = 5;
  for (const bool shear : {false, true}) {
    beam.ky = beam.kz = shear ? std::optional(0.8) : std::nullopt;
    const FlexibleBody body = reduceBeam("rod", beam);
    for (std::size_t i = 0; i < 20; ++i) {
      for (std::size_t j = 0; j < 20; ++j) {
        const ModePair &pair = body.pairs[i * 20 + j], &other = body.pairs[j * 20 + i];
        EXPECT_NEAR(pair.inertia.trace(), i == j ? 4.0 : 0.0, 1e-8);
        EXPECT_LT(norm(pair.angular + other.angular), 1e-12);
        EXPECT_EQ(norm(pair.linear), 0.0);
      }
    }
    EXPECT_TRUE(body.nodes[2].shortening.empty());
  }
}

TEST(BeamModes, HaveNodesByNameAndNumber) {
  BeamOptions beam = slenderBar();
  beam.elements = 3;
  const FlexibleBody body = reduceBeam("rod", beam);
  ASSERT_EQ(body.nodes.size(), 4u);
  EXPECT_EQ(body.findNode("start"), &body.nodes[0]);
  EXPECT_EQ(body.findNode("2"), &body.nodes[2]);
  EXPECT_EQ(body.findNode("3"), &body.nodes[3]);
  EXPECT_EQ(body.findNode("end"), &body.nodes[3]);
  for (const char* none : {"4", "-1", "", "2x", "tip"}) {
    EXPECT_EQ(body.findNode(none), nullptr) << none;
  }
}

}  // namespace
}  // namespace kempe::test
