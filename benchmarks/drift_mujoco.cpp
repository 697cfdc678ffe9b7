#include "drift_mujoco.hpp"

#ifndef KEMPE_BENCH_MUJOCO

std::optional<kempe::test::Drift> kempe::bench::mujocoDrift(const test::DriftCase&, double,
                                                            double) {
  return std::nullopt;
}

#else

#include <mujoco/mujoco.h>

#include <memory>

#include "mujoco_mjcf.hpp"

namespace kempe::bench {
namespace {

struct Delete {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
  void operator()(mjData* data) const { mj_deleteData(data); }
};

/// Rows of equality constraints that are open, the largest.
double gapOf(const mjData& data) {
  double gap = 0.0;
  for (int i = 0; i < data.nefc; ++i) {
    if (data.efc_type[i] == mjCNSTR_EQUALITY) {
      gap = std::max(gap, std::abs(data.efc_pos[i]));
    }
  }
  return gap;
}

}  // namespace

std::optional<test::Drift> mujocoDrift(const test::DriftCase& given, double duration, double dt) {
  std::string message(1000, '\0');
  std::string text;
  try {
    text = mjcf(given.mechanism);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  mjSpec* spec =
      mj_parseXMLString(text.c_str(), nullptr, message.data(), static_cast<int>(message.size()));
  if (spec == nullptr) {
    return std::nullopt;
  }
  const std::unique_ptr<mjModel, Delete> model(mj_compile(spec, nullptr));
  mj_deleteSpec(spec);
  if (!model) {
    return std::nullopt;
  }
  model->opt.timestep = dt;
  model->opt.integrator = mjINT_RK4;
  model->opt.enableflags |= mjENBL_ENERGY;
  model->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS | mjDSBL_ACTUATION;
  const std::unique_ptr<mjData, Delete> data(mj_makeData(model.get()));

  const Model robot(given.mechanism);
  Data robotData(robot);
  const Eigen::VectorXd q = given.q(robot), v = Eigen::VectorXd::Constant(robot.nv(), given.rate);
  Eigen::VectorXd positions(robot.nqSpanning()), velocities(robot.nvSpanning());
  spanning(robot, robotData, q, v, positions, velocities);
  for (const std::string& name : robot.jointNames()) {
    const int joint = mj_name2id(model.get(), mjOBJ_JOINT, name.c_str());
    if (joint < 0 || velocitySize(given.mechanism.findJoint(name)->type) != 1) {
      return std::nullopt;
    }
    data->qpos[model->jnt_qposadr[joint]] = positions[robot.jointPositionIndex(name)];
    data->qvel[model->jnt_dofadr[joint]] = velocities[robot.jointVelocityIndex(name)];
  }
  mj_forward(model.get(), data.get());
  const double first = data->energy[0] + data->energy[1];
  double kinetic = data->energy[1], low = data->energy[0], high = low, error = 0.0;
  test::Drift drift;
  const auto steps = static_cast<long>(std::llround(duration / dt));
  for (long i = 1; i <= steps; ++i) {
    mj_step(model.get(), data.get());
    if (i % 10 == 0) {
      mj_forward(model.get(), data.get());
      kinetic = std::max(kinetic, data->energy[1]);
      low = std::min(low, data->energy[0]);
      high = std::max(high, data->energy[0]);
      error = std::max(error, std::abs(data->energy[0] + data->energy[1] - first));
      drift.loops = std::max(drift.loops, gapOf(*data));
    }
  }
  drift.until = duration;
  drift.energy = error / std::max(kinetic, high - low);
  return drift;
}

}  // namespace kempe::bench

#endif
