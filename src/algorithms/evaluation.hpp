#pragma once

#include "algorithms/arguments.hpp"
#include "algorithms/kernels/host_loops.hpp"
#include "kempe/method.hpp"

namespace kempe::detail {

/// One evaluation of an algorithm: checks what the user handed in and prepares the recursions.
template <typename T>
class Evaluation {
 public:
  Evaluation(const Model& model, BasicData<T>& userData)
      : impl(model.impl()),
        data(userData.impl()),
        tables(tablesOf<T>(impl)),
        work(data.work.view()),
        loops(tablesOf<T>(impl), impl.mechanism.functions, data.loops) {
    requireData(impl, data);
  }

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
  const FrameEntry& frame(int index) const;

  /// Placements, G and S at q; throws SingularityError.
  void place(VectorInOf<T> q);
  /// Cluster c is singular at spanning positions.
  [[noreturn]] void throwSingular(int c, const T* positions) const;
  /// Articulated inertias, after place; throws SingularityError where a freedom moves none.
  void condense();
  /// Velocities, and accelerations where ÿ is `ydd` (null: zero), after place. Gravity counts as an
  /// upward acceleration of the world.
  void move(const T* v, const T* ydd) {
    for (int c = 0; c < tables.clusterCount; ++c) {
      moveBodies(tables, c, work, loops, v, ydd);
    }
  }
  /// Checks external forces, and asks for whole rotors where one acts on a rotor; before place.
  void prepareExternal(std::span<const FrameForce> external);
  /// −f_ext in work.f, after place.
  void applyExternal(std::span<const FrameForce> external);

  /// A wrench of a frame, in the common frame.
  Force<T> commonForce(const FrameEntry& frame, Reference reference, const Force<T>& wrench) const;
  Force<T> commonForce(const FrameEntry& frame, const FrameForce& force) const {
    const auto& w = force.wrench;
    return commonForce(frame, force.reference,
                       {{T(w[3]), T(w[4]), T(w[5])}, {T(w[0]), T(w[1]), T(w[2])}});
  }
  /// The origin of a frame's reference in the common frame.
  Vec3<T> referencePoint(const FrameEntry& frame, Reference reference) const;
  /// The axes of a frame's reference as columns, axes of the world.
  Mat3<T> referenceAxes(const FrameEntry& frame, Reference reference) const;
  Transform<T> framePlacement(const FrameEntry& frame) const {
    return placementOf(work, frame.body) * frame.inBody.template cast<T>();
  }

  const ModelImpl& impl;
  DataImpl<T>& data;
  TablesView<T> tables;
  WorkView<T> work;
  HostLoops<T> loops;
};

/// An evaluation with all bodies placed at q, folded rotors among them.
template <typename T>
Evaluation<T> placedWhole(const Model& model, BasicData<T>& data, VectorInOf<T> q) {
  Evaluation<T> e(model, data);
  e.requireQ(q);
  e.work.wholeRotors = true;
  e.place(q);
  return e;
}

/// The six unit forces, [linear; angular], of a frame's reference in the common frame.
template <typename T>
void unitForces(const Evaluation<T>& e, const FrameEntry& frame, Reference reference,
                Force<T>* forces) {
  for (int i = 0; i < 6; ++i) {
    Force<T> wrench{};
    (i < 3 ? wrench.force[i] : wrench.moment[i - 3]) = T(1);
    forces[i] = e.commonForce(frame, reference, wrench);
  }
}

/// Makes room for W of all unit forces, `size` numbers each, with 6 forces per frame.
template <typename T>
T* roomForForces(Evaluation<T>& e, std::span<const int> frames, int size) {
  const std::size_t numbers = 6 * frames.size() * static_cast<std::size_t>(size);
  if (e.data.forces.size() < numbers) {
    e.data.forces.resize(numbers);
  }
  return e.data.forces.data();
}

/// Omega = Wᵀ W, with W nv numbers for each of Omega's columns.
template <typename T>
void writeProducts(const T* W, int nv, MatrixOutOf<T> Omega) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Map<const Matrix> all(W, nv, Omega.cols());
  Omega.template triangularView<Eigen::Lower>() = all.transpose().lazyProduct(all);
  Omega.template triangularView<Eigen::StrictlyUpper>() = Omega.transpose();
}

}  // namespace kempe::detail
