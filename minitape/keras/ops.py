"""``tf.keras.ops``: functions of NumPy's style on tensors, also on symbolic ones (``tf.keras.Input``).

Most are a function of ``tf`` under another name. Where NumPy computes with floats, whole numbers become floats first.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import nest
from . import activations, losses
from .backend import convert, epsilon, floatx, is_keras_tensor, standardize_dtype

UNARY = """abs absolute=abs ceil=math.ceil conj=math.conj floor imag=math.imag isfinite=math.is_finite
isinf=math.is_inf isnan=math.is_nan logical_not negative real=math.real round sign square stop_gradient erf=math.erf
erfinv=math.erfinv rsqrt=math.rsqrt one_hot top_k=math.top_k in_top_k=math.in_top_k inv=linalg.inv det=linalg.det
cholesky=linalg.cholesky qr=linalg.qr trace=linalg.trace diagonal=linalg.diag_part reciprocal=math.reciprocal
bincount=math.bincount cross=linalg.cross"""
FLOATING = """arccos=acos arccosh=acosh arcsin=asin arcsinh=asinh arctan=atan arctanh=atanh cos cosh exp
expm1=math.expm1 log=math.log log1p=math.log1p sin sinh sqrt tan tanh"""
BINARY = """add equal floor_divide=math.floordiv greater greater_equal less less_equal logical_and logical_or
logical_xor=math.logical_xor matmul maximum minimum mod=math.floormod multiply not_equal power=pow subtract
solve=linalg.solve"""
FLOATING_BINARY = "arctan2=atan2 divide=truediv true_divide=truediv"
REDUCING = """all=reduce_all amax=reduce_max amin=reduce_min any=reduce_any max=reduce_max min=reduce_min
prod=reduce_prod sum=reduce_sum"""
AVERAGING = "logsumexp=reduce_logsumexp mean=reduce_mean std=math.reduce_std var=math.reduce_variance"
ACTIVATIONS = """elu hard_sigmoid hard_silu leaky_relu log_sigmoid log_softmax relu relu6 selu sigmoid silu softmax
softplus softsign swish=silu"""
LOSSES = "categorical_crossentropy sparse_categorical_crossentropy"


def _find(path: str) -> Any:
    import minitape as tf

    return functools.reduce(getattr, path.split("."), tf)


def _float(x: Any) -> Any:
    x = convert(x)
    return x if x.dtype.differentiable else convert(x, floatx())


def _symbolic(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which on symbolic tensors is noted instead of called."""

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        leaves = nest.flatten((args, kwargs))
        at = [i for i, leaf in enumerate(leaves) if is_keras_tensor(leaf)]
        if not at:
            return function(*args, **kwargs)
        from .symbolic import Step

        def later(*tensors: Any) -> Any:
            given = list(leaves)
            for i, tensor in zip(at, tensors, strict=True):
                given[i] = tensor
            new_args, new_kwargs = nest.pack_sequence_as((args, kwargs), given)
            return function(*new_args, **new_kwargs)

        return Step(later, function.__name__)(*[leaves[i] for i in at])

    return either


def _alias(name: str, path: str, prepare: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(x: Any, *args: Any, **kwargs: Any) -> Any:
        return _find(path)(prepare(x), *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``tf.{path}``, as NumPy names it."
    return _symbolic(function)


def _binary(name: str, path: str, prepare: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(x1: Any, x2: Any) -> Any:
        x1, x2 = alike(x1, x2)
        return _find(path)(prepare(x1), prepare(x2))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``tf.{path}``; a Python number takes the type of the tensor beside it."
    return _symbolic(function)


def alike(x: Any, y: Any) -> tuple[Any, Any]:
    """Two tensors of one type: that of the one that has one, floats before whole numbers."""
    if not hasattr(x, "dtype") and hasattr(y, "dtype"):
        x, y = convert(x), convert(y)
        return (x, y) if x.dtype.is_floating and not y.dtype.differentiable else (convert(x, y.dtype.name), y)
    if not hasattr(y, "dtype") and hasattr(x, "dtype"):
        return alike(y, x)[::-1]
    x, y = convert(x), convert(y)
    if x.dtype != y.dtype and x.dtype.differentiable != y.dtype.differentiable:
        x, y = (x, convert(y, x.dtype.name)) if x.dtype.differentiable else (convert(x, y.dtype.name), y)
    return x, y


def _reduction(name: str, path: str, prepare: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return _find(path)(prepare(x), axis=axis, keepdims=keepdims)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``tf.{path}`` over an axis, several, or all."
    return _symbolic(function)


def _install() -> None:
    for table, make, prepare in (
        (UNARY, _alias, convert), (FLOATING, _alias, _float), (BINARY, _binary, convert),
        (FLOATING_BINARY, _binary, _float), (REDUCING, _reduction, convert), (AVERAGING, _reduction, _float),
    ):  # fmt: skip
        for item in table.split():
            name, _, path = item.partition("=")
            globals()[name] = make(name, path or name, prepare)
    for home, names in ((activations, ACTIVATIONS), (losses, LOSSES)):
        for item in names.split():
            name, _, target = item.partition("=")
            globals()[name] = _symbolic(getattr(home, target or name))


_install()


# -- making -----------------------------------------------------------------------------------------------------------


def convert_to_tensor(x: Any, dtype: Any = None, sparse: Any = None, ragged: Any = None) -> Any:
    """``x`` as a tensor."""
    return convert(x, dtype)


def array(x: Any, dtype: Any = None) -> Any:
    """``x`` as a tensor."""
    return convert(x, dtype)


def convert_to_numpy(x: Any) -> Any:
    """The array of a tensor."""
    return np.array(convert(x).numpy())


def is_tensor(x: Any) -> bool:
    """True for a tensor."""
    import minitape as tf

    return tf.is_tensor(x)


def cast(x: Any, dtype: Any) -> Any:
    """``x`` with elements of another type."""
    return x.cast(dtype) if is_keras_tensor(x) else convert(x, dtype)


def shape(x: Any) -> tuple[Any, ...]:
    """The sizes as a tuple."""
    return tuple(x.shape)


def ndim(x: Any) -> int:
    """The number of axes."""
    return len(x.shape if is_keras_tensor(x) else convert(x).shape)


def size(x: Any) -> Any:
    """The number of elements."""
    import minitape as tf

    return tf.size(convert(x))


def _maker(name: str, path: str) -> Callable[..., Any]:
    def function(shape: Any, dtype: Any = None) -> Any:
        return _find(path)(shape, standardize_dtype(dtype or floatx()))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"A tensor of {name}, of floats by default."
    return function


zeros, ones = _maker("zeros", "zeros"), _maker("ones", "ones")


@_symbolic
def zeros_like(x: Any, dtype: Any = None) -> Any:
    """Zeros in the shape of ``x``."""
    return _find("zeros_like")(convert(x), dtype)


@_symbolic
def ones_like(x: Any, dtype: Any = None) -> Any:
    """Ones in the shape of ``x``."""
    return _find("ones_like")(convert(x), dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """A tensor of one value, of floats by default."""
    return _find("fill")(shape, convert(fill_value, dtype or floatx()))


def identity(n: int, dtype: Any = None) -> Any:
    """Ones on the diagonal of a square, zeros elsewhere."""
    return eye(n, dtype=dtype)


def meshgrid(*x: Any, indexing: str = "xy") -> Any:
    """Grids of coordinates."""
    return _find("meshgrid")(*[convert(v) for v in x], indexing=indexing)


def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None, sorted: bool = False) -> Any:
    """The sums of the rows with the same number."""
    ids = convert(segment_ids)
    count = int(np.max(ids.numpy(), initial=-1)) + 1 if num_segments is None else num_segments
    return _find("math.unsorted_segment_sum")(convert(data), ids, count)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """Ones on a diagonal, zeros elsewhere."""
    return convert(np.eye(N, M, k), dtype or floatx())


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """Numbers from ``start`` (0 when it alone is given) up to ``stop``."""
    first, last = (0, start) if stop is None else (start, stop)
    whole = builtins.all(isinstance(v, int) for v in (first, last, step or 1))
    return convert(np.arange(first, last, step or 1), dtype or ("int32" if whole else floatx()))


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    """``num`` numbers from ``start`` to ``stop``."""
    return convert(np.linspace(start, stop, num, endpoint), dtype or floatx())


# -- shape ------------------------------------------------------------------------------------------------------------


@_symbolic
def reshape(x: Any, newshape: Any) -> Any:
    """The elements in another shape."""
    return _find("reshape")(convert(x), newshape)


@_symbolic
def transpose(x: Any, axes: Any = None) -> Any:
    """The axes in another order."""
    return _find("transpose")(convert(x), axes)


@_symbolic
def expand_dims(x: Any, axis: int) -> Any:
    """A new axis of size 1."""
    return _find("expand_dims")(convert(x), axis)


@_symbolic
def squeeze(x: Any, axis: Any = None) -> Any:
    """Without axes of size 1."""
    return _find("squeeze")(convert(x), axis)


@_symbolic
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    x = convert(x)
    order = list(range(len(x.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return _find("transpose")(x, order)


@_symbolic
def concatenate(xs: Any, axis: int = 0) -> Any:
    """Tensors joined along an axis."""
    return _find("concat")([convert(x) for x in xs], axis)


@_symbolic
def stack(x: Any, axis: int = 0) -> Any:
    """Tensors along a new axis."""
    return _find("stack")([convert(v) for v in x], axis)


@_symbolic
def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """The pieces: so many of one size, or cut before these places."""
    x = convert(x)
    if isinstance(indices_or_sections, int):
        return _find("split")(x, indices_or_sections, axis)
    ends = [0, *indices_or_sections, x.shape[axis]]
    return _find("split")(x, list(np.diff(ends)), axis)


@_symbolic
def tile(x: Any, repeats: Any) -> Any:
    """Copies side by side."""
    x = convert(x)
    repeats = [repeats] if isinstance(repeats, int) else list(repeats)
    return _find("tile")(x, [1] * (len(x.shape) - len(repeats)) + repeats)


@_symbolic
def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times."""
    return _find("repeat")(convert(x), repeats, axis)


@_symbolic
def flip(x: Any, axis: Any = None) -> Any:
    """The order of an axis (of all by default) turned around."""
    x = convert(x)
    axes = range(len(x.shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    return _find("reverse")(x, list(axes))


@_symbolic
def ravel(x: Any) -> Any:
    """All elements along one axis."""
    return _find("reshape")(convert(x), [-1])


@_symbolic
def broadcast_to(x: Any, shape: Any) -> Any:
    """``x`` repeated to a shape."""
    return _find("broadcast_to")(convert(x), shape)


@_symbolic
def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Any:
    """``x`` with a border."""
    return _find("pad")(convert(x), pad_width, mode.upper(), constant_values or 0)


@_symbolic
def moveaxis(x: Any, source: int, destination: int) -> Any:
    """An axis moved to another place."""
    x = convert(x)
    order = list(range(len(x.shape)))
    order.insert(destination % len(order), order.pop(source))
    return _find("transpose")(x, order)


@_symbolic
def unstack(x: Any, num: int | None = None, axis: int = 0) -> Any:
    """The slices along an axis."""
    return _find("unstack")(convert(x), num, axis)


@_symbolic
def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved on, the last ones to the beginning."""
    x = convert(x)
    if axis is None:
        return _find("reshape")(_find("roll")(_find("reshape")(x, [-1]), shift, 0), x.shape)
    return _find("roll")(x, shift, axis)


@_symbolic
def hstack(xs: Any) -> Any:
    """Tensors joined along their second axis (the first of vectors)."""
    xs = [convert(x) for x in xs]
    return _find("concat")(xs, 0 if len(xs[0].shape) == 1 else 1)


@_symbolic
def vstack(xs: Any) -> Any:
    """Tensors joined along their first axis; vectors are rows."""
    return _find("concat")([x if len(x.shape) > 1 else x[None] for x in map(convert, xs)], 0)


# -- picking ----------------------------------------------------------------------------------------------------------


@_symbolic
def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """The elements (or slices along an axis) at these places."""
    x = convert(x)
    return _find("gather")(_find("reshape")(x, [-1]) if axis is None else x, indices, axis=axis or 0)


@_symbolic
def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    """``x1`` where the condition holds, else ``x2``; without them the places where it holds."""
    if x1 is None or x2 is None:
        found = _find("where")(convert(condition, "bool"))
        return _find("unstack")(convert(found, "int32"), axis=1)
    x1, x2 = alike(x1, x2)
    return _find("where")(convert(condition, "bool"), x1, x2)


@_symbolic
def nonzero(x: Any) -> Any:
    """The places of the elements that are not 0."""
    return where(convert(x) != 0)


@_symbolic
def tril(x: Any, k: int = 0) -> Any:
    """What stands on the diagonal and below, zeros above."""
    x = convert(x)
    return _find("where")(np.tri(*x.shape[-2:], k, dtype=bool), x, _find("zeros_like")(x))


@_symbolic
def triu(x: Any, k: int = 0) -> Any:
    """What stands on the diagonal and above, zeros below."""
    x = convert(x)
    return _find("where")(~np.tri(*x.shape[-2:], k - 1, dtype=bool), x, _find("zeros_like")(x))


@_symbolic
def diag(x: Any, k: int = 0) -> Any:
    """A matrix with this diagonal, or the diagonal of a matrix."""
    x = convert(x)
    return _find("linalg.diag" if len(x.shape) == 1 else "linalg.diag_part")(x, k=k)


@_symbolic
def slice(inputs: Any, start_indices: Any, shape: Any) -> Any:
    """The block of this shape that begins here."""
    return _find("slice")(convert(inputs), start_indices, shape)


def scatter(indices: Any, values: Any, shape: Any) -> Any:
    """Zeros with values added at these places."""
    return _find("scatter_nd")(indices, convert(values), shape)


def scatter_update(inputs: Any, indices: Any, updates: Any) -> Any:
    """A tensor with other values at these places."""
    return _find("tensor_scatter_nd_update")(convert(inputs), indices, updates)


@_symbolic
def clip(x: Any, x_min: Any, x_max: Any) -> Any:
    """``x`` within the bounds."""
    return _find("clip_by_value")(convert(x), x_min, x_max)


@_symbolic
def gelu(x: Any, approximate: bool = True) -> Any:
    """``x`` times the normal distribution function of ``x``, approximated by default."""
    return activations.gelu(x, approximate)


@_symbolic
def logaddexp(x1: Any, x2: Any) -> Any:
    """The logarithm of the sum of the exponentials."""
    x1, x2 = (_float(x) for x in alike(x1, x2))
    return _find("maximum")(x1, x2) + _find("math.log1p")(_find("exp")(-_find("abs")(x1 - x2)))


@_symbolic
def average(x: Any, axis: Any = None, weights: Any = None) -> Any:
    """The mean, weighed if wanted."""
    x = _float(x)
    if weights is None:
        return _find("reduce_mean")(x, axis)
    weights = convert(weights, x.dtype.name)
    return _find("reduce_sum")(x * weights, axis) / _find("reduce_sum")(weights, axis)


@_symbolic
def count_nonzero(x: Any, axis: Any = None) -> Any:
    """How many elements are not 0."""
    return _find("math.count_nonzero")(convert(x), axis, dtype="int32")


@_symbolic
def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """The differences of neighbours, ``n`` times."""
    a = convert(a)
    for _ in range(n):
        count = a.shape[axis]
        a = _find("gather")(a, list(range(1, count)), axis=axis) - _find("gather")(a, list(range(count - 1)), axis=axis)
    return a


@_symbolic
def nan_to_num(x: Any, nan: float = 0.0) -> Any:
    """NaN replaced by a number."""
    x = convert(x)
    return _find("where")(_find("math.is_nan")(x), convert(nan, x.dtype.name), x)


@_symbolic
def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The crossentropy of each element."""
    target, output = convert(target), convert(output)
    if from_logits:
        return _find("nn.sigmoid_cross_entropy_with_logits")(target, output)
    output = _find("clip_by_value")(output, epsilon(), 1.0 - epsilon())
    return -(target * _find("math.log")(output) + (1 - target) * _find("math.log")(1 - output))


@_symbolic
def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Where the largest element is; counted through all axes by default."""
    return _arg("argmax", convert(x), axis, keepdims)


@_symbolic
def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Where the smallest element is; counted through all axes by default."""
    return _arg("argmin", convert(x), axis, keepdims)


def _arg(name: str, x: Any, axis: int | None, keepdims: bool) -> Any:
    flat = _find("reshape")(x, [-1]) if axis is None else x
    found = _find(name)(flat, axis=axis or 0, output_type="int32")
    if not keepdims:
        return found
    return _find("reshape")(found, [1] * len(x.shape)) if axis is None else _find("expand_dims")(found, axis)


@_symbolic
def argsort(x: Any, axis: int | None = -1) -> Any:
    """The order of the elements."""
    x = convert(x)
    return _find("argsort")(_find("reshape")(x, [-1]) if axis is None else x, axis=-1 if axis is None else axis)


@_symbolic
def sort(x: Any, axis: int = -1) -> Any:
    """The elements in order."""
    return _find("sort")(convert(x), axis=axis)


@_symbolic
def cumsum(x: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Sums of all elements up to each."""
    x = convert(x, dtype)
    return _find("cumsum")(_find("reshape")(x, [-1]) if axis is None else x, axis=axis or 0)


@_symbolic
def cumprod(x: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Products of all elements up to each."""
    x = convert(x, dtype)
    return _find("math.cumprod")(_find("reshape")(x, [-1]) if axis is None else x, axis=axis or 0)


# -- products ---------------------------------------------------------------------------------------------------------


@_symbolic
def dot(x1: Any, x2: Any) -> Any:
    """The sum over the last axis of ``x1`` and the last but one of ``x2``."""
    x1, x2 = alike(x1, x2)
    if not x1.shape.rank or not x2.shape.rank:
        return x1 * x2
    return _find("tensordot")(x1, x2, axes=[[-1], [builtins.max(x2.shape.rank - 2, 0)]])


@_symbolic
def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """The sum over pairs of axes."""
    return _find("tensordot")(convert(x1), convert(x2), axes)


@_symbolic
def outer(x1: Any, x2: Any) -> Any:
    """All products of two elements."""
    x1, x2 = (_find("reshape")(convert(x), [-1]) for x in (x1, x2))
    return x1[:, None] * x2[None, :]


@_symbolic
def einsum(subscripts: str, *operands: Any) -> Any:
    """Sums of products by Einstein's convention."""
    return _find("einsum")(subscripts, *[convert(x) for x in operands])


@_symbolic
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The length of vectors."""
    return _find("norm")(_float(x), "euclidean" if ord is None else ord, axis, keepdims)


@_symbolic
def normalize(x: Any, axis: int = -1, order: int = 2, epsilon: float | None = None) -> Any:
    """Vectors of length 1 along an axis."""
    x = _float(x)
    if order == 2:
        return _find("math.l2_normalize")(x, axis, 1e-12 if epsilon is None else epsilon**2)
    return x / _find("maximum")(_find("norm")(x, order, axis, True), 1e-7 if epsilon is None else epsilon)


@_symbolic
def vdot(x1: Any, x2: Any) -> Any:
    """The sum of the products of all elements."""
    x1, x2 = alike(x1, x2)
    return _find("reduce_sum")(_find("math.conj")(x1) * x2)


# -- control ----------------------------------------------------------------------------------------------------------


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """``true_fn()`` where ``pred`` holds, else ``false_fn()``."""
    return _find("cond")(convert(pred, "bool"), true_fn, false_fn)


def while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None) -> Any:
    """Calls ``body`` as long as ``cond`` holds."""
    single = not isinstance(loop_vars, (list, tuple))
    start = (loop_vars,) if single else tuple(loop_vars)

    def step(*values: Any) -> tuple[Any, ...]:
        found = body(*values)
        return tuple(found) if isinstance(found, (list, tuple)) else (found,)

    found = _find("while_loop")(cond, step, start, maximum_iterations=maximum_iterations)
    return found[0] if single else tuple(found)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """``body_fun(i, value)`` for each number, from ``init_val`` on."""
    return _find("while_loop")(
        lambda i, v: i < upper, lambda i, v: (i + 1, body_fun(i, v)), (convert(lower), convert(init_val))
    )[1]


def vectorized_map(function: Callable[..., Any], elements: Any) -> Any:
    """``function`` of each row."""
    return _find("vectorized_map")(function, elements)


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that brings its own gradient."""
    return _find("custom_gradient")(f)


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.ops", name, [n for n in globals() if not n.startswith("_")]))
