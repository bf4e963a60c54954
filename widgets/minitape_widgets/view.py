"""Define ``TapeView``, the Python side of the live picture.

A view reads a recording and sends its rows to the browser. It also answers the browser's requests, such as those for
lost rows.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from minitape import GradientTape
from minitape.common.atomic_write import write_file
from minitape.common.translation import format_error, join_sentences
from minitape.course.widget_base import MISSING, AnyWidget, Bytes, Unicode
from minitape.picture.alarms import build_alarm_and_break_fields
from minitape.picture.drawing import MAX_FIGURE_ROWS, Picture, format_count
from minitape.picture.picture_rows import PictureRow
from minitape.picture.picture_texts import build_browser_texts
from minitape.picture.reader_base import EMPTY_RECORD_NAME, Reader, collect_namespaces
from minitape.picture.snapshots import snapshot
from minitape.picture.source import TapeSource, get_picture_source
from minitape.picture.tape_difference import TapeDifference, find_first_difference
from minitape.recording.variable_names import use_namespaces_for_names

from .comparison_figure import align_rows, count_distinct_digits, find_common_scales, list_unpaired_operations
from .front_end import LOADER, get_front_end
from .interact import InteractiveFunction
from .kept_view import KeptView
from .live_updates import keep_view_updated, notify_sending_thread
from .notebook_outputs import note_shown_view, show_in_replaceable_output
from .paired_views import Comparison, describe_difference, find_different_update
from .saved_page import build_html_page, build_playground_field
from .view_sweep import SweepFollower
from .wire_format import encode_snapshot

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import RowFields, Snapshot
    from minitape.picture.source import PictureSource

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
MAX_ROWS = 200_000  # A view shows only the first rows of a longer recording, because a browser has no room for more.

MAX_CHECKED_ROWS = 20_000  # A longer recording is not searched for alarms.


_EMPTY_SOURCE = TapeSource(GradientTape())  # Closed views show this empty tape, so that they keep no other alive.


class TapeView(AnyWidget):
    """A live picture of a ``tf.GradientTape`` that steps through its rows and then through its backward sweep.

    A view that is created before the ``with`` block grows while the block runs. A view that is created afterwards shows
    the rows recorded so far. After ``tape.gradient``, the view shows the sweep of that call, unless ``target`` and
    ``sources`` choose another sweep. Every action has a key: the arrow keys step, and ``?`` lists the keys.

    After its gradient has been computed, a tape releases its large arrays. The view can recompute them from the
    variables and inputs.

    Args:
        tape: A ``tf.GradientTape``, a ``tf.autodiff.ForwardAccumulator``, or the recording of another framework.
        target: The target of the sweep to show. None means the tape's last gradient call.
        sources: The sources of that sweep, in any nested structure.
        again: Whether to recompute released arrays. None recomputes them if they are small (16 MB in all), True
            recomputes arrays of any size, and False recomputes none.

    Attributes:
        keep_pages: If True, a saved notebook keeps a page that steps for each of its views, as ``kept`` returns it.
        picture_source: The recording that the view shows, as a ``PictureSource``.

    Raises:
        TypeError: If ``tape`` is not a GradientTape.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> TapeView(tape, y, x)
    TapeView(2 rows, 1 tape)
    """

    keep_pages = False

    _esm = LOADER
    _engine = Unicode().tag(sync=True)
    _key = Unicode().tag(sync=True)
    _wire = Bytes(b"").tag(sync=True)
    _knobs = Unicode("[]").tag(sync=True)
    _first_layout: Any = None  # The layout that ipywidgets created, which must be closed with the view.
    _lock: Any = None
    _comparison: Any = None  # Snapshot fields of a comparison: the name that links both views, and the difference.
    _closed_text = ""  # The repr to use after the view is closed and can no longer count its rows.

    def __init__(
        self,
        tape: Any,
        target: Any = None,
        sources: Any = None,
        *,
        again: bool | None = None,
        _interactive: InteractiveFunction | None = None,
        _namespaces: list[dict[str, Any]] | None = None,
        _comparison: dict[str, Any] | None = None,
    ) -> None:
        """Read the rows recorded so far, and register the view for updates. The class describes the parameters."""
        namespaces = collect_namespaces(sys._getframe(1)) if _namespaces is None else _namespaces
        self.picture_source: PictureSource = get_picture_source(tape, "TapeView takes")
        self._reader = self.picture_source.build_reader(namespaces)
        self._target, self._sources = target, sources
        self._rows: list[PictureRow] = []
        self._sent_count = 0  # The number of rows sent to the browser, which may have missed some.
        self._unsent_changes: list[RowFields] = []  # Changed fields of rows that were sent before the change.
        self._sweep_follower = SweepFollower()
        # The sweep needs arrays that the tape releases, so the view keeps or recomputes them.
        self._kept_arrays = self._reader.kept_arrays
        self._may_recompute = again
        self._comparison = _comparison or {}
        self._lock = threading.RLock()
        self._interactive = _interactive
        self._message_number = 0  # Each numbered message has the next number, so the browser notices a lost message.
        self._sent_file_count = 0  # The number of files whose text has been sent.
        self._sent_sweep_number = 0  # The number of the sweep that was sent last.
        # The state of the tape that was sent last.
        self._sent_state = (self.picture_source.is_used, self.picture_source.is_recording)
        self.keep_large_arrays()
        self._recompute_released_if_allowed()
        self._read_new_rows()
        sliders = "[]" if _interactive is None else _interactive.build_slider_json()
        model_key = uuid4().hex
        super().__init__(
            model_id=model_key,
            _key=model_key,
            _engine=get_front_end().model_id,
            _knobs=sliders,
            _wire=encode_snapshot(self._build_first_part() | build_browser_texts()),
        )
        self._first_layout = self.layout
        self.on_msg(self.on_request)
        keep_view_updated(self)

    def close(self) -> None:
        """Close the view and release the recording that it shows.

        The layout that ipywidgets created for the view is closed as well, because ipywidgets would keep it. A closed
        view still
        has its repr, but ``save`` and ``kept`` raise RuntimeError.
        """
        super().close()
        if self._first_layout is not None:
            self._first_layout.close()
        if self._lock is None or self._closed_text:
            return
        with self._lock:
            self._closed_text = repr(self)
            self.picture_source, self._target, self._sources, self._interactive = _EMPTY_SOURCE, None, None, None
            self._switch_to_reader(_EMPTY_SOURCE.build_reader(()))
            self._wire = b""
            # anywidget creates a class for each instance, and IPython's Out would keep that class alive.
            self.__class__ = TapeView

    @classmethod
    def interact(
        cls,
        function: Callable[[], Any],
        variables: Any,
        low: float | None = None,
        high: float | None = None,
        step: float | None = None,
    ) -> TapeView:
        """Return a view of ``function()`` under a tape, with a slider for each of the scalar ``variables``.

        Moving a slider assigns the variable, reruns the function and shows the new numbers in the same picture.

        Args:
            function: A function without arguments that reads the variables and returns the target.
            variables: A scalar ``tf.Variable``, or a sequence of them.
            low: The lowest value of each slider. By default, the variable's value minus 1 or minus twice its magnitude,
                whichever is lower.
            high: The highest value of each slider. The default is the variable's value plus the same distance.
            step: The step of each slider. The default is one 200th of the range.

        Returns:
            The view of the first run.

        Raises:
            TypeError: If ``function`` is not a function without arguments, or one of ``variables`` is not a variable.
            ValueError: If a variable is not a scalar, or ``low`` is not less than ``high``.

        >>> import minitape as tf
        >>> x = tf.Variable(3.0, name="x")
        >>> TapeView.interact(lambda: x * x, x, -5, 5)
        TapeView(2 rows, 1 tape)
        """
        interactive = InteractiveFunction(function, variables, low, high, step, collect_namespaces(sys._getframe(1)))
        return cls(interactive.record_function_run(), _interactive=interactive, _namespaces=interactive.namespaces)

    @classmethod
    def compare(cls, first: Any, second: Any) -> Comparison:
        """Show two tapes below each other, or side by side if there is room, in views that step together.

        Both views mark the first row that differs and describe the difference in words. They also mark later rows that
        apply the same operation to other values. Each view shows the sweep of its tape's last gradient.

        Args:
            first: The upper tape, which is a ``tf.GradientTape`` or another framework's recording.
            second: The lower tape.

        Returns:
            The two views with the number of the first row that differs.

        Raises:
            TypeError: If one of the arguments is not a GradientTape.

        >>> import minitape as tf
        >>> def record(f):
        ...     x = tf.Variable(2.0, name="x")
        ...     with tf.GradientTape() as tape:
        ...         y = f(x) * x
        ...     return tape
        >>> TapeView.compare(record(tf.sin), record(tf.cos))
        Row 1 is the first row that differs: sin(x) = 0.9092974 on the first tape, but cos(x) = -0.41614684 on the
        second tape.
        """
        for tape in (first, second):
            get_picture_source(tape, "TapeView takes")
        snapshots = snapshot(first), snapshot(second)
        difference = find_first_difference(*snapshots) or find_different_update(*snapshots)
        return cls.build_comparison(first, second, snapshots, difference, collect_namespaces(sys._getframe(1)))

    @classmethod
    def build_comparison(
        cls,
        first: Any,
        second: Any,
        snapshots: tuple[Snapshot, Snapshot],
        difference: TapeDifference | None,
        namespaces: Any = None,
    ) -> Comparison:
        """Build the two views of a comparison, which mark a given difference.

        Args:
            first: The tape on the left.
            second: The tape on the right.
            snapshots: The snapshots of both tapes.
            difference: Their first difference, or None if they agree.
            namespaces: The dictionaries in which to look up the tensors' names, or None for the caller's names.

        Returns:
            The two views.
        """
        namespaces = collect_namespaces(sys._getframe(1)) if namespaces is None else namespaces
        # The browser needs the link before the first step, so it travels with the first rows.
        linked: dict[str, Any] = {"linked": uuid4().hex}
        marks_of_views = [linked, linked]
        if difference is not None:
            pairs = align_rows(*snapshots)
            operations = list_unpaired_operations(pairs)
            digits = count_distinct_digits(pairs, *snapshots)
            scales = find_common_scales(pairs, *snapshots)
            marks_of_views = [
                {
                    **linked,
                    "differs": {
                        "row": place,
                        "text": text,
                        "missing": row is None,
                        "rows": [*rows, *alone],
                        "alone": alone,
                        "digits": digits,
                        "most": most,
                    },
                }
                for place, text, row, rows, alone, most in zip(
                    difference.places,
                    describe_difference(difference),
                    difference.rows,
                    difference.changed_rows,
                    operations,
                    scales,
                    strict=True,
                )
            ]
        # A tape that the program calls by no name is known by its place.
        first_view, second_view = (
            cls(tape, _comparison=marks, _namespaces=[*namespaces, {name: tape}])
            for tape, marks, name in zip((first, second), marks_of_views, ("tape A", "tape B"), strict=True)
        )
        return Comparison((first_view, second_view), difference)

    def _rerun_with_slider_values(self, message: Any) -> None:
        """Rerun the function with the sliders' values, and show the new tape in the same picture."""
        error = ""
        with self._lock:
            if self._interactive is None:
                return
            self._send_message("running")  # Without an answer, the browser would assume that the kernel has stopped.
            try:
                self.picture_source = TapeSource(
                    self._interactive.record_function_run([float(value) for value in message.get("values", ())])
                )
                self._switch_to_reader(self.picture_source.build_reader(self._reader.namespaces))
                self._recompute_released_if_allowed()
                self._send_numbered_message("rows", encode_snapshot(self._read_and_build_first_part()), replace=True)
            except Exception as exception:
                error = format_error(exception)
            self._send_message("ran", error=error)

    def _switch_to_reader(self, reader: Reader) -> None:
        """Read all rows again with the given reader, which may read another tape."""
        self._reader = reader
        self._rows = []
        self._sweep_follower = SweepFollower()
        self._kept_arrays = reader.kept_arrays
        self._sent_count, self._unsent_changes = 0, []

    def _read_and_build_first_part(self) -> dict[str, Any]:
        self._read_new_rows()
        return self._build_first_part()

    def _recompute_released_if_allowed(self) -> None:
        if self._may_recompute is not False:
            self._reader.recompute_into_kept_arrays(bool(self._may_recompute))

    def _recompute_all_and_resend(self, _message: Any) -> None:
        """Recompute all values released by the tape, and send all rows again, as the user requested."""
        with self._lock:
            reader = self.picture_source.build_reader(self._reader.namespaces)
            reader.kept_arrays.update(self._kept_arrays)
            reader.recompute_into_kept_arrays(True)
            self._switch_to_reader(reader)
            self._send_numbered_message("rows", encode_snapshot(self._read_and_build_first_part()), replace=True)

    # -- reading -----------------------------------------------------------------------------------

    def keep_large_arrays(self) -> None:
        """Keep the arrays that a used-up tape would release.

        The listener of the recording calls this method whenever a block or a gradient call ends.
        """
        self._kept_arrays.update(self.picture_source.list_large_arrays())

    def _read_new_rows(self, limit: int | None = None) -> None:
        """Read new rows and the changed fields of older rows.

        Drawing a picture also reads rows. `_sent_count` and `_unsent_changes` therefore tell `send_news` what to send.

        Args:
            limit: The maximum number of new rows, or None to read all of them.
        """
        previous_record = self._reader.record_name
        free_rows = MAX_ROWS - len(self._rows) if self.picture_source.record is self._reader.record else MAX_ROWS
        rows = self._reader.read_new_rows(free_rows if limit is None else min(limit, free_rows))
        if self._reader.record_name != previous_record:
            self._rows, self._sweep_follower, self._sent_count, self._unsent_changes = [], SweepFollower(), 0, []
        self._rows += rows
        changed = self._reader.update_names_and_leaf_states(self._rows)
        if rows and not self.picture_source.is_recording:
            changed += self._reader.update_rows_after_recording(self._rows)
        self._unsent_changes += changed

    def _follow_gradient(self, is_last_look: bool = False) -> bool:
        """Read the tape's last gradient if it has changed, and return whether there is a new sweep."""
        return self._sweep_follower.follow_gradient(
            self.picture_source,
            self._target,
            self._sources,
            len(self._rows),
            self._kept_arrays,
            self._reader.namespaces,
            is_last_look,
        )

    def _build_first_part(self) -> dict[str, Any]:
        """Return a snapshot of all rows read so far, still packed, and count them as sent."""
        self._follow_gradient()
        self._sent_count, self._unsent_changes = len(self._rows), []
        return self._build_message_part(self._rows, 0, [])

    def _build_message_part(
        self, rows: list[PictureRow], first: int, changed: list[RowFields], with_sweep: bool = True
    ) -> dict[str, Any]:
        """Return a change to the snapshot: rows from number ``first`` on, and changed fields of earlier rows.

        Args:
            rows: The rows to send, still packed.
            first: The number of the first of these rows.
            changed: Changed fields of rows that were sent earlier.
            with_sweep: Whether the sweep, the results and the alarms travel with the rows.
        """
        part: Any = self._reader.build_snapshot_without_sweep(rows, first) | {"changed": changed}
        part |= build_playground_field(part["sources_text"])
        part.pop("sweep")
        part.pop("results")
        if not with_sweep:
            return part | self._comparison
        part |= self._build_alarms_and_breaks(part)
        self._sent_sweep_number = self._sweep_follower.sweep_number
        part |= self._comparison
        return part | {"sweep": self._sweep_follower.sweep, "results": self._sweep_follower.results}

    def _build_snapshot(self, max_rows: int | None = None, is_full: bool = True) -> Snapshot:
        """Return the snapshot of all rows read so far.

        Args:
            max_rows: The maximum number of rows, or None to keep all. A longer recording keeps its first and last
                rows.
            is_full: Whether to write out every row. If False, the rows of a very long recording stay packed.
        """
        self._follow_gradient(is_last_look=True)
        rows = self._rows
        if max_rows is not None and len(rows) > max_rows:
            rows = rows[: max_rows // 2] + rows[-(max_rows // 2) :]
        keeps_packed = not is_full and len(rows) > MAX_CHECKED_ROWS
        result: Any = self._reader.build_snapshot_without_sweep(
            rows if keeps_packed else [row.to_row_fields() for row in rows], 0
        )
        result |= self._comparison | {
            "changed": [],
            "sweep": self._sweep_follower.build_sweep_fields(),
            "results": self._sweep_follower.results,
        }
        return result | self._build_alarms_and_breaks(result)

    def _build_alarms_and_breaks(self, part: Any) -> Any:
        """Return a snapshot's alarms and breaks. A very long recording is not searched and has none."""
        if len(self._rows) > MAX_CHECKED_ROWS:
            return {"alarms": [], "torn": []}
        target_and_sources = None if self._target is None else (self._target, self._sources)
        rows, sweep = [row.to_row_fields() for row in self._rows], self._sweep_follower.build_sweep_fields()
        full_part = part | {"rows": rows, "sweep": sweep, "results": self._sweep_follower.results}
        with use_namespaces_for_names(self._reader.namespaces):
            return build_alarm_and_break_fields(self.picture_source, full_part, target_and_sources)

    # -- sending -----------------------------------------------------------------------------------

    def on_request(self, _widget: Any, message: Any, _buffers: Any) -> None:
        """Handle a message from the browser.

        Args:
            message: A dictionary whose "kind" is "run", "again", "explain", "inside", "sweep" or "need". Any other
                message is ignored.
        """
        if not isinstance(message, dict):
            return
        handlers = {
            "run": self._rerun_with_slider_values,
            "again": self._recompute_all_and_resend,
            "explain": self._send_explanation,
            "inside": self._send_function_inside,
            "sweep": self._request_more_steps,
            "need": self._send_missing_rows_or_steps,
        }
        if isinstance(kind := message.get("kind"), str) and kind in handlers:
            handlers[kind](message)

    def _request_more_steps(self, _message: Any) -> None:
        """Have the sending thread compute more steps of a long sweep, because the user has reached the last step."""
        self._sweep_follower.is_wanted = True
        notify_sending_thread()

    def _send_missing_rows_or_steps(self, message: dict[str, Any]) -> None:
        """Send the rows or the steps that the page has not received, or report that it has all of them."""
        with self._lock:
            is_same_record = message.get("record") == (self._reader.record_name or EMPTY_RECORD_NAME)
            first_missing = message.get("since", 0) if is_same_record else 0
            has_missed_message = message.get("sequence", 0) < self._message_number
            step_pages = (
                self._sweep_follower.list_step_pages_from(message.get("sweep"), message.get("steps", 0))
                if is_same_record
                else []
            )
            if first_missing < len(self._rows) or not is_same_record or (has_missed_message and not step_pages):
                self._sent_count = len(self._rows)
                self._send_numbered_message(
                    "rows", encode_snapshot(self._build_message_part(self._rows[first_missing:], first_missing, []))
                )
            elif step_pages:
                for step_page in step_pages:
                    self._send_numbered_message("steps", step_page)
            else:
                self._send_message("all", sequence=self._message_number)

    def _send_explanation(self, message: dict[str, Any]) -> None:
        """Send the explanation of ``tape.explain`` for the gradient between two rows, or "" if a gradient flows."""
        target, source = (self._find_object_of_row(message.get(field)) for field in ("target", "source"))
        text = ""
        if target is not None and source is not None:
            with suppress(Exception):  # A failed explanation must not stop the picture.
                explanation = self.picture_source.explain_gradient(target, source)
                text = "" if explanation.cause == "connected" else join_sentences(explanation.message, explanation.fix)
        self._send_message("explained", ask=message.get("ask"), text=text)

    def _send_function_inside(self, message: dict[str, Any]) -> None:
        """Send the rows inside a ``tf.function`` call that the user has opened."""
        with self._lock:
            row = message.get("row")
            insides = (
                self._reader.list_function_insides(self._target, self._sources, row) if isinstance(row, int) else []
            )
            self._send_message("inside", ask=message.get("ask"), inside=insides[0] if insides else None)

    def _find_object_of_row(self, row: Any) -> Any:
        """Return the variable or tensor of a row, or None if it no longer exists."""
        targets = (self.picture_source.last_gradient_call or ([], []))[0]
        named_values = (value for namespace in self._reader.namespaces for value in namespace.values())
        return self.picture_source.find_object_of_leaf_or_candidate(row, [*targets, *named_values])

    def _send_message(self, kind: str, *data: bytes, **content: Any) -> None:
        """Send a message if the view is connected to a page."""
        if self.comm is not None:
            self.send({"kind": kind, **content}, [*data] or None)

    def _send_numbered_message(self, kind: str, data: bytes, **content: Any) -> None:
        """Send a message with the next number, from which the browser detects lost messages."""
        self._message_number += self.comm is not None
        self._send_message(kind, data, sequence=self._message_number, **content)

    def send_news(self, limit: int | None) -> bool:
        """Send new rows, changed fields, a new sweep or the next steps of a long sweep.

        Args:
            limit: The maximum number of rows to send, or None to send all of them.

        Returns:
            Whether anything was sent.
        """
        with self._lock:
            if self.comm is None:
                return False
            self._read_new_rows(limit)
            first_unsent = self._sent_count
            rows = self._rows[first_unsent:][:limit]
            self._sent_count += len(rows)
            # Rows that are not sent yet already include their changes.
            changed = [part for part in self._unsent_changes if part["row"] < self._sent_count]
            self._unsent_changes = []
            is_recording = self.picture_source.is_recording
            is_complete = not is_recording and not self.has_unsent_rows()
            has_new_sweep = is_complete and (
                self._follow_gradient() or self._sweep_follower.sweep_number != self._sent_sweep_number
            )
            state = (self.picture_source.is_used, is_recording)
            if rows or changed or has_new_sweep or state != self._sent_state:
                self._sent_state = state
                part = self._build_message_part(rows, first_unsent, changed, has_new_sweep)
                if len(self._reader.files) == self._sent_file_count:
                    part.pop("sources_text")
                self._sent_file_count = len(self._reader.files)
                self._send_numbered_message("rows", encode_snapshot(part))
                return True
            step_page = None if is_recording else self._sweep_follower.build_next_step_page()
            if step_page is not None:
                self._send_numbered_message("steps", step_page)
            return step_page is not None

    def has_unsent_rows(self) -> bool:
        """Return whether the recording has rows that were not sent to the browser."""
        record = self.picture_source.record
        return record is not None and self._sent_count < min(len(record), MAX_ROWS)

    # -- elsewhere ---------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write the view to a file.

        Args:
            path: The file, whose ending determines the format: ``.html`` is a self-contained page that steps without a
                kernel, ``.svg`` the static picture. ``.tex`` is the static picture for LaTeX, ``.dot`` for Graphviz,
                which also draws ``.pdf`` and ``.png``.
                ``.json`` is the snapshot, which ``<mini-tape src="tape.json">`` shows in a web page.

        Raises:
            RuntimeError: If the view was closed.
            ValueError: If the file name has a different ending.
        """
        self._raise_if_closed()
        if str(path).lower().endswith((".html", ".htm")):
            write_file(path, self._build_page())
        elif str(path).lower().endswith(".json"):
            write_file(path, json.dumps(self.read_snapshot() | build_browser_texts(), allow_nan=False))
        else:
            Picture(self.read_snapshot(MAX_FIGURE_ROWS)).save(path)

    def kept(self, *, height: int = 700) -> KeptView:
        """Return the current state of the view as an output that steps without a kernel.

        The output steps in a notebook that is reopened, emailed or converted by nbconvert. Where scripts are disabled,
        the output is the static picture. It adds about 0.1 MB to the notebook, and at most 1 MB. If the page of a long
        tape would be larger, the output is the picture and a sentence that states why.

        Args:
            height: The height of the output in pixels.

        Raises:
            RuntimeError: If the view was closed.

        >>> import minitape as tf
        >>> x = tf.Variable(3.0, name="x")
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> TapeView(tape, y, x).kept()
        KeptView(2 rows, 1 tape)
        """
        self._raise_if_closed()
        return KeptView(Picture(self.read_snapshot(MAX_FIGURE_ROWS)), self._build_page(), height)

    def _build_page(self) -> str:
        """Return the self-contained HTML page of the view."""
        with self._lock:
            return build_html_page(
                self.read_snapshot(is_full=False)
                | {"insides": self._reader.list_function_insides(self._target, self._sources)}
            )

    def _raise_if_closed(self) -> None:
        if self._closed_text:
            raise RuntimeError(
                "This view is closed, because its cell was run again or close() was called. Create a new view with "
                "TapeView(tape)."
            )

    def read_snapshot(self, max_rows: int | None = None, is_full: bool = True) -> Snapshot:
        """Read the new rows and return the snapshot of the whole view.

        Args:
            max_rows: The maximum number of rows, or None to keep all. A longer recording keeps its first and last
                rows.
            is_full: Whether to write out every row. If False, the rows of a very long recording stay packed as
                ``PictureRow`` objects.

        Returns:
            The snapshot with the sweep, the results, the alarms and the breaks.
        """
        with self._lock:
            self._read_new_rows()
            return self._build_snapshot(max_rows, is_full)

    def __repr__(self) -> str:
        """Return the number of rows and tapes. For a closed view, return the numbers that it had."""
        if self._closed_text:
            return self._closed_text
        row_count = format_count(len(self._rows), "row")
        return f"TapeView({row_count}, {format_count(max(1, len(self._reader.tapes)), 'tape')})"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget together with the static picture that notebooks show without a kernel."""
        note_shown_view(self)
        return self.build_mime_bundle(**kwargs)

    def _ipython_display_(self) -> None:
        """Show a view without rows in an output that can be replaced once there is a picture."""
        if not self._rows:
            bundle = self.build_mime_bundle()
            if bundle is not None and show_in_replaceable_output(self, *bundle):
                return
        raise NotImplementedError  # IPython then falls back to _repr_mimebundle_.

    def build_mime_bundle(self, **kwargs: Any) -> Any:
        """Return the notebook output of the view: the widget, its repr and the static picture.

        Returns:
            (data, metadata) by MIME type, in the form that IPython expects, or None if the widget cannot be shown.
        """
        with self._lock:  # The sending thread also follows the tape's gradient.
            self._read_new_rows()
            description = repr(self)
            static_snapshot = self._build_snapshot(MAX_FIGURE_ROWS) if self._rows else None
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if data is None:
            return None
        data, metadata = dict(data), {**metadata, WIDGET_VIEW: {"shown": time.time()}}
        data["text/plain"] = description
        if static_snapshot is not None:
            static_picture = self.kept() if self.keep_pages else Picture(static_snapshot)
            data["text/html"] = static_picture.html() + (f"<p>{escape(MISSING)}</p>" if MISSING else "")
        return data, metadata

    def build_drawn_state_key(self) -> Any:
        """Return a key that changes whenever a picture of the tape would change.

        Returns:
            The number of rows and the identities of the last gradient's objects. None while the tape records, or if it
            has no rows.
        """
        with self._lock:
            if self.picture_source.is_recording:
                return None
            self._read_new_rows()
            return (len(self._rows), *map(id, self.picture_source.last_gradient_call or ())) if self._rows else None
