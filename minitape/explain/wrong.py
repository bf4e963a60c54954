"""A gradient that is there, and wrong.

A difference of a column and a row broadcasts to a table; a loss of logits was given probabilities; a variable was
changed by the gradient of another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..common.texts import paragraph
from ..engine.recording.evidence import Ref, origin_of, read
from ..engine.recording.rows import operation_of
from ..engine.recording.state import state
from ..recording.bodies import INTO, assigns, read_by
from ..recording.nodes import CodePlace, TapeNode, place_of_origin
from .caller import in_brackets, warn_user
from .sentences import fill
from .source_names import name_of

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.types import End, Graph
    from .inquiry import GradientInquiry

MOST = 20_000  # rows that are looked at
_COMPARE = ("subtract", "squared_difference")
_OF_LOGITS = {"softmax_cross_entropy": "softmax", "sparse_softmax_cross_entropy": "softmax"}
_SAME = ("identity", "reshape", "cast", "squeeze", "expand_dims")  # what changes no number
_PAIRS = (
    "Give each variable its own gradient: both lists in the same order, as in zip(tape.gradient(loss, "
    "variables), variables)."
)
_CHANGES = ("assign_sub", "assign_add")  # how optimizers change variables

Said = tuple[str, str]  # what is wrong, and what fixes it


def wrong(inquiry: GradientInquiry, source: End) -> Said:
    """What is wrong with a gradient that is there, and what fixes it; empty where nothing is known to be."""
    if inquiry.wrong_rows is None:  # it is the same for all sources
        inquiry.wrong_rows = _of_rows(inquiry) or ("", "")
    return _mispaired(inquiry, source) or inquiry.wrong_rows


def _at(place: CodePlace | None) -> str:
    return "" if place is None else in_brackets(place.filename, place.line)


# -- of the path to the target ----------------------------------------------------------------------


def _of_rows(inquiry: GradientInquiry) -> Said | None:
    """A table in place of a difference, or probabilities in place of logits."""
    record = inquiry.record
    if len(record) > MOST:
        return None
    for node in _nodes(inquiry, record):
        found = _spread(inquiry, node) or _twice(inquiry, node)
        if found is not None:
            return found
    return None


def _nodes(inquiry: GradientInquiry, record: Record) -> Iterator[TapeNode]:
    """The rows on the path to the target, and those of the functions, loops and branches that ran there."""
    live, trace = inquiry.live, inquiry.trace
    for row in range(len(record)):
        if live[row]:
            node = trace.of_row(record, row)
            yield node
            if trace.label(node) in INTO:
                yield from (one for one in trace.ancestors([node]).values() if one.caller is not None)


def _spread(inquiry: GradientInquiry, node: TapeNode) -> Said | None:
    """Where a column of predictions was compared with a row of labels."""
    record = node.record
    name, inputs = ("", ()) if record is None else _operation(record, node.row)
    if record is None or name not in _COMPARE or len(inputs) != 2:
        return None
    shapes = [tuple(record.shape_dtype(r)[0]) for r in inputs]
    if not (column_and_row(*shapes) or column_and_row(*shapes[::-1])):
        return None
    count = max(shapes[0])
    return (
        fill(
            "It may not be what you want, though: shapes {one} and {other} broadcast to ({n}, {n}){line}, so that "
            "each value is compared with "
            "all the others.",
            one=shapes[0],
            other=shapes[1],
            n=count,
            line=_at(inquiry.trace.place(node)),
        ),
        fill("Give both the same shape: tf.squeeze(predictions, -1), or labels[:, tf.newaxis]."),
    )


def column_and_row(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether these are the shapes (N, 1) and (N,) of as many numbers.

    >>> column_and_row((8, 1), (8,)), column_and_row((8, 1), (1, 8)), column_and_row((1, 1), (1,))
    (True, False, False)
    """
    return len(second) == 1 and second[0] is not None and second[0] > 1 and first == (second[0], 1)


def _twice(inquiry: GradientInquiry, node: TapeNode) -> Said | None:
    """Where a loss that applies a softmax or a sigmoid itself was given the result of one."""
    record, row = node.record, node.row
    if record is None:
        return None
    name, inputs = _operation(record, row)
    wanted = _OF_LOGITS.get(name, "")
    made = inputs[0] if wanted else row
    if name == "select" and _operation(record, inputs[0])[0] == "greater_equal":
        made = inputs[1]
        if _operation(record, inputs[0])[1] == (made, inputs[2]) and _operation(record, inputs[2]) == (
            "zeros_like",
            (made,),
        ):
            wanted = "sigmoid"  # the first step of the cross-entropy: else no program compares a sigmoid with 0
    while wanted and (found := _operation(record, made))[0] in _SAME:
        made = found[1][0]
    if not wanted or _operation(record, made)[0] != wanted:
        return None
    places = [inquiry.trace.place(inquiry.trace.node_at(node, r)) for r in (row, made)]
    return (
        fill(
            "It is smaller than it should be, though: the loss{line} expects logits and applies a {name} itself, but "
            "its input went "
            "through a {name} already{earlier}.",
            line=_at(places[0]),
            earlier=_at(places[1]),
            name=wanted,
        ),
        fill(
            "Leave the {name} out of the model, or take a loss of probabilities, such as one of tf.keras.losses with "
            "from_logits=False.",
            name=wanted,
        ),
    )


def _operation(record: Record, row: int) -> tuple[str, tuple[int, ...]]:
    """The name and the input rows of an operation; empty for a leaf."""
    primitive, inputs = operation_of(record, row)
    return ("", ()) if primitive is None else (primitive.name, tuple(inputs))


# -- after the gradient ----------------------------------------------------------------------------


def _mispaired(inquiry: GradientInquiry, source: End) -> Said | None:
    """Where a variable was changed by the gradient of another one, although this tape gave its own as well."""
    asked = [*inquiry.tape.questions, *filter(None, [inquiry.tape.last])]
    if not any(source is one for question in asked for one in question.sources):
        return None  # workers compute gradients that are applied to a model of which they ask nothing
    changed = _changed_by_others(source, inquiry.record if hasattr(inquiry.record, "gradients") else None)
    if changed is None:
        return None
    place, found = changed
    others = fill(" and ").join(dict.fromkeys(name_of(one, inquiry) for one in found))
    return fill(
        "But {x} was changed by the gradient of {others}{line}.",
        x=name_of(source, inquiry),
        others=others,
        line=_at(place),
    ), fill(_PAIRS)


def _changed_by_others(variable: End, graph: Graph | None) -> tuple[CodePlace | None, list[End]] | None:
    """Where a variable was changed last, and the sources of the gradients in it; None where its own is among them, or
    none.
    """
    found: list[End] = []
    if graph is not None:  # of a tf.function: in it the variable is changed when it is called
        of_it = [c for c in graph.calls if c.primitive.name in _CHANGES and c.attrs.get("variable") is variable]
        site = graph.site_of(of_it[-1].row) if of_it else None
        place = None if site is None else CodePlace((site,))
        found = _gradients_of_rows(graph, of_it[-1].inputs) if of_it else []
    else:
        held = getattr(variable, "_state", None)
        change = None if held is None else origin_of(held)
        if change is None or change.kind not in _CHANGES or not change.inputs:
            return None
        place = place_of_origin(change)
        found = _gradients_in(change.inputs[0])
    return (place, found) if found and not any(one is variable for one in found) else None


def _gradients_of_rows(graph: Graph, rows: Iterable[int]) -> list[End]:
    """The sources whose gradients some rows of a graph were computed from, as far as they live."""
    found: list[End] = []
    waiting, seen = list(rows), set()
    while waiting:
        row = waiting.pop()
        if row in seen:
            continue
        seen.add(row)
        if row in graph.gradients:
            found += [source for one in graph.gradients[row] if (source := one()) is not None]
        else:
            variable = read_by(graph, row)  # such as an optimizer's momentum, in which it stored the gradient
            stored = [call for call, _ in assigns(graph, variable, row)] if variable is not None else []
            waiting += stored[-1].inputs if stored else _operation(graph, row)[1]
    return found


def _gradients_in(value: Ref) -> list[End]:
    """The sources whose gradients a value was computed from, as far as they live."""
    found: list[End] = []
    waiting, seen = [value], set()
    while waiting:
        ref = waiting.pop()
        tensor = ref.tensor()
        one = read(ref.origin) if tensor is None else origin_of(tensor)
        if one is None or (one.when, id(one.detail)) in seen:  # the gradients of one call have one time
            continue
        seen.add((one.when, id(one.detail)))
        if one.kind == "gradient":
            source = None if one.detail is None else one.detail()
            found += [] if source is None else [source]
        else:
            waiting += one.inputs
    return found


def warn_of_step(variables: Sequence[End]) -> None:
    """Warns of the variables of one step of an optimizer that the gradients of others among them have changed."""
    plain = [v._gradient_leaf() if hasattr(v, "_gradient_leaf") else v for v in variables]
    for variable in plain:
        changed = _changed_by_others(variable, state.graph)
        if changed is not None and all(any(one is v for v in plain) for one in changed[1]):
            others = fill(" and ").join(name_of(one, None) for one in changed[1])
            warn_user(
                paragraph(
                    fill("{x} was changed by the gradient of {others}.", x=name_of(variable, None), others=others),
                    fill(_PAIRS),
                )
            )
            return  # once for a step
