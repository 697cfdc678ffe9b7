"""A robot in the browser: the server, the scene and the panel next to it."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from kempe.viewer import server as web
from kempe.viewer import stage
from kempe.viewer.flexible import checked_scale, find_vibration
from kempe.viewer.flexible_panel import FlexiblePanel
from kempe.viewer.playback import Playback
from kempe.viewer.pose_panel import PosePanel
from kempe.viewer.posture import Posture
from kempe.viewer.rotations import Array
from kempe.viewer.scene import RobotScene

if TYPE_CHECKING:
    import viser

    from kempe import Model, Run

    Switched = viser.GuiEvent[viser.GuiCheckboxHandle]

SMALL = "font-size:0.8em;padding:0.1em 1em"  # text in the panel


class Session:
    """Serves a robot until stop(). All connected browsers share one state.

    Deformations of flexible bodies are drawn `deformation_scale` times as large.
    """

    def __init__(self, model: Model, run: Run | None = None, *, host: str = "localhost",
                 port: int = 8080, deformation_scale: float = 1.0) -> None:
        self._deformation_scale = checked_scale(deformation_scale)
        if run is not None:
            run.check_fits(model)
        self.model = model
        self.lock = threading.RLock()  # callbacks come from several threads
        self._bodies = [body.name for body in model.mechanism.bodies]
        self.server = web.start(host, port, label=model.name)
        try:
            self.url = address(host, self.server.get_port())
            self.scene = RobotScene(self.server.scene, model)
            plan = stage.plan(model, run, self.scene.drawing.size)
            stage.set_up(self.server, model, self.scene.drawing, plan)
            self._follow = plan.follow
            self._start = model.center_of_mass(plan.poses[0])
            self.posture = Posture(model, self.scene.drawing.size)
            self._energy_of_run = (
                0.0 if run is None else self.scene.elastic_bodies.largest_density(run.q))
            # The end of the scale of strain energies; None: that of the run, or of what is shown.
            self.energy_scale: float | None = None
            self._add_panel(run)
            self.pose_panel.take_over(plan.poses[0])
        except BaseException:
            web.stop(self.server)
            raise

    @property
    def notices(self) -> list[str]:
        """Shapes of the robot's file that could not be drawn."""
        return self.scene.drawing.notices

    @property
    def deformation_scale(self) -> float:
        """The factor by which deformations of flexible bodies are drawn too large."""
        return self._deformation_scale

    @deformation_scale.setter
    def deformation_scale(self, scale: float) -> None:
        with self.lock:
            self._deformation_scale = checked_scale(scale)
            if self.flexible_panel is not None:
                self.flexible_panel.follow_scale()
            self.show(self.shown, self._base)

    def animate(self, mode: str) -> None:
        """Animates a mode: of a body, "rod/mode1", or of the whole robot, "1".

        Raises ValueError, which lists the modes, if it does not exist.
        """
        panel = self.flexible_panel
        found = find_vibration([] if panel is None else list(panel.vibrations.values()), mode)
        assert panel is not None
        panel.animate(found)

    def stand_still(self) -> None:
        """Stops what plays."""
        if self.playback is not None:
            self.playback.pause()
        self.stop_animation()

    def stop_animation(self) -> None:
        if self.flexible_panel is not None:
            self.flexible_panel.stop()

    def stop(self) -> None:
        if self.playback is not None:
            self.playback.stop()
        if self.flexible_panel is not None:
            self.flexible_panel.close()
        web.stop(self.server)

    def show(self, q: Array, base: Array | None = None) -> None:
        """Draws a configuration and shows its loop error, energy and centre of mass.

        Deformations are scaled, or only those of `base`, about which the robot vibrates.
        """
        elastic_bodies = self.scene.elastic_bodies
        drawn = elastic_bodies.scaled(q, self._deformation_scale, base)
        R, p = self.model.forward_kinematics(drawn, frames=self._bodies)
        centre = self.model.center_of_mass(q)
        with self.lock, self.server.atomic():
            self.shown, self._base = q, base
            self.scene.place(R, p, centre)
            if self.flexible_panel is not None:
                densities = elastic_bodies.energy_densities(q)
                top = self.energy_scale
                if top is None:
                    top = max(self._energy_of_run, *(float(each.max()) for each in densities))
                self.scene.show_energy(densities, top)
                self.flexible_panel.show_scale(top)
            self.scene.follow(centre - self._start if self._follow else np.zeros(3))
        _, potential = self.model.energy(q, np.zeros(self.model.nv))
        error = np.abs(self.model.loop_residual(q)).max(initial=0.0)
        x, y, z = np.round(centre, 3) + 0.0  # no −0
        self._figures.content = (
            f"Largest loop error: {error:.1e}  \n"
            f"Potential energy: {potential + 0.0:.4g} J  \n"
            f"Centre of mass: {x:.3f}, {y:.3f}, {z:.3f} m")

    def _add_panel(self, run: Run | None) -> None:
        gui = self.server.gui
        gui.configure_theme(control_width="large", show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        self._figures = gui.add_markdown("")
        self.playback = Playback(self, run) if run is not None else None
        tabs = gui.add_tab_group()
        self.flexible_panel: FlexiblePanel | None = None
        with tabs.add_tab("Pose"):
            self.pose_panel = PosePanel(self)
        with tabs.add_tab("Show"):
            self._add_switches(gui)
        with tabs.add_tab("Colours"):
            self._add_legend(gui)
        if self.model.mechanism.flexible_bodies:
            with tabs.add_tab("Flexible bodies"):
                self.flexible_panel = FlexiblePanel(self)
        if self.notices:
            with gui.add_folder("Notices"):
                self._add_notices(gui)

    def _add_switches(self, gui: viser.GuiApi) -> None:
        switches = [
            ("Colours by cluster", True, self.scene.colour_by_cluster),
            ("Loop closures", True, self.scene.show_loops),
            ("Joint axes", False, self.scene.show_axes),
            ("Centres of mass", False, self.scene.show_centres),
            ("Names of bodies", False, self.scene.show_names),
            ("See-through bodies", False, self.scene.see_through),
            ("Follow the robot", self._follow, self._set_follow),
        ]
        for label, initial, switch in switches:
            gui.add_checkbox(label, initial).on_update(switched(switch))

    def _set_follow(self, wanted: bool) -> None:
        with self.lock:
            self._follow = wanted
            self.show(self.shown, self._base)

    def _add_notices(self, gui: viser.GuiApi) -> None:
        gui.add_html("".join(
            f'<div style="{SMALL}">{html.escape(notice)}</div>' for notice in self.notices))

    def _add_legend(self, gui: viser.GuiApi) -> None:
        gui.add_html("".join(
            f'<div style="{SMALL}">'
            f'<span style="color:rgb{colour}">&#9632;</span> {html.escape(text)}</div>'
            for colour, text in self.scene.palette.legend))


def address(host: str, port: int) -> str:
    """The URL of the server for a browser on this machine."""
    if host in {"0.0.0.0", "::"}:  # all addresses of the machine
        host = "localhost"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def switched(switch: Callable[[bool], None]) -> Callable[[Switched], None]:
    return lambda event: switch(event.target.value)
