#include "mechanism/rigid_groups.hpp"

namespace kempe {

RigidGroups::RigidGroups(const Mechanism& mechanism, const Tree& tree)
    : leader_(mechanism.bodies.size()), pose_(mechanism.bodies.size()) {
  for (std::size_t i = 0; i < mechanism.bodies.size(); ++i) {
    int body = static_cast<int>(i);
    while (tree.parent(body) >= 0) {
      const Joint& joint = mechanism.joints[static_cast<std::size_t>(tree.jointAbove(body))];
      if (joint.type != JointType::Fixed || !joint.parentNode.empty()) {
        break;  // nodes of flexible bodies move
      }
      pose_[i] = joint.origin * pose_[i];
      body = tree.parent(body);
    }
    leader_[i] = body;
  }
}

}  // namespace kempe
