#include "robots.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "four_bar_quadruped.hpp"
#include "kempe/kempe.hpp"

namespace kempe::bench {
namespace {

bool isLeaf(const Mechanism& robot, const std::string& body) {
  return std::ranges::none_of(robot.joints, [&](const Joint& j) { return j.parent == body; });
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

/// Bodies that only turn with others: folded rotors, and last bodies of which a coupling makes the
/// joint dependent.
std::vector<std::string> rotorsOf(const Mechanism& robot, const Model& model) {
  std::vector<std::string> rotors = model.foldedRotors();
  for (const Coupling& coupling : robot.couplings) {
    for (const Coupling::Term& term : coupling.terms) {
      const Joint& joint = *robot.findJoint(term.coordinate.joint);
      if (joint.independence == false && isLeaf(robot, joint.child) &&
          !contains(rotors, joint.child)) {
        rotors.push_back(joint.child);
      }
    }
  }
  return rotors;
}

/// Rotors, and last bodies without inertia.
std::vector<std::string> droppedBodies(const Mechanism& robot, const Model& model) {
  std::vector<std::string> dropped = rotorsOf(robot, model);
  for (const Body& body : robot.bodies) {
    const auto& I = body.inertia;
    const bool empty = body.mass == 0.0 && I.xx + I.yy + I.zz == 0.0;
    if (robot.jointAbove(body.name) != nullptr && isLeaf(robot, body.name) && empty &&
        !contains(dropped, body.name)) {
      dropped.push_back(body.name);
    }
  }
  return dropped;
}

std::vector<double> plain(const Eigen::MatrixXd& x) {
  return {x.data(), x.data() + x.size()};
}

std::vector<int> placesOf(const std::vector<std::string>& names,
                          const std::vector<std::string>& all) {
  std::vector<int> places;
  places.reserve(names.size());
  for (const std::string& name : names) {
    places.push_back(static_cast<int>(std::ranges::find(all, name) - all.begin()));
  }
  return places;
}

/// Nothing where rows are redundant.
std::vector<double> heldAcceleration(const Model& model, Data& data, const Constraints& held,
                                     const State& state) {
  if (held.rows() > model.nv()) {
    return {};
  }
  Eigen::VectorXd a(model.nv()), multipliers(held.rows());
  ConstraintReport report;
  constrainedForwardDynamics(model, data, held, 0.0, state.q, state.v, state.tau, a, multipliers,
                             {}, &report);
  return report.rank == report.rows ? plain(a) : std::vector<double>();
}

/// ∂(G v)/∂q. Column j is the second derivative of the spanning positions along e_j and v, which is
/// bilinear and symmetric, because they are functions of the independent ones; the bias is its value
/// along v and v.
Eigen::MatrixXd velocityDerivatives(const Model& model, Data& data, const State& state) {
  Eigen::MatrixXd result(model.nvSpanning(), model.nv());
  Eigen::VectorXd both(model.nvSpanning()), one(model.nvSpanning()), other(model.nvSpanning());
  constraintBias(model, data, state.q, state.v, one);
  for (int j = 0; j < model.nv(); ++j) {
    const Eigen::VectorXd along = Eigen::VectorXd::Unit(model.nv(), j);
    constraintBias(model, data, state.q, along, other);
    constraintBias(model, data, state.q, state.v + along, both);
    result.col(j) = 0.5 * (both - one - other);
  }
  return result;
}

PeerState forPeers(const Model& model, Data& data, const std::vector<int>& ends,
                   const Constraints& held, const State& state) {
  const int n = model.nv();
  Eigen::VectorXd positions(model.nqSpanning()), velocities(model.nvSpanning());
  Eigen::VectorXd g(model.nvSpanning()), a(n), force(n);
  Eigen::MatrixXd G(model.nvSpanning(), n), H(n, n);
  const auto size = static_cast<Eigen::Index>(6 * ends.size());
  Eigen::MatrixXd Omega(size, size);
  spanning(model, data, state.q, state.v, positions, velocities);
  constraintJacobian(model, data, state.q, G);
  constraintBias(model, data, state.q, state.v, g);
  forwardDynamics(model, data, state.q, state.v, state.tau, a);
  inverseDynamics(model, data, state.q, state.v, state.tau, force);
  kempe::massMatrix(model, data, state.q, H);
  Eigen::MatrixXd accelerationBy(n, 3 * n), forceBy(n, 3 * n);
  forwardDynamicsDerivatives(model, data, state.q, state.v, state.tau, accelerationBy.leftCols(n),
                             accelerationBy.middleCols(n, n), accelerationBy.rightCols(n));
  inverseDynamicsDerivatives(model, data, state.q, state.v, state.tau, forceBy.leftCols(n),
                             forceBy.middleCols(n, n), forceBy.rightCols(n));
  kempe::inverseOperationalInertia(model, data, state.q, ends, Omega, Reference::Local);
  return {.q = plain(state.q),
          .v = plain(state.v),
          .tau = plain(state.tau),
          .positions = plain(positions),
          .velocities = plain(velocities),
          .G = plain(G),
          .g = plain(g),
          .acceleration = plain(a),
          .force = plain(force),
          .massMatrix = plain(H),
          .accelerationDerivatives = plain(accelerationBy),
          .forceDerivatives = plain(forceBy),
          .velocityDerivatives = plain(velocityDerivatives(model, data, state)),
          .heldAcceleration = heldAcceleration(model, data, held, state),
          .inverseOperationalInertia = plain(Omega)};
}

}  // namespace

std::vector<State> randomStates(const Model& model, int count) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto draw = [&] {
    return Eigen::VectorXd(
        Eigen::VectorXd::NullaryExpr(model.nv(), [&] { return uniform(engine); }));
  };
  std::vector<State> states;
  for (int i = 0; i < count; ++i) {
    State& state = states.emplace_back();
    state.q = model.randomConfiguration(static_cast<std::uint64_t>(i));
    state.v = draw();
    state.tau = draw();
  }
  return states;
}

const std::vector<std::string>& robotNames() {
  static const std::vector<std::string> names{"mini_cheetah", "mit_humanoid",      "tello",
                                              "jvrc1",        "geared_chain",      "belt_chain",
                                              "four_bar",     "four_bar_quadruped"};
  return names;
}

Mechanism publishedRobot(const std::string& name, int links) {
  if (name == "four_bar_quadruped") {
    return fourBarQuadruped();
  }
  Mechanism robot = robots::mechanism(name, links, robots::Placement::Published);
  std::vector<std::string> frames;
  for (const Joint& joint : robot.joints) {
    if (joint.type == JointType::Fixed && isLeaf(robot, joint.child) &&
        robot.findBody(joint.child)->mass == 0.0) {
      frames.push_back(joint.child);
    }
  }
  std::erase_if(robot.bodies, [&](const Body& body) { return contains(frames, body.name); });
  std::erase_if(robot.joints, [&](const Joint& joint) { return contains(frames, joint.child); });
  return robot;
}

namespace {

/// The links of the arms: aluminium, 20 mm square.
const BeamOptions kLink{
    .length = 0.4, .E = 70e9, .density = 2700.0, .area = 4e-4, .Iy = 1.3e-8, .Iz = 1.3e-8};

/// Joint i of an arm turns about z or y.
Vector3 hingeAxis(int i) {
  return i % 2 == 0 ? Vector3{0.0, 0.0, 1.0} : Vector3{0.0, 1.0, 0.0};
}

}  // namespace

Mechanism flexibleArm(int links, int modes) {
  Mechanism arm("flexible_arm");
  std::string parent = "base", node;
  arm.addBody(parent);
  for (int i = 0; i < links; ++i) {
    const std::string link = "link" + std::to_string(i + 1);
    BeamOptions options = kLink;
    options.modes = modes;
    options.damping = 0.01;
    arm.addBeam(link, options);
    Joint& joint = arm.addRevolute("joint" + std::to_string(i + 1)).about(hingeAxis(i)).to(link);
    joint.parent = std::exchange(parent, link);
    joint.parentNode = std::exchange(node, "end");
  }
  return arm;
}

Mechanism rigidArm(int links, int more) {
  Mechanism arm("rigid_arm");
  std::string parent = "base";
  arm.addBody(parent);
  const int parts = links * (more + 1);
  const double length = kLink.length / (more + 1), mass = kLink.density * kLink.area * length;
  const double along = mass / kLink.area * (kLink.Iy + kLink.Iz);
  const double across = 0.5 * along + mass * length * length / 12.0;
  for (int i = 0; i < parts; ++i) {
    const std::string part = "part" + std::to_string(i + 1);
    arm.addBody(part)
        .withMass(mass)
        .centeredAt({0.5 * length, 0.0, 0.0})
        .withInertia(along, across, across);
    arm.addRevolute("joint" + std::to_string(i + 1))
        .from(std::exchange(parent, part))
        .to(part)
        .at({i == 0 ? 0.0 : length, 0.0, 0.0})
        .about(hingeAxis(i));
  }
  return arm;
}

Mechanism openTree(const Mechanism& robot) {
  const std::vector<std::string> dropped = droppedBodies(robot, Model(robot));
  Mechanism tree = robot;
  tree.name += "_tree";
  tree.couplings.clear();
  tree.loops.clear();
  tree.rods.clear();
  tree.functions.clear();
  std::erase_if(tree.bodies, [&](const Body& body) { return contains(dropped, body.name); });
  std::erase_if(tree.joints, [&](const Joint& joint) { return contains(dropped, joint.child); });
  return tree;
}

Mechanism openTreeWithArmature(const Mechanism& robot) {
  const Model model(robot);
  Data data(model);
  Eigen::MatrixXd G(model.nvSpanning(), model.nv());
  constraintJacobian(model, data, model.neutral(), G);
  Mechanism tree = openTree(robot);
  const Model treeModel(tree);
  const std::vector<int> kept =
      placesOf(treeModel.vNames(), model.spanningVelocityNames());  // rows of G
  const Eigen::MatrixXd fromKept =
      G(kept, Eigen::all).completeOrthogonalDecomposition().pseudoInverse();
  for (const std::string& rotor : rotorsOf(robot, model)) {
    const Joint& joint = *robot.jointAbove(rotor);
    const Vector3 axis = normalized(joint.axis);
    const double J = dot(axis, robot.findBody(rotor)->inertia * axis);
    const Eigen::RowVectorXd ratios = G.row(model.jointVelocityIndex(joint.name)) * fromKept;
    for (Joint& other : tree.joints) {
      if (velocitySize(other.type) == 1) {
        const double r = ratios[treeModel.jointVelocityIndex(other.name)];
        other.armature += J * r * r;
      }
    }
  }
  return tree;
}

std::vector<std::string> endsOf(const Model& model) {
  std::vector<std::string> ends;
  const Mechanism& robot = model.mechanism();
  const std::vector<std::string> rotors = rotorsOf(robot, model);
  for (const std::string& body : model.bodyNames()) {
    if (isLeaf(robot, body) && !contains(rotors, body) && robot.findBody(body)->mass > 0.0) {
      ends.push_back(body);
    }
  }
  return ends;
}

Constraints heldEnds(const Model& model, const std::vector<std::string>& ends) {
  Constraints held(model);
  for (const std::string& end : ends) {
    held.add(LoopJoint{.name = end, .type = LoopType::Spherical}.from("").to(end));
  }
  return held;
}

std::vector<int> framesOf(const Model& model, const std::vector<std::string>& bodies) {
  std::vector<int> frames;
  frames.reserve(bodies.size());
  for (const std::string& body : bodies) {
    frames.push_back(model.frameIndex(body));
  }
  return frames;
}

bool hasCouplingsOnly(const Mechanism& robot) {
  return robot.loops.empty() && robot.rods.empty() && robot.functions.empty();
}

PeerRobot forPeers(const Model& model, const std::vector<State>& states) {
  return forPeers(model, states, endsOf(model));
}

PeerRobot forPeers(const Model& model, const std::vector<State>& states,
                   const std::vector<std::string>& ends) {
  const Constraints held = heldEnds(model, ends);
  PeerRobot robot{.mechanism = model.mechanism(),
                  .nv = model.nv(),
                  .nvSpanning = model.nvSpanning(),
                  .independent = placesOf(model.vNames(), model.spanningVelocityNames()),
                  .independentPositions = placesOf(model.qNames(), model.spanningPositionNames()),
                  .ends = ends,
                  .couplingsOnly = hasCouplingsOnly(model.mechanism())};
  for (const std::string& joint : model.jointNames()) {
    robot.position[joint] = model.jointPositionIndex(joint);
    robot.velocity[joint] = model.jointVelocityIndex(joint);
  }
  const std::vector<int> frames = framesOf(model, robot.ends);
  Data data(model);
  for (const State& state : states) {
    robot.states.push_back(forPeers(model, data, frames, held, state));
  }
  return robot;
}

}  // namespace kempe::bench
