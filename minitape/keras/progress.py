"""The progress bar of ``fit``, ``evaluate`` and ``predict``, much as Keras 3 draws it."""

from __future__ import annotations

import sys
import time
from typing import Any

WIDTH, INTERVAL = 20, 0.05  # of the bar in characters; between two drawings in seconds


class Progbar:
    """A bar that grows with ``update`` until ``finish``: ``verbose`` 1 draws it, 2 prints one line at the end, 0 nothing.

    ``target`` is the number of steps, None while it is unknown.

    >>> bar = Progbar(2, verbose=2)
    >>> bar.update(1, {"size": 1.0})
    >>> bar.update(2, {"size": 2.0})
    >>> bar.finish({"size": 2.0})
    2/2 - 0s - .../step - size: 2.0000
    """

    def __init__(self, target: int | None, verbose: Any = "auto") -> None:
        self.target, self._verbose = target, 1 if verbose == "auto" else int(verbose)
        self._values: dict[str, float] = {}
        self._start = self._after_first = time.time()
        self._last = 0.0
        self._seen = self._width_before = 0

    def update(self, current: int, values: dict[str, float]) -> None:
        """Shows step ``current``, unless something was shown just before."""
        self._values |= values
        self._seen, now = current, time.time()
        if current == 1:
            self._after_first = now
        if self._verbose == 1 and now - self._last >= INTERVAL:
            self._last = now
            self._draw(now)

    def finish(self, values: dict[str, float]) -> None:
        """Ends the bar behind the last step."""
        self._values |= values
        self.target = self._seen = self.target or self._seen
        now = time.time()
        if self._verbose == 1:
            self._draw(now, end="\n")
        elif self._verbose == 2 and self.target:
            print(f"{self._count()} - {now - self._start:.0f}s - {self._step_time(now)}{self._shown(plain=True)}", flush=True)

    def _count(self) -> str:
        target = self.target or 1
        return f"{self._seen:{len(str(target))}d}/{target}"

    def _draw(self, now: float, end: str = "") -> None:
        if self.target:
            done = WIDTH * self._seen // self.target
            bar = f"\x1b[1m{self._count()}\x1b[0m \x1b[32m{'━' * done}\x1b[0m\x1b[37m{'━' * (WIDTH - done)}\x1b[0m"
        else:
            bar = f"\x1b[1m{self._seen:7d}/Unknown\x1b[0m"
        text = f"{bar} \x1b[1m{now - self._start:.0f}s\x1b[0m {self._step_time(now)}{self._shown()}"
        sys.stdout.write("\r" + text.ljust(self._width_before) + end)
        sys.stdout.flush()
        self._width_before = len(text)

    def _shown(self, plain: bool = False) -> str:
        text = ""
        for name, value in self._values.items():
            text += f" - {name}: {value:.4f}" if (value if plain else abs(value)) > 1e-3 else f" - {name}: {value:.4e}"
        return text

    def _step_time(self, now: float) -> str:
        """The mean time of a step; the first one, which prepares things, does not count once there are more."""
        count, start = (self._seen - 1, self._after_first) if self._seen > 1 else (1, self._start)
        seconds = (now - start) / count if self._seen else 0.0
        if seconds >= 1 or seconds == 0:
            return f"{seconds:.0f}s/step"
        return f"{seconds * 1e3:.0f}ms/step" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us/step"
