"""Robots and recorded runs in the browser. Needs the extra `view`: pip install "kempe[view]"."""

from __future__ import annotations

import contextlib
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING

try:
    import viser as _viser  # noqa: F401
except ImportError as error:
    raise ImportError(
        'the viewer needs the package viser: pip install "kempe[view]"') from error

from kempe.viewer.page import write_html
from kempe.viewer.session import Session

if TYPE_CHECKING:
    from kempe import Model, Run

__all__ = ["Session", "view", "write_html"]


def view(model: Model, run: Run | None = None, *, host: str = "localhost", port: int = 8080,
         open_browser: bool = True, deformation_scale: float = 1.0,
         mode: str | None = None) -> None:
    """Shows a robot in the browser, with sliders for its degrees of freedom (DoF), until Ctrl-C.

    A `run` can be played back. Deformations of flexible bodies are drawn `deformation_scale` times
    as large; `mode` animates a mode: of a body, "rod/mode1", or of the whole robot with its joints
    held, "1". If `port` is in use, the next free one is used; the address is printed. Raises
    ValueError if `run` was recorded with another robot, or if the mode does not exist.
    """
    with contextlib.suppress(KeyboardInterrupt):
        session = Session(
            model, run, host=host, port=port, deformation_scale=deformation_scale)
        try:
            if mode is not None:
                session.animate(mode)
            if port not in {0, session.server.get_port()}:
                print(f"Port {port} is in use.")
            for notice in session.notices:
                print(f"notice: {notice}", file=sys.stderr)
            print(f"{model.name} is shown at {session.url}  (press Ctrl-C to stop)", flush=True)
            if open_browser:
                webbrowser.open(session.url)
            threading.Event().wait()
        finally:
            session.stop()
