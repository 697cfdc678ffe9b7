#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "linkages.hpp"
#include "support/close_to.hpp"
#include "support/refusal.hpp"

namespace kempe::test {
namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : path(std::filesystem::path(::testing::TempDir()) / ("kempe_" + name)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path); }

  std::filesystem::path path;
};

/// A crank-slider in slider coordinates, spring and motor on it, turning through its dead points.
Simulator engine(Integrator integrator) {
  const Model byCrank(crankSlider("crank"));
  Simulator simulator(Model(crankSlider("slide")), {.integrator = integrator});
  simulator.addSpring(JointSpring{"slide", 40.0, 0.3, 0.5});
  simulator.addMotor({.joint = "crank", .gear = 2.0, .rotorInertia = 1e-4});
  simulator.setMotorTorque(0, 0.3);
  Data data(byCrank);
  const Eigen::VectorXd q = configuration(byCrank, {{"crank", 1.0}});
  Eigen::VectorXd positions(byCrank.nqSpanning()), velocities(byCrank.nvSpanning());
  spanning(byCrank, data, q, Eigen::VectorXd::Constant(1, 12.0), positions, velocities);
  simulator.setSpanningState(q, velocities);
  return simulator;
}

void expectSame(const Recording::Sample& one, const Recording::Sample& other) {
  EXPECT_EQ(one.time, other.time);
  EXPECT_EQ(one.q, other.q);
  EXPECT_EQ(one.v, other.v);
  EXPECT_EQ(one.tau, other.tau);
  EXPECT_EQ(one.velocities, other.velocities);
  EXPECT_EQ(one.a, other.a);
  EXPECT_EQ(one.kinetic, other.kinetic);
  EXPECT_EQ(one.potential, other.potential);
  EXPECT_EQ(one.loopError, other.loopError);
  EXPECT_EQ(one.work.controller, other.work.controller);
  EXPECT_EQ(one.work.motors, other.work.motors);
  EXPECT_EQ(one.work.damping, other.work.damping);
  EXPECT_EQ(one.stepControl, other.stepControl);
}

TEST(Recordings, GoingOnFromASampleIsTheSameToTheLastBit) {
  for (const Integrator integrator : kIntegrators) {
    Simulator simulator = engine(integrator);
    const Recording whole = simulator.run(0.25, 1.0 / 1024);
    ASSERT_EQ(whole.samples.size(), 257U);
    EXPECT_GE(simulator.coordinateChanges(), 1);
    for (const std::size_t start : {std::size_t{0}, std::size_t{10}, std::size_t{100}}) {
      Simulator again = engine(integrator);
      again.restore(whole.snapshot(start));
      const Recording rest = again.run(0.25 - whole.samples[start].time, 1.0 / 1024);
      ASSERT_EQ(rest.samples.size(), whole.samples.size() - start);
      for (std::size_t i = 0; i < rest.samples.size(); ++i) {
        expectSame(rest.samples[i], whole.samples[start + i]);
        if (HasFailure()) {
          FAIL() << toString(integrator) << " from " << start << " at " << i;
        }
      }
    }
  }
}

TEST(Recordings, FilesKeepEveryBit) {
  Simulator simulator = engine(Integrator::Adaptive);
  const Recording recording = simulator.run(0.2, 1e-2);
  const TemporaryFile file("run.txt");
  recording.save(file.path);
  const Recording loaded = Recording::load(file.path);
  EXPECT_EQ(loaded.robot, "crank_slider");
  EXPECT_EQ(loaded.integrator, Integrator::Adaptive);
  EXPECT_EQ(loaded.dt, 1e-2);
  EXPECT_EQ(loaded.qNames, recording.qNames);
  EXPECT_EQ(loaded.vNames, recording.vNames);
  EXPECT_EQ(loaded.velocityNames, recording.velocityNames);
  EXPECT_EQ(loaded.choices, recording.choices);
  EXPECT_GT(loaded.energyExchanged, 0.0);
  EXPECT_EQ(loaded.energyExchanged, recording.energyExchanged);
  ASSERT_EQ(loaded.samples.size(), recording.samples.size());
  for (std::size_t i = 0; i < loaded.samples.size(); ++i) {
    expectSame(loaded.samples[i], recording.samples[i]);
    EXPECT_EQ(loaded.samples[i].choice, recording.samples[i].choice);
  }
}

TEST(Recordings, TextsMayHaveSeveralLines) {
  Recording recording = engine(Integrator::RungeKutta4).run(0.002, 1e-3);
  recording.robot = "a\nsamples 1";
  recording.qNames = {"back\\slash", "\\n", "\\\\", " b ", "\n"};
  recording.samples.front().q.resize(5);
  recording.samples.front().q.setConstant(0.1);
  recording.samples.resize(1);
  recording.warnings = {"first\nsecond", ""};
  const TemporaryFile file("lines.txt");
  recording.save(file.path);
  const Recording loaded = Recording::load(file.path);
  EXPECT_EQ(loaded.robot, recording.robot);
  EXPECT_EQ(loaded.qNames, recording.qNames);
  EXPECT_EQ(loaded.warnings, recording.warnings);
  EXPECT_EQ(loaded.samples.size(), 1U);
}

TEST(Recordings, FilesOfFormat1LackAccelerations) {
  const Recording recording = engine(Integrator::Adaptive).run(0.003, 1e-3);
  const TemporaryFile file("format1.txt");
  recording.save(file.path);
  // A sample of format 1 ended with the choice of coordinates, the next step and the error before.
  const Recording::Sample& first = recording.samples.front();
  const auto kept = 1 + first.q.size() + 2 * first.v.size() + first.velocities.size() + 9 + 1;
  std::string text, line;
  {
    std::ifstream in(file.path);
    for (bool samples = false; std::getline(in, line);) {
      line = line == "kempe recording 2" ? "kempe recording 1" : line;
      if (samples) {
        std::istringstream numbers(line);
        std::string number;
        line.clear();
        for (int i = 0; i < kept && numbers >> number; ++i) {
          line += number + " ";
        }
        line += "0.25 0.5";
      }
      samples = samples || line.starts_with("samples");
      text += line + "\n";
    }
  }
  std::ofstream(file.path) << text;
  const Recording old = Recording::load(file.path);
  ASSERT_EQ(old.samples.size(), recording.samples.size());
  EXPECT_EQ(old.samples[2].velocities, recording.samples[2].velocities);
  EXPECT_EQ(old.samples[2].stepControl.nextStep, 0.25);
  EXPECT_EQ(old.samples[2].stepControl.previousError, 0.5);
  EXPECT_TRUE(std::isnan(old.samples[2].a[0]));
}

TEST(Recordings, FilesThatAreSomethingElseAreNamed) {
  const Recording recording = engine(Integrator::RungeKutta4).run(0.003, 1e-3);
  const TemporaryFile file("wrong.txt");
  recording.save(file.path);
  std::string text;
  {
    std::ifstream in(file.path);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto errorOfText = [&](const std::string& changed) {
    std::ofstream(file.path) << changed;
    try {
      Recording::load(file.path);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  const auto replaced = [&](const std::string& what, const std::string& with) {
    std::string copy = text;
    return copy.replace(copy.find(what), what.size(), with);
  };
  EXPECT_NE(errorOfText("").find("wrong.txt:1: not a recording"), std::string::npos);
  EXPECT_NE(errorOfText("PK").find("wrong.txt:1: not a recording"), std::string::npos);
  EXPECT_NE(errorOfText("PK\x03\x04" + text).find("wrong.txt: an archive of numpy"),
            std::string::npos);
  EXPECT_NE(errorOfText(replaced("recording 2", "recording 3")).find("version"), std::string::npos);
  EXPECT_NE(errorOfText(replaced("rk4", "euler")).find("\"euler\" is not known"),
            std::string::npos);
  EXPECT_NE(errorOfText(replaced("samples 4", "samples 5")).find("ends after 4 of 5"),
            std::string::npos);
  EXPECT_NE(errorOfText(replaced("samples 4", "samples x")).find("a number"), std::string::npos);
  EXPECT_NE(errorOfText(replaced("position", "place")).find("\"place\" is not expected"),
            std::string::npos);
  EXPECT_NE(errorOfText(text.substr(0, text.rfind(' '))).find("a number is missing"),
            std::string::npos);
  EXPECT_THROW(Recording::load(file.path.string() + ".nothing"), std::runtime_error);
  try {
    recording.save("/dev/full");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_space_on_device);
    EXPECT_NE(std::string(error.what()).find("/dev/full: cannot be written"), std::string::npos);
  }
}

TEST(Recordings, ReplayIsBetweenTheSamples) {
  Simulator simulator = engine(Integrator::RungeKutta4);
  const Recording fine = simulator.run(0.2, 2.5e-4);
  Simulator again = engine(Integrator::RungeKutta4);
  again.restore(fine.snapshot(0));
  const Model& model = again.model();
  Recording coarse = fine;
  coarse.samples.clear();
  for (std::size_t i = 0; i < fine.samples.size(); i += 16) {
    coarse.samples.push_back(fine.samples[i]);
  }
  Replay replay(model, coarse);
  Eigen::VectorXd q(model.nq()), velocities(model.nvSpanning()), residual(model.nLoopRows());
  Data data(model);
  for (const Recording::Sample& sample : fine.samples) {
    if (sample.time > coarse.samples.back().time) {
      break;
    }
    replay.state(sample.time, q, velocities);
    EXPECT_TRUE(closeTo(q, sample.q, 2e-4)) << sample.time;
    EXPECT_TRUE(closeTo(velocities, sample.velocities, 2e-2)) << sample.time;
    loopResidual(model, data, q, residual);
    EXPECT_LT(residual.cwiseAbs().maxCoeff(), 1e-12);
  }
  replay.state(coarse.samples[1].time, q, velocities);
  EXPECT_EQ(q, coarse.samples[1].q);
  EXPECT_NE(refusal([&] { replay.state(1.0, q, velocities); }).find("not within the recording"),
            std::string::npos);
  EXPECT_NE(refusal([&] { Replay(Model(fiveBar()), coarse); }).find("crank_slider"),
            std::string::npos);
}

TEST(Recordings, RunsEndWhereTheyAreTold) {
  Simulator simulator = engine(Integrator::RungeKutta4);
  const Recording uneven = simulator.run(0.25e-2, 1e-3);
  ASSERT_EQ(uneven.samples.size(), 4U);
  EXPECT_EQ(uneven.samples.back().time, 0.25e-2);
  simulator.setObserver([](const Simulator& now) { return now.time() < 0.0095; });
  const Recording stopped = simulator.run(1.0, 1e-3);
  EXPECT_NEAR(stopped.samples.back().time, 0.0095, 1e-9);
}

TEST(Recordings, FailuresKeepWhatThereWas) {
  const Model model(crankSlider("crank"));
  Simulator simulator(model);
  simulator.setController([](double t, VectorIn, VectorIn, VectorOut tau) {
    if (t > 0.0055) {
      throw std::domain_error("of the controller");
    }
    tau.setConstant(0.1);
  });
  try {
    simulator.run(1.0, 1e-3);
    FAIL();
  } catch (const SimulationError& error) {
    EXPECT_NEAR(error.time(), 0.005, 1e-12);
    EXPECT_EQ(error.recording().samples.size(), 6U);
    EXPECT_EQ(error.recording().samples.back().time, error.time());
    EXPECT_NE(std::string(error.what()).find("stopped at t = 0.005 s: of the controller"),
              std::string::npos);
    EXPECT_THROW(std::rethrow_if_nested(error), std::domain_error);
  }
  EXPECT_NEAR(simulator.time(), 0.005, 1e-12);  // as it was before the step
}

TEST(Recordings, EndlessVelocitiesEndTheRun) {
  for (const Integrator integrator : {Integrator::RungeKutta4, Integrator::Adaptive}) {
    Simulator simulator(Model(crankSlider("crank")), {.integrator = integrator});
    simulator.setController([](double, VectorIn, VectorIn v, VectorOut tau) {
      tau = 1e3 * v;
      tau[0] += 1.0;
    });
    EXPECT_THROW(simulator.run(10.0, 0.05), SimulationError);
  }
}

TEST(Recordings, WrongStatesAreRefused) {
  Simulator simulator{Model(fourBar(0.5, 0.15, 0.4, 0.35))};
  const Model& model = simulator.model();
  const Eigen::VectorXd q = model.neutral(), v = Eigen::VectorXd::Zero(1);
  const auto says = [](const std::function<void()>& action, const std::string& text) {
    const std::string refused = refusal(action);
    EXPECT_NE(refused.find(text), std::string::npos) << refused;
  };
  says([&] { simulator.setState(q, Eigen::VectorXd::Zero(2)); }, "v has 2 entries");
  says([&] { simulator.setState(Eigen::VectorXd::Zero(2), v); }, "q has 2 entries");
  says([&] { simulator.setState(q, v, std::nan("")); }, "time is not finite");
  says([&] { simulator.setSpanningState(q, Eigen::VectorXd::Constant(3, 1.0)); },
       "they open loops");
  says([&] { simulator.setSpanningState(Eigen::VectorXd::Zero(3), Eigen::VectorXd::Zero(3)); },
       "its loops are open");
  says([&] { simulator.step(0.0); }, "dt: a positive");
  says([&] { simulator.step(-1.0); }, "dt: a positive");
  says([&] { simulator.run(1.0, std::nan("")); }, "dt: a positive");
  says([&] { simulator.run(0.0, 1.0); }, "duration: a positive");
  says([&] { simulator.run(1.0, 1e-12); }, "too many");
  says([&] { simulator.setForces(Eigen::VectorXd::Zero(2)); }, "tau has 2 entries");
  says([&] { simulator.setExternalForces({FrameForce{99, {}}}); }, "frame 99");
  says([&] { simulator.restore({}); }, "q has 0 entries");
  says([&] { Simulator(model, {.relativeTolerance = 0.0}); }, "relativeTolerance");
  says([&] { integratorCalled("euler"); }, "rk4, semi_implicit_euler, implicit_midpoint, adaptive");
}

TEST(Recordings, StatesMayBeAsOpenAsTheModelAllows) {
  // Rounding of dimensions puts the two halves into planes 5e-9 m apart: a redundant row stays open.
  Mechanism rounded = fourBar(0.5, 0.15, 0.4, 0.35);
  rounded.joints.back().at({0.5, 0, 5e-9});
  // In a linkage of thousands of kilometres, closed loops are open by nanometres.
  const double large = 1e7;
  for (const Mechanism& robot :
       {rounded, fourBar(0.5 * large, 0.15 * large, 0.4 * large, 0.35 * large)}) {
    Simulator simulator{Model(robot)};
    const Model& model = simulator.model();
    for (const double crank : {0.3, 1.1, 2.0, 3.5, 4.4}) {
      const Eigen::VectorXd q = configuration(model, {{"crank", crank}});
      simulator.setSpanningState(q, Eigen::VectorXd::Zero(3));
      EXPECT_EQ(simulator.q(), q);
    }
  }
  // Of millimetres, nanometres are a millionth.
  const double small = 1e-3;
  Simulator simulator{Model(fourBar(0.5 * small, 0.15 * small, 0.4 * small, 0.35 * small))};
  Eigen::VectorXd q = simulator.model().neutral();
  q[1] += 1e-6;
  const std::string refused =
      refusal([&] { simulator.setSpanningState(q, Eigen::VectorXd::Zero(3)); });
  EXPECT_NE(refused.find("its loops are open"), std::string::npos) << refused;
}

TEST(Snapshots, OfAnotherRobotAreRefused) {
  // Same names and sizes, another length of the coupler.
  Simulator simulator{Model(fourBar(0.4, 0.1, 0.4, 0.3))};
  Simulator other{Model(fourBar(0.4, 0.1, 0.41, 0.3))};
  const Recording recording = simulator.run(0.01, 1e-3);
  const auto path = std::filesystem::path(::testing::TempDir()) / "kempe_fingerprint.txt";
  recording.save(path);
  EXPECT_EQ(Recording::load(path).model, recording.model);
  for (const Snapshot& snapshot :
       {simulator.snapshot(), recording.snapshot(3), Recording::load(path).snapshot(3)}) {
    EXPECT_THROW(other.restore(snapshot), std::invalid_argument);
  }
  // Armatures of motors and other independent coordinates are no other robot.
  Simulator same{Model(fourBar(0.4, 0.1, 0.4, 0.3, "pivot"))};
  same.addMotor({.joint = "crank", .gear = 10.0, .rotorInertia = 1e-4});
  same.restore(recording.snapshot(3));
  EXPECT_EQ(same.time(), recording.samples[3].time);
}

}  // namespace
}  // namespace kempe::test
