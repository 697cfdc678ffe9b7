#pragma once

#include <vector>

#include "kernels/implicit_loops.hpp"
#include "model/model_impl.hpp"
#include "spatial/dual.hpp"

namespace kempe::detail {

/// q of all clusters, varied along the tangent `along` (nv numbers), along which the tree joints move
/// at `rates` (G along), as integrate(q, along, ε) does: the loops stay closed.
void varyPositions(const TablesView<double>& tables, const double* q, const double* along,
                   const double* rates, Dual<double>* result);

/// A mechanism whose state varies along one direction: the recursions' memory in dual numbers. One
/// evaluation gives the exact derivatives of placements, velocities and G along that direction.
class VariedMechanism {
 public:
  using Number = Dual<double>;

  /// Refers to the model.
  explicit VariedMechanism(const ModelImpl& model);
  VariedMechanism(const VariedMechanism&) = delete;
  VariedMechanism& operator=(const VariedMechanism&) = delete;

  /// See varyPositions().
  void setPosition(const double* q, const double* along, const double* rates) {
    varyPositions(tables_, q, along, rates, q_.data());
  }
  /// Placements and G of all bodies, rotors among them. Returns the first cluster at a singular
  /// position, or −1.
  int place();
  /// Their velocities at v, which does not vary, after place().
  void move(const double* v);

  [[nodiscard]] WorkView<Number>& work() { return work_; }

 private:
  const TablesView<double>& tables_;
  std::vector<AlignedMemory> memory_;
  WorkView<Number> work_;
  LoopScratch<double> scratch_;
  ImplicitLoops<Number> loops_;
  std::vector<Number> q_, v_;
};

}  // namespace kempe::detail
