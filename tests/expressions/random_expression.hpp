#pragma once

#include <random>
#include <vector>

#include "kempe/expression.hpp"

namespace kempe::test {

/// A random expression of all operations whose results are finite for arguments in [−1, 1], and
/// differentiable unless `kinks` are asked for.
inline Expression randomExpression(unsigned seed, int arguments, int results, int operations,
                                   bool kinks) {
  std::mt19937 random(seed);
  return trace(arguments, results, [&](const auto& x, auto& y) {
    std::vector<Symbol> pool(x.begin(), x.end());
    const auto any = [&]() -> Symbol { return pool[random() % pool.size()]; };
    // Between −1 and 1, so that everything below stays in the domain of its function.
    const auto bounded = [&] { return sin(any()); };
    const auto number = [&] { return std::uniform_real_distribution<double>(-2, 2)(random); };
    for (int i = 0; i < operations; ++i) {
      const auto next = [&]() -> Symbol {
        switch (random() % (kinks ? 24U : 19U)) {
          case 0:
            return any() + any();
          case 1:
            return any() - any();
          case 2:
            return bounded() * any();
          case 3:
            return any() / (2.0 + bounded());
          case 4:
            return -any();
          case 5:
            return sqrt(1.5 + bounded());
          case 6:
            return sin(any());
          case 7:
            return cos(number() * any());
          case 8:
            return tan(bounded());
          case 9:
            return asin(0.9 * bounded());
          case 10:
            return acos(0.9 * bounded());
          case 11:
            return atan(any());
          case 12:
            return atan2(1.2 + bounded(), bounded());
          case 13:
            return exp(bounded());
          case 14:
            return log(1.5 + bounded());
          case 15:
            return pow(1.5 + bounded(), bounded());
          case 16:
            return pow(bounded(), static_cast<double>(random() % 4));
          case 17:
            return hypot(1.0 + exp(bounded()), any());
          case 18:
            return number() + any();
          case 19:
            return abs(any() + number());
          case 20:
            return min(any(), any() + number());
          case 21:
            return max(any(), any() + number());
          case 22:
            return select(any() < number(), any(), any());
          default:
            return select(number() * any() >= any(), any(), any());
        }
      };
      pool.push_back(next());
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = pool[pool.size() - 1 - i];
    }
  });
}

}  // namespace kempe::test
