#pragma once

#include <Eigen/Dense>
#include <functional>
#include <map>
#include <pinocchio/algorithm/model.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "peer.hpp"

/// Robots in Pinocchio.
namespace kempe::bench {

/// The joint types that the robots have. Pinocchio's own collection has five times as many, takes
/// four times as long to compile and is a little slower.
template <typename S, int Options>
struct FewJoints {
  using Scalar = S;
  using JointModelVariant = boost::variant<pinocchio::JointModelRevoluteTpl<S, Options, 0>,
                                           pinocchio::JointModelRevoluteTpl<S, Options, 1>,
                                           pinocchio::JointModelRevoluteTpl<S, Options, 2>,
                                           pinocchio::JointModelFreeFlyerTpl<S, Options>>;
  using JointDataVariant = boost::variant<pinocchio::JointDataRevoluteTpl<S, Options, 0>,
                                          pinocchio::JointDataRevoluteTpl<S, Options, 1>,
                                          pinocchio::JointDataRevoluteTpl<S, Options, 2>,
                                          pinocchio::JointDataFreeFlyerTpl<S, Options>>;
};

inline Eigen::Vector3d vectorOf(const Vector3& x) {
  return {x.x, x.y, x.z};
}

inline pinocchio::SE3 placementOf(const Pose& pose) {
  Eigen::Matrix3d R;
  for (int j = 0; j < 3; ++j) {
    R.col(j) = vectorOf(pose.R.column(j));
  }
  return {R, vectorOf(pose.p)};
}

inline pinocchio::Inertia inertiaOf(const Body& body) {
  const SymMat3<double>& I = body.inertia;
  Eigen::Matrix3d rotational;
  rotational << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
  return {body.mass, vectorOf(body.centerOfMass), rotational};
}

inline Eigen::Map<const Eigen::VectorXd> mapOf(const std::vector<double>& x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}
inline Eigen::Map<const Eigen::MatrixXd> mapOf(const std::vector<double>& x, Eigen::Index rows) {
  return {x.data(), rows, static_cast<Eigen::Index>(x.size()) / rows};
}
inline std::vector<double> plain(const Eigen::MatrixXd& x) {
  return {x.data(), x.data() + x.size()};
}

/// A joint that follows another.
struct Follower {
  std::string driver{};
  double ratio = 1.0;
};

/// A tree of bodies in Pinocchio and the way between the two orders of numbers. Joints are those
/// with an aligned axis, which are Pinocchio's fastest.
template <template <typename, int> class Joints>
class PinocchioModel {
 public:
  using Model = pinocchio::ModelTpl<double, 0, Joints>;
  using Data = pinocchio::DataTpl<double, 0, Joints>;
  using AddFollower =
      std::function<pinocchio::JointIndex(Model&, pinocchio::JointIndex parent, const Joint& joint,
                                          const pinocchio::SE3& frame, const Follower& follower)>;

  /// `followers` are added by `addFollower` and have no numbers of their own.
  explicit PinocchioModel(const PeerRobot& robot,
                          const std::map<std::string, Follower>& followers = {},
                          const AddFollower& addFollower = {}) {
    const Source source{robot.mechanism, followers, addFollower};
    model.gravity.linear() = vectorOf(source.robot.gravity);
    for (const Body& body : source.robot.bodies) {
      if (source.robot.jointAbove(body.name) == nullptr) {
        joint[body.name] = 0;
        placement[body.name].setIdentity();
        addChildren(source, body.name);
      }
    }
    position.resize(model.nq);
    velocity.resize(model.nv);
    for (const Joint& j : source.robot.joints) {
      if (followers.contains(j.name) || j.type == JointType::Fixed) {
        continue;
      }
      const pinocchio::JointIndex id = joint.at(j.child);
      for (int i = 0; i < model.nqs[id]; ++i) {
        position[model.idx_qs[id] + i] = robot.position.at(j.name) + i;
      }
      for (int i = 0; i < model.nvs[id]; ++i) {
        velocity[model.idx_vs[id] + i] = robot.velocity.at(j.name) + i;
        model.armature[model.idx_vs[id] + i] = j.armature;
      }
    }
  }

  static typename Model::JointModel jointOf(const Joint& j) {
    if (j.type == JointType::Free) {
      return pinocchio::JointModelFreeFlyerTpl<double, 0>();
    }
    if (j.type == JointType::Revolute || j.type == JointType::Continuous) {
      if (j.axis.x == 1.0) {
        return pinocchio::JointModelRevoluteTpl<double, 0, 0>();
      }
      if (j.axis.y == 1.0) {
        return pinocchio::JointModelRevoluteTpl<double, 0, 1>();
      }
      if (j.axis.z == 1.0) {
        return pinocchio::JointModelRevoluteTpl<double, 0, 2>();
      }
    }
    throw std::invalid_argument("joint \"" + j.name + "\" is not of a kind that is compared");
  }

  Model model;
  std::map<std::string, pinocchio::JointIndex> joint;  ///< that carries a body
  std::map<std::string, pinocchio::SE3> placement;     ///< of a body on that joint
  Eigen::VectorXi position, velocity;  ///< spanning number of each of Pinocchio's numbers

 private:
  struct Source {
    const Mechanism& robot;
    const std::map<std::string, Follower>& followers;
    const AddFollower& addFollower;
  };

  /// Depth first, as Pinocchio's algorithms expect; followers after the joints that they follow.
  void addChildren(const Source& source, const std::string& body) {
    for (const bool following : {false, true}) {
      for (const Joint& j : source.robot.joints) {
        if (j.parent == body && source.followers.contains(j.name) == following) {
          addChild(source, j);
        }
      }
    }
  }

  void addChild(const Source& source, const Joint& j) {
    const pinocchio::JointIndex parent = joint.at(j.parent);
    pinocchio::SE3 frame = placement.at(j.parent) * placementOf(j.origin);
    pinocchio::JointIndex id = parent;
    const auto follower = source.followers.find(j.name);
    if (follower != source.followers.end()) {
      id = source.addFollower(model, parent, j, frame, follower->second);
      frame.setIdentity();
    } else if (j.type != JointType::Fixed) {
      id = model.addJoint(parent, jointOf(j), frame, j.name);
      frame.setIdentity();
    }
    model.appendBodyToJoint(id, inertiaOf(*source.robot.findBody(j.child)), frame);
    joint[j.child] = id;
    placement[j.child] = frame;
    addChildren(source, j.child);
  }
};

/// With room for results. It is large, so it is made in place.
template <template <typename, int> class Joints = FewJoints>
class PinocchioTree : public PinocchioModel<Joints> {
 public:
  using typename PinocchioModel<Joints>::Data;

  template <typename... Arguments>
  explicit PinocchioTree(const Arguments&... arguments)
      : PinocchioModel<Joints>(arguments...), data(this->model) {}
  PinocchioTree(const PinocchioTree&) = delete;
  PinocchioTree& operator=(const PinocchioTree&) = delete;
  ~PinocchioTree() = default;

  Data data;
};

}  // namespace kempe::bench
