#include "mechanism/mistake.hpp"

/// Data of flexible bodies that do not fit together.
namespace kempe::test {
namespace {

BeamOptions beam() {
  BeamOptions options{
      .length = 0.5, .E = 7e10, .density = 2700, .area = 1e-4, .Iy = 1e-9, .Iz = 2e-9};
  options.modes = 3;
  return options;
}

Mechanism bentArm() {
  Mechanism robot("bent");
  robot.addBody("world");
  FlexibleBody flexible = reduceBeam("rod", beam());
  flexible.beam.reset();
  robot.addFlexibleBody(std::move(flexible));
  robot.addRevolute("hinge").from("world").to("rod");
  return robot;
}

struct Damage {
  std::string title;
  std::function<void(Mechanism&, FlexibleBody&)> make;
  std::string culprit;

  friend std::ostream& operator<<(std::ostream& out, const Damage& damage) {
    return out << damage.title;
  }
};

class DamagedBody : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedBody, IsRefused) {
  Mechanism robot = bentArm();
  ASSERT_EQ(errorOf(robot), "");
  GetParam().make(robot, robot.flexibleBodies.front());
  const std::string error = errorOf(robot);
  EXPECT_TRUE(contains(error, GetParam().culprit)) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, DamagedBody,
    ::testing::Values(
        Damage{"NoModes", [](Mechanism&, FlexibleBody& b) { b.modes.clear(); }, "has no modes"},
        Damage{"FewPairs", [](Mechanism&, FlexibleBody& b) { b.pairs.pop_back(); },
               "3 modes, but 8 pairs of modes. Give 9"},
        Damage{"ManyShapes", [](Mechanism&, FlexibleBody& b) { b.nodes[2].shapes.emplace_back(); },
               "4 shapes at node \"2\". Give 3"},
        Damage{"FewShortenings",
               [](Mechanism&, FlexibleBody& b) { b.nodes[2].shortening.pop_back(); },
               "8 shortenings at node \"2\". Give 9"},
        Damage{"NanShape",
               [](Mechanism&, FlexibleBody& b) { b.nodes[1].shapes[0].rotation.y = kNaN; },
               "at node \"1\" is not finite"},
        Damage{"NanIntegral", [](Mechanism&, FlexibleBody& b) { b.modes[1].inertia.xz = kNaN; },
               "an integral of mode 2 is not finite"},
        Damage{"NanPair", [](Mechanism&, FlexibleBody& b) { b.pairs[5].angular.x = kInfinity; },
               "pair of modes is not finite"},
        Damage{"OrderedPair", [](Mechanism&, FlexibleBody& b) { b.pairs[5].linear.x += 1.0; },
               "modes 2 and 3 depends on their order"},
        Damage{"NoMass", [](Mechanism&, FlexibleBody& b) { b.rigid.mass = 0.0; }, "mass is 0"},
        Damage{"NoModalMass", [](Mechanism&, FlexibleBody& b) { b.modes[2].mass = 0.0; },
               "mode 3 has the mass 0"},
        Damage{"NegativeStiffness", [](Mechanism&, FlexibleBody& b) { b.modes[0].stiffness = -1; },
               "mode 1 has the stiffness -1"},
        Damage{"SameNodes", [](Mechanism&, FlexibleBody& b) { b.nodes[1].name = "end"; },
               "its node \"end\" is that of another node"},
        Damage{"NodeLikeMode", [](Mechanism&, FlexibleBody& b) { b.nodes[1].name = "mode2"; },
               "of a mode"},
        Damage{"NamelessNode", [](Mechanism&, FlexibleBody& b) { b.nodes[1].name = ""; },
               "a node has no name"},
        Damage{"OtherBody", [](Mechanism&, FlexibleBody& b) { b.body = "nobody"; },
               "there is no body of this name"},
        Damage{"Twice", [](Mechanism& m, FlexibleBody& b) { m.flexibleBodies.push_back(b); },
               "flexible twice"},
        Damage{"BodyLikeMode",
               [](Mechanism& m, FlexibleBody&) {
                 m.addBody("rod/mode1");
                 m.addRevolute("more").from("rod").to("rod/mode1");
               },
               "\"rod/mode1\" has the name of another body"},
        Damage{"JointLikeNode",
               [](Mechanism& m, FlexibleBody&) {
                 m.addBody("more");
                 m.addRevolute("rod/end").from("rod").to("more");
               },
               "\"rod/end\" has the name of another joint"},
        Damage{"ModeByHand",
               [](Mechanism& m, FlexibleBody&) {
                 m.addBody("more");
                 m.addJoint("rod/other", JointType::Mode).from("rod").to("more");
               },
               "Kempe makes them"},
        Damage{"StartOfUnknownMode",
               [](Mechanism& m, FlexibleBody&) { m.startPose["rod/mode9"] = {0.1}; },
               "there is no such joint"}),
    [](const ::testing::TestParamInfo<Damage>& damage) { return damage.param.title; });

TEST(FlexibleValidation, ModelsCanBeCompiledAgain) {
  const Model model(bentArm());
  EXPECT_EQ(Model(model.mechanism()).vNames(), model.vNames());
}

TEST(FlexibleValidation, StartPosesOfModesCount) {
  Mechanism robot = bentArm();
  robot.startPose["rod/mode2"] = {0.01};
  const Model model(robot);
  EXPECT_EQ(model.neutral()[2], 0.01);
}

TEST(FlexibleValidation, BodiesOnNodesOfOneBeamCanBeInALoop) {
  Mechanism robot = bentArm();
  robot.addBody("middle").withMass(0.1).withInertia(1e-4, 1e-4, 1e-4);
  robot.addFixed("one").from("rod", "5").to("middle");
  robot.addBody("tip").withMass(0.1).withInertia(1e-4, 1e-4, 1e-4);
  robot.addFixed("two").from("rod", "end").to("tip");
  robot.addRod("string").from("middle", {0, 0, 0.1}).to("tip", {0, 0, 0.1}).ofLength(0.25);
  EXPECT_EQ(errorOf(robot), "");
  EXPECT_EQ(Model(robot).nv(), 3);  // hinge and three modes, less the rod
}

bool warns(const Mechanism& robot, const std::string& text) {
  for (const std::string& warning : robot.validate()) {
    if (contains(warning, text)) {
      return true;
    }
  }
  return false;
}

TEST(FlexibleValidation, FlatSectionsNeedATorsionConstant) {
  BeamOptions strip = beam();
  const auto robotOf = [&] {
    Mechanism robot("strip");
    robot.addBody("world");
    robot.addBeam("rod", strip);
    robot.addFixed("clamp").from("world").to("rod");
    return robot;
  };
  EXPECT_FALSE(warns(robotOf(), "torsion constant"));
  strip.Iz = 3.5 * strip.Iy;
  EXPECT_TRUE(warns(robotOf(), "torsion constant"));
  strip.J = 1e-10;
  EXPECT_FALSE(warns(robotOf(), "torsion constant"));
  strip.sections = {{1e-4, 1e-9, 1e-9, {}}, {1e-4, 1e-9, 5e-9, {}}};
  EXPECT_TRUE(warns(robotOf(), "torsion constant"));
}

TEST(FlexibleValidation, FreeBeamsNeedAFreeJoint) {
  BeamOptions freed = beam();
  freed.fixed = "none";
  Mechanism hinged("hinged");
  hinged.addBody("world");
  hinged.addBeam("rod", freed);
  hinged.addRevolute("hinge").from("world").to("rod");
  EXPECT_TRUE(warns(hinged, "joint \"hinge\" holds this frame"));
  Mechanism floats("floats");
  floats.addBeam("rod", freed);
  floats.addFloatingBase();
  EXPECT_FALSE(warns(floats, "holds this frame"));
}

}  // namespace
}  // namespace kempe::test
