"""Exact dynamics of robots whose bodies form loops."""

import importlib
from typing import TYPE_CHECKING

from kempe import math, mjcf, robots
from kempe._kempe import (
    AllTerms,
    Body,
    Cluster,
    ConstrainedMotion,
    Constraints,
    Coupling,
    FlexibleBody,
    Function,
    Jet,
    Joint,
    Loop,
    LoopJoint,
    Mechanism,
    Model,
    Rod,
    Shape,
    Snapshot,
    Symbol,
    add_closures_from_yaml_text,
    get_num_threads,
    instruction_set,
    read_urdf_text,
    set_num_threads,
    version,
    write_urdf,
    write_urdf_text,
)
from kempe.errors import (
    AssemblyError,
    LimitsWarning,
    ModelError,
    SimulationWarning,
    SingularityError,
)
from kempe.loading import load, read_mechanism
from kempe.runs import Run
from kempe.simulation import (
    SimulationError,
    SimulationInterrupted,
    Simulator,
    simulate,
)

if TYPE_CHECKING:
    from kempe import viewer as viewer
else:
    def __getattr__(name: str) -> object:
        """Imports `kempe.viewer` on first use, because it needs kempe[view]."""
        if name == "viewer":
            return importlib.import_module("kempe.viewer")
        raise AttributeError(f"module 'kempe' has no attribute {name!r}")

__version__ = version()

__all__ = [
    "AllTerms",
    "AssemblyError",
    "Body",
    "Cluster",
    "ConstrainedMotion",
    "Constraints",
    "Coupling",
    "FlexibleBody",
    "Function",
    "Jet",
    "Joint",
    "LimitsWarning",
    "Loop",
    "LoopJoint",
    "Mechanism",
    "Model",
    "ModelError",
    "Rod",
    "Run",
    "Shape",
    "SimulationError",
    "SimulationInterrupted",
    "SimulationWarning",
    "Simulator",
    "SingularityError",
    "Snapshot",
    "Symbol",
    "__version__",
    "add_closures_from_yaml_text",
    "get_num_threads",
    "instruction_set",
    "load",
    "math",
    "mjcf",
    "read_mechanism",
    "read_urdf_text",
    "robots",
    "set_num_threads",
    "simulate",
    "write_urdf",
    "write_urdf_text",
]
