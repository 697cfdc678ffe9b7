"""Timing of calls in turn, so that other load on the machine affects all of them equally."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 1e-3  # minimum duration of a repetition in seconds: long compared with warming caches
WARMING = 3  # timed calls per warm-up call before them
REPETITIONS = 15  # minimum number for every measurement


class Spread(NamedTuple):
    """Median and quartiles of many numbers."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Sequence[float] | NDArray[np.floating]) -> Spread:
        low, median, high = np.percentile(numbers, [25, 50, 75])
        return cls(float(median), float(low), float(high))


class Timed:
    """Something to measure: `seconds(calls)` is the time of one call, averaged over `calls` calls.

    A repetition has a multiple of `unit` calls. If a difference of times is measured, `block` is
    the elapsed time, which determines how many calls a repetition needs."""

    def __init__(self, seconds: Callable[[int], float], unit: int = 1,
                 block: Callable[[int], float] | None = None) -> None:
        self._seconds, self._block = seconds, block or seconds
        self.calls = unit  # in one repetition
        self.times: list[float] = []

    def repeat(self) -> None:
        self._seconds(-(-self.calls // WARMING))  # fills the caches
        self.times.append(self._seconds(self.calls))

    def choose_calls(self) -> None:
        """Warms up, and finds how many calls a repetition needs."""
        self._block(self.calls)
        while (passed := self.calls * self._block(self.calls)) < BLOCK:
            self.calls *= 2 if passed > BLOCK / 8 else 8


def calls_of(function: Callable[[], object]) -> Callable[[int], float]:
    """The `seconds` of Timed, for a function to be called from Python."""
    def seconds(calls: int) -> float:
        repeated = range(calls)
        start = time.perf_counter()
        for _ in repeated:
            function()
        return (time.perf_counter() - start) / calls
    return seconds


def measure(groups: Sequence[Sequence[Timed]], seconds: float, done: Callable[[float], None],
            repetitions: int = REPETITIONS) -> None:
    """Repeats all cases for about `seconds`. The order of groups, and of cases within a group, is
    random each time; the cases of a group are compared and therefore measured close together,
    because processors change their speed within tenths of a second."""
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
