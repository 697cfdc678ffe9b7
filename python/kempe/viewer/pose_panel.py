"""Sliders for the degrees of freedom of a robot."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from kempe.errors import AssemblyError
from kempe.viewer.posture import MODAL, Control, Unit
from kempe.viewer.rotations import Array
from kempe.viewer.sliders import Moved, Slider, by_a_person, set_slider

if TYPE_CHECKING:
    import viser

    from kempe.viewer.session import Session

DIGITS: dict[Unit, int] = {"rad": 3, "m": 4, MODAL: 6}  # that a slider shows


class PosePanel:
    """One slider for each control of the session's posture; the loops stay closed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._posture = session.posture
        self._draws = 0
        self._sliders: dict[Control, Slider] = {}
        gui = session.server.gui
        buttons = gui.add_button_group("Go to", ("Neutral", "Random"))
        buttons.on_click(
            lambda _: self._neutral() if buttons.value == "Neutral" else self._random())
        # HTML, not Markdown, so that names can be escaped and do not load images.
        self._message = gui.add_html("", visible=False)
        for group in dict.fromkeys(map(group_of, self._posture.controls)):
            controls = [c for c in self._posture.controls if group_of(c) == group]
            if len(controls) == 1:
                self._add_slider(gui, controls[0], controls[0].label)
                continue
            with gui.add_folder(group, expand_by_default=False):
                for control in controls:
                    self._add_slider(gui, control, control.label[len(group) + 1:])

    def take_over(self, q: Array) -> None:
        """Shows a closed configuration and sets the sliders to it."""
        with self._session.lock:
            self._posture.set(q)
            self._say(None)
            for control in self._sliders:
                self._follow(control)
            self._session.show(self._posture.q)

    def _add_slider(self, gui: viser.GuiApi, control: Control, label: str) -> None:
        digits = DIGITS[control.unit]
        value = self._shown(control)
        slider = gui.add_slider(
            f"{label} [{control.unit}]", min=min(round(control.lower, digits), value),
            max=max(round(control.upper, digits), value), step=10.0**-digits, initial_value=value,
            hint=control.label if label != control.label else None)
        self._sliders[control] = slider
        slider.on_update(lambda event: self._moved(control, event))

    def _shown(self, control: Control) -> float:
        return round(self._posture.value(control), DIGITS[control.unit])

    def _moved(self, control: Control, event: Moved) -> None:
        if not by_a_person(event):
            return
        session = self._session
        with session.lock:
            session.stand_still()
            target = float(self._sliders[control].value)
            obstacle = self._posture.move(control, target)
            if obstacle is not None:
                self._follow(control)
                obstacle = (f"{control.label} stops at {self._posture.value(control):.4g} "
                            f"{control.unit}: {obstacle}")
            self._say(obstacle)
            session.show(self._posture.q)

    def _follow(self, control: Control) -> None:
        set_slider(self._sliders[control], self._shown(control))

    def _say(self, message: str | None) -> None:
        self._message.visible = message is not None
        if message is not None:
            self._message.content = (
                f'<div style="font-size:0.9em;padding:0.3em 1em">⚠ {html.escape(message)}</div>')

    def _neutral(self) -> None:
        self._jump(self._posture.model.neutral())

    def _random(self) -> None:
        """A random configuration; the base keeps its place."""
        self._draws += 1
        model = self._posture.model
        try:
            q = model.random_configuration(seed=self._draws)
        except AssemblyError as error:
            self._say(str(error))
            return
        alone = {cluster.joints[0] for cluster in model.clusters if len(cluster.joints) == 1}
        for joint in model.mechanism.joints:
            if joint.type == "free" and joint.name in alone:
                start = model.q_names.index(f"{joint.name}.x")
                q[start:start + 7] = self._posture.q[start:start + 7]
        self._jump(q)

    def _jump(self, q: Array) -> None:
        self._session.stand_still()
        self.take_over(np.asarray(q))


def group_of(control: Control) -> str:
    """The joint, or the flexible body of a modal coordinate."""
    return control.joint.rpartition("/")[0] if control.unit == MODAL else control.joint
