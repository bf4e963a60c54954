"""The progress bar of ``fit``, ``evaluate`` and ``predict``, as Keras 3 draws it."""

from __future__ import annotations

import math
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
        self._start = time.time()
        self._last = 0.0
        self._after_first: float | None = None
        self._seen = self._width_before = 0

    def update(self, current: int, values: dict[str, float]) -> None:
        """Shows step ``current``, unless something was shown just before."""
        self._values |= values
        self._seen, now = current, time.time()
        per_step = self._seconds_per_step(current, now)
        if self._verbose == 1 and now - self._last < INTERVAL:
            return
        if self._verbose == 1:
            self._draw(current, now, per_step, False)
        self._last = now

    def finish(self, values: dict[str, float]) -> None:
        """Ends the bar behind the last step."""
        self._values |= values
        self.target = self.target or self._seen
        now = time.time()
        per_step = self._seconds_per_step(self.target, now)
        if self._verbose == 1:
            self._draw(self.target, now, per_step, True)
        elif self._verbose == 2 and self.target:
            count, seconds = self._count(self.target), f"{now - self._start:.0f}s"
            print(f"{count} - {seconds} -{_time(per_step)}{self._shown(plain=True)}", flush=True)

    def _count(self, current: int) -> str:
        target = self.target or 1
        return f"{current:{int(math.log10(target)) + 1}d}/{target}"

    def _draw(self, current: int, now: float, per_step: float, finalize: bool) -> None:
        hidden = 0  # characters that colours take but nobody sees
        if self.target:
            done = int(WIDTH * (current / self.target))
            bar = f"\x1b[1m{self._count(current)}\x1b[0m "
            if done > 0:
                bar += f"\x1b[32m{'━' * done}\x1b[0m"
                hidden += 9
            bar += f"\x1b[37m{'━' * (WIDTH - done)}\x1b[0m"
            hidden += 17
        else:
            bar = f"{current:7d}/Unknown"
        left = f"{now - self._start:.0f}s"
        if self.target and not finalize:
            left = _clock(per_step * (self.target - current))
        info = f" \x1b[1m{left}\x1b[0m" + _time(per_step) + self._shown()
        hidden += 8
        width = len(bar) + len(info) - hidden
        start = "\b" * self._width_before + "\r"
        sys.stdout.write(start + bar + info + " " * (self._width_before - width) + ("\n" if finalize else ""))
        sys.stdout.flush()
        self._width_before = width

    def _shown(self, plain: bool = False) -> str:
        text = ""
        for name, value in self._values.items():
            text += f" - {name}: {value:.4f}" if (value if plain else abs(value)) > 1e-3 else f" - {name}: {value:.4e}"
        return text

    def _seconds_per_step(self, current: int, now: float) -> float:
        """The mean time of a step; the first one, which prepares things, does not count once there are more."""
        if not current:
            return 0
        if self._after_first is not None and current > 1:
            seconds = (now - self._after_first) / (current - 1)
        else:
            seconds = (now - self._start) / current
        if current == 1:
            self._after_first = now
        return seconds


def _time(seconds: float) -> str:
    if seconds >= 1 or seconds == 0:
        return f" {seconds:.0f}s/step"
    return f" {seconds * 1e3:.0f}ms/step" if seconds >= 1e-3 else f" {seconds * 1e6:.0f}us/step"


def _clock(seconds: float) -> str:
    if seconds > 3600:
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02d}:{int(seconds % 60):02d}"
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}" if seconds > 60 else f"{int(seconds)}s"
