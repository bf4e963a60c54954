"""A block around a training loop that records some of its steps: between them the framework runs as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import TYPE_CHECKING, Any

from ..engine.recording.block import Exit
from .changes import Block, Changes

if TYPE_CHECKING:
    from ..engine.typed import Leaving
    from .recording import Recording


class Steps:
    """A block that records the steps that are due. ``latest`` is the recording of the last of them, and answers what is asked of the
    block, such as ``explain``; ``steps`` counts all.

    A step goes from one of the framework's ``bounds`` to the next, such as from ``zero_grad()`` to ``zero_grad()``.
    """

    def __init__(self, block: Callable[[], Block[Any]], bounds: Sequence[tuple[Any, str]], ready: Callable[[], bool] = lambda: True) -> None:
        self.steps = 0
        self.latest: Recording | None = None
        self._block, self._bounds, self._ready = block, bounds, ready
        self._changes = Changes()
        self._open: Block[Any] | None = None
        self._passing = self._entered = False

    def _due(self) -> bool:
        """Whether the step that begins is recorded."""
        raise NotImplementedError

    def _recorded(self) -> None:
        """The recording of a step is complete."""

    def _none_recorded(self) -> str:
        """Why there is no recording to answer."""
        bounds = ", ".join(f"{owner.__name__}.{bound}()" for owner, bound in self._bounds)
        return f"No step was recorded yet: a step begins with {bounds}."

    def __enter__(self) -> Any:
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
            if self._due():
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
            self._passing = True  # what runs to find an answer is no step
            try:
                self._recorded()
            finally:
                self._passing = False

    def _leave(self, *_: object) -> None:
        self._close()
        self._changes.undo()
        self._entered = False

    __exit__: Leaving = Exit(_leave, lambda block: block._entered)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self.latest is None:
            raise RuntimeError(self._none_recorded())
        return getattr(self.latest, name)


class Every(Steps):
    """What ``record(every=100)`` gives: the first step and then each hundredth is recorded."""

    def __init__(self, every: int, *of_framework: Any) -> None:
        if not isinstance(every, int) or isinstance(every, bool) or every < 1:
            raise ValueError(f"every={every!r} is no number of steps: every=100 records each hundredth.")
        super().__init__(*of_framework)
        self.every = every
        self._since: float | None = None
        self._spent = [[0.0, 0], [0.0, 0]]  # of plain steps and of recorded ones: time, and how many

    @property
    def cost(self) -> str:
        """What the recorded steps cost, in words: their processor time beside that of the others."""
        (plain, some), (recorded, others) = self._spent
        if not plain or not others:
            return "Not known before a second step was recorded."
        ratio = recorded / others / (plain / some)
        return f"A recorded step takes as long as {ratio:.1f} others: every={self.every} adds {max(ratio - 1, 0) / self.every:.1%} to the time."

    def _due(self) -> bool:
        """A step has ended, too. The first one, in which everything is warmed up, does not count."""
        beside = self.steps % self.every in (0, 1, self.every - 1)  # a recorded step, and the one before it: to ask for the time costs time
        now = process_time() if beside else None
        if self.steps > 1 and now is not None and self._since is not None:
            spent = self._spent[(self.steps - 1) % self.every == 0]
            spent[0] += now - self._since
            spent[1] += 1
        self._since = now
        return self.steps % self.every == 0

    def __repr__(self) -> str:
        return f"Every({self.every}, {self.steps} step{'' if self.steps == 1 else 's'}, {self.latest!r})"
