#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "constraints/scratch.hpp"
#include "kempe/model.hpp"
#include "loops/scratch.hpp"
#include "mechanism/clusters.hpp"
#include "model/compared_scratch.hpp"
#include "model/compared_trees.hpp"
#include "model/held_motion.hpp"
#include "tables/block.hpp"
#include "tables/kernel_set.hpp"
#include "tables/tables.hpp"
#include "tables/workspace.hpp"

namespace kempe::detail {

/// A named frame: fixed on a moving body or in the world.
struct FrameEntry {
  int body = kWorld;
  Pose inBody{};  ///< in the body's turned frame
};

/// A quaternion in q.
struct QuaternionEntry {
  int firstQ = 0;
  int body = 0;  ///< whose joint it belongs to
};

/// The contents of a Model; see Model for the meaning of the names.
struct ModelImpl {
  std::uint64_t id = 0;  ///< tells models apart; Data remembers it
  Mechanism mechanism;
  ModelOptions options;
  std::vector<std::string> warnings;

  ModelTables<double> tables;            ///< from which models with other coordinates are derived
  FinishedTables finished;               ///< the same, for evaluations
  std::vector<int> jointOfBody;          ///< moving body → index into mechanism.joints
  std::vector<Pose> linkFrames;          ///< moving body → its file frame in its turned frame
  std::vector<std::string> loopNames;    ///< per entry of tables.loops
  std::vector<double> lower, upper;      ///< limits of the spanning position
  std::vector<double> neutralPositions;  ///< spanning

  std::vector<std::string> qNames, vNames, positionNames, velocityNames, rowNames;
  std::vector<std::string> bodyNames, jointNames, frameNames, foldedRotors, actuated;
  std::vector<FrameEntry> frames;  ///< in the order of frameNames
  std::vector<QuaternionEntry> quaternions;
  std::unordered_map<std::string, int> bodyByJoint;
  std::unordered_map<std::string, int> frameByName;
  std::vector<ClusterInfo> clusters;
  std::vector<LoopInfo> loops;
  double totalMass = 0.0;
  Vector neutral;

  std::vector<LoopRef> cutRefs;  ///< loops that are left cut
  ConstraintTable cuts;          ///< the same, compiled
  std::vector<std::string> cutNames;

  ComparedTrees comparedTrees;

  [[nodiscard]] const SpanningTree& spanning() const { return comparedTrees.spanning(*this); }
  [[nodiscard]] const IndependentTree& independentTree() const {
    return comparedTrees.independent(*this);
  }
  [[nodiscard]] const Joint& joint(int body) const {
    return mechanism.joints[static_cast<std::size_t>(jointOfBody[static_cast<std::size_t>(body)])];
  }
};

/// Compiles a mechanism; throws ModelError. Loops whose `cut` is unset are cut if that costs less
/// and `mayCut` is true.
ModelImpl compile(const Mechanism& mechanism, const ModelOptions& options, bool mayCut);

template <typename T>
const TablesView<T>& viewOf(const ModelImpl& model) {
  return model.finished.view<T>();
}

/// Vectors of the dynamics that forces between bodies come with.
template <typename T>
struct ForceScratch {
  explicit ForceScratch(const ModelTables<double>& tables)
      : result(static_cast<std::size_t>(tables.nv)),
        generalized(result),
        total(result),
        spanning(static_cast<std::size_t>(tables.velocities)) {}

  std::vector<T> result;       ///< a or tau, before it may overwrite an input
  std::vector<T> generalized;  ///< Gᵀ spanning
  std::vector<T> total;        ///< tau + generalized
  std::vector<T> spanning;     ///< forces at all joints beside tau

  struct BodyWrench {
    int body = kWorld;
    Force<T> wrench{};  ///< in the common frame
  };
  std::vector<BodyWrench> cutWrenches;  ///< forces of cut loops on bodies
  std::vector<double> cutTorques;       ///< and on joints; empty if there are none
};

/// The contents of Data: scratch memory sized for one model.
template <typename T>
struct DataImpl {
  explicit DataImpl(const ModelImpl& model);

  /// For the methods that Cluster is compared with; made when one is first used.
  ComparedScratch<T>& compared(const ModelImpl& model) {
    if (!comparedScratch_) {
      comparedScratch_ = std::make_unique<ComparedScratch<T>>(model);
    }
    return *comparedScratch_;
  }

  /// Allocates the parts of `work` and `kernels` that are otherwise allocated at first calls.
  void allocateAll(const ModelImpl& model) {
    work.upTo(viewOf<T>(model), WorkStage::LoopForces);
    kernels.upTo(viewOf<T>(model), WorkStage::LoopForces);
  }

  std::uint64_t modelId;
  LoopScratch<T> loops;              ///< work on one cluster
  Workspace<T> work;                 ///< work of the recursions with plain numbers
  KernelMemory<T> kernels;           ///< work of the recursions as compiled for the processor
  HeldMotion<T> held;                ///< the motion that `kernels` has
  std::vector<BodyFrame<T>> frames;  ///< of external forces, or asked for
  std::vector<T> wrenches;           ///< 6 of each external force
  std::vector<T> forces;             ///< unit forces' way through the mechanism, nv each
  std::vector<T> vector;             ///< nv, for algorithms that call others
  ForceScratch<T> forceScratch;      ///< of the forces between bodies
  std::vector<T> terms;              ///< results of allTerms
  AlignedMemory coriolis;            ///< of the Coriolis matrix
  std::optional<AlignedMemory> derivatives;  ///< of derivatives, from the first time on
  GrowingMemory secondDerivatives;           ///< likewise
  ConstraintScratch<T> constraints;          ///< for rows with multipliers
  std::vector<double> positions;             ///< spanning
  std::vector<double> velocities;            ///< spanning
  std::vector<double> q;                     ///< a configuration
  std::vector<double> G;                     ///< one cluster's n×m
  std::vector<double> g;                     ///< one cluster's n

 private:
  std::unique_ptr<ComparedScratch<T>> comparedScratch_;
};

}  // namespace kempe::detail
