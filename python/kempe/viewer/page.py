"""A run as one page that needs neither a server nor a network."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kempe.viewer import colours, stage
from kempe.viewer import server as web
from kempe.viewer.flexible import UNIT, ElasticBodies, checked_scale
from kempe.viewer.flexible_scene import coarse
from kempe.viewer.rotations import Array
from kempe.viewer.scene import RobotScene

if TYPE_CHECKING:
    from kempe import Model, Run


def write_html(model: Model, run: Run, path: str | os.PathLike[str], *,
               frames_per_second: float = 30.0, deformation_scale: float = 1.0) -> Path:
    """Writes a page that plays a run, and returns its path. Deformations of flexible bodies are
    drawn `deformation_scale` times as large."""
    deformation_scale = checked_scale(deformation_scale)
    run.check_fits(model)
    if not frames_per_second > 0:
        raise ValueError(f"frames_per_second: must be above zero, got {frames_per_second}")
    chosen = frame_indices(run.t, frames_per_second)
    q = np.ascontiguousarray(run.q[chosen])
    elastic_bodies = ElasticBodies(model)
    R, p = model.forward_kinematics(elastic_bodies.scaled(q, deformation_scale),
                                    frames=[body.name for body in model.mechanism.bodies])
    densities, top = elastic_bodies.energy_densities(q), elastic_bodies.largest_density(run.q)
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
            scene.show_energy([each[frame] for each in densities], top)
            if plan.follow:
                scene.follow(coarse(centres[frame] - centres[0]))
            recording.insert_sleep(float(duration))
        page = recording.as_html()
    finally:
        web.stop(server)
    # A function, because re.sub would interpret backslashes of the name in a string.
    title = f"<title>{html.escape(model.name)}</title>"
    page = re.sub(r"<title>.*?</title>", lambda _: title, page, count=1)
    if elastic_bodies.bodies:
        before, end, after = page.rpartition("</body>")
        page = before + legend(top, deformation_scale) + end + after
    path = Path(path)
    path.write_text(page, encoding="utf-8")
    return path


def legend(top: float, deformation_scale: float) -> str:
    """The scale of strain energies in a corner of the page, and that of deformations."""
    bar = colours.scale_bar(f"Strain energy, {UNIT}", f"{top:.3g}")
    note = "" if deformation_scale == 1 else f"<div>Deformations × {deformation_scale:g}</div>"
    return ('<div style="position:fixed;left:1em;top:1em;width:14em;padding:0.5em;z-index:10;'
            "font:13px sans-serif;color:#24292f;background:rgba(255,255,255,0.85);"
            f'pointer-events:none">{bar}{note}</div>')


def frame_indices(t: Array, frames_per_second: float) -> Array:
    """Indices of the states to show: the last one before each frame, and the final one."""
    pictures = np.arange(t[0], t[-1], 1 / frames_per_second)
    indices = np.searchsorted(t, pictures + 1e-9, side="right") - 1
    return np.unique(np.append(indices, len(t) - 1))
