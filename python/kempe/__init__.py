"""Exact dynamics of robots whose bodies form loops."""

from kempe import robots
from kempe._kempe import (
    AssemblyError,
    Cluster,
    Model,
    ModelError,
    SingularityError,
    __version__,
    load,
)

__all__ = [
    "AssemblyError",
    "Cluster",
    "Model",
    "ModelError",
    "SingularityError",
    "__version__",
    "load",
    "robots",
]
