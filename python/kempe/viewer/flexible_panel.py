"""Controls of flexible bodies: the scale of deformations, strain energy in colours, modes."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from kempe.viewer import colours
from kempe.viewer.clock import Clock
from kempe.viewer.flexible import UNIT, Vibration, vibrations
from kempe.viewer.sliders import Moved, by_a_person, set_slider

if TYPE_CHECKING:
    import viser

    from kempe.viewer.session import Session

PERIOD = 1.0  # seconds in which a mode is shown, whatever its frequency
MOST_SCALE = 100.0  # at the end of the slider
TEXT = "font-size:0.9em;padding:0.3em 1em"


class FlexiblePanel:
    """What is drawn of the deformation, and a thread that animates a mode."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._top: float | None = None  # of the scale of colours that is shown
        self._time = 0.0
        self._vibration: Vibration | None = None  # that is animated
        self._clock = Clock(session.lock, self._tick)
        found, problem = vibrations(session.model)
        self.vibrations = {vibration.label: vibration for vibration in found}
        scale = session.deformation_scale
        gui = session.server.gui
        self._scale = gui.add_slider(
            "Deformation scale", min=0.0, max=max(MOST_SCALE, scale), step=0.5,
            initial_value=scale, hint="deformations are drawn so many times as large")
        self._scale.on_update(self._scaled)
        gui.add_checkbox("Colours by strain energy", True).on_update(
            lambda event: session.scene.colour_by_energy(event.target.value))
        self._legend = gui.add_html("")
        self._choice = gui.add_dropdown("Mode", tuple(self.vibrations))
        self._choice.on_update(self._chosen)
        self._button = gui.add_button("Animate")
        self._button.on_click(
            lambda _: self.stop() if self.animating else self.animate(self._selected()))
        # HTML, not Markdown, because names come from a file.
        self._message = gui.add_html("")
        self._say(problem)

    @property
    def animating(self) -> bool:
        return self._clock.running

    def animate(self, vibration: Vibration) -> None:
        """Shows a mode as η(t) = A sin(2 π t): of a body about the configuration of the sliders, of
        the whole robot about that in which it sags."""
        session = self._session
        with session.lock:
            session.stand_still()
            self._vibration = vibration
            self._base = vibration.base(session.posture.q)
            ends = np.array([vibration.at(self._base, phase) for phase in (-1.0, 1.0)])
            session.energy_scale = session.scene.elastic_bodies.largest_density(ends)
            self._choice.value = vibration.label  # type: ignore[misc]  # as in set_slider()
            self._button.label = "Stop"
            self._say(vibration.label)
            self._time = 0.0
            self._clock.run()

    def stop(self) -> None:
        """Goes back to the configuration of the sliders."""
        session = self._session
        with session.lock:
            if not self.animating:
                return
            self._clock.pause()
            self._button.label = "Animate"
            self._say("")
            session.energy_scale = None
            session.show(session.posture.q)

    def follow_scale(self) -> None:
        """Moves the slider to the session's scale of deformations."""
        if self._scale.value != self._session.deformation_scale:
            set_slider(self._scale, self._session.deformation_scale)

    def close(self) -> None:
        self._clock.close()

    def show_scale(self, top: float) -> None:
        """Shows the scale of colours, up to a strain energy over mass."""
        if top != self._top:
            self._top = top
            bar = colours.scale_bar(f"Strain energy, {UNIT}", f"{top:.3g}")
            self._legend.content = f'<div style="{TEXT}">{bar}</div>'

    def _tick(self, elapsed: float) -> None:
        assert self._vibration is not None
        self._time = (self._time + elapsed / PERIOD) % 1.0
        phase = float(np.sin(2 * np.pi * self._time))
        self._session.show(self._vibration.at(self._base, phase), self._base)

    def _selected(self) -> Vibration:
        return self.vibrations[self._choice.value]

    def _chosen(self, event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
        if event.client_id is not None and self.animating:
            self.animate(self._selected())

    def _scaled(self, event: Moved) -> None:
        if by_a_person(event):
            self._session.deformation_scale = float(self._scale.value)

    def _say(self, message: str) -> None:
        self._message.content = f'<div style="{TEXT}">{html.escape(message)}</div>'
