"""A run as one page that needs neither a server nor a network."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kempe.viewer import server as web
from kempe.viewer import stage
from kempe.viewer.rotations import Array
from kempe.viewer.scene import RobotScene

if TYPE_CHECKING:
    from kempe import Model, Run

GRAIN = 2.0**-20  # metres: resolution of positions, which limits the size of the page


def write_html(model: Model, run: Run, path: str | os.PathLike[str], *,
               frames_per_second: float = 30.0) -> Path:
    """Writes a page that plays a run, and returns its path."""
    run.check_fits(model)
    if not frames_per_second > 0:
        raise ValueError(f"frames_per_second: must be above zero, got {frames_per_second}")
    chosen = frame_indices(run.t, frames_per_second)
    q = np.ascontiguousarray(run.q[chosen])
    R, p = model.forward_kinematics(q, frames=[body.name for body in model.mechanism.bodies])
    centres = model.center_of_mass(q)
    durations = np.append(np.diff(run.t[chosen]), 0.0)

    server = web.start("127.0.0.1", 0, label=model.name)
    try:
        scene = RobotScene(server.scene, model)
        plan = stage.plan(model, run, scene.drawing.size)
        stage.set_up(server, model, scene.drawing, plan)
        recording = server.get_scene_serializer()
        for frame, duration in enumerate(durations):
            scene.place(R[frame], coarse(p[frame]), coarse(centres[frame]))
            if plan.follow:
                scene.follow(coarse(centres[frame] - centres[0]))
            recording.insert_sleep(float(duration))
        page = recording.as_html()
    finally:
        web.stop(server)
    # A function, because re.sub would interpret backslashes of the name in a string.
    title = f"<title>{html.escape(model.name)}</title>"
    page = re.sub(r"<title>.*?</title>", lambda _: title, page, count=1)
    path = Path(path)
    path.write_text(page, encoding="utf-8")
    return path


def coarse(points: Array) -> Array:
    return np.asarray(np.round(points / GRAIN) * GRAIN)


def frame_indices(t: Array, frames_per_second: float) -> Array:
    """Indices of the states to show: the last one before each frame, and the final one."""
    pictures = np.arange(t[0], t[-1], 1 / frames_per_second)
    indices = np.searchsorted(t, pictures + 1e-9, side="right") - 1
    return np.unique(np.append(indices, len(t) - 1))
