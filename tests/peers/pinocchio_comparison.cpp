#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <functional>
#include <map>
#include <ostream>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <random>

#include "kempe/kempe.hpp"
#include "support/close_to.hpp"
#include "support/frames.hpp"
#include "support/random_mechanism.hpp"

/// Trees, and mechanisms with their loops cut, against Pinocchio; mechanisms with loops against
/// Pinocchio's quantities of the spanning tree, projected by G.
namespace kempe::test {
namespace {

Eigen::Vector3d vectorOf(const Vector3& x) {
  return {x.x, x.y, x.z};
}

pinocchio::SE3 placementOf(const Pose& pose) {
  Eigen::Matrix3d R;
  for (int j = 0; j < 3; ++j) {
    R.col(j) = vectorOf(pose.R.column(j));
  }
  return {R, vectorOf(pose.p)};
}

pinocchio::Inertia inertiaOf(const Body& body) {
  const SymMat3<double>& I = body.inertia;
  Eigen::Matrix3d rotational;
  rotational << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
  return {body.mass, vectorOf(body.centerOfMass), rotational};
}

/// The joint types that are used here. Pinocchio's own collection has five times as many and takes
/// four times as long to compile.
template <typename S, int Options>
struct FewJoints {
  using Scalar = S;
  using JointModelVariant = boost::variant<pinocchio::JointModelRevoluteUnalignedTpl<S, Options>,
                                           pinocchio::JointModelPrismaticUnalignedTpl<S, Options>,
                                           pinocchio::JointModelHelicalUnalignedTpl<S, Options>,
                                           pinocchio::JointModelSphericalTpl<S, Options>,
                                           pinocchio::JointModelFreeFlyerTpl<S, Options>>;
  using JointDataVariant = boost::variant<pinocchio::JointDataRevoluteUnalignedTpl<S, Options>,
                                          pinocchio::JointDataPrismaticUnalignedTpl<S, Options>,
                                          pinocchio::JointDataHelicalUnalignedTpl<S, Options>,
                                          pinocchio::JointDataSphericalTpl<S, Options>,
                                          pinocchio::JointDataFreeFlyerTpl<S, Options>>;
};
using PeerModel = pinocchio::ModelTpl<double, 0, FewJoints>;
using PeerData = pinocchio::DataTpl<double, 0, FewJoints>;

/// The spanning tree of a mechanism in Pinocchio, and the way between the two orders of numbers.
/// Joints that Pinocchio writes otherwise become two or three in series.
class PinocchioTree {
 public:
  explicit PinocchioTree(const Model& model) : robot_(model.mechanism()) {
    const Vector3& g = robot_.gravity;
    tree_.gravity.linear() = vectorOf(g);
    for (const Body& body : robot_.bodies) {
      if (robot_.jointAbove(body.name) == nullptr) {
        addChildren(body.name, 0, pinocchio::SE3::Identity());
      }
    }
    data_ = PeerData(tree_);
    // Pinocchio's number i is the model's spanning number position_[i] or velocity_[i].
    position_.resize(tree_.nq);
    velocity_.resize(tree_.nv);
    for (const auto& [name, parts] : parts_) {
      int p = model.jointPositionIndex(name), v = model.jointVelocityIndex(name);
      for (const pinocchio::JointIndex part : parts) {
        for (int i = 0; i < tree_.nqs[part]; ++i) {
          position_[tree_.idx_qs[part] + i] = p++;
        }
        for (int i = 0; i < tree_.nvs[part]; ++i) {
          tree_.armature[tree_.idx_vs[part] + i] = robot_.findJoint(name)->armature;
          velocity_[tree_.idx_vs[part] + i] = v++;
        }
      }
    }
  }

  [[nodiscard]] Eigen::VectorXd inverseDynamics(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                                const Eigen::VectorXd& a) {
    const Eigen::VectorXd tau =
        pinocchio::rnea(tree_, data_, q(position_), v(velocity_), a(velocity_));
    return back(tau);
  }
  [[nodiscard]] Eigen::VectorXd forwardDynamics(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                                const Eigen::VectorXd& tau) {
    const Eigen::VectorXd a =
        pinocchio::aba(tree_, data_, q(position_), v(velocity_), tau(velocity_));
    return back(a);
  }
  [[nodiscard]] Eigen::MatrixXd massMatrix(const Eigen::VectorXd& q) {
    Eigen::MatrixXd upper = pinocchio::crba(tree_, data_, q(position_));
    upper.triangularView<Eigen::StrictlyLower>() = upper.transpose();
    Eigen::MatrixXd M(tree_.nv, tree_.nv);
    M(velocity_, velocity_) = upper;
    return M;
  }
  [[nodiscard]] int nv() const { return tree_.nv; }

 private:
  [[nodiscard]] Eigen::VectorXd back(const Eigen::VectorXd& x) const {
    Eigen::VectorXd result(tree_.nv);
    result(velocity_) = x;
    return result;
  }

  /// Depth first, as Pinocchio's algorithms expect. `placement` is the body's in `parent`.
  void addChildren(const std::string& body, pinocchio::JointIndex parent,
                   const pinocchio::SE3& placement) {
    for (const Joint& joint : robot_.joints) {
      if (joint.parent != body) {
        continue;
      }
      pinocchio::SE3 frame = placement * placementOf(joint.origin);
      const pinocchio::JointIndex id = addJoint(joint, parent, frame);
      if (id != parent) {
        frame.setIdentity();
      }
      tree_.appendBodyToJoint(id, inertiaOf(*robot_.findBody(joint.child)), frame);
      addChildren(joint.child, id, frame);
    }
  }

  pinocchio::JointIndex addJoint(const Joint& joint, pinocchio::JointIndex parent,
                                 pinocchio::SE3 frame) {
    const Eigen::Vector3d axis = vectorOf(unit(joint.axis));
    const auto add = [&](const auto& type) {
      std::vector<pinocchio::JointIndex>& parts = parts_[joint.name];
      parent = tree_.addJoint(parent, type, frame, joint.name + std::to_string(parts.size()));
      parts.push_back(parent);
      frame.setIdentity();
    };
    const auto turn = [&](const Eigen::Vector3d& about) {
      add(pinocchio::JointModelRevoluteUnaligned(about));
    };
    const auto slide = [&](const Eigen::Vector3d& along) {
      add(pinocchio::JointModelPrismaticUnaligned(along));
    };
    switch (joint.type) {
      case JointType::Fixed:
        break;
      case JointType::Revolute:
      case JointType::Continuous:
        turn(axis);
        break;
      case JointType::Prismatic:
        slide(axis);
        break;
      case JointType::Helical:
        add(pinocchio::JointModelHelicalUnaligned(axis, joint.pitch));
        break;
      case JointType::Cylindrical:
        turn(axis);
        slide(axis);
        break;
      case JointType::Universal:
        turn(axis);
        turn(vectorOf(unit(joint.axis2)));
        break;
      case JointType::Planar:
        for (const Vector3& direction : planarDirections(joint.axis)) {
          slide(vectorOf(direction));
        }
        turn(axis);
        break;
      case JointType::Spherical:
        add(pinocchio::JointModelSpherical());
        break;
      case JointType::Free:
        add(pinocchio::JointModelFreeFlyer());
        break;
    }
    return parent;
  }

  const Mechanism& robot_;
  PeerModel tree_;
  PeerData data_;
  std::map<std::string, std::vector<pinocchio::JointIndex>> parts_;  ///< by joint
  Eigen::VectorXi position_, velocity_;
};

struct Case {
  std::string name;
  std::function<Mechanism()> robot;
};

std::ostream& operator<<(std::ostream& out, const Case& choice) {
  return out << choice.name;
}

std::vector<Case> everyCase() {
  std::vector<Case> cases;
  for (const MechanismCase& choice : everyMechanism()) {
    cases.push_back({nameOf(choice), [choice] { return randomMechanism(choice); }});
  }
  for (const std::string& name : robots::names()) {
    cases.push_back({name, [name] { return robots::mechanism(name); }});
  }
  return cases;
}

class Pinocchio : public ::testing::TestWithParam<Case> {
 protected:
  Pinocchio() : robot(GetParam().robot()) {
    for (Joint& joint : robot.joints) {
      joint.withDamping(0).withFriction(0).withSpring(
          0);  // Pinocchio's algorithms leave these to the user
    }
  }

  Eigen::VectorXd randomVector(int size) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    return Eigen::VectorXd::NullaryExpr(size, [&] { return uniform(engine_); });
  }

  Mechanism robot;

 private:
  std::mt19937_64 engine_{42};
};

TEST_P(Pinocchio, SpanningTreeIsTheSame) {
  robot.couplings.clear();
  robot.loops.clear();
  robot.rods.clear();
  robot.functions.clear();
  for (Joint& joint : robot.joints) {
    joint.independence.reset();
  }
  for (Body& body : robot.bodies) {
    if (body.mass == 0.0) {  // loops moved what hangs on it
      body.withMass(0.1).withInertia(1e-3, 1e-3, 1e-3);
    }
  }
  const Model model(robot);
  Data data(model);
  PinocchioTree peer(model);
  ASSERT_EQ(peer.nv(), model.nv());
  const int n = model.nv();
  const Eigen::VectorXd q = model.randomConfiguration(8), v = randomVector(n), a = randomVector(n);
  // Without loops the spanning numbers are q and v themselves.
  ASSERT_EQ(model.spanningVelocityNames(), model.vNames());

  Eigen::VectorXd x = poisoned(n);
  Eigen::MatrixXd H = poisoned(n, n);
  inverseDynamics(model, data, q, v, a, x);
  const Eigen::VectorXd tau = peer.inverseDynamics(q, v, a);
  EXPECT_TRUE(closeTo(x, tau, 1e-10));
  massMatrix(model, data, q, H);
  EXPECT_TRUE(closeTo(H, peer.massMatrix(q), 1e-10));
  forwardDynamics(model, data, q, v, tau, x);
  EXPECT_TRUE(closeTo(x, peer.forwardDynamics(q, v, tau), 1e-10));
}

TEST_P(Pinocchio, LoopsProjectTheSpanningTree) {
  const Model model(robot);
  Data data(model);
  PinocchioTree peer(model);
  ASSERT_EQ(peer.nv(), model.nvSpanning());
  const int n = model.nv();
  const Eigen::VectorXd q = model.randomConfiguration(8), v = randomVector(n), a = randomVector(n);
  Eigen::VectorXd positions = poisoned(model.nqSpanning()), rates = poisoned(model.nvSpanning());
  Eigen::VectorXd g = poisoned(model.nvSpanning());
  Eigen::MatrixXd G = poisoned(model.nvSpanning(), n);
  spanning(model, data, q, v, positions, rates);
  constraintJacobian(model, data, q, G);
  constraintBias(model, data, q, v, g);

  Eigen::VectorXd x = poisoned(n);
  Eigen::MatrixXd H = poisoned(n, n);
  inverseDynamics(model, data, q, v, a, x);
  const Eigen::VectorXd tau = G.transpose() * peer.inverseDynamics(positions, rates, G * a + g);
  EXPECT_TRUE(closeTo(x, tau, 1e-10));
  massMatrix(model, data, q, H);
  const Eigen::MatrixXd peerH = G.transpose() * peer.massMatrix(positions) * G;
  EXPECT_TRUE(closeTo(H, peerH, 1e-10));
  // With forces that ask for `a`, so that its size is known.
  forwardDynamics(model, data, q, v, tau, x);
  const Eigen::VectorXd bias = G.transpose() * peer.inverseDynamics(positions, rates, g);
  EXPECT_TRUE(closeTo(x, peerH.llt().solve(tau - bias).eval(), 1e-9));
}

INSTANTIATE_TEST_SUITE_P(All, Pinocchio, ::testing::ValuesIn(everyCase()),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace kempe::test
