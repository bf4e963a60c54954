"""What all random functions share: how they take shapes and limits, and how their numbers become a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.recording.evidence import decided
from ...engine.recording.state import state
from ...engine.values import dtypes
from ...engine.values.invalid import invalid, shown
from ...engine.values.shape import TensorShape
from ...ops.convert import convert_to_tensor
from ...ops.operands import integers, tensor_of


def sizes_of(shape: Any, op: str) -> Any:
    """A shape argument as ints, after the kernel's checks; as a tensor where only a run of the graph knows it."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    elif state.graph is not None and not hasattr(tensor_of(shape), "array"):
        return tensor_of(shape)
    sizes = integers(shape, op, "T")
    if sizes.ndim != 1:
        raise invalid(f"shape must be a vector of {{int32,int64}}, got shape {shown(sizes.shape)}", op)
    for n in sizes.tolist():
        if n < 0:
            raise invalid(f"Dimension {n} must be >= 0", op)
    return tuple(sizes.tolist())


def known_sizes(shape: Any) -> TensorShape:
    """What a graph knows of a shape that is a tensor."""
    if shape.op.type == "Shape":
        return shape.op.inputs[0].shape
    if shape.op.type == "Pack":
        return TensorShape([int(n.array) if hasattr(n, "array") else None for n in shape.op.inputs])
    rank = shape.shape[0] if shape.shape.rank else None
    return TensorShape(None if rank is None else [None] * rank)


def limits_of(minval: Any, maxval: Any, dtype: Any, op: str, sizes: Any = None) -> tuple[int, int]:
    """The range of integer numbers, after the kernel's checks; where none are drawn, any range will do."""
    low, high = convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)
    for name, limit in (("minval", low), ("maxval", high)):
        if limit.ndim:
            raise invalid(f"{name} must be 0-D, got shape {limit.shape.as_list()}", op)
    if isinstance(sizes, (list, tuple)) and 0 in sizes:
        return 0, 1
    if not low.array < high.array:
        raise invalid(f"Need minval < maxval, got {low.array} >= {high.array}", op)
    return int(low.array), int(high.array)


def count_of(x: Any, count: Any, op: str) -> int:
    """How many class numbers each row of the logits ``x`` is to get, after the kernel's checks."""
    if x.shape.rank not in (2, None):
        raise invalid(f"logits should be a matrix, got shape {x.shape.as_list()}", op)
    samples = tensor_of(count, dtypes.int32)
    if samples.ndim:
        raise invalid(f"num_samples should be a scalar, got shape {samples.shape.as_list()}", op)
    if samples.array < 0:
        raise invalid(f"num_samples should be non-negative, got {samples.array}", op)
    if x.shape.rank and x.shape[-1] == 0:
        raise invalid("num_classes should be positive, got 0", op)
    return int(samples.array)


def check_dtype(dtype: Any, names: str) -> None:
    """ValueError for a dtype that is not among those of these names."""
    accepted = names.split()
    if dtype.name not in accepted:
        listed = ", ".join(f"tf.{name}" for name in accepted)
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are ({listed}).")


def scaled(numbers: Any, mean: Any, stddev: Any) -> Any:
    """Standard normal numbers times ``stddev`` plus ``mean``."""
    if type(mean) is float and type(stddev) is float and mean == 0 and stddev == 1:
        return numbers
    return numbers * convert_to_tensor(stddev, numbers.dtype) + convert_to_tensor(mean, numbers.dtype)


def check_numbers(values: Any, dtype: Any) -> None:
    """Raises what TensorFlow raises for parameters that are no numbers of this dtype."""
    for v in values:
        convert_to_tensor(v, dtype)


def spread(numbers: Any, minval: Any, maxval: Any) -> Any:
    """Numbers of [0, 1) spread over [minval, maxval), up to 1 for no ``maxval``; left alone where that is [0, 1)."""
    if maxval is None and type(minval) in (int, float) and minval == 0:
        return numbers
    low = convert_to_tensor(minval, numbers.dtype)
    high = convert_to_tensor(1 if maxval is None else maxval, numbers.dtype)
    return numbers * (high - low) + low


# what TensorFlow's graphs call the numbers of a kernel
_NAMES = {
    "RandomStandardNormal": "random_normal", "RandomUniform": "random_uniform/RandomUniform",
    "RandomUniformInt": "random_uniform", "TruncatedNormal": "truncated_normal", "RandomShuffle": "RandomShuffle",
    "Multinomial": "categorical/Multinomial",
}  # fmt: skip


def draw(run: Callable[..., list[Any]], shape: Any, dtype: Any, *tensors: Any) -> Any:
    """A tensor of the numbers that ``run`` makes of the tensors; in a graph, anew each time that it runs."""
    if state.graph is not None:
        from ...graphs.effects import draw_row

        return draw_row(run, tensors, (TensorShape(shape), dtype), _NAMES.get(getattr(run, "op", "")))
    return decided(run(*tensors)[0], tensors, "random sampling")
