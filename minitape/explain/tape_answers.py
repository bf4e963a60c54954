"""Implement ``tape.explain``, which explains why a gradient is None, which line is to blame, and how to fix it.

An explanation must not disturb the user's program. If explain itself fails, the answer is the most plausible cause, and
its message reports the failure.
"""

from contextlib import suppress

from ..common.translation import join_sentences
from ..engine.backward.tape import GradientTape
from ..engine.backward.targets_and_sources import unwrap_keras_variable
from ..engine.record.thread_state import state
from ..engine.tensor.tensor import Tensor
from ..engine.types import Structure, TargetOrSource, TargetsOrSources
from ..engine.values.nest import flatten, pack_sequence_as
from .caller import warn_at_user_line
from .explanation import Explanation
from .explanation_page import to_explanation_page
from .fallback_answer import build_fallback_explanation, explain_non_tensor_source
from .reasons.object_names import share_searches_between_questions
from .reasons.tape_adapter import TapeAdapter, build_tape_adapter
from .reasons.tape_checks import explain_gradient
from .translated_sentences import fill


def explain(tape: GradientTape, target: Structure, sources: Structure) -> Structure:
    """Return an :class:`Explanation` for each source, structured like ``sources``; see ``GradientTape.explain``.

    This function never raises an error because of an error in the user's program. If explain itself fails, the answer
    is the most plausible cause.

    Args:
        tape: The tape that recorded the computation.
        target: The target of the gradient: a tensor, a variable or a structure of tensors and variables.
        sources: The sources of the gradient: a tensor, a variable or a structure of tensors and variables.

    Returns:
        An Explanation for a single source. For a structure of sources, a structure of Explanations that prints as a
        page.

    >>> import minitape as tf
    >>> x, n = tf.Variable(3.0), tf.Variable(2)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.cast(n, tf.float32)
    >>> [why.cause for why in tf.explain.explain(tape, y, [x, n])]
    ['connected', 'integer_dtype']
    """
    flat_sources = flatten(sources)
    try:
        targets = [unwrap_keras_variable(flat_target) for flat_target in flatten(target)]
        source_ends = [unwrap_keras_variable(flat_source) for flat_source in flat_sources]
    except Exception:
        targets = [target]
        source_ends = flat_sources
    answers = explain_flat_sources(tape, targets, source_ends)
    is_single_source = len(flat_sources) == 1 and sources is flat_sources[0]
    if is_single_source:
        return answers[0]
    return to_explanation_page(pack_sequence_as(sources, answers))


def explain_flat_sources(tape: GradientTape, targets: TargetsOrSources, sources: TargetsOrSources) -> list[Explanation]:
    """Return one explanation for each source in a flat list.

    Args:
        tape: The tape that recorded the computation.
        targets: The flat targets. Keras variables are unwrapped.
        sources: The flat sources. Keras variables are unwrapped.
    """
    memory = state.memory
    was_running = memory.is_explaining
    memory.is_explaining = True
    try:
        with share_searches_between_questions():
            return _explain_each_source(tape, targets, sources)
    finally:
        memory.is_explaining = was_running


def _explain_each_source(tape: GradientTape, targets: TargetsOrSources, sources: TargetsOrSources) -> list[Explanation]:
    """Return an explanation for each source, or a fallback if explaining a source fails."""
    plain_targets = [target for target in targets if not _is_tensor_or_variable(target)][:1]
    adapter = None
    if not plain_targets:
        try:
            adapter = build_tape_adapter(tape, targets, [item for item in sources if _is_tensor_or_variable(item)])
        except Exception as error:
            return [build_fallback_explanation("independent", item, tape, error=error) for item in sources]
    answers = []
    for source in sources:
        try:
            if not _is_tensor_or_variable(source):
                answers.append(explain_non_tensor_source(source, tape))
            elif adapter is not None:
                answers.append(explain_gradient(adapter, source))
            elif plain_targets[0] is None:
                answers.append(build_fallback_explanation("independent", source, tape, "None"))
            else:
                detail = fill("a plain {kind}", kind=type(plain_targets[0]).__name__)
                answers.append(build_fallback_explanation("left_through_numpy", source, tape, "target", detail))
        except Exception as error:
            answers.append(
                build_fallback_explanation(
                    guess_cause_connected_or_else_independent(adapter, source), source, tape, error=error
                )
            )
    return answers


def _is_tensor_or_variable(value: object) -> bool:
    """Return whether a value is a tensor or a variable, which a tape can record."""
    return isinstance(value, Tensor) or hasattr(value, "_find_rows_in_recording")


def guess_cause_connected_or_else_independent(adapter: TapeAdapter | None, source: TargetOrSource) -> str:
    """Return the most plausible cause, "connected" or "independent", after explain itself has failed.

    Args:
        adapter: The adapter for the tape, or None if reading the tape failed.
        source: The source of the gradient.
    """
    with suppress(Exception):
        if adapter is not None and adapter.reachability.is_connected(source):
            return "connected"
    return "independent"


def warn(on: bool = True) -> None:
    """Switch warnings about missing gradients on or off for the whole session.

    While these warnings are on, a Python warning explains every gradient that is None.

    Args:
        on: Whether to warn.

    >>> import warnings
    >>> import minitape as tf
    >>> tf.explain.warn()
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> with warnings.catch_warnings(record=True, action="always") as told:
    ...     tape.gradient(y, x)
    >>> print(told[0].message)
    The gradient is None (not_watched): x is a tensor that the tape does not watch, so its use ...
    >>> tf.explain.warn(False)
    """
    GradientTape._warns_of_none = on


def warn_once_per_reason_for_none(tape: GradientTape, targets: TargetsOrSources, sources: TargetsOrSources) -> None:
    """Issue one RuntimeWarning for each reason why the gradients of some sources are None.

    Args:
        tape: The tape whose ``gradient`` returned None.
        targets: The targets of that call.
        sources: The sources whose gradients are None.
    """
    from .gradient_warnings import merge_explanations_and_count_by_reason

    for answer, suffix in merge_explanations_and_count_by_reason(explain_flat_sources(tape, targets, sources)):
        warn_at_user_line(
            fill(
                "The gradient is None ({cause}): {text}",
                cause=answer.cause,
                text=join_sentences(answer.message, answer.fix) + suffix,
            )
        )
