#include "loops/coordinate_rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "loops/function_programs.hpp"
#include "spatial/dual.hpp"

namespace kempe::test {
namespace {

using namespace detail;

constexpr int kArguments = 3, kRows = 2;
using Numbers = std::array<double, kArguments>;

/// φ(x): two rows, with terms that occur in both.
const auto kPhi = [](const auto& x, auto& phi) {
  using std::cos;
  using std::exp;
  using std::sin;
  phi[0] = sin(x[0]) * cos(x[1]) + 0.3 * x[2] * x[2] - 0.2;
  phi[1] = exp(0.5 * x[1]) * x[0] - sin(x[0] + 2.0 * x[2]);
};

Function functionOf(bool byProgram) {
  Function function;
  function.coordinates = {"a", "b", "c"};
  function.rows = kRows;
  if (byProgram) {
    function.symbolic = [](std::span<const Symbol> x, std::span<Symbol> phi) { kPhi(x, phi); };
    function.expression = function.traced();
  }
  function.value = [](std::span<const double> x, std::span<double> phi) { kPhi(x, phi); };
  function.jet = [](std::span<const Jet> x, std::span<Jet> phi) { kPhi(x, phi); };
  return function;
}

template <typename T>
struct Point {
  std::array<T, kArguments> x{}, rates{}, accelerations{};
  const Function* called = nullptr;

  [[nodiscard]] const T& position(int t) const { return x[static_cast<std::size_t>(t)]; }
  [[nodiscard]] const T& rate(int t) const { return rates[static_cast<std::size_t>(t)]; }
  [[nodiscard]] const T& acceleration(int t) const {
    return accelerations[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] const Function& function() const { return *called; }
};

/// All numbers of the rows at a point.
template <typename T>
struct Results {
  std::vector<T> values, slopes, secondRates, slopeRates, secondOrder;
};

/// Rows of one kind, and memory to evaluate them.
class Rows {
 public:
  explicit Rows(const Coupling& coupling) : compiled_(coordinateForm(coupling)) { addTerms(); }
  explicit Rows(Function function)
      : function_(std::move(function)), compiled_(coordinateForm(function_)) {
    if (function_.expression.results() > 0) {
      programs_ = appendPrograms(function_.expression, steps_);
    }
    addTerms();
  }

  [[nodiscard]] int rows() const { return compiled_.rows; }

  template <typename T>
  Results<T> at(Point<T> x) const {
    x.called = &function_;
    CallMemory calls;
    calls.makeRoomFor(kArguments, compiled_.rows);
    constexpr std::size_t kMost = 1000;
    std::vector<T> registers(kMost), kept(kMost), secondOrder(kMost);
    const FunctionWork<T> work{registers.data(), kept.data(), calls.view()};
    const auto count = static_cast<std::size_t>(compiled_.rows);
    Results<T> results{std::vector<T>(count),
                       std::vector<T>(count * kArguments),
                       std::vector<T>(count),
                       std::vector<T>(count * kArguments),
                       {}};
    int visits = 0;
    withCoordinateRows(view(), x, work, [&](const auto& rows) {
      ++visits;
      EXPECT_EQ(rows.arguments(), kArguments);
      const auto to = [](std::vector<T>& numbers) {
        return
            [&numbers](int r, const T& number) { numbers[static_cast<std::size_t>(r)] = number; };
      };
      const auto toMatrix = [](std::vector<T>& numbers) {
        return [&numbers](int r, const auto& row) {
          for (int t = 0; t < kArguments; ++t) {
            numbers[static_cast<std::size_t>(r * kArguments + t)] = row(t);
          }
        };
      };
      rows.values(to(results.values));
      rows.slopes(toMatrix(results.slopes));
      rows.secondRates(to(results.secondRates));
      rows.slopeRates(toMatrix(results.slopeRates));
    });
    EXPECT_EQ(visits, 1);
    return results;
  }

  /// Changes of φ̇, φ̈ and of the slopes, where x changes by ξ and ẋ by ω.
  Results<double> changes(const Point<double>& x, const Numbers& xi, const Numbers& omega) const {
    std::vector<double> registers(1000), numbers(1000);
    Results<double> results;
    const auto along = [](const Numbers& of) {
      return [&of](int t) { return of[static_cast<std::size_t>(t)]; };
    };
    withCoordinateRows(view(), x, FunctionWork<double>{}, [&](const auto& rows) {
      rows.prepareSecondOrder(registers.data(), numbers.data());
      const SecondOrder<double> second = rows.secondOrder(numbers.data());
      for (int r = 0; r < compiled_.rows; ++r) {
        results.values.push_back(second.rateChange(r, along(xi)));
        results.secondRates.push_back(second.secondRateChange(r, along(xi), along(omega)));
        for (int t = 0; t < kArguments; ++t) {
          results.slopes.push_back(second.slopeChange(r, t, along(xi)));
        }
      }
    });
    return results;
  }

 private:
  void addTerms() {
    for (int t = 0; t < kArguments; ++t) {
      terms_.push_back({t, t, compiled_.terms[static_cast<std::size_t>(t)].coefficient});
    }
  }
  [[nodiscard]] CompiledRows<double> view() const {
    return {compiled_.form, compiled_.rows, kArguments, terms_.data(), programs_, steps_.data()};
  }

  Function function_{};
  CoordinateForm compiled_;
  std::vector<LoopTerm<double>> terms_{};
  FunctionPrograms programs_{};
  std::vector<ProgramStep<double>> steps_{};
};

Coupling coupling() {
  return Coupling{.name = "gear", .terms = {{"a", 1.0}, {"b", -2.5}, {"c", 0.75}}, .offset = 0.4};
}

class RandomNumbers {
 public:
  Numbers operator()() {
    Numbers numbers{};
    for (double& number : numbers) {
      number = uniform_(generator_);
    }
    return numbers;
  }

 private:
  std::mt19937 generator_{11};
  std::uniform_real_distribution<double> uniform_{-1.0, 1.0};
};

/// The point after a time, with constant accelerations; its rates and positions as dual numbers.
Point<Dual<double>> moving(const Point<double>& x) {
  Point<Dual<double>> result;
  for (std::size_t t = 0; t < kArguments; ++t) {
    result.x[t] = {x.x[t], x.rates[t]};
    result.rates[t] = {x.rates[t], x.accelerations[t]};
  }
  return result;
}
/// The point, displaced by ξ and with rates changed by ω.
Point<Dual<double>> displaced(const Point<double>& x, const Numbers& xi, const Numbers& omega) {
  Point<Dual<double>> result;
  for (std::size_t t = 0; t < kArguments; ++t) {
    result.x[t] = {x.x[t], xi[t]};
    result.rates[t] = {x.rates[t], omega[t]};
  }
  return result;
}

double sumAlong(const std::vector<double>& matrix, std::size_t r, const Numbers& x) {
  double sum = 0.0;
  for (std::size_t t = 0; t < kArguments; ++t) {
    sum += matrix[r * kArguments + t] * x[t];
  }
  return sum;
}

/// φ̇ = Σ slope ẋ, the rates of slopes are those of the slopes, and φ̈ where ẍ = 0 is Σ slope rate ẋ,
/// all by dual numbers that move with ẋ.
TEST(CoordinateRows, RatesAreThoseOfValuesAndSlopes) {
  RandomNumbers random;
  for (const Rows& rows : {Rows(coupling()), Rows(functionOf(true))}) {
    for (int i = 0; i < 20; ++i) {
      const Point<double> x{random(), random(), {}};
      const Results<double> at = rows.at(x);
      const Results<Dual<double>> after = rows.at(moving(x));
      for (std::size_t r = 0; r < at.values.size(); ++r) {
        EXPECT_NEAR(sumAlong(at.slopes, r, x.rates), after.values[r].slope, 1e-14);
        EXPECT_NEAR(at.secondRates[r], sumAlong(at.slopeRates, r, x.rates), 1e-13);
      }
      for (std::size_t n = 0; n < at.slopes.size(); ++n) {
        EXPECT_NEAR(at.slopeRates[n], after.slopes[n].slope, 1e-13);
      }
    }
  }
}

TEST(CoordinateRows, SlopesAreDifferencesOfValues) {
  constexpr double h = 1e-3;
  RandomNumbers random;
  for (const Rows& rows : {Rows(coupling()), Rows(functionOf(true)), Rows(functionOf(false))}) {
    const Point<double> x{random(), random(), {}};
    const Results<double> at = rows.at(x);
    for (std::size_t t = 0; t < kArguments; ++t) {
      const auto difference = [&](double step) {
        Point<double> after = x, before = x;
        after.x[t] += step;
        before.x[t] -= step;
        std::vector<double> result = rows.at(after).values;
        const std::vector<double> other = rows.at(before).values;
        for (std::size_t r = 0; r < result.size(); ++r) {
          result[r] = (result[r] - other[r]) / (2.0 * step);
        }
        return result;
      };
      const std::vector<double> coarse = difference(h), fine = difference(0.5 * h);
      for (std::size_t r = 0; r < coarse.size(); ++r) {
        EXPECT_NEAR(at.slopes[r * kArguments + t], (4.0 * fine[r] - coarse[r]) / 3.0, 1e-10);
      }
    }
  }
}

TEST(CoordinateRows, CallbacksEqualPrograms) {
  RandomNumbers random;
  const Rows program(functionOf(true)), callback(functionOf(false));
  for (int i = 0; i < 20; ++i) {
    const Point<double> x{random(), random(), {}};
    const Results<double> a = program.at(x), b = callback.at(x);
    const auto compare = [](const std::vector<double>& one, const std::vector<double>& other) {
      ASSERT_EQ(one.size(), other.size());
      for (std::size_t n = 0; n < one.size(); ++n) {
        EXPECT_NEAR(one[n], other[n], 1e-13);
      }
    };
    compare(a.values, b.values);
    compare(a.slopes, b.slopes);
    compare(a.secondRates, b.secondRates);
    compare(a.slopeRates, b.slopeRates);
  }
}

/// A function that has jets only gives its values by these.
TEST(CoordinateRows, ValuesFollowFromJets) {
  Function function = functionOf(false);
  function.value = nullptr;
  RandomNumbers random;
  const Point<double> x{random(), random(), {}};
  EXPECT_EQ(Rows(function).at(x).values, Rows(functionOf(false)).at(x).values);
}

/// (2) of coordinate_rows.hpp against dual numbers.
TEST(CoordinateRows, SecondOrderGivesChanges) {
  RandomNumbers random;
  for (const Rows& rows : {Rows(coupling()), Rows(functionOf(true))}) {
    for (int i = 0; i < 20; ++i) {
      const Point<double> x{random(), random(), random()};
      const Numbers xi = random(), omega = random();
      const Results<double> changes = rows.changes(x, xi, omega);
      const Results<Dual<double>> at = rows.at(displaced(x, xi, omega));
      for (std::size_t r = 0; r < static_cast<std::size_t>(rows.rows()); ++r) {
        double rate = 0.0, second = at.secondRates[r].slope;
        for (std::size_t t = 0; t < kArguments; ++t) {
          rate += at.slopes[r * kArguments + t].slope * x.rates[t];
          second += at.slopes[r * kArguments + t].slope * x.accelerations[t];
          EXPECT_NEAR(changes.slopes[r * kArguments + t], at.slopes[r * kArguments + t].slope,
                      1e-13);
        }
        EXPECT_NEAR(changes.values[r], rate, 1e-13);
        EXPECT_NEAR(changes.secondRates[r], second, 1e-13);
      }
    }
  }
}

TEST(CoordinateRows, AreNoneBetweenBodies) {
  for (const RowKind kind : {RowKind::Joint, RowKind::Rod, RowKind::KnifeEdge, RowKind::Rolling}) {
    const RowForm<double> form{.kind = kind};
    const FunctionPrograms programs;
    const CompiledRows<double> compiled{form, 1, 0, nullptr, programs, nullptr};
    withCoordinateRows(compiled, Point<double>{}, FunctionWork<double>{},
                       [](const auto&) { ADD_FAILURE(); });
  }
}

}  // namespace
}  // namespace kempe::test
