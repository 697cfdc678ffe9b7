#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <functional>

#include "dynamics/flexible_mechanisms.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"
#include "support/differences.hpp"

/// Forces between bodies that bend, against momentum and against dense equations of motion.
namespace kempe::test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

Vector3d eigen(const Vector3& x) {
  return {x.x, x.y, x.z};
}
Matrix3d eigen(const SymMat3<double>& A) {
  Matrix3d m;
  m << A.xx, A.xy, A.xz, A.xy, A.yy, A.yz, A.xz, A.yz, A.zz;
  return m;
}
Matrix3d crossMatrix(const Vector3d& p) {
  Matrix3d m;
  m << 0, -p.z(), p.y(), p.z(), 0, -p.x(), -p.y(), p.x(), 0;
  return m;
}

/// The integrals of a flexible body at η, from its description alone.
struct Integrals {
  MatrixXd I;  ///< 6 × 6, of [linear; angular] about the body's origin, in its axes
  MatrixXd C;  ///< 6 × modes

  Integrals(const FlexibleBody& body, const VectorXd& eta) {
    const auto n = static_cast<Eigen::Index>(body.modes.size());
    Vector3d h = eigen(body.rigid.moment);
    Matrix3d J = eigen(body.rigid.rotation);
    C.setZero(6, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Mode& mode = body.modes[static_cast<std::size_t>(i)];
      h += eta[i] * eigen(mode.linear);
      J += eta[i] * eigen(mode.inertia);
      C.col(i) << eigen(mode.linear), eigen(mode.angular);
      for (Eigen::Index j = 0; j < n; ++j) {
        const ModePair& pair = body.pairs[static_cast<std::size_t>(i * n + j)];
        h += 0.5 * eta[i] * eta[j] * eigen(pair.linear);
        J += 0.5 * eta[i] * eta[j] * eigen(pair.inertia);
        C.col(i).head(3) += eta[j] * eigen(pair.linear);
        C.col(i).tail(3) += eta[j] * eigen(pair.angular);
      }
    }
    I.setZero(6, 6);
    I.topLeftCorner(3, 3) = body.rigid.mass * Matrix3d::Identity();
    I.topRightCorner(3, 3) = -crossMatrix(h);
    I.bottomLeftCorner(3, 3) = crossMatrix(h);
    I.bottomRightCorner(3, 3) = J;
  }
};

class FlexibleForces : public ::testing::TestWithParam<Bending> {
 protected:
  FlexibleForces() : robot(flexibleTree(GetParam())), model(robot), data(model), n(model.nv()) {
    std::mt19937 engine(GetParam().seed + 200);
    std::normal_distribution<double> normal;
    q = model.randomConfiguration(GetParam().seed + 7);
    const auto draw = [&](int size) {
      return VectorXd(VectorXd::NullaryExpr(size, [&] { return normal(engine); }));
    };
    v = draw(n);
    tau = draw(n);
    external.push_back({model.frameIndex("arm/7"), {1, -2, 3, 0.4, -0.5, 0.6}, Reference::Local});
    external.push_back({model.frameIndex("tip"), {-3, 2, 1, 0.1, 0.2, 0.3}});
    external.push_back({model.frameIndex("arm"), {2, 1, -1, 0.3, 0.1, 0.2}, Reference::World});
    a = VectorXd(n);
    forwardDynamics(model, data, q, v, tau, a, {.external = external});
  }

  ForceOptions options(Reference reference) const {
    return {.external = external, .reference = reference};
  }
  int joints() const { return static_cast<int>(model.jointNames().size()); }
  MatrixXd jointForcesOf(const ForceOptions& how) {
    MatrixXd forces = poisoned(6, joints());
    jointForces(model, data, q, v, tau, forces, how);
    return forces;
  }
  VectorXd loopForcesOf(const ForceOptions& how) {
    VectorXd forces = poisoned(model.nLoopForces());
    loopForces(model, data, q, v, tau, forces, how);
    return forces;
  }

  double scaleOf(const VectorXd& accelerations) {
    MatrixXd H(n, n);
    massMatrix(model, data, q, H);
    return H.cwiseAbs().rowwise().sum().dot(accelerations.cwiseAbs()) + tau.norm();
  }

  VectorXd qAt(double by) {
    VectorXd to(model.nq());
    integrate(model, data, q, v + 0.5 * by * a, by, to);
    return to;
  }
  VectorXd vAt(double by) const { return v + by * a; }

  /// The moving joint that carries a body; empty for those fixed to the world.
  std::string carrierOf(std::string body) const {
    for (;;) {
      const auto& all = model.mechanism().joints;
      const auto joint = std::ranges::find(all, body, &Joint::child);
      if (joint == all.end()) {
        return "";
      }
      if (joint->type != JointType::Fixed) {
        return joint->name;
      }
      body = joint->parent;
    }
  }

  /// [linear; angular] momentum about the world's origin of everything that a joint's child is.
  VectorXd momentumOf(const std::string& joint, const VectorXd& at, const VectorXd& rates) {
    VectorXd sum = VectorXd::Zero(6);
    for (const Body& body : model.mechanism().bodies) {
      if (body.mass <= 0.0 || carrierOf(body.name) != joint) {
        continue;
      }
      // The mass of a flexible body is on "<body>/mode1".
      const auto bends = std::ranges::find_if(
          robot.flexibleBodies,
          [&](const FlexibleBody& flexible) { return flexible.body + "/mode1" == body.name; });
      const bool rigid = bends == robot.flexibleBodies.end();
      const int frame = model.frameIndex(rigid ? body.name : bends->body);
      const Pose X = framePlacement(model, data, at, frame);
      VectorXd velocity(6);
      frameVelocity(model, data, at, rates, frame, velocity, Reference::Local);
      VectorXd p;
      if (rigid) {
        const Vector3d c = eigen(body.centerOfMass), w = velocity.tail(3);
        const Vector3d linear = body.mass * (velocity.head<3>() + w.cross(c));
        p = VectorXd(6);
        p << linear, eigen(body.inertia) * w + c.cross(linear);
      } else {
        const auto [eta, etaRates] = modesOf(*bends, at, rates);
        const Integrals integrals(*bends, eta);
        p = integrals.I * velocity + integrals.C * etaRates;
      }
      Matrix3d R;
      for (int i = 0; i < 3; ++i) {
        R.col(i) = eigen(X.R.column(i));
      }
      const Vector3d force = R * p.head(3), origin = eigen(X.p);
      sum.head(3) += force;
      sum.tail(3) += R * p.tail(3) + origin.cross(force);
    }
    return sum;
  }

  std::pair<VectorXd, VectorXd> modesOf(const FlexibleBody& body, const VectorXd& at,
                                        const VectorXd& rates) {
    VectorXd positions(model.nqSpanning()), velocities(model.nvSpanning());
    spanning(model, data, at, rates, positions, velocities);
    const int modes = static_cast<int>(body.modes.size());
    return {positions.segment(model.jointPositionIndex(body.body + "/mode1"), modes),
            velocities.segment(model.jointVelocityIndex(body.body + "/mode1"), modes)};
  }

  /// Mass of everything that a joint's child is, and mass × centre in the world.
  std::pair<double, Vector3d> massOf(const std::string& joint) {
    double mass = 0.0;
    Vector3d moment = Vector3d::Zero();
    for (const Body& body : model.mechanism().bodies) {
      if (body.mass <= 0.0 || carrierOf(body.name) != joint) {
        continue;
      }
      const auto bends = std::ranges::find_if(
          robot.flexibleBodies,
          [&](const FlexibleBody& flexible) { return flexible.body + "/mode1" == body.name; });
      const bool rigid = bends == robot.flexibleBodies.end();
      const Pose X =
          framePlacement(model, data, q, model.frameIndex(rigid ? body.name : bends->body));
      Vector3 h = body.mass * body.centerOfMass;
      if (!rigid) {
        const MatrixXd I = Integrals(*bends, modesOf(*bends, q, v).first).I;
        h = {I(5, 1), I(3, 2), I(4, 0)};
      }
      mass += body.mass;
      moment += eigen(X.R * h + body.mass * X.p);
    }
    return {mass, moment};
  }

  /// Motion [linear; angular] of a node along a mode, in the axes of the world.
  VectorXd directionOf(const FlexibleBody& body, const FlexibleNode& node, Eigen::Index mode) {
    const VectorXd eta = modesOf(body, q, v).first;
    const auto modes = eta.size();
    Vector3d along = eigen(node.shapes[static_cast<std::size_t>(mode)].translation);
    for (Eigen::Index j = 0; !node.shortening.empty() && j < modes; ++j) {
      along += eta[j] * eigen(node.shortening[static_cast<std::size_t>(mode * modes + j)]);
    }
    const auto turn = [&](double x) {
      Vector3d theta = Vector3d::Zero();
      for (Eigen::Index j = 0; j < modes; ++j) {
        theta += (eta[j] + (j == mode ? x : 0.0)) *
                 eigen(node.shapes[static_cast<std::size_t>(j)].rotation);
      }
      return Eigen::AngleAxisd(theta.norm(), theta.normalized()).toRotationMatrix();
    };
    const VectorXd rate = differentiated([&](double x) {
      const Matrix3d R = turn(x) * turn(0).transpose();
      return VectorXd(0.5 * Vector3d(R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1)));
    });
    const Rotation X = framePlacement(model, data, q, model.frameIndex(body.body)).R;
    VectorXd direction(6);
    direction << eigen(X * Vector3{along.x(), along.y(), along.z()}),
        eigen(X * Vector3{rate[0], rate[1], rate[2]});
    return direction;
  }

  /// External forces on everything that a joint's child is, about the world's origin.
  VectorXd externalOn(const std::string& joint) {
    VectorXd sum = VectorXd::Zero(6);
    for (const FrameForce& force : external) {
      const std::string& name = model.frameNames()[static_cast<std::size_t>(force.frame)];
      // The frame of a flexible body moves with the joint above it.
      if (carrierOf(name) != joint) {
        continue;
      }
      const Pose X = framePlacement(model, data, q, force.frame);
      const Vector3 f{force.wrench[0], force.wrench[1], force.wrench[2]};
      const Vector3 m{force.wrench[3], force.wrench[4], force.wrench[5]};
      const bool local = force.reference == Reference::Local;
      const Vector3 F = local ? X.R * f : f;
      const Vector3 M =
          (local ? X.R * m : m) + (force.reference == Reference::World ? Vector3{} : cross(X.p, F));
      sum.head(3) += eigen(F);
      sum.tail(3) += eigen(M);
    }
    return sum;
  }

  Mechanism robot;
  Model model;
  Data data;
  int n;
  VectorXd q, v, a, tau;
  std::vector<FrameForce> external;
};

TEST_P(FlexibleForces, ObeyNewtonAndEuler) {
  const MatrixXd forces = jointForcesOf(options(Reference::World));
  const VectorXd loops = loopForcesOf(options(Reference::World));
  const Vector3d gravity = eigen(model.gravity());
  for (int j = 0; j < joints(); ++j) {
    const std::string& name = model.jointNames()[static_cast<std::size_t>(j)];
    VectorXd sum = forces.col(j);
    double scale = std::max(1.0, sum.norm());
    const auto add = [&](const VectorXd& w) {
      sum += w;
      scale = std::max(scale, w.norm());
    };
    for (int k = 0; k < joints(); ++k) {
      const Joint& child =
          *model.mechanism().findJoint(model.jointNames()[static_cast<std::size_t>(k)]);
      if (carrierOf(child.parent) == name) {
        add(-forces.col(k));
      }
    }
    for (const LoopInfo& loop : model.loops()) {
      const VectorXd w = loops.segment(loop.firstForce, 6);
      if (carrierOf(loop.bodies[0]) == name) {
        add(-w);
      }
      if (carrierOf(loop.bodies[1]) == name) {
        add(w);
      }
    }
    const auto [mass, moment] = massOf(name);
    VectorXd weight(6);
    weight << mass * gravity, moment.cross(gravity);
    add(weight);
    add(externalOn(name));
    const VectorXd rate =
        differentiated([&](double t) { return momentumOf(name, qAt(t), vAt(t)); }, 1e-4);
    EXPECT_LE((sum - rate).norm(), 1e-6 * std::max(scale, rate.norm()))
        << name << "\nforces " << sum.transpose() << "\nrate " << rate.transpose();
  }
}

/// The forces on a body along its modes: those at its nodes and of its elasticity.
TEST_P(FlexibleForces, BalanceElasticForces) {
  const MatrixXd forces = jointForcesOf(options(Reference::LocalWorldAligned));
  for (const FlexibleBody& body : robot.flexibleBodies) {
    const auto modes = static_cast<Eigen::Index>(body.modes.size());
    const int frame = model.frameIndex(body.body);
    const auto velocityAt = [&](const VectorXd& at, const VectorXd& rates) {
      VectorXd velocity(6);
      frameVelocity(model, data, at, rates, frame, velocity, Reference::Local);
      return velocity;
    };
    // d/dt ∂T/∂η̇ − ∂(T − V)/∂η + damping, with T of the body's velocity and η̇.
    const VectorXd momentumRate = differentiated(
        [&](double t) {
          const auto [eta, rates] = modesOf(body, qAt(t), vAt(t));
          VectorXd p = Integrals(body, eta).C.transpose() * velocityAt(qAt(t), vAt(t));
          for (Eigen::Index i = 0; i < modes; ++i) {
            p[i] += body.modes[static_cast<std::size_t>(i)].mass * rates[i];
          }
          return p;
        },
        1e-4);
    const std::pair<VectorXd, VectorXd> modal = modesOf(body, q, v);
    const VectorXd &eta = modal.first, &rates = modal.second;
    const VectorXd velocity = velocityAt(q, v);
    const Pose X = framePlacement(model, data, q, frame);
    const Vector3d gravity = eigen(transposeTimes(X.R, model.gravity()));
    const auto lagrangian = [&](const VectorXd& at) {
      const Integrals integrals(body, at);
      const Vector3d h(integrals.I(5, 1), integrals.I(3, 2), integrals.I(4, 0));
      return 0.5 * velocity.dot(integrals.I * velocity) + velocity.dot(integrals.C * rates) +
             gravity.dot(h);
    };
    for (Eigen::Index i = 0; i < modes; ++i) {
      const Mode& mode = body.modes[static_cast<std::size_t>(i)];
      const double slope = differentiated([&](double x) {
        return VectorXd::Constant(1, lagrangian(eta + x * VectorXd::Unit(modes, i)));
      })[0];
      const double own =
          momentumRate[i] - slope + mode.stiffness * eta[i] + mode.damping * rates[i];
      const auto place =
          std::ranges::find(model.vNames(), body.body + "/mode" + std::to_string(i + 1));
      const bool independent = place != model.vNames().end();
      double given = independent ? tau[place - model.vNames().begin()] : 0.0;
      double scale =
          std::abs(mode.stiffness * eta[i]) + std::abs(momentumRate[i]) + std::abs(slope);
      for (const FlexibleNode& node : body.nodes) {
        const auto name = std::ranges::find(model.jointNames(), body.body + "/" + node.name);
        const auto column = name - model.jointNames().begin();
        const VectorXd along = directionOf(body, node, i);
        given -= forces.col(column).dot(along);
        scale = std::max(scale, forces.col(column).norm());
      }
      EXPECT_NEAR(own, given, 1e-6 * std::max(1.0, scale)) << body.body << ", mode " << i + 1;
    }
  }
}

TEST_P(FlexibleForces, InverseDynamicsGivesTheSameForces) {
  for (const Reference reference : {Reference::LocalWorldAligned, Reference::Local}) {
    const ForceOptions how = options(reference);
    VectorXd back = poisoned(n), loops = poisoned(model.nLoopForces());
    MatrixXd forces = poisoned(6, joints());
    inverseDynamicsAndForces(model, data, q, v, a, back, forces, loops, how);
    EXPECT_TRUE(closeTo(forces, jointForcesOf(how), 1e-7));
    EXPECT_TRUE(closeTo(loops, loopForcesOf(how), 1e-7));
    EXPECT_LE((back - tau).norm(), 1e-6 * (1.0 + forces.norm()));
  }
}

TEST_P(FlexibleForces, AllocateNothing) {
  MatrixXd forces(6, joints());
  VectorXd loops(model.nLoopForces()), out(n);
  const ForceOptions how = options(Reference::World);
  const auto all = [&] {
    forwardDynamicsAndForces(model, data, q, v, tau, out, forces, loops, how);
    inverseDynamics(model, data, q, v, a, out, {.external = external});
    energy(model, data, q, v);
  };
  all();
  EXPECT_EQ(allocationsOf(all), 0);
}

TEST_P(FlexibleForces, SinglePrecisionIsClose) {
  BasicData<float> single(model);
  const Eigen::VectorXf q1 = q.cast<float>(), v1 = v.cast<float>(), a1 = a.cast<float>();
  Eigen::VectorXf found(n);
  inverseDynamics<float>(model, single, q1, v1, a1, found, {.external = external});
  EXPECT_LE((found.cast<double>() - tau).norm(), 1e-3 * (1.0 + scaleOf(a)));
  Eigen::MatrixXf H(n, n);
  massMatrix<float>(model, single, q1, H);
  MatrixXd expected(n, n);
  massMatrix(model, data, q, expected);
  EXPECT_TRUE(closeTo(H.cast<double>(), expected, 1e-4));
  Eigen::MatrixXf forces(6, joints());
  Eigen::VectorXf loops(model.nLoopForces()), tau1(n);
  inverseDynamicsAndForces<float>(model, single, q1, v1, a1, tau1, forces, loops,
                                  options(Reference::World));
  const MatrixXd whole = jointForcesOf(options(Reference::World));
  EXPECT_LE((forces.cast<double>() - whole).norm(), 1e-2 * (1.0 + whole.norm()));
}

/// A state that is not a number leaves the others of its pack alone.
TEST_P(FlexibleForces, BatchesKeepStatesApart) {
  Batch batch(model);
  constexpr int kStates = 9, kPoisoned = 4;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto statesOf = [](Rows& rows) {
    return States<double>(rows.data(), rows.rows(), rows.cols());
  };
  Rows qs(kStates, model.nq()), vs(kStates, n), taus(kStates, n), found(kStates, n);
  for (int i = 0; i < kStates; ++i) {
    qs.row(i) = model.randomConfiguration(static_cast<unsigned>(i)).transpose();
    vs.row(i) = v.transpose();
    taus.row(i) = tau.transpose();
  }
  vs(kPoisoned, 0) = 1e250;  // its square is infinite
  EXPECT_NO_THROW(
      forwardDynamics(model, batch, statesOf(qs), statesOf(vs), statesOf(taus), statesOf(found)));
  for (int i = 0; i < kStates; ++i) {
    VectorXd alone(n);
    if (i != kPoisoned) {
      forwardDynamics(model, data, qs.row(i).transpose(), v, tau, alone);
      EXPECT_LE((found.row(i).transpose() - alone).norm(), 1e-7 * (1.0 + alone.norm())) << i;
    }
  }
}

TEST_P(FlexibleForces, ConstraintsHoldNodes) {
  // A ball joint between two nodes that the mechanism does not hold, against dense multipliers.
  Constraints constraints(model);
  LoopJoint joint{.name = "hold", .type = LoopType::Spherical};
  joint.from("arm/7").to("finger/2");
  constraints.add(joint);
  VectorXd found = poisoned(n), multipliers = poisoned(3);
  constrainedForwardDynamics(model, data, constraints, 0.0, q, v, tau, found, multipliers,
                             {.external = external});
  MatrixXd K(3, n), H(n, n);
  constraintRows(model, data, constraints, 0.0, q, K);
  massMatrix(model, data, q, H);
  EXPECT_LE((H * (found - a) - K.transpose() * multipliers).norm(),
            1e-7 * (1.0 + (K.transpose() * multipliers).norm()));
  const VectorXd rate = differentiated(
      [&](double t) {
        MatrixXd there(3, n);
        VectorXd at(model.nq());
        integrate(model, data, q, v + 0.5 * t * found, t, at);
        constraintRows(model, data, constraints, 0.0, at, there);
        return VectorXd(there * (v + t * found));
      },
      1e-4);
  EXPECT_LE(rate.norm(), 1e-5 * (1.0 + (K * found).norm() + found.norm()));
}

INSTANTIATE_TEST_SUITE_P(Random, FlexibleForces,
                         ::testing::Values(Bending{11}, Bending{12, true},
                                           Bending{13, false, true, true},
                                           Bending{14, true, false, true},
                                           Bending{.seed = 15, .hung = true, .pair = true}));

/// Beams that loops bind so much that modes depend on one another: their forces against those of the
/// same beams with the loop open.
struct Flexure {
  std::string name;
  std::function<Mechanism(bool closed)> make;
  std::string predecessor, successor;  ///< frames that the loop holds together
};

BeamOptions springLeaf() {
  BeamOptions beam{
      .length = 0.4, .E = 7e10, .density = 2700, .area = 6e-5, .Iy = 2e-10, .Iz = 8e-10};
  beam.J = 5e-10;
  beam.interface = {"5", "end"};
  beam.modes = 14;
  beam.damping = 0.01;
  return beam;
}

Mechanism clampedTwice(bool closed) {
  Mechanism m("clamped_twice");
  m.addBody("world");
  m.addBeam("rod", springLeaf());
  m.addFixed("clamp").from("world").to("rod");
  m.addBody("weight").withMass(0.2).withInertia(1e-5, 1e-5, 1e-5);
  m.addBody("wall");  // where the far end is held
  m.addFixed("wall_clamp").from("world").to("wall").at({0.4, 0, 0});
  m.addRevolute("hook").from("rod", "5").to("weight").about({0, 0, 1});
  if (closed) {
    auto& loop = m.addLoop("far_clamp", LoopType::Fixed);
    loop.from("rod").to("wall");
    loop.predecessor.node = "end";
  }
  return m;
}

Mechanism parallelogram(bool closed) {
  Mechanism m("parallelogram");
  m.addBody("world");
  m.addBeam("left", springLeaf());
  m.addFixed("left_clamp").from("world").to("left");
  m.addBeam("right", springLeaf());
  m.addFixed("right_clamp").from("world").to("right").at({0, 0, 0.1});
  m.addBody("stage").withMass(0.5).centeredAt({0, 0, 0.05}).withInertia(1e-3, 2e-3, 3e-3);
  m.addFixed("foot").from("left", "end").to("stage");
  if (closed) {
    auto& loop = m.addLoop("other_foot", LoopType::Fixed);
    loop.from("right").to("stage", at({0, 0, 0.1}));
    loop.predecessor.node = "end";
  }
  return m;
}

class Flexures : public ::testing::TestWithParam<Flexure> {};

TEST_P(Flexures, LoopForcesAreThoseOfDenseMultipliers) {
  const Model model(GetParam().make(true)), open(GetParam().make(false));
  Data data(model), openData(open);
  const int n = model.nv(), N = open.nv();
  ASSERT_EQ(n, N - 6);
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  VectorXd small = VectorXd::NullaryExpr(n, [&] { return 1e-5 * normal(engine); });
  VectorXd q(model.nq());
  integrate(model, data, model.neutral(), small, 1.0, q);
  const VectorXd v = VectorXd::NullaryExpr(n, [&] { return 1e-2 * normal(engine); });
  VectorXd tau = VectorXd::NullaryExpr(n, [&] { return normal(engine); });
  VectorXd positions(model.nqSpanning()), rates(model.nvSpanning()), spanned(model.nvSpanning());
  spanning(model, data, q, v, positions, rates);
  // The spanning coordinates in the order of the open mechanism; τ acts at independent ones.
  VectorXd Q(N), V(N), T = VectorXd::Zero(N);
  for (int i = 0; i < N; ++i) {
    const std::string& name = open.vNames()[static_cast<std::size_t>(i)];
    Q[i] = positions[model.jointPositionIndex(name)];
    V[i] = rates[model.jointVelocityIndex(name)];
    const auto at = std::ranges::find(model.vNames(), name);
    if (at != model.vNames().end()) {
      T[i] = tau[at - model.vNames().begin()];
    }
  }
  MatrixXd H(N, N), Jp(6, N), Js(6, N);
  VectorXd bias(N), ap(6), as(6);
  const VectorXd none = VectorXd::Zero(N);
  massMatrix(open, openData, Q, H);
  biasForces(open, openData, Q, V, bias);
  const int p = open.frameIndex(GetParam().predecessor), s = open.frameIndex(GetParam().successor);
  frameJacobian(open, openData, Q, p, Jp);
  frameJacobian(open, openData, Q, s, Js);
  frameAcceleration(open, openData, Q, V, none, p, ap);
  frameAcceleration(open, openData, Q, V, none, s, as);
  // The frames coincide, but for the place of the stage's own.
  const Vector3 offset =
      framePlacement(open, openData, Q, p).p - framePlacement(open, openData, Q, s).p;
  const Vector3d r = eigen(offset);
  VectorXd velocity(6);
  frameVelocity(open, openData, Q, V, s, velocity);
  const Vector3d w = velocity.tail(3), alpha = as.tail(3);
  as.head(3) += alpha.cross(r) + w.cross(w.cross(r));
  for (int j = 0; j < N; ++j) {
    Js.col(j).head<3>() += Vector3d(Js.col(j).tail<3>()).cross(r);
  }
  // H a + bias = T + Kᵀ λ with λ the wrench on the successor; K a = −K̇ V.
  const MatrixXd K = Js - Jp;
  MatrixXd saddle = MatrixXd::Zero(N + 6, N + 6);
  saddle << H, -K.transpose(), K, MatrixXd::Zero(6, 6);
  VectorXd right(N + 6);
  right << T - bias, ap - as;
  const VectorXd solution = saddle.fullPivLu().solve(right);
  VectorXd loops = poisoned(6), a = poisoned(n), back = poisoned(n), backLoops = poisoned(6);
  MatrixXd forces(6, static_cast<int>(model.jointNames().size()));
  forwardDynamicsAndForces(model, data, q, v, tau, a, forces, loops);
  for (int i = 0; i < N; ++i) {
    const auto at = std::ranges::find(model.vNames(), open.vNames()[static_cast<std::size_t>(i)]);
    if (at != model.vNames().end()) {
      EXPECT_NEAR(a[at - model.vNames().begin()], solution[i],
                  1e-7 * (1.0 + solution.head(N).norm()));
    }
  }
  EXPECT_LE((loops - solution.tail(6)).norm(), 1e-6 * (1.0 + solution.tail(6).norm()))
      << loops.transpose() << "\n"
      << solution.tail(6).transpose();
  inverseDynamicsAndForces(model, data, q, v, a, back, forces, backLoops);
  EXPECT_LE((backLoops - loops).norm(), 1e-6 * (1.0 + loops.norm()));
}

TEST_P(Flexures, WarningsNameModesThatFollow) {
  const Model model(GetParam().make(true));
  bool bound = false;
  for (const std::string& warning : model.warnings()) {
    bound = bound || warning.find("bind flexible bodies") != std::string::npos;
    EXPECT_EQ(warning.find("marked"), std::string::npos) << warning;
  }
  EXPECT_TRUE(bound);
}

INSTANTIATE_TEST_SUITE_P(
    Beams, Flexures,
    ::testing::Values(Flexure{"clamped_twice", clampedTwice, "rod/end", "wall"},
                      Flexure{"parallelogram", parallelogram, "right/end", "stage"}),
    [](const ::testing::TestParamInfo<Flexure>& flexure) { return flexure.param.name; });

TEST(FlexibleForces, AFixedJointTransmitsTheWeightOfItsBeam) {
  Mechanism m("console");
  m.addBody("world");
  BeamOptions beam = springLeaf();
  m.addBeam("rod", beam);
  m.addFixed("clamp").from("world").to("rod");
  const Model model(m);
  Data data(model);
  VectorXd q(model.nq());
  const VectorXd zero = VectorXd::Zero(model.nv());
  staticDeflection(model, data, model.neutral(), zero, q);
  MatrixXd forces = poisoned(6, static_cast<int>(model.jointNames().size()));
  jointForces(model, data, q, zero, zero, forces);
  const double weight = 9.81 * beam.density * beam.area * beam.length;
  const auto column =
      std::ranges::find(model.jointNames(), "rod/mode1") - model.jointNames().begin();
  VectorXd expected(6);
  expected << 0, 0, weight, 0, -0.5 * weight * beam.length, 0;
  // The bent beam is a little shorter.
  EXPECT_TRUE(closeTo(forces.col(column), expected, 1e-4));
}

}  // namespace
}  // namespace kempe::test
