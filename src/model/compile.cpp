#include <algorithm>
#include <cmath>
#include <limits>

#include "loops/analysis.hpp"
#include "loops/compile_loops.hpp"
#include "mechanism/clusters.hpp"
#include "mechanism/flexible_parts.hpp"
#include "mechanism/group_warnings.hpp"
#include "model/derive.hpp"
#include "model/flexible.hpp"
#include "model/fold_rotors.hpp"
#include "model/inertia_check.hpp"
#include "model/merge_gimbals.hpp"
#include "model/model_impl.hpp"
#include "model/names.hpp"
#include "spatial/joint_motion.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Builds a ModelImpl step by step; each step uses the results of those before it.
class Compiler {
 public:
  Compiler(const Mechanism& mechanism, const ModelOptions& options, bool mayCut) : mayCut_(mayCut) {
    model_.mechanism = mechanism;
    model_.options = options;
    const std::vector<std::string> findings = mechanism.validate();
    if (options.mergeGimbals) {
      mergeGimbals(model_.mechanism);
    }
    addFlexibleParts(model_.mechanism);
    model_.warnings = model_.mechanism.warnings;
    model_.warnings.insert(model_.warnings.end(), findings.begin(), findings.end());
    traceFunctions();
  }

  ModelImpl run() {
    const MovingTree tree(model_.mechanism);
    BodyClusters found = findClusters(model_.mechanism, tree, mayCut_);
    sources_ = std::move(found.clusters);
    placeBodies(tree);
    sumInertias(tree);
    compileFlexibleBodies(model_);
    compileClusters(tree);
    analyzeClusters();
    if (model_.tables.nv == 0) {
      throw ModelError(
          model_.mechanism.place() + "mechanism " + kempe::quoted(model_.mechanism.name) +
          " has no degree of freedom: its loops (" + joined(model_.loopNames) +
          ") hold every joint. Check that the axes of planar linkages are parallel, or "
          "remove a loop or a coupling.");
    }
    nameCoordinates(model_);
    listActuated(model_);
    listQuaternions();
    listFrames(tree);
    assembleNeutral();
    checkThatFreedomsMoveInertia(model_);
    for (BodyEntry<double>& body : model_.tables.bodies) {
      body.own = body.inertia;
    }
    foldParts(model_);
    if (model_.options.foldRotors) {
      foldRotors(model_);
    }
    model_.cutRefs = std::move(found.cut);
    finishTables(model_);
    describeClusters(model_);
    describeLoops();
    model_.warnings = groupWarnings(model_.warnings, model_.mechanism);
    return std::move(model_);
  }

 private:
  /// Turns functions into expressions, where they can be.
  void traceFunctions() {
    for (Function& function : model_.mechanism.functions) {
      try {
        function.expression = function.traced();
      } catch (const TracingError& error) {
        model_.warnings.push_back(model_.mechanism.place(function.line) + "function " +
                                  kempe::quoted(function.name) +
                                  " is not a formula: " + error.what() +
                                  " It is called back for one state at a time, in double "
                                  "precision, and cannot be written "
                                  "to a file.");
      }
    }
  }

  /// Turns a body's frame so that its joint's axis is z (universal: the second axis).
  static Rotation turnOf(const Joint& joint) {
    switch (joint.type) {
      case JointType::Fixed:
      case JointType::Spherical:
      case JointType::Free:
      case JointType::Mode:
      case JointType::Node:
        return Rotation::identity();
      case JointType::Universal:
        return rotationTakingZTo(normalized(joint.axis2));
      default:
        return rotationTakingZTo(normalized(joint.axis));
    }
  }

  void placeBodies(const MovingTree& tree) {
    modelBodyOf_.assign(model_.mechanism.bodies.size(), kWorld);
    ModelTables<double>& tables = model_.tables;
    for (const BodyCluster& source : sources_) {
      ClusterEntry cluster;
      cluster.output = modelBodyOf_[source.output];
      cluster.firstBody = static_cast<int>(tables.bodies.size());
      cluster.bodies = static_cast<int>(source.bodies.size());
      cluster.firstPosition = tables.positions;
      cluster.firstVelocity = tables.velocities;
      for (const int index : source.bodies) {
        placeBody(tree, index);
      }
      cluster.positions = tables.positions - cluster.firstPosition;
      cluster.velocities = tables.velocities - cluster.firstVelocity;
      tables.clusters.push_back(cluster);
    }
    for (std::size_t i = 0; i < modelBodyOf_.size(); ++i) {
      modelBodyOf_[i] = modelBodyOf_[tree.leader(static_cast<int>(i))];
    }
  }

  void placeBody(const MovingTree& tree, int index) {
    ModelTables<double>& tables = model_.tables;
    const int jointIndex = tree.tree().jointAbove(index);
    const Joint& joint = model_.mechanism.joints[jointIndex];
    const int parentLink = tree.tree().parent(index);
    const int parentLeader = tree.leader(parentLink);

    BodyEntry<double> body;
    body.parent = modelBodyOf_[parentLeader];
    body.cluster = static_cast<int>(tables.clusters.size());
    body.type = joint.type;
    body.firstPosition = tables.positions;
    body.firstVelocity = tables.velocities;
    body.pitch = joint.pitch;
    const bool universal = joint.type == JointType::Universal;
    const Rotation turn = turnOf(joint);
    const Rotation jointTurn = universal ? rotationTakingZTo(normalized(joint.axis)) : turn;
    body.middle = jointTurn.transposed() * turn;
    const Pose parentFrame = body.parent == kWorld ? Pose{} : model_.linkFrames[body.parent];
    body.placement =
        parentFrame * tree.groups().inLeader(parentLink) * joint.origin * Pose{jointTurn, {}};
    tables.positions += positionSize(joint.type);
    tables.velocities += velocitySize(joint.type);

    modelBodyOf_[index] = static_cast<int>(tables.bodies.size());
    tables.bodies.push_back(body);
    model_.jointOfBody.push_back(jointIndex);
    model_.linkFrames.push_back(Pose{turn.transposed(), {}});
    model_.bodyByJoint.emplace(joint.name, modelBodyOf_[index]);
    addLimits(joint);
  }

  void addLimits(const Joint& joint) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const bool limited = velocitySize(joint.type) == 1 && joint.type != JointType::Continuous;
    for (int i = 0; i < positionSize(joint.type); ++i) {
      model_.lower.push_back(limited ? joint.limits.lower : -kNone);
      model_.upper.push_back(limited ? joint.limits.upper : kNone);
    }
  }

  /// A mechanism body's own frame in its model body's turned frame.
  [[nodiscard]] Pose frameInModelBody(const MovingTree& tree, int index) const {
    const int body = modelBodyOf_[index];
    const Pose& inLeader = tree.groups().inLeader(index);
    return body == kWorld ? inLeader : model_.linkFrames[body] * inLeader;
  }

  /// Merges bodies that fixed joints connect. Bodies fixed to the world do not move.
  void sumInertias(const MovingTree& tree) {
    for (std::size_t i = 0; i < model_.mechanism.bodies.size(); ++i) {
      const Body& source = model_.mechanism.bodies[i];
      model_.totalMass += source.mass;
      const int index = static_cast<int>(i);
      if (modelBodyOf_[i] != kWorld) {
        model_.tables.bodies[modelBodyOf_[i]].inertia +=
            frameInModelBody(tree, index) * RigidInertia<double>::fromCenterOfMass(
                                                source.mass, source.centerOfMass, source.inertia);
      }
    }
  }

  void compileClusters(const MovingTree& tree) {
    ModelTables<double>& tables = model_.tables;
    const BodyPlaces places{
        [&](const std::string& body) { return modelBodyOf_[tree.tree().findBody(body)]; },
        [&](const std::string& body) {
          return frameInModelBody(tree, tree.tree().findBody(body));
        }};
    const std::function<int(const std::string&)> bodyOfJoint = [&](const std::string& joint) {
      return model_.bodyByJoint.at(joint);
    };
    for (std::size_t c = 0; c < sources_.size(); ++c) {
      ClusterEntry& cluster = tables.clusters[c];
      compileLoops(model_.mechanism, sources_[c], places, bodyOfJoint, cluster, tables);
      for (const LoopRef& loop : sources_[c].loops) {
        model_.loopNames.push_back(nameOf(model_.mechanism, loop));
      }
      const bool couplingsOnly = std::ranges::all_of(
          sources_[c].loops, [](const LoopRef& loop) { return loop.kind == LoopKind::Coupling; });
      const bool scalar = cluster.positions == cluster.velocities;
      const bool one = cluster.bodies == 1;  // otherwise the parts of a flexible body
      cluster.kind = cluster.loops == 0 && one ? ClusterKind::Tree
                     : couplingsOnly && scalar ? ClusterKind::Explicit
                                               : ClusterKind::Implicit;
    }
    tables.rowSlots.assign(static_cast<std::size_t>(tables.rows), -1);
    tables.rowScales.assign(static_cast<std::size_t>(tables.rows), 1.0);
    tables.velocityScales.assign(static_cast<std::size_t>(tables.velocities), 1.0);
  }

  void analyzeClusters() {
    ModelTables<double>& tables = model_.tables;
    model_.neutralPositions.resize(static_cast<std::size_t>(tables.positions));
    for (std::size_t c = 0; c < tables.clusters.size(); ++c) {
      ClusterEntry& cluster = tables.clusters[c];
      const ClusterSolution solution = cluster.loops == 0 ? treeSolution(cluster) : loopSolution(c);
      cluster.firstIndependent = static_cast<int>(tables.independent.size());
      cluster.firstDependent = static_cast<int>(tables.dependent.size());
      cluster.firstG = static_cast<int>(tables.G.size());
      cluster.firstOffset = static_cast<int>(tables.offset.size());
      cluster.firstCouplingForce = static_cast<int>(tables.couplingForces.size());
      cluster.kept = static_cast<int>(solution.dependent.size());
      cluster.nv = static_cast<int>(solution.independent.size());
      cluster.nq = cluster.kind == ClusterKind::Explicit ? cluster.nv : cluster.positions;
      cluster.firstFactor = tables.factorNumbers;
      tables.factorNumbers += cluster.kept * cluster.kept;
      cluster.firstK = tables.rowNumbers;
      tables.rowNumbers += cluster.kept * cluster.velocities;
      cluster.firstQ = tables.nq;
      cluster.firstV = tables.nv;
      tables.nq += cluster.nq;
      tables.nv += cluster.nv;
      const auto append = [](auto& list, const auto& part) {
        list.insert(list.end(), part.begin(), part.end());
      };
      append(tables.independent, solution.independent);
      append(tables.dependent, solution.dependent);
      append(tables.G, solution.G);
      append(tables.offset, solution.offset);
      append(tables.couplingForces, solution.couplingForces);
      append(forceIsUnique_, solution.forceIsUnique);
      append(model_.warnings, solution.warnings);
      std::ranges::copy(solution.neutral, model_.neutralPositions.begin() + cluster.firstPosition);
    }
  }

  ClusterSolution treeSolution(const ClusterEntry& cluster) const {
    ClusterSolution solution;
    for (int i = 0; i < cluster.velocities; ++i) {
      solution.independent.push_back(i);
    }
    solution.neutral = startOf(cluster);
    for (int i = 0; i < cluster.positions; ++i) {
      const int p = cluster.firstPosition + i;
      solution.neutral[i] = std::clamp(solution.neutral[i], model_.lower[p], model_.upper[p]);
    }
    if (cluster.kind == ClusterKind::Explicit) {  // the parts of a flexible body: q̇ = ẏ
      const auto n = static_cast<std::size_t>(cluster.velocities);
      solution.offset.assign(n, 0.0);
      solution.G.assign(n * n, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        solution.G[i * n + i] = 1.0;
      }
    }
    return solution;
  }

  static void normalizeQuaternion(JointType type, double* position) {
    if (type != JointType::Fixed && !hasScalarCoordinates(type)) {
      const double none[6] = {};
      jointRetract(type, position, none, position);
    }
  }

  /// Positions from which a cluster is assembled: those of the mechanism's start pose, else zero.
  [[nodiscard]] std::vector<double> startOf(const ClusterEntry& cluster) const {
    std::vector<double> start(static_cast<std::size_t>(cluster.positions));
    zeroPositions(model_.tables, cluster, start.data());
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const auto given = model_.mechanism.startPose.find(model_.joint(b).name);
      if (given != model_.mechanism.startPose.end()) {
        const int first = model_.tables.bodies[b].firstPosition - cluster.firstPosition;
        std::ranges::copy(given->second, start.begin() + first);
        normalizeQuaternion(model_.tables.bodies[b].type, start.data() + first);
      }
    }
    return start;
  }

  ClusterSolution loopSolution(std::size_t c) {
    const ClusterEntry& cluster = model_.tables.clusters[c];
    const BodyCluster& source = sources_[c];
    ClusterProblem problem{.tables = model_.tables,
                           .functions = model_.mechanism.functions,
                           .cluster = cluster,
                           .start = startOf(cluster),
                           .posed = {},
                           .lower = {},
                           .upper = {},
                           .wishes = {},
                           .names = {},
                           .rowNames = {},
                           .description = {}};
    const auto slice = [&](const std::vector<double>& all) {
      const auto first = all.begin() + cluster.firstPosition;
      return std::vector<double>(first, first + cluster.positions);
    };
    problem.lower = slice(model_.lower);
    problem.upper = slice(model_.upper);
    for (int b = 0; b < cluster.bodies; ++b) {
      const Joint& joint = model_.joint(cluster.firstBody + b);
      for (const std::string& name : velocityNames(joint)) {
        if (model_.mechanism.startPose.contains(joint.name) || joint.type == JointType::Mode) {
          problem.posed.push_back(static_cast<int>(problem.names.size()));
        }
        problem.names.push_back(name);
        problem.wishes.push_back(!joint.independence   ? Wish::Unset
                                 : *joint.independence ? Wish::Independent
                                                       : Wish::Dependent);
      }
    }
    std::vector<std::string> descriptions;
    for (const LoopRef& loop : source.loops) {
      descriptions.push_back(describe(model_.mechanism, loop));
      const LoopEntry<double>& entry =
          model_.tables.loops[cluster.firstLoop + static_cast<int>(descriptions.size()) - 1];
      problem.rowNames.insert(problem.rowNames.end(), static_cast<std::size_t>(entry.rows),
                              descriptions.back());
    }
    const LoopRef& first = source.loops.front();
    const std::string place = first.kind == LoopKind::Joint
                                  ? model_.mechanism.place(model_.mechanism.loops[first.index])
                                  : model_.mechanism.place(lineOf(model_.mechanism, first));
    problem.description = place + joined(descriptions);
    try {
      return analyzeCluster(problem);
    } catch (const ModelError& error) {
      throw ModelError(place + error.what());
    }
  }

  void listFrames(const MovingTree& tree) {
    const auto add = [&](const std::string& name, int body) {
      if (model_.frameByName.emplace(name, static_cast<int>(model_.frames.size())).second) {
        model_.frameNames.push_back(name);
        model_.frames.push_back({modelBodyOf_[body], frameInModelBody(tree, body)});
      }
    };
    for (std::size_t i = 0; i < model_.mechanism.bodies.size(); ++i) {
      add(model_.mechanism.bodies[i].name, static_cast<int>(i));
    }
    for (const Joint& joint : model_.mechanism.joints) {
      add(joint.name, tree.tree().findBody(joint.child));
    }
  }

  void assembleNeutral() {
    model_.neutral.resize(model_.tables.nq);
    for (const ClusterEntry& cluster : model_.tables.clusters) {
      const double* positions = model_.neutralPositions.data() + cluster.firstPosition;
      const int* independent = model_.tables.independent.data() + cluster.firstIndependent;
      for (int i = 0; i < cluster.nq; ++i) {
        const bool some = cluster.kind == ClusterKind::Explicit;
        model_.neutral[cluster.firstQ + i] = positions[some ? independent[i] : i];
      }
    }
  }

  void listQuaternions() {
    for (const ClusterEntry& cluster : model_.tables.clusters) {
      // A quaternion is never tied by a coupling, so that q has all positions of its cluster.
      for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
        const BodyEntry<double>& body = model_.tables.bodies[b];
        if (!hasScalarCoordinates(body.type)) {
          model_.quaternions.push_back({cluster.firstQ + body.firstPosition -
                                            cluster.firstPosition + positionSize(body.type) - 4,
                                        b});
        }
      }
    }
  }

  void describeLoops() {
    std::size_t l = 0;
    for (std::size_t c = 0; c < sources_.size(); ++c) {
      const ClusterEntry& cluster = model_.tables.clusters[c];
      for (const LoopRef& loop : sources_[c].loops) {
        const LoopEntry<double>& entry = model_.tables.loops[l];
        LoopInfo info;
        info.name = model_.loopNames[l];
        info.kind = loop.kind;
        info.firstRow = cluster.firstRow + entry.firstRow;
        info.rows = entry.rows;
        info.firstForce = entry.firstForce;
        info.forces = entry.forces;
        info.forceIsUnique = forceIsUnique_[l];
        info.bodies = endsOf(model_.mechanism, loop);
        for (int t = 0; t < entry.terms; ++t) {
          const int velocity = model_.tables.terms[entry.firstTerm + t].velocity;
          info.coordinates.push_back(model_.velocityNames[cluster.firstVelocity + velocity]);
        }
        model_.loops.push_back(std::move(info));
        ++l;
      }
    }
    int nextForce = model_.tables.loopForces;
    for (std::size_t c = 0; c < model_.cutRefs.size(); ++c) {
      const ConstraintEntry& entry = model_.cuts.entries[c];
      LoopInfo info;
      info.name = entry.name;
      info.kind = model_.cutRefs[c].kind;
      info.cut = true;
      info.firstRow = model_.tables.rows + entry.firstRow;
      info.rows = entry.rows;
      info.firstForce = nextForce;
      info.forces = entry.forceEntries();
      nextForce += info.forces;
      info.bodies = endsOf(model_.mechanism, model_.cutRefs[c]);
      for (const LoopTerm<double>& term : entry.terms) {
        info.coordinates.push_back(model_.velocityNames[term.velocity]);
      }
      model_.loops.push_back(std::move(info));
    }
  }

  bool mayCut_;
  ModelImpl model_;
  std::vector<BodyCluster> sources_;  // one per cluster, in model order
  std::vector<int> modelBodyOf_;      // mechanism body → model body
  std::vector<bool> forceIsUnique_;   // per entry of tables.loops
};

}  // namespace

ModelImpl compile(const Mechanism& mechanism, const ModelOptions& options, bool mayCut) {
  ModelImpl model = Compiler(mechanism, options, mayCut).run();
  model.id = nextModelId();
  return model;
}

}  // namespace kempe::detail
