"""Files that the commands read and write, and optional parts of the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import kempe
from kempe.cli.common import BadInput


def load_run(path: str, model: kempe.Model) -> kempe.Run:
    """A recorded run of this model."""
    try:
        run = kempe.Run.load(path)
        run.check_fits(model)
    except (OSError, ValueError) as error:
        text = str(error)
        raise BadInput(text if path in text else f"{path}: {text}") from error
    return run


def require_writable(path: str, option: str, endings: tuple[str, ...]) -> None:
    """Checks before the computation that a file can be written."""
    file = Path(path)
    if file.is_dir():
        raise BadInput(f"{option} {path}: that is a folder. Name a file.")
    if file.suffix.lower() not in endings:
        raise BadInput(f"{option} {path}: the name must end in {' or '.join(endings)}")
    if not file.parent.is_dir():
        raise BadInput(f"{option} {path}: there is no folder {file.parent}. Create it first.")
    if file.exists() and not file.is_file():
        return  # a device or a pipe: opening it may have effects
    new = not file.exists()
    try:
        with open(file, "ab"):
            pass
        if new:
            file.resolve().unlink()
    except OSError as error:
        raise BadInput(f"{option} {path}: cannot be written: {error.strerror}") from error


@contextmanager
def optional_packages(extra: str) -> Iterator[None]:
    """For code that needs the packages of an extra."""
    try:
        yield
    except ImportError as error:
        missing = error if error.name else error.__cause__
        name = getattr(missing, "name", None)
        if not isinstance(missing, ModuleNotFoundError) or not name or name.startswith("kempe"):
            raise
        raise BadInput(f"this needs the package {name}, which is not installed. "
                       f'pip install "kempe[{extra}]"') from error
