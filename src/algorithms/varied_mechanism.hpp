#pragma once

#include "kernels/implicit_loops.hpp"
#include "model/model_impl.hpp"
#include "spatial/dual.hpp"

namespace kempe::detail {

/// The state of a mechanism that varies along one direction at a time, and the recursions' memory in
/// dual numbers. One evaluation there gives the exact derivative of its results along the direction.
/// Along the tangent of q the loops stay closed, as integrate(q, along, ε) keeps them. Where `Base` is
/// a dual number itself, results have the mixed second derivative along both directions.
template <typename Base>
class BasicVariedState {
 public:
  using Number = Dual<Base>;

  /// Takes memory for the stages up to `last`; of a carver without memory it only counts it. Refers to
  /// the model.
  BasicVariedState(const ModelImpl& model, const FunctionScratch& functions, WorkStage last,
                   Carver& carver);

  /// The state itself, which does not vary until vary() says so; null vectors are zero.
  template <typename T>
  void set(const T* q, const T* v, const T* a, bool wholeRotors);
  /// Places the mechanism there, and with it G, by which joints follow along the tangent. Returns the
  /// first cluster at a singular position, or −1.
  int findRatios();
  /// The same where G, as in WorkView, is known.
  void setRatios(const Base* G);

  /// q varies along `dq` of the tangent, v along `dv` and a along `da`; null: not at all.
  void vary(const double* dq, const double* dv, const double* da);
  /// One of the directions of vary(): e_k.
  const double* unit(int k);

  /// G_ij of a cluster, of its i-th velocity, after findRatios() or setRatios().
  [[nodiscard]] Base ratio(const ClusterEntry& cluster, int i, int j) const {
    return cluster.kind == ClusterKind::Tree
               ? Base(i == j ? 1 : 0)
               : work.G[cluster.firstRatio + i * cluster.nv + j].value;
  }

  /// Placements and G of all bodies. Returns the first cluster at a singular position, or −1.
  int place() { return placeMechanism(tables, work, loops, q); }

  const TablesView<double>& tables;
  WorkView<Number> work;
  ImplicitLoops<Number> loops;
  Number *q, *v, *a;               ///< as they vary
  Base *valueQ, *valueV, *valueA;  ///< as they are

 private:
  void varyPositions(const double* along);

  Base* rates_;
  double* unit_;
};

using VariedState = BasicVariedState<double>;

/// The same with memory of its own, rotors whole.
class VariedMechanism {
 public:
  /// Refers to the model.
  explicit VariedMechanism(const ModelImpl& model)
      : scratch_(viewOf<double>(model)), memory_(size(model)), state_(stateIn(model)) {}
  VariedMechanism(const VariedMechanism&) = delete;
  VariedMechanism& operator=(const VariedMechanism&) = delete;

  VariedState& state() { return state_; }

 private:
  static std::size_t size(const ModelImpl& model) {
    Carver counter(nullptr);
    static_cast<void>(VariedState(model, {}, WorkStage::Motion, counter));
    return counter.used();
  }
  VariedState stateIn(const ModelImpl& model) {
    Carver carver(memory_.data());
    return {model, scratch_.forFunctions(), WorkStage::Motion, carver};
  }

  LoopScratch<double> scratch_;
  AlignedMemory memory_;
  VariedState state_;
};

/// A `Work`, whose constructor takes its parts from a carver, which comes last, in memory that grows.
template <typename Work, typename... Arguments>
Work carvedFrom(GrowingMemory& memory, const Arguments&... arguments) {
  Carver counter(nullptr);
  static_cast<void>(Work(arguments..., counter));
  Carver carver(memory.of(counter.used()));
  return Work(arguments..., carver);
}

}  // namespace kempe::detail
