#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "kempe/constraints.hpp"
#include "kempe/model.hpp"
#include "peer.hpp"

/// The robots that are measured, and random states of them that are the same in every run.
namespace kempe::bench {

constexpr int kStates = 64;

struct State {
  Eigen::VectorXd q, v;
  Eigen::VectorXd tau;  ///< forces of forward dynamics, accelerations of inverse dynamics
};

std::vector<State> randomStates(const Model& model, int count = kStates);

/// Names of the robots with loops.
const std::vector<std::string>& robotNames();

/// A bundled robot as its authors publish it, without the frames at feet and hands: peers get the
/// same bodies. `four_bar_quadruped` exists here only.
Mechanism publishedRobot(const std::string& name, int links = 0);

/// An arm of beams with these modes each, joined by hinges at their ends.
Mechanism flexibleArm(int links, int modes);
/// The same of rigid links, each divided into parts by `more` further revolute joints.
Mechanism rigidArm(int links, int more);

/// The robot without its loops and without the bodies that are rotors or have no inertia.
Mechanism openTree(const Mechanism& robot);

/// Its open tree with the inertia of the rotors on the diagonal of the mass matrix: Σ J r², r the
/// ratio between the joints at the neutral configuration.
Mechanism openTreeWithArmature(const Mechanism& robot);

/// The last bodies of the tree's branches: feet and hands.
std::vector<std::string> endsOf(const Model& model);
/// Holds these at the points of the world where their frames are.
Constraints heldEnds(const Model& model, const std::vector<std::string>& ends);
std::vector<int> framesOf(const Model& model, const std::vector<std::string>& bodies);

/// Whether all loops are couplings, so that G is constant.
bool hasCouplingsOnly(const Mechanism& robot);

/// The input of a peer: the robot and its states as plain numbers, and the expected results;
/// operational inertia only for some bodies.
PeerRobot forPeers(const Model& model, const std::vector<State>& states,
                   const std::vector<std::string>& ends);
/// With all feet and hands.
PeerRobot forPeers(const Model& model, const std::vector<State>& states);

}  // namespace kempe::bench
