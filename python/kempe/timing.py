"""Times of calls that take turns, so that what disturbs the machine disturbs all alike."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 1e-3  # seconds that a repetition lasts, at least: long beside what caches need
WARMING = 3  # one call for so many that are timed comes before them
REPETITIONS = 15  # at least, of every measurement


class Spread(NamedTuple):
    """The middle of many numbers, and the bounds of their middle half."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Sequence[float] | NDArray[np.floating]) -> Spread:
        low, median, high = np.percentile(numbers, [25, 50, 75])
        return cls(float(median), float(low), float(high))


class Timed:
    """Something to measure: `seconds(calls)` is how long one call takes, on average of so many.

    A repetition has a multiple of `unit` calls. Where what is measured is a difference, `block` is
    the time that passes: it tells how many calls a repetition needs."""

    def __init__(self, seconds: Callable[[int], float], unit: int = 1,
                 block: Callable[[int], float] | None = None) -> None:
        self._seconds, self._block = seconds, block or seconds
        self.calls = unit  # in one repetition
        self.times: list[float] = []

    def repeat(self) -> None:
        self._seconds(-(-self.calls // WARMING))  # what the others left in the caches is not ours
        self.times.append(self._seconds(self.calls))

    def choose_calls(self) -> None:
        """Warms up, and finds how many calls a repetition needs."""
        self._block(self.calls)
        while (passed := self.calls * self._block(self.calls)) < BLOCK:
            self.calls *= 2 if passed > BLOCK / 8 else 8


def calls_of(function: Callable[[], object]) -> Callable[[int], float]:
    """What Timed needs, of a function to be called from Python."""
    def seconds(calls: int) -> float:
        repeated = range(calls)
        start = time.perf_counter()
        for _ in repeated:
            function()
        return (time.perf_counter() - start) / calls
    return seconds


def measure(groups: Sequence[Sequence[Timed]], seconds: float, done: Callable[[float], None],
            repetitions: int = REPETITIONS) -> None:
    """Repeats all cases for about so long. Groups, and the cases in each, come in another order
    each time; cases of a group, which are to be compared, come close together: processors change
    their speed within tenths of a second."""
    for group in groups:
        for case in group:
            case.choose_calls()
    random = np.random.default_rng(0)
    start = time.perf_counter()
    rounds = 0
    while rounds < repetitions or time.perf_counter() - start < seconds:
        for index in random.permutation(len(groups)):
            for number in random.permutation(len(groups[index])):
                groups[index][number].repeat()
        rounds += 1
        done(min(1.0, (time.perf_counter() - start) / seconds, rounds / repetitions))


def processor() -> str:
    """Its name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file
                        if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
