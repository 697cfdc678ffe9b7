#include "mechanism/tree.hpp"

#include <algorithm>

namespace kempe {

Tree::Tree(const Mechanism& mechanism)
    : parent_(mechanism.bodies.size(), -1), joint_(mechanism.bodies.size(), -1) {
  for (std::size_t i = 0; i < mechanism.bodies.size(); ++i) {
    index_.emplace(mechanism.bodies[i].name, static_cast<int>(i));
  }
  for (std::size_t j = 0; j < mechanism.joints.size(); ++j) {
    const int child = findBody(mechanism.joints[j].child);
    const int parent = findBody(mechanism.joints[j].parent);
    if (child >= 0 && parent >= 0) {
      parent_[static_cast<std::size_t>(child)] = parent;
      joint_[static_cast<std::size_t>(child)] = static_cast<int>(j);
    }
  }
  for (std::size_t i = 0; i < parent_.size(); ++i) {
    if (parent_[i] < 0) {
      roots_.push_back(static_cast<int>(i));
    }
  }
}

int Tree::findBody(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? -1 : it->second;
}

std::vector<bool> Tree::belowRoots() const {
  std::vector<bool> visited(parent_.size(), false), below(parent_.size(), false);
  std::vector<int> path;
  for (std::size_t first = 0; first < parent_.size(); ++first) {
    int body = static_cast<int>(first);
    for (; body >= 0 && !visited[static_cast<std::size_t>(body)]; body = parent(body)) {
      visited[static_cast<std::size_t>(body)] = true;
      path.push_back(body);
    }
    // A body of this same path closes a cycle and is not yet known to be below a root.
    const bool found = body < 0 || below[static_cast<std::size_t>(body)];
    for (; !path.empty(); path.pop_back()) {
      below[static_cast<std::size_t>(path.back())] = found;
    }
  }
  return below;
}

std::vector<int> Tree::pathUp(int body, int ancestor) const {
  std::vector<int> path;
  for (int i = body; i >= 0 && i != ancestor && path.size() <= parent_.size(); i = parent(i)) {
    path.push_back(i);
  }
  return path;
}

int Tree::commonAncestor(int a, int b) const {
  const std::vector<int> pathA = pathUp(a, -1), pathB = pathUp(b, -1);
  std::vector<char> above(parent_.size(), 0);
  for (const int i : pathA) {
    above[static_cast<std::size_t>(i)] = 1;
  }
  const auto it =
      std::ranges::find_if(pathB, [&](int i) { return above[static_cast<std::size_t>(i)]; });
  return it == pathB.end() ? -1 : *it;
}

}  // namespace kempe
