"""Exceptions and warnings, beside ValueError for arguments that do not fit."""


class ModelError(RuntimeError):
    """A file or mechanism that cannot become a model. Names file, line, element, remedy."""


class AssemblyError(RuntimeError):
    """A configuration whose loops cannot be closed."""

    loop: str
    """The loop that is furthest open."""
    gap: float
    """How far, in metres (or radians, for a loop that only couples angles)."""


class SingularityError(RuntimeError):
    """A position in which the independent coordinates do not determine the others: a dead point."""

    loop: str
    """The loop (of a cluster of several: the first) that is singular."""
    condition: float
    """Condition number of its constraint Jacobian."""


class LimitsWarning(UserWarning):
    """A configuration that Kempe chose is outside joint limits: no other was found."""
