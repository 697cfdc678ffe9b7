#include "kempe/robots.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <ostream>

namespace kempe {
namespace {

struct Freedoms {
  std::string robot;
  int n;
  int freedoms;

  friend std::ostream& operator<<(std::ostream& out, const Freedoms& test) {
    return out << test.freedoms;
  }
};

class EveryRobot : public ::testing::TestWithParam<Freedoms> {};

TEST_P(EveryRobot, HasItsFreedoms) {
  EXPECT_EQ(robots::load(GetParam().robot, GetParam().n).nv(), GetParam().freedoms);
}

TEST_P(EveryRobot, KeepsThemWithRotorsAsBodies) {
  const Model model = robots::load(GetParam().robot, GetParam().n, {.foldRotors = false});
  EXPECT_EQ(model.nv(), GetParam().freedoms);
  EXPECT_TRUE(model.foldedRotors().empty());
}

TEST_P(EveryRobot, GivesNoWarningButForPublishedInertias) {
  const Model model = robots::load(GetParam().robot, GetParam().n);
  for (const std::string& warning : model.warnings()) {
    EXPECT_NE(warning.find("triangle inequality"), std::string::npos) << warning;
  }
}

TEST_P(EveryRobot, HasSensibleMasses) {
  const Mechanism robot = robots::mechanism(GetParam().robot, GetParam().n);
  for (const Body& body : robot.bodies) {
    EXPECT_LT(body.mass, 30.0) << body.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Robots, EveryRobot,
    ::testing::Values(Freedoms{"mini_cheetah", 0, 18}, Freedoms{"mit_humanoid", 0, 24},
                      Freedoms{"mit_humanoid_leg", 0, 5}, Freedoms{"tello", 0, 24},
                      Freedoms{"jvrc1", 0, 38}, Freedoms{"four_bar", 0, 1},
                      Freedoms{"six_bar", 0, 3}, Freedoms{"five_bar", 0, 3},
                      Freedoms{"planar_leg", 0, 2}, Freedoms{"geared_chain", 0, 12},
                      Freedoms{"geared_chain", 1, 1}, Freedoms{"geared_chain", 7, 7},
                      Freedoms{"belt_chain", 0, 12}, Freedoms{"belt_chain", 1, 1},
                      Freedoms{"belt_chain", 2, 2}, Freedoms{"belt_chain", 7, 7}),
    [](const auto& test) {
      return test.param.robot + (test.param.n > 0 ? std::to_string(test.param.n) : "");
    });

TEST(Robots, EveryNameBuildsAMechanismOfThatName) {
  EXPECT_EQ(robots::names().size(), 11u);
  for (const std::string& name : robots::names()) {
    const Mechanism robot = robots::mechanism(name);
    EXPECT_EQ(robot.name, name);
    EXPECT_NO_THROW((void)robot.validate()) << name;
  }
}

/// Runs `act` and returns the text of the ModelError it throws; empty for none.
template <typename Act>
std::string errorOf(Act act) {
  try {
    act();
  } catch (const ModelError& error) {
    return error.what();
  }
  return {};
}

TEST(Robots, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  const std::string text = errorOf([] { (void)robots::mechanism("mini_cheeta"); });
  EXPECT_NE(text.find("\"mini_cheeta\""), std::string::npos) << text;
  for (const std::string& name : robots::names()) {
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
  EXPECT_NE(errorOf([] { (void)robots::load("no such robot"); }), "");
}

TEST(Robots, OnlyChainsTakeANumberOfLinks) {
  const std::string text = errorOf([] { (void)robots::mechanism("tello", 3); });
  EXPECT_NE(text.find("tello"), std::string::npos) << text;
  EXPECT_NE(errorOf([] { (void)robots::mechanism("geared_chain", -1); }), "");
  EXPECT_NE(errorOf([] { (void)robots::gearedChain(0); }), "");
  EXPECT_NE(errorOf([] { (void)robots::beltChain(0); }), "");
}

TEST(Robots, WeighWhatTheirFiguresSay) {
  const std::map<std::string, double> masses{
      {"mini_cheetah", 8.912}, {"mit_humanoid", 25.9686}, {"tello", 16.1369},
      {"jvrc1", 61.75},        {"five_bar", 9.873},       {"four_bar", 9.9},
      {"six_bar", 16.5},       {"planar_leg", 0.476},     {"mit_humanoid_leg", 5.3305},
      {"geared_chain", 12}};
  for (const auto& [name, mass] : masses) {
    EXPECT_NEAR(robots::load(name).totalMass(), mass, 1e-3 * mass) << name;
  }
}

TEST(Tello, HasMasslessCranksAndFramesBesideItsPublishedBodies) {
  for (const Body& body : robots::tello().bodies) {
    const bool ours = body.name.find("crank") != std::string::npos ||
                      body.name.ends_with("_foot") || body.name.ends_with("_hand");
    if (ours) {
      EXPECT_EQ(body.mass, 0.0) << body.name;
      EXPECT_EQ(body.inertia, SymMat3<double>{}) << body.name;
    }
  }
}

TEST(BeltChain, DrivesPairsFromTheLinkBeforeThem) {
  const Mechanism chain = robots::beltChain(5);
  const std::map<std::string, std::string> parents{{"rotor-0", "ground"},
                                                   {"rotor-1", "ground"},
                                                   {"rotor-2", "link-1"},
                                                   {"rotor-3", "link-1"},
                                                   {"rotor-4", "link-3"}};
  for (const auto& [rotor, parent] : parents) {
    EXPECT_EQ(chain.jointAbove(rotor)->parent, parent) << rotor;
  }
}

TEST(BeltChain, SecondRotorOfAPairFollowsTheSumOfBothJoints) {
  const Mechanism chain = robots::beltChain(5);
  using Terms = std::map<std::string, double>;
  const std::array<Terms, 5> expected{{{{"joint1r", 1}, {"joint1", -6}},
                                       {{"joint2r", 1}, {"joint1", -6}, {"joint2", -6}},
                                       {{"joint3r", 1}, {"joint3", -6}},
                                       {{"joint4r", 1}, {"joint3", -6}, {"joint4", -6}},
                                       {{"joint5r", 1}, {"joint5", -6}}}};
  ASSERT_EQ(chain.couplings.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Terms terms;
    for (const Coupling::Term& term : chain.couplings[i].terms) {
      terms[term.coordinate.joint] += term.coefficient;
    }
    EXPECT_EQ(terms, expected[i]) << chain.couplings[i].name;
    EXPECT_EQ(chain.couplings[i].offset, 0.0);
  }
}

}  // namespace
}  // namespace kempe
