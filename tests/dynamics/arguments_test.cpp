#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <functional>
#include <limits>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/refusal.hpp"

/// What the dynamics algorithms refuse, and which outputs may be inputs.
namespace kempe::test {
namespace {

::testing::AssertionResult startsWith(const std::string& text, const std::string& start) {
  return text.starts_with(start)
             ? ::testing::AssertionSuccess()
             : ::testing::AssertionFailure() << '"' << text << "\" instead of \"" << start << "…\"";
}

template <typename T>
class DynamicsArguments : public ::testing::Test {
 protected:
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

  /// Arguments of one call; each test spoils one of them.
  struct Arguments {
    Vector q, v, x, spanning, out;
    Matrix H;
    std::vector<FrameForce> external;
  };

  [[nodiscard]] Arguments good() const { return goodFor(model); }
  [[nodiscard]] static Arguments goodFor(const Model& of) {
    const int n = of.nv();
    return {of.neutral().cast<T>(),
            Vector::Ones(n),
            Vector::Ones(n),
            Vector::Ones(of.nvSpanning()),
            Vector(n),
            Matrix(n, n),
            {{.frame = of.frameIndex(of.bodyNames().front()), .wrench = {1, 2, 3, 4, 5, 6}}}};
  }

  struct Call {
    std::string name;
    std::function<void(const Model&, BasicData<T>&, Arguments&)> run;
    std::vector<std::string> inputs;  ///< besides q
    std::string output;
    bool takesExternal = false;
  };

  /// Every algorithm; `x` is a, tau or x as the header names it.
  static std::vector<Call> calls() {
    using A = Arguments;
    using D = BasicData<T>;
    return {
        {"inverseDynamics",
         [](const Model& m, D& d, A& a) {
           inverseDynamics(m, d, a.q, a.v, a.x, a.out, {.external = a.external});
         },
         {"v", "a"},
         "tau",
         true},
        {"forwardDynamics",
         [](const Model& m, D& d, A& a) {
           forwardDynamics(m, d, a.q, a.v, a.x, a.out, {.external = a.external});
         },
         {"v", "tau"},
         "a",
         true},
        {"biasForces",
         [](const Model& m, D& d, A& a) {
           biasForces(m, d, a.q, a.v, a.out, {.external = a.external});
         },
         {"v"},
         "h",
         true},
        {"gravityForces",
         [](const Model& m, D& d, A& a) { gravityForces(m, d, a.q, a.out); },
         {},
         "tau"},
        {"generalizedForces",
         [](const Model& m, D& d, A& a) { generalizedForces(m, d, a.q, a.spanning, a.out); },
         {"spanning"},
         "tau"},
        {"massMatrix", [](const Model& m, D& d, A& a) { massMatrix(m, d, a.q, a.H); }, {}, "H"},
        {"inverseMassMatrix",
         [](const Model& m, D& d, A& a) { inverseMassMatrix(m, d, a.q, a.H); },
         {},
         "inverse"},
        {"applyInverseMassMatrix",
         [](const Model& m, D& d, A& a) { applyInverseMassMatrix(m, d, a.q, a.x, a.out); },
         {"x"},
         "result"},
    };
  }

  static Vector& inputOf(Arguments& arguments, const std::string& name) {
    return name == "q" ? arguments.q
                       : (name == "v" ? arguments.v
                                      : (name == "spanning" ? arguments.spanning : arguments.x));
  }

  /// Calls with one thing spoiled by `spoil`.
  std::string refusalOf(const Call& call, const std::function<void(Arguments&)>& spoil) {
    Arguments arguments = good();
    spoil(arguments);
    return refusal([&] { call.run(model, data, arguments); });
  }

  Model model = robots::load("six_bar");
  BasicData<T> data{model};
};

using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(DynamicsArguments, Scalars);

TYPED_TEST(DynamicsArguments, GoodOnesAreTaken) {
  for (const auto& call : this->calls()) {
    auto arguments = this->good();
    EXPECT_NO_THROW(call.run(this->model, this->data, arguments)) << call.name;
  }
}

TYPED_TEST(DynamicsArguments, WrongSizesNameTheArgument) {
  for (const auto& call : this->calls()) {
    SCOPED_TRACE(call.name);
    auto inputs = call.inputs;
    inputs.push_back("q");
    for (const std::string& input : inputs) {
      for (const int change : {-1, 1}) {
        const std::string text = this->refusalOf(call, [&](auto& arguments) {
          auto& vector = TestFixture::inputOf(arguments, input);
          vector = TestFixture::Vector::Ones(vector.size() + change);
        });
        EXPECT_TRUE(startsWith(text, input + " has "));
      }
    }
    for (const int change : {-1, 1}) {
      const std::string text = this->refusalOf(call, [&](auto& arguments) {
        arguments.out.resize(arguments.out.size() + change);
        arguments.H.resize(arguments.H.rows(), arguments.H.cols() + change);
      });
      const bool matrix = call.output == "H" || call.output == "inverse";
      EXPECT_TRUE(startsWith(text, call.output + (matrix ? " is " : " has ")));
    }
  }
}

TYPED_TEST(DynamicsArguments, WhatIsNotFiniteIsNamed) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const auto& call : this->calls()) {
    SCOPED_TRACE(call.name);
    auto inputs = call.inputs;
    inputs.push_back("q");
    for (const std::string& input : inputs) {
      for (const TypeParam bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
        const std::string text = this->refusalOf(
            call, [&](auto& arguments) { TestFixture::inputOf(arguments, input)[1] = bad; });
        EXPECT_TRUE(startsWith(text, input + " is not finite at entry 1"));
      }
    }
  }
}

TYPED_TEST(DynamicsArguments, ExternalForcesNeedAFrameAndNumbers) {
  const int frames = static_cast<int>(this->model.frameNames().size());
  for (const auto& call : this->calls()) {
    if (!call.takesExternal) {
      continue;
    }
    SCOPED_TRACE(call.name);
    for (const int frame : {-1, frames}) {
      const std::string text =
          this->refusalOf(call, [&](auto& arguments) { arguments.external[0].frame = frame; });
      EXPECT_TRUE(startsWith(text, "frame " + std::to_string(frame) + ":"));
    }
    for (std::size_t i = 0; i < 6; ++i) {
      for (const double bad :
           {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        const std::string text =
            this->refusalOf(call, [&](auto& arguments) { arguments.external[0].wrench[i] = bad; });
        EXPECT_TRUE(startsWith(text, "external force on frame \"link1\" is not finite"));
      }
    }
  }
  EXPECT_TRUE(refusal([&] { (void)this->model.frameIndex("nose"); }).find("\"nose\"") !=
              std::string::npos);
}

TYPED_TEST(DynamicsArguments, DataOfAnotherModelIsRefused) {
  const Model other = robots::load("five_bar");
  BasicData<TypeParam> foreign(other);
  for (const auto& call : this->calls()) {
    auto arguments = this->good();
    EXPECT_EQ(refusal([&] { call.run(this->model, foreign, arguments); }),
              "data was made for another model")
        << call.name;
  }
}

TYPED_TEST(DynamicsArguments, AQuaternionNeedsADirection) {
  const Model cheetah = robots::load("mini_cheetah");
  BasicData<TypeParam> own(cheetah);
  for (const auto& call : this->calls()) {
    auto arguments = this->goodFor(cheetah);
    arguments.q.template segment<4>(3).setZero();
    const std::string text = refusal([&] { call.run(cheetah, own, arguments); });
    EXPECT_NE(text.find("quaternion"), std::string::npos) << call.name << ": " << text;
  }
}

TYPED_TEST(DynamicsArguments, SingularPositionsAreReported) {
  const Model fourBar = robots::load("four_bar");
  BasicData<TypeParam> own(fourBar);
  for (const auto& call : this->calls()) {
    auto arguments = this->goodFor(fourBar);
    arguments.q.setZero();
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
TYPED_TEST(DynamicsArguments, AFreedomThatMovesNoInertiaIsReported) {
  Mechanism robot("bead");
  robot.addBody("ground");
  robot.addBody("arm");
  robot.addBody("bead").withMass(1);
  robot.addRevolute("hinge").from("ground").to("arm").about({0, 0, 1});
  robot.addPrismatic("slide").from("arm").to("bead").at({0.5, 0, 0}).along({1, 0, 0});
  const Model bead(robot);
  BasicData<TypeParam> own(bead);
  for (const auto& call : this->calls()) {
    const bool inverts = call.name == "forwardDynamics" || call.name == "inverseMassMatrix" ||
                         call.name == "applyInverseMassMatrix";
    auto arguments = this->goodFor(bead);
    arguments.q << TypeParam(0.3), TypeParam(0.1);
    EXPECT_NO_THROW(call.run(bead, own, arguments)) << call.name;
    arguments.q << TypeParam(0.3), TypeParam(-0.5);
    if (inverts) {
      EXPECT_THROW(call.run(bead, own, arguments), SingularityError) << call.name;
    } else {
      EXPECT_NO_THROW(call.run(bead, own, arguments)) << call.name;
    }
  }
}

TYPED_TEST(DynamicsArguments, OutputsMayBeTheInputsThatTheHeadersName) {
  using Numbers = typename TestFixture::Vector;
  for (const std::string& name : robots::names()) {
    SCOPED_TRACE(name);
    const Model robot = robots::load(name);
    BasicData<TypeParam> own(robot);
    auto arguments = this->goodFor(robot);
    arguments.v = Numbers::LinSpaced(robot.nv(), TypeParam(-1), TypeParam(2));
    arguments.x = Numbers::LinSpaced(robot.nv(), TypeParam(3), TypeParam(-1));
    const auto& [q, v, x, spanning, out, H, external] = arguments;
    Numbers expected(robot.nv()), first = v, second = x;

    inverseDynamics(robot, own, q, v, x, expected);
    inverseDynamics(robot, own, q, first, x, first);
    inverseDynamics(robot, own, q, v, second, second);
    EXPECT_TRUE(first == expected && second == expected) << "inverseDynamics";

    first = v;
    second = x;
    forwardDynamics(robot, own, q, v, x, expected);
    forwardDynamics(robot, own, q, first, x, first);
    forwardDynamics(robot, own, q, v, second, second);
    EXPECT_TRUE(first == expected && second == expected) << "forwardDynamics";

    second = x;
    applyInverseMassMatrix(robot, own, q, x, expected);
    applyInverseMassMatrix(robot, own, q, second, second);
    EXPECT_TRUE(second == expected) << "applyInverseMassMatrix";
  }
}

/// Blocks of larger matrices have a stride of their own.
TYPED_TEST(DynamicsArguments, MatricesMayBeBlocks) {
  using Table = typename TestFixture::Matrix;
  const int n = this->model.nv();
  const auto arguments = this->good();
  Table whole = Table::Constant(n + 3, n + 4, TypeParam(7)), expected(n, n);
  massMatrix(this->model, this->data, arguments.q, expected);
  massMatrix(this->model, this->data, arguments.q, whole.block(1, 2, n, n));
  EXPECT_TRUE(whole.block(1, 2, n, n) == expected);
  inverseMassMatrix(this->model, this->data, arguments.q, expected);
  inverseMassMatrix(this->model, this->data, arguments.q, whole.block(1, 2, n, n));
  EXPECT_TRUE(whole.block(1, 2, n, n) == expected);
  whole.block(1, 2, n, n).setConstant(TypeParam(7));
  EXPECT_TRUE(whole == Table::Constant(n + 3, n + 4, TypeParam(7)));
}

}  // namespace
}  // namespace kempe::test
