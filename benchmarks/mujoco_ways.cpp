#include <mujoco/mujoco.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "kempe/spatial/rotation.hpp"
#include "mujoco_mjcf.hpp"
#include "peer.hpp"

namespace kempe::bench {
namespace {

using Numbers = std::vector<double>;

/// A robot in MuJoCo. Of a free joint MuJoCo has velocity and force of the origin in the world's
/// axes, Kempe in the body's, and the quaternion's real part comes first.
class Simulated {
 public:
  Simulated(const PeerRobot& robot, mjtSolver solver) : robot_(robot) {
    std::string message(1000, '\0');
    mjSpec* spec = mj_parseXMLString(mjcf(robot.mechanism).c_str(), nullptr, message.data(),
                                     static_cast<int>(message.size()));
    if (spec == nullptr) {
      throw std::invalid_argument(message.c_str());
    }
    model_.reset(mj_compile(spec, nullptr));
    if (!model_) {
      message = mjs_getError(spec);
    }
    mj_deleteSpec(spec);
    if (!model_) {
      throw std::invalid_argument(message);
    }
    model_->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS |
                                mjDSBL_SPRING | mjDSBL_DAMPER | mjDSBL_ACTUATION | mjDSBL_SENSOR |
                                mjDSBL_ISLAND;
    model_->opt.solver = solver;
    data_.reset(mj_makeData(model_.get()));
    restoreInertias();
    for (const PeerState& state : robot.states) {
      addState(state);
    }
  }

  void forward(std::size_t i) {
    set(i);
    std::ranges::copy(states_[i].force, data_->qfrc_applied);
    mj_forward(model_.get(), data_.get());
    last_ = i;
  }
  void inverse(std::size_t i) {
    set(i);
    std::ranges::copy(states_[i].acceleration, data_->qacc);
    mj_inverse(model_.get(), data_.get());
    last_ = i;
  }

  /// Of the independent joints, in the model's order.
  [[nodiscard]] Numbers acceleration() const {
    return back(data_->qacc, [](const Vector3& a, const Vector3& angular, const Vector3& linear) {
      return a - cross(angular, linear);
    });
  }
  [[nodiscard]] Numbers force() const {
    return back(data_->qfrc_inverse,
                [](const Vector3& f, const Vector3&, const Vector3&) { return f; });
  }

 private:
  struct State {
    Numbers position, velocity, force, acceleration;
  };
  struct Free {
    Rotation R;
    Vector3 linear, angular;  // velocity in the body's axes
  };

  void set(std::size_t i) {
    const State& state = states_[i];
    std::ranges::copy(state.position, data_->qpos);
    std::ranges::copy(state.velocity, data_->qvel);
  }

  /// MuJoCo's compiler has changed inertias that no real body can have.
  void restoreInertias() {
    for (const Body& body : robot_.mechanism.bodies) {
      const int id = mj_name2id(model_.get(), mjOBJ_BODY, body.name.c_str());
      const SymMat3<double>& I = body.inertia;
      Eigen::Matrix3d matrix;
      matrix << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
      const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> principal(matrix);
      const Eigen::Vector3d& moments = principal.eigenvalues();  // ascending
      if (id < 1 || moments[0] + moments[1] >= moments[2]) {
        continue;
      }
      Eigen::Matrix3d axes = principal.eigenvectors();
      axes.col(2) = axes.col(0).cross(axes.col(1));
      const Eigen::Quaterniond turn(axes);
      const double quaternion[4] = {turn.w(), turn.x(), turn.y(), turn.z()};
      std::ranges::copy(moments, model_->body_inertia + 3 * id);
      std::ranges::copy(quaternion, model_->body_iquat + 4 * id);
    }
    mj_setConst(model_.get(), data_.get());
  }

  [[nodiscard]] int jointId(const std::string& name) const {
    return mj_name2id(model_.get(), mjOBJ_JOINT, name.c_str());
  }

  static Free freeOf(const PeerState& state, int p, int v) {
    const double* q = state.positions.data() + p;
    const double* u = state.velocities.data() + v;
    return {rotationFromQuaternion(Quaternion<double>{q[3], q[4], q[5], q[6]}),
            {u[0], u[1], u[2]},
            {u[3], u[4], u[5]}};
  }

  void addState(const PeerState& given) {
    Numbers force(static_cast<std::size_t>(robot_.nvSpanning), 0.0), acceleration = force;
    for (int i = 0; i < robot_.nv; ++i) {
      const auto place = static_cast<std::size_t>(robot_.independent[static_cast<std::size_t>(i)]);
      force[place] = given.tau[static_cast<std::size_t>(i)];
      acceleration[place] = given.tau[static_cast<std::size_t>(i)];
    }
    State& state = states_.emplace_back();
    state.position.resize(static_cast<std::size_t>(model_->nq));
    for (Numbers* x : {&state.velocity, &state.force, &state.acceleration}) {
      x->resize(static_cast<std::size_t>(model_->nv));
    }
    for (const auto& [name, v] : robot_.velocity) {
      const int p = robot_.position.at(name), id = jointId(name);
      double* position = state.position.data() + model_->jnt_qposadr[id];
      const int dof = model_->jnt_dofadr[id];
      const double* q = given.positions.data() + p;
      if (model_->jnt_type[id] == mjJNT_HINGE) {
        position[0] = q[0];
        state.velocity[static_cast<std::size_t>(dof)] =
            given.velocities[static_cast<std::size_t>(v)];
        state.force[static_cast<std::size_t>(dof)] = force[static_cast<std::size_t>(v)];
        state.acceleration[static_cast<std::size_t>(dof)] =
            acceleration[static_cast<std::size_t>(v)];
        continue;
      }
      const double there[7] = {q[0], q[1], q[2], q[6], q[3], q[4], q[5]};
      mju_copy(position, there, 7);
      const Free free = freeOf(given, p, v);
      const auto put = [&](Numbers& to, const Vector3& linear, const double* angular) {
        const Vector3 world = free.R * linear;
        const double all[6] = {world.x, world.y, world.z, angular[0], angular[1], angular[2]};
        mju_copy(to.data() + dof, all, 6);
      };
      const double *u = given.velocities.data() + v, *f = force.data() + v,
                   *a = acceleration.data() + v;
      put(state.velocity, free.linear, u + 3);
      put(state.force, {f[0], f[1], f[2]}, f + 3);
      put(state.acceleration, Vector3{a[0], a[1], a[2]} + cross(free.angular, free.linear), a + 3);
    }
  }

  template <typename Correct>
  Numbers back(const double* x, Correct correct) const {
    Numbers all(static_cast<std::size_t>(robot_.nvSpanning)), result;
    for (const auto& [name, v] : robot_.velocity) {
      const int id = jointId(name);
      const double* from = x + model_->jnt_dofadr[id];
      if (model_->jnt_type[id] == mjJNT_HINGE) {
        all[static_cast<std::size_t>(v)] = from[0];
        continue;
      }
      const Free free = freeOf(robot_.states[last_], robot_.position.at(name), v);
      const Vector3 world{from[0], from[1], from[2]};
      const Vector3 own = correct({dot(free.R.column(0), world), dot(free.R.column(1), world),
                                   dot(free.R.column(2), world)},
                                  free.angular, free.linear);
      const double there[6] = {own.x, own.y, own.z, from[3], from[4], from[5]};
      mju_copy(all.data() + v, there, 6);
    }
    for (const int place : robot_.independent) {
      result.push_back(all[static_cast<std::size_t>(place)]);
    }
    return result;
  }

  struct Deleter {
    void operator()(mjModel* m) const { mj_deleteModel(m); }
    void operator()(mjData* d) const { mj_deleteData(d); }
  };
  PeerRobot robot_;
  std::unique_ptr<mjModel, Deleter> model_;
  std::unique_ptr<mjData, Deleter> data_;
  std::vector<State> states_;
  std::size_t last_ = 0;
};

}  // namespace

std::vector<PeerWay> mujocoOpenTree(const PeerRobot& robot) {
  const auto shared = std::make_shared<Simulated>(robot, mjSOL_NEWTON);
  return {{.algorithm = "forward_dynamics",
           .name = "mj_forward",
           .compute = [shared](std::size_t i) { shared->forward(i); },
           .result = [shared] { return shared->acceleration(); }},
          {.algorithm = "inverse_dynamics",
           .name = "mj_inverse",
           .compute = [shared](std::size_t i) { shared->inverse(i); },
           .result = [shared] { return shared->force(); }}};
}

std::vector<PeerWay> mujocoExact(const PeerRobot& robot) {
  std::vector<PeerWay> ways;
  if (!robot.mechanism.rods.empty() || !robot.mechanism.functions.empty()) {
    return ways;  // MuJoCo has no such constraints
  }
  for (const auto& [name, solver] :
       {std::pair{"newton", mjSOL_NEWTON}, std::pair{"cg", mjSOL_CG}}) {
    const auto shared = std::make_shared<Simulated>(robot, solver);
    ways.push_back({.algorithm = "forward_dynamics",
                    .name = name,
                    .compute = [shared](std::size_t i) { shared->forward(i); },
                    .result = [shared] { return shared->acceleration(); },
                    .tolerance = 0.1});  // constraints are soft
  }
  return ways;
}

std::string mujocoVersion() {
  return mj_versionString();
}

}  // namespace kempe::bench
