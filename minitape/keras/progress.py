"""The progress bar of ``fit``, ``evaluate`` and ``predict``, as Keras 3 draws it."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any

import numpy as np

_interactive = [True]


def say(message: str, line_break: bool = True) -> None:
    """Prints a message, or nothing after ``disable_interactive_logging``."""
    if _interactive[0]:
        sys.stdout.write(message + ("\n" if line_break else ""))
        sys.stdout.flush()


class Progbar:
    """A bar that grows with ``update(step, [(name, value), ...])``.

    ``verbose`` 1 draws it at each update (but not more often than every ``interval`` seconds), 2 prints one line at the
    end, 0 nothing. Values are averaged over the steps, except ``stateful_metrics`` (or all but ``stateless_metrics``).
    ``target`` is the number of steps, None while it is unknown; ``width`` that of the bar; ``unit_name`` what a step is
    called. Raises ValueError when both kinds of metrics are given.

    >>> import minitape as tf
    >>> bar = tf.keras.utils.Progbar(2, verbose=2, unit_name="file")
    >>> for step in (1, 2):
    ...     bar.update(step, [("size", float(step))])
    2/2 - 0s - .../file - size: 2.0000
    """

    def __init__(
        self,
        target: int | None,
        width: int = 20,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Any = None,
        stateless_metrics: Any = None,
        unit_name: str = "step",
    ) -> None:
        if stateful_metrics is not None and stateless_metrics is not None:
            raise ValueError(
                "Only one of `stateful_metrics` or `stateless_metrics` can be provided. `stateful_metrics` is used "
                "to make metrics stateless by default (with an exclusion list), while `stateless_metrics` is used "
                "to make metrics stateful by default (with an exclusion list)."
            )
        self.target, self.width, self.verbose = target, width, verbose
        self.interval, self.unit_name = interval, unit_name
        self._averaged_only = None if stateless_metrics is None else set(stateless_metrics)
        self._as_is = set(stateful_metrics or ())
        self._redraws = sys.stdout.isatty() if os.name != "posix" else True
        self._seen = 0
        self._sums: dict[str, list[Any]] = {}
        self._start = time.time()
        self._last = 0.0
        self._after_first: float | None = None
        self._width_before = 0

    def add(self, n: int, values: Any = None) -> None:
        """Moves on by ``n`` steps.

        >>> import minitape as tf
        >>> bar = tf.keras.utils.Progbar(10, verbose=2)
        >>> for size in (4, 6):
        ...     bar.add(size, [("loss", 0.5)])
        10/10 - 0s - .../step - loss: 0.5000
        """
        self.update(self._seen + n, values)

    def update(self, current: int, values: Any = None, finalize: bool | None = None) -> None:
        """Shows step ``current``; ``finalize`` (by default: when the target is reached) ends the bar."""
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        for name, value in values or []:
            self._take(name, value, current, finalize)
        self._seen = current
        now = time.time()
        per_unit = self._seconds_per_unit(current, now)
        if self.verbose == 1:
            if now - self._last < self.interval and not finalize:
                return
            self._draw(current, now, per_unit, finalize)
        elif self.verbose == 2 and finalize and self.target:
            count = f"{current:{int(math.log10(self.target)) + 1}d}/{self.target}"
            say(
                f"{count} - {now - self._start:.0f}s -{self._time(per_unit)}{self._values(plain=True)}\n",
                line_break=False,
            )
        self._last = now

    def _take(self, name: str, value: Any, current: int, finalize: bool) -> None:
        averaged = name in self._averaged_only if self._averaged_only is not None else name not in self._as_is
        if not averaged or finalize:
            self._sums[name] = [value, 1]
            return
        steps = max(current - self._seen, 1)
        total, count = self._sums.get(name, [0, 0])
        self._sums[name] = [total + value * steps, count + steps]

    def _draw(self, current: int, now: float, per_unit: float, finalize: bool) -> None:
        hidden = 0  # characters that colours take but nobody sees
        start = "\b" * self._width_before + "\r" if self._redraws else "\n"
        if self.target:
            done = int(self.width * (current / self.target))
            bar = f"\x1b[1m{current:{int(math.log10(self.target)) + 1}d}/{self.target}\x1b[0m "
            if done > 0:
                bar += f"\x1b[32m{'━' * done}\x1b[0m"
                hidden += 9
            bar += f"\x1b[37m{'━' * (self.width - done)}\x1b[0m"
            hidden += 17
        else:
            bar = f"{current:7d}/Unknown"
        left = f"{now - self._start:.0f}s"
        if self.target and not finalize:
            left = _clock(per_unit * (self.target - current))
        info = f" \x1b[1m{left}\x1b[0m" + self._time(per_unit) + self._values()
        hidden += 8
        width = len(bar) + len(info) - hidden
        say(start + bar + info + " " * (self._width_before - width) + ("\n" if finalize else ""), line_break=False)
        self._width_before = width

    def _values(self, plain: bool = False) -> str:
        text = ""
        for name, (total, count) in self._sums.items():
            mean = (total if isinstance(total, float) else np.mean(total)) / max(1, count)
            text += f" - {name}: {mean:.4f}" if (mean if plain else abs(mean)) > 1e-3 else f" - {name}: {mean:.4e}"
        return text

    def _time(self, seconds: float) -> str:
        if seconds >= 1 or seconds == 0:
            return f" {seconds:.0f}s/{self.unit_name}"
        return (
            f" {seconds * 1e3:.0f}ms/{self.unit_name}"
            if seconds >= 1e-3
            else f" {seconds * 1e6:.0f}us/{self.unit_name}"
        )

    def _seconds_per_unit(self, current: int, now: float) -> float:
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


def _clock(seconds: float) -> str:
    if seconds > 3600:
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02d}:{int(seconds % 60):02d}"
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}" if seconds > 60 else f"{int(seconds)}s"
