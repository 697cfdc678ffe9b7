"""Warnings from reading a file, one for each kind of thing."""

from __future__ import annotations

MOST_NAMES = 6


class Notes:
    """Collects names of elements by what there is to say about them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._names: dict[tuple[str, str], list[str]] = {}
        self._lines: dict[tuple[str, str], int] = {}

    def about(self, kind: str, name: str, text: str, line: int = 0) -> None:
        """Says of an element, such as `joint` "knee", that text."""
        self._names.setdefault((kind, text), []).append(name)
        self._lines.setdefault((kind, text), line)

    def file(self, text: str) -> None:
        """Says something of the whole file."""
        self._names.setdefault(("", text), [])
        self._lines.setdefault(("", text), 0)

    def texts(self) -> list[str]:
        return [self._place(key) + self._subject(key[0], names) + key[1]
                for key, names in self._names.items()]

    def _place(self, key: tuple[str, str]) -> str:
        line = self._lines[key]
        return f"{self._path}:{line}: " if line else f"{self._path}: "

    @staticmethod
    def _subject(kind: str, names: list[str]) -> str:
        if not names:
            return ""
        shown = ", ".join(f'"{name}"' for name in names[:MOST_NAMES])
        if len(names) > MOST_NAMES:
            shown += f" and {len(names) - MOST_NAMES} more"
        return f"{kind} {shown}: "


class Names:
    """Unique names of elements of one kind."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """The name, with a number if it is taken."""
        name = wanted
        while name in self._next:
            self._next[wanted] += 1
            name = f"{wanted}_{self._next[wanted]}"
        self._next[name] = 1
        return name
