#include <gtest/gtest.h>

#include <limits>

#include "io_testing.hpp"

namespace kempe {
namespace {

using io_testing::contains;
using io_testing::errorOfClosures;
using io_testing::robotWith;

/// a – b – c – d and a free base above.
const std::string robot = robotWith(
    "<link name='d'/><joint name='cd' type='fixed'><parent link='c'/><child link='d'/></joint>"
    "<link name='w'/><joint name='wa' type='floating'><parent link='w'/><child link='a'/></joint>"
    "<link name='ab'/><joint name='xx' type='fixed'><parent link='d'/><child link='ab'/></joint>");

Mechanism closed(const std::string& yaml) {
  Mechanism mechanism = readUrdfText(robot, "file");
  addClosuresFromYamlText(mechanism, yaml, "closures");
  return mechanism;
}

TEST(YamlClosures, FramesAreLinksOrJoints) {
  const Mechanism mechanism = closed(
      "closed_loop: [['a', 'bc'], [w, cd]]\n"
      "type: ['6d', \"3d\"]\n");
  ASSERT_EQ(mechanism.loops.size(), 2U);
  EXPECT_EQ(mechanism.loops[0].name, "a-bc");
  EXPECT_EQ(mechanism.loops[0].type, LoopType::Fixed);
  EXPECT_EQ(mechanism.loops[0].predecessor.body, "a");
  EXPECT_EQ(mechanism.loops[0].successor.body, "c");  // the frame of joint bc moves with c
  EXPECT_EQ(mechanism.loops[1].name, "w-cd");
  EXPECT_EQ(mechanism.loops[1].type, LoopType::Spherical);
  EXPECT_EQ(mechanism.loops[1].successor.body, "d");
  EXPECT_TRUE(mechanism.warnings.empty());
  for (const Joint& joint : mechanism.joints) {
    EXPECT_EQ(joint.independence, std::nullopt) << joint.name;
  }
}

TEST(YamlClosures, MotorsAreIndependentAndTheRestIsNot) {
  const Mechanism mechanism = closed("closed_loop: []\ntype: []\nname_mot:\n  - bc\n");
  EXPECT_EQ(mechanism.findJoint("ab")->independence, false);
  EXPECT_EQ(mechanism.findJoint("bc")->independence, true);
  EXPECT_EQ(mechanism.findJoint("cd")->independence, std::nullopt);  // fixed
  EXPECT_EQ(mechanism.findJoint("wa")->independence, std::nullopt);  // the free base
}

TEST(YamlClosures, CutIsSaidOfEachPairOrOfNone) {
  const Mechanism mechanism =
      closed("closed_loop: [[a, bc], [w, cd]]\ntype: [6d, 3d]\ncut: [true, 'false']\n");
  ASSERT_EQ(mechanism.loops.size(), 2U);
  EXPECT_EQ(mechanism.loops[0].cut, true);
  EXPECT_EQ(mechanism.loops[1].cut, false);
  EXPECT_TRUE(mechanism.warnings.empty());
  EXPECT_EQ(closed("closed_loop: [[a, bc]]\ntype: [6d]\n").loops.front().cut, std::nullopt);
}

TEST(YamlClosures, MissingTypesAndForeignKeysAreWarnings) {
  const Mechanism mechanism = closed("name_spherical: [x]\nclosed_loop: [[a, c]]\n");
  EXPECT_EQ(mechanism.loops.front().type, LoopType::Fixed);
  ASSERT_EQ(mechanism.warnings.size(), 2U);
  EXPECT_TRUE(
      contains(mechanism.warnings[0], "closures:1: the key \"name_spherical\" is not known and"));
  EXPECT_TRUE(contains(mechanism.warnings[1], "closures:2: there is no key \"type\""));
}

TEST(YamlClosures, NamesStayUnique) {
  Mechanism mechanism = closed("closed_loop: [[a, c]]\ntype: [6d]\n");
  addClosuresFromYamlText(mechanism, "closed_loop: [[w, c], [a, c], [a, c]]\ntype: [6d, 6d, 3d]\n");
  EXPECT_EQ(mechanism.loops[1].name, "w-c");
  EXPECT_EQ(mechanism.loops[2].name, "a-c_2");
  EXPECT_EQ(mechanism.loops[3].name, "a-c_3");
}

TEST(YamlClosures, TypesAreReadInEitherCase) {
  const Mechanism mechanism = closed("closed_loop: [[a, bc], [w, cd]]\ntype: ['6D', '3D']\n");
  EXPECT_EQ(mechanism.loops[0].type, LoopType::Fixed);
  EXPECT_EQ(mechanism.loops[1].type, LoopType::Spherical);
}

TEST(YamlClosures, MotorsAreActuatedAndOthersAreNot) {
  const Mechanism mechanism = closed("closed_loop: []\ntype: []\nname_mot: [bc]\n");
  EXPECT_EQ(mechanism.findJoint("bc")->actuation, true);
  EXPECT_EQ(mechanism.findJoint("ab")->actuation, std::nullopt);
  // The list replaces what the URDF says.
  Mechanism marked =
      readUrdfText(robotWith("<transmission><joint name='ab'/></transmission>"), "file");
  addClosuresFromYamlText(marked, "closed_loop: []\ntype: []\nname_mot: [bc]\n");
  EXPECT_EQ(marked.findJoint("ab")->actuation, std::nullopt);
  EXPECT_EQ(Model(marked).actuated(), std::vector<std::string>{"bc"});
}

TEST(YamlClosures, JointsGetOtherTypes) {
  const Mechanism mechanism = closed(
      "closed_loop: []\ntype: []\njoint_name: [ab, bc, wa]\n"
      "joint_type: [SPHERICAL, UJOINT_ZX, fixed]\n");
  EXPECT_EQ(mechanism.findJoint("ab")->type, JointType::Spherical);
  const Joint& universal = *mechanism.findJoint("bc");
  EXPECT_EQ(universal.type, JointType::Universal);
  EXPECT_EQ(universal.axis, (Vector3{0, 0, 1}));
  EXPECT_EQ(universal.axis2, (Vector3{1, 0, 0}));
  EXPECT_EQ(mechanism.findJoint("wa")->type, JointType::Fixed);
  EXPECT_TRUE(mechanism.warnings.empty());
}

TEST(YamlClosures, LimitsOfTheOldTypeAreDropped) {
  Mechanism mechanism = readUrdfText(robotWith(
      "<link name='d'/><joint name='cd' type='revolute' start_pose='0.5'><parent link='c'/>"
      "<child link='d'/><limit lower='-1' upper='1' effort='2' velocity='3'/></joint>"));
  addClosuresFromYamlText(
      mechanism, "closed_loop: []\ntype: []\njoint_name: [cd]\njoint_type: [SPHERICAL]\n", "y");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(mechanism.findJoint("cd")->limits, (Limits{-infinity, infinity, 3, 2}));
  EXPECT_TRUE(mechanism.startPose.empty());
  ASSERT_EQ(mechanism.warnings.size(), 1U);
  EXPECT_TRUE(contains(mechanism.warnings[0], "y:3: joint_name: the start pose of joint \"cd\""));
}

TEST(YamlClosures, JointsThatDoNotExistKeepTheirTypeToThemselves) {
  const Mechanism mechanism =
      closed("closed_loop: []\ntype: []\njoint_name: [abb]\njoint_type: [SPHERICAL]\n");
  ASSERT_EQ(mechanism.warnings.size(), 1U);
  EXPECT_TRUE(contains(mechanism.warnings[0],
                       "closures:3: joint_name: there is no joint \"abb\"; the entry is ignored. "
                       "Did you mean \"ab\"?"));
}

TEST(YamlClosures, ReferencesToJointsStayValid) {
  Mechanism mechanism = readUrdfText(robot, "file");
  Joint& joint = mechanism.joints[0];
  addClosuresFromYamlText(mechanism, "closed_loop: []\ntype: []\nname_mot: [ab]\n");
  EXPECT_EQ(&joint, &mechanism.joints[0]);
  EXPECT_EQ(joint.actuation, true);
}

TEST(YamlClosures, StartPoseIsOneNumberOrAList) {
  const Mechanism mechanism = closed(
      "closed_loop: []\ntype: []\nstart_pose: {ab: -0.5, bc: [0.25], wa: [1, 2, 3, 0, 0, 0, 1]}\n");
  const std::map<std::string, std::vector<double>> expected{
      {"ab", {-0.5}}, {"bc", {0.25}}, {"wa", {1, 2, 3, 0, 0, 0, 1}}};
  EXPECT_EQ(mechanism.startPose, expected);
}

TEST(YamlClosures, MessagesNameTheFileOfTheClosure) {
  Mechanism mechanism = readUrdfText(robot, "file");
  addClosuresFromYamlText(mechanism, "\nclosed_loop: [[a, d]]\ntype: [6d]\n", "closures");
  EXPECT_EQ(mechanism.place(mechanism.loops.front()), "closures:2: ");
  mechanism.loops.front().predecessor.body = "c";  // which d is fixed to
  try {
    static_cast<void>(mechanism.validate());
    FAIL() << "was not refused";
  } catch (const ModelError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("closures:2: loop \"a-d\": bodies"))
        << error.what();
  }
}

struct BadClosures {
  std::string yaml;
  const char* message;
};

TEST(YamlClosures, MistakesNameLineAndRemedy) {
  const std::string bomb =
      "a: &a [x, x, x, x, x, x, x, x, x]\n"
      "b: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n"
      "c: &c [*b, *b, *b, *b, *b, *b, *b, *b]\n"
      "closed_loop: [*c, *c, *c, *c, *c, *c, *c, *c]\n";
  const BadClosures bad[] = {
      {"", "closures:1: the file is empty. Expected a list of loop closures"},
      {"just words", "closures:1: the file is not a map of keys"},
      {"[a, b]", "closures:1: the file is not a map of keys"},
      {"# only a comment\n", "closures:1: the file is not a map of keys"},
      {"type: []\n", "closures:1: there is no key \"closed_loop\""},
      {"closed_loop: a\n", "closures:1: closed_loop is not a list"},
      {"closed_loop:\n", "closures:1: closed_loop is not a list"},
      {"\nclosed_loop: [a, c]\n", "closures:2: an entry of closed_loop is not a list"},
      {"closed_loop: [[a]]\ntype: [6d]", "closures:1: an entry of closed_loop has 1 frames"},
      {"closed_loop:\n - [a, [c]]\ntype: [6d]", "closures:2: a frame of closed_loop is not a name"},
      {"closed_loop:\n - [a, bcc]\ntype: [6d]",
       "closures:2: there is no link or joint \"bcc\". Did you mean \"bc\"?"},
      {"closed_loop: [[c, bc]]\ntype: [6d]", "closures:1: frames \"c\" and \"bc\" are on the same"},
      {"closed_loop: [[c, ab]]\ntype: [6d]", "closures:1: \"ab\" is both a link and a joint"},
      {"closed_loop: [[a, c]]\ntype: [6d, 3d]", "closures:2: type has 2 entries for the 1 pairs"},
      {"closed_loop: [[a, c]]\ntype: [5d]", "closures:2: the type \"5d\" is not known"},
      {"closed_loop: [[a, c]]\ntype: 6d", "closures:2: type is not a list"},
      {"closed_loop: [[a, c]]\ntype: [6d]\ncut: [true, false]",
       "closures:3: cut has 2 entries for the 1 pairs of closed_loop. Write one true or false"},
      {"closed_loop: [[a, c]]\ntype: [6d]\ncut: true", "closures:3: cut is not a list"},
      {"closed_loop: [[a, c]]\ntype: [6d]\ncut:\n- [true]",
       "closures:4: an entry of cut is not a name"},
      {"closed_loop: [[a, c]]\ntype: [6d]\ncut: [yes]",
       "closures:3: the entry \"yes\" of cut is not known. Write true or false."},
      {"closed_loop: [[a, c]]\ntype: [6d]\ncuts: [true]",
       "closures:3: the key \"cuts\" is not known. Did you mean \"cut\"? The keys are"},
      {"closed_loop: []\ntype: []\nname_mot: [abc]",
       "closures:3: name_mot: there is no joint \"abc\". Did you mean \"ab\"?"},
      {"closed_loop: []\ntype: []\nname_mot: [cd]", "closures:3: name_mot: joint \"cd\" is fixed"},
      {"closed_loop: []\ntype: []\nname_mot:\n- ab\n- ab",
       "closures:5: name_mot: joint \"ab\" is named twice"},
      {"closed_loop: []\ntype: []\njoint_name: [ab]",
       "closures:3: there is no key joint_type to go with this one"},
      {"closed_loop: []\ntype: []\njoint_type: [FIXED]",
       "closures:3: there is no key joint_name to go with this one"},
      {"closed_loop: []\ntype: []\njoint_name: [ab]\njoint_type: []",
       "closures:4: joint_type has 0 entries for the 1 of joint_name"},
      {"closed_loop: []\ntype: []\njoint_name: [ab, ab]\njoint_type: [FIXED, FIXED]",
       "closures:3: joint_name: joint \"ab\" is named twice"},
      {"closed_loop: []\ntype: []\njoint_name: [ab]\njoint_type: [UJOINT_XX]",
       "closures:4: joint_type: the type \"UJOINT_XX\" is not known. Write SPHERICAL, FIXED, or"},
      {"closed_loop: []\ntype: []\njoint_name: [nobody]\njoint_type: [HINGE]",
       "closures:4: joint_type: the type \"HINGE\" is not known"},
      {"closed_loop: []\ntype: []\nname_mot: [ab]\njoint_name: [ab]\njoint_type: [FIXED]",
       "closures:3: name_mot: joint \"ab\" is fixed"},
      {"closed_loop: []\ntype: []\nstart_pose: [ab]", "closures:3: start_pose is not a map"},
      {"closed_loop: []\ntype: []\nstart_pose:\n  abc: 1",
       "closures:4: start_pose: there is no joint \"abc\". Did you mean \"ab\"?"},
      {"closed_loop: []\ntype: []\nstart_pose: {ab: .inf}",
       "closures:3: start_pose: a position of joint \"ab\" is not a finite number"},
      {"closed_loop: []\ntype: []\nstart_pose: {ab: [1, 2]}",
       "closures:3: start_pose: joint \"ab\" is continuous and has 1 position(s), not 2"},
      {"closed_loop: []\nclosed_loops: []",
       "closures:2: the key \"closed_loops\" is not known. Did"},
      {"closed_loop: []\nclosed_loop: []", "closures:2: the key \"closed_loop\" occurs twice"},
      {"closed_loop: []\n? [a, b]\n: c", "closures:2: a key is a list or map"},
      {"closed_loop: [[a, c]\ntype: [6d]", "closures:2: the file is not YAML"},
      {"closed_loop: []\n---\nclosed_loop: []", "closures:2: a second document begins"},
      {"closed_loop: &x []\ntype: *x", "closures:1: anchors (&name) are not supported"},
      {"closed_loop: &x [*x]", "closures:1: anchors (&name) are not supported. Remove the anchor"},
      {"closed_loop: *x", "closures:1: the file is not YAML"},
      {bomb, "closures:1: anchors (&name) are not supported"},
      {"closed_loop: " + std::string(10'000, '[') + std::string(10'000, ']'),
       "closures:1: lists are nested more than 16"},
      {"closed_loop: " + std::string(10'000, '['), "closures:1: "},
      {"closed_loop: " + std::string(10'000, '{'), "closures:1: "},
      {std::string(2'000'000, ' ') + "a",
       "closures:1: the file has 2000001 bytes; at most 1048576"},
      {std::string("closed_loop: \0", 14), "closures:1: the file holds a byte of value 0"},
      {"closed_loop: \xff", "closures:1: the file is not UTF-8"},
      {"\tclosed_loop: []", "closures:1: the file is not YAML"},
      {"<robot/>", "closures:1: the file is not a map of keys"},
  };
  for (const BadClosures& each : bad) {
    const std::string error = errorOfClosures(robot, each.yaml);
    EXPECT_TRUE(error.starts_with(each.message))
        << "got: " << error << "\nnot: " << each.message << "\nfor: " << each.yaml.substr(0, 80);
  }
}

TEST(YamlClosures, AMistakeLeavesTheMechanismAsItWas) {
  Mechanism mechanism = readUrdfText(robot, "file");
  EXPECT_THROW(addClosuresFromYamlText(mechanism,
                                       "closed_loop: [[a, c]]\ntype: [6d]\nname_mot: [ab, nobody]"),
               ModelError);
  EXPECT_TRUE(mechanism.loops.empty());
  EXPECT_EQ(mechanism.findJoint("ab")->independence, std::nullopt);
}

TEST(YamlClosures, DamageGivesAModelErrorOrIsRead) {
  const std::string whole =
      "closed_loop: [['a', 'bc']]\ntype: ['6d']\nname_mot: ['ab', 'bc']\ncut: [true]\n";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char damage : {'[', ']', '{', '}', '\'', '"', ':',  '#', '\n', '&',
                              '*', '!', '|', '>', '%',  '@', '\t', '-', '?',  ','}) {
      std::string text = whole;
      text[i] = damage;
      const std::string error = errorOfClosures(robot, text);
      ASSERT_TRUE(error.empty() || error.starts_with("closures:")) << i << damage << error;
    }
  }
}

}  // namespace
}  // namespace kempe
