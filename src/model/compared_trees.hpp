#pragma once

#include <memory>

#include "model/independent_tree.hpp"
#include "model/spanning_tree.hpp"

namespace kempe::detail {

/// The trees of a model that methods compared with Cluster compute on. Each is made when it is first
/// used, by whichever thread comes first; copies of a model share them.
class ComparedTrees {
 public:
  ComparedTrees();

  [[nodiscard]] const SpanningTree& spanning(const ModelImpl& model) const;
  [[nodiscard]] const IndependentTree& independent(const ModelImpl& model) const;

 private:
  struct Trees;
  std::shared_ptr<Trees> trees_;
};

}  // namespace kempe::detail
