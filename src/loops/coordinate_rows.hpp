#pragma once

#include "loops/function_calls.hpp"
#include "loops/run_program.hpp"
#include "spatial/scalar_lanes.hpp"
#include "tables/tables.hpp"

/// The rows of loops and constraints along coordinates, embedded, cut or switched on and off: the
/// one place where the kinds of loops among them are told apart. (Rows that only constraints have are
/// in constraints/constraint_rows.hpp.)
///
/// φ is a function of the coordinates x of the rows' terms. Time, if it depends on it, is one more
/// coordinate after those, whose rate is 1:
///
///   φ̇ = Σ ∂φ/∂x ẋ        φ̈ = Σ ∂φ/∂x ẍ + ∂²φ/∂x² [ẋ, ẋ]                     (1)
///
/// A kind of rows is a struct with the functions
///   arguments()            number of coordinates x
///   values(visit)          visit(r, φ)
///   slopes(visit)          visit(r, slope) with slope(t) = ∂φ/∂x_t
///   secondRates(visit)     visit(r, φ̈ where ẍ = 0), after slopes at the same position
///   slopeRates(visit)      visit(r, rate) with rate(t) = d/dt ∂φ/∂x_t, where it is not zero
///   prepareSecondOrder(registers, results), secondOrder(results): see SecondOrder
/// The point `x` at which rows are evaluated has the functions position(t), rate(t) and
/// acceleration(t) of coordinate t, and function(), the callback of a function that has no program.
namespace kempe::detail {

/// Rows along coordinates as they were compiled, wherever they are kept.
template <typename R>
struct CompiledRows {
  const RowForm<R>& form;
  int rows, arguments;
  const LoopTerm<R>* terms;
  const FunctionPrograms& programs;
  const ProgramStep<R>* steps;
};

/// Memory of functions.
template <typename T>
struct FunctionWork {
  T* registers = nullptr;  ///< of programs that keep nothing; results of callbacks
  T* kept = nullptr;       ///< registers that functions keep from slopes to second rates
  FunctionScratch calls{};
};

/// The second derivatives of rows at a motion x, ẋ, ẍ: with them, the changes of φ̇, φ̈ and of the
/// slopes when x changes by ξ and ẋ by ω. With H = ∂²φ/∂x²:
///
///   δφ̇ = (H ẋ)·ξ       δφ̈ = ∂φ̈/∂x ξ + 2 (H ẋ)·ω       δ ∂φ/∂x = H ξ          (2)
///
/// (for the same ẋ in the first, and the same ẍ in the second).
template <typename T>
struct SecondOrder {
  const T* results = nullptr;  ///< of FunctionPrograms::secondOrder; null where φ is linear
  int rows = 0, arguments = 0;

  template <typename Position>
  KEMPE_HD T rateChange(int r, const Position& xi) const {
    return results == nullptr ? T(0) : along(results + r * arguments, xi);
  }
  template <typename Position, typename Rate>
  KEMPE_HD T secondRateChange(int r, const Position& xi, const Rate& omega) const {
    return results == nullptr ? T(0)
                              : along(results + (rows + r) * arguments, xi) +
                                    T(2) * along(results + r * arguments, omega);
  }
  template <typename Position>
  KEMPE_HD T slopeChange(int r, int t, const Position& xi) const {
    return results == nullptr ? T(0)
                              : along(results + (2 * rows + r * arguments + t) * arguments, xi);
  }

 private:
  template <typename Change>
  KEMPE_HD T along(const T* slopes, const Change& change) const {
    T sum(0);
    for (int t = 0; t < arguments; ++t) {
      sum += slopes[t] * change(t);
    }
    return sum;
  }
};

/// Rows with constant slopes along coordinates.
template <typename T>
struct LinearRows {
  template <typename Visit>
  KEMPE_HD void slopeRates(const Visit& /*visit*/) const {}
  KEMPE_HD void prepareSecondOrder(T* /*registers*/, T* /*results*/) const {}
  KEMPE_HD SecondOrder<T> secondOrder(const T* /*results*/) const { return {}; }
};

/// ∂φ/∂x along a term of a coupling, constant: the one place where K of couplings is computed.
template <typename T, typename R>
KEMPE_HD T couplingSlope(const LoopTerm<R>& term) {
  return T(term.coefficient);
}

/// The row of K of a loop that is a coupling: calls visit(t, velocity, slope) for each of its terms, no
/// two of which have one velocity of the cluster.
template <typename T, typename Tables, typename Loop, typename Visit>
KEMPE_HD void forCouplingSlopes(const Tables& tables, const Loop& loop, const Visit& visit) {
  for (int t = 0; t < loop.terms; ++t) {
    const auto& term = tables.terms[loop.firstTerm + t];
    visit(t, term.velocity, couplingSlope<T>(term));
  }
}

/// φ = Σ c x − offset
template <typename T, typename R, typename Point>
struct CouplingRows : LinearRows<T> {
  const CompiledRows<R>& compiled;
  const Point& x;

  [[nodiscard]] KEMPE_HD int arguments() const { return compiled.arguments; }
  template <typename Visit>
  KEMPE_HD void values(const Visit& visit) const {
    T sum = T(-compiled.form.offset);
    for (int t = 0; t < compiled.arguments; ++t) {
      sum += couplingSlope<T>(compiled.terms[t]) * x.position(t);
    }
    visit(0, sum);
  }
  template <typename Visit>
  KEMPE_HD void slopes(const Visit& visit) const {
    visit(0, [this](int t) { return couplingSlope<T>(compiled.terms[t]); });
  }
  template <typename Visit>
  KEMPE_HD void secondRates(const Visit& visit) const {
    visit(0, T(0));
  }
};

/// φ is a function: by its programs for all states of a pack at once, or by its callbacks for one
/// state after the other.
template <typename T, typename R, typename Point>
struct FunctionRows {
  const CompiledRows<R>& compiled;
  const Point& x;
  const FunctionWork<T>& work;

  [[nodiscard]] KEMPE_HD int arguments() const { return compiled.arguments; }
  template <typename Visit>
  KEMPE_HD void values(const Visit& visit) const {
    visitNumbers(compiled.programs.exist()
                     ? run(compiled.programs.value, positionsIn(work.registers))
                     : called(FunctionResult::Values),
                 visit);
  }
  template <typename Visit>
  KEMPE_HD void slopes(const Visit& visit) const {
    visitMatrix(compiled.programs.exist() ? run(compiled.programs.slopes, positionsIn(kept()))
                                          : called(FunctionResult::Slopes),
                visit);
  }
  template <typename Visit>
  KEMPE_HD void secondRates(const Visit& visit) const {
    visitNumbers(compiled.programs.exist() ? run(compiled.programs.secondRate, ratesIn(kept()))
                                           : called(FunctionResult::SecondRates),
                 visit);
  }
  template <typename Visit>
  KEMPE_HD void slopeRates(const Visit& visit) const {
    visitMatrix(compiled.programs.exist()
                    ? run(compiled.programs.slopeRates, ratesIn(positionsIn(work.registers)))
                    : called(FunctionResult::SlopeRates),
                visit);
  }

  /// Runs FunctionPrograms::secondOrder, which must exist.
  KEMPE_HD void prepareSecondOrder(T* registers, T* results) const {
    const ProgramEntry& program = compiled.programs.secondOrder;
    ratesIn(positionsIn(registers));
    for (int t = 0; t < compiled.arguments; ++t) {
      registers[2 * compiled.arguments + t] = x.acceleration(t);
    }
    const T* computed = run(program, registers);
    for (int i = 0; i < program.results; ++i) {
      results[i] = computed[i];
    }
  }
  KEMPE_HD SecondOrder<T> secondOrder(const T* results) const {
    return {results, compiled.rows, compiled.arguments};
  }

 private:
  KEMPE_HD T* kept() const { return work.kept + compiled.programs.firstRegister; }
  KEMPE_HD T* positionsIn(T* registers) const {
    for (int t = 0; t < compiled.arguments; ++t) {
      registers[t] = x.position(t);
    }
    return registers;
  }
  KEMPE_HD T* ratesIn(T* registers) const {
    for (int t = 0; t < compiled.arguments; ++t) {
      registers[compiled.arguments + t] = x.rate(t);
    }
    return registers;
  }
  KEMPE_HD const T* run(const ProgramEntry& program, T* registers) const {
    return runProgram(compiled.steps, program, registers);
  }

  KEMPE_HD const T* called(FunctionResult result) const {
#ifndef __CUDA_ARCH__  // a model with callbacks does not get to a device
    const int n = compiled.arguments, count = isMatrix(result) ? compiled.rows * n : compiled.rows;
    for (int lane = 0; lane < Lanes<T>::count; ++lane) {
      const auto number = [lane](const T& of) {
        return static_cast<double>(Lanes<T>::get(of, lane));
      };
      for (int t = 0; t < n; ++t) {
        work.calls.q[t] = number(x.position(t));
        if (needsRates(result)) {
          work.calls.q[n + t] = number(x.rate(t));
        }
      }
      callBack(x.function(), result, n, compiled.rows, work.calls);
      for (int i = 0; i < count; ++i) {
        Lanes<T>::set(work.registers[i], lane,
                      static_cast<typename Lanes<T>::Scalar>(work.calls.phi[i]));
      }
    }
#endif
    return work.registers;
  }

  template <typename Visit>
  KEMPE_HD void visitNumbers(const T* numbers, const Visit& visit) const {
    for (int r = 0; r < compiled.rows; ++r) {
      visit(r, numbers[r]);
    }
  }
  template <typename Visit>
  KEMPE_HD void visitMatrix(const T* numbers, const Visit& visit) const {
    for (int r = 0; r < compiled.rows; ++r) {
      const T* row = numbers + r * compiled.arguments;
      visit(r, [row](int t) { return row[t]; });
    }
  }
};

/// Calls visit(rows) with the kind of rows of a form along coordinates, at the point x; not where
/// the form is between bodies or a constraint's alone.
template <typename T, typename R, typename Point, typename Visit>
KEMPE_HD void withCoordinateRows(const CompiledRows<R>& compiled, const Point& x,
                                 const FunctionWork<T>& work, const Visit& visit) {
  switch (compiled.form.kind) {
    case RowKind::Coupling:
      visit(CouplingRows<T, R, Point>{{}, compiled, x});
      break;
    case RowKind::Function:
      visit(FunctionRows<T, R, Point>{compiled, x, work});
      break;
    case RowKind::Joint:
    case RowKind::Rod:
    case RowKind::Prescribed:
    case RowKind::Lock:
    case RowKind::KnifeEdge:
    case RowKind::Rolling:
    case RowKind::Held:
      break;
  }
}

/// Whether the rows of a kind along coordinates are linear in these. Their slopes are then the
/// coefficients of the terms.
KEMPE_HD constexpr bool isLinear(RowKind kind) {
  return kind == RowKind::Coupling || kind == RowKind::Prescribed || kind == RowKind::Held;
}

/// The compiled form of a loop along coordinates, and the coordinates.
struct CoordinateForm {
  RowForm<double> form{};
  int rows = 0;
  std::vector<Coupling::Term> terms{};
  const Function* function = nullptr;
};

inline CoordinateForm coordinateForm(const Coupling& coupling) {
  return {.form = {.kind = RowKind::Coupling, .offset = coupling.offset},
          .rows = 1,
          .terms = coupling.terms};
}

inline CoordinateForm coordinateForm(const Function& function) {
  CoordinateForm result{.form = {.kind = RowKind::Function}, .rows = function.rows};
  result.function = &function;
  for (const Coordinate& coordinate : function.coordinates) {
    result.terms.push_back({coordinate, 1.0});
  }
  return result;
}

}  // namespace kempe::detail
