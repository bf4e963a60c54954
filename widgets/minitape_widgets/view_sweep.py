"""Read the sweep that a view shows: all steps of a short sweep, and the steps of a long sweep in pages on demand."""

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

STEPS_PER_PAGE = 2000  # The number of steps that are sent in one message.
MAX_UPDATES = 3  # After this many updates, later assignments to the variables of the same gradient call are ignored.


class SweepFollower:
    """Reads the sweep for the last gradient call on a view's tape.

    Attributes:
        sweep: The sweep with packed values, or None without a sweep. A long sweep has no steps here.
        results: The results of gradient calls.
        is_wanted: Whether the user has asked for the steps of a long sweep. The view sets it.
        sweep_number: The number of sweeps read so far, which identifies the current sweep.
    """

    def __init__(self) -> None:
        """Begin without a sweep."""
        self.sweep: SweepFields | None = None
        self.results: list[ResultFields] = []
        self.is_wanted = False
        self._stepper: SweepSteps | None = None
        self._pages: list[bytes] = []
        self._paged_steps = 0  # The number of steps on these pages.
        self._gradient_key: Any = None
        self.sweep_number = 0
        self._update_count = 0  # How often the same gradient call was read again because variables were assigned.
        self._read_versions: list[int] = []  # The version of each source when the gradient call was read.
        self._seen_versions: list[int] = []  # The version of each source at the last look.

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
        """Read the last gradient call again if it is a new one, or if an optimizer step has followed it.

        Args:
            recording: The recording that the view shows.
            target: The target that the view's arguments chose, or None for the last gradient call.
            sources: The sources that the view's arguments chose.
            row_count: The number of rows that the view has read.
            kept_arrays: Arrays, by row, that the recording has released but the view still has.
            namespaces: The dictionaries in which the names of targets and sources are looked up.
            is_last_look: Whether to read new assignments immediately, because a static picture is drawn now. If False,
                they are read when no more have followed since the last look.

        Returns:
            Whether the sweep or the results were read again.
        """
        last_call = (target, sources) if target is not None else recording.last_gradient_call
        if last_call is None:
            return False
        gradient_key = (row_count, *map(id, last_call), *map(id, recording.list_last_gradient_calls()))
        versions = [getattr(source, "_version", 0) for source in flatten_with_gradient_carriers(last_call[1])[1]]
        if gradient_key == self._gradient_key and not self._has_new_assignments(versions, is_last_look):
            return False
        self._update_count = self._update_count + 1 if gradient_key == self._gradient_key else 0
        self._read_versions = self._seen_versions = versions
        self._gradient_key = gradient_key
        self.sweep, self.is_wanted = None, False
        self._pages, self._paged_steps = [], 0
        self.sweep_number += 1
        self.results = recording.list_results_of_gradient_calls(target, sources, kept_arrays, namespaces)
        self._stepper = stepper = recording.build_stepper(target, sources, kept_arrays, pack_value)
        if stepper is None or stepper.last_row >= row_count:  # The view does not show the row of the target.
            return True
        header = stepper.header | {"id": self.sweep_number}
        steps = stepper.take_steps() if stepper.remaining_rows <= MAX_EAGER_ROWS else []
        if steps is not None:
            self.sweep = header | {
                "rest": stepper.remaining_rows,
                "steps": steps,
                "gradients": stepper.list_source_gradients(),
            }
        return True

    def _has_new_assignments(self, versions: list[int], is_last_look: bool) -> bool:
        """Return whether variables were assigned since the gradient call was read, and no longer change."""
        is_settled = versions == self._seen_versions and self._update_count < MAX_UPDATES
        self._seen_versions = versions
        return versions != self._read_versions and (is_settled or is_last_look)

    def build_next_step_page(self) -> bytes | None:
        """Return the next page of a long sweep as compressed JSON.

        Returns:
            At most STEPS_PER_PAGE steps, or None if no steps remain, or if the user has not asked for them.
        """
        stepper = self._stepper
        if not self.is_wanted or stepper is None or not stepper.remaining_rows or self.sweep is None:
            return None
        steps = stepper.take_steps(STEPS_PER_PAGE) or []
        page = {
            "id": self.sweep_number,
            "first": self._paged_steps,
            "rest": stepper.remaining_rows,
            "steps": pack_steps(steps),
            "gradients": [] if stepper.remaining_rows else stepper.list_source_gradients(),
        }
        self._paged_steps += len(steps)
        self._pages.append(compress_json(page))
        return self._pages[-1]

    def list_step_pages_from(self, sweep_number: Any, step_count: int) -> list[bytes]:
        """Return the pages of the current sweep that have been built so far and that the browser does not have yet.

        Args:
            sweep_number: The number of the sweep that the browser shows. There are no pages for any other sweep.
            step_count: The number of steps that the browser has.
        """
        if sweep_number != self.sweep_number or step_count >= self._paged_steps:
            return []
        return self._pages[step_count // STEPS_PER_PAGE :]

    def build_sweep_fields(self) -> dict[str, Any] | None:
        """Return the sweep with unpacked values, as a snapshot holds it, or None if no sweep exists."""
        if self.sweep is None:
            return None
        gradients = [unpack_value(gradient) for gradient in self.sweep["gradients"]]
        return self.sweep | {"steps": unpack_steps(pack_steps(self.sweep["steps"])), "gradients": gradients}
