#pragma once

#include <vector>

#include "kempe/mechanism.hpp"
#include "mechanism/tree.hpp"

namespace kempe {

/// Bodies that fixed joints merge into one: each body's leader is the topmost of its group.
class RigidGroups {
 public:
  RigidGroups(const Mechanism& mechanism, const Tree& tree);

  [[nodiscard]] int leader(int body) const { return leader_[static_cast<std::size_t>(body)]; }
  /// Placement of a body's frame in its leader's.
  [[nodiscard]] const Pose& inLeader(int body) const {
    return pose_[static_cast<std::size_t>(body)];
  }

 private:
  std::vector<int> leader_;
  std::vector<Pose> pose_;
};

}  // namespace kempe
