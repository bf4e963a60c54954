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
from minitape.common.texts import paragraph
from minitape.common.write_beside import write
from minitape.course.widget import MISSING, AnyWidget, Bytes, Unicode
from minitape.engine.recording.arrays import large_arrays
from minitape.picture.diagnosis import wrong_with
from minitape.picture.drawing import WHOLE, Picture, how_many
from minitape.picture.reading import EMPTY, PictureRow, Reader, followed, reader_of, spaces
from minitape.picture.snapshots import snapshot
from minitape.picture.words import browser_texts, word

from .comparison import Comparison
from .difference import first_difference, other_values
from .engine import LOADER, engine
from .interact import Rerun
from .kept_page import KeptView
from .live import wake, watch
from .outputs import note, show
from .page import page, playground_link
from .sweeps import Sweeps
from .wire import encode

if TYPE_CHECKING:
    from minitape.picture.fields import Fields, Snapshot

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
MOST = 200_000  # rows of a longer recording that are shown: a browser has no room for more

LOOKED = 20_000  # rows in which it is looked for what is wrong


_NOTHING = GradientTape()  # the tape of closed views


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
    _given: Any = None  # its first layout
    _lock: Any = None
    _compared: Any = None  # the name that both views of a comparison have, and where their tapes differ
    _told = ""  # what a closed view says of itself

    def __init__(
        self,
        tape: Any,
        target: Any = None,
        sources: Any = None,
        *,
        again: bool | None = None,
        _rerun: Rerun | None = None,
        _names: list[dict[str, Any]] | None = None,
        _compared: dict[str, Any] | None = None,
    ) -> None:
        tape = followed(tape)
        names = spaces(sys._getframe(1)) if _names is None else _names
        self._reader = reader_of(tape, names, "TapeView takes")
        self._tape, self._target, self._sources = tape, target, sources
        self._rows: list[PictureRow] = []
        self._sent = 0  # of them, which the browser has, as far as is known here
        self._changed: list[Fields] = []  # parts of these that it has not yet
        self._sweeps = Sweeps()
        self._arrays = self._reader.held  # kept from being released, or computed again, so that the sweep can be shown
        self._again = again
        self._compared = _compared or {}
        self._lock = threading.RLock()
        self._rerun = _rerun
        self._sequence = 0  # of the messages sent
        self._files = 0  # of which the browser has the text
        self._heard = 0  # the number of the sweep that it has
        self._state = (tape._used, tape._recording)  # as the browser last heard it
        self._note()
        self._recompute()
        self._pull()
        knobs = "[]" if _rerun is None else _rerun.knobs()
        key = uuid4().hex
        super().__init__(
            model_id=key,
            _key=key,
            _engine=engine().model_id,
            _knobs=knobs,
            _wire=encode(self._whole() | browser_texts()),
        )
        self._given = self.layout
        self.on_msg(self._asked)
        watch(self)

    def close(self) -> None:
        """Ends the view, and the layout that ipywidgets made for it and would keep; what it shows is released."""
        super().close()
        if self._given is not None:
            self._given.close()
        if self._lock is None or self._told:
            return
        with self._lock:
            self._told = repr(self)
            self._tape, self._target, self._sources, self._rerun = _NOTHING, None, None, None
            self._begin(Reader(_NOTHING))
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
        """A view of ``function()`` under a tape, with a slider for each of the scalar ``variables``.

        Moving a slider assigns the variable, runs the function again and shows the new numbers in the same picture.
        ``low`` and ``high`` default to twice the variable's value on both sides. Raises TypeError when the first
        argument is no function or the second no variable, ValueError for a variable with a shape.

        >>> import minitape as tf
        >>> x = tf.Variable(3.0, name="x")
        >>> TapeView.interact(lambda: x * x, x, -5, 5)
        TapeView(2 rows, 1 tape)
        """
        rerun = Rerun(function, variables, low, high, step, spaces(sys._getframe(1)))
        return cls(rerun.run(), _rerun=rerun, _names=rerun.namespaces)

    @classmethod
    def compare(cls, first: Any, second: Any) -> Comparison:
        """Two tapes next to each other, which step together. The first row that differs is marked in both, and said in
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
            reader_of(followed(tape), [], "TapeView takes")
        both = snapshot(first), snapshot(second)
        found, rows = first_difference(*both), other_values(*both)
        row, *words = found or (0, "", "")
        texts = [word("{here} here, {there} there", here=here, there=there) for here, there in (words, words[::-1])]
        linked = {"linked": uuid4().hex}  # the browser reads it with the first rows: what came later could be too late
        compared = [
            linked if found is None else {**linked, "differs": {"row": row, "text": text, "rows": rows}}
            for text in texts
        ]
        names = spaces(sys._getframe(1))
        one, other = (
            cls(tape, _compared=one, _names=names) for tape, one in zip((first, second), compared, strict=True)
        )
        return Comparison((one, other), found)

    def _run_again(self, content: Any) -> None:
        """A slider was moved: new values, a new tape, the same picture."""
        error = ""
        with self._lock:
            if self._rerun is None:
                return
            self._tell("running")  # who hears nothing takes it that the kernel has gone
            try:
                self._tape = self._rerun.run([float(v) for v in content.get("values", ())])
                self._begin(reader_of(self._tape, self._reader.namespaces, "TapeView takes"))
                self._recompute()
                self._post("rows", encode(self._read_again()), replace=True)
            except Exception as problem:
                error = f"{type(problem).__name__}: {problem}"
            self._tell("ran", error=error)

    def _begin(self, reader: Reader) -> None:
        """From now on this reader reads: of another tape, or of the same one from its first row on."""
        self._reader, self._rows, self._sweeps, self._arrays = reader, [], Sweeps(), reader.held
        self._sent, self._changed = 0, []

    def _read_again(self) -> dict[str, Any]:
        self._pull()
        return self._whole()

    def _recompute(self) -> None:
        if self._again is not False:
            self._reader.recompute(bool(self._again))

    def _compute_again(self, _content: Any) -> None:
        """The reader of the picture wants what the tape released."""
        with self._lock:
            reader = reader_of(self._tape, self._reader.namespaces, "TapeView takes")
            reader.held.update(self._arrays)
            reader.recompute(True)
            self._begin(reader)
            self._post("rows", encode(self._read_again()), replace=True)

    # -- reading -----------------------------------------------------------------------------------

    def _note(self) -> None:
        """Called when a block or a gradient of the tape has ended: keeps hold of arrays that a used-up tape would
        release.
        """
        record = self._tape._record
        if record is not None and record.large and not record.open:  # else all rows would be read for nothing
            self._arrays.update(large_arrays(record))

    def _pull(self, limit: int | None = None) -> None:
        """Reads new rows, and the changed parts of older ones. Who draws a picture reads, too: `_flow` sends what was
        not sent.
        """
        before = self._reader.name
        room = MOST - len(self._rows) if self._tape._record is self._reader.record else MOST
        rows = self._reader.read(room if limit is None else min(limit, room))
        if self._reader.name != before:
            self._rows, self._sweeps, self._sent, self._changed = [], Sweeps(), 0, []
        self._rows += rows
        changed = self._reader.name_rows(self._rows)
        if rows and not self._tape._recording:
            changed += self._reader.know_the_end(self._rows)
        self._changed += changed

    def _step_sweep(self, now: bool = False) -> bool:
        """Follows the tape's last gradient; True when there is a new sweep."""
        spaces = self._reader.namespaces
        return self._sweeps.follow(self._tape, self._target, self._sources, len(self._rows), self._arrays, spaces, now)

    def _whole(self) -> dict[str, Any]:
        """Everything read so far, as it travels."""
        self._step_sweep()
        self._sent, self._changed = len(self._rows), []
        return self._part(self._rows, 0, [])

    def _part(self, rows: list[PictureRow], first: int, changed: list[Fields], sweep: bool = True) -> dict[str, Any]:
        part: Any = self._reader.frame_of(rows, first) | {"changed": changed}
        part |= playground_link(part["sources_text"])
        part.pop("sweep")
        part.pop("results")
        if sweep:
            part |= self._wrong(part)
            self._heard = self._sweeps.number
        part |= self._compared
        return part | {"sweep": self._sweeps.sweep, "results": self._sweeps.results} if sweep else part

    def _snapshot(self, most: int | None = None, full: bool = True) -> Snapshot:
        """The snapshot of everything read so far; of more than ``most`` rows the first and the last ones. Unless they
        are wanted in ``full``, the rows of a very long one are those of the view itself."""
        self._step_sweep(now=True)
        rows = self._rows
        if most is not None and len(rows) > most:
            rows = rows[: most // 2] + rows[-(most // 2) :]
        as_they_are = not full and len(rows) > LOOKED
        found: Any = self._reader.frame_of(rows if as_they_are else [row.full() for row in rows], 0)
        found |= self._compared | {"changed": [], "sweep": self._sweeps.snapshot(), "results": self._sweeps.results}
        return found | self._wrong(found)

    def _wrong(self, part: Any) -> Any:
        """What is wrong; of a very long recording no code looks."""
        if len(self._rows) > LOOKED:
            return {"alarms": [], "torn": []}
        ends = None if self._target is None else (self._target, self._sources)
        rows, sweep = [row.full() for row in self._rows], self._sweeps.snapshot()
        whole = part | {"rows": rows, "sweep": sweep, "results": self._sweeps.results}
        return wrong_with(self._tape, whole, ends)

    # -- sending -----------------------------------------------------------------------------------

    def _asked(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """The browser says what it has, or asks for what it misses."""
        if not isinstance(content, dict):
            return
        asked = {
            "run": self._run_again,
            "again": self._compute_again,
            "explain": self._explain,
            "inside": self._send_inside,
            "sweep": self._go_on,
            "need": self._send_again,
        }
        if isinstance(kind := content.get("kind"), str) and kind in asked:
            asked[kind](content)

    def _go_on(self, _content: Any) -> None:
        """The reader stepped to the end of the steps that were made."""
        self._sweeps.wanted = True
        wake()

    def _send_again(self, content: dict[str, Any]) -> None:
        """The page misses rows or steps."""
        with self._lock:
            same = content.get("record") == (self._reader.name or EMPTY)
            since = content.get("since", 0) if same else 0
            missed = content.get("sequence", 0) < self._sequence  # the last message never arrived
            pages = self._sweeps.pages_after(content.get("sweep"), content.get("steps", 0)) if same else []
            if since < len(self._rows) or not same or (missed and not pages):
                self._sent = len(self._rows)
                self._post("rows", encode(self._part(self._rows[since:], since, [])))
            elif pages:
                for page in pages:
                    self._post("steps", page)
            else:
                self._tell("all", sequence=self._sequence)

    def _explain(self, content: dict[str, Any]) -> None:
        """Why no gradient flows from one row to another, in the words of ``tape.explain``."""
        target, source = (self._value_at(content.get(end)) for end in ("target", "source"))
        text = ""
        if target is not None and source is not None:
            with suppress(Exception):  # the picture goes on without words
                found = self._tape.explain(target, source)
                text = "" if found.cause == "connected" else paragraph(found.message, found.fix)
        self._tell("explained", ask=content.get("ask"), text=text)

    def _send_inside(self, content: dict[str, Any]) -> None:
        """The rows inside of a call of a function, which the reader opens."""
        with self._lock:
            row = content.get("row")
            found = self._reader.insides(self._target, self._sources, row) if isinstance(row, int) else []
            self._tell("inside", ask=content.get("ask"), inside=found[0] if found else None)

    def _value_at(self, row: Any) -> Any:
        """The variable or tensor that stands for a row, if it can still be found."""
        record = self._tape._record
        if record is None:
            return None
        leaf = record.leaves.get(row)
        if leaf is not None:
            return leaf.variable if leaf.variable is not None else leaf.tensor
        known = [*(self._tape.last or ([], []))[0], *(v for space in self._reader.namespaces for v in space.values())]
        return next((v for v in known if hasattr(type(v), "_row") and record.find(v) == row), None)

    def _tell(self, kind: str, *data: bytes, **content: Any) -> None:
        """Sends a message, if the view has a page."""
        if self.comm is not None:
            self.send({"kind": kind, **content}, [*data] or None)

    def _post(self, kind: str, data: bytes, **content: Any) -> None:
        """Sends what follows on what was sent before."""
        self._sequence += self.comm is not None
        self._tell(kind, data, sequence=self._sequence, **content)

    def _flow(self, limit: int | None) -> bool:
        """Sends what is new, at most ``limit`` rows; True when there was something."""
        with self._lock:
            if self.comm is None:
                return False
            self._pull(limit)
            first = self._sent
            rows = self._rows[first:][:limit]
            self._sent += len(rows)
            # later rows have it
            changed, self._changed = [part for part in self._changed if part["row"] < self._sent], []
            recording = self._tape._recording
            ended = not recording and not self._behind()
            swept = ended and (self._step_sweep() or self._sweeps.number != self._heard)
            state = (self._tape._used, recording)
            if rows or changed or swept or state != self._state:
                self._state = state
                part = self._part(rows, first, changed, swept)
                if len(self._reader.files) == self._files:
                    part.pop("sources_text")
                self._files = len(self._reader.files)
                self._post("rows", encode(part))
                return True
            page = None if recording else self._sweeps.page()
            if page is not None:
                self._post("steps", page)
            return page is not None

    def _behind(self) -> bool:
        record = self._tape._record
        return record is not None and self._sent < min(len(record), MOST)

    # -- elsewhere ---------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Writes a self-contained HTML page that steps without a kernel (``.html``), or the static picture (``.svg``).
        Raises RuntimeError when the view was closed, ValueError for a file name with another ending.
        """
        self._refuse_closed()
        if str(path).lower().endswith((".html", ".htm")):
            write(path, self._page())
        else:
            Picture(self._fresh(WHOLE)).save(path)

    def kept(self, *, height: int = 700) -> KeptView:
        """What the view shows now, as an output that steps without a kernel: in a notebook that is reopened, mailed or
        converted by nbconvert. Where scripts do not run it is the picture.

        It adds about 0.1 MB to the notebook, and up to 1 MB: of a longer tape the picture alone is kept, and a sentence
        says so. ``height`` is in pixels. Raises RuntimeError when the view was closed.

        >>> import minitape as tf
        >>> x = tf.Variable(3.0, name="x")
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> TapeView(tape, y, x).kept()
        KeptView(2 rows, 1 tape)
        """
        self._refuse_closed()
        return KeptView(Picture(self._fresh(WHOLE)), self._page(), height)

    def _page(self) -> str:
        with self._lock:
            return page(self._fresh(full=False) | {"insides": self._reader.insides(self._target, self._sources)})

    def _refuse_closed(self) -> None:
        if self._told:
            raise RuntimeError(
                "This view was closed: its cell was run again, or close() was called. Make another one with "
                "TapeView(tape)."
            )

    def _fresh(self, most: int | None = None, full: bool = True) -> Snapshot:
        with self._lock:
            self._pull()
            return self._snapshot(most, full)

    def __repr__(self) -> str:
        if self._told:
            return self._told
        return f"TapeView({how_many(len(self._rows), 'row')}, {how_many(max(1, len(self._reader.tapes)), 'tape')})"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and beside it the static picture that notebooks show without a kernel."""
        note(self)
        return self._bundle(**kwargs)

    def _ipython_display_(self) -> None:
        """A view without rows has no picture yet: its output is one that can be replaced later."""
        if not self._rows:
            bundle = self._bundle()
            if bundle is not None and show(self, *bundle):
                return
        raise NotImplementedError  # IPython goes on with _repr_mimebundle_

    def _bundle(self, **kwargs: Any) -> Any:
        with self._lock:  # the thread that sends follows the tape's gradient, too
            self._pull()
            said, seen = repr(self), self._snapshot(WHOLE) if self._rows else None
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if data is None:
            return None
        data, metadata = dict(data), {**metadata, WIDGET_VIEW: {"shown": time.time()}}
        data["text/plain"] = said
        if seen is not None:
            picture = self.kept() if self.keep_pages else Picture(seen)
            data["text/html"] = picture.html() + (f"<p>{escape(MISSING)}</p>" if MISSING else "")
        return data, metadata

    def _drawable(self) -> Any:
        """What a picture of the tape would show, to tell it from the last one; None while it records, or has no
        rows.
        """
        with self._lock:
            if self._tape._recording:
                return None
            self._pull()
            return (len(self._rows), *map(id, self._tape.last or ())) if self._rows else None
