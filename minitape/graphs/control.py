"""``cond``, ``while_loop`` and their kin: control flow that depends on the values of tensors.

In eager mode they are Python's own ``if`` and ``while``. In a graph each is one operation that holds its branches as
bodies; its derivative runs the taken way again under a tape (:mod:`minitape.graphs.primitive`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes, nest
from ..convert import convert_to_tensor
from ..custom import unrecorded
from ..errors import InvalidArgumentError
from ..evidence import planned
from ..invalid import invalid
from ..shape import TensorShape
from ..state import state
from ..tensor import Tensor, wrap
from .body import Body, share_captures, trace_body
from .primitive import NOTES, GraphPrimitive, write_notes
from .refusals import brackets
from .symbolic import SymbolicTensor

# -- cond -------------------------------------------------------------------------------------------------------------


def _branch(index: Any, bodies: Sequence[Body]) -> Body:
    if index.ndim:  # one number may have axes
        if np.size(index) != 1:
            shape = brackets(TensorShape(np.shape(index)))
            raise invalid(f"The second input must be a scalar, but it has shape {shape}", "Switch")
        index = index.reshape(())
    at = int(index)
    return bodies[at] if 0 <= at < len(bodies) else bodies[-1]


def _case_forward(index: Any, *arrays: Any, bodies: Sequence[Body]) -> tuple[Any, ...]:
    return _branch(index, bodies).run(arrays)


def _case_noting(index: Any, *arrays: Any, bodies: Sequence[Body]) -> tuple[Any, ...]:
    found, notes = _branch(index, bodies).run_noting(arrays)
    return (*found, write_notes(notes))


def _case_eager(tensors: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    notes = attrs.get("notes")
    found = _branch(tensors[0].array, attrs["bodies"]).replay(tensors[1:], notes)
    return found if notes is None else [*found, wrap(write_notes(notes))]


def _case_infer(tensors: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    columns = zip(*[b.specs() for b in attrs["bodies"]], strict=True)
    specs = []
    for column in columns:
        shape = column[0][0]
        for other, _ in column[1:]:
            shape = shape.most_specific_compatible_shape(other)
        specs.append((shape, column[0][1]))
    return specs


def _case_connects(attrs: dict[str, Any], at: int) -> bool:
    return at > 0 and any(b.connects(at - 1) for b in attrs["bodies"])


def _case_primitive(stateful: bool, name: str) -> GraphPrimitive:
    if stateful:
        return GraphPrimitive("case", name, lambda tensors, attrs: [*_case_infer(tensors, attrs), NOTES],
                              forward=_case_noting, eager=_case_eager, stateful=True, connects=_case_connects,
                              unnoted=lambda *arrays, **attrs: (*_case_forward(*arrays, **attrs), None))  # fmt: skip
    return GraphPrimitive("case", name, _case_infer, forward=_case_forward, eager=_case_eager, connects=_case_connects)


CASE = {(True, "cond"): _case_primitive(True, "If"), (False, "cond"): _case_primitive(False, "StatelessIf"),
        (True, "switch_case"): _case_primitive(True, "Case"),
        (False, "switch_case"): _case_primitive(False, "StatelessCase")}  # fmt: skip


def build_case(index: Any, bodies: list[Body], name: str) -> list[Any]:
    """Adds the operation that runs one of the bodies."""
    captured = share_captures(bodies)
    stateful = any(b.effects for b in bodies)
    found = list(state.graph.apply(CASE[stateful, name], (index, *captured), {"bodies": tuple(bodies)}))
    return found[:-1] if stateful else found


def is_symbolic_value(value: Any) -> bool:
    """True for a symbolic tensor whose value is not settled by constants."""
    return isinstance(value, SymbolicTensor)


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Calls ``true_fn`` if ``pred`` is true, else ``false_fn``, and returns what it returns.

    In a graph both are traced, must return the same structure of tensors of the same dtypes, and one of them runs.
    Gradients flow through the taken branch. TypeError when a function is missing or not callable, ValueError when the
    results do not match. See https://www.tensorflow.org/api_docs/python/tf/cond.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> print(tf.cond(x > 2.0, lambda: x * x, lambda: -x).numpy())
    9.0
    """
    for label, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{label}' argument required")
        if not callable(function):
            raise TypeError(f"'{label}' must be callable.")
    if hasattr(pred, "_read"):
        pred = pred._read()
    if state.graph is not None and not isinstance(pred, Tensor):
        raise TypeError("pred must not be a Python bool", pred)
    if not is_symbolic_value(pred):
        return true_fn() if bool(pred) else false_fn()
    return cond_graph(pred, true_fn, false_fn)


def cond_graph(pred: Any, true_fn: Callable[[], Any] | Body, false_fn: Callable[[], Any] | Body) -> Any:
    """``cond`` on a symbolic tensor, of functions or of what was traced of them."""
    then, orelse = [f if isinstance(f, Body) else trace_body(f, ()) for f in (true_fn, false_fn)]
    counts = [len(then.flat), len(orelse.flat)]
    if counts[0] != counts[1]:
        raise AssertionError(counts)
    first, second = _as_outputs(then), _as_outputs(orelse)
    try:
        nest.assert_same_structure(first, second)
    except (TypeError, ValueError) as error:
        raise _unlike_branches(first, second, error) from None
    for a, b in zip(nest.flatten(first), nest.flatten(second), strict=True):
        if (a is None) != (b is None) or (a is not None and a.dtype != b.dtype):
            raise _unlike_branches(a, b, f"{a} and {b} have different types")
    index = _not(pred)
    found = build_case(index, [then, orelse], "cond")
    refuse_number(pred)
    return _packed(then, found)


def refuse_number(pred: Any) -> None:
    """InvalidArgumentError for a predicate that is no bool, which TensorFlow finds when the graph runs."""
    if pred.dtype.kind != "b":
        raise InvalidArgumentError(
            None, None, f"Input 'pred' passed {pred.dtype.kernel_name} expected bool while building NodeDef "
            "'cond/switch_pred/_2' using Op<name=Switch; signature=data:T, pred:bool -> output_false:T, output_true:T; "
            "attr=T:type>")  # fmt: skip


class _Output:
    """A result of a branch as error messages show it: the identity behind it."""

    def __init__(self, tensor: Any, number: int) -> None:
        self.name = f"{state.graph.unique_name('cond', False)}/Identity{f'_{number}' if number else ''}:0"
        self.shape, self.dtype = tensor.shape, tensor.dtype

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


def _as_outputs(body: Body) -> Any:
    numbers = itertools.count()
    return nest.pack_sequence_as(
        body.result, [None if t is None else _Output(t, next(numbers)) for t in body.flat]
    )


def _unlike_branches(first: Any, second: Any, details: Any) -> TypeError:
    return TypeError(
        "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return "
        f"values.\n\ntrue_fn output: {first}\nfalse_fn output: {second}\n\nError details:\n{details}"
    )


def _not(pred: Any) -> Any:
    """0 where true, 1 where false: the number of the branch."""
    from ..primitives import TABLE

    if pred.dtype.kind != "b":
        pred = TABLE["cast"](pred, dtype=dtypes.bool) if pred.dtype.kind != "s" else wrap(np.bool_(False))
    return TABLE["logical_not"](pred)


def _packed(body: Body, found: list[Any]) -> Any:
    values = iter(found)
    return nest.pack_sequence_as(body.result, [None if t is None else next(values) for t in body.flat])


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    """Calls the function whose number is ``branch_index``, or ``default`` (the last one) when there is none.

    ``branch_fns`` is a list, a dict of number -> function, or a list of such pairs. See
    https://www.tensorflow.org/api_docs/python/tf/switch_case.

    >>> import minitape as tf
    >>> tf.switch_case(tf.constant(1), [lambda: "a", lambda: "b"])
    'b'
    """
    functions = _functions_by_number(branch_index, branch_fns)
    default = default or functions[max(functions)]
    index = convert_to_tensor(branch_index)
    if index.shape.rank:
        raise invalid("'then' must be at least a vector, but saw shape: []", "Select")
    if not is_symbolic_value(index):
        planned(index)
        return functions.get(int(index.array), default)()
    count = max(functions) + 1
    bodies = [trace_body(functions.get(i, default), ()) for i in range(count)] + [trace_body(default, ())]
    return _packed(bodies[0], build_case(index, bodies, "switch_case"))


def _functions_by_number(branch_index: Any, branch_fns: Any) -> dict[int, Any]:
    """The functions of ``switch_case`` after the checks that TensorFlow makes."""
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got <dtype: '{branch_index.dtype.name}'>")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("'branch_fns' must be a list, tuple, or dict")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    if not pairs:
        raise ValueError("Must provide at least one item in branch_fns")
    if all(callable(p) for p in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        if not isinstance(pair[0], int):
            raise TypeError(f"key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise TypeError(f"fn for key {pair[0]} must be callable.")
    keys = sorted(p[0] for p in pairs)
    if keys != list(range(len(pairs))):
        shown = ",".join(map(str, keys))
        raise ValueError(f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found {{{shown}}}")
    return dict(pairs)


def _checked_pairs(pred_fn_pairs: Any, exclusive: bool) -> list[Any]:
    """The pairs of ``case`` after the checks that TensorFlow makes."""
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}")
    if isinstance(pred_fn_pairs, dict) and state.graph is None and not exclusive:
        raise ValueError("Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when "
                         "`exclusive=False` and eager mode is enabled.")  # fmt: skip
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if state.graph is not None:
        pairs = [(p.deref() if hasattr(p, "deref") else p, f) for p, f in pairs]
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        pred, function = pair
        if not isinstance(pred, Tensor):
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        if pred.dtype.kind != "b":
            raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
        if not callable(function):
            raise TypeError(f"fn for pred {pred.name} must be callable.")
    if not pairs:
        raise ValueError("not enough values to unpack (expected 2, got 0)")
    return pairs


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case"
) -> Any:
    """Calls the function of the first true predicate, else ``default``.

    ``exclusive`` promises that no two predicates are true; eagerly it is not checked, as in TensorFlow. Eagerly a list
    of one result is unpacked unless ``strict`` (not that of a single pair without default); in a graph it stays a list.
    ValueError for a dictionary where its order would count, TypeError for other predicates than bool tensors. See
    https://www.tensorflow.org/api_docs/python/tf/case.

    >>> import minitape as tf
    >>> x = tf.constant(3)
    >>> tf.case([(x < 0, lambda: -1), (x > 0, lambda: 1)], default=lambda: 0)
    1
    """
    pairs = _checked_pairs(pred_fn_pairs, exclusive)
    if default is not None and not callable(default):
        raise TypeError("'false_fn' must be callable.")
    if not any(is_symbolic_value(p) for p, _ in pairs):
        chained = len(pairs) > (default is None)  # the last one without a default is called by itself
        true = [f for p, f in pairs if bool(p)]
        if true:
            return _unpacked(true[0](), strict or not chained)
        if default is None:
            values = ", ".join(str(bool(p)) for p, _ in (pairs if exclusive else pairs[-1:]))
            raise invalid(
                f"Expected '{pairs[-1][0]!s}' to be true. Summarized data: b'Input error: None of conditions evaluated "
                f"as True:'\n{values}"
            )
        return _unpacked(default(), strict)
    if exclusive:
        raise NotImplementedError("minitape's tf.case does not support `exclusive` inside a graph.")
    last = default or pairs[-1][1]
    rest = pairs if default else pairs[:-1]
    for pred, function in reversed(rest):
        last = _chained(pred, function, last)
    return last()


def _unpacked(result: Any, strict: bool) -> Any:
    single = not strict and isinstance(result, (list, tuple)) and len(result) == 1
    return result[0] if single else result


def _chained(pred: Any, function: Any, otherwise: Any) -> Any:
    return lambda: cond(convert_to_tensor(pred), function, otherwise)


# -- while_loop -------------------------------------------------------------------------------------------------------


TRIED = 1000  # turns of a loop on stand-ins of its values: on zeros, say, it may never end


def _while(test: Any, step: Any, values: list[Any], captured: list[Any], limit: int | None) -> list[Any]:
    turns = 0
    while (limit is None or turns < limit) and test([*values, *captured]):
        if state.trying and turns == TRIED:
            raise RuntimeError(f"a loop on stand-ins did not end after {TRIED} turns")
        values = list(step([*values, *captured]))
        turns += 1
    return values


def _while_forward(*arrays: Any, test: Body, body: Body, count: int, limit: int | None) -> tuple[Any, ...]:
    return tuple(_while(lambda a: bool(test.run(a)[0]), body.run, list(arrays[:count]), list(arrays[count:]), limit))


def _while_noting(*arrays: Any, test: Body, body: Body, count: int, limit: int | None) -> tuple[Any, ...]:
    notes = []

    def step(values: Sequence[Any]) -> Any:
        found, note = body.run_noting(values)
        notes.append(note)
        return found

    found = _while(lambda a: bool(test.run(a)[0]), step, list(arrays[:count]), list(arrays[count:]), limit)
    return (*found, write_notes(notes))


def _while_eager(tensors: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    count, test, body = attrs["count"], attrs["test"], attrs["body"]
    if "notes" in attrs:  # as many turns as it took
        values = list(tensors[:count])
        for note in attrs["notes"]:
            values = body.replay([*values, *tensors[count:]], note)
        return [*values, wrap(write_notes(attrs["notes"]))]
    return _while(
        lambda t: _replayed_test(test, t),
        body.replay,
        list(tensors[:count]),
        list(tensors[count:]),
        attrs["limit"],
    )


def _replayed_test(test: Body, tensors: Sequence[Any]) -> bool:
    """The test of a loop that runs again for its gradient: variables hold what they held before it."""
    if not any(c.primitive.op == "ReadVariableOp" for c in test.graph.calls):
        return bool(test.run([t.array for t in tensors])[0])
    with unrecorded():
        return bool(test.replay(tensors)[0])


def _while_infer(tensors: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    body = attrs["body"]
    return [(t.shape, t.dtype) for t in body.inputs]


WHILE = {
    False: GraphPrimitive("while", "StatelessWhile", _while_infer, forward=_while_forward, eager=_while_eager),
    True: GraphPrimitive("while", "While", lambda tensors, attrs: [*_while_infer(tensors, attrs), NOTES],
                         forward=_while_noting, eager=_while_eager, stateful=True,
                         unnoted=lambda *arrays, **attrs: (*_while_forward(*arrays, **attrs), None)),
}  # fmt: skip


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
    if isinstance(loop_vars, SymbolicTensor):
        loop_vars = [loop_vars]
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    for label, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"'{label}' must be callable.")
    limit = None if maximum_iterations is None else int(convert_to_tensor(maximum_iterations).array)
    loop_vars = loop_vars if isinstance(loop_vars, (list, tuple)) else list(loop_vars)
    if state.graph is not None:
        found = while_graph(cond, body, list(loop_vars), shape_invariants, limit)
        found = tuple(found) if type(loop_vars) is tuple else found
    else:
        found = _eager_loop(cond, body, loop_vars, limit)
    return passing(found, back_prop)


def passing(found: Any, back_prop: bool) -> Any:
    """The results of a loop; in a graph no gradient passes them without ``back_prop``. Eagerly it always does."""
    if back_prop or state.graph is None:
        return found
    from ..primitives import TABLE

    return nest.map_structure(lambda t: TABLE["stop_gradient"](t) if isinstance(t, Tensor) else t, found)


def _eager_loop(test: Any, body: Any, values: Any, limit: int | None) -> Any:
    if limit is not None:  # counted by a loop around: its body returns the variables in their structure
        found = _eager_loop(
            lambda i, inner: i < limit and convert_to_tensor(test(*inner), dtypes.bool),
            lambda i, inner: (i + 1, body(*inner)),
            (0, values),
            None,
        )
        return found[1]
    structure = nest.map_structure(_spec, list(values))
    while bool(test(*values)):
        values = body(*values)
        nest.assert_same_structure(structure, list(values))
    return nest.map_structure(_result, values)


def _result(value: Any) -> Any:
    return value if isinstance(value, TensorArrayBase) or hasattr(value, "_composite") else convert_to_tensor(value)


def _spec(value: Any) -> Any:
    from .spec import TensorSpec

    if isinstance(value, TensorArrayBase) or hasattr(value, "_composite"):
        return value
    tensor = convert_to_tensor(value)
    return TensorSpec(tensor.shape, tensor.dtype)


class TensorArrayBase:
    """What marks TensorArrays: their buffer takes part in loops and branches."""

    _buffer: Any


def opened(value: Any) -> Any:
    """A TensorArray's buffer; any other value as it is."""
    return value._buffer if isinstance(value, TensorArrayBase) else value


def closed(like: Any, value: Any) -> Any:
    """The counterpart of ``opened``."""
    return like._with(value) if isinstance(like, TensorArrayBase) else value


def while_graph(test: Any, body: Any, variables: list[Any], invariants: Any, limit: int | None) -> Any:
    """``while_loop`` in a graph."""
    flat = nest.flatten(variables)
    values = [convert_to_tensor(opened(v)) for v in flat]
    if invariants is None:
        shapes = [
            TensorShape(None) if isinstance(v, TensorArrayBase) else t.shape for v, t in zip(flat, values, strict=True)
        ]
    else:
        shapes = [TensorShape(getattr(s, "shape", s)) for s in _flat_shapes(invariants)]
    specs = [(shape, t.dtype) for shape, t in zip(shapes, values, strict=True)]

    def rebuilt(tensors: Sequence[Any]) -> Any:
        return nest.pack_sequence_as(variables, [closed(v, t) for v, t in zip(flat, tensors, strict=True)])

    def step(*tensors: Any) -> Any:
        new = body(*rebuilt(tensors))
        new = list(new) if isinstance(new, (list, tuple)) else [new]
        nest.assert_same_structure(list(variables), new, check_types=False)
        latest[:] = nest.flatten(new)
        return [opened(v) for v in latest]

    latest: list[Any] = []
    traced = trace_body(step, specs, ["loop_var"] * len(specs))
    check = trace_body(lambda *tensors: convert_to_tensor(test(*rebuilt(tensors))), specs)
    for value, before, after, v in zip(values, specs, traced.outputs, flat, strict=True):
        name = state.graph.tensor_at(state.graph.enter(value)).name
        if before[1] != after.dtype:
            raise TypeError(
                f"Loop var {name} enters the loop with type {before[1]} but has type {after.dtype} after 1 iteration. "
                f"{name} type should remain constant."
            )
        if not isinstance(v, TensorArrayBase) and not after.shape.is_subtype_of(before[0]):
            raise ValueError(
                f"Input tensor `{name}` enters the loop with shape {before[0]}, but has shape {after.shape} after one "
                "iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of "
                "tf.while_loop to specify a less-specific shape."
            )
    likes = [new if isinstance(new, TensorArrayBase) else v for new, v in zip(latest, flat, strict=True)]
    found = build_while(check, traced, values, limit)
    return nest.pack_sequence_as(variables, [closed(like, t) for like, t in zip(likes, found, strict=True)])


def build_while(test: Body, body: Body, values: Sequence[Any], limit: int | None) -> list[Any]:
    """Adds the operation that runs a loop."""
    captured = share_captures([test, body])
    stateful = bool(test.effects or body.effects)
    attrs = {"test": test, "body": body, "count": len(values), "limit": limit}
    found = list(state.graph.apply(WHILE[stateful], (*values, *captured), attrs))
    return found[:-1] if stateful else found


def _flat_shapes(invariants: Any) -> list[Any]:
    if isinstance(invariants, (list, tuple)):
        return [s for part in invariants for s in _flat_shapes(part)]
    return [invariants]
