"""A block around a training loop that records every n-th step of it: between them the framework runs as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import TYPE_CHECKING, Any

from ..engine.recording.block import Exit
from .changes import Block, Changes

if TYPE_CHECKING:
    from ..engine.typed import Leaving
    from .recording import Recording


class Every:
    """What ``record(every=100)`` gives: ``latest`` is the recording of the last step that was recorded, and ``steps`` counts all of them.

    What is asked of it, such as ``explain``, the latest recording answers. A step goes from one of the framework's ``bounds`` to the next,
    such as from ``zero_grad()`` to ``zero_grad()``; the first one is recorded. ``cost`` says how many others a recorded step takes as long as.
    """

    def __init__(self, block: Callable[[], Block[Any]], every: int, bounds: Sequence[tuple[Any, str]], ready: Callable[[], bool] = lambda: True) -> None:
        if not isinstance(every, int) or isinstance(every, bool) or every < 1:
            raise ValueError(f"every={every!r} is no number of steps: every=100 records each hundredth.")
        self.every, self.steps = every, 0
        self.latest: Recording | None = None
        self._block, self._bounds, self._ready = block, bounds, ready
        self._changes = Changes()
        self._open: Block[Any] | None = None
        self._passing = self._entered = False
        self._since = 0.0
        self._spent = [[0.0, 0], [0.0, 0]]  # of plain steps and of recorded ones: time, and how many

    @property
    def cost(self) -> float | None:
        """How many plain steps a recorded one takes as long as, in processor time; None before the second recorded step."""
        (plain, some), (recorded, others) = self._spent
        return recorded / others / (plain / some) if plain and others else None

    def _clock(self) -> None:
        """A step has ended; the first one, in which everything is warmed up, does not count."""
        now = process_time()
        if self.steps > 1:
            spent = self._spent[(self.steps - 1) % self.every == 0]
            spent[0] += now - self._since
            spent[1] += 1
        self._since = now

    def __enter__(self) -> Every:
        self._entered = True
        self._changes.begin()
        for owner, name in self._bounds:
            self._changes.wrap(owner, name, self._bound(owner, name))
        return self

    def _bound(self, owner: Any, name: str) -> Callable[..., Any]:
        def around(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            if self._passing or not self._ready():
                return function(*args, **kwargs)
            self._close()
            self._clock()
            if self.steps % self.every == 0:
                self._open = self._block()
                self.latest = self._open.__enter__()
            self.steps += 1
            if self._open is None:
                return function(*args, **kwargs)
            self._passing = True
            try:
                return getattr(owner, name)(*args, **kwargs)  # as the recording has it now
            finally:
                self._passing = False

        return around

    def _close(self) -> None:
        if self._open is not None:
            self._open.__exit__(None, None, None)
            self._open = None

    def _leave(self, *_: object) -> None:
        self._close()
        self._changes.undo()
        self._entered = False

    __exit__: Leaving = Exit(_leave, lambda block: block._entered)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self.latest is None:
            bounds = ", ".join(f"{owner.__name__}.{bound}()" for owner, bound in self._bounds)
            raise RuntimeError(f"No step was recorded yet: a step begins with {bounds}.")
        return getattr(self.latest, name)

    def __repr__(self) -> str:
        cost = "" if self.cost is None else f", a recorded step takes as long as {self.cost:.1f} others"
        return f"Every({self.every}, {self.steps} step{'' if self.steps == 1 else 's'}, {self.latest!r}{cost})"
