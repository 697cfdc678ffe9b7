"""Built-in controllers of `kempe simulate`, and controllers from Python files."""

from __future__ import annotations

import functools
import importlib.util
import sys
import traceback
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

import kempe
from kempe.cli.common import BadInput, free_velocities
from kempe.runs import Vector
from kempe.simulation import Controller

FREQUENCY = 10.0  # rad/s, natural frequency of `hold`, which is critically damped


class Hold:
    """Keeps the pose of a robot: computed torque towards a position.

    Every coordinate behaves like a critically damped spring with unit mass, whatever the mass and
    configuration of the robot, because inverse dynamics turns accelerations into forces. A free
    base has no motor and gets no force: it falls, and the pose is held meanwhile.
    """

    def __init__(self, model: kempe.Model, q: Vector) -> None:
        self._model, self._target = model, q
        self._base = free_velocities(model)

    def __call__(self, t: float, q: Vector, v: Vector) -> Vector:
        away = self._model.difference(q, self._target)
        a = FREQUENCY**2 * away - 2 * FREQUENCY * v
        if self._base:
            # The base accelerates as it does without a force on it.
            a[self._base] = 0.0
            missing = self._model.inverse_dynamics(q, v, a)[self._base]
            inertia = self._model.mass_matrix(q)[np.ix_(self._base, self._base)]
            a[self._base] = -np.linalg.solve(inertia, missing)
        tau = self._model.inverse_dynamics(q, v, a)
        tau[self._base] = 0.0
        return tau


def without_exit(control: Controller) -> Controller:
    """Treats sys.exit() in a controller like any other error, so that the run is not lost."""
    @functools.wraps(control)
    def checked(t: float, q: Vector, v: Vector) -> ArrayLike:
        try:
            return control(t, q, v)
        except SystemExit as error:
            raise RuntimeError(f"sys.exit({error.code!r}) was called").with_traceback(
                error.__traceback__) from None
    return checked


class FromFile:
    """The function `control` of a Python file."""

    def __init__(self, path: str, model: kempe.Model) -> None:
        self._path = path
        specification = importlib.util.spec_from_file_location("kempe_controller", path)
        if not Path(path).is_file() or specification is None or specification.loader is None:
            raise BadInput(f'--controller: "{path}" is neither hold nor none nor a Python file')
        module = importlib.util.module_from_spec(specification)
        sys.path.insert(0, str(Path(path).resolve().parent))
        sys.modules[specification.name] = module  # dataclasses, pickle, … look for it there
        try:
            specification.loader.exec_module(module)
            control = getattr(module, "control", None)
            if not callable(control):
                raise BadInput(f"{path}: has no function control(t, q, v)")
            setup = getattr(module, "setup", None)
            if setup is not None:
                setup(model)
        except BadInput:
            raise
        except (Exception, SystemExit) as error:
            place = self.place(error) or path
            raise BadInput(f"{place}: {type(error).__name__}: {error}") from error
        self.control = without_exit(control)

    def place(self, error: BaseException | None) -> str:
        """file:line where the file raised an error; empty if the error is not from the file."""
        if error is None:
            return ""
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
                 if Path(frame.filename).resolve() == Path(self._path).resolve()]
        if isinstance(error, SyntaxError):
            lines.append(error.lineno)
        return f"{self._path}:{lines[-1]}" if lines else ""
