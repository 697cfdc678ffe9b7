#include <algorithm>
#include <map>
#include <ostream>
#include <string_view>

#include "kempe/model.hpp"
#include "mechanism/flexible_parts.hpp"
#include "model/model_impl.hpp"
#include "text/messages.hpp"

namespace kempe {
namespace {

/// Draws the tree of clusters with the usual branches.
class TreePrinter {
 public:
  TreePrinter(std::ostream& out, const Model& model) : out_(out), model_(model) {
    const std::vector<ClusterInfo>& clusters = model.clusters();
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      for (const std::string& body : clusters[c].bodies) {
        clusterOf_[body] = c;
      }
    }
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      const auto it = clusterOf_.find(clusters[c].outputBody);
      (it == clusterOf_.end() ? top_ : children_[it->second]).push_back(c);
    }
    std::map<std::string_view, const Joint*> above;
    for (const Joint& joint : model.mechanism().joints) {
      above[joint.child] = &joint;
    }
    for (const Body& body : model.mechanism().bodies) {
      std::string_view moves = body.name;
      for (auto it = above.find(moves); it != above.end() && it->second->type == JointType::Fixed;
           it = above.find(moves)) {
        moves = it->second->parent;
      }
      masses_[moves] += body.mass;
    }
  }

  void print() { printAll(top_, ""); }

 private:
  void printAll(const std::vector<std::size_t>& list, const std::string& indent) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool last = i + 1 == list.size();
      printCluster(model_.clusters()[list[i]], indent + (last ? "└─ " : "├─ "),
                   indent + (last ? "   " : "│  "));
      const auto it = children_.find(list[i]);
      if (it != children_.end()) {
        printAll(it->second, indent + (last ? "   " : "│  "));
      }
    }
  }

  void printCluster(const ClusterInfo& cluster, const std::string& first, const std::string& rest) {
    if (cluster.loops.empty()) {
      out_ << first;
      printBody(cluster, 0);  // of a flexible body, its first part
      out_ << "\n";
      return;
    }
    out_ << first << "cluster on " << cluster.outputBody << ": "
         << counted(cluster.mobility, "DoF");
    if (!cluster.independent.empty()) {
      out_ << " (" << joined(cluster.independent) << ")";
    }
    out_ << "\n" << rest << "  loops: " << joined(cluster.loops);
    if (cluster.redundantRows > 0) {
      out_ << " (" << counted(cluster.redundantRows, "redundant row") << ")";
    }
    out_ << "\n";
    for (std::size_t b = 0; b < cluster.bodies.size(); ++b) {
      out_ << rest << "  • ";
      printBody(cluster, b);
      out_ << "\n";
    }
  }

  void printBody(const ClusterInfo& cluster, std::size_t b) {
    const Joint& joint = *model_.mechanism().findJoint(cluster.joints[b]);
    out_ << cluster.bodies[b] << "  [" << joint.name << ": " << toString(joint.type) << "] "
         << shortNumber(masses_.at(cluster.bodies[b])) << " kg";
    if (std::ranges::find(model_.foldedRotors(), cluster.bodies[b]) !=
        model_.foldedRotors().end()) {
      out_ << ", folded";
    }
    for (const FlexibleBody& flexible : model_.mechanism().flexibleBodies) {
      if (cluster.bodies[b] == detail::modeName(flexible, 0)) {
        printFrequencies(flexible);
      }
    }
  }

  void printFrequencies(const FlexibleBody& flexible) {
    constexpr std::size_t kMost = 4;
    out_ << ", bends in " << counted(flexible.modes.size(), "mode") << ":";
    for (std::size_t i = 0; i < std::min(kMost, flexible.modes.size()); ++i) {
      out_ << (i > 0 ? ", " : " ") << shortNumber(flexible.modes[i].frequency());
    }
    out_ << (flexible.modes.size() > kMost ? ", … Hz" : " Hz");
  }

  std::ostream& out_;
  const Model& model_;
  std::map<std::string_view, double> masses_;  ///< of moving bodies and those fixed to them
  std::map<std::string, std::size_t> clusterOf_;
  std::map<std::size_t, std::vector<std::size_t>> children_;
  std::vector<std::size_t> top_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const Model& model) {
  const auto closed =
      std::ranges::count_if(model.clusters(), [](const auto& c) { return !c.loops.empty(); });
  out << model.name() << ": " << counted(model.nv(), "DoF") << ", "
      << counted(model.bodyNames().size(), "moving body", "moving bodies") << ", "
      << counted(model.impl().loopNames.size(), "loop") << " in " << counted(closed, "cluster")
      << ", ";
  if (!model.cutLoops().empty()) {
    out << counted(model.cutLoops().size(), "loop") << " left cut, ";
  }
  out << counted(model.foldedRotors().size(), "folded rotor") << ", "
      << shortNumber(model.totalMass()) << " kg";
  if (!model.warnings().empty()) {
    out << ", " << counted(model.warnings().size(), "warning");
  }
  out << "\n"
      << "nq " << model.nq() << ", nv " << model.nv() << "; all joints: " << model.nqSpanning()
      << " positions, " << model.nvSpanning() << " velocities\n";
  const bool marked = std::ranges::any_of(model.mechanism().joints,
                                          [](const Joint& j) { return j.actuation.has_value(); });
  if (marked) {
    out << "actuated: " << (model.actuated().empty() ? "none" : joined(model.actuated())) << "\n";
  }
  const auto root = std::ranges::find_if(model.clusters(), [&](const ClusterInfo& c) {
    return std::ranges::find(model.bodyNames(), c.outputBody) == model.bodyNames().end();
  });
  out << root->outputBody << " (root, does not move)\n";
  TreePrinter(out, model).print();
  if (!model.cutLoops().empty()) {
    out << "left cut: " << joined(model.cutLoops()) << "\n";
  }
  return out;
}

}  // namespace kempe
