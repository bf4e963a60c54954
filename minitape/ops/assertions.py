"""Assertions on tensors (``tf.debugging``). They return None, or raise when they do not hold.

In a ``tf.function`` an assertion on values runs each time the function does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import dtypes
from ..engine.above import above
from ..engine.convert import convert_to_tensor
from ..engine.errors import InvalidArgumentError
from ..engine.invalid import invalid
from ..engine.opdefs import accept
from ..engine.operands import tensor_of, worded
from ..engine.operation import apply
from ..engine.primitives import TABLE
from ..engine.state import state
from ..engine.tensor import EagerTensor, Tensor, wrap


def _with_values(
    check: Callable[..., None], *tensors: Any, words: tuple[str, ...] = (), summarize: int | None = None
) -> Any:
    """Runs a check on eager tensors: now, or when the graph that is being built runs.

    A graph has words of its own for an assertion that fails, and the tensors' names; constants are checked while it is
    built. There the assertion is an operation, which other operations may depend on.
    """
    if state.graph is None and all(isinstance(t, EagerTensor) for t in tensors):
        return check(*tensors)
    from ..engine.shape import TensorShape
    from .introspection import get_static_value

    names = [f"{label} ({getattr(t, 'name', 'Const:0')}) = " for label, t in zip("xy", tensors, strict=False)]
    constants = [get_static_value(t) for t in tensors] if words else [None]
    if all(value is not None for value in constants):
        try:
            check(*map(tensor_of, constants))
        except (InvalidArgumentError, ValueError) as error:
            if "did not hold" not in str(error):  # the shapes do not fit
                raise
            shown = [str(part) for pair in zip(names, constants, strict=True) for part in pair]
            raise InvalidArgumentError(None, None, "\n".join([*words, *shown])) from None
        return _nothing()

    def run(*values: Any) -> list[Any]:
        try:
            check(*values)
        except InvalidArgumentError:
            if not words:
                raise
            data = [part for pair in zip(names, values, strict=True) for part in pair]
            _graph_assert(False, [tensor_of(v) for v in (*words, *data)], summarize)
        return [wrap(np.bool_(True))]

    return above.later(run, list(tensors), [(TensorShape([]), dtypes.bool)], stateful=True)[0].op


# -- Assert -----------------------------------------------------------------------------------------------------------


@worded
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
    from .printing import summarized

    if not condition:
        shown = " ".join(f"[{summarized(np.asarray(t.array), 3 if summarize is None else summarize)}]" for t in data)
        raise invalid(f"assertion failed: {shown}", "Assert")


def _elements(value: Any, limit: int) -> str:
    flat = np.ravel(np.asarray(tensor_of(value).array)) if not isinstance(value, str) else [value.encode()]
    shown = [str(v) for v in (flat if limit < 0 else flat[:limit])]
    return ", ".join([*shown, "..."] if len(flat) > len(shown) else shown)


# -- comparisons ------------------------------------------------------------------------------------------------------


def _comparison(name: str, symbol: str, primitive: str, example: str) -> Callable[..., Any]:
    def function(
        x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> Any:
        x, y = tensor_of(x), tensor_of(y)
        words = (*([] if message is None else [message]), f"Condition x {symbol} y did not hold element-wise:")
        return _with_values(lambda a, b: _compare(symbol, primitive, a, b, message, summarize), x, y,
                            words=words, summarize=summarize)  # fmt: skip

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Raises InvalidArgumentError, with the places that differ, unless x {symbol} y everywhere.

    ``x`` and ``y`` broadcast; ``summarize`` (3) limits how many elements are shown.

    >>> import minitape as tf
    >>> tf.debugging.{name}({example})
    """
    return worded(function)


def _compare(symbol: str, primitive: str, x: Any, y: Any, message: str | None, summarize: int | None) -> None:
    from ..engine.operation import binary

    holds = np.asarray(binary(TABLE[primitive], x, y).array)
    if holds.all():
        return
    limit = 3 if summarize is None else summarize
    a, b = np.asarray(x.array), np.asarray(y.array)
    lines = [message] if message is not None else []
    lines.append(f"Condition x {symbol} y did not hold.")
    if a.ndim and a.shape == b.shape:
        places = np.argwhere(~holds)[:limit].astype(np.int64)
        at = tuple(places.T)
        lines += [f"Indices of first {len(places)} different values:\n{places}",
                  f"Corresponding x values:\n{a[at]}", f"Corresponding y values:\n{b[at]}"]  # fmt: skip
    for label, array in (("x", a), ("y", b)):
        lines.append(f"First {min(array.size, limit)} elements of {label}:\n{array.reshape(-1)[:limit]}")
    raise invalid("\n".join(lines))


assert_equal = _comparison("assert_equal", "==", "equal", "1, 1")
assert_none_equal = _comparison("assert_none_equal", "!=", "not_equal", "1, 2")
assert_less = _comparison("assert_less", "<", "less", "1, 2")
assert_less_equal = _comparison("assert_less_equal", "<=", "less_equal", "1, 1")
assert_greater = _comparison("assert_greater", ">", "greater", "2, 1")
assert_greater_equal = _comparison("assert_greater_equal", ">=", "greater_equal", "1, 1")


def _sign(
    name: str, condition: str, holds: Callable[[Any], Any], example: str, gap: str = "\n"
) -> Callable[..., Any]:
    def function(x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None) -> Any:
        def check(tensor: Any) -> None:
            array = np.asarray(tensor.array)
            if not holds(array).all():
                raise invalid(f"{_lead(message)}\nCondition {condition} did not hold element-wise:{gap}x "
                               f"(shape={tensor.shape} "
                               f"dtype={tensor.dtype.name}) = \n{_listed(array, summarize)}")  # fmt: skip

        x = tensor_of(x)
        convert_to_tensor(0, x.dtype)
        words = (_lead(message), f"Condition {condition} did not hold element-wise:")
        return _with_values(check, x, words=words, summarize=summarize)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Raises InvalidArgumentError unless {condition} for every element.

    >>> import minitape as tf
    >>> tf.debugging.{name}({example})
    """
    return worded(function)


def _listed(array: Any, summarize: int | None) -> str:
    if not array.ndim:
        return str(array[()])
    limit = 3 if summarize is None else summarize
    flat = array.reshape(-1)
    return str([str(v) for v in flat[:limit]] + (["..."] if flat.size > limit else []))


def _lead(message: str | None) -> str:
    return f"{message}.  " if message else ""


assert_positive = _sign("assert_positive", "x > 0", lambda x: x > 0, "[1.0]")
assert_negative = _sign("assert_negative", "x < 0", lambda x: x < 0, "[-1.0]")
assert_non_negative = _sign("assert_non_negative", "x >= 0", lambda x: x >= 0, "[0.0]")
assert_non_positive = _sign("assert_non_positive", "x <= 0", lambda x: x <= 0, "[0.0]", "")


@worded
def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: int | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
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
    rtol, atol = (convert_to_tensor(epsilon if t is None else t, x.dtype.real_dtype, name=name)
                  for t, name in ((rtol, "rtol"), (atol, "atol")))  # fmt: skip

    def check(a: Any, b: Any) -> None:
        with np.errstate(all="ignore"):
            near = abs(a.array - b.array) <= atol.array + rtol.array * abs(b.array)
        if not np.all(near):
            data = [
                _lead(message), f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}",
                f"x (shape={a.shape} dtype={a.dtype.name}) = ", a, f"y (shape={b.shape} dtype={b.dtype.name}) = ", b,
            ]  # fmt: skip
            Assert(wrap(np.bool_(False)), data, summarize)

    return _with_values(check, x, y)


# -- numbers ----------------------------------------------------------------------------------------------------------


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """The tensor itself; InvalidArgumentError with ``message`` when it holds NaN or an infinity. Differentiable.

    >>> import minitape as tf
    >>> tf.debugging.check_numerics([1.0, 2.0], "loss").numpy()
    array([1., 2.], dtype=float32)
    """
    x = tensor_of(tensor)
    accept("CheckNumerics", x.dtype)

    def check(t: Any) -> None:
        found = [label for label, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(t.array).any()]
        if found:
            raise invalid(f"{message} : Tensor had {' and '.join(found)} values", "CheckNumerics")

    _with_values(check, x)
    return apply(TABLE["identity"], (x,), {})


@worded
def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """The tensor itself; InvalidArgumentError with ``message`` when it holds NaN or an infinity. Differentiable.

    >>> import minitape as tf
    >>> tf.debugging.assert_all_finite([1.0], "loss").numpy()
    array([1.], dtype=float32)
    """
    return check_numerics(x, message, name)


# -- ranks, shapes and types ------------------------------------------------------------------------------------------


def _rank_number(rank: Any) -> int:
    given = tensor_of(rank)
    if given.dtype != dtypes.int32:
        raise TypeError(f"tensor must be of type {dtypes.int32!r}; got {given.dtype!r}")
    if given.ndim:
        raise ValueError("Rank must be a scalar.")
    return int(given.array)


def _called(x: Any, eager: str) -> str:
    """How messages call a tensor: by its name in a graph; ``eager`` is what they say elsewhere."""
    return x.name if hasattr(x, "graph") and hasattr(x, "name") else eager


def _sizes(x: Any) -> Any:
    """The shape of a dense or sparse tensor, as a tensor."""
    from .arrays import shape

    return x.dense_shape if hasattr(x, "_composite") else shape(x)


def _check_rank(x: Any, holds: Callable[[int], bool], words: str, numbers: tuple[int, ...], message: str | None) -> Any:
    """ValueError unless the rank is right; one that only a run of the graph knows is checked there, by an operation."""
    what = f"Tensor {_called(x, '')} must have rank{words}"
    if x.shape.rank is None:
        parts = [tensor_of(part) for part in (_lead(message), what, *numbers, "Received shape: ")]
        return _with_values(lambda sizes: _graph_assert(holds(sizes.array.size), [*parts, sizes], None), _sizes(x))
    if not holds(x.shape.rank):
        wanted = numbers if words == " in" else numbers[0]
        raise ValueError(f"{_lead(message)}{what} {wanted}.  Received rank {x.shape.rank}, shape {x.shape}")
    return _nothing()


def _nothing() -> Any:
    """What an assertion that holds for good returns: an operation in a graph."""
    return None if state.graph is None else above.no_op()


@worded
def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> Any:
    """Raises ValueError unless ``x`` has ``rank`` axes; in a graph that does not know, InvalidArgumentError when it runs.

    >>> import minitape as tf
    >>> tf.debugging.assert_rank([1, 2], 1)
    """
    x, rank = tensor_of(x), _rank_number(rank)
    return _check_rank(x, lambda n: n == rank, "", (rank,), message)


@worded
def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> Any:
    """Raises ValueError unless ``x`` has at least ``rank`` axes; see ``assert_rank``.

    >>> import minitape as tf
    >>> tf.debugging.assert_rank_at_least([[1]], 1)
    """
    x, rank = tensor_of(x), _rank_number(rank)
    return _check_rank(x, lambda n: n >= rank, " at least", (rank,), message)


@worded
def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> Any:
    """Raises ValueError unless the number of axes of ``x`` is one of ``ranks``; see ``assert_rank``.

    >>> import minitape as tf
    >>> tf.debugging.assert_rank_in([1], [1, 2])
    """
    x, numbers = tensor_of(x), tuple(_rank_number(r) for r in ranks)
    return _check_rank(x, lambda n: n in numbers, " in", numbers, message)


@worded
def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises ValueError unless the tensor has no axes.

    >>> import minitape as tf
    >>> tf.debugging.assert_scalar(1)
    """
    x = tensor_of(tensor)
    if x.shape.rank != 0:
        name = f" for {x.name}" if hasattr(x, "graph") and hasattr(x, "name") else ""
        raise ValueError(f"{_lead(message)}Expected scalar shape{name}, saw shape: {x.shape}.")


@worded
def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless the tensor has this dtype.

    >>> import minitape as tf
    >>> tf.debugging.assert_type(tf.constant(1), tf.int32)
    """
    x, wanted = tensor if hasattr(tensor, "_composite") else tensor_of(tensor), dtypes.as_dtype(tf_type)
    if x.dtype != wanted:
        name = _called(x, "tensor")
        raise TypeError(f"{_lead(message)}{name} must be of type {wanted!r}; got {x.dtype!r}")


@worded
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless ``x`` has an integer dtype.

    >>> import minitape as tf
    >>> tf.debugging.assert_integer(1)
    """
    x = tensor_of(x)
    if not x.dtype.is_integer:
        raise TypeError(f'{_lead(message)}Expected "x" to be integer type.  Found: tensor of dtype {x.dtype}')


@worded
def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """The float dtype that all tensors share; ValueError when they do not, or when it is no float.

    >>> import minitape as tf
    >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
    tf.float32
    """
    wanted, first = None if dtype is None else dtypes.as_dtype(dtype), None
    for t in tensors or ():
        if wanted is not None and t.dtype != wanted:
            like = "" if first is None else f" as {first!s}"
            raise ValueError(f"{t!s}, type={t.dtype}, must be of the same type ({wanted}){like}.")
        wanted, first = t.dtype, t if first is None else first
    wanted = wanted or dtypes.float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted


@worded
def assert_proper_iterable(values: Any) -> None:
    """Raises TypeError for tensors, arrays and strings, which can be iterated over but should not be taken for a list.

    >>> import minitape as tf
    >>> tf.debugging.assert_proper_iterable([1, 2])
    """
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or hasattr(values, "_composite"):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


@worded
def assert_shapes(
    shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Any:
    """Raises ValueError unless each (tensor, shape) pair fits, with letters standing for sizes that must agree.

    A shape is a tuple of ints, names, None, or ``...`` in front for any number of axes; the tensors may be sparse. What only
    a run of a graph knows is checked there, with InvalidArgumentError, which shows ``data`` (the pair) and ``summarize``
    elements (3). ``message`` begins the error's text.

    >>> import minitape as tf
    >>> tf.debugging.assert_shapes([(tf.zeros([2, 3]), ("n", 3)), (tf.zeros([2]), ("n",))])
    """
    known: dict[Any, tuple[Any, int, str]] = {}
    made = []
    for tensor, spec in shapes.items() if isinstance(shapes, dict) else shapes:
        x = tensor if hasattr(tensor, "dense_shape") and hasattr(tensor, "_composite") else tensor_of(tensor)
        pairs, ranked = _paired(x, spec, message)
        made += [ranked, *[_check_size(x, axis, symbol, known, message, data, summarize) for symbol, axis in pairs]]
    return None if state.graph is None else above.group(*[operation for operation in made if operation is not None])


def _paired(x: Any, spec: Any, message: str | None) -> tuple[list[tuple[Any, int]], Any]:
    """Symbols with the axes that they describe, from the end where any number come before; and the check of the rank."""
    if spec is None:
        return [], None
    label = _called(x, f"shape={x.shape} dtype={x.dtype.name}")
    if not (hasattr(spec, "__iter__") or hasattr(spec, "__getitem__")):
        raise ValueError(f"{_lead(message)}Tensor {label}.  Specified shape must be an iterable.  An iterable has the attribute "
                         f"`__iter__` or `__getitem__`.  Received specified shape: {spec}")  # fmt: skip
    symbols = list(spec)
    dots = [i for i, s in enumerate(symbols) if s in (Ellipsis, "*")]
    if any(dots):
        raise ValueError(f"{_lead(message)}Tensor {label} specified shape index {max(dots)}.  Symbol `...` or `*` for a "
                         "variable number of unspecified dimensions is only allowed as the first entry")  # fmt: skip
    if dots:
        least = len(symbols) - 1
        ranked = _check_rank(x, lambda n: (n or 1) >= least, " at least", (least,), message)
        return [(s, i - least) for i, s in enumerate(symbols[1:])], ranked
    symbols = symbols or [1]  # a scalar is as good as one element
    if len(symbols) == 1:
        ranked = _check_rank(x, lambda n: n <= 1, " in", (0, 1), message)
    else:
        ranked = _check_rank(x, lambda n: n == len(symbols), "", (len(symbols),), message)
    return [(s, i) for i, s in enumerate(symbols)], ranked


def _check_size(
    x: Any, axis: int, symbol: Any, known: dict[Any, Any], message: str | None, data: Any, summarize: int | None
) -> Any:
    """One size of ``x`` against the number, or the axis that had the symbol first: ``known[symbol]``."""
    if symbol is None or symbol == ".":
        return None
    if (isinstance(symbol, str) and symbol.isdecimal()) or isinstance(symbol, np.integer):
        symbol = int(symbol)
    label = _called(x, f"shape={x.shape} dtype={x.dtype.name}")
    if not isinstance(symbol, int) and symbol not in known:
        known[symbol] = x, axis, f"Specified by tensor {label} dimension {axis}"
        return None
    other, place, source = (None, 0, "Specified explicitly") if isinstance(symbol, int) else known[symbol]
    size, wanted = _static_size(x, axis), symbol if other is None else _static_size(other, place)
    if size is not None and wanted is not None:
        if size != wanted:
            raise ValueError(f"{_lead(message)}{source}.  Tensor {label} dimension {axis} must have size {wanted}.  "
                             f"Received size {size}, shape {x.shape}")  # fmt: skip
        return None

    def check(sizes: Any, others: Any) -> None:
        expected = symbol if other is None else _size(others.array, place)
        parts = (_lead(message), source, f"Tensor {label} dimension", axis, "must have size", expected, "Received shape: ", sizes)
        _graph_assert(_size(sizes.array, axis) == expected, [tensor_of(part) for part in data or parts], summarize)

    return _with_values(check, _sizes(x), _sizes(x if other is None else other))


def _size(sizes: Any, axis: int) -> int:
    return int(sizes[axis]) if sizes.size else 1


def _static_size(x: Any, axis: int) -> int | None:
    return None if x.shape.rank is None else x.shape[axis] if x.shape.rank else 1


def is_numeric_tensor(tensor: Any) -> bool:
    """True for a tensor of numbers.

    >>> import minitape as tf
    >>> tf.debugging.is_numeric_tensor(tf.constant(1.0)), tf.debugging.is_numeric_tensor(1.0)
    (True, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric
