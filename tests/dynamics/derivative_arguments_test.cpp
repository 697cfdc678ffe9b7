#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "kempe/inverse_dynamics_second_derivatives.hpp"
#include "kempe/kempe.hpp"
#include "kempe/kinematics_derivatives.hpp"
#include "kempe/momentum_derivatives.hpp"
#include "kempe/project_velocities_derivatives.hpp"
#include "support/refusal.hpp"

/// What the functions for derivatives refuse.
namespace kempe::test {
namespace {

template <typename T>
class DerivativeArguments : public ::testing::Test {
 protected:
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Vectors = std::map<std::string, Vector>;

  /// Arguments of one call; each test spoils one of them.
  struct Arguments {
    Vectors in;  ///< by name
    std::vector<Matrix> out;
    std::vector<FrameForce> external;
    int frame = 0;
  };
  struct Output {
    std::string name;
    int rows;  ///< 0: as many as DoFs
    int columns = 0;
  };
  struct Call {
    std::string name;
    std::vector<std::string> inputs;  ///< besides q
    std::vector<Output> outputs;
    std::function<void(const Model&, BasicData<T>&, Arguments&)> run;
    bool takesExternal = false, takesFrame = false, inverts = false;
  };

  [[nodiscard]] static Arguments good(const Model& of, const Call& call) {
    const int n = of.nv();
    Arguments arguments;
    arguments.in["q"] = of.randomConfiguration(3).cast<T>();
    for (const std::string& name : call.inputs) {
      arguments.in[name] = Vector::Ones(n);
    }
    for (const Output& output : call.outputs) {
      arguments.out.push_back(Matrix::Constant(output.rows == 0 ? n : output.rows,
                                               output.columns == 0 ? n : output.columns,
                                               std::numeric_limits<T>::quiet_NaN()));
    }
    arguments.frame = of.frameIndex(of.bodyNames().back());
    arguments.external = {{.frame = arguments.frame, .wrench = {1, 2, 3, 4, 5, 6}}};
    return arguments;
  }
  [[nodiscard]] Arguments good(const Call& call) const { return good(model, call); }

  /// A rod between the world and the last body.
  static Constraints rodOn(const Model& of) {
    Constraints constraints(of);
    constraints.add(Rod{.name = "rod"}
                        .from("", {0.3, 0.4, 3.0})
                        .to(of.bodyNames().back(), {0.05, 0.02, 0.01})
                        .ofLength(3.0));
    return constraints;
  }

  static std::vector<Call> calls() {
    using A = Arguments;
    using D = BasicData<T>;
    std::vector<Call> all{
        {"inverseDynamicsDerivatives",
         {"v", "a"},
         {{"dtau_dq", 0}, {"dtau_dv", 0}, {"H", 0}},
         [](const Model& m, D& d, A& a) {
           inverseDynamicsDerivatives<T>(m, d, a.in["q"], a.in["v"], a.in["a"], a.out[0], a.out[1],
                                         a.out[2], {.external = a.external});
         },
         true},
        {"forwardDynamicsDerivatives",
         {"v", "tau"},
         {{"da_dq", 0}, {"da_dv", 0}, {"da_dtau", 0}},
         [](const Model& m, D& d, A& a) {
           forwardDynamicsDerivatives<T>(m, d, a.in["q"], a.in["v"], a.in["tau"], a.out[0],
                                         a.out[1], a.out[2], {.external = a.external});
         },
         true,
         false,
         true},
        {"gravityForcesDerivatives",
         {},
         {{"dtau_dq", 0}},
         [](const Model& m, D& d, A& a) {
           gravityForcesDerivatives<T>(m, d, a.in["q"], a.out[0]);
         }},
        {"frameVelocityDerivatives",
         {"v"},
         {{"dv_dq", 6}, {"J", 6}},
         [](const Model& m, D& d, A& a) {
           frameVelocityDerivatives<T>(m, d, a.in["q"], a.in["v"], a.frame, a.out[0], a.out[1]);
         },
         false,
         true},
        {"frameAccelerationDerivatives",
         {"v", "a"},
         {{"da_dq", 6}, {"da_dv", 6}, {"J", 6}},
         [](const Model& m, D& d, A& a) {
           frameAccelerationDerivatives<T>(m, d, a.in["q"], a.in["v"], a.in["a"], a.frame, a.out[0],
                                           a.out[1], a.out[2]);
         },
         false,
         true},
        {"frameJacobianTimeDerivative",
         {"v"},
         {{"rate", 6}},
         [](const Model& m, D& d, A& a) {
           frameJacobianTimeDerivative<T>(m, d, a.in["q"], a.in["v"], a.frame, a.out[0]);
         },
         false,
         true},
        {"momentumDerivatives",
         {"v"},
         {{"dh_dq", 6}, {"A", 6}},
         [](const Model& m, D& d, A& a) {
           momentumDerivatives<T>(m, d, a.in["q"], a.in["v"], a.out[0], a.out[1]);
         }},
        {"momentumRateDerivatives",
         {"v", "a"},
         {{"drate_dq", 6}, {"drate_dv", 6}, {"A", 6}},
         [](const Model& m, D& d, A& a) {
           momentumRateDerivatives<T>(m, d, a.in["q"], a.in["v"], a.in["a"], a.out[0], a.out[1],
                                      a.out[2]);
         }},
        {"centerOfMassVelocityDerivatives",
         {"v"},
         {{"dv_dq", 3}, {"J", 3}},
         [](const Model& m, D& d, A& a) {
           centerOfMassVelocityDerivatives<T>(m, d, a.in["q"], a.in["v"], a.out[0], a.out[1]);
         }},
        {"centerOfMassAccelerationDerivatives",
         {"v", "a"},
         {{"da_dq", 3}, {"da_dv", 3}, {"J", 3}},
         [](const Model& m, D& d, A& a) {
           centerOfMassAccelerationDerivatives<T>(m, d, a.in["q"], a.in["v"], a.in["a"], a.out[0],
                                                  a.out[1], a.out[2]);
         }},
        {"constrainedForwardDynamicsDerivatives",
         {"v", "tau"},
         {{"da_dq", 0},
          {"da_dv", 0},
          {"da_dtau", 0},
          {"dlambda_dq", 1},
          {"dlambda_dv", 1},
          {"dlambda_dtau", 1}},
         [](const Model& m, D& d, A& a) {
           constrainedForwardDynamicsDerivatives<T>(
               m, d, rodOn(m), 0.0, a.in["q"], a.in["v"], a.in["tau"], a.out[0], a.out[1], a.out[2],
               a.out[3], a.out[4], a.out[5], {.external = a.external});
         },
         true,
         false,
         true},
    };
    if constexpr (std::is_same_v<T, double>) {
      const std::vector<std::string> state{"v", "a", "lambda"};
      all.push_back({"inverseDynamicsSecondDerivatives",
                     state,
                     {{"qq", 0}, {"qv", 0}, {"vv", 0}, {"qa", 0}},
                     [](const Model& m, D& d, A& a) {
                       inverseDynamicsSecondDerivatives(
                           m, d, a.in["q"], a.in["v"], a.in["a"], a.in["lambda"], a.out[0],
                           a.out[1], a.out[2], a.out[3], {.external = a.external});
                     },
                     true});
      all.push_back(
          {"projectVelocitiesDerivatives",
           {"v"},
           {{"dprojected_dq", 0}, {"dprojected_dv", 0}, {"dimpulses_dq", 1}, {"dimpulses_dv", 1}},
           [](const Model& m, D& d, A& a) {
             projectVelocitiesDerivatives(m, d, rodOn(m), 0.0, a.in["q"], a.in["v"], a.out[0],
                                          a.out[1], a.out[2], a.out[3]);
           },
           false,
           false,
           true});
    }
    return all;
  }

  std::string refusalOf(const Call& call, const std::function<void(Arguments&)>& spoil) {
    Arguments arguments = good(call);
    spoil(arguments);
    return refusal([&] { call.run(model, data, arguments); });
  }
  static std::vector<std::string> inputsOf(const Call& call) {
    std::vector<std::string> inputs = call.inputs;
    inputs.emplace_back("q");
    return inputs;
  }

  Model model = robots::load("six_bar");
  BasicData<T> data{model};
};

using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(DerivativeArguments, Scalars);

TYPED_TEST(DerivativeArguments, GoodOnesGiveNumbers) {
  for (const auto& call : this->calls()) {
    auto arguments = this->good(call);
    ASSERT_NO_THROW(call.run(this->model, this->data, arguments)) << call.name;
    for (const auto& matrix : arguments.out) {
      EXPECT_TRUE(matrix.allFinite()) << call.name;
    }
  }
}

TYPED_TEST(DerivativeArguments, WrongSizesNameTheArgument) {
  for (const auto& call : this->calls()) {
    SCOPED_TRACE(call.name);
    for (const int change : {-1, 1}) {
      for (const std::string& input : this->inputsOf(call)) {
        const std::string text = this->refusalOf(call, [&](auto& arguments) {
          auto& vector = arguments.in[input];
          vector = TestFixture::Vector::Ones(vector.size() + change);
        });
        EXPECT_TRUE(text.starts_with(input + " has ")) << text;
      }
      for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        for (const bool rows : {true, false}) {
          const std::string text = this->refusalOf(call, [&](auto& arguments) {
            auto& matrix = arguments.out[i];
            matrix.resize(matrix.rows() + (rows ? change : 0), matrix.cols() + (rows ? 0 : change));
          });
          EXPECT_TRUE(text.starts_with(call.outputs[i].name + " is ")) << text;
        }
      }
    }
  }
}

TYPED_TEST(DerivativeArguments, WhatIsNotFiniteIsNamed) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const auto& call : this->calls()) {
    SCOPED_TRACE(call.name);
    for (const std::string& input : this->inputsOf(call)) {
      for (const TypeParam bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
        EXPECT_EQ(this->refusalOf(call, [&](auto& arguments) { arguments.in[input][1] = bad; }),
                  input + " is not finite at entry 1");
      }
    }
  }
}

TYPED_TEST(DerivativeArguments, FramesAndForcesAreChecked) {
  const int frames = static_cast<int>(this->model.frameNames().size());
  for (const auto& call : this->calls()) {
    SCOPED_TRACE(call.name);
    for (const int frame : {-1, frames}) {
      const std::string expected = "frame " + std::to_string(frame) + ":";
      if (call.takesFrame) {
        const std::string text =
            this->refusalOf(call, [&](auto& arguments) { arguments.frame = frame; });
        EXPECT_TRUE(text.starts_with(expected)) << text;
      }
      if (call.takesExternal) {
        const std::string text =
            this->refusalOf(call, [&](auto& arguments) { arguments.external[0].frame = frame; });
        EXPECT_TRUE(text.starts_with(expected)) << text;
      }
    }
    if (call.takesExternal) {
      const std::string text =
          this->refusalOf(call, [&](auto& arguments) { arguments.external[0].wrench[4] = NAN; });
      EXPECT_TRUE(text.starts_with("external force on frame ")) << text;
      EXPECT_NE(text.find("is not finite"), std::string::npos) << text;
    }
  }
}

TYPED_TEST(DerivativeArguments, DataOfAnotherModelIsRefused) {
  const Model other = robots::load("five_bar");
  BasicData<TypeParam> foreign(other);
  for (const auto& call : this->calls()) {
    auto arguments = this->good(call);
    EXPECT_EQ(refusal([&] { call.run(this->model, foreign, arguments); }),
              "data was made for another model")
        << call.name;
  }
}

TYPED_TEST(DerivativeArguments, AQuaternionNeedsADirection) {
  const Model cheetah = robots::load("mini_cheetah");
  BasicData<TypeParam> own(cheetah);
  for (const auto& call : this->calls()) {
    auto arguments = this->good(cheetah, call);
    arguments.in["q"].template segment<4>(3).setZero();
    const std::string text = refusal([&] { call.run(cheetah, own, arguments); });
    EXPECT_NE(text.find("quaternion"), std::string::npos) << call.name << ": " << text;
  }
}

TYPED_TEST(DerivativeArguments, SingularPositionsAreReported) {
  const Model fourBar = robots::load("four_bar");
  BasicData<TypeParam> own(fourBar);
  for (const auto& call : this->calls()) {
    auto arguments = this->good(fourBar, call);
    arguments.in["q"].setZero();
    try {
      call.run(fourBar, own, arguments);
      ADD_FAILURE() << call.name << " gave numbers at a dead point";
    } catch (const SingularityError& error) {
      EXPECT_EQ(error.loop(), "loop1") << call.name;
      EXPECT_NE(std::string(error.what()).find("\"loop1\""), std::string::npos) << error.what();
    }
  }
}

/// A point mass that slides along an arm without mass: on the arm's axis, turning moves nothing.
TYPED_TEST(DerivativeArguments, ADegreeOfFreedomThatMovesNoInertiaIsReported) {
  Mechanism robot("bead");
  robot.addBody("ground");
  robot.addBody("arm");
  robot.addBody("bead").withMass(1);
  robot.addRevolute("hinge").from("ground").to("arm").about({0, 0, 1});
  robot.addPrismatic("slide").from("arm").to("bead").at({0.5, 0, 0}).along({1, 0, 0});
  const Model bead(robot);
  BasicData<TypeParam> own(bead);
  for (const auto& call : this->calls()) {
    auto arguments = this->good(bead, call);
    arguments.in["q"] << TypeParam(0.3), TypeParam(0.1);
    EXPECT_NO_THROW(call.run(bead, own, arguments)) << call.name;
    arguments.in["q"] << TypeParam(0.3), TypeParam(-0.5);
    if (call.inverts) {
      EXPECT_THROW(call.run(bead, own, arguments), SingularityError) << call.name;
    } else {
      EXPECT_NO_THROW(call.run(bead, own, arguments)) << call.name;
    }
  }
}

}  // namespace
}  // namespace kempe::test
