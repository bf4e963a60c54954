"""Running a graph: its rows are applied to arrays, or replayed as eager operations, or copied into another graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from sys import _getframe
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..engine.recording.block import During
from ..engine.recording.frames import user_frame
from ..engine.recording.rows import FLOATS
from ..engine.recording.state import state
from ..engine.table.accelerator import fast
from ..engine.table.fp import OFF, WARNINGS, restore_fp_errors
from ..engine.tensor.functions import recorded_functions
from ..engine.tensor.operation import CHECKS
from ..engine.tensor.tensor import new_tensor
from ..engine.values import errors
from ..engine.values.invalid import shape_text
from ..ops.picking import check_gather, check_gather_nd
from . import failures
from .primitive import run_eagerly

if TYPE_CHECKING:
    from ..engine.recording.rows import Call
    from ..engine.tensor.tensor import Tensor
    from ..engine.types import Array, Attributes, Function
    from .body import GraphBody
    from .build import Graph
    from .types import Notes, Steps, Tensors

OFTEN = 64  # runs after which a program is fused when numba is loaded already
ONCE_MORE = 512  # ... and when it must be loaded for it


@fast.instead
class Rows:
    """The needed rows of a graph, applied one after the other: ``function`` takes the arrays of the fed rows and gives
    those of the fetched ones. ``speed/`` compiles them, see :class:`minitape.speed.programs.CompiledRows`.
    """

    warns = True  # whether NumPy's warnings can come of it

    def __init__(
        self,
        graph: Graph,
        calls: Sequence[Call],
        constants: dict[int, Array],
        fetches: Sequence[int],
        feeds: Sequence[int],
        runner: Callable[[Call], Function],
    ) -> None:
        self.steps = [(call, runner(call), graph.op_of[call.row].count) for call in calls]
        self.tuples, self.constants, self.fetches, self.feeds = graph.tuples, constants, fetches, feeds

    def function(self, *arrays: Array) -> tuple[Array, ...]:
        values = self.constants | dict(zip(self.feeds, arrays, strict=True))
        for call, run, count in self.steps:
            found = run(*[values[row] for row in call.inputs])
            if call.row in self.tuples or call.outputs > 1:
                values.update(enumerate(found if count else (), call.row))
            else:
                values[call.row] = found
        return tuple([values[row] for row in self.fetches])


    def failed(self, trace: TracebackType) -> tuple[Call, Callable[[int], Array]] | None:
        """The call that ran in a frame of the function, and what finds the array of a row there."""
        if trace.tb_frame.f_code is not type(self).function.__code__ or "call" not in trace.tb_frame.f_locals:
            return None
        return trace.tb_frame.f_locals["call"], trace.tb_frame.f_locals["values"].get


class Program:
    """The rows that some fetches need: ``run(arrays of the fed rows) -> arrays of the fetched rows``.

    ``effects`` are calls that run in any case. A placeholder that is needed and not fed raises InvalidArgumentError.
    """

    def __init__(
        self, graph: Graph, fetches: Sequence[int], feeds: Sequence[int], effects: Iterable[Call] = ()
    ) -> None:
        self.graph, self.runs, self.next = graph, 0, OFTEN
        folds = not any(graph.folded.get(row) is not None for row in feeds)  # else a constant itself is fed
        calls, leaves = find_needed(graph, fetches, feeds, effects, folds)
        constants = {
            row: value_of_leaf(graph, row).array if row in graph.leaves else graph.folded[row] for row in leaves
        }
        self.rows = Rows(graph, calls, constants, list(fetches), list(feeds), runner)

    def run(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Computes the fetches."""
        rows = self.rows
        self.runs += 1
        if self.runs == self.next:
            self.next = 0 if rows.fuse(self.runs) else ONCE_MORE
        if not rows.warns:  # compiled as a whole
            return rows.function(*arrays)
        before = WARNINGS[OFF]
        try:
            return rows.function(*arrays)
        except Exception as error:
            raise failures.explain(self.graph, rows, error) from error
        finally:
            restore_fp_errors(before)


# checks of values that the eager functions make before they run their primitive
GUARDS: dict[str, Callable[..., None]] = {"GatherV2": check_gather, "GatherNd": check_gather_nd}


def _guard(forward: Function, guard: Function) -> Function:
    def run(*arrays: Array, **attrs: Any) -> Any:
        guard(*arrays, **attrs)
        return forward(*arrays, **attrs)

    return run


def runner(call: Call, notes: bool = True) -> Function:
    """The function on arrays that one call runs; without ``notes`` it keeps none of what its effects give."""
    primitive: Any = call.primitive
    attrs = call.attrs
    forward = primitive.forward if notes or not getattr(primitive, "noted", False) else primitive.unnoted
    if primitive.op in GUARDS:
        forward = _guard(forward, GUARDS[primitive.op])
    check = CHECKS.get(primitive.op)
    if check is not None and len(call.inputs) == 2:
        forward = _guard(
            forward, lambda x, y, **_: y.dtype.kind in "iu" and check(primitive, new_tensor(x), new_tensor(y))
        )
    return partial(forward, **attrs) if attrs else forward


def find_needed(
    graph: Graph, fetches: Sequence[int], feeds: Sequence[int], effects: Iterable[Call], folds: bool = False
) -> tuple[list[Call], list[int]]:
    """The calls (in order) and the leaves that the fetches and effects depend on, down to the fed rows.

    With ``folds`` a call whose value is settled by constants counts as a leaf.
    """
    fed, seen, leaves = set(feeds), set(), []
    calls: dict[int, Call] = {}
    stack = [*fetches, *(call.row for call in effects)]
    while stack:
        row = stack.pop()
        if row in seen or row in fed:
            continue
        seen.add(row)
        call = graph.call_at(row)
        made = graph.op_of.get(row if call is None else call.row)
        stack += [c.row for c in made._control] if made is not None else []  # also before what constants settle
        if call is None or (folds and graph.folded.get(row) is not None):
            leaves.append(row)
        elif call.row not in calls:
            calls[call.row] = call
            stack += call.inputs
    return [calls[row] for row in sorted(calls)], leaves


def value_of_leaf(graph: Graph, row: int) -> Tensor:
    """The tensor of a constant; InvalidArgumentError for a placeholder, which has none."""
    known = graph.leaves[row].tensor
    if known is not None:
        return known
    tensor = graph.tensors[row]
    shape = "" if tensor.shape.rank is None else f" and shape {shape_text(tensor.shape)}"
    detail = (
        f"You must feed a value for placeholder tensor '{tensor.op.name}' with dtype {tensor.dtype.kernel_name}{shape}"
    )
    raise errors.InvalidArgumentError(None, tensor.op, failures.with_location(graph, tensor.op, detail))


_UNSEEN = nullcontext()  # around what runs without an observer


def replay(graph: Graph, fetches: Sequence[int], known: dict[int, Any], notes: Notes | None = None) -> list:
    """Runs the needed rows as eager operations, so that open tapes record them; ``known`` maps rows to tensors.

    ``notes`` are the arrays that rows with effects gave when the graph ran: they are not run again.
    """
    steps, constants = _needed_again(graph, tuple(fetches), tuple(known))
    values = constants | known
    with one_statement(), pinned():
        for call, function in steps:
            with statement(graph, call.row):
                if function is not None:
                    values[call.row] = function(*[values[row] for row in call.inputs])
                else:
                    replay_call(graph, call, values, notes)
    return [values[row] for row in fetches]


def _needed_again(graph: Graph, fetches: tuple[int, ...], known: tuple[int, ...]) -> tuple[Steps, dict[int, Tensor]]:
    """The calls that are needed and the constants, as they were found before: the body of a loop is replayed once for
    each turn. A line of the table of derivatives comes with its function.
    """
    found = graph.replays.get((fetches, known))
    if found is None or found[0] != len(graph.calls):
        calls, leaves = find_needed(graph, fetches, known, ())
        steps = [(call, _function_of(graph, call)) for call in calls]
        constants = {row: value_of_leaf(graph, row) for row in leaves}
        found = graph.replays[fetches, known] = len(graph.calls), (steps, constants)
    return found[1]


def _function_of(graph: Graph, call: Call) -> Function | None:
    """What computes and records a call on floats of one type; None for other calls."""
    kinds = {graph.shape_dtypes[row][1] for row in (call.row, *call.inputs)}
    floats = len(kinds) == 1 and kinds <= FLOATS
    return recorded_functions().get(call.primitive.name) if call.primitive.code and floats else None


def one_statement() -> AbstractContextManager[None]:
    """All rows belong to the user's statement that called: no code looks for it at each of them."""
    if state.site is not None or (frame := user_frame(_getframe(1))) is None:
        return _UNSEEN
    return During(state, site=(frame.f_code, frame.f_lasti))


def pinned() -> AbstractContextManager[None]:
    """The recording knows the one statement, where its rows have no places of their own."""
    record: Any = state.record
    if state.site is None or state.within or record is None or not record.eager or record.fixed is not None:
        return _UNSEEN
    record.begin_segment(*state.site)
    record.frame = None
    return During(record, fixed=state.site[1])


def replay_call(graph: Graph, call: Call, values: dict[int, Any], notes: Notes | None = None) -> None:
    """Runs one call eagerly and puts its results into ``values``."""
    primitive = call.primitive
    tensors = [values[r] for r in call.inputs]
    special = getattr(primitive, "replayed", None)
    if special is not None:
        outs = special(graph, call, values)
    else:
        outs = run_eagerly(primitive, call.attrs, tensors)
    for index, out in enumerate(outs):
        values.setdefault(call.row + index, out)




# scopes of the graph that turns and branches stand for
_STRUCTURE = re.compile(r"(while|cond|switch_case|case)(_\d+)?").fullmatch


def turn(step: Function, number: int, *given: Tensors) -> Tensors:
    """A turn of a loop, counted from 1: its rows are in a scope of that name."""
    if not state.within:
        return step(*given)
    with During(state, scope=(*state.scope, f"turn {number}")):
        return step(*given)


def branch(taken: GraphBody, bodies: Sequence[GraphBody], decides: Tensor) -> AbstractContextManager[None]:
    """The rows in the block are in a scope named after the branch: of a condition ``then`` or ``else``, else its
    number.
    """
    if not state.within:
        return _UNSEEN
    number = bodies.index(taken)
    name = ("then", "else")[number] if decides.dtype.kind == "b" else f"branch {number}"
    return During(state, scope=(*state.scope, name))


def statement(graph: Graph, row: int) -> AbstractContextManager[None]:
    """What runs in the block belongs to the statement of a graph's row, and to the scopes in which it was traced."""
    if not state.within:
        return _UNSEEN
    op = graph.op_of.get(row)
    # a read has the name of its variable, which is not where it is
    path = [] if op is None or op.type == "ReadVariableOp" else op.name.split("/")[:-1]
    own = [part for part in path if not _STRUCTURE(part)]
    scope = {"scope": (*state.scope, *own)} if own else {}
    return During(state, site=graph.site_of(row) or state.site, **scope)


def inline(source: Graph, target: Graph, fetches: list[int], rows: dict[int, int], effects: Sequence[Call]) -> None:
    """Copies the rows that the fetches and effects need into another graph; ``rows`` maps old numbers to new ones."""
    calls, leaves = find_needed(source, fetches, list(rows), effects)
    for row in leaves:
        rows[row] = target.row_or_new_leaf(source.leaves[row].tensor)
    for call in calls:
        if call.primitive.op == "ReadVariableOp":
            rows[call.row] = target.row_or_new_leaf(target.read(call.attrs["variable"]))
            continue
        inputs = tuple(rows[r] for r in call.inputs)
        op = source.op_of[call.row]
        outputs = [(t.shape, t.dtype) for t in op.outputs]
        # a copy has the site of the original
        with During(state, site=source.site_of(call.row) or state.site):
            made = target.call_row(
                call.primitive, inputs, _copy_attrs(source, call, rows), outputs, op.name.rsplit("/", 1)[-1]
            )
        new = target.calls[-1]
        if call.row in source.tuples:
            target.tuples.add(new.row)
        target.op_of[new.row].gradient = op.gradient or target.op_of[new.row].gradient
        for i, tensor in enumerate(made):
            rows[call.row + i] = tensor._row


def _copy_attrs(source: Graph, call: Call, rows: dict[int, int]) -> Attributes:
    """The attributes of a copied row: a random operation has a stretch of numbers of its own."""
    attrs, special = call.attrs, getattr(call.primitive, "copied", None)
    if special is not None:
        return special(source, call, rows)
    copied = getattr(attrs.get("function"), "copy_for_graph", None)
    return attrs if copied is None else attrs | {"function": copied()}
