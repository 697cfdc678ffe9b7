#include "kempe/static_deflection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "kempe/kempe.hpp"

/// Beams that sag, and columns that buckle.
namespace kempe::test {
namespace {

using Eigen::VectorXd;

constexpr double kSpan = 1.0, kYoung = 7e10, kSecond = 1e-9;

BeamOptions slender(int modes) {
  BeamOptions beam{
      .length = kSpan, .E = kYoung, .density = 2700, .area = 1e-4, .Iy = kSecond, .Iz = kSecond};
  beam.interface = {"end"};
  beam.modes = modes;
  return beam;
}

Mechanism slenderColumn() {
  Mechanism m("column");
  m.gravity = {};
  m.addBody("world");
  m.addBeam("rod", slender(12));
  m.addFixed("clamp").from("world").to("rod");
  return m;
}

VectorXd deflected(const Model& model, const std::vector<FrameForce>& external) {
  Data data(model);
  VectorXd q(model.nq());
  staticDeflection(model, data, model.neutral(), VectorXd::Zero(model.nv()), q,
                   {.external = external});
  return q;
}

std::string deflectionError(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(StaticDeflection, ColumnsBuckleAtEulersLoad) {
  const Model model(slenderColumn());
  const int end = model.frameIndex("rod/end");
  const double critical =
      std::numbers::pi * std::numbers::pi * kYoung * kSecond / (4 * kSpan * kSpan);
  const auto load = [&](double fraction, double side) {
    return deflected(model, {{end, {-fraction * critical, 0, side, 0, 0, 0}}});
  };
  // A straight column is in equilibrium at any load.
  for (const double side : {0.0, 1e-3}) {
    EXPECT_NO_THROW(load(0.98, side));
    for (const double fraction : {1.02, 1.5, 5.0, 12.0}) {
      const std::string error = deflectionError([&] { load(fraction, side); });
      EXPECT_NE(error.find("buckles"), std::string::npos) << fraction << ", " << side << error;
    }
  }
}

TEST(StaticDeflection, BeamsBetweenClampsCarryHalfTheLoadEach) {
  Mechanism m("bridge");
  m.gravity = {};
  m.addBody("world");
  BeamOptions beam = slender(14);
  beam.interface = {"5", "end"};
  beam.stiffening = false;
  m.addBeam("rod", beam);
  m.addFixed("clamp").from("world").to("rod");
  LoopJoint& loop = m.addLoop("far_clamp", LoopType::Fixed);
  loop.from("rod").to("world", at({kSpan, 0, 0}));
  loop.predecessor.node = "end";
  const Model model(m);
  ASSERT_TRUE(model.cutLoops().empty());
  const double F = 3.0;
  const std::vector<FrameForce> external{{model.frameIndex("rod/5"), {0, 0, -F, 0, 0, 0}}};
  const VectorXd q = deflected(model, external), zero = VectorXd::Zero(model.nv());
  Data data(model);
  const double sag = framePlacement(model, data, q, model.frameIndex("rod/5")).p.z;
  EXPECT_NEAR(sag * 192 * kYoung * kSecond / (F * std::pow(kSpan, 3)), -1.0, 1e-6);
  // Of the beam on the world.
  VectorXd forces(6);
  loopForces(model, data, q, zero, zero, forces, {.external = external});
  VectorXd expected(6);
  expected << 0, 0, -F / 2, 0, -F * kSpan / 8, 0;
  EXPECT_LT((forces - expected).norm(), 1e-6 * F) << forces.transpose();
}

TEST(StaticDeflection, RefusesCutLoopsThatBendingOpens) {
  Mechanism m = slenderColumn();
  LoopJoint& loop = m.addLoop("guide", LoopType::Planar);
  loop.from("rod").to("world", at({kSpan, 0, 0}));
  loop.about({0, 0, 1});
  loop.predecessor.node = "end";
  loop.cut = true;
  const std::string error = deflectionError([&] { deflected(Model(m), {}); });
  EXPECT_NE(error.find("loop \"guide\" is cut"), std::string::npos) << error;
}

TEST(StaticDeflection, AllowsCutLoopsElsewhere) {
  Mechanism m = slenderColumn();
  m.addBody("a").withMass(1).withInertia(1, 1, 1);
  m.addRevolute("one").from("rod", "end").to("a").about({1, 0, 0});
  m.addBody("b").withMass(1).withInertia(1, 1, 1);
  m.addRevolute("two").from("rod", "end").to("b").about({1, 0, 0});
  LoopJoint& loop = m.addLoop("weld", LoopType::Fixed);
  loop.from("a").to("b");
  loop.cut = true;
  m.gravity = {0, 0, -9.81};
  const Model model(m);
  Data data(model);
  const VectorXd q = deflected(model, {});
  EXPECT_LT(framePlacement(model, data, q, model.frameIndex("rod/end")).p.z, -1e-3);
}

TEST(StaticDeflection, LoopsOfBeamsAreNotCutUnasked) {
  Mechanism m("long_loop");
  m.addBody("world");
  m.addBeam("rod", slender(60));
  m.addFixed("clamp").from("world").to("rod");
  LoopJoint& loop = m.addLoop("prop", LoopType::Spherical);
  loop.from("rod").to("world", at({kSpan, 0, 0}));
  loop.predecessor.node = "end";
  EXPECT_TRUE(Model(m).cutLoops().empty());
}

}  // namespace
}  // namespace kempe::test
