#pragma once

#include "constraints/table.hpp"
#include "loops/joint_rows.hpp"
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

/// Where a wheel or ball touches a plane, how fast that point travels, and the height over it.
template <typename T>
struct Contact {
  Vec3<T> point{}, pointRate{};
  T height{};
};

/// `B` has the wheel's centre as origin and its axle as z. With n the plane's normal and e the
/// axle, the contact is at c − r d, d = n of a ball, d = (n − (n·e) e) / |…| of a disc.
template <typename T>
Contact<T> contactOf(const ConstraintEntry& entry, const EndMotion<T>& A, const EndMotion<T>& B) {
  using std::sqrt;
  const T radius = static_cast<T>(entry.length);
  const Vec3<T> n = A.X.R.column(2), nRate = cross(A.v.angular, n);
  const Vec3<T> centerRate = B.v.linear + cross(B.v.angular, B.X.p);
  Vec3<T> d = n, dRate = nRate;
  if (!entry.ball) {
    const Vec3<T> e = B.X.R.column(2), eRate = cross(B.v.angular, e);
    const T along = dot(n, e), alongRate = dot(nRate, e) + dot(n, eRate);
    const Vec3<T> across = n - along * e;
    const Vec3<T> acrossRate = nRate - alongRate * e - along * eRate;
    const T inverse = T(1) / sqrt(dot(across, across));
    d = inverse * across;
    dRate = inverse * (acrossRate - dot(d, acrossRate) * d);
  }
  const Vec3<T> point = B.X.p - radius * d;
  return {point, centerRate - radius * dRate, dot(n, point - A.X.p)};
}

/// A force along e through a point that travels, and its rate: f of (1) and ḟ.
template <typename T>
struct MovingForce {
  Force<T> force, rate;
};

template <typename T>
MovingForce<T> forceThrough(const Vec3<T>& point, const Vec3<T>& pointRate, const Vec3<T>& e,
                            const Vec3<T>& eRate) {
  return {{cross(point, e), e}, {cross(pointRate, e) + cross(point, eRate), eRate}};
}

/// Rows of a constraint between two bodies.
template <typename T>
void bodyRows(const ConstraintEntry& entry, const WorkView<T>& work, ConstraintRow<T>* rows) {
  const EndMotion<T> A = motionOf(entry.predecessor, work), B = motionOf(entry.successor, work);
  const Motion<T> v = B.v - A.v, a = B.a - A.a;
  const auto write = [&](ConstraintRow<T>& row, const T& value, const Force<T>& f,
                         const Force<T>& fRate) {
    row = {f, value, dot(f, v), dot(f, a) + dot(fRate, v)};  // (1)
  };
  switch (entry.kind) {
    case ConstraintKind::Joint: {
      const RowRules rules = rowRules(entry.type);
      for (int r = 0; r < rules.count; ++r) {
        const RowRule& rule = rules.first[r];
        write(rows[r], rowValue(rule, T(entry.cosine), A.X, B.X), rowWrench(rule, A.X, B.X),
              rowWrenchRate(rule, A, B));
      }
      break;
    }
    case ConstraintKind::Rod: {
      const T length = static_cast<T>(entry.length);
      write(rows[0], rodValue(length, A.X, B.X), rodWrench(length, A.X, B.X),
            rodWrenchRate(length, A, B));
      break;
    }
    case ConstraintKind::KnifeEdge: {
      const Vec3<T> e = B.X.R.column(0);
      const Vec3<T> pointRate = B.v.linear + cross(B.v.angular, B.X.p);
      const MovingForce<T> f = forceThrough(B.X.p, pointRate, e, cross(B.v.angular, e));
      write(rows[0], T(0), f.force, f.rate);
      break;
    }
    case ConstraintKind::Rolling: {
      const Contact<T> contact = contactOf(entry, A, B);
      for (int r = 0; r < entry.rows; ++r) {
        const Vec3<T> e = A.X.R.column(r);
        const MovingForce<T> f =
            forceThrough(contact.point, contact.pointRate, e, cross(A.v.angular, e));
        write(rows[r], r == 2 ? contact.height : T(0), f.force, f.rate);
      }
      break;
    }
    default:
      break;
  }
}

/// Rows of a constraint on coordinates; `slopes` is rows × terms.
template <typename T>
void coordinateRows(const ConstraintEntry& entry, const WorkView<T>& work, double time,
                    TimedFunctionScratch& scratch, ConstraintRow<T>* rows, T* slopes) {
  const int terms = static_cast<int>(entry.terms.size());
  switch (entry.kind) {
    case ConstraintKind::Coupling: {
      ConstraintRow<T> row{};
      row.value = T(-entry.offset);
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
    case ConstraintKind::Prescribed: {
      const ConstraintTerm& term = entry.terms[0];
      const PrescribedMotion motion = entry.motion(time);
      rows[0] = {{},
                 work.positions[term.position] - T(motion.position),
                 work.rates[term.velocity] - T(motion.velocity),
                 work.accelerations[term.velocity] - T(motion.acceleration)};
      slopes[0] = T(1);
      break;
    }
    case ConstraintKind::Lock: {
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
    case ConstraintKind::Held: {
      const int velocity = entry.terms[0].velocity;
      rows[0] = {{}, T(0), work.rates[velocity], work.accelerations[velocity]};
      slopes[0] = T(1);
      break;
    }
    case ConstraintKind::Function: {
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
  return entry.kind != ConstraintKind::KnifeEdge && entry.kind != ConstraintKind::Held &&
         !(entry.kind == ConstraintKind::Rolling && row < 2);
}

}  // namespace kempe::detail
