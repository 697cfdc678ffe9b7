#pragma once

#include "kempe/method.hpp"
#include "kernels/external_forces.hpp"
#include "kernels/implicit_loops.hpp"
#include "model/arguments.hpp"
#include "tables/kernel_set.hpp"

namespace kempe::detail {

/// One evaluation of an algorithm: checks the user's input and prepares the recursions.
template <typename T>
class Evaluation {
 public:
  Evaluation(const Model& model, BasicData<T>& userData)
      : impl(model.impl()),
        data(userData.impl()),
        modelTables(viewOf<T>(impl)),
        tables(&modelTables),
        work(&data.work.upTo(modelTables, WorkStage::Motion)),
        loops(modelTables, impl.mechanism.functions, data.loops.forFunctions()) {
    requireData(impl, data);
    work->wholeRotors = false;
  }
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  void requireQ(VectorInOf<T> q) const { requireConfiguration<T>("q", impl, q); }
  template <typename Vector>
  void requireInput(const char* name, const Vector& x) const {
    requireVector(name, x, impl.tables.nv, "model.nv");
  }
  template <typename Vector>
  void requireOutput(const char* name, const Vector& x) const {
    requireSize(name, x.size(), impl.tables.nv, "model.nv");
  }
  template <typename Matrix>
  void requireMatrix(const char* name, const Matrix& x, Eigen::Index rows,
                     Eigen::Index columns) const {
    if (x.rows() != rows || x.cols() != columns) {
      throw std::invalid_argument(std::string(name) + " is " + std::to_string(x.rows()) + "×" +
                                  std::to_string(x.cols()) + ", but must be " +
                                  std::to_string(rows) + "×" + std::to_string(columns));
    }
  }
  const FrameEntry& frame(int index) const { return frameAt(impl, index); }

  /// Takes the tables and scratch of a tree instead of the model's.
  void use(const TablesView<T>& treeTables, Workspace<T>& treeWork) {
    tables = &treeTables;
    workspace_ = &treeWork;
    need(WorkStage::Motion);
  }
  /// Makes all of `work` up to `last` ready for use.
  void need(WorkStage last) { work = &workspace_->upTo(*tables, last); }

  /// Placements, G and S at q; throws SingularityError.
  void place(VectorInOf<T> q);
  /// Cluster c is singular at spanning positions.
  [[noreturn]] void throwSingular(int c, const T* positions) const;
  /// A velocity of the model, or of the spanning tree where that takes its place, moves no inertia.
  [[noreturn]] void throwIndefinite(int velocity) const;
  /// Velocities, and accelerations where ÿ is `ydd` (null: zero), after place. Gravity counts as an
  /// upward acceleration of the world.
  void move(const T* v, const T* ydd) {
    for (int c = 0; c < tables->clusterCount; ++c) {
      moveBodies(*tables, c, *work, loops, v, ydd);
    }
  }
  /// Checks external forces, and requests whole rotors if one acts on a rotor. Forces on the world
  /// are ignored. Allocates if there are more forces than in any call before.
  ExternalForces<T, T> prepareExternal(std::span<const FrameForce> external);
  /// Checks frames likewise, and allocates W of their unit forces.
  const BodyFrame<T>* prepareFrames(std::span<const int> frames, Reference reference);

  /// The model's kernels for this evaluation's tables and scratch.
  const KernelSet<T>& kernels() const { return kernelSets<T>().single; }
  /// `last` is the last part of the scratch memory that the kernel needs.
  KernelContext<T> context(KernelMemory<T>& memory, WorkStage last = WorkStage::LoopForces) const {
    return {*tables, memory.upTo(*tables, last), impl.mechanism.functions,
            data.loops.forFunctions(), work->wholeRotors};
  }
  /// For kernels that overwrite the motion of the bodies.
  KernelContext<T> context(WorkStage last = WorkStage::LoopForces) const {
    data.held.forget();
    return heldContext(last);
  }
  /// For those that leave it as it is.
  KernelContext<T> heldContext(WorkStage last = WorkStage::LoopForces) const {
    return context(data.kernels, last);
  }
  /// Throws where a kernel of the model failed at q.
  void require(const KernelOutcome& outcome, VectorInOf<T> q) const;
  BodyFrame<T> bodyFrame(const FrameEntry& frame, Reference reference) const {
    return {frame.body, frame.inBody.template cast<T>(), reference};
  }
  /// The point and axes in which vectors of a frame are expressed, in the common frame.
  Transform<T> referenceOf(const FrameEntry& frame, Reference reference) const {
    return referenceFrame(bodyFrame(frame, reference), *work);
  }
  Transform<T> framePlacement(const FrameEntry& frame) const {
    return work->X[frame.body] * frame.inBody.template cast<T>();
  }

  const ModelImpl& impl;
  DataImpl<T>& data;
  const TablesView<T>& modelTables;
  const TablesView<T>* tables;  ///< the model's, or those of a tree that a method replaces it by
  WorkView<T>* work;
  ImplicitLoops<T> loops;

 private:
  Workspace<T>* workspace_ = &data.work;
};

/// An evaluation with all bodies placed at q, folded rotors among them.
template <typename T>
class PlacedEvaluation : public Evaluation<T> {
 public:
  PlacedEvaluation(const Model& model, BasicData<T>& userData, VectorInOf<T> q)
      : Evaluation<T>(model, userData) {
    this->requireQ(q);
    this->work->wholeRotors = true;
    this->place(q);
  }
};

/// The six unit forces, [linear; angular], of a frame's reference in the common frame.
template <typename T>
void unitForces(const Evaluation<T>& e, const FrameEntry& frame, Reference reference,
                Force<T>* forces) {
  const Transform<T> X = e.referenceOf(frame, reference);
  for (int i = 0; i < 6; ++i) {
    Force<T> wrench{};
    (i < 3 ? wrench.force[i] : wrench.moment[i - 3]) = T(1);
    forces[i] = X * wrench;
  }
}

/// Allocates W of all unit forces, `size` numbers each, with 6 forces per frame.
template <typename T>
T* roomForForces(Evaluation<T>& e, std::size_t frames, int size) {
  const std::size_t numbers = 6 * frames * static_cast<std::size_t>(size);
  if (e.data.forces.size() < numbers) {
    e.data.forces.resize(numbers);
  }
  return e.data.forces.data();
}

}  // namespace kempe::detail
