#pragma once

#include "constraints/table.hpp"
#include "loops/body_rows.hpp"
#include "loops/run_program.hpp"
#include "spatial/joint_motion.hpp"
#include "tables/workspace.hpp"

/// φ, φ̇, K and the bias of constraints in the common frame, on bodies that have been placed and
/// moved with ÿ = 0. A row is a wrench f between two bodies (see loops/joint_rows.hpp) or slopes along
/// coordinates:
///
///   φ̇ = fᵀ (v_B − v_A)              φ̈ = K ÿ + β,  β = fᵀ (a°_B − a°_A) + ḟᵀ (v_B − v_A)     (1)
///   φ̇ = Σ slope q̇ + ∂φ/∂t          φ̈ = K ÿ + β,  β by a jet along (q̇, g, 1)                 (2)
namespace kempe::detail {

/// One row at one state.
template <typename T>
struct ConstraintRow {
  Force<T> wrench{};  ///< on the successor's body, its opposite on the predecessor's
  T value{};          ///< φ
  T rate{};           ///< φ̇
  T bias{};           ///< φ̈ where ÿ = 0
};

/// Scratch for the functions of coordinates.
struct TimedFunctionScratch {
  std::vector<double> q, phi;
  std::vector<Jet> jetQ, jetPhi;
  std::vector<double> registers;  ///< of programs

  void makeRoomFor(const ConstraintTable& table) {
    const auto terms = static_cast<std::size_t>(table.mostTerms);
    const auto rows = static_cast<std::size_t>(table.mostFunctionRows);
    if (q.size() < terms || phi.size() < rows) {
      q.resize(std::max(q.size(), terms));
      jetQ.resize(q.size());
      phi.resize(std::max(phi.size(), rows));
      jetPhi.resize(phi.size());
    }
    registers.resize(std::max(registers.size(), static_cast<std::size_t>(table.functionNumbers)));
  }
};

template <typename T>
EndMotion<T> motionOf(const ConstraintEnd& end, const WorkView<T>& work) {
  return {placed(work.X[end.body], end.frame), work.v[end.body], work.a[end.body]};
}

/// Rows of a constraint between two bodies.
template <typename T>
void bodyRows(const ConstraintEntry& entry, const WorkView<T>& work, ConstraintRow<T>* rows) {
  const EndMotion<T> A = motionOf(entry.predecessor, work), B = motionOf(entry.successor, work);
  const Motion<T> v = B.v - A.v, a = B.a - A.a;
  forBodyRows(entry.form, entry.rows, A.X, B.X, [&](int r, const auto& row) {
    const Force<T> f = row.wrench();
    rows[r] = {f, row.value(), dot(f, v), dot(f, a) + dot(row.wrenchRate(A, B), v)};  // (1)
  });
}

/// Rows of a constraint on coordinates; `slopes` is rows × terms.
template <typename T>
void coordinateRows(const ConstraintEntry& entry, const WorkView<T>& work, double time,
                    TimedFunctionScratch& scratch, ConstraintRow<T>* rows, T* slopes) {
  const int terms = static_cast<int>(entry.terms.size());
  switch (entry.form.kind) {
    case RowKind::Coupling: {
      ConstraintRow<T> row{};
      row.value = T(-entry.form.offset);
      for (int t = 0; t < terms; ++t) {
        const ConstraintTerm& term = entry.terms[t];
        const T c = static_cast<T>(term.coefficient);
        row.value += c * work.positions[term.position];
        row.rate += c * work.rates[term.velocity];
        row.bias += c * work.accelerations[term.velocity];
        slopes[t] = c;
      }
      rows[0] = row;
      break;
    }
    case RowKind::Prescribed: {
      const ConstraintTerm& term = entry.terms[0];
      const PrescribedMotion motion = entry.motion(time);
      rows[0] = {{},
                 work.positions[term.position] - T(motion.position),
                 work.rates[term.velocity] - T(motion.velocity),
                 work.accelerations[term.velocity] - T(motion.acceleration)};
      slopes[0] = T(1);
      break;
    }
    case RowKind::Lock: {
      T reference[7], step[6];
      for (std::size_t i = 0; i < entry.reference.size(); ++i) {
        reference[i] = T(entry.reference[i]);
      }
      jointDifference(entry.jointType, reference, work.positions + entry.terms[0].position, step);
      for (int r = 0; r < terms; ++r) {
        const int velocity = entry.terms[r].velocity;
        rows[r] = {{}, step[r], work.rates[velocity], work.accelerations[velocity]};
        for (int t = 0; t < terms; ++t) {
          slopes[r * terms + t] = T(r == t ? 1 : 0);
        }
      }
      break;
    }
    case RowKind::Held: {
      const int velocity = entry.terms[0].velocity;
      rows[0] = {{}, T(0), work.rates[velocity], work.accelerations[velocity]};
      slopes[0] = T(1);
      break;
    }
    case RowKind::Function: {
      if (entry.program.steps > 0) {
        double* const numbers = scratch.registers.data();
        for (int t = 0; t < terms; ++t) {
          const ConstraintTerm& term = entry.terms[t];
          numbers[t] = static_cast<double>(work.positions[term.position]);
          numbers[terms + 1 + t] = static_cast<double>(work.rates[term.velocity]);
          numbers[2 * terms + 1 + t] = static_cast<double>(work.accelerations[term.velocity]);
        }
        numbers[terms] = time;
        const double* phi = runProgram(entry.programSteps.data(), entry.program, numbers);
        for (int r = 0; r < entry.rows; ++r) {  // (2)
          rows[r] = {{}, T(phi[r]), T(phi[entry.rows + r]), T(phi[2 * entry.rows + r])};
        }
        for (int i = 0; i < entry.rows * terms; ++i) {
          slopes[i] = T(phi[3 * entry.rows + i]);
        }
        break;
      }
      const std::span<Jet> q(scratch.jetQ.data(), static_cast<std::size_t>(terms));
      const std::span<Jet> phi(scratch.jetPhi.data(), static_cast<std::size_t>(entry.rows));
      for (int t = 0; t < terms; ++t) {
        q[t] = Jet(static_cast<double>(work.positions[entry.terms[t].position]));
      }
      for (int t = 0; t < terms; ++t) {
        q[t].first = 1.0;
        entry.function.jet(q, Jet(time), phi);
        q[t].first = 0.0;
        for (int r = 0; r < entry.rows; ++r) {
          slopes[r * terms + t] = T(phi[r].first);
        }
      }
      for (int t = 0; t < terms; ++t) {
        q[t].first = static_cast<double>(work.rates[entry.terms[t].velocity]);
        q[t].second = static_cast<double>(work.accelerations[entry.terms[t].velocity]);
      }
      entry.function.jet(q, Jet(time, 1.0, 0.0), phi);
      for (int r = 0; r < entry.rows; ++r) {
        rows[r] = {{}, T(phi[r].value), T(phi[r].first), T(phi[r].second)};  // (2)
      }
      break;
    }
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
