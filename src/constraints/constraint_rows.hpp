#pragma once

#include "constraints/table.hpp"
#include "loops/body_rows.hpp"
#include "loops/run_program.hpp"
#include "spatial/scalar_lanes.hpp"
#include "tables/kernel_arguments.hpp"
#include "tables/workspace.hpp"

/// φ, φ̇, K and the bias of constraints in the common frame, on bodies that have been placed and
/// moved with ÿ = 0. A row is a wrench f between two bodies (see loops/joint_rows.hpp) or slopes along
/// coordinates:
///
///   φ̇ = fᵀ (v_B − v_A)              φ̈ = K ÿ + β,  β = fᵀ (a°_B − a°_A) + ḟᵀ (v_B − v_A)     (1)
///   φ̇ = Σ slope q̇ + ∂φ/∂t          φ̈ = K ÿ + β,  β by a jet along (q̇, g, 1)                 (2)
///
/// The `motion` that rows are evaluated at has the functions
///   end(ConstraintEnd)      placement, velocity and acceleration a° of an end
///   position(i)             spanning position i, of a coordinate that a row acts on
///   rate(entry, t)          q̇ of term t of an entry
///   acceleration(entry, t)  its q̈ where ÿ = 0
namespace kempe::detail {

/// One row at one state.
template <typename T>
struct ConstraintRow {
  Force<T> wrench{};  ///< on the successor's body, its opposite on the predecessor's
  T value{};          ///< φ
  T rate{};           ///< φ̇
  T bias{};           ///< φ̈ where ÿ = 0
};

/// Scratch for the functions of coordinates that are called back.
struct TimedFunctionScratch {
  std::vector<double> q, phi;
  std::vector<Jet> jetQ, jetPhi;

  void makeRoomFor(const ConstraintEntry& entry) {
    if (entry.form.kind == RowKind::Function) {
      const auto terms = entry.terms.size();
      const auto rows = static_cast<std::size_t>(entry.rows);
      q.resize(std::max(q.size(), 3 * terms));
      jetQ.resize(std::max(jetQ.size(), terms));
      phi.resize(std::max(phi.size(), rows * (3 + terms)));
      jetPhi.resize(std::max(jetPhi.size(), rows));
    }
  }
  FunctionScratch view() { return {q.data(), phi.data(), jetQ.data(), jetPhi.data()}; }
};

/// The callbacks of constraints. They are compiled once, not for each instruction set.
///
/// φ, φ̇, φ̈ (rows each) and ∂φ/∂q (rows × terms) of a function into scratch.phi, from q, q̇ and q̈
/// (terms each) in scratch.q.
void callFunction(const ConstraintEntry& entry, double time, const FunctionScratch& scratch);
/// The motion of a prescribed coordinate.
PrescribedMotion motionAt(const ConstraintEntry& entry, double time);
/// How far the positions of a locked joint are from where it was locked: rows numbers.
void lockErrors(const ConstraintEntry& entry, const double* positions, double* errors);

/// The motion that moveBodies leaves of all bodies.
template <typename T>
struct StoredMotion {
  const WorkView<T>& work;

  [[nodiscard]] EndMotion<T> end(const ConstraintEnd& end) const {
    return {placed(work.X[end.body], end.frame), work.v[end.body], work.a[end.body]};
  }
  [[nodiscard]] T position(int i) const { return work.positions[i]; }
  [[nodiscard]] T rate(const ConstraintEntry& entry, int t) const {
    return work.rates[entry.terms[t].velocity];
  }
  [[nodiscard]] T acceleration(const ConstraintEntry& entry, int t) const {
    return work.accelerations[entry.terms[t].velocity];
  }
};

/// Rows of a constraint between two bodies.
template <typename T, typename MotionAt>
void bodyRows(const ConstraintEntry& entry, const MotionAt& motion, ConstraintRow<T>* rows) {
  const EndMotion<T> A = motion.end(entry.predecessor), B = motion.end(entry.successor);
  const Motion<T> v = B.v - A.v, a = B.a - A.a;
  forBodyRows(entry.form, entry.rows, A.X, B.X, [&](int r, const auto& row) {
    const Force<T> f = row.wrench();
    rows[r] = {f, row.value(), dot(f, v), dot(f, a) + dot(row.wrenchRate(A, B), v)};  // (1)
  });
}

/// Rows of a function of coordinates, by its program or by its callbacks, state after state.
template <typename T, typename MotionAt>
void functionRows(const ConstraintEntry& entry, const MotionAt& motion, double time,
                  const FunctionScratch& scratch, T* registers, ConstraintRow<T>* rows, T* slopes) {
  const int terms = static_cast<int>(entry.terms.size()), count = entry.rows;
  if (entry.program.steps > 0) {
    for (int t = 0; t < terms; ++t) {
      registers[t] = motion.position(entry.terms[t].position);
      registers[terms + 1 + t] = motion.rate(entry, t);
      registers[2 * terms + 1 + t] = motion.acceleration(entry, t);
    }
    registers[terms] = T(time);
    const T* phi = runProgram(entry.programSteps.data(), entry.program, registers);
    for (int r = 0; r < count; ++r) {  // (2)
      rows[r] = {{}, phi[r], phi[count + r], phi[2 * count + r]};
    }
    for (int i = 0; i < count * terms; ++i) {
      slopes[i] = phi[3 * count + i];
    }
    return;
  }
  using Scalar = typename Lanes<T>::Scalar;
  for (int lane = 0; lane < Lanes<T>::count; ++lane) {
    for (int t = 0; t < terms; ++t) {
      const auto number = [&](const T& x) { return static_cast<double>(Lanes<T>::get(x, lane)); };
      scratch.q[t] = number(motion.position(entry.terms[t].position));
      scratch.q[terms + t] = number(motion.rate(entry, t));
      scratch.q[2 * terms + t] = number(motion.acceleration(entry, t));
    }
    callFunction(entry, time, scratch);
    const auto put = [&](T& to, double x) { Lanes<T>::set(to, lane, static_cast<Scalar>(x)); };
    for (int r = 0; r < count; ++r) {
      rows[r].wrench = {};
      put(rows[r].value, scratch.phi[r]);
      put(rows[r].rate, scratch.phi[count + r]);
      put(rows[r].bias, scratch.phi[2 * count + r]);
    }
    for (int i = 0; i < count * terms; ++i) {
      put(slopes[i], scratch.phi[3 * count + i]);
    }
  }
}

/// Rows of a constraint on coordinates; `slopes` is rows × terms, `registers` those of its program.
template <typename T, typename MotionAt>
void coordinateRows(const ConstraintEntry& entry, const MotionAt& motion, double time,
                    const FunctionScratch& scratch, T* registers, ConstraintRow<T>* rows,
                    T* slopes) {
  const int terms = static_cast<int>(entry.terms.size());
  switch (entry.form.kind) {
    case RowKind::Coupling: {
      T value = T(-entry.form.offset), rate(0), bias(0);
      for (int t = 0; t < terms; ++t) {
        const T c = T(entry.terms[t].coefficient);
        value += c * motion.position(entry.terms[t].position);
        rate += c * motion.rate(entry, t);
        bias += c * motion.acceleration(entry, t);
        slopes[t] = c;
      }
      rows[0] = {{}, value, rate, bias};
      break;
    }
    case RowKind::Prescribed: {
      const PrescribedMotion wanted = motionAt(entry, time);
      rows[0] = {{},
                 motion.position(entry.terms[0].position) - T(wanted.position),
                 motion.rate(entry, 0) - T(wanted.velocity),
                 motion.acceleration(entry, 0) - T(wanted.acceleration)};
      slopes[0] = T(1);
      break;
    }
    case RowKind::Lock: {
      const int first = entry.terms[0].position,
                positions = static_cast<int>(entry.reference.size());
      for (int r = 0; r < terms; ++r) {
        rows[r] = {{}, T(0), motion.rate(entry, r), motion.acceleration(entry, r)};
        for (int t = 0; t < terms; ++t) {
          slopes[r * terms + t] = T(r == t ? 1 : 0);
        }
      }
      for (int lane = 0; lane < Lanes<T>::count; ++lane) {
        double at[7]{}, errors[6]{};
        for (int i = 0; i < positions; ++i) {
          at[i] = static_cast<double>(Lanes<T>::get(motion.position(first + i), lane));
        }
        lockErrors(entry, at, errors);
        for (int r = 0; r < terms; ++r) {
          Lanes<T>::set(rows[r].value, lane, static_cast<typename Lanes<T>::Scalar>(errors[r]));
        }
      }
      break;
    }
    case RowKind::Held:
      rows[0] = {{}, T(0), motion.rate(entry, 0), motion.acceleration(entry, 0)};
      slopes[0] = T(1);
      break;
    case RowKind::Function:
      functionRows(entry, motion, time, scratch, registers, rows, slopes);
      break;
    default:
      break;
  }
}

/// Whether the rows of a constraint have a φ (holonomic), or constrain velocities only.
inline bool isHolonomic(const ConstraintEntry& entry, int row) {
  return entry.form.kind != RowKind::KnifeEdge && entry.form.kind != RowKind::Held &&
         !(entry.form.kind == RowKind::Rolling && row < 2);
}

}  // namespace kempe::detail
