"""Robots that come with the library, written from their published figures."""

from kempe import _kempe

__all__ = ["load", "names"]


def names() -> list[str]:
    """All names that load() knows."""
    return _kempe.robot_names()


def load(name: str, n: int | None = None, *, fold_rotors: bool = True) -> _kempe.Model:
    """A robot by name.

    `n` is the number of links of the chains (`geared_chain`, `belt_chain`; 12 if not given); the
    other robots take none. Raises ModelError for a name that is not known.
    """
    if n is not None and n < 1:
        raise ValueError(f"n: a chain needs at least one link, got {n}")
    return _kempe.load_robot(name, n or 0, fold_rotors)
