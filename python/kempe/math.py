"""Functions for constraint functions, of numbers, jets, symbols and arrays of them.

A constraint function is traced into a formula: it is called once with symbols instead of numbers.
It cannot branch on their values then; `select`, `minimum`, `maximum` and `abs` take the place of
branches.
The other functions are numpy's, under the names of the standard library's `math`.
"""

from typing import Any

import numpy as np

from kempe import _kempe

__all__ = [
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "exp",
    "hypot",
    "log",
    "maximum",
    "minimum",
    "pi",
    "select",
    "sin",
    "sqrt",
    "tan",
]

sqrt = np.sqrt
sin = np.sin
cos = np.cos
tan = np.tan
asin = np.arcsin
acos = np.arccos
atan = np.arctan
atan2 = np.arctan2
exp = np.exp
log = np.log
hypot = np.hypot
abs = np.abs
pi = np.pi


def select(condition: Any, yes: Any, no: Any) -> Any:
    """Returns `yes` if the condition holds, `no` otherwise, as a formula where it is of symbols."""
    if isinstance(condition, _kempe.Condition):
        return _kempe.select(condition, yes, no)
    return yes if condition else no


def minimum(a: Any, b: Any) -> Any:
    """Returns the smaller of two numbers."""
    if isinstance(a, _kempe.Symbol) or isinstance(b, _kempe.Symbol):
        return _kempe.minimum(a, b)
    return b if b < a else a


def maximum(a: Any, b: Any) -> Any:
    """Returns the larger of two numbers."""
    if isinstance(a, _kempe.Symbol) or isinstance(b, _kempe.Symbol):
        return _kempe.maximum(a, b)
    return b if a < b else a
