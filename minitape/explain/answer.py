"""``tape.explain``: why a gradient is None, on which line, and what fixes it.

Nothing here may disturb the user's program: a mistake of explain's own ends in the most plausible cause, said plainly.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ..common.texts import paragraph
from ..engine.back.endpoints import gradient_end
from ..engine.back.tape import GradientTape
from ..engine.recording.state import state
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from .caller import warn_user
from .describe import in_short, no_tensor
from .page import page
from .reasons.tape import TapeAdapter, explain_gradient, read_tape
from .sentences import fill
from .words import Explanation

if TYPE_CHECKING:
    from ..engine.types import End, Structure


def explain(tape: GradientTape, target: Structure, sources: Structure) -> Structure:
    """One :class:`Explanation` for each source, in the structure of ``sources``; see ``GradientTape.explain``.

    It never raises for what a program did: a mistake of its own ends in the most plausible cause.

    >>> import minitape as tf
    >>> x, n = tf.Variable(3.0), tf.Variable(2)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.cast(n, tf.float32)
    >>> [why.cause for why in tf.explain.explain(tape, y, [x, n])]
    ['connected', 'integer_dtype']
    """
    flat = nest.flatten(sources)
    try:
        targets = [gradient_end(t) for t in nest.flatten(target)]
        asked = [gradient_end(s) for s in flat]
    except Exception:
        targets, asked = [target], flat
    answers = explain_flat(tape, targets, asked)
    return answers[0] if len(flat) == 1 and sources is flat[0] else page(nest.pack_sequence_as(sources, answers))


def explain_flat(tape: GradientTape, targets: list[End], sources: list[End]) -> list[Explanation]:
    """The explanations for a flat list of sources."""
    memory = state.memory
    before, memory.explain_runs = memory.explain_runs, True
    try:
        return _answers(tape, targets, sources)
    finally:
        memory.explain_runs = before


def _answers(tape: GradientTape, targets: list[End], sources: list[End]) -> list[Explanation]:
    plain = [t for t in targets if not _is_tensor(t)][:1]
    asked = None
    if not plain:
        try:
            asked = read_tape(tape, targets, [s for s in sources if _is_tensor(s)])
        except Exception as error:
            return [in_short("independent", s, tape, error=error) for s in sources]
    answers = []
    for source in sources:
        try:
            if not _is_tensor(source):
                answers.append(no_tensor(source, tape))
            elif asked is not None:
                answers.append(explain_gradient(asked, source))
            elif plain[0] is None:
                answers.append(in_short("independent None", source, tape))
            else:
                what = fill("a plain {kind}", kind=type(plain[0]).__name__)
                answers.append(in_short("left_through_numpy target", source, tape, what))
        except Exception as error:
            answers.append(in_short(guess(asked, source), source, tape, error=error))
    return answers


def _is_tensor(value: object) -> bool:
    """Whether a tape can know a value: a tensor or a variable."""
    return isinstance(value, Tensor) or hasattr(value, "_tape_rows")


def guess(asked: TapeAdapter | None, source: End) -> str:
    """The most plausible cause when explain itself failed: connected or not, and no more."""
    with suppress(Exception):
        if asked is not None and asked.rules.connected(source):
            return "connected"
    return "independent"


def warn(on: bool = True) -> None:
    """Switches warnings on for the whole session: every gradient that is None says why, as a Python warning.

    >>> import warnings
    >>> import minitape as tf
    >>> tf.explain.warn()
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> with warnings.catch_warnings(record=True, action="always") as told:
    ...     tape.gradient(y, x)
    >>> print(told[0].message)
    The gradient is None (not_watched): The tape does not watch x, a tensor, so its use ...
    >>> tf.explain.warn(False)
    """
    GradientTape._warns = on


def warn_of(tape: GradientTape, targets: list[End], sources: list[End]) -> None:
    """Warns of these sources, whose gradients are None: once for all that have the same reason."""
    from .warnings import grouped

    for said, more in grouped(explain_flat(tape, targets, sources)):
        warn_user(
            fill(
                "The gradient is None ({cause}): {text}",
                cause=said.cause,
                text=paragraph(said.message, said.fix) + more,
            )
        )
