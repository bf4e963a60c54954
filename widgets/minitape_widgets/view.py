"""``TapeView``: the widget's Python side. It sends rows, and answers when the browser asks for rows again."""

from __future__ import annotations

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
from minitape.common.translation import join_sentences
from minitape.course.widget_base import MISSING, AnyWidget, Bytes, Unicode
from minitape.picture.alarms import build_alarms_and_breaks
from minitape.picture.drawing import MAX_FIGURE_ROWS, Picture, format_count
from minitape.picture.picture_texts import build_browser_texts, translate
from minitape.picture.reader import EMPTY_RECORD_NAME, PictureRow, Reader, collect_namespaces
from minitape.picture.snapshots import snapshot
from minitape.picture.source import TapeSource, get_picture_source

from .front_end import LOADER, get_front_end
from .interact import InteractiveFunction
from .kept_view import KeptView
from .live_updates import keep_view_updated, notify_sending_thread
from .notebook_outputs import note_shown_view, show_in_replaceable_output
from .paired_views import Comparison
from .saved_page import build_html_page, build_playground_field
from .tape_difference import find_first_difference, list_rows_with_changed_values
from .view_sweep import SweepFollower
from .wire_format import encode_snapshot

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import RowFields, Snapshot
    from minitape.picture.source import PictureSource

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
MAX_ROWS = 200_000  # rows of a longer recording that are shown: a browser has no room for more

MAX_CHECKED_ROWS = 20_000  # rows in which it is looked for what is wrong


_EMPTY_SOURCE = TapeSource(GradientTape())  # the tape of closed views


class TapeView(AnyWidget):
    """A live picture of a ``tf.GradientTape`` that steps through its rows and then through its backward sweep.

    Made before the ``with`` block it grows while the block runs; made afterwards it shows what was recorded. After
    ``tape.gradient`` it shows that call's sweep; ``target`` and ``sources`` choose another one. Everything can be
    done with the keyboard: arrow keys step, ``?`` lists the keys. Raises TypeError when ``tape`` is no GradientTape.

    With ``TapeView.keep_pages = True`` a notebook is saved with a page that steps for each of its views, as ``kept``
    gives it.

    A tape that gave its gradient releases its large arrays. The view computes them again from the variables and
    inputs: by itself where they are small (16 MB), of any size with ``again=True``, never with ``again=False``.

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
    _first_layout: Any = None  # its first layout
    _lock: Any = None
    _comparison: Any = None  # the name that both views of a comparison have, and where their tapes differ
    _closed_text = ""  # what a closed view says of itself

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
        namespaces = collect_namespaces(sys._getframe(1)) if _namespaces is None else _namespaces
        self.picture_source: PictureSource = get_picture_source(tape, "TapeView takes")
        self._reader = self.picture_source.build_reader(namespaces)
        self._target, self._sources = target, sources
        self._rows: list[PictureRow] = []
        self._sent_count = 0  # of them, which the browser has, as far as is known here
        self._unsent_changes: list[RowFields] = []  # parts of these that it has not yet
        self._sweep_follower = SweepFollower()
        self._kept_arrays = (
            self._reader.kept_arrays
        )  # kept from being released, or computed again, so that the sweep can be shown
        self._may_recompute = again
        self._comparison = _comparison or {}
        self._lock = threading.RLock()
        self._interactive = _interactive
        self._message_number = 0  # of the messages sent
        self._sent_file_count = 0  # of which the browser has the text
        self._sent_sweep_number = 0  # the number of the sweep that it has
        self._sent_state = (
            self.picture_source.is_used,
            self.picture_source.is_recording,
        )  # as the browser last heard it
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
        """End the view, and the layout that ipywidgets made for it and would keep; what it shows is released."""
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
            self.__class__ = TapeView  # anywidget makes a class for each instance, which IPython's Out would keep

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

        Moving a slider assigns the variable, runs the function again and shows the new numbers in the same picture.
        ``low`` and ``high`` default to twice the variable's value on both sides. Raises TypeError when the first
        argument is no function or the second no variable, ValueError for a variable with a shape.

        >>> import minitape as tf
        >>> x = tf.Variable(3.0, name="x")
        >>> TapeView.interact(lambda: x * x, x, -5, 5)
        TapeView(2 rows, 1 tape)
        """
        interactive = InteractiveFunction(function, variables, low, high, step, collect_namespaces(sys._getframe(1)))
        return cls(interactive.record_function_run(), _interactive=interactive, _namespaces=interactive.namespaces)

    @classmethod
    def compare(cls, first: Any, second: Any) -> Comparison:
        """Show two tapes side by side, which step together. The first row that differs is marked in both, and said in
        words; so are later ones that compute the same from other values.

        Each tape shows the sweep of its last gradient. Raises TypeError when one of them is no GradientTape.

        >>> import minitape as tf
        >>> def record(f):
        ...     x = tf.Variable(2.0, name="x")
        ...     with tf.GradientTape() as tape:
        ...         y = f(x) * x
        ...     return tape
        >>> TapeView.compare(record(tf.sin), record(tf.cos))
        Row 1 is the first that differs: sin of row 0 = 0.9092974, but cos of row 0 = -0.41614684.
        """
        for tape in (first, second):
            get_picture_source(tape, "TapeView takes")
        snapshots = snapshot(first), snapshot(second)
        difference, other_value_rows = find_first_difference(*snapshots), list_rows_with_changed_values(*snapshots)
        row, *descriptions = difference or (0, "", "")
        texts = [
            translate("{here} here, {there} there", here=here, there=there)
            for here, there in (descriptions, descriptions[::-1])
        ]
        linked = {"linked": uuid4().hex}  # the browser reads it with the first rows: what came later could be too late
        compared = [
            linked
            if difference is None
            else {**linked, "differs": {"row": row, "text": text, "rows": other_value_rows}}
            for text in texts
        ]
        namespaces = collect_namespaces(sys._getframe(1))
        first_view, second_view = (
            cls(tape, _comparison=marks, _namespaces=namespaces)
            for tape, marks in zip((first, second), compared, strict=True)
        )
        return Comparison((first_view, second_view), difference)

    def _rerun_with_slider_values(self, message: Any) -> None:
        """Run the function again with the values of sliders that were moved: a new tape, the same picture."""
        error = ""
        with self._lock:
            if self._interactive is None:
                return
            self._send_message("running")  # who hears nothing takes it that the kernel has gone
            try:
                self.picture_source = TapeSource(
                    self._interactive.record_function_run([float(value) for value in message.get("values", ())])
                )
                self._switch_to_reader(self.picture_source.build_reader(self._reader.namespaces))
                self._recompute_released_if_allowed()
                self._send_numbered_message("rows", encode_snapshot(self._read_and_build_first_part()), replace=True)
            except Exception as exception:
                error = f"{type(exception).__name__}: {exception}"
            self._send_message("ran", error=error)

    def _switch_to_reader(self, reader: Reader) -> None:
        """Read with this reader from now on: another tape, or the same one from its first row on."""
        self._reader, self._rows, self._sweep_follower, self._kept_arrays = (
            reader,
            [],
            SweepFollower(),
            reader.kept_arrays,
        )
        self._sent_count, self._unsent_changes = 0, []

    def _read_and_build_first_part(self) -> dict[str, Any]:
        self._read_new_rows()
        return self._build_first_part()

    def _recompute_released_if_allowed(self) -> None:
        if self._may_recompute is not False:
            self._reader.recompute_into_kept_arrays(bool(self._may_recompute))

    def _recompute_all_and_resend(self, _message: Any) -> None:
        """Compute all that the tape released again, and send all rows anew: a person asked for it."""
        with self._lock:
            reader = self.picture_source.build_reader(self._reader.namespaces)
            reader.kept_arrays.update(self._kept_arrays)
            reader.recompute_into_kept_arrays(True)
            self._switch_to_reader(reader)
            self._send_numbered_message("rows", encode_snapshot(self._read_and_build_first_part()), replace=True)

    # -- reading -----------------------------------------------------------------------------------

    def keep_large_arrays(self) -> None:
        """Keep the arrays that a used-up tape would release; called when a block or a gradient has ended."""
        self._kept_arrays.update(self.picture_source.list_large_arrays())

    def _read_new_rows(self, limit: int | None = None) -> None:
        """Read new rows, and the changed parts of older ones. What draws a picture reads, too: `send_news` sends what
        was not sent.
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
        """Follow the tape's last gradient; True when there is a new sweep."""
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
        """Return everything read so far, as it travels, and note that it is sent."""
        self._follow_gradient()
        self._sent_count, self._unsent_changes = len(self._rows), []
        return self._build_message_part(self._rows, 0, [])

    def _build_message_part(
        self, rows: list[PictureRow], first: int, changed: list[RowFields], with_sweep: bool = True
    ) -> dict[str, Any]:
        part: Any = self._reader.build_snapshot_without_sweep(rows, first) | {"changed": changed}
        part |= build_playground_field(part["sources_text"])
        part.pop("sweep")
        part.pop("results")
        if with_sweep:
            part |= self._build_alarms_and_breaks(part)
            self._sent_sweep_number = self._sweep_follower.sweep_number
        part |= self._comparison
        return (
            part | {"sweep": self._sweep_follower.sweep, "results": self._sweep_follower.results}
            if with_sweep
            else part
        )

    def _build_snapshot(self, max_rows: int | None = None, is_full: bool = True) -> Snapshot:
        """Return the snapshot of everything read so far; of more than ``max_rows`` rows the first and the last ones.

        Unless it ``is_full``, the rows of a very long one are those of the view itself.
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
        """Return the part of a snapshot that says what is wrong; nothing of a very long recording."""
        if len(self._rows) > MAX_CHECKED_ROWS:
            return {"alarms": [], "torn": []}
        target_and_sources = None if self._target is None else (self._target, self._sources)
        rows, sweep = [row.to_row_fields() for row in self._rows], self._sweep_follower.build_sweep_fields()
        full_part = part | {"rows": rows, "sweep": sweep, "results": self._sweep_follower.results}
        return build_alarms_and_breaks(self.picture_source, full_part, target_and_sources)

    # -- sending -----------------------------------------------------------------------------------

    def on_request(self, _widget: Any, message: Any, _buffers: Any) -> None:
        """Answer the browser, which says what it has, or asks for what it misses."""
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
        """Ask for more steps of a long sweep: a person stepped to the end of those made."""
        self._sweep_follower.is_wanted = True
        notify_sending_thread()

    def _send_missing_rows_or_steps(self, message: dict[str, Any]) -> None:
        """Send the rows, or the steps, that the page misses."""
        with self._lock:
            is_same_record = message.get("record") == (self._reader.record_name or EMPTY_RECORD_NAME)
            first_missing = message.get("since", 0) if is_same_record else 0
            has_missed_message = message.get("sequence", 0) < self._message_number  # the last message never arrived
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
        """Send why no gradient flows from one row to another, in the words of ``tape.explain``."""
        target, source = (self._find_object_of_row(message.get(field)) for field in ("target", "source"))
        text = ""
        if target is not None and source is not None:
            with suppress(Exception):  # the picture goes on without words
                explanation = self.picture_source.explain_gradient(target, source)
                text = "" if explanation.cause == "connected" else join_sentences(explanation.message, explanation.fix)
        self._send_message("explained", ask=message.get("ask"), text=text)

    def _send_function_inside(self, message: dict[str, Any]) -> None:
        """Send the rows inside of a call of a function, which a person opened."""
        with self._lock:
            row = message.get("row")
            insides = (
                self._reader.list_function_insides(self._target, self._sources, row) if isinstance(row, int) else []
            )
            self._send_message("inside", ask=message.get("ask"), inside=insides[0] if insides else None)

    def _find_object_of_row(self, row: Any) -> Any:
        """Return the variable or tensor that stands for a row, if it can still be found."""
        targets = (self.picture_source.last_gradient or ([], []))[0]
        named_values = (value for namespace in self._reader.namespaces for value in namespace.values())
        return self.picture_source.find_object_of_row(row, [*targets, *named_values])

    def _send_message(self, kind: str, *data: bytes, **content: Any) -> None:
        """Send a message, if the view has a page."""
        if self.comm is not None:
            self.send({"kind": kind, **content}, [*data] or None)

    def _send_numbered_message(self, kind: str, data: bytes, **content: Any) -> None:
        """Send what follows on what was sent before."""
        self._message_number += self.comm is not None
        self._send_message(kind, data, sequence=self._message_number, **content)

    def send_news(self, limit: int | None) -> bool:
        """Send what is new, at most ``limit`` rows; True when there was something."""
        with self._lock:
            if self.comm is None:
                return False
            self._read_new_rows(limit)
            first_unsent = self._sent_count
            rows = self._rows[first_unsent:][:limit]
            self._sent_count += len(rows)
            # later rows have it
            changed, self._unsent_changes = (
                [part for part in self._unsent_changes if part["row"] < self._sent_count],
                [],
            )
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
        record = self.picture_source.record
        return record is not None and self._sent_count < min(len(record), MAX_ROWS)

    # -- elsewhere ---------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write a self-contained HTML page that steps without a kernel (``.html``), or the static picture (``.svg``).
        Raises RuntimeError when the view was closed, ValueError for a file name with another ending.
        """
        self._raise_if_closed()
        if str(path).lower().endswith((".html", ".htm")):
            write_file(path, self._build_page())
        else:
            Picture(self.read_snapshot(MAX_FIGURE_ROWS)).save(path)

    def kept(self, *, height: int = 700) -> KeptView:
        """Return what the view shows now, as an output that steps without a kernel.

        It steps in a notebook that is reopened, mailed or converted by nbconvert; without scripts it is the picture.

        It adds about 0.1 MB to the notebook, and up to 1 MB: of a longer tape the picture alone is kept, and a sentence
        says so. ``height`` is in pixels. Raises RuntimeError when the view was closed.

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
        with self._lock:
            return build_html_page(
                self.read_snapshot(is_full=False)
                | {"insides": self._reader.list_function_insides(self._target, self._sources)}
            )

    def _raise_if_closed(self) -> None:
        if self._closed_text:
            raise RuntimeError(
                "This view was closed: its cell was run again, or close() was called. Make another one with "
                "TapeView(tape)."
            )

    def read_snapshot(self, max_rows: int | None = None, is_full: bool = True) -> Snapshot:
        with self._lock:
            self._read_new_rows()
            return self._build_snapshot(max_rows, is_full)

    def __repr__(self) -> str:
        if self._closed_text:
            return self._closed_text
        return (
            f"TapeView({format_count(len(self._rows), 'row')}, {format_count(max(1, len(self._reader.tapes)), 'tape')})"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget, and beside it the static picture that notebooks show without a kernel."""
        note_shown_view(self)
        return self.build_mime_bundle(**kwargs)

    def _ipython_display_(self) -> None:
        """Show a view without rows, which has no picture yet, in an output that can be replaced later."""
        if not self._rows:
            bundle = self.build_mime_bundle()
            if bundle is not None and show_in_replaceable_output(self, *bundle):
                return
        raise NotImplementedError  # IPython goes on with _repr_mimebundle_

    def build_mime_bundle(self, **kwargs: Any) -> Any:
        with self._lock:  # the thread that sends follows the tape's gradient, too
            self._read_new_rows()
            description, static_snapshot = repr(self), self._build_snapshot(MAX_FIGURE_ROWS) if self._rows else None
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
        """Return what a picture of the tape would show, to tell it from the last one; None while it records, or has no
        rows.
        """
        with self._lock:
            if self.picture_source.is_recording:
                return None
            self._read_new_rows()
            return (len(self._rows), *map(id, self.picture_source.last_gradient or ())) if self._rows else None
