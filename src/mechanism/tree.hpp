#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kempe/mechanism.hpp"

namespace kempe {

/// The bodies of a mechanism by index, with the joint above each. Accepts invalid mechanisms, which
/// validate() refuses (unknown names count as no parent), so that it can be used at any time; every
/// query terminates even if there are cycles.
class Tree {
 public:
  explicit Tree(const Mechanism& mechanism);

  [[nodiscard]] int findBody(std::string_view name) const;  ///< −1 for none
  [[nodiscard]] int parent(int body) const { return parent_[static_cast<std::size_t>(body)]; }
  [[nodiscard]] int jointAbove(int body) const { return joint_[static_cast<std::size_t>(body)]; }
  [[nodiscard]] const std::vector<int>& roots() const { return roots_; }

  /// Per body: whether it is a root or above it is one, and not a cycle.
  [[nodiscard]] std::vector<bool> belowRoots() const;
  /// Bodies from `body` up to, not including, `ancestor`.
  [[nodiscard]] std::vector<int> pathUp(int body, int ancestor) const;
  /// The nearest body that is above, or is, both; −1 for none.
  [[nodiscard]] int commonAncestor(int a, int b) const;

 private:
  std::unordered_map<std::string_view, int> index_;
  std::vector<int> parent_;  // −1 for a root
  std::vector<int> joint_;   // −1 for a root
  std::vector<int> roots_;
};

}  // namespace kempe
