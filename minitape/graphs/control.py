"""``cond``, ``switch_case`` and ``case``: branches that the values of tensors decide.

In eager mode they are Python's own ``if``. In a graph each is one operation that holds its branches as
bodies; its derivative runs the taken way again under a tape (:mod:`minitape.graphs.primitive`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.evidence import note_used_as_size
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import dtypes, nest
from ..engine.values.errors import InvalidArgumentError
from ..engine.values.invalid import invalid, shape_text
from ..ops.assertions import Assert
from ..ops.parts import flatten_parts, is_composite, with_rows_of
from .body import GraphBody, share_captures, trace_body
from .primitive import GraphPrimitive, write_notes
from .program import branch
from .scopes import control_dependencies
from .symbolic import Operation, SymbolicTensor
from .values import boolean, current

if TYPE_CHECKING:
    from ..engine.types import Array, Attributes, Function, Index, Value
    from .types import Tensors

# -- cond ------------------------------------------------------------------------------------------


def _branch(index: Index, bodies: Sequence[GraphBody]) -> GraphBody:
    if index.ndim:  # one number may have axes
        if np.size(index) != 1:
            raise invalid(f"The second input must be a scalar, but it has shape {shape_text(index.shape)}", "Switch")
        index = index.reshape(())
    at = int(index)
    return bodies[at] if 0 <= at < len(bodies) else bodies[-1]


def _case_forward(index: Index, *arrays: Array, bodies: Sequence[GraphBody]) -> tuple:
    return _branch(index, bodies).run(arrays)


def _case_noting(index: Index, *arrays: Array, bodies: Sequence[GraphBody]) -> tuple:
    found, notes = _branch(index, bodies).run_noting(arrays)
    return (*found, write_notes(notes))


def _case_eager(tensors: Tensors, attrs: Attributes) -> list:
    notes = attrs.get("notes")
    bodies = attrs["bodies"]
    taken = _branch(tensors[0].array, bodies)
    with branch(taken, bodies, tensors[0]):
        found = taken.replay(tensors[1:], notes)
    return found if notes is None else [*found, new_tensor(write_notes(notes))]


def _case_infer(tensors: Tensors, attrs: Attributes) -> list:
    columns = zip(*[b.specs() for b in attrs["bodies"]], strict=True)
    specs = []
    for column in columns:
        shape = column[0][0]
        for other, _ in column[1:]:
            shape = shape.most_specific_compatible_shape(other)
        specs.append((shape, column[0][1]))
    return specs


def _case_connects(attrs: Attributes, at: int) -> bool:
    return at > 0 and any(b.connects(at - 1) for b in attrs["bodies"])


CASE = {
    (noting is not None, name): GraphPrimitive(
        "case", op, _case_infer, forward=_case_forward, noting=noting, eager=_case_eager, connects=_case_connects
    )
    for op, name, noting in (
        ("If", "cond", _case_noting),
        ("StatelessIf", "cond", None),
        ("Case", "switch_case", _case_noting),
        ("StatelessCase", "switch_case", None),
    )
}


def build_case(index: Index, bodies: list[GraphBody], name: str) -> list:
    """Adds the operation that runs one of the bodies."""
    captured = share_captures(bodies)
    stateful = any(b.effects for b in bodies)
    found = list(state.graph.apply(CASE[stateful, name], (index, *captured), {"bodies": tuple(bodies)}))
    return found[:-1] if stateful else found


def cond(pred: Value, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
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
    pred = current(pred)
    if state.graph is not None and not isinstance(pred, Tensor):
        raise TypeError("pred must not be a Python bool", pred)
    if not isinstance(pred, SymbolicTensor):
        return true_fn() if bool(convert_to_tensor(pred)) else false_fn()
    return cond_graph(pred, true_fn, false_fn)


def cond_graph(pred: Value, true_fn: Callable[[], Any] | GraphBody, false_fn: Callable[[], Any] | GraphBody) -> Any:
    """``cond`` on a symbolic tensor, of functions or of what was traced of them."""
    then, orelse = _trace_branch(true_fn, pred), _trace_branch(false_fn, pred)
    counts = [len(then.flat), len(orelse.flat)]
    if counts[0] != counts[1]:
        raise AssertionError(counts)
    try:
        nest.assert_same_structure(_describe(then), _describe(orelse), expand_composites=True)
    except (TypeError, ValueError) as error:
        raise _unlike_branches(then, orelse, error) from None
    with_rows_of(then.result, orelse.result)
    lengths = [len(body.outputs) for body in (then, orelse)]
    if lengths[0] != lengths[1]:
        raise ValueError(
            "Lengths of branch outputs of cond must match."
            f"\nlen(graphs[0].outputs): {lengths[0]}\nlen(graphs[1].outputs): {lengths[1]}"
        )
    for a, b in zip(then.flat, orelse.flat, strict=True):
        if getattr(a, "dtype", None) != getattr(b, "dtype", None):
            raise _unlike_branches(then, orelse, f"{a} and {b} have different types")
    found = build_case(branch_number(pred), [then, orelse], "cond")
    refuse_number(pred)
    return then.pack(found)


def _trace_branch(function: Callable[[], Any] | GraphBody, decides: Any) -> GraphBody:
    """The body of a branch; an operation that it returns becomes ``decides``."""
    if isinstance(function, GraphBody):
        return function

    def as_tensor(leaf: Value) -> Any:
        if not isinstance(leaf, Operation):
            return leaf
        with control_dependencies([leaf]):
            return TABLE["identity"](decides)

    results = []

    def tensors() -> list:
        results.append(nest.map_structure(as_tensor, function()))
        return flatten_parts(results[0])

    body = trace_body(tensors, ())
    (body.result,) = results
    return body


_SWITCH = (
    "cond/switch_pred/_2' using Op<name=Switch; signature=data:T, pred:bool -> output_false:T, output_true:T; "
    "attr=T:type>"
)


def refuse_number(pred: Value, argument: str = "pred", node: str = _SWITCH) -> None:
    """InvalidArgumentError for a predicate that is no bool, which TensorFlow finds when the graph runs."""
    if pred.dtype.kind != "b":
        raise InvalidArgumentError(
            None,
            None,
            f"Input '{argument}' passed {pred.dtype.kernel_name} expected bool while building NodeDef '{node}",
        )


def _unlike_branches(then: GraphBody, orelse: GraphBody, details: Any) -> TypeError:
    return TypeError(
        "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return "
        f"values.\n\ntrue_fn output: {_describe(then)}\nfalse_fn output: {_describe(orelse)}\n\nError "
        f"details:\n{details}"
    )


def _describe(body: GraphBody) -> Any:
    """What a branch returns, as error messages show it."""
    if any(map(is_composite, nest.flatten(body.result))):
        return body.result
    return nest.pack_sequence_as(body.result, body.flat)


def branch_number(pred: Value) -> Any:
    """0 where true, 1 where false: the number of the branch."""
    return TABLE["logical_not"](new_tensor(np.bool_(False)) if pred.dtype.kind == "s" else boolean(pred))


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
    if not isinstance(index, SymbolicTensor):
        note_used_as_size(index)
        return functions.get(int(index.array), default)()
    bodies = [_trace_branch(f, index) for f in (*[functions[i] for i in sorted(functions)], default)]
    return bodies[0].pack(build_case(index, bodies, "switch_case"))


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
        _refuse_unpaired(pair, "branch_fns")
        if not isinstance(pair[0], int):
            raise TypeError(f"key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise TypeError(f"fn for key {pair[0]} must be callable.")
    keys = sorted(p[0] for p in pairs)
    if keys != list(range(len(pairs))):
        shown = ",".join(map(str, keys))
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found {{{shown}}}"
        )
    return dict(pairs)


def _refuse_unpaired(pair: Any, argument: str) -> None:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"Each entry in '{argument}' must be a 2-tuple. Received {pair}.")


def _checked_pairs(pred_fn_pairs: Any) -> list:
    """The pairs of ``case`` after the checks that TensorFlow makes."""
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}")
    if isinstance(pred_fn_pairs, dict) and state.graph is None:
        raise ValueError(
            "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when "
            "`exclusive=False` and eager mode is enabled."
        )
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if state.graph is not None:
        pairs = [(p.deref() if hasattr(p, "deref") else p, f) for p, f in pairs]
    for pair in pairs:
        _refuse_unpaired(pair, "pred_fn_pairs")
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

    InvalidArgumentError when none is true and there is no ``default``, or, with ``exclusive``, several are (where there
    is none, the last does not count). Eagerly a list of one result is unpacked unless ``strict`` (not that of a single
    pair without default); in a graph it stays a list. ValueError for a dictionary where its order would count,
    TypeError for other predicates than bool tensors.
    See https://www.tensorflow.org/api_docs/python/tf/case.

    >>> import minitape as tf
    >>> x = tf.constant(3)
    >>> tf.case([(x < 0, lambda: -1), (x > 0, lambda: 1)], default=lambda: 0)
    1
    """
    pairs = _checked_pairs(pred_fn_pairs)
    if default is not None and not callable(default):
        raise TypeError("'false_fn' must be callable.")
    preds = [p for p, _ in pairs]
    last = default
    if default is None:
        preds, last = preds[:-1], _require(preds, pairs.pop()[1])
    for pred, function in reversed(pairs):
        last = _chained(pred, function, last, strict)
    if not (exclusive and preds):
        return last()
    found, names = TABLE["stack"](*preds, axis=0), ", ".join(getattr(p, "name", "?") for p in preds)
    alone = TABLE["reduce_sum"](TABLE["cast"](found, dtype=dtypes.int32)) <= 1
    message = f"Input error: exclusive=True: more than 1 conditions ({names}) evaluated as True:"
    with control_dependencies([Assert(alone, [message, found], summarize=len(preds))]):
        return last()


def _chained(pred: Value, function: Function, otherwise: Any, strict: bool) -> Any:
    def chosen() -> Any:
        result = cond(pred, function, otherwise)
        single = state.graph is None and not strict and isinstance(result, (list, tuple)) and len(result) == 1
        return result[0] if single else result

    return chosen


def _require(preds: Sequence, function: Function) -> Any:
    """The function of the last predicate, which must be true where no other is."""

    def last() -> Any:
        message = "Input error: None of conditions evaluated as True:"
        with control_dependencies([Assert(preds[-1], [message, TABLE["stack"](*preds, axis=0)])]):
            return function()

    return last
