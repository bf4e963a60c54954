"""Read the results of a tape's ``gradient`` calls, which a picture shows below its rows (``ResultFields``)."""

from __future__ import annotations

from contextlib import suppress
from heapq import merge
from itertools import repeat

from ..common.translation import join_sentences
from ..engine.backward.tape import GradientTape
from ..engine.backward.targets_and_sources import (
    GradientRequest,
    find_rows_in_recording,
    flatten_with_gradient_carriers,
)
from ..engine.types import (
    ArraysByRow,
    Namespaces,
    Object,
    OptionalText,
    RowList,
    Structure,
    TargetOrSource,
    TargetsOrSources,
)
from ..recording.variable_names import iter_public_names_and_values, use_namespaces_for_names
from .path_breaks import is_zero
from .shown_values import to_value_fields
from .snapshot_types import BlamedLine, OptionalValue, ResultFields, SourceFields
from .stepper import build_tape_stepper, find_shown_jacobian_element, list_seeds_of_shown_sweep
from .truncation import shorten_name

MAX_CALLS = 16  # Only this many of the last calls of a tape are shown.
MAX_SOURCES = 64  # Only this many sources and targets of a call are listed.
MAX_ROWS_WITH_STEPS = 2000  # A longer sweep is repeated only for its gradients.
SOURCE_CAUSES = (
    "not_watched",
    "not_trainable",
    "not_accessed_watched",
)  # These causes blame the source.
MAX_EXPLAINED = 16  # `explain` is called for at most this many sources of a call.
MAX_EXPLAINED_ROWS = 20_000  # `explain` reads every row, so it is not called for a longer recording.
MAX_EARLIER_STEPS = 500  # The result of an earlier call has no sweep if the sweep is longer than this.


def list_results_of_gradient_calls(
    tape: GradientTape,
    target: Structure = None,
    sources: Structure = None,
    kept_arrays: ArraysByRow | None = None,
    namespaces: Namespaces = (),
) -> list[ResultFields]:
    """Return the results of gradient calls.

    Args:
        tape: The tape.
        target: The target of one gradient, or None for the calls of all tapes of the recording.
        sources: The sources of that gradient.
        kept_arrays: Arrays, by row, that the recording has released but the caller still has.
        namespaces: The dictionaries in which the Python names of tensors are looked up.

    Returns:
        The results. Each tape's results are in the order of its calls, and several tapes' results are merged in the
        order of the calls' targets. The last result is the one to show: either the gradient of ``target``, or the
        tape's own last gradient call.

    >>> import minitape as tf
    >>> v, u = tf.Variable(2.0, name="v"), tf.Variable(1.0, name="u")
    >>> with tf.GradientTape() as tape:
    ...     y = v * 3.0
    ...     _ = v.assign_add(1.0)
    ...     z = y * v
    >>> _ = tape.gradient(z, [v, u])
    >>> found = list_results_of_gradient_calls(tape, namespaces=[{"z": z}])
    >>> for source in found[0]["sources"]:
    ...     gradient = source["gradient"] and source["gradient"]["text"]
    ...     print(found[0]["target"][0]["name"], source["name"], gradient, source["rows"])
    z v 15.0 [0, 3]
    z u None []
    """
    if tape.record is None:
        return []
    if target is not None:
        target_values = flatten_with_gradient_carriers(target)[1]
        requests = [
            (
                tape,
                GradientRequest(
                    target_values,
                    flatten_with_gradient_carriers(sources)[1],
                    [None] * len(target_values),
                    [],
                    "gradient",
                    [],
                ),
            )
        ]
    else:
        tapes = [candidate for candidate in tape.record.list_tapes_or_none_if_gone() if candidate not in (None, tape)]
        calls_by_tape = (
            [
                (candidate, request)
                for request in candidate.requests[-MAX_CALLS:] or filter(None, [candidate.last_request])
            ]
            for candidate in (*tapes, tape)
        )
        *calls_of_others, own_calls = [*filter(None, calls_by_tape)] or [[]]
        earlier_calls = merge(
            *calls_of_others,
            own_calls[:-1],
            key=lambda pair: max(_find_last_row(pair[0], value) for value in pair[1].targets),
        )
        requests = [*earlier_calls, *own_calls[-1:]]
    namespaces = list(namespaces)
    names = PythonNames(namespaces)
    with use_namespaces_for_names(namespaces):
        return [
            _build_gradient_result(*request, kept_arrays, names, index == len(requests) - 1)
            for index, request in enumerate(requests)
        ]


def _find_last_row(tape: GradientTape, value: TargetOrSource) -> int:
    return (find_rows_in_recording(tape, value) or (-1,))[-1]


def _build_gradient_result(
    tape: GradientTape,
    request: GradientRequest,
    kept_arrays: ArraysByRow | None,
    names: PythonNames,
    is_shown: bool,
) -> ResultFields:
    """Describe the result of a gradient call, and repeat its sweep to find the adjoints of the sources."""
    targets = request.targets
    sources = request.sources
    is_jacobian = request.method != "gradient"
    stepper = build_tape_stepper(
        tape, targets, sources, kept_arrays, to_value_fields, list_seeds_of_shown_sweep(request)
    )
    sweep = None
    if stepper is None:
        is_known = False
    elif stepper.remaining_rows > MAX_ROWS_WITH_STEPS:
        is_known = stepper.finish_without_steps()
    else:
        sweep = stepper.build_sweep_fields()
        is_known = sweep is not None
    parts_and_gradients = (
        zip(stepper.list_state_adjoints_by_source(), stepper.list_source_gradients(), strict=True)
        if stepper and is_known
        else repeat(([], None))
    )
    source_results: list[SourceFields] = []
    unexplained: list[tuple[TargetOrSource, SourceFields]] = []
    for source_index, (source, (parts, gradient)) in enumerate(
        zip(sources[:MAX_SOURCES], parts_and_gradients, strict=False)
    ):
        rows = [state_row for state_row, _ in parts] if is_known else list(find_rows_in_recording(tape, source))
        current_value, assignment_count = _find_value_assigned_after_recording(tape, rows)
        source_result: SourceFields = {
            "name": names.find_name(source),
            "rows": rows,
            "parts": [to_value_fields(part) for _, part in parts],
            "gradient": gradient,
            "at": _find_last_row(tape, source),
            "reason": None,
            "why": None,
            "blame": None,
            "now": current_value,
            "assigned": assignment_count,
        }
        # The request does not keep Jacobians that are too large.
        returned = request.results[source_index] if source_index < len(request.results) else None
        if is_jacobian or (returned is not None and gradient is None):
            source_result["parts"] = []
            source_result["gradient"] = None if returned is None else to_value_fields(returned.numpy())
        # The call noted which results were None, even if its sweep is too long to be repeated.
        is_none = request.is_none[source_index] if request.is_none else is_known and gradient is None
        source_result["none"] = is_none = is_none and returned is None  # Zeros may have taken the place of None.
        if is_none or (is_shown and is_zero(source_result["gradient"])):
            unexplained.append((source, source_result))
        source_results.append(source_result)
    _add_reasons_and_blame_to_first_sources(tape, targets, unexplained)
    result: ResultFields = {
        "target": [
            {"name": names.find_name(target), "row": _find_last_row(tape, target)} for target in targets[:MAX_SOURCES]
        ],
        "sources": source_results,
        "more": len(sources[MAX_SOURCES:]),
        "known": is_known or is_jacobian,
        "shown": is_shown,
        "call": request.method,
    }
    if element := find_shown_jacobian_element(request):
        result["element"] = list(element)
    if sweep is not None and not is_shown and len(sweep["steps"]) <= MAX_EARLIER_STEPS:
        result["sweep"] = sweep
    return result


def _find_value_assigned_after_recording(tape: GradientTape, source_rows: RowList) -> tuple[OptionalValue, int]:
    """Return the current value of a variable, and the number of assignments after its last state on the tape.

    Such an assignment is usually an optimizer step. Returns (None, 0) if there was no assignment.
    """
    record = tape.record
    leaf = record.leaves.get(source_rows[-1]) if record and source_rows else None
    if record is None or leaf is None or leaf.variable is None or tape.is_recording:
        return None, 0
    assignment_count = leaf.variable._version - leaf.version
    state_rows = dict.get(record.variables, id(leaf.variable), (None, source_rows))[1]
    if assignment_count < 1 or record.leaves[state_rows[-1]].version > leaf.version:
        return None, 0
    with suppress(Exception):  # A graph variable has no value.
        return to_value_fields(leaf.variable.numpy()), assignment_count
    return None, 0


def _add_reasons_and_blame_to_first_sources(
    tape: GradientTape, targets: TargetsOrSources, unexplained: list[tuple[TargetOrSource, SourceFields]]
) -> None:
    """Add to the results of sources the reasons why their gradients are None or zero, and the line and row to blame.

    A field stays None if `explain` does not name it. Fewer sources of a longer recording are explained.
    """
    row_count = len(tape.record or ())
    # A tape with its own `explain` belongs to a patient of lesson 13, who is not explained before the first diagnosis.
    if row_count > MAX_EXPLAINED_ROWS or "explain" in vars(tape):
        return
    limit = max(1, min(MAX_EXPLAINED, MAX_EXPLAINED_ROWS // max(1, row_count)))
    sources = [source for source, _ in unexplained[:limit]]
    explanations = []
    with suppress(Exception):  # A failed explanation must not prevent the picture.
        # One call for all sources reads the recording only once.
        explanations = tape.explain(targets[0] if len(targets) == 1 else targets, sources)
    for explanation, (source, source_result) in zip(explanations, unexplained, strict=False):
        # A variable in a list, such as vs[1], has a name only in the explanation.
        source_result["name"] = source_result["name"] or explanation.name
        source_result["reason"], source_result["why"] = find_reason_and_blamed_line(explanation)
        own_rows = find_rows_in_recording(tape, source)[-1:] if explanation.cause in SOURCE_CAUSES else []
        source_result["blame"] = next(iter([*own_rows, *explanation._rows]), None)


def find_reason_and_blamed_line(explanation: Object) -> tuple[OptionalText, BlamedLine | None]:
    """Return the text of an explanation and the line that it blames.

    Args:
        explanation: The result of ``explain`` for one source.

    Returns:
        The message with the fix, and the line. Both are None if the gradient is neither None nor zero.
    """
    if explanation.connected and explanation.kind != "zero":
        return None, None
    return join_sentences(explanation.message, explanation.fix), {
        "file": explanation.filename,
        "line": explanation.line,
    }


class PythonNames:
    """The Python names of tensors and variables."""

    def __init__(self, namespaces: Namespaces):
        """Index the public names in the given dictionaries, using the first name of each object."""
        names_and_values = [*iter_public_names_and_values(namespaces)]
        self._by_id = {id(value): name for name, value in reversed(names_and_values)}

    def find_name(self, value: Object) -> OptionalText:
        """Return the name given to a variable or tensor, or else its Python name, or else None."""
        name = getattr(value, "name", None) if hasattr(value, "assign") else None
        if isinstance(name, str) and not name.split("/")[-1].startswith("Variable"):
            return shorten_name(name.removesuffix(":0"))
        return self._by_id.get(id(value))
