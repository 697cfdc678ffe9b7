// What the URDF reader makes of loops, couplings, rods and gravity.

#include <gtest/gtest.h>

#include "io_testing.hpp"

namespace kempe {
namespace {

using io_testing::contains;
using io_testing::errorOf;
using io_testing::expectSame;
using io_testing::robotWith;

using Terms = std::vector<Coupling::Term>;

TEST(UrdfLoop, KeepsTypeAxisAndSign) {
  const std::pair<const char*, LoopType> types[] = {
      {"revolute", LoopType::Revolute},   {"continuous", LoopType::Revolute},
      {"prismatic", LoopType::Prismatic}, {"cylindrical", LoopType::Cylindrical},
      {"planar", LoopType::Planar},       {"fixed", LoopType::Fixed},
      {"spherical", LoopType::Spherical}};
  for (const auto& [name, type] : types) {
    const Mechanism mechanism = readUrdfText(
        robotWith("<loop name='l' type='" + std::string(name) +
                  "'><predecessor link='a'><origin xyz='1 0 0' rpy='0 0.5 0'/></predecessor>"
                  "<successor link='c'/><axis xyz='0 -3 0'/></loop>"));
    ASSERT_EQ(mechanism.loops.size(), 1U) << name;
    const LoopJoint& loop = mechanism.loops.front();
    EXPECT_EQ(loop.name, "l");
    EXPECT_EQ(loop.type, type) << name;
    EXPECT_EQ(loop.line, io_testing::lineOfRest);
    EXPECT_EQ(loop.predecessor.body, "a");
    EXPECT_EQ(loop.successor.body, "c");
    expectSame(loop.predecessor.frame, at({1, 0, 0}, {0, 0.5, 0}), name);
    expectSame(loop.successor.frame, Pose{}, name);
    if (type != LoopType::Fixed && type != LoopType::Spherical) {
      EXPECT_EQ(loop.axis, (Vector3{0, -3, 0})) << name;
    }
  }
}

TEST(UrdfLoop, UniversalHasTwoAxes) {
  const Mechanism mechanism = readUrdfText(
      robotWith("<loop name='l' type='universal'><predecessor link='a'/><successor link='c'/>"
                "<axis xyz='0 0 1'/><axis2 xyz='0 1 0'/></loop>"));
  EXPECT_EQ(mechanism.loops.front().type, LoopType::Universal);
  EXPECT_EQ(mechanism.loops.front().axis, (Vector3{0, 0, 1}));
  EXPECT_EQ(mechanism.loops.front().axis2, (Vector3{0, 1, 0}));
}

TEST(UrdfLoop, WithoutAxisTakesUrdfsDefaultAndSaysSo) {
  const Mechanism mechanism = readUrdfText(robotWith(
      "<loop name='l' type='revolute'><predecessor link='a'/><successor link='c'/></loop>"));
  EXPECT_EQ(mechanism.loops.front().axis, (Vector3{1, 0, 0}));
  ASSERT_EQ(mechanism.warnings.size(), 1U);
  EXPECT_TRUE(contains(mechanism.warnings[0], "urdf:7: a loop without <axis>"));
}

TEST(UrdfLoop, CutIsTrueFalseOrNotSaid) {
  const auto read = [](const std::string& cut) {
    return readUrdfText(robotWith(
        "<loop name='l' type='spherical'" + cut +
        "><predecessor link='a'/><successor link='c'/></loop><rod name='r'" + cut +
        "><predecessor link='a'/><successor link='c'/><length value='1'/></rod><coupling name='g'" +
        cut +
        "><predecessor link='b'/><successor link='c'/><ratio value='2'/></coupling>"
        "<coupling name='j'" +
        cut + "><joint name='ab' coefficient='1'/><joint name='bc' coefficient='2'/></coupling>"));
  };
  const std::pair<const char*, std::optional<bool>> words[] = {
      {"", std::nullopt}, {" cut='true'", true}, {" cut='false'", false}};
  for (const auto& [text, cut] : words) {
    const Mechanism mechanism = read(text);
    EXPECT_EQ(mechanism.loops.front().cut, cut) << text;
    EXPECT_EQ(mechanism.rods.front().cut, cut) << text;
    ASSERT_EQ(mechanism.couplings.size(), 2U);
    EXPECT_EQ(mechanism.couplings[0].cut, cut) << text;
    EXPECT_EQ(mechanism.couplings[1].cut, cut) << text;
  }
}

TEST(UrdfCoupling, OfLinksAddsUpTheJointsOfBothBranches) {
  // A rotor d on the base, belted to c: ratio · (ab + bc) + offset = ad.
  const Mechanism mechanism = readUrdfText(robotWith(
      "<coupling name='belt' type='anything'><predecessor link='c'/><successor link='d'/>"
      "<ratio value='-6'/><offset value='0.25'/></coupling>"
      "<link name='d'/><joint name='ad' type='continuous'><parent link='a'/><child link='d'/>"
      "</joint>"));
  ASSERT_EQ(mechanism.couplings.size(), 1U);
  const Coupling& belt = mechanism.couplings.front();
  EXPECT_EQ(belt.name, "belt");
  EXPECT_EQ(belt.line, io_testing::lineOfRest);
  double residual = -belt.offset;
  for (const Coupling::Term& term : belt.terms) {
    const std::string& joint = term.coordinate.joint;
    const double position = joint == "ab" ? 0.3 : joint == "bc" ? 0.1 : -6 * (0.3 + 0.1) + 0.25;
    residual += term.coefficient * position;
  }
  EXPECT_EQ(belt.terms.size(), 3U);
  EXPECT_NEAR(residual, 0.0, 1e-15);
  EXPECT_TRUE(mechanism.warnings.empty());
}

TEST(UrdfCoupling, OfJoints) {
  const Mechanism mechanism = readUrdfText(robotWith(
      "<coupling name='differential'><joint name='ab' coefficient='1'/>"
      "<joint name='cd' coefficient='-0.5' component='1'/><offset value='0.1'/></coupling>"
      "<link name='d'/><joint name='cd' type='cylindrical'><parent link='c'/><child link='d'/>"
      "</joint>"));
  const Coupling& coupling = mechanism.couplings.front();
  EXPECT_EQ(coupling.terms, (Terms{{Coordinate("ab"), 1.0}, {Coordinate("cd", 1), -0.5}}));
  EXPECT_EQ(coupling.offset, 0.1);
}

TEST(UrdfRod, HasTwoPointsAndALength) {
  const Mechanism mechanism = readUrdfText(
      robotWith("<rod name='r'><predecessor link='a' xyz='1 2 3'/><successor link='c'/>"
                "<length value='0.155'/></rod>"));
  const Rod& rod = mechanism.rods.front();
  EXPECT_EQ(rod.name, "r");
  EXPECT_EQ(rod.predecessor.body, "a");
  EXPECT_EQ(rod.predecessor.point, (Vector3{1, 2, 3}));
  EXPECT_EQ(rod.successor.body, "c");
  EXPECT_EQ(rod.successor.point, Vector3{});
  EXPECT_EQ(rod.length, 0.155);
}

TEST(UrdfLoop, EachTypeLeavesItsOwnFreedoms) {
  // A body that floats, tied to the ground by the loop alone, beside two hinges.
  const std::pair<const char*, int> freedoms[] = {
      {"revolute", 1},  {"continuous", 1}, {"prismatic", 1}, {"cylindrical", 2},
      {"universal", 2}, {"spherical", 3},  {"planar", 3},    {"fixed", 0}};
  for (const auto& [type, expected] : freedoms) {
    const std::string secondAxis =
        std::string(type) == "universal" ? "<axis2 xyz='0 0 1'/>" : std::string();
    const Model model(readUrdfText(robotWith(
        "<link name='d'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' "
        "iyz='0' izz='1'/></inertial></link><joint name='ad' type='floating'><parent link='a'/>"
        "<child link='d'/></joint><loop name='l' type='" +
        std::string(type) + "'><predecessor link='a'/><successor link='d'/><axis xyz='0 3 0'/>" +
        secondAxis + "</loop>")));
    EXPECT_EQ(model.nv(), 2 + expected) << type;
  }
}

TEST(UrdfGravity, IsTheRobots) {
  EXPECT_EQ(readUrdfText(robotWith("")).gravity, (Vector3{0, 0, -9.81}));
  EXPECT_EQ(readUrdfText(robotWith("<gravity xyz='0 -1.62 0'/>")).gravity, (Vector3{0, -1.62, 0}));
}

TEST(UrdfFriction, HasASlipSpeed) {
  EXPECT_EQ(readUrdfText(robotWith("")).frictionSlipSpeed, 0.0);
  EXPECT_EQ(readUrdfText(robotWith("<friction slip_speed='0.05'/>")).frictionSlipSpeed, 0.05);
}

struct Mistake {
  const char* text;
  const char* message;
};

TEST(UrdfLoop, MistakesNameLineElementAndRemedy) {
  const Mistake mistakes[] = {
      {"<loop name='l' type='hinge'><predecessor link='a'/><successor link='c'/></loop>",
       "file:7: loop \"l\": the type \"hinge\" is not known. The types are revolute, cont"},
      {"<loop name='l' type='fixed'><predecessor link='a'/></loop>",
       "file:7: loop \"l\": has no <successor>. Add <successor link="},
      {"<loop name='l' type='fixed'>\n<predecessor link='a'/><successor link='cc'/></loop>",
       "file:8: <successor> of loop \"l\": there is no link \"cc\". Did you mean \"c\"?"},
      {"<loop type='fixed'><predecessor link='a'/><successor link='c'/></loop>",
       "file:7: <loop> of robot \"r\": the attribute \"name\" is missing"},
      {"<loop name='l' type='universal'><predecessor link='a'/><successor link='c'/>"
       "<axis xyz='0 0 1'/></loop>",
       "file:7: loop \"l\": a universal loop has no <axis2>"},
      {"<loop name='l' type='revolute'><predecessor link='a'/><successor link='c'/>"
       "<axis xyz='0 0 0'/></loop>",
       "file:7: loop \"l\": its axis has no direction"},
      {"<loop name='l' type='fixed'><predecessor link='a'/><successor link='a'/></loop>",
       "file:7: loop \"l\": both ends are on body \"a\""},
      {"<coupling name='k'><predecessor link='b'/><successor link='c'/></coupling>",
       "file:7: coupling \"k\": has no <ratio>"},
      {"<coupling name='k'><predecessor link='b'/><successor link='x'/><ratio value='1'/>"
       "</coupling>",
       "file:7: <successor> of coupling \"k\": there is no link \"x\""},
      {"<coupling name='k'><joint name='abc' coefficient='1'/></coupling>",
       "file:7: joint \"abc\" of coupling \"k\": there is no joint \"abc\". Did you mean \"ab\"?"},
      {"<coupling name='k'><joint name='ab'/></coupling>",
       "file:7: joint \"ab\" of coupling \"k\": the attribute \"coefficient\" is missing"},
      {"<coupling name='k'/>", "file:7: coupling \"k\": couples nothing. Add <predecessor link="},
      {"<coupling name='k'><joint name='ab' coefficient='1'/><successor link='c'/></coupling>",
       "file:7: coupling \"k\": couples both links and joints. Use <predecessor> and"},
      {"<coupling name='k'><joint name='ab' coefficient='1' component='x'/></coupling>",
       "file:7: joint \"ab\" of coupling \"k\": component=\"x\" is not a whole number. Write 0, 1"},
      {"<loop name='l' type='revolut'><predecessor link='a'/><successor link='c'/></loop>",
       "file:7: loop \"l\": the type \"revolut\" is not known. Did you mean \"revolute\"?"},
      {"<loop name='l' type='fixed'><predecessor link='a'/><successor link='c'/>"
       "<axis2 xyz='0 0 1'/></loop>",
       "file:7: loop \"l\": <axis2> belongs to universal loops only"},
      {"<coupling name='k'><joint name='ab' coefficient='1' component='3'/></coupling>",
       "file:7: coupling \"k\": joint \"ab\" has 1 coordinate"},
      {"<link name='d'/><joint name='cd' type='spherical'><parent link='c'/><child link='d'/>"
       "</joint>\n<coupling name='k'><predecessor link='b'/><successor link='d'/>"
       "<ratio value='1'/></coupling>",
       "file:8: coupling \"k\": joint \"cd\" on the way is spherical"},
      {"<rod name='r'><predecessor link='a'/><successor link='c'/></rod>",
       "file:7: rod \"r\": has no <length>"},
      {"<rod name='r'><predecessor link='a'/><successor link='c'/><length value='-1'/></rod>",
       "file:7: rod \"r\": its length must be positive"},
      {"<gravity xyz='0 0'/>", "file:7: <gravity> of robot \"r\": xyz=\"0 0\" holds 2 numbers"},
      {"<gravity xyz='0 0 1'/>\n<gravity xyz='0 0 2'/>",
       "file:8: robot \"r\": a second <gravity> (the first is in line 7)"},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string error = errorOf(robotWith(mistake.text));
    EXPECT_TRUE(error.starts_with(mistake.message)) << error << "\n  not: " << mistake.message;
  }
}

TEST(UrdfFunction, IsAFormulaOfJointPositions) {
  const Mechanism mechanism = readUrdfText(
      robotWith("<function name='f'><joint name='ab' symbol='a'/><joint name='bc' symbol='b'/>"
                "<formula value='2 * a - sin(b)'/></function>"));
  ASSERT_EQ(mechanism.functions.size(), 1U);
  const Function& function = mechanism.functions.front();
  EXPECT_EQ(function.name, "f");
  EXPECT_EQ(function.line, io_testing::lineOfRest);
  EXPECT_EQ(function.coordinates, (std::vector<Coordinate>{"ab", "bc"}));
  EXPECT_EQ(function.rows, 1);
  EXPECT_EQ(function.expression.text(), "2 * x0 - sin(x1)");
  EXPECT_EQ(Model(mechanism).nv(), 1);
}

TEST(UrdfFunction, ErrorsNameWhatIsWrong) {
  const auto error = [](const std::string& contents) {
    return errorOf(robotWith("<function name='f'>" + contents + "</function>"));
  };
  const std::string joint = "<joint name='ab' symbol='a'/>";
  EXPECT_TRUE(contains(error(joint + "<formula value='a + c'/>"),
                       "column 5 of the formula: unknown name \"c\""));
  EXPECT_TRUE(contains(error(joint), "Add <formula value="));
  EXPECT_TRUE(contains(error("<formula value='1'/>"), "it has 0 joints"));
  EXPECT_TRUE(contains(error("<joint name='ab'/><formula value='1'/>"), "symbol"));
  EXPECT_TRUE(contains(error("<joint name='nobody' symbol='a'/><formula value='a'/>"), "nobody"));
  EXPECT_TRUE(contains(error("<joint name='ab' symbol='sin'/><formula value='1'/>"),
                       "\"sin\" cannot name an argument"));
  EXPECT_TRUE(contains(error(joint + "<formula value='a'/><rows value='1'/>"), "rows"));
  EXPECT_TRUE(contains(error(joint + joint + "<formula value='a'/>"), "have the name \"a\""));
}

}  // namespace
}  // namespace kempe
