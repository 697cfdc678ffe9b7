#include "model/compared_trees.hpp"

#include <mutex>

#include "model/arguments.hpp"

namespace kempe::detail {

struct ComparedTrees::Trees {
  std::once_flag spanningIsMade, independentIsMade;
  SpanningTree spanning;
  IndependentTree independent;
};

ComparedTrees::ComparedTrees() : trees_(std::make_shared<Trees>()) {}

const SpanningTree& ComparedTrees::spanning(const ModelImpl& model) const {
  requireRigid(model, "compared methods");
  std::call_once(trees_->spanningIsMade, [&] { trees_->spanning = spanningTreeOf(model); });
  return trees_->spanning;
}

const IndependentTree& ComparedTrees::independent(const ModelImpl& model) const {
  requireRigid(model, "compared methods");
  std::call_once(trees_->independentIsMade,
                 [&] { trees_->independent = independentTreeOf(model); });
  return trees_->independent;
}

}  // namespace kempe::detail
