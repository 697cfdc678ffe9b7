// Wrong, broken and hostile files give a ModelError that says where and why, and nothing worse.

#include <gtest/gtest.h>

#include <ostream>

#include "io_testing.hpp"

namespace kempe {
namespace {

using io_testing::contains;
using io_testing::errorOf;
using io_testing::robotWith;

struct Bad {
  const char* name;
  std::string text;
  const char* message;  ///< how the error begins
};

std::string repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    text += piece;
  }
  return text;
}

std::string distinctAttributes(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += " a" + std::to_string(i) + "=''";
  }
  return text;
}

std::string link(const std::string& contents) {
  return "<robot name='r'>\n<link name='a'>\n" + contents + "</link></robot>";
}

std::string inertial(const std::string& mass, const std::string& ixx) {
  return link("<inertial><mass value='" + mass + "'/><inertia ixx='" + ixx +
              "' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>");
}

/// A robot that moves, and whose moving link (line 2) has the figures.
std::string moving(const std::string& mass, const std::string& ixx) {
  std::string text = inertial(mass, ixx);
  return text.replace(text.find("</robot>"), std::string::npos,
                      "<link name='b'/><joint name='ba' type='continuous'><parent link='b'/>"
                      "<child link='a'/></joint></robot>");
}

std::string joint(const std::string& contents) {
  return "<robot name='r'>\n<link name='a'/><link name='b'/>\n<joint name='j' " + contents +
         "</joint></robot>";
}

const std::string ends = "<parent link='a'/><child link='b'/>";

/// What a failing test prints of its case.
std::ostream& operator<<(std::ostream& out, const Bad& bad) {
  return out << bad.text.substr(0, 200);
}

class HostileFile : public testing::TestWithParam<Bad> {};

TEST_P(HostileFile, IsRefusedWithPlaceAndReason) {
  const std::string error = errorOf(GetParam().text);
  EXPECT_TRUE(error.starts_with(GetParam().message))
      << "got: " << error << "\nnot: " << GetParam().message;
}

std::string nameOf(const testing::TestParamInfo<Bad>& bad) {
  return bad.param.name;
}

const Bad notXml[] = {
    {"Empty", "", "file:1: the file is empty. Expected a robot in XML"},
    {"Blank", " \n\t\r\n ", "file:1: the file is empty"},
    {"PlainText", "hello\nrobot", "file:1: the file is not XML: it begins with \"hello\""},
    {"Binary",
     std::string("\x7f"
                 "ELF\x02\x01",
                 6),
     "file:1: the file holds a byte of value 127"},
    {"NulByte", std::string("<robot\n name='r\0'/>", 19),
     "file:2: the file holds a byte of value 0"},
    {"NotUtf8", "<robot\nname='\xff'/>", "file:2: the file is not UTF-8 text"},
    {"Overlong", "<robot name='\xc0\xaf'/>", "file:1: the file is not UTF-8 text"},
    {"SurrogateBytes", "<robot name='\xed\xa0\x80'/>", "file:1: the file is not UTF-8 text"},
    {"SurrogateReference", "<robot name='&#xD800;'/>", "file:1: \"&\" begins neither a character"},
    {"Utf16", std::string("\xff\xfe<\0r\0", 6), "file:1: the file is not UTF-8 text"},
    {"OnlyComment", "<!-- nothing -->", "file:1: there is no element in the file"},
    {"OnlyDeclaration", "<?xml version='1.0'?>", "file:1: there is no element in the file"},
    {"Json", "{\"robot\": 1}", "file:1: the file is not XML"},
};
INSTANTIATE_TEST_SUITE_P(NotXml, HostileFile, testing::ValuesIn(notXml), nameOf);

const Bad brokenXml[] = {
    {"Unclosed", "<robot name='r'>\n<link name='a'>\n</robot>",
     "file:2: <link>: the element that begins here is not closed"},
    {"CutOff", "<robot name='r'>\n<link name='a'/>\n",
     "file:1: the element that begins here is not closed"},
    {"UnclosedComment", "<robot name='r'>\n<!-- no end\n</robot>",
     "file:2: a comment is not closed"},
    {"AttributeWithoutQuotes", "<robot name=r/>",
     "file:1: <robot>: an attribute is not well-formed"},
    {"AttributeWithoutEnd", "<robot name='r/>", "file:1: <robot>: an attribute is not well-formed"},
    {"DuplicateAttribute", "<robot name='r'>\n<link name='a' name='b'/></robot>",
     "file:2: <link>: the attribute \"name\" occurs twice"},
    {"DuplicateAttributeDeep", link("<gazebo>\n<x a='1' b='2'\n a='3'/></gazebo>"),
     "file:5: <x>: the attribute \"a\" occurs twice"},
    {"ManyAttributes", "<robot name='r'>\n<link" + distinctAttributes(101) + "/></robot>",
     "file:2: <link>: more than 100 attributes"},
    {"NoCharacter", "<robot name='&#0;'/>", "file:1: \"&\" begins neither a character"},
    {"TwoRoots", "<robot name='r'/>\n<robot name='s'/>", "file:2: <robot> is a second element"},
    {"TextAfterRoot", "<robot name='r'/>\nand more", "file:2: text is not followed by a tag"},
    {"StrayText", link("mass 5\n"), "file:3: link \"a\": text \"?mass 5?\" is between"},
    {"StrayCdata", link("<![CDATA[x]]>"), "file:3: link \"a\": text \"x\" is between"},
    {"Doctype", "<!DOCTYPE robot>\n<robot name='r'/>", "file:1: the declaration \"<!DOCTYPE\""},
    {"EntityExpansion",
     "<?xml version='1.0'?>\n<!DOCTYPE robot [\n<!ENTITY a 'aaaaaaaaaa'>\n"
     "<!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>\n<robot name='&b;'/>",
     "file:2: the declaration \"<!DOCTYPE\""},
    {"ExternalEntity", "<robot name='r'>\n<!ENTITY x SYSTEM 'file:///etc/passwd'></robot>",
     "file:2: the declaration \"<!ENTITY\""},
    {"UnknownEntity", "<robot\nname='&b;'/>", "file:2: \"&\" begins neither a character"},
    {"BareAmpersand", "<robot name='a & b'/>", "file:1: \"&\" begins neither a character"},
    {"DeepNesting", repeated("<robot name='r'>", 10'000), "file:1: elements are nested more than"},
    {"DeepNestingClosed", repeated("<a>", 10'000) + repeated("</a>", 10'000),
     "file:1: elements are nested more than"},
    {"ManyTags", "<robot name='r'>" + repeated("<a/>", 4'000'001),
     "file:1: the file has more than"},
    {"OtherRoot", "<sdf version='1.9'/>", "file:1: the outermost element is <sdf>, not <robot>"},
    {"LateDeclaration", "<robot name='r'>\n<?xml version='1.0'?></robot>",
     "file:2: an XML declaration"},
};
INSTANTIATE_TEST_SUITE_P(BrokenXml, HostileFile, testing::ValuesIn(brokenXml), nameOf);

const Bad badNumbers[] = {
    {"NotANumber", inertial("abc", "1"),
     "file:3: <mass> of <inertial> of link \"a\": value=\"abc\": \"abc\" is not"},
    {"Nan", inertial("nan", "1"),
     "file:3: <mass> of <inertial> of link \"a\": value=\"nan\": \"nan\" is not a fin"},
    {"Infinite", inertial("1", "inf"),
     "file:3: <inertia> of <inertial> of link \"a\": ixx=\"inf\""},
    {"Huge", inertial("1e308", "1"),
     "file:3: <mass> of <inertial> of link \"a\": value=\"1e308\": \"1e308\" is lar"},
    {"Overflow", inertial("1e999", "1"),
     "file:3: <mass> of <inertial> of link \"a\": value=\"1e999\": \"1e999\" is"},
    {"DecimalComma", inertial("1,5", "1"),
     "file:3: <mass> of <inertial> of link \"a\": value=\"1,5\""},
    {"EmptyNumber", inertial("", "1"),
     "file:3: <mass> of <inertial> of link \"a\": value=\"\" holds 0 numbers"},
    {"TwoNumbers", inertial("1 2", "1"),
     "file:3: <mass> of <inertial> of link \"a\": value=\"1 2\" holds 2"},
    {"Macro", inertial("${m}", "1"),
     "file:3: <mass> of <inertial> of link \"a\": value=\"${m}\": \"${m}\" is not a finite number. "
     "Expand the "
     "macros"},
    {"NegativeMass", moving("-1", "1"), "file:2: body \"a\": its mass is negative"},
    {"NegativeInertia", moving("1", "-1"), "file:2: body \"a\": its inertia is not positive"},
    {"TwoOfThree", joint("type='fixed'>" + ends + "<origin xyz='1 2'/>"),
     "file:3: <origin> of joint \"j\": xyz=\"1 2\" holds 2 numbers. Write three numbers"},
    {"FourOfThree", joint("type='fixed'>" + ends + "<origin rpy='1 2 3 4'/>"),
     "file:3: <origin> of joint \"j\": rpy=\"1 2 3 4\" holds 4 numbers. Write three numbers"},
    {"HugeAttribute",
     joint("type='fixed'>" + ends + "<origin xyz='" + repeated("1 ", 1'000'000) + "'/>"),
     "file:3: <origin> of joint \"j\": xyz=\"1 1 1"},
    {"NanLimit", joint("type='revolute'>" + ends + "<limit lower='nan' upper='1'/>"),
     "file:3: <limit> of joint \"j\": lower=\"nan\""},
    {"CrossedLimits", joint("type='revolute'>" + ends + "<limit lower='2' upper='1'/>"),
     "file:3: joint \"j\": its lower limit 2 is not below its upper limit 1"},
    {"ZeroQuaternion", joint("type='fixed'>" + ends + "<origin quat_xyzw='0 0 0 0'/>"),
     "file:3: <origin> of joint \"j\": quat_xyzw is zero"},
    {"TwoRotations", joint("type='fixed'>" + ends + "<origin rpy='0 0 0' quat_xyzw='0 0 0 1'/>"),
     "file:3: <origin> of joint \"j\": has both rpy and quat_xyzw"},
};
INSTANTIATE_TEST_SUITE_P(BadNumbers, HostileFile, testing::ValuesIn(badNumbers), nameOf);

const Bad badRobots[] = {
    {"EmptyName", "<robot name='r'>\n<link name=''/></robot>",
     "file:2: link \"\": the attribute \"name\" is empty"},
    {"LineEndInName", "<robot name='r'>\n<link name='a\nb'/></robot>",
     "file:2: link \"a?b\": name=\"a?b\" holds a line end"},
    {"NoLinks", "<robot name='r'/>", "file:1: robot \"r\": has no links. Add <link name="},
    {"UnknownTag", "<robot name='r'>\n<lnk name='a'/></robot>",
     "file:2: robot \"r\": the tag <lnk> is not known here. Did you mean \"link\"?"},
    {"UnknownTagWithoutNeighbour", link("<flux_capacitor/>"),
     "file:3: link \"a\": the tag <flux_capacitor> is not known here. Remove it, or see"},
    {"XacroTag", "<robot name='r'>\n<xacro:include filename='x'/></robot>",
     "file:2: robot \"r\": the tag <xacro:include> is not known here. Expand the macros"},
    {"TagInWrongPlace", "<robot name='r'>\n<axis xyz='0 0 1'/></robot>",
     "file:2: robot \"r\": the tag <axis> is not known here"},
    {"NoMass", link("<inertial/>"), "file:3: <inertial> of link \"a\": has no <mass>"},
    {"NoInertia", link("<inertial><mass value='1'/></inertial>"),
     "file:3: <inertial> of link \"a\": has no <inertia>"},
    {"NoIxx", link("<inertial><mass value='1'/><inertia/></inertial>"),
     "file:3: <inertia> of <inertial> of link \"a\": the attribute \"ixx\" is missing"},
    {"TwoInertials", link("<inertial><mass value='1'/><inertia/></inertial>\n<inertial/>"),
     "file:4: link \"a\": a second <inertial> (the first is in line 3)"},
    {"DuplicateLink", "<robot name='r'>\n<link name='a'/>\n<link name='a'/></robot>",
     "file:3: body \"a\": the name is taken (line 2)"},
    {"NoType", joint(">" + ends), "file:3: joint \"j\": the attribute \"type\" is missing"},
    {"WrongType", joint("type='revolut'>" + ends),
     "file:3: joint \"j\": the type \"revolut\" is not known. Did you mean \"revolute\"?"},
    {"NoParent", joint("type='fixed'><child link='b'/>"), "file:3: joint \"j\": has no <parent>"},
    {"MissingLink", joint("type='fixed'>\n<parent link='a'/><child link='bb'/>"),
     "file:4: <child> of joint \"j\": there is no link \"bb\". Did you mean \"b\"?"},
    {"SameLink", joint("type='fixed'><parent link='a'/><child link='a'/>"),
     "file:3: joint \"j\": connects body \"a\" to itself"},
    {"ZeroAxis", joint("type='continuous'>" + ends + "<axis xyz='0 0 0'/>"),
     "file:3: joint \"j\": its axis has no direction"},
    {"NoPitch", joint("type='helical'>" + ends),
     "file:3: joint \"j\": a helical joint has no <pitch>"},
    {"UselessPitch", joint("type='revolute'>" + ends + "<pitch value='1'/>"),
     "file:3: joint \"j\": <pitch> belongs to helical"},
    {"NoAxis2", joint("type='universal'>" + ends),
     "file:3: joint \"j\": a universal joint has no <ax"},
    {"UselessAxis2", joint("type='revolute'>" + ends + "<axis2 xyz='1 0 0'/>"),
     "file:3: joint \"j\": <axis2> belongs to universal"},
    {"WrongIndependent", joint("type='fixed' independent='yes'>" + ends),
     "file:3: joint \"j\": independent=\"yes\" is neither true nor false"},
    {"WrongCutOfLoop",
     robotWith("<loop name='l' type='fixed' cut='yes'><predecessor link='a'/>"
               "<successor link='c'/></loop>"),
     "file:7: loop \"l\": cut=\"yes\" is neither true nor false. Write one of the two."},
    {"WrongCutOfRod",
     robotWith("<rod name='r' cut=''><predecessor link='a'/><successor link='c'/>"
               "<length value='1'/></rod>"),
     "file:7: rod \"r\": cut=\"\" is neither true nor false"},
    {"WrongCutOfCoupling",
     robotWith("<coupling name='k' cut='True'><joint name='ab' coefficient='1'/></coupling>"),
     "file:7: coupling \"k\": cut=\"True\" is neither true nor false"},
    {"WrongCutOfBelt",
     robotWith("<coupling name='k' cut='1'><predecessor link='b'/><successor link='c'/>"
               "<ratio value='2'/></coupling>"),
     "file:7: coupling \"k\": cut=\"1\" is neither true nor false"},
    {"WrongActuated", joint("type='continuous' actuated='yes'>" + ends),
     "file:3: joint \"j\": actuated=\"yes\" is neither true nor false"},
    {"ActuatedFixed",
     robotWith("<link name='d'/><joint name='cd' type='fixed' actuated='true'><parent link='c'/>"
               "<child link='d'/></joint>"),
     "file:7: joint \"cd\": is fixed and cannot be actuated"},
    {"ShortStartPose", joint("type='spherical' start_pose='0 0 1'>" + ends),
     "file:3: joint \"j\": start_pose=\"0 0 1\" holds 3 numbers. Write four numbers"},
    {"StartPoseOfFixed", joint("type='fixed' start_pose='1'>" + ends),
     "file:3: joint \"j\": start_pose=\"1\" holds 1 numbers. Write no number"},
    {"StartPoseNotANumber", joint("type='continuous' start_pose='inf'>" + ends),
     "file:3: joint \"j\": start_pose=\"inf\": \"inf\" is not a finite number"},
    {"ZeroQuaternionOfStartPose", joint("type='spherical' start_pose='0 0 0 0'>" + ends),
     "file:3: start pose of joint \"j\": its quaternion is zero"},
    {"OriginThatMovesALink", link("<origin xyz='0 0 1'/>"),
     "file:3: <origin> of link \"a\": a link has no origin of its own"},
    {"OriginThatTurnsALink", link("<origin rpy='0 0 1'/>"),
     "file:3: <origin> of link \"a\": a link has no origin of its own"},
    {"TwoAxes", joint("type='continuous'>" + ends + "<axis xyz='0 0 1'/>\n<axis xyz='0 1 0'/>"),
     "file:4: joint \"j\": a second <axis> (the first is in line 3)"},
    {"RatioZero",
     robotWith("<coupling name='k'><predecessor link='b'/><successor link='c'/>"
               "<ratio value='0'/></coupling>"),
     "file:7: coupling \"k\": its ratio is zero"},
    {"MimicsNobody", joint("type='continuous'>" + ends + "<mimic joint='k'/>"),
     "file:3: <mimic> of joint \"j\": there is no joint \"k\""},
    {"MimicsItself", joint("type='continuous'>" + ends + "<mimic joint='j'/>"),
     "file:3: <mimic> of joint \"j\": the joint mimics itself"},
    {"TooManyTerms",
     robotWith("<coupling name='k'>" + repeated("<joint name='ab' coefficient='1'/>", 1'000'001) +
               "</coupling>"),
     "file:7: coupling \"k\": the couplings up to here connect more than 1000000 joints"},
    {"TooManyLinks", "<robot name='r'>" + repeated("<link name='a'/>", 5'001) + "</robot>",
     "file:1: link \"a\": the file has 5001 elements of this kind; at most 5000 are read"},
    {"Cycle",
     "<robot name='r'>\n<link name='a'/><link name='b'/>\n"
     "<joint name='ab' type='continuous'><parent link='a'/><child link='b'/></joint>\n"
     "<joint name='ba' type='continuous'><parent link='b'/><child link='a'/></joint>\n"
     "<coupling name='k'><predecessor link='a'/><successor link='b'/><ratio value='1'/></coupling>"
     "</robot>",
     "file:3: joint \"ab\": the tree joints form a cycle"},
};
INSTANTIATE_TEST_SUITE_P(BadRobots, HostileFile, testing::ValuesIn(badRobots), nameOf);

TEST(TruncatedFile, IsNeverReadWhereverItIsCut) {
  const std::string whole = robotWith(
      "<!-- c --><loop name='l' type='revolute'><predecessor link='a'><origin xyz='1 0 0'/>"
      "</predecessor><successor link='c'/><axis xyz='0 0 1'/></loop>");
  ASSERT_EQ(errorOf(whole), "");
  const std::size_t end = whole.rfind('>');
  for (std::size_t length = 0; length <= end; ++length) {
    const std::string error = errorOf(whole.substr(0, length));
    ASSERT_TRUE(error.starts_with("file:")) << length << ": " << error;
  }
}

TEST(DamagedFile, GivesAModelErrorOrIsRead) {
  const std::string whole = robotWith(
      "<rod name='k'><predecessor link='a' xyz='1 0 0'/><successor link='c'/><length value='1'/>"
      "</rod><coupling name='l'><joint name='ab' coefficient='2'/></coupling>");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char damage : {'<', '>', '"', '\'', '&', '/', ' ', '9', '\0'}) {
      std::string text = whole;
      text[i] = damage;
      const std::string error = errorOf(text);  // throws anything but ModelError: fails here
      ASSERT_TRUE(error.empty() || error.starts_with("file:")) << i << damage << ": " << error;
    }
  }
}

TEST(LongNames, AreShortenedInMessages) {
  const std::string longName = repeated("ä", 100'000);
  const std::pair<std::string, const char*> cases[] = {
      {"<robot name='" + longName + "'><x/></robot>", "the tag <x> is not known"},
      {"<" + longName + "/>", "file:1: the outermost element is <ää"},
      {"<" + longName + ">", "the element that begins here is not closed"},
      {"<robot name='r'><" + longName + "/></robot>", "file:1: robot \"r\": the tag <ää"},
      {"<robot name='r'><link name='a' " + longName + "='' " + longName + "=''/></robot>",
       "file:1: <link>: the attribute \"ää"},
      {robotWith("<rod name='r'><predecessor link='" + longName + "'/></rod>"),
       "file:7: <predecessor> of rod \"r\": there is no link \"ää"},
      {robotWith("<gravity xyz='" + longName + "'/>"),
       "file:7: <gravity> of robot \"r\": xyz=\"ää"},
  };
  for (const auto& [text, message] : cases) {
    const std::string error = errorOf(text);
    EXPECT_LT(error.size(), 500U);
    EXPECT_TRUE(contains(error, message)) << error;
  }
}

TEST(ManyWarnings, AreBounded) {
  std::string links;
  for (int i = 0; i < 1000; ++i) {
    links += "<link name='l' a" + std::to_string(i) + "=''/>";
  }
  const Mechanism mechanism = readUrdfText("<robot name='r'>" + links + "</robot>", "file");
  EXPECT_EQ(mechanism.warnings.size(), 101U);
  EXPECT_EQ(mechanism.warnings.back(), "file: 900 further warnings.");
}

}  // namespace
}  // namespace kempe
