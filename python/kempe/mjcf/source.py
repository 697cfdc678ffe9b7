"""MJCF files, compiled by MuJoCo."""

from __future__ import annotations

import dataclasses
import importlib
import math
import os
import re
import warnings
from pathlib import Path
from typing import Any
from xml.parsers import expat

from kempe.errors import ModelError

MOST_BYTES = 64 * 2**20  # of a file, as for URDF
MOST_FILES = 1000
MOST_ELEMENTS = 1_000_000  # after replication
MOST_CELLS = 100_000_000  # of a height field or a texture
MOST_EXTRA = 10_000  # keyframes, and user numbers of an element, that <size> asks for
HEAD = 65536  # bytes in which the root element must start
NAME = re.compile(rb"<([A-Za-z_][\w.-]*)")
LINE = re.compile(r"line (\d+)", re.IGNORECASE)


@dataclasses.dataclass
class Source:
    """A compiled model and where it came from."""

    path: str  # as messages call it
    mujoco: Any  # the package
    model: Any  # mujoco.MjModel
    lines: dict[tuple[str, int], int]  # (kind, id): line in the file, if there is only one file
    name: str
    complaints: list[str]  # of MuJoCo

    def named(self, kind: str, number: int) -> str:
        """The name of an element; empty if it has none."""
        text = self.mujoco.mj_id2name(
            self.model, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), number)
        return text or ""

    def line(self, kind: str, number: int) -> int:
        return self.lines.get((kind, number), 0)

    def disabled(self, flag: str) -> bool:
        """Whether a flag of <option> switches something off."""
        bits = self.mujoco.mjtDisableBit
        # Springs and dampers had one flag in older versions of MuJoCo.
        names = [f"mjDSBL_{flag}", *(["mjDSBL_PASSIVE"] if flag in ("SPRING", "DAMPER") else [])]
        return any(self.model.opt.disableflags & int(getattr(bits, name))
                   for name in names if hasattr(bits, name))


def root_element(path: str | os.PathLike[str]) -> str:
    """The name of a file's root element; empty if it cannot be read or is not XML."""
    try:
        if not os.path.isfile(path):
            return ""  # a pipe would wait for somebody to write
        with open(path, "rb") as file:
            text = file.read(HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    except (OSError, ValueError):
        return ""
    while text.startswith((b"<?", b"<!--")):
        text = text.partition(b"?>" if text.startswith(b"<?") else b"-->")[2].lstrip()
    name = NAME.match(text)
    return name[1].decode("ascii", "replace") if name else ""


def is_mjcf(path: str | os.PathLike[str]) -> bool:
    """Whether a file is MJCF, by its suffix or its root element."""
    try:
        suffix = Path(path).suffix.lower()
    except TypeError:
        return False  # load() complains about it
    return suffix in (".xml", ".mjcf") or (
        suffix not in (".yaml", ".yml", ".xacro") and root_element(path) == "mujoco")


def compiled(path: str | os.PathLike[str]) -> Source:
    """Compiles a file. Raises ModelError."""
    file = Path(path)
    shown = os.fsencode(file).decode("utf-8", "replace")
    files = Scan(shown).of(file)
    mujoco = imported(shown)
    complaints: list[str] = []
    before = mujoco.get_mju_user_warning()
    try:
        # Otherwise MuJoCo writes them to a file MUJOCO_LOG.TXT.
        mujoco.set_mju_user_warning(complaints.append)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spec = parsed(mujoco, file, shown, single=files == 1)
            model = spec.compile()
    except ModelError:
        raise
    except Exception as error:  # ValueError, mujoco.FatalError, and errors of decoders
        raise ModelError(message(shown, str(error), single=files == 1)) from None
    finally:
        mujoco.set_mju_user_warning(before)
    name = bytes(model.names).split(b"\0", 1)[0].decode("utf-8", "replace")
    return Source(shown, mujoco, model, lines_of(spec) if files == 1 else {}, name, complaints)


def parsed(mujoco: Any, file: Path, shown: str, *, single: bool) -> Any:
    """MuJoCo's description of a file."""
    if file.suffix in (".xml", ".urdf"):
        # With this path MuJoCo makes those of meshes, which must not depend on the working folder.
        return mujoco.MjSpec.from_file(os.fspath(file.absolute()))
    # MuJoCo refuses other suffixes, but not the text; meshes are then found in this folder.
    if not single:
        raise ModelError(f"{shown}: includes other files, which MuJoCo only reads if the name ends "
                         "in .xml. Rename it.")
    spec = mujoco.MjSpec.from_string(file.read_text(encoding="utf-8"))
    spec.modelfiledir = os.fspath(file.absolute().parent) + os.sep
    return spec


def imported(shown: str) -> Any:
    try:
        return importlib.import_module("mujoco")
    except ImportError as error:
        raise ModelError(
            f"{shown}: MJCF is compiled by the package mujoco, which cannot be imported ({error}). "
            'Install it: pip install "kempe[mjcf]"') from None


def message(shown: str, text: str, *, single: bool) -> str:
    """An error of MuJoCo as one of Kempe."""
    words = " ".join(text.split())
    line = LINE.search(words)
    place = f"{shown}:{line[1]}" if line and single and line[1] != "0" else shown
    return f"{place}: MuJoCo cannot compile it: {words}"


def lines_of(spec: Any) -> dict[tuple[str, int], int]:
    """Lines of elements, as far as this version of MuJoCo tells them."""
    lines = {}
    for kind, elements in (("body", "bodies"), ("joint", "joints"), ("site", "sites"),
                           ("equality", "equalities"), ("tendon", "tendons")):
        for element in getattr(spec, elements, ()):
            number, match = getattr(element, "id", None), LINE.search(element.info or "")
            if number is not None and match:
                lines[kind, number] = int(match[1])
    return lines


# --- hostile files -------------------------------------------------------------------------------

class Scan:
    """Refuses files that would keep MuJoCo's compiler busy for hours or exhaust memory: it has no
    limits of its own on repetitions and grids. Everything else is left to it."""

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._elements = 0
        self._seen: set[str] = set()
        self._files: set[str] = set()  # of meshes, textures, …
        self._folders = {""}  # where these may be

    def of(self, file: Path) -> int:
        """Scans a file and those that it includes; returns their number."""
        folder, waiting = file.parent, [(file, self._shown, 1)]
        while waiting:
            file, shown, times = waiting.pop()
            key = os.path.realpath(file)
            if key in self._seen:
                continue  # MuJoCo reports include loops
            self._seen.add(key)
            if len(self._seen) > MOST_FILES:
                raise ModelError(f"{self._shown}: includes more than {MOST_FILES} files. Check "
                                 "that it is a robot.")
            if len(self._seen) > 1 and not os.path.exists(file):
                continue  # reported by MuJoCo, which may search elsewhere
            waiting += [(folder / name, os.fspath(folder / name), count)
                        for name, count in self._included(file, shown, times)]
        for name in self._files:
            for place in self._folders:
                path = folder / place / name
                if os.path.exists(path) and not os.path.isfile(path):
                    raise ModelError(f'{self._shown}: the file "{name}" is not a regular file. '
                                     "Name another one.")
        return len(self._seen)

    def _included(self, file: Path, shown: str, times: int) -> list[tuple[str, int]]:
        text = self._content(file, shown)
        parser = expat.ParserCreate()
        found: list[tuple[str, int]] = []
        factors = [times]

        def fail(reason: str) -> None:
            raise ModelError(f"{shown}:{parser.CurrentLineNumber}: {reason}")

        def start(tag: str, attributes: dict[str, str]) -> None:
            if len(factors) == 1 and not found and factors[0] == times and (
                    not self._elements) and tag != "mujoco":
                fail(f"the root element is <{tag}>, not <mujoco>. Files of URDF end in .urdf.")
            factor = factors[-1]
            if tag == "replicate":
                factor *= max(1, whole(attributes.get("count", "")))
            factors.append(factor)
            self._elements += factors[-2]
            if self._elements > MOST_ELEMENTS or factor > MOST_ELEMENTS:
                fail(f"<{tag}>: more than {MOST_ELEMENTS} elements, counting replication. Check "
                     "the counts.")
            for one, other in (("nrow", "ncol"), ("width", "height")):
                if tag in ("hfield", "texture") and whole(attributes.get(one, "")) * max(
                        1, whole(attributes.get(other, ""))) > MOST_CELLS:
                    fail(f'<{tag}> "{attributes.get("name", "")}": more than {MOST_CELLS} cells. '
                         f"Check {one} and {other}.")
            for name, value in attributes.items():
                if name.startswith("file") and value and "\0" not in value:
                    self._files.add(value)
                if tag == "compiler" and name.endswith("dir"):
                    self._folders.add(value)
                if tag == "size" and name.startswith(("nkey", "nuser_")) and (
                        whole(value) > MOST_EXTRA):
                    fail(f'<size>: {name}="{value}" is more than {MOST_EXTRA}. Leave it out: '
                         "MuJoCo counts by itself.")
            cells = math.prod(max(1, whole(n)) for n in attributes.get("count", "").split())
            if tag in ("composite", "flexcomp") and cells * factor > MOST_ELEMENTS:
                fail(f'<{tag}>: count="{attributes["count"]}" makes more than {MOST_ELEMENTS} '
                     "elements. Check it.")
            if tag in ("include", "model") and "file" in attributes:
                found.append((attributes["file"], factor))

        def end(tag: str) -> None:
            factors.pop()

        def doctype(*_: object) -> None:
            fail("has a DOCTYPE. No robot needs one: remove it.")

        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.StartDoctypeDeclHandler = doctype
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            raise ModelError(f"{shown}:{error.lineno}: is not well-formed XML: "
                             f"{expat.ErrorString(error.code)}. Correct it.") from None
        except (ValueError, LookupError) as error:  # unknown encodings
            raise ModelError(f"{shown}: cannot be read: {error}. Write it in UTF-8.") from None
        return found

    def _content(self, file: Path, shown: str) -> bytes:
        if os.path.isdir(file):
            raise ModelError(f"{shown}: is a folder. Name the .xml file in it.")
        if os.path.exists(file) and not os.path.isfile(file):
            raise ModelError(f"{shown}: is not a regular file. Name an .xml file.")
        try:
            size = file.stat().st_size
            if size > MOST_BYTES:
                raise ModelError(f"{shown}: has {size} bytes; at most {MOST_BYTES} are read. Check "
                                 "that it is a robot.")
            return file.read_bytes()
        except OSError as error:
            raise ModelError(
                f"{shown}: cannot be read: {error.strerror}. Check the path.") from None


def whole(text: str) -> int:
    """The whole number that text begins with; 0 without one."""
    match = re.match(r"\s*\+?(\d{1,18})", text)
    return int(match[1]) if match else 0
