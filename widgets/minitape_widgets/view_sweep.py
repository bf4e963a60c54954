"""The sweep that a view shows: short ones at once, the steps of long ones page by page on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitape.engine.backward.targets_and_sources import flatten_with_gradient_carriers
from minitape.picture.shown_values import pack_value, unpack_value
from minitape.picture.stepper import MAX_EAGER_ROWS

from .wire_format import compress_json, pack_steps, unpack_steps

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import ResultFields, SweepFields
    from minitape.picture.source import PictureSource
    from minitape.picture.stepper import SweepSteps

STEPS_PER_PAGE = 2000  # steps of a long sweep that travel at once
MAX_UPDATES = 3  # of the variables that are read after one gradient: a long training has others to look at


class SweepFollower:
    """Follows the last gradient of a view's tape. ``sweep`` is the SWEEP with packed values, None without one;
    ``results`` are the RESULTs.
    """

    def __init__(self) -> None:
        self.sweep: SweepFields | None = None
        self.results: list[ResultFields] = []
        self.is_wanted = False  # a caller asked for the steps of a long sweep
        self._stepper: SweepSteps | None = None
        self._pages: list[bytes] = []
        self._paged_steps = 0  # steps on these pages
        self._gradient_key: Any = None
        self.sweep_number = 0  # of sweeps that were read
        self._update_count = 0  # how often the same gradient was read again, as variables had been assigned
        self._read_versions: list[int] = []  # how often each source had been assigned when it was read,
        self._seen_versions: list[int] = []  # and at the last look

    def follow_gradient(
        self,
        recording: PictureSource,
        target: Any,
        sources: Any,
        row_count: int,
        kept_arrays: dict[int, Any],
        namespaces: list[dict[str, Any]],
        is_last_look: bool = False,
    ) -> bool:
        """Look for a new gradient, or an optimizer's step behind it; True when there is one.

        ``kept_arrays`` are arrays that the tape may have released, ``namespaces`` dictionaries to find the names of
        targets and sources in. ``is_last_look`` says that this is the last look.
        """
        last_gradient = (target, sources) if target is not None else recording.last_gradient
        if last_gradient is None:
            return False
        gradient_key = (row_count, *map(id, last_gradient), *map(id, recording.list_last_gradients()))
        versions = [getattr(source, "_version", 0) for source in flatten_with_gradient_carriers(last_gradient[1])[1]]
        if gradient_key == self._gradient_key and not self._has_new_assignments(versions, is_last_look):
            return False
        self._update_count = self._update_count + 1 if gradient_key == self._gradient_key else 0
        self._read_versions = self._seen_versions = versions
        self._gradient_key, self.sweep, self.is_wanted, self._pages, self._paged_steps = (
            gradient_key,
            None,
            False,
            [],
            0,
        )
        self.sweep_number += 1
        self.results = recording.list_gradient_results(target, sources, kept_arrays, namespaces)
        self._stepper = stepper = recording.build_stepper(target, sources, kept_arrays, pack_value)
        if stepper is None or stepper.last_row >= row_count:  # the target is not among the rows that are shown
            return True
        header = stepper.header | {"id": self.sweep_number}
        steps = stepper.take_steps() if stepper.remaining_rows <= MAX_EAGER_ROWS else []
        if steps is not None:
            self.sweep = header | {
                "rest": stepper.remaining_rows,
                "steps": steps,
                "gradients": stepper.list_gradients(),
            }
        return True

    def _has_new_assignments(self, versions: list[int], is_last_look: bool) -> bool:
        """Return whether the optimizer has made its step: variables were assigned, and no more since the last look."""
        is_settled, self._seen_versions = versions == self._seen_versions and self._update_count < MAX_UPDATES, versions
        return versions != self._read_versions and (is_settled or is_last_look)

    def build_next_step_page(self) -> bytes | None:
        """Return the next steps of a long sweep, as they travel; None when there are none or it was not asked for."""
        stepper = self._stepper
        if not self.is_wanted or stepper is None or not stepper.remaining_rows or self.sweep is None:
            return None
        steps = stepper.take_steps(STEPS_PER_PAGE) or []
        page = {
            "id": self.sweep_number,
            "first": self._paged_steps,
            "rest": stepper.remaining_rows,
            "steps": pack_steps(steps),
            "gradients": [] if stepper.remaining_rows else stepper.list_gradients(),
        }
        self._paged_steps += len(steps)
        self._pages.append(compress_json(page))
        return self._pages[-1]

    def list_step_pages_from(self, sweep_number: Any, step_count: int) -> list[bytes]:
        """Return the pages made so far of this sweep, from the one on that has step ``step_count``."""
        return (
            self._pages[step_count // STEPS_PER_PAGE :]
            if sweep_number == self.sweep_number and step_count < self._paged_steps
            else []
        )

    def build_sweep_fields(self) -> dict[str, Any] | None:
        """Return the SWEEP as a snapshot documents it."""
        if self.sweep is None:
            return None
        gradients = [unpack_value(gradient) for gradient in self.sweep["gradients"]]
        return self.sweep | {"steps": unpack_steps(pack_steps(self.sweep["steps"])), "gradients": gradients}
