"""Work that repeats while something plays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FRAME = 1 / 30  # seconds between frames


class Clock:
    """Calls `tick` for every frame while it runs, with the seconds since the frame before, in a
    thread of its own that holds `lock`."""

    def __init__(self, lock: threading.RLock, tick: Callable[[float], None]) -> None:
        self._lock = lock
        self._tick = tick
        self._running = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        return self._running.is_set()

    def run(self) -> None:
        self._running.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()

    def pause(self) -> None:
        self._running.clear()

    def close(self) -> None:
        """Ends the thread. The caller does not hold the lock."""
        self._closed.set()
        self._running.set()  # wakes the thread
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        last = time.monotonic()
        while True:
            if not self.running:
                self._running.wait()
                last = time.monotonic()
            if self._closed.is_set():
                return
            with self._lock:
                now = time.monotonic()
                if self.running:
                    self._tick(now - last)
                last = now
            time.sleep(max(0.0, FRAME - (time.monotonic() - last)))
