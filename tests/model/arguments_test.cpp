#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "kempe/kempe.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Arguments : public ::testing::Test {
 protected:
  Model model = robots::load("six_bar");
  Data data{model};
  Eigen::VectorXd q = model.neutral();
  Eigen::VectorXd v = Eigen::VectorXd::Zero(model.nv());
  Eigen::VectorXd outQ{model.nq()}, outV{model.nv()}, positions{model.nqSpanning()},
      rates{model.nvSpanning()}, residual{model.nLoopRows()};
  Eigen::MatrixXd G{model.nvSpanning(), model.nv()};
};

TEST_F(Arguments, WrongSizesNameTheArgumentAndTheSizeWanted) {
  const Eigen::VectorXd longQ = Eigen::VectorXd::Zero(model.nq() + 1);
  const Eigen::VectorXd longV = Eigen::VectorXd::Zero(model.nv() + 1);
  Eigen::VectorXd shortOut(model.nq() - 1);
  const auto expect = [&](const std::string& name, const std::function<void()>& action) {
    const std::string text = refusal(action);
    EXPECT_TRUE(contains(text, name + " has ")) << text;
    EXPECT_TRUE(contains(text, "model.n")) << text;
  };
  expect("q", [&] { project(model, data, longQ, outQ); });
  expect("closed", [&] { project(model, data, q, shortOut); });
  expect("q", [&] { integrate(model, data, longQ, v, 0.1, outQ); });
  expect("v", [&] { integrate(model, data, q, longV, 0.1, outQ); });
  expect("result", [&] { integrate(model, data, q, v, 0.1, shortOut); });
  expect("from", [&] { difference(model, data, longQ, q, outV); });
  expect("to", [&] { difference(model, data, q, longQ, outV); });
  expect("v", [&] { difference(model, data, q, q, shortOut); });
  expect("v", [&] { spanning(model, data, q, longV, positions, rates); });
  expect("positions", [&] { spanning(model, data, q, v, shortOut, rates); });
  expect("velocities", [&] { spanning(model, data, q, v, positions, shortOut); });
  expect("g", [&] { constraintBias(model, data, q, v, shortOut); });
  expect("residual", [&] { loopResidual(model, data, q, shortOut); });
  Eigen::MatrixXd wrong(model.nv(), model.nv());
  expect("G (rows)", [&] { constraintJacobian(model, data, q, wrong); });
  expect("rate (rows)", [&] { constraintJacobianRate(model, data, q, v, wrong); });
}

TEST_F(Arguments, WhatIsNotFiniteIsNamed) {
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    Eigen::VectorXd badQ = q, badV = v;
    badQ[1] = bad;
    badV[0] = bad;
    const auto expect = [&](const std::string& name, const std::function<void()>& action) {
      const std::string text = refusal(action);
      EXPECT_TRUE(contains(text, name + " is not finite")) << text;
    };
    expect("q", [&] { project(model, data, badQ, outQ); });
    expect("q", [&] { integrate(model, data, badQ, v, 0.1, outQ); });
    expect("v", [&] { integrate(model, data, q, badV, 0.1, outQ); });
    expect("dt", [&] { integrate(model, data, q, v, bad, outQ); });
    expect("from", [&] { difference(model, data, badQ, q, outV); });
    expect("to", [&] { difference(model, data, q, badQ, outV); });
    expect("v", [&] { spanning(model, data, q, badV, positions, rates); });
    expect("q", [&] { constraintJacobian(model, data, badQ, G); });
    expect("v", [&] { constraintBias(model, data, q, badV, rates); });
    expect("v", [&] { constraintJacobianRate(model, data, q, badV, G); });
    expect("q", [&] { loopResidual(model, data, badQ, residual); });
  }
}

TEST_F(Arguments, DataOfAnotherModelIsRefused) {
  Data other(robots::load("five_bar"));
  EXPECT_EQ(refusal([&] { project(model, other, q, outQ); }), "data was made for another model");
  EXPECT_EQ(refusal([&] { loopResidual(model, other, q, residual); }),
            "data was made for another model");
  // A copy of a model is the same model.
  const Model copy = model;
  EXPECT_NO_THROW(project(copy, data, q, outQ));
}

TEST_F(Arguments, AQuaternionNeedsADirection) {
  const Model cheetah = robots::load("mini_cheetah");
  Data own(cheetah);
  Eigen::VectorXd bad = cheetah.neutral(), out(cheetah.nq());
  bad.segment<4>(3).setZero();
  const std::string text = refusal([&] { project(cheetah, own, bad, out); });
  EXPECT_TRUE(contains(text, "quaternion")) << text;
  // Any length will do, and comes out as one.
  bad.segment<4>(3) << 0, 0, 3, 4;
  project(cheetah, own, bad, out);
  EXPECT_NEAR(out[5], 0.6, 1e-15);
  EXPECT_NEAR(out[6], 0.8, 1e-15);
}

TEST_F(Arguments, UnknownNamesAreRefusedWithTheNamesThatExist) {
  const std::string text = refusal([&] { (void)model.jointVelocityIndex("nose"); });
  EXPECT_TRUE(contains(text, "\"nose\"")) << text;
  EXPECT_TRUE(contains(refusal([&] { (void)model.jointPositionIndex("nose"); }), "\"nose\""));
}

}  // namespace
}  // namespace kempe::test
