"""The Python side of the playground: runs a program, finds its tapes, and talks with the picture in the page."""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from minitape import GradientTape
from minitape.common.texts import paragraph

from .live import flush
from .view import TapeView

FILE = "program.py"
MOST = 20  # tapes of a program that are kept
ASKED = 6  # pairs of a target and a source that are explained
LONGEST = 20_000  # characters that a program prints at once

Post = Callable[[str, bytes], None]


class _Printed(io.TextIOBase):
    def __init__(self, post: Post) -> None:
        self._post = post

    def write(self, text: str) -> int:
        if text:
            self._post(json.dumps({"kind": "printed", "text": text[:LONGEST]}), b"")
        return len(text)


class _Shown(TapeView):
    """A view of which the playground's page hears."""

    post: Post | None = None

    def send(self, content: Any, buffers: Any = None) -> None:
        if self.post is not None:
            self.post(json.dumps({"kind": "view", "content": content}), bytes(buffers[0]) if buffers else b"")


class Playground:
    """Runs programs one after the other; `post` takes what the page must hear: JSON, and bytes that go with it.

    >>> heard = []
    >>> playground = Playground(lambda text, data: heard.append(json.loads(text)["kind"]))
    >>> playground.run("import minitape as tf\\nx = tf.Variable(3.0)\\n"
    ...     "with tf.GradientTape() as tape:\\n    y = x * x\\nprint(tape.gradient(y, x).numpy())")
    >>> heard
    ['printed', 'printed', 'view', 'why', 'ended']
    """

    def __init__(self, post: Post) -> None:
        self._post = post
        self._view: _Shown | None = None

    def run(self, program: str) -> None:
        """Run a program, show its last tape, and say why gradients are missing."""
        if self._view is not None:
            self._view.close()
            self._view = None
        linecache.cache[FILE] = (len(program), None, program.splitlines(True), FILE)
        space: dict[str, Any] = {"__name__": "__main__", "__file__": FILE}
        printed = _Printed(self._post)
        with _tapes() as tapes, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            failed = _ran(program, space)
        if failed:
            self._say(kind="failed", text=failed)
        asked = [tape for tape in tapes if tape.last]
        recorded = [tape for tape in tapes if tape._record is not None]
        for tape in [*asked[-1:], *recorded[-1:]][:1]:
            self._show(tape, space)
            self._explain(tape)
        self._say(kind="ended", tape=self._view is not None)

    def heard(self, content: str) -> None:
        """The picture asks for something."""
        if self._view is not None:
            self._view._asked(None, json.loads(content), [])
            flush(self._view)

    def _say(self, **content: object) -> None:
        self._post(json.dumps(content), b"")

    def _show(self, tape: GradientTape, space: dict[str, Any]) -> None:
        # evaluated in the program's own variables, where the view looks for names
        view: _Shown = eval("_shown(_tape)", space | {"_shown": _Shown, "_tape": tape})
        self._view = view
        if view.comm is None:  # without ipywidgets no widget has one
            view.comm = self
        view.post = self._post
        self._say_view(view)
        flush(view)

    def _say_view(self, view: _Shown) -> None:
        self._post(json.dumps({"kind": "view", "knobs": view._knobs}), bytes(view._wire))

    def _explain(self, tape: GradientTape) -> None:
        found = []
        pairs = [(target, source) for target in tape.last.targets for source in tape.last.sources] if tape.last else []
        for target, source in pairs[:ASKED]:
            with contextlib.suppress(Exception):  # the picture goes on without words
                answer = tape.explain(target, source)
                if answer.cause != "connected":
                    where = {"line": answer.line, "patch": answer.patch, "patch_line": answer.patch_line}
                    found.append({"text": paragraph(answer.message, answer.fix), **where})
        self._say(kind="why", answers=found)


def picture(program: str) -> Any:
    """The snapshot of the tape that a program shows, for a page; None where it has none."""
    playground = Playground(lambda text, data: None)
    playground.run(program)
    view = playground._view
    return None if view is None else view._fresh(full=False)


@contextlib.contextmanager
def _tapes() -> Iterator[list[GradientTape]]:
    """The tapes that a program makes in the meantime, the last ones of them."""
    found: list[GradientTape] = []
    make = GradientTape.__init__

    def made(
        tape: GradientTape, *args: Any, **kwargs: Any
    ) -> None:  # not __enter__, which notes the line of its caller
        make(tape, *args, **kwargs)
        found[:] = [*found, tape][-MOST:]

    GradientTape.__init__ = made  # type: ignore[method-assign, assignment]
    try:
        yield found
    finally:
        GradientTape.__init__ = make  # type: ignore[method-assign]


def _ran(program: str, space: dict[str, Any]) -> str:
    """Run a program in a space of its own; give back what went wrong, without the frames of others."""
    try:
        exec(compile(program, FILE, "exec"), space)
    except BaseException as error:
        told = traceback.TracebackException.from_exception(error)
        part: traceback.TracebackException | None = told
        while part is not None:
            part.stack[:] = [frame for frame in part.stack if frame.filename == FILE]
            part = part.__cause__ or part.__context__
        return "".join(told.format())
    return ""
