// Warnings that differ only in names and figures are one in the model.

#include <gtest/gtest.h>

#include "kempe/model.hpp"
#include "mechanism/small_robots.hpp"

namespace kempe {
namespace {

using test::twoLinkArm;
using Texts = std::vector<std::string>;

Texts grouped(const Texts& warnings) {
  Mechanism robot = twoLinkArm();
  robot.warnings = warnings;
  return Model(robot).warnings();
}

TEST(GroupedWarnings, OnesOfTheirOwnStayAsTheyAre) {
  const Texts warnings{"a.urdf:3: body \"upper\": is odd.", "a.urdf:3: joint \"elbow\": is odd.",
                       "plain"};
  EXPECT_EQ(grouped(warnings), warnings);
  EXPECT_EQ(grouped({}), Texts{});
}

TEST(GroupedWarnings, NamesFollowTheFirst) {
  EXPECT_EQ(grouped({"a.urdf:3: body \"a\": breaks it by 0.1 kg.", "plain",
                     "a.urdf:7: body \"b\": breaks it by -2.5e-07 kg."}),
            (Texts{"a.urdf:3: body \"a\" (likewise \"b\"): breaks it by 0.1 kg.", "plain"}));
  EXPECT_EQ(grouped({"body \"a\": odd", "body \"b\": odd", "body \"c\": odd"}),
            Texts{"body \"a\" (likewise \"b\" and \"c\"): odd"});
}

TEST(GroupedWarnings, ManyNamesAreCounted) {
  Texts warnings;
  for (int i = 0; i < 25; ++i) {
    warnings.push_back("body \"rotor" + std::to_string(i) + "\": odd.");
  }
  EXPECT_EQ(grouped(warnings), Texts{"body \"rotor0\" (likewise \"rotor1\", \"rotor2\", "
                                     "\"rotor3\", \"rotor4\" and 20 more): odd."});
}

TEST(GroupedWarnings, NamesWithoutQuotationMarksAreKnownToo) {
  EXPECT_EQ(grouped({"loop \"a\": chosen: elbow.", "loop \"b\": chosen: shoulder."}),
            Texts{"loop \"a\" (likewise \"b\"): chosen: elbow."});
  // A list is as good as one name; another word is another warning.
  EXPECT_EQ(grouped({"loop \"a\": chosen: elbow, shoulder.", "loop \"b\": chosen: shoulder."}),
            Texts{"loop \"a\" (likewise \"b\"): chosen: elbow, shoulder."});
  EXPECT_EQ(grouped({"loop \"a\": chosen: elbow.", "loop \"b\": chosen: elbows."}).size(), 2U);
}

TEST(GroupedWarnings, TheNameThatVariesIsListed) {
  EXPECT_EQ(grouped({"loop \"a\": joint \"x\" is odd", "loop \"a\": joint \"y\" is odd"}),
            Texts{"loop \"a\": joint \"x\" (likewise \"y\") is odd"});
  EXPECT_EQ(grouped({"limit 1 is odd", "limit 2 is odd"}), Texts{"limit 1 is odd (2 times)"});
}

TEST(GroupedWarnings, OfTheMechanismAndOfItsFileGoTogether) {
  Mechanism robot = twoLinkArm();
  for (Body& body : robot.bodies) {
    body.withMass(1).withInertia(1, 1, 3);  // no real body has it
  }
  const Model model(robot);
  ASSERT_EQ(model.warnings().size(), 1U);
  EXPECT_TRUE(model.warnings()[0].starts_with("body \"ground\" (likewise \"upper\" and \"lower\")"))
      << model.warnings()[0];
}

}  // namespace
}  // namespace kempe
