#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "linkages.hpp"

namespace kempe::test {
namespace {

Simulator turning() {
  Simulator simulator(Model(fourBar(0.5, 0.15, 0.4, 0.35)),
                      {.integrator = Integrator::RungeKutta4});
  simulator.setState(simulator.model().neutral(), Eigen::VectorXd::Constant(1, 5.0));
  return simulator;
}

TEST(Threads, StepsFollowEachOther) {
  Simulator alone = turning(), shared = turning();
  constexpr int kThreads = 4, kSteps = 200;
  for (int i = 0; i < kThreads * kSteps; ++i) {
    alone.stepTo((i + 1) * 1e-3);
  }
  std::atomic<int> next = 0;
  std::vector<std::thread> threads;
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) {
        shared.step(1e-3);
        ++next;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(next, kThreads * kSteps);
  EXPECT_NEAR(shared.time(), alone.time(), 1e-9);
  EXPECT_LT((shared.q() - alone.q()).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Threads, ReadingDoesNotChangeARun) {
  const Recording expected = turning().run(0.5, 1e-3);
  Simulator simulator = turning();
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int k = 0; k < 2; ++k) {
    readers.emplace_back([&] {
      while (!done) {
        const Energy energy = simulator.energy();
        const Simulator::State state = simulator.state();
        EXPECT_TRUE(std::isfinite(energy.kinetic + state.q[0] + simulator.a()[0]));
        std::this_thread::yield();
      }
    });
  }
  const Recording recording = simulator.run(0.5, 1e-3);
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(recording.samples.back().q, expected.samples.back().q);
}

// A rotor's inertia replaces the simulator's model, which limits and runs read.
TEST(Threads, ElementsMayBeAddedByAnotherThread) {
  Simulator simulator = turning();
  constexpr int kTimes = 10;
  std::thread other([&] {
    for (int motors = 0; motors < kTimes;) {
      try {
        motors = 1 + simulator.addMotor({.joint = "crank", .rotorInertia = 1e-4});
      } catch (const std::logic_error&) {  // a run is under way
        std::this_thread::yield();
      }
    }
  });
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_EQ(simulator.addLimits(), 0);
    EXPECT_EQ(simulator.run(2e-3, 1e-3).samples.size(), 3U);
  }
  other.join();
  EXPECT_EQ(simulator.motorTorque(kTimes - 1), 0.0);
}

TEST(Threads, ARunInsideARunDoesNotEndIt) {
  Simulator simulator = turning();
  simulator.beginRun();
  simulator.run(2e-3, 1e-3);
  std::thread([&] {
    EXPECT_THROW(simulator.setForces(Eigen::VectorXd::Zero(1)), std::logic_error);
  }).join();
  simulator.endRun();
  std::thread([&] { simulator.setForces(Eigen::VectorXd::Zero(1)); }).join();
}

TEST(Threads, OtherThreadsCannotChangeARun) {
  Simulator simulator = turning();
  const auto changeElsewhere = [&] {
    std::string error;
    std::thread([&] {
      try {
        simulator.setForces(Eigen::VectorXd::Zero(1));
      } catch (const std::logic_error& refused) {
        error = refused.what();
      }
    }).join();
    return error;
  };
  simulator.beginRun();
  EXPECT_NE(changeElsewhere().find("another thread runs this simulator"), std::string::npos);
  simulator.endRun();
  EXPECT_EQ(changeElsewhere(), "");
}

TEST(Threads, CallbacksMayOnlyReadTheState) {
  Simulator simulator = turning();
  double seen = 0.0;
  simulator.setController([&](double, VectorIn, VectorIn, VectorOut tau) {
    seen = simulator.time() + simulator.q()[0] + simulator.state().v[0];
    tau.setZero();
  });
  simulator.step(1e-3);
  EXPECT_NE(seen, 0.0);
  simulator.setController([&](double, VectorIn, VectorIn, VectorOut tau) {
    tau.setConstant(simulator.energy().kinetic);
  });
  EXPECT_THROW(simulator.step(1e-3), std::logic_error);
  EXPECT_THROW(simulator.step(1e-3), std::logic_error);  // the first error has let go of it
}

TEST(Threads, InterruptsEndLongSteps) {
  Simulator simulator(Model(fourBar(0.5, 0.15, 0.4, 0.35)));
  simulator.setState(simulator.model().neutral(), Eigen::VectorXd::Constant(1, 5.0));
  int calls = 0;
  simulator.setInterruptCheck([&] {
    if (++calls == 1000) {
      throw std::domain_error("interrupted");
    }
  });
  EXPECT_THROW(simulator.step(1e6), std::domain_error);
  EXPECT_EQ(simulator.time(), 0.0);
  EXPECT_EQ(calls, 1000);
}

}  // namespace
}  // namespace kempe::test
