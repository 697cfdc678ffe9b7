"""Playing a recorded run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kempe.viewer.clock import Clock
from kempe.viewer.sliders import Moved, by_a_person, set_slider

if TYPE_CHECKING:
    from kempe import Run
    from kempe.viewer.session import Session

SPEEDS = {"1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "4": 4.0}


class Playback:
    """Buttons and a thread that play a run in a loop."""

    def __init__(self, session: Session, run: Run) -> None:
        self._session = session
        self._run = run
        self._start, self._end = float(run.t[0]), float(run.t[-1])
        self._now = self._start
        self._energy, self._energy_error = run.energy, run.energy_error
        self._clock = Clock(session.lock, self._tick)
        gui = session.server.gui
        with gui.add_folder("Playback"):
            self._button = gui.add_button("Play")
            self._button.on_click(lambda _: self.pause() if self.playing else self.play())
            self._slider = gui.add_slider(
                "time [s]", min=self._start, max=max(self._end, self._start + 1e-9), step=1e-3,
                initial_value=self._start)
            self._slider.on_update(self._scrubbed)
            self._speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1")
            self._figures = gui.add_markdown(self._describe(0))

    @property
    def playing(self) -> bool:
        return self._clock.running

    def play(self) -> None:
        with self._session.lock:
            self._session.stand_still()
            self._button.label = "Pause"
            self._clock.run()

    def pause(self) -> None:
        """Stops at the current frame, which the sliders take over."""
        with self._session.lock:
            if not self.playing:
                return
            self._button.label = "Play"
            self._clock.pause()
            self._session.pose_panel.take_over(self._run.q[self._index()])

    def stop(self) -> None:
        self._clock.close()

    def _index(self) -> int:
        """Index of the last state that is not later than now."""
        return max(int(np.searchsorted(self._run.t, self._now, side="right")) - 1, 0)

    def _describe(self, index: int) -> str:
        run = self._run
        return (f"Energy: {self._energy[index]:.6g} J  \n"
                f"Work of forces: {run.work[index]:.6g} J  \n"
                f"Losses: {run.losses[index]:.6g} J  \n"
                f"Energy error: {self._energy_error[index]:.1e} J")

    def _scrubbed(self, event: Moved) -> None:
        if not by_a_person(event):
            return
        with self._session.lock:
            self._session.stop_animation()
            self._now = float(self._slider.value)
            self._show()
            if not self.playing:
                self._session.pose_panel.take_over(self._run.q[self._index()])

    def _show(self) -> None:
        index = self._index()
        self._session.show(self._run.q[index])
        self._figures.content = self._describe(index)

    def _tick(self, elapsed: float) -> None:
        self._now += elapsed * SPEEDS[self._speed.value]
        if self._now > self._end:
            self._now = self._start
        self._show()
        set_slider(self._slider, self._now)
