#pragma once

namespace kempe::test {

/// How often this thread has asked for heap memory, by malloc or by new.
long allocationsOfThisThread();

/// How many allocations `action` makes.
template <typename Action>
long allocationsOf(Action&& action) {
  const long before = allocationsOfThisThread();
  action();
  return allocationsOfThisThread() - before;
}

}  // namespace kempe::test
