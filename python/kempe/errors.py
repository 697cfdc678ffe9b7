"""Exceptions and warnings, in addition to ValueError for invalid arguments."""


class ModelError(RuntimeError):
    """An invalid file or mechanism. The text names the file, line and element, and a remedy."""


class AssemblyError(RuntimeError):
    """A configuration whose loops cannot be closed."""

    loop: str
    """The loop with the largest gap."""
    gap: float
    """The gap in metres (or radians, for a loop that only couples angles)."""


class SingularityError(RuntimeError):
    """A position in which the independent coordinates do not determine the others: a dead point."""

    loop: str
    """The singular loop (the first one of its cluster)."""
    condition: float
    """Condition number of its constraint Jacobian."""


class LimitsWarning(UserWarning):
    """A configuration that Kempe chose is outside joint limits: no other was found."""


class SimulationWarning(UserWarning):
    """A simulated motion may be wrong: it gained or lost energy that its work and losses do not
    account for, its steps of fixed length have large errors, or events of friction and end stops
    could not be followed."""
