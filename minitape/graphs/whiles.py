"""``while_loop``: Python's own loop in eager mode; in a graph one operation that holds the condition and the body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import nest
from ..engine.values import dtypes
from ..engine.values.shape import TensorShape
from .body import GraphBody, share_captures, trace_body
from .control import refuse_number
from .primitive import GraphPrimitive, write_notes
from .program import one_statement, pinned, turn
from .spec import TensorSpec
from .symbolic import is_symbolic
from .values import current

if TYPE_CHECKING:
    from ..engine.types import Array, Attributes, Function, Value
    from .types import Tensors, Test

# -- the operation ---------------------------------------------------------------------------------


TRIED = 1000  # turns of a loop on stand-ins of its values: on zeros, say, it may never end
GIVEN = "an input"  # the limit where only a run of the graph knows it: behind the loop's values


def _while(test: Test, step: Function, values: list, captured: Tensors, limit: int | None) -> list:
    turns = 0
    while (limit is None or turns < limit) and test([*values, *captured]):
        if state.trying and turns == TRIED:
            raise RuntimeError(f"a loop on stand-ins did not end after {TRIED} turns")
        turns += 1
        values = list(turn(step, turns, [*values, *captured]))
    return values


def _split_inputs(inputs: Tensors, count: int, limit: Value) -> tuple[list, list, int | None]:
    """The loop's values, what its bodies captured, and the most turns."""
    captured = list(inputs[count:])
    return list(inputs[:count]), captured, int(captured.pop(0)) if limit == GIVEN else limit


def _while_forward(*arrays: Array, test: GraphBody, body: GraphBody, count: int, limit: Value) -> tuple:
    return tuple(_while(lambda a: bool(test.run(a)[0]), body.run, *_split_inputs(arrays, count, limit)))


def _while_noting(*arrays: Array, test: GraphBody, body: GraphBody, count: int, limit: Value) -> tuple:
    notes = []

    def step(values: Tensors) -> Any:
        found, note = body.run_noting(values)
        notes.append(note)
        return found

    found = _while(lambda a: bool(test.run(a)[0]), step, *_split_inputs(arrays, count, limit))
    return (*found, write_notes(notes))


def _while_eager(tensors: Tensors, attrs: Attributes) -> list:
    test, body = attrs["test"], attrs["body"]
    values, captured, limit = _split_inputs(tensors, attrs["count"], attrs["limit"])
    if "notes" in attrs:  # as many turns as it took
        for number, note in enumerate(attrs["notes"], 1):
            values = list(turn(body.replay, number, [*values, *captured], note))
        return [*values, new_tensor(write_notes(attrs["notes"]))]
    run = _test_again(test)
    with one_statement(), pinned():
        return _while(run, body.replay, values, captured, limit)


def _test_again(test: GraphBody) -> Function:
    """The test of a loop that runs again for its gradient: variables hold what they held before it."""
    if not any(c.primitive.op == "ReadVariableOp" for c in test.graph.calls):
        return lambda tensors: bool(test.run([t.array for t in tensors])[0])




def _while_infer(tensors: Tensors, attrs: Attributes) -> list:
    body = attrs["body"]
    return [(t.shape, t.dtype) for t in body.inputs]




def _declare(pure: str, noted: str, eager: Any, rules: Any, connects: Any = None) -> dict[bool, GraphPrimitive]:
    """The primitives of a loop without effects and of one with effects."""
    return {
        noting is not None: GraphPrimitive(
            "while",
            op,
            _while_infer,
            forward=_while_forward,
            noting=noting,
            eager=eager,
            rules=rules,
            connects=connects,
        )
        for op, noting in ((pure, None), (noted, _while_noting))
    }


WHILE = _declare("StatelessWhile", "While", _while_eager, "replay")
# each turn makes its own element: what none of them depends on has no gradient, where other loops give zeros


def build_while(test: GraphBody, body: GraphBody, values: Tensors, limit: Value, kinds: Any = WHILE) -> list:
    """Adds the operation that runs a loop; ``limit`` is what ``as_limit`` gives."""
    captured = share_captures([test, body])
    stateful = bool(test.effects or body.effects)
    given = [limit] if isinstance(limit, Tensor) else []
    attrs = {"test": test, "body": body, "count": len(values), "limit": GIVEN if given else limit}
    found = list(state.graph.apply(kinds[stateful], (*values, *given, *captured), attrs))
    return found[:-1] if stateful else found


def as_limit(maximum: Any) -> Any:
    """The most turns: a number, None, or a tensor where only a run of the graph knows it; ValueError unless scalar."""
    if maximum is None:
        return None
    tensor = convert_to_tensor(maximum)
    if tensor.shape.rank:
        raise ValueError(f"'maximum_iterations' must be a scalar. Received shape: {tensor.shape}")
    return tensor if is_symbolic(tensor) else int(tensor.array)


# -- while_loop ------------------------------------------------------------------------------------


def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Repeats ``loop_vars = body(*loop_vars)`` while ``cond(*loop_vars)`` is true; returns the last ones.

    ``parallel_iterations`` and ``swap_memory`` are accepted and have nothing to do. In a graph the shapes and dtypes of
    the loop variables must not change, except for sizes that ``shape_invariants`` leave open. Gradients flow through
    all turns (in a graph with ``back_prop=False`` through none). See
    https://www.tensorflow.org/api_docs/python/tf/while_loop.

    >>> import minitape as tf
    >>> i, s = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + i), [tf.constant(0), tf.constant(0)])
    >>> print(i.numpy(), s.numpy())
    4 6
    """
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    for label, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"'{label}' must be callable.")
    limit = as_limit(maximum_iterations)
    variables = loop_vars if isinstance(loop_vars, (list, tuple)) else list(loop_vars)
    if state.graph is None:
        return _in_python(cond, body, variables, limit)
    found = while_graph(cond, body, list(variables), shape_invariants, limit)
    return passing(tuple(found) if type(variables) is tuple else found, back_prop)


def passing(found: Any, back_prop: bool) -> Any:
    """The results of a loop; in a graph no gradient passes them without ``back_prop``. Eagerly it always does."""
    if back_prop or state.graph is None:
        return found
    return nest.map_structure(lambda t: TABLE["stop_gradient"](t) if isinstance(t, Tensor) else t, found)


# -- outside of graphs -----------------------------------------------------------------------------


def _in_python(test: Test, body: Any, values: Any, limit: int | None) -> Any:
    if limit is not None:  # counted by a loop around: its body returns them in their structure
        return _in_python(
            lambda i, v: i < limit and convert_to_tensor(test(*v), dtypes.bool),
            lambda i, v: (i + 1, body(*v)),
            (0, values),
            None,
        )[1]
    structure = nest.map_structure(_spec_of, list(values))
    while bool(test(*values)):
        values = body(*values)
        nest.assert_same_structure(structure, list(values))
    return nest.map_structure(lambda value: convert_to_tensor(value), values)


def _spec_of(value: Value) -> Any:
    """The type of a loop variable; composite ones stand for themselves."""
    tensor = convert_to_tensor(value)
    return TensorSpec(tensor.shape, tensor.dtype)


# -- in a graph ------------------------------------------------------------------------------------


def while_graph(
    test: Test, body: Any, variables: list, invariants: Any = None, limit: Value = None, kinds: Any = WHILE
) -> Any:
    """``while_loop`` in a graph."""
    variables = nest.map_structure(current, variables)
    values = [convert_to_tensor(v) for v in nest.flatten(variables)]
    specs = [(shape, t.dtype) for shape, t in zip(_loop_shapes(variables, invariants), values, strict=True)]
    latest: list = []

    def given(tensors: Tensors) -> Any:
        return nest.pack_sequence_as(variables, list(tensors))

    def step(*tensors: Any) -> Any:
        new = body(*given(tensors))
        new = list(new) if isinstance(new, (list, tuple)) else [new]
        nest.assert_same_structure(new, list(variables), check_types=False)
        latest[:] = nest.flatten(new)
        return nest.flatten(new)

    traced = trace_body(step, specs, scope="while" if state.graph.is_function() else "")
    check = trace_body(lambda *tensors: convert_to_tensor(test(*given(tensors))), specs)
    refuse_number(
        check.outputs[0], "input", "while/LoopCond/_8' using Op<name=LoopCond; signature=input:bool -> output:bool>"
    )
    if len(traced.outputs) != len(specs):  # TensorFlow counts two numbers of its own with them
        raise AssertionError(f"body_graph has {len(traced.outputs) + 2} outputs; Expected: {len(specs) + 2}")
    for value, before, after in zip(values, specs, traced.outputs, strict=True):
        _check_kept(value, before, after)
    return nest.pack_sequence_as(variables, list(build_while(check, traced, values, limit, kinds)))


def _loop_shapes(variables: Any, invariants: Any) -> list[TensorShape]:
    """The shape that each tensor of the loop variables keeps in all turns."""
    if invariants is None:
        return own_shapes(variables)
    nest.assert_same_structure(variables, invariants, check_types=False)
    pairs = zip(nest.flatten(variables), nest.flatten(invariants), strict=True)
    return [shape for pair in pairs for shape in kept_shapes(*pair)]


def own_shapes(value: Value) -> list[TensorShape]:
    """The static shapes that the tensors of a value keep by themselves."""
    return [shape for leaf in nest.flatten(value) for shape in kept_shapes(leaf)]


def kept_shapes(value: Value, invariant: Any = None) -> list[TensorShape]:
    """The shapes that the tensors of a loop variable keep: their own, or those that ``invariant`` allows.

    TypeError for an invariant that is neither a shape nor a type.
    """
    shape = None if invariant is None else TensorShape(getattr(invariant, "shape", invariant))
    return [convert_to_tensor(value).shape if shape is None else shape]


def _check_kept(value: Value, before: tuple[TensorShape, Any], after: Any) -> None:
    """TypeError or ValueError for a loop variable whose dtype or shape is another after a turn."""
    name = state.graph.tensor_at(state.graph.row_or_new_leaf(value)).name
    if before[1] != after.dtype:
        raise TypeError(
            f"Loop var {name} enters the loop with type {before[1]} but has type {after.dtype} after 1 iteration. "
            f"{name} type should remain constant."
        )
    if not after.shape.is_subtype_of(before[0]):
        raise ValueError(
            f"Input tensor `{name}` enters the loop with shape {before[0]}, but has shape {after.shape} after one "
            "iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of "
            "tf.while_loop to specify a less-specific shape."
        )
