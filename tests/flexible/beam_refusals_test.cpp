#include <functional>
#include <limits>
#include <ostream>

#include "flexible/beam_testing.hpp"
#include "kempe/errors.hpp"

namespace kempe::test {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

struct BeamMistake {
  std::string title;
  std::function<void(BeamOptions&)> make;
  std::string culprit, remedy;

  friend std::ostream& operator<<(std::ostream& out, const BeamMistake& mistake) {
    return out << mistake.title;
  }
};

class BeamMistakes : public ::testing::TestWithParam<BeamMistake> {};

TEST_P(BeamMistakes, AreNamedWithARemedy) {
  BeamOptions beam = slenderBar();
  ASSERT_NO_THROW(static_cast<void>(reduceBeam("rod", beam)));
  GetParam().make(beam);
  try {
    static_cast<void>(reduceBeam("rod", beam));
    FAIL() << "nothing was thrown";
  } catch (const ModelError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("beam \"rod\": ", 0), 0u) << text;
    EXPECT_NE(text.find(GetParam().culprit), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().remedy), std::string::npos) << text;
  }
}

const std::vector<BeamMistake>& beamMistakes() {
  using B = BeamOptions;
  const BeamSection good{1e-4, 1e-9, 1e-9};
  static const std::vector<BeamMistake> mistakes = {
      {"ZeroLength", [](B& b) { b.length = 0; }, "length is 0", "give a length in m"},
      {"NaNLength", [](B& b) { b.length = kNotANumber; }, "length is nan", "give a length"},
      {"InfiniteLength", [](B& b) { b.length = 1 / 0.0; }, "length is inf", "give a length"},
      {"NegativeE", [](B& b) { b.E = -1; }, "E is -1", "give Young's modulus"},
      {"ZeroDensity", [](B& b) { b.density = 0; }, "density is 0", "give the density"},
      {"ZeroArea", [](B& b) { b.area = 0; }, "area is 0", "give the area"},
      {"NegativeIy", [](B& b) { b.Iy = -1e-9; }, "Iy is -1e-09", "give the second moment"},
      {"NaNIz", [](B& b) { b.Iz = kNotANumber; }, "Iz is nan", "about z"},
      {"ZeroG", [](B& b) { b.G = 0; }, "G is 0", "or leave it out for E / 2.6"},
      {"NegativeJ", [](B& b) { b.J = -2; }, "J is -2", "or leave it out for Iy + Iz"},
      {"ZeroKy", [](B& b) { b.ky = 0; }, "ky is 0", "5/6 for a rectangle"},
      {"NegativeKz", [](B& b) { b.kz = -1; }, "kz is -1", "5/6 for a rectangle"},
      {"OneSection", [good](B& b) { b.sections = {good}; }, "it has one section", "at least two"},
      {"BadSection",
       [good](B& b) {
         b.sections = {good, {1e-4, 0.0, 1e-9}};
       },
       "section 1: Iy is 0", "give the second moment"},
      {"BadSectionJ",
       [good](B& b) {
         b.sections = {{1e-4, 1e-9, 1e-9, -1.0}, good};
       },
       "section 0: J is -1", "leave it out"},
      {"NoAxis",
       [](B& b) {
         b.axis = {0, 0, 0};
       },
       "axis has no direction", "(1, 0, 0)"},
      {"NaNAxis",
       [](B& b) {
         b.axis = {0, kNotANumber, 0};
       },
       "axis has no direction", "(1, 0, 0)"},
      {"NoElements", [](B& b) { b.elements = 0; }, "elements is 0", "from 1 to 1000"},
      {"TooManyElements", [](B& b) { b.elements = 1000000; }, "elements is 1000000", "to 1000"},
      {"NoModes", [](B& b) { b.modes = 0; }, "modes is 0", "make the body rigid"},
      {"MoreModesThanThereAre", [](B& b) { b.modes = 61; }, "modes is 61, but 10 elements have 60",
       "use more elements or fewer modes"},
      {"MoreModesThanOneElementHas",
       [](B& b) {
         b.elements = 1;
         b.fixed = "none";
         b.modes = 7;
       },
       "1 element has 6", "use more elements"},
      {"FewerModesThanTheInterfaceTakes",
       [](B& b) {
         b.interface = {"end", "5"};
         b.modes = 8;
       },
       "modes is 8, but the nodes of interface take 12", "at least that many"},
      {"NegativeDamping", [](B& b) { b.damping = -0.1; }, "damping is -0.1", "zero or more"},
      {"NaNDamping", [](B& b) { b.damping = kNotANumber; }, "damping is nan", "zero or more"},
      {"UnknownFixed", [](B& b) { b.fixed = "both"; }, "fixed is \"both\"", "give \"start\""},
      {"UnknownNode", [](B& b) { b.interface = {"tip"}; }, "node \"tip\", which does not exist",
       "numbers from 0 to 10"},
      {"NodeBeyondTheEnd", [](B& b) { b.interface = {"11"}; }, "node \"11\"", "from 0 to 10"},
      {"ClampedNodeInTheInterface", [](B& b) { b.interface = {"0"}; }, "clamped already",
       "leave it out"},
      {"NodeTwice",
       [](B& b) {
         b.interface = {"end", "10"};
       },
       "node \"10\" twice", "name it once"},
  };
  return mistakes;
}

INSTANTIATE_TEST_SUITE_P(All, BeamMistakes, ::testing::ValuesIn(beamMistakes()),
                         [](const auto& mistake) { return mistake.param.title; });

}  // namespace
}  // namespace kempe::test
