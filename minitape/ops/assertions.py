"""Assertions on tensors (``tf.debugging``). They return None, or raise when they do not hold.

In a ``tf.function`` an assertion on values runs each time the function does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.derivatives.custom import for_batches
from ..engine.hooks import hooks
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.opdefs import accept
from ..engine.tensor.operation import apply, binary
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid
from ..engine.values.shape import TensorShape
from .operands import postpone, tensor_of
from .printing import summary_text


def _with_values(check: Callable[..., None], *tensors: Any) -> Any:
    """Runs a check on eager tensors: now, or when the graph that is being built runs.

    There the assertion is an operation, which other operations may depend on.
    """
    if state.graph is None and all(isinstance(t, EagerTensor) for t in tensors):
        return check(*tensors)

    def run(*values: Any) -> list:
        check(*values)
        return [new_tensor(np.bool_(True))]

    return hooks.add_effect(run, list(tensors), [(TensorShape([]), dtypes.bool)], stateful=True)[0].op


# -- Assert ----------------------------------------------------------------------------------------


@postpone
def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """Raises InvalidArgumentError with the tensors in ``data`` unless the condition is true.

    >>> import minitape as tf
    >>> tf.debugging.Assert(tf.constant(True), ["never shown"])
    """
    values = [data] if isinstance(data, str) else list(data)
    if state.graph is None:
        if not condition:
            shown = "\n".join(_elements(v, 3 if summarize is None else summarize) for v in values)
            raise invalid(f"Expected '{condition!s}' to be true. Summarized data: {shown}")
        return None
    tensors = [tensor_of(v) for v in values]
    return _with_values(lambda c, *data: _graph_assert(c, data, summarize), tensor_of(condition), *tensors)


def _graph_assert(condition: Any, data: Any, summarize: int | None) -> None:
    """The same in a run of a graph, which words it otherwise."""
    if not condition:
        shown = " ".join(f"[{summary_text(np.asarray(t.array), 3 if summarize is None else summarize)}]" for t in data)
        raise invalid(f"assertion failed: {shown}", "Assert")


def _elements(value: Any, limit: int) -> str:
    flat = np.ravel(np.asarray(tensor_of(value).array)) if not isinstance(value, str) else [value.encode()]
    shown = [str(v) for v in (flat if limit < 0 else flat[:limit])]
    return ", ".join([*shown, "..."] if len(flat) > len(shown) else shown)


# -- comparisons -----------------------------------------------------------------------------------


def _comparison(name: str, symbol: str, primitive: str, example: str) -> Callable:
    def function(
        x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> Any:
        x, y = tensor_of(x), tensor_of(y)
        holds = binary(TABLE[primitive], x, y)
        lead = [] if message is None else [message]
        if state.graph is None:
            return _refuse(symbol, np.asarray(holds.array), x, y, lead, summarize)
        return _in_graph(holds, [*lead, f"Condition x {symbol} y did not hold element-wise:"], [x, y], summarize)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Raises InvalidArgumentError, with the places that differ, unless x {symbol} y everywhere.

    ``x`` and ``y`` broadcast; ``summarize`` (3) limits how many elements are shown.

    >>> import minitape as tf
    >>> tf.debugging.{name}({example})
    """
    return function


def _in_graph(holds: Any, said: list[str], tensors: list, summarize: int | None) -> Any:
    """The assertion of a graph, which shows what is said, and the tensors with their names."""
    graph = state.graph
    named = [(label, graph.tensor_at(graph.row_or_new_leaf(t))) for label, t in zip("xy", tensors, strict=False)]
    data = [*said, *(part for label, t in named for part in (f"{label} ({t.name}) = ", t))]
    return Assert(TABLE["reduce_all"](holds, axis=None, keepdims=False), data, summarize)


def _refuse(symbol: str, holds: Any, x: Any, y: Any, lead: list[str], summarize: int | None) -> None:
    """InvalidArgumentError unless a comparison of two tensors holds everywhere."""
    if holds.all():
        return
    limit = 3 if summarize is None else summarize
    a, b = np.asarray(x.array), np.asarray(y.array)
    lines = [*lead, f"Condition x {symbol} y did not hold."]
    if a.ndim and a.shape == b.shape:
        places = np.argwhere(~holds)[:limit].astype(np.int64)
        at = tuple(places.T)
        lines += [
            f"Indices of first {len(places)} different values:\n{places}",
            f"Corresponding x values:\n{a[at]}",
            f"Corresponding y values:\n{b[at]}",
        ]
    for label, array in (("x", a), ("y", b)):
        lines.append(f"First {min(array.size, limit)} elements of {label}:\n{array.reshape(-1)[:limit]}")
    raise invalid("\n".join(lines))


assert_equal = _comparison("assert_equal", "==", "equal", "1, 1")
assert_none_equal = _comparison("assert_none_equal", "!=", "not_equal", "1, 2")
assert_less = _comparison("assert_less", "<", "less", "1, 2")
assert_less_equal = _comparison("assert_less_equal", "<=", "less_equal", "1, 1")
assert_greater = _comparison("assert_greater", ">", "greater", "2, 1")
assert_greater_equal = _comparison("assert_greater_equal", ">=", "greater_equal", "1, 1")


def _sign(name: str, condition: str, primitive: str, example: str, gap: str = "\n") -> Callable:
    def function(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
        x = tensor_of(x)
        zero, said = convert_to_tensor(0, x.dtype), f"Condition {condition} did not hold element-wise:"
        if state.graph is not None:
            return _in_graph(binary(TABLE[primitive], x, zero), [_lead(message), said], [x], summarize)
        array = np.asarray(x.array)
        if not getattr(np, primitive)(array, zero.array).all():
            kind = f"(shape={x.shape} dtype={x.dtype.name})"
            raise invalid(f"{_lead(message)}\n{said}{gap}x {kind} = \n{_listed(array, summarize)}")
        return None

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Raises InvalidArgumentError unless {condition} for every element.

    >>> import minitape as tf
    >>> tf.debugging.{name}({example})
    """
    return function


def _listed(array: Any, summarize: int | None) -> str:
    if not array.ndim:
        return str(array[()])
    limit = 3 if summarize is None else summarize
    flat = array.reshape(-1)
    return str([str(v) for v in flat[:limit]] + (["..."] if flat.size > limit else []))


def _lead(message: str | None) -> str:
    return f"{message}.  " if message else ""


assert_positive = _sign("assert_positive", "x > 0", "greater", "[1.0]")
assert_negative = _sign("assert_negative", "x < 0", "less", "[-1.0]")
assert_non_negative = _sign("assert_non_negative", "x >= 0", "greater_equal", "[0.0]")
assert_non_positive = _sign("assert_non_positive", "x <= 0", "less_equal", "[0.0]", "")


@postpone
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Raises InvalidArgumentError unless ``|x - y| <= atol + rtol * |y|`` for every element.

    Both tolerances are ten times the dtype's machine epsilon by default. Raises ValueError for integers.

    >>> import minitape as tf
    >>> tf.debugging.assert_near(1.0, 1.0 + 1e-7)
    """
    x = tensor_of(x)
    y = convert_to_tensor(y, x.dtype, name="y")
    if not x.dtype.is_floating and not x.dtype.is_complex:
        raise ValueError(f"data type {x.dtype.as_numpy_dtype} not inexact")
    epsilon = 10 * np.finfo(x.dtype.real_dtype.as_numpy_dtype if x.dtype.name != "bfloat16" else np.float32).eps
    rtol, atol = (
        convert_to_tensor(epsilon if t is None else t, x.dtype.real_dtype, name=name)
        for t, name in ((rtol, "rtol"), (atol, "atol"))
    )

    said = [_lead(message), f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}"]
    if state.graph is not None:
        return _in_graph(abs(x - y) <= atol + rtol * abs(y), said, [x, y], summarize)
    with np.errstate(all="ignore"):
        near = abs(x.array - y.array) <= atol.array + rtol.array * abs(y.array)
    named = [(f"{label} (shape={t.shape} dtype={t.dtype.name}) = ", t) for label, t in (("x", x), ("y", y))]
    return Assert(new_tensor(np.bool_(np.all(near))), [*said, *named[0], *named[1]], summarize)


# -- numbers ---------------------------------------------------------------------------------------


def _finite(array: Any, message: str) -> None:
    found = [label for label, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(array).any()]
    if found:
        raise invalid(f"{message} : Tensor had {' and '.join(found)} values", "CheckNumerics")


@for_batches
def _finite_gradient(gs: Any, z: Any, x: Any, *, message: str) -> list:
    """What arrives must be finite, too."""
    (g,), told = gs, f"Not a number (NaN) or infinity (Inf) values detected in gradient. {message.encode()!r}"
    if isinstance(g, Tensor):
        return [check_numerics(g, told)]
    _finite(g, told)
    return [g]


def _checked(x: Any, *, message: str) -> Any:
    _finite(x, message)
    return x


class _Check(Primitive):
    stateful = True  # it runs in a graph where nothing needs its result, too


_CHECKED = _Check("check_numerics", _checked, _finite_gradient, keep="")


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """The tensor itself; InvalidArgumentError with ``message`` when it, or a gradient that arrives at it, holds NaN or
    an infinity.

    >>> import minitape as tf
    >>> tf.debugging.check_numerics([1.0, 2.0], "loss").numpy()
    array([1., 2.], dtype=float32)
    """
    x = tensor_of(tensor)
    accept("CheckNumerics", x.dtype)
    return apply(_CHECKED, (x,), {"message": message})


# -- ranks, shapes and types -----------------------------------------------------------------------


def _name_of(x: Any, eager: str) -> str:
    """How messages call a tensor: by its name in a graph; ``eager`` is what they say elsewhere."""
    return x.name if hasattr(x, "graph") and hasattr(x, "name") else eager


def _as_far_as_known(check: Callable[..., None], known: bool, *tensors: Any) -> Any:
    """A check of shapes: now, and unless all of them are ``known``, again when the graph runs
    (InvalidArgumentError).
    """
    check(*tensors)
    if known:
        return _nothing()

    def check_at_run(*values: Any) -> None:
        try:
            check(*values)
        except ValueError as error:
            raise invalid(str(error), "Assert") from None

    return _with_values(check_at_run, *tensors)


def _check_rank(x: Any, ranks: Sequence[int], wanted: str, message: str | None) -> None:
    if x.shape.rank is not None and x.shape.rank not in ranks:
        raise ValueError(
            f"{_lead(message)}Tensor {_name_of(x, '')} must have rank {wanted}.  Received rank {x.shape.rank}, "
            f"shape {x.shape}"
        )


def _nothing() -> Any:
    """What an assertion that holds for good returns: an operation in a graph."""
    return None if state.graph is None else hooks.no_op()


@postpone
def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> Any:
    """Raises ValueError unless ``x`` has ``rank`` axes; in a graph that does not know, InvalidArgumentError when it
    runs.

    >>> import minitape as tf
    >>> tf.debugging.assert_rank([1, 2], 1)
    """
    x, rank = tensor_of(x), int(tensor_of(rank).array)
    return _as_far_as_known(lambda t: _check_rank(t, [rank], f"{rank}", message), x.shape.rank is not None, x)


def assert_shapes(shapes: Any, *, message: str | None = None, name: str | None = None) -> Any:
    """Raises ValueError unless each (tensor, shape) pair fits, with letters standing for sizes that must agree.

    A shape is a tuple of ints, names, None, or ``...`` in front for any number of axes. What only a run of a graph
    knows is checked there, with InvalidArgumentError. ``message`` begins the error's text.

    >>> import minitape as tf
    >>> tf.debugging.assert_shapes([(tf.zeros([2, 3]), ("n", 3)), (tf.zeros([2]), ("n",))])
    """
    pairs = list(shapes.items() if isinstance(shapes, dict) else shapes)
    tensors, specs = [tensor_of(t) for t, _ in pairs], [spec for _, spec in pairs]
    known = all(t.shape.is_fully_defined() for t in tensors)
    return _as_far_as_known(lambda *tensors: _check_shapes(tensors, specs, message), known, *tensors)


def _check_shapes(tensors: Any, specs: list, message: str | None) -> None:
    seen: dict[Any, tuple[int | None, str]] = {}  # symbol -> its size, and where it was said
    for x, spec in zip(tensors, specs, strict=True):
        label, symbols = _name_of(x, f"shape={x.shape} dtype={x.dtype.name}"), list(spec)
        first = 0  # number of the axis that the first symbol is for
        if symbols[:1] == [...]:
            del symbols[0]
            first = -len(symbols)
            _check_rank(x, range(len(symbols), 65), f"at least {len(symbols)}", message)
        else:
            _check_rank(x, [len(symbols)], f"{len(symbols)}", message)
        sizes = x.shape.as_list()[x.shape.rank - len(symbols) :] if x.shape.rank is not None else [None] * len(symbols)
        for axis, (symbol, size) in enumerate(zip(symbols, sizes, strict=True), first):
            where = f"ensor {label} dimension {axis}"
            wanted, source = (
                (symbol, "Specified explicitly") if isinstance(symbol, int) else seen.get(symbol, (None, ""))
            )
            if wanted is None and symbol is not None:
                seen[symbol] = size, f"Specified by t{where}"
            elif size is not None and wanted not in (None, size):
                raise ValueError(
                    f"{_lead(message)}{source}.  T{where} must have size {wanted}.  Received size {size}, shape "
                    f"{x.shape}"
                )
