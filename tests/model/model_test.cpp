#include <gtest/gtest.h>

#include <algorithm>

#include "kempe/kempe.hpp"
#include "model/model_impl.hpp"
#include "support/close_to.hpp"
#include "support/oracle.hpp"
#include "support/random_mechanism.hpp"

namespace kempe::test {
namespace {

/// An arm whose hand is fixed to its link, with a camera fixed to the hand.
Mechanism armWithCamera() {
  Mechanism robot("arm");
  robot.addBody("stand").withMass(5);
  robot.addBody("pedestal").withMass(3);
  robot.addFixed("bolt").from("stand").to("pedestal").at({0, 0, 0.2});
  robot.addBody("arm").withMass(2).centeredAt({0.2, 0, 0}).withInertia(0.01, 0.02, 0.02);
  robot.addRevolute("shoulder").from("pedestal").to("arm").at({0, 0, 0.3}).about({0, 1, 0});
  robot.addBody("hand").withMass(0.5).centeredAt({0.05, 0, 0}).withInertia(1e-3, 1e-3, 1e-3);
  robot.addFixed("wrist").from("arm").to("hand").at({0.4, 0, 0}, {0, 0, 0.5});
  robot.addBody("camera").withMass(0.1);
  robot.addFixed("mount").from("hand").to("camera").at({0.1, 0, 0.02}, {0.1, 0.2, 0.3});
  return robot;
}

TEST(Model, FixedJointsAreMergedAndTheirFramesKept) {
  const Model model(armWithCamera());
  EXPECT_EQ(model.bodyNames(), std::vector<std::string>{"arm"});
  EXPECT_EQ(model.jointNames(), std::vector<std::string>{"shoulder"});
  EXPECT_EQ(model.nq(), 1);
  EXPECT_NEAR(model.totalMass(), 10.6, 1e-12);
  for (const char* frame :
       {"stand", "pedestal", "arm", "hand", "camera", "bolt", "shoulder", "wrist", "mount"}) {
    EXPECT_EQ(std::ranges::count(model.frameNames(), frame), 1) << frame;
  }
  // The merged body is as heavy as its parts.
  EXPECT_NEAR(model.impl().tables.bodies.front().inertia.mass, 2.6, 1e-15);
}

TEST(Model, BodyFramesAreTurnedSoThatAxesAreZ) {
  for (const MechanismCase& choice : everyMechanism()) {
    const Model model(randomMechanism(choice));
    const detail::ModelImpl& impl = model.impl();
    for (std::size_t b = 0; b < impl.tables.bodies.size(); ++b) {
      const Joint& joint = impl.joint(static_cast<int>(b));
      const bool axial = joint.type != JointType::Spherical && joint.type != JointType::Free;
      if (axial) {
        const Vector3 axis = unit(joint.type == JointType::Universal ? joint.axis2 : joint.axis);
        const Vector3 z = impl.linkFrames[b].R * axis;  // in the turned frame
        EXPECT_NEAR(z.z, 1.0, 1e-14) << choice << " " << joint.name;
      }
    }
  }
}

TEST(Model, IsInTopologicalOrderWithClustersTogether) {
  for (const MechanismCase& choice : everyMechanism()) {
    const Model model(randomMechanism(choice));
    const auto& tables = model.impl().tables;
    int body = 0;
    for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
      const auto& cluster = tables.clusters[c];
      EXPECT_EQ(cluster.firstBody, body) << choice;
      EXPECT_LT(cluster.output, cluster.firstBody) << choice;
      for (int b = 0; b < cluster.bodies; ++b, ++body) {
        const auto& entry = tables.bodies[static_cast<std::size_t>(body)];
        EXPECT_EQ(entry.cluster, static_cast<int>(c)) << choice;
        EXPECT_LT(entry.parent, body) << choice;
        const bool inside = entry.parent >= cluster.firstBody;
        EXPECT_TRUE(inside || entry.parent == cluster.output) << choice;
      }
    }
    EXPECT_EQ(body, static_cast<int>(tables.bodies.size())) << choice;
  }
}

TEST(Model, EveryCoordinateHasAName) {
  for (const MechanismCase& choice : everyMechanism()) {
    const Model model(randomMechanism(choice));
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    EXPECT_EQ(model.qNames().size(), size(model.nq()));
    EXPECT_EQ(model.vNames().size(), size(model.nv()));
    EXPECT_EQ(model.spanningPositionNames().size(), size(model.nqSpanning()));
    EXPECT_EQ(model.spanningVelocityNames().size(), size(model.nvSpanning()));
    EXPECT_EQ(model.loopRowNames().size(), size(model.nLoopRows()));
    for (std::vector<std::string> names : {model.qNames(), model.vNames()}) {
      std::ranges::sort(names);
      EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << choice << ": names repeat";
    }
    for (const std::string& joint : model.jointNames()) {
      const std::string& name =
          model.spanningVelocityNames()[size(model.jointVelocityIndex(joint))];
      EXPECT_EQ(name.rfind(joint, 0), 0u) << name << " of " << joint;
    }
  }
}

TEST(Model, OrderOfDescriptionDoesNotMatter) {
  for (const MechanismCase& choice : everyMechanism()) {
    Mechanism robot = randomMechanism(choice);
    const Model model(robot);
    std::ranges::reverse(robot.bodies);
    std::ranges::reverse(robot.joints);
    std::ranges::reverse(robot.loops);
    std::ranges::reverse(robot.rods);
    std::ranges::reverse(robot.couplings);
    const Model reversed(robot);
    EXPECT_EQ(model.nv(), reversed.nv()) << choice;
    EXPECT_EQ(model.nvSpanning(), reversed.nvSpanning()) << choice;
    EXPECT_EQ(model.clusters().size(), reversed.clusters().size()) << choice;
    EXPECT_EQ(model.foldedRotors().size(), reversed.foldedRotors().size()) << choice;
    EXPECT_NEAR(model.totalMass(), reversed.totalMass(), 1e-12) << choice;
  }
}

TEST(Model, CopiesShareTheirContents) {
  const Model model = robots::load("tello");
  const Model copy = model;  // NOLINT(performance-unnecessary-copy-initialization): what is tested
  EXPECT_EQ(&copy.impl(), &model.impl());
}

}  // namespace
}  // namespace kempe::test
