"""The versions of the functions of ``tf`` for ragged tensors, and which functions have one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.operands import placed
from ...engine.tensor import wrap
from .. import dispatch
from . import checks, elementwise
from .functions import (
    concat,
    expand_dims,
    gather,
    gather_nd,
    reshape,
    reverse,
    split,
    squeeze,
    stack,
    tile,
    where,
)
from .making import constant
from .mapping import map_flat_values, map_fn
from .parts import all_splits, is_ragged
from .reductions import (
    SEGMENT,
    cumsum,
    logsumexp,
    reduce,
    reduce_bool,
    reduce_mean,
    reduce_std,
    reduce_variance,
    reduction,
    segments,
)
from .tensor import RaggedTensor, as_ragged_or_tensor, make

UNARY = (
    "abs acos acosh asin asinh atan atanh ceil conj cos cosh digamma erf erfc erfcinv erfinv exp expm1 floor imag "
    "is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not ndtri negative real reciprocal rint round rsqrt "
    "sigmoid sign sin sinh softplus sqrt square tan tanh angle bessel_i0 bessel_i1 "
    "bessel_i0e bessel_i1e nextafter reciprocal_no_nan bitwise.invert math.special.bessel_j0 math.special.bessel_j1 "
    "math.special.bessel_k0 math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_y0 "
    "math.special.bessel_y1 math.special.dawsn math.special.expint math.special.fresnel_cos math.special.fresnel_sin "
    "math.special.spence"
).split()
BINARY = (
    "add atan2 divide divide_no_nan equal floordiv floormod greater greater_equal less less_equal logical_and "
    "logical_or logical_xor maximum minimum mod multiply multiply_no_nan not_equal pow squared_difference subtract "
    "truediv xdivy xlogy xlog1py zeta truncatediv truncatemod realdiv complex bitwise.bitwise_and bitwise.bitwise_or "
    "bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift"
).split()
ON_VALUES = (
    "identity stop_gradient cast saturate_cast zeros_like ones_like clip_by_value strings.lower strings.upper "
    "strings.strip strings.length strings.to_number strings.as_string strings.to_hash_bucket_fast "
    "strings.to_hash_bucket strings.to_hash_bucket_strong strings.regex_replace strings.regex_full_match "
    "strings.unicode_transcode strings.unicode_script nn.relu nn.relu6 nn.elu nn.selu nn.gelu nn.silu nn.leaky_relu "
    "nn.softsign nn.dropout debugging.check_numerics bitcast io.decode_raw"
).split()


def _on_values(plain: Any, first: Any, *args: Any, **kwargs: Any) -> Any:
    return first.with_flat_values(plain(first.flat_values, *args, **kwargs))


def _on_named_values(plain: Any, *args: Any, **kwargs: Any) -> Any:
    """The first ragged argument, also when it is given by its name."""
    if args and is_ragged(args[0]):
        return _on_values(plain, *args, **kwargs)
    name = next((k for k, v in kwargs.items() if is_ragged(v)), None)
    if name is None:
        raise ValueError("TypeError: object of type 'RaggedTensor' has no len()\n")
    return kwargs[name].with_flat_values(plain(*args, **{**kwargs, name: kwargs[name].flat_values}))


def _binary(plain: Any, *args: Any, **kwargs: Any) -> Any:
    x, y, *rest = (*args, *[kwargs.pop(k) for k in ("x", "y", "a", "b") if k in kwargs])
    return elementwise.apply(lambda a, b: plain(a, b, *rest, **kwargs), x, y)


def _embedding_lookup(plain: Any, params: Any, ids: Any, *args: Any, **kwargs: Any) -> Any:
    return ids.with_flat_values(plain(params, ids.flat_values, *args, **kwargs))


def _softmax(plain: Any, logits: Any, axis: Any = None, name: Any = None) -> Any:
    if axis not in (None, -1, len(logits.shape) - 1):
        raise ValueError("tf.nn.softmax of a RaggedTensor: minitape supports the last axis only.")
    widest = reduce("reduce_max", logits, -1, True)
    grown = elementwise.apply(
        elementwise.function("subtract"),
        logits,
        elementwise.function("stop_gradient")(widest) if not is_ragged(widest) else widest,
    )
    powers = grown.with_flat_values(elementwise.function("exp")(grown.flat_values))
    return elementwise.apply(elementwise.function("divide"), powers, reduce("reduce_sum", powers, -1, True))


def _shape(plain: Any, input: Any, out_type: Any = None, name: Any = None) -> Any:
    from .shape import DynamicRaggedShape

    return DynamicRaggedShape.from_tensor(input, dtypes.int32 if out_type is None else out_type)


def _size(plain: Any, input: Any, out_type: Any = dtypes.int32, name: Any = None) -> Any:
    return plain(input.flat_values, out_type=out_type)


def _rank(plain: Any, input: Any, name: Any = None) -> Any:
    return wrap(np.int32(len(input.shape)))


def _segment_version(reduction: str) -> Any:
    def version(plain: Any, data: Any, segment_ids: Any, num_segments: Any, name: Any = None) -> Any:
        if is_ragged(segment_ids):
            return plain(data.flat_values, segment_ids.flat_values, num_segments)
        return segments(reduction, data, np.asarray(as_ragged_or_tensor(segment_ids).array), int(num_segments))

    return version


def _one_hot(plain: Any, indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None,
             dtype: Any = None, name: Any = None) -> Any:  # fmt: skip
    if axis is not None and axis >= 0:
        if axis <= indices.ragged_rank:
            raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank}).")
        axis -= indices.ragged_rank
    return indices.with_flat_values(plain(indices.flat_values, depth, on_value, off_value, axis, dtype))


def _substr(plain: Any, input: Any, pos: Any, len: Any, *args: Any, **kwargs: Any) -> Any:
    flat = [v.flat_values if is_ragged(v) else v for v in (input, pos, len)]
    return input.with_flat_values(plain(*flat, *args, **kwargs))


def _strings_join(plain: Any, inputs: Any, separator: str = "", name: Any = None) -> Any:
    shape = next(v for v in inputs if is_ragged(v))
    flat = []
    for v in inputs:
        v = as_ragged_or_tensor(v)
        if not is_ragged(v) and v.ndim:
            v = elementwise.broadcast(v, shape)[0]
        if is_ragged(v) and not np.array_equal(v._splits, shape._splits):
            raise checks.unequal(shape._splits, v._splits)
        flat.append(v.flat_values if is_ragged(v) else v)
    return shape.with_flat_values(plain(flat, separator))


def _reduce_join(
    plain: Any, inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: Any = None
) -> Any:
    rank = len(inputs.shape)
    given = range(rank) if axis is None else np.reshape(axis, -1).tolist()
    out, between = inputs, separator.encode()
    for at in sorted((checks.axis(int(a), rank) for a in given), reverse=True):
        joined = _joined(out.to_list() if is_ragged(out) else out.numpy().tolist(), at, between)
        out = constant(joined, dtypes.string, max(out.ragged_rank - 1, 0) if is_ragged(out) else 0)
        out = expand_dims(out, at) if keepdims else out
    return out


def _joined(rows: Any, axis: int, between: bytes) -> Any:
    """Nested lists of text, joined along an axis; where rows are short, fewer texts are joined."""
    if axis:
        return [_joined(row, axis - 1, between) for row in rows]
    if not any(isinstance(row, list) for row in rows):
        return between.join(rows)
    width = max(map(len, rows))
    return [_joined([row[i] for row in rows if len(row) > i], 0, between) for i in range(width)]


def _strings_split(plain: Any, input: Any, sep: Any = None, maxsplit: int = -1, name: Any = None) -> Any:
    return _deeper(input, plain(input.flat_values, sep, maxsplit))


def _deeper(outer: Any, inner: Any) -> Any:
    """The rows of ``outer`` with a ragged tensor as their flat values."""
    if is_ragged(outer._values):
        return make(_deeper(outer._values, inner), outer._splits, outer._uniform)
    return make(inner, outer._splits, outer._uniform)


def _format(plain: Any, template: Any, inputs: Any, placeholder: str = "{}", summarize: int = 3,
            name: Any = None) -> Any:  # fmt: skip
    several = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    pieces, hole = template.split(placeholder), "\0"
    if len(pieces) != len(several) + 1:
        raise ValueError("num placeholders in template and num inputs must match: "
                         f"{len(pieces) - 1} vs {len(several)}")  # fmt: skip
    shown = [v._print_text(summarize) if is_ragged(v) else hole for v in several]
    whole = "".join(piece + text for piece, text in zip(pieces, [*shown, ""], strict=True))
    return plain(whole, [v for v in several if not is_ragged(v)], hole, summarize)


def _is_tensor(plain: Any, x: Any) -> bool:
    return True


def _assert_equal(plain: Any, x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
    for a, b in zip(all_splits(x), all_splits(y), strict=True):
        if not np.array_equal(a, b):
            raise checks.unequal(a, b)
    return plain(x.flat_values, y.flat_values, *args, **kwargs)


VERSIONS: dict[str, Any] = {
    **dict.fromkeys((*UNARY, *ON_VALUES), _on_named_values),
    **dict.fromkeys(BINARY, _binary),
    **{name: reduction(partial(reduce, name)) for name in SEGMENT},
    **{segment: _segment_version(segment) for segment in SEGMENT.values()},
    "reduce_mean": reduction(reduce_mean),
    "reduce_variance": reduction(reduce_variance),
    "reduce_std": reduction(reduce_std),
    "reduce_logsumexp": reduction(logsumexp),
    "cumsum": lambda plain, x, axis=0, exclusive=False, reverse=False, name=None: cumsum(x, axis, exclusive, reverse),
    "reduce_all": reduce_bool("reduce_prod"),
    "reduce_any": reduce_bool("reduce_sum"),
    "concat": lambda plain, values, axis, name=None: concat(values, axis),
    "stack": lambda plain, values, axis=0, name=None: stack(values, axis),
    "tile": lambda plain, input, multiples, name=None: tile(input, multiples),
    "split": lambda plain, value, num_or_size_splits, axis=0, num=None, name=None: split(
        value, num_or_size_splits, axis, num
    ),
    "expand_dims": lambda plain, input, axis, name=None: expand_dims(input, axis),
    "squeeze": lambda plain, input, axis=None, name=None: squeeze(input, axis),
    "reverse": lambda plain, tensor, axis, name=None: reverse(tensor, axis),
    "reshape": lambda plain, tensor, shape, name=None: reshape(tensor, shape),
    "gather": lambda plain, params, indices, validate_indices=None, axis=None, batch_dims=0, name=None: gather(
        params, indices, batch_dims if axis is None else axis, batch_dims
    ),
    "gather_nd": lambda plain, params, indices, batch_dims=0, name=None, bad_indices_policy="": gather_nd(
        params, indices, batch_dims, bad_indices_policy
    ),
    "where": lambda plain, condition, x=None, y=None, name=None: where(condition, x, y),
    "map_fn": map_fn,
    "shape": _shape,
    "size": _size,
    "rank": _rank,
    "one_hot": _one_hot,
    "is_tensor": _is_tensor,
    "add_n": lambda plain, inputs, name=None: map_flat_values(lambda *values: plain(list(values)), *inputs),
    "nn.embedding_lookup": _embedding_lookup,
    "nn.softmax": _softmax,
    "strings.substr": _substr,
    "strings.join": _strings_join,
    "strings.reduce_join": _reduce_join,
    "strings.split": _strings_split,
    "strings.format": _format,
    "debugging.assert_equal": _assert_equal,
}


def install() -> None:
    """Gives the functions of ``tf`` their versions for ragged tensors."""
    dispatch.install(RaggedTensor, {name: placed(version) for name, version in VERSIONS.items()})
