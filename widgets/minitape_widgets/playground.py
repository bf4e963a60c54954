"""Run programs for the playground, find their tapes, and exchange messages with the picture in the page."""

from __future__ import annotations

import contextlib
import io
import json
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from minitape import GradientTape
from minitape.common.source_lines import register_source_lines
from minitape.common.translation import join_sentences

from .live_updates import flush_view
from .view import TapeView

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import Snapshot

PROGRAM_FILE = "program.py"
MAX_TAPES = 20  # The number of tapes kept, which are the program's last ones.
MAX_EXPLAINED_PAIRS = 6  # The maximum number of (target, source) pairs to explain.
MAX_PRINTED_LETTERS = 20_000  # The maximum length of a single printed text. The rest is dropped.

PostMessage = Callable[[str, bytes], None]


class _PrintedOutput(io.TextIOBase):
    """A text stream that posts everything a program prints."""

    def __init__(self, post: PostMessage) -> None:
        self._post = post

    def write(self, text: str) -> int:
        if text:
            self._post(json.dumps({"kind": "printed", "text": text[:MAX_PRINTED_LETTERS]}), b"")
        return len(text)


class _PostedView(TapeView):
    """A view whose messages are posted to the playground's page."""

    post: PostMessage | None = None

    def send(self, content: Any, buffers: Any = None) -> None:
        if self.post is not None:
            self.post(json.dumps({"kind": "view", "content": content}), bytes(buffers[0]) if buffers else b"")

    def post_state(self, post: PostMessage) -> None:
        """Post the sliders and the rows read so far, and post all later messages in the same way."""
        self.post = post
        post(json.dumps({"kind": "view", "knobs": self._knobs}), bytes(self._wire))


class Playground:
    r"""Runs programs one after another, and posts their output and pictures to a page.

    The kinds of messages are "printed", "view", "failed", "why" (missing gradients) and "ended".

    >>> heard = []
    >>> playground = Playground(lambda text, data: heard.append(json.loads(text)["kind"]))
    >>> playground.run("import minitape as tf\nx = tf.Variable(3.0)\n"
    ...     "with tf.GradientTape() as tape:\n    y = x * x\nprint(tape.gradient(y, x).numpy())")
    >>> heard
    ['printed', 'printed', 'view', 'why', 'ended']
    """

    def __init__(self, post: PostMessage) -> None:
        """Store the function that posts a message, which takes JSON and the bytes belonging to it."""
        self._post = post
        self._view: _PostedView | None = None

    def run(self, program: str) -> None:
        """Run a program, show its last tape, and explain its missing gradients.

        The displayed tape is the last one with a gradient call, or else the last one with rows. An error in the
        program is posted, not raised.

        Args:
            program: The source text.
        """
        if self._view is not None:
            self._view.close()
            self._view = None
        register_source_lines(PROGRAM_FILE, program)
        namespace: dict[str, Any] = {"__name__": "__main__", "__file__": PROGRAM_FILE}
        printed = _PrintedOutput(self._post)
        with (
            _collect_created_tapes() as tapes,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            failure = _execute_and_format_error(program, namespace)
        if failure:
            self._post_message(kind="failed", text=failure)
        shown_tape = _find_tape_to_show(tapes)
        if shown_tape is not None:
            self._show_tape_in_page(shown_tape, namespace)
            self._post_gradient_explanations(shown_tape)
        self._post_message(kind="ended", tape=self._view is not None)

    def heard(self, content: str) -> None:
        """Answer a message from the picture in the page.

        Args:
            content: The message as JSON.
        """
        if self._view is not None:
            self._view.on_request(None, json.loads(content), [])
            flush_view(self._view)

    def read_snapshot(self) -> Snapshot | None:
        """Return the displayed tape's snapshot, or None if the program has no tape."""
        return None if self._view is None else self._view.read_snapshot(is_full=False)

    def _post_message(self, **content: object) -> None:
        self._post(json.dumps(content), b"")

    def _show_tape_in_page(self, tape: GradientTape, namespace: dict[str, Any]) -> None:
        # A view looks up names in the variables of its caller, so `eval` creates it among the program's variables.
        view: _PostedView = eval("_shown(_tape)", namespace | {"_shown": _PostedView, "_tape": tape})
        self._view = view
        if view.comm is None:  # Without ipywidgets, a view has no comm, and a view without a comm sends nothing.
            view.comm = self
        view.post_state(self._post)
        flush_view(view)

    def _post_gradient_explanations(self, tape: GradientTape) -> None:
        answers = []
        pairs = (
            [(target, source) for target in tape.last_request.targets for source in tape.last_request.sources]
            if tape.last_request
            else []
        )
        for target, source in pairs[:MAX_EXPLAINED_PAIRS]:
            with contextlib.suppress(Exception):  # A failed explanation must not stop the picture.
                explanation = tape.explain(target, source)
                if explanation.cause != "connected":
                    location = {
                        "line": explanation.line,
                        "patch": explanation.patch,
                        "patch_line": explanation.patch_line,
                    }
                    answers.append({"text": join_sentences(explanation.message, explanation.fix), **location})
        self._post_message(kind="why", answers=answers)


def run_program_and_snapshot(program: str) -> Any:
    """Run a program and return the snapshot of its last tape.

    Args:
        program: The source text.

    Returns:
        The snapshot for a page, or None if the program has no tape.
    """
    playground = Playground(lambda text, data: None)
    playground.run(program)
    return playground.read_snapshot()


def _find_tape_to_show(tapes: list[GradientTape]) -> GradientTape | None:
    """Return the last tape that computed a gradient, or else the last tape that recorded anything."""
    for tape in reversed(tapes):
        if tape.last_request:
            return tape
    return next((tape for tape in reversed(tapes) if tape.record is not None), None)


@contextlib.contextmanager
def _collect_created_tapes() -> Iterator[list[GradientTape]]:
    """Yield a list to which tapes are added as the program creates them, with at most MAX_TAPES tapes."""
    tapes: list[GradientTape] = []
    original_init = GradientTape.__init__

    # Replacing __enter__ would not work, because __enter__ records its caller's line.
    def init_and_collect(tape: GradientTape, *args: Any, **kwargs: Any) -> None:
        original_init(tape, *args, **kwargs)
        tapes.append(tape)
        del tapes[:-MAX_TAPES]

    GradientTape.__init__ = init_and_collect  # type: ignore[method-assign, assignment]
    try:
        yield tapes
    finally:
        GradientTape.__init__ = original_init  # type: ignore[method-assign]


def _execute_and_format_error(program: str, namespace: dict[str, Any]) -> str:
    """Run a program in a namespace, and return its traceback's own frames, or "" if it raised no error."""
    try:
        exec(compile(program, PROGRAM_FILE, "exec"), namespace)
    except BaseException as error:
        report = traceback.TracebackException.from_exception(error)
        part: traceback.TracebackException | None = report
        while part is not None:
            part.stack[:] = [frame for frame in part.stack if frame.filename == PROGRAM_FILE]
            part = part.__cause__ or part.__context__
        return "".join(report.format())
    return ""
