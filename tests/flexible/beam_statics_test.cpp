#include "flexible/beam_testing.hpp"

namespace kempe::test {
namespace {

/// Σ φ_i φ_i / k_i: the displacement and turn at a node due to a unit load there.
double compliance(const FlexibleBody& body, std::string_view node, int axis, bool turn = false) {
  double sum = 0.0;
  const FlexibleNode* const place = body.findNode(node);
  for (std::size_t i = 0; i < body.modes.size(); ++i) {
    const NodeShape& shape = place->shapes[i];
    const double value = (turn ? shape.rotation : shape.translation)[axis];
    sum += value * value / body.modes[i].stiffness;
  }
  return sum;
}

TEST(BeamStatics, InterfaceNodeDeflectsExactly) {
  BeamOptions beam = slenderBar();
  beam.interface = {"end"};
  const double L = beam.length, E = beam.E, G = E / 2.6;
  for (const int elements : {1, 10, 30}) {
    beam.elements = elements;
    const FlexibleBody body = reduceBeam("rod", beam);
    const auto expectNear = [&](double found, double expected) {
      EXPECT_NEAR(found / expected, 1.0, 1e-9) << elements;
    };
    expectNear(compliance(body, "end", 0), L / (E * beam.area));
    expectNear(compliance(body, "end", 1), L * L * L / (3 * E * beam.Iz));
    expectNear(compliance(body, "end", 2), L * L * L / (3 * E * beam.Iy));
    expectNear(compliance(body, "end", 0, true), L / (G * (beam.Iy + beam.Iz)));
    expectNear(compliance(body, "end", 1, true), L / (E * beam.Iy));
    expectNear(compliance(body, "end", 2, true), L / (E * beam.Iz));
  }
}

TEST(BeamStatics, ClampedModesConverge) {
  BeamOptions beam = slenderBar();
  const double expected = std::pow(beam.length, 3) / (3 * beam.E * beam.Iz);
  double last = 1.0;
  for (const int modes : {2, 4, 10, 60}) {
    beam.modes = modes;
    const double error = 1.0 - compliance(reduceBeam("rod", beam), "end", 1) / expected;
    EXPECT_GT(error, -1e-9);
    EXPECT_LT(error, modes < 60 ? 0.9 * last : 1e-9);
    last = error;
  }
}

TEST(BeamStatics, ShearDeflectsATimoshenkoBeam) {
  BeamOptions beam = slenderBar();
  beam.length = 0.05;
  beam.ky = 5.0 / 6.0;
  beam.kz = 0.7;
  beam.G = 8e10;
  beam.interface = {"end"};
  const double L = beam.length;
  for (const int elements : {1, 8}) {
    beam.elements = elements;
    const FlexibleBody body = reduceBeam("rod", beam);
    const double y = L * L * L / (3 * beam.E * beam.Iz) + L / (*beam.ky * *beam.G * beam.area);
    const double z = L * L * L / (3 * beam.E * beam.Iy) + L / (*beam.kz * *beam.G * beam.area);
    EXPECT_NEAR(compliance(body, "end", 1) / y, 1.0, 1e-9);
    EXPECT_NEAR(compliance(body, "end", 2) / z, 1.0, 1e-9);
    // The end's section turns as in a beam without shear.
    EXPECT_NEAR(compliance(body, "end", 2, true) * beam.E * beam.Iz / L, 1.0, 1e-9);
  }
}

TEST(BeamStatics, NodesInTheMiddleCanBeInterfaces) {
  BeamOptions beam = slenderBar();
  beam.interface = {"4", "end"};
  beam.modes = 12;
  const FlexibleBody body = reduceBeam("rod", beam);
  const double L = 0.4 * beam.length;
  EXPECT_NEAR(compliance(body, "4", 1) * 3 * beam.E * beam.Iz / (L * L * L), 1.0, 1e-9);
  EXPECT_NEAR(compliance(body, "end", 2) * 3 * beam.E * beam.Iy / std::pow(beam.length, 3), 1.0,
              1e-9);
}

TEST(BeamStatics, FreeBeamBetweenInterfacesIsExactRelativeToItself) {
  // A load that is in equilibrium: equal and opposite moments M at the ends. The ends turn by
  // ± M L / 2 E I about the chord; rigid motion does not enter their difference.
  BeamOptions beam = slenderBar();
  beam.fixed = "none";
  beam.interface = {"start", "end"};
  beam.modes = 6;
  const FlexibleBody body = reduceBeam("rod", beam);
  ASSERT_EQ(body.modes.size(), 6u);
  double turn = 0.0, stretch = 0.0;
  for (std::size_t i = 0; i < 6; ++i) {
    const NodeShape &start = body.findNode("start")->shapes[i],
                    &end = body.findNode("end")->shapes[i];
    turn += std::pow(end.rotation.z - start.rotation.z, 2) / body.modes[i].stiffness;
    stretch += std::pow(end.translation.x - start.translation.x, 2) / body.modes[i].stiffness;
  }
  EXPECT_NEAR(turn * beam.E * beam.Iz / beam.length, 1.0, 1e-9);
  EXPECT_NEAR(stretch * beam.E * beam.area / beam.length, 1.0, 1e-9);
}

TEST(BeamModes, TurnWithTheAxis) {
  BeamOptions beam = slenderBar();
  beam.modes = 8;
  beam.interface = {"end"};
  const FlexibleBody along = reduceBeam("rod", beam);
  struct Case {
    Vec3<double> axis, y, z;  // local axes
  };
  const double s = std::sqrt(0.5);
  for (const Case& c :
       {Case{{0, 2, 0}, {-1, 0, 0}, {0, 0, 1}}, Case{{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}},
        Case{{-3, 0, 0}, {0, -1, 0}, {0, 0, 1}}, Case{{1, 1, 0}, {-s, s, 0}, {0, 0, 1}},
        Case{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}}) {
    beam.axis = c.axis;
    const FlexibleBody turned = reduceBeam("rod", beam);
    Eigen::Matrix3d R;
    R << eigen(c.axis).normalized(), eigen(c.y), eigen(c.z);
    ASSERT_NEAR(R.determinant(), 1.0, 1e-12);
    const auto expectTurned = [&](const auto& found, const auto& original) {
      if constexpr (std::is_same_v<std::decay_t<decltype(found)>, Vec3<double>>) {
        EXPECT_LT((eigen(found) - R * eigen(original)).norm(), 1e-12 * (1 + norm(original)));
      } else {
        EXPECT_LT((eigen(found) - R * eigen(original) * R.transpose()).norm(),
                  1e-12 * (1 + eigen(original).norm()));
      }
    };
    expectTurned(turned.rigid.moment, along.rigid.moment);
    expectTurned(turned.rigid.rotation, along.rigid.rotation);
    for (std::size_t i = 0; i < along.modes.size(); ++i) {
      EXPECT_EQ(turned.modes[i].stiffness, along.modes[i].stiffness);
      expectTurned(turned.modes[i].linear, along.modes[i].linear);
      expectTurned(turned.modes[i].angular, along.modes[i].angular);
      expectTurned(turned.modes[i].inertia, along.modes[i].inertia);
    }
    for (std::size_t i = 0; i < along.pairs.size(); ++i) {
      expectTurned(turned.pairs[i].linear, along.pairs[i].linear);
      expectTurned(turned.pairs[i].angular, along.pairs[i].angular);
      expectTurned(turned.pairs[i].inertia, along.pairs[i].inertia);
      expectTurned(turned.nodes[7].shortening[i], along.nodes[7].shortening[i]);
    }
    expectTurned(turned.nodes[3].position, along.nodes[3].position);
    expectTurned(turned.nodes[3].shapes[2].translation, along.nodes[3].shapes[2].translation);
    expectTurned(turned.nodes[3].shapes[2].rotation, along.nodes[3].shapes[2].rotation);
  }
}

}  // namespace
}  // namespace kempe::test
