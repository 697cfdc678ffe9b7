#include "algorithms/cut_loops.hpp"
#include "model/model_impl.hpp"
#include "model/positions.hpp"

// A model with loops that are left cut is compiled first; the dynamics of its tree then close them.

namespace kempe {

namespace {

/// Whether some loops would be left cut because that costs less.
bool cutsByCost(const Mechanism& mechanism) {
  return findClusters(mechanism, MovingTree(mechanism)).chosen;
}

}  // namespace

Model::Model(const Mechanism& mechanism, const ModelOptions& options) {
  const auto compileWith = [&](bool mayCut) {
    const auto impl =
        std::make_shared<detail::ModelImpl>(detail::compile(mechanism, options, mayCut));
    impl_ = impl;
    if (!impl->cuts.entries.empty()) {
      impl->neutral = detail::neutralWithCuts(*this);
      detail::expandPositions(*impl, impl->neutral.data(), impl->neutralPositions.data());
      const bool unique = detail::cutForcesAreUnique(*this);
      for (LoopInfo& loop : impl->loops) {
        loop.forceIsUnique = loop.forceIsUnique && (unique || !loop.cut);
      }
    }
  };
  try {
    compileWith(true);
  } catch (const ModelError&) {
    // An embedded loop may have a massless link or redundant rows with rounded numbers, which a cut
    // tree cannot have.
    static_cast<void>(mechanism.validate());  // throws again where the graph itself is wrong
    if (!cutsByCost(mechanism)) {
      throw;
    }
    compileWith(false);
  }
}

}  // namespace kempe
