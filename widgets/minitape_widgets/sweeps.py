"""The sweep that a view shows: short ones at once, the steps of long ones page by page on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitape.engine.back.endpoints import ends_of
from minitape.picture.results import results_of
from minitape.picture.stepping import MOST, Stepper, stepper_of
from minitape.picture.values import pack_value, unpack_value

from .wire import compress, pack_steps, unpack_steps

if TYPE_CHECKING:
    from minitape.picture.fields import ResultFields

PAGE = 2000  # steps of a long sweep that travel at once
UPDATES = 3  # of the variables that are read after one gradient: a long training has others to look at


class Sweeps:
    """Follows the last gradient of a view's tape. ``sweep`` is the SWEEP with packed values, None without one;
    ``results`` are the RESULTs.
    """

    def __init__(self) -> None:
        self.sweep: dict[str, Any] | None = None
        self.results: list[ResultFields] = []
        self.wanted = False  # a caller asked for the steps of a long sweep
        self._stepper: Stepper | None = None
        self._pages: list[bytes] = []
        self._made = 0  # steps on these pages
        self._key: Any = None
        self.number = 0  # of sweeps that were read
        self._updates = 0  # how often the same gradient was read again, as variables had been assigned
        self._read: list[int] = []  # how often each source had been assigned when it was read,
        self._seen: list[int] = []  # and at the last look

    def follow(
        self,
        tape: Any,
        target: Any,
        sources: Any,
        rows: int,
        held: dict[int, Any],
        spaces: list[dict[str, Any]],
        now: bool = False,
    ) -> bool:
        """Looks for a new gradient, or an optimizer's step behind it; True when there is one.

        ``held`` are arrays that the tape may have released, ``spaces`` dictionaries to find the names of targets and
        sources in. ``now`` says that this is the last look.
        """
        last = (target, sources) if target is not None else tape.last
        if last is None:
            return False
        tapes: list[Any] = getattr(tape._record, "tapes_now", list)()  # another one's gradient is a result, too
        key = (rows, *map(id, last), *(id(one.last) for one in tapes if one is not None))
        versions = [getattr(source, "_version", 0) for source in ends_of(last[1])[1]]
        if key == self._key and not self._assigned(versions, now):
            return False
        self._updates = self._updates + 1 if key == self._key else 0
        self._read = self._seen = versions
        self._key, self.sweep, self.wanted, self._pages, self._made = key, None, False, [], 0
        self.number += 1
        self.results = results_of(tape, target, sources, held, spaces)
        self._stepper = stepper = stepper_of(tape, target, sources, held, pack_value)
        if stepper is None or stepper.high >= rows:  # the target is not among the rows that are shown
            return True
        head = stepper.head | {"id": self.number}
        steps = stepper.take() if stepper.rest <= MOST else []
        if steps is not None:
            self.sweep = head | {"rest": stepper.rest, "steps": steps, "gradients": stepper.gradients()}
        return True

    def _assigned(self, versions: list[int], now: bool) -> bool:
        """Whether the optimizer has made its step: variables were assigned, and no more since the last look."""
        settled, self._seen = versions == self._seen and self._updates < UPDATES, versions
        return versions != self._read and (settled or now)

    def page(self) -> bytes | None:
        """The next steps of a long sweep, as they travel; None when there are none or it was not asked for."""
        stepper = self._stepper
        if not self.wanted or stepper is None or not stepper.rest or self.sweep is None:
            return None
        steps = stepper.take(PAGE) or []
        page = {
            "id": self.number,
            "first": self._made,
            "rest": stepper.rest,
            "steps": pack_steps(steps),
            "gradients": [] if stepper.rest else stepper.gradients(),
        }
        self._made += len(steps)
        self._pages.append(compress(page))
        return self._pages[-1]

    def pages_after(self, number: Any, steps: int) -> list[bytes]:
        """Pages that were made, from the one on that holds step ``steps``, for a reader of sweep ``number``."""
        return self._pages[steps // PAGE :] if number == self.number and steps < self._made else []

    def snapshot(self) -> dict[str, Any] | None:
        """The SWEEP as a snapshot documents it."""
        if self.sweep is None:
            return None
        gradients = [unpack_value(g) for g in self.sweep["gradients"]]
        return self.sweep | {"steps": unpack_steps(pack_steps(self.sweep["steps"])), "gradients": gradients}
