"""What must hold of row partitions, in TensorFlow's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.evidence import planned
from ...engine.invalid import invalid

SHOWN = 3


def partition(value: Any, name: str) -> Any:
    """Row splits (or lengths, starts, ...) as an int32 or int64 array of one axis."""
    tensor = numbers(value, name)
    planned(tensor)
    return np.asarray(tensor.array)


def numbers(value: Any, name: str) -> Any:
    """The same as a tensor."""
    tensor = _hinted(value)
    if tensor.shape.rank not in (None, 1):
        raise ValueError(f"Shape {tensor.shape} must have rank 1")
    if name == "row_splits" and tensor.shape.rank and tensor.shape[0] == 0:
        raise ValueError("row_splits tensor may not be empty.")
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")
    return tensor


def integers(value: Any, name: str) -> Any:
    """Whole numbers of one axis as an int32 or int64 array; TypeError for others."""
    tensor = _hinted(value)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument `tensor` (name: {name}) must be of type integer. Received `tensor` = {tensor} of "
                        f"dtype: {tensor.dtype}")  # fmt: skip
    return partition(tensor, name)


def _hinted(value: Any) -> Any:
    """As a tensor; lists and arrays are made int64 where they can, but for int32 arrays."""
    if isinstance(value, np.ndarray) and value.dtype != np.int32 and value.dtype.kind in "iuf":
        return convert_to_tensor(value, dtypes.int64)
    if hasattr(value, "dtype") or hasattr(value, "_read"):
        return convert_to_tensor(value)
    return convert_to_tensor(value, dtypes.int64 if len(np.shape(value)) and not np.size(value) else None,
                             dtype_hint=dtypes.int64)  # fmt: skip


def whole(value: Any, name: str) -> int:
    """An int32 or int64 scalar; ValueError for another dtype, or with axes."""
    given = convert_to_tensor(value)
    if given.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")
    if given.ndim:
        raise ValueError(f"Shape {given.shape} must have rank 0")
    return int(given.array)


def dtypes_shape(array: Any) -> str:
    """The shape of an array as a TensorShape prints it."""
    from ...engine.shape import TensorShape

    return str(TensorShape(array.shape))


def splits_dtype(dtype: Any) -> Any:
    """int32 or int64 as a NumPy type; ValueError for another."""
    wanted = dtypes.as_dtype(dtype)
    if wanted not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Expected int64 or int32 for dtype: got {wanted!r}.")
    return wanted.as_numpy_dtype


def splits(values: Any) -> None:
    """Splits begin at zero and never fall."""
    if values[0] != 0:
        raise unequal(
            values[:1],
            np.zeros(1, values.dtype),
            "Arguments to from_row_splits do not form a valid RaggedTensor:zero\n",
        )
    not_negative(np.diff(values), "Arguments to from_row_splits do not form a valid RaggedTensor:monotonic")


def starts(values: Any, total: int) -> None:
    """Starts begin at zero, never fall, and lie within the values."""
    message = "Arguments to from_row_starts do not form a valid RaggedTensor"
    if values.size and values[0] != 0:
        raise unequal(values[:1], np.zeros(1, values.dtype), message + "\n")
    not_negative(np.diff(values), message)
    if values.size and values[-1] > total:
        raise invalid(
            f"{message}\nCondition x <= y did not hold.\nFirst 1 elements of x:\n[{values[-1]}]\nFirst 1 elements "
            f"of y:\n[{total}]"
        )


def ends(last: Any, total: int | None) -> None:
    """The last split is the number of values, as far as that is known."""
    if total is not None and int(last) != total:
        raise unequal(
            np.array([last]), np.array([total]), "Arguments to _from_row_partition do not form a valid RaggedTensor\n"
        )


def not_negative(values: Any, message: str) -> None:
    """InvalidArgumentError unless all are >= 0."""
    if (values < 0).any():
        shown = [str(v) for v in values[:SHOWN].tolist()] + (["..."] if len(values) > SHOWN else [])
        raise invalid(
            f"{message}.  \nCondition x >= 0 did not hold element-wise:\nx (shape={dtypes_shape(values)} "
            f"dtype={values.dtype.name}) = \n"
            + (str(shown).replace("'...'", "...") if len(values) > SHOWN else str(shown))
        )


def unequal(x: Any, y: Any, message: str = "") -> Exception:
    """The error of a comparison that failed, showing where the two differ."""
    text = f"{message}Condition x == y did not hold.\n"
    if x.shape == y.shape and x.size > 1:
        where = np.flatnonzero(x != y)[:SHOWN]
        text += (
            f"Indices of first {len(where)} different values:\n{where[:, None]}\nCorresponding x values:\n{x[where]}\n"
            f"Corresponding y values:\n{y[where]}\n"
        )
    count_x, count_y = min(x.size, SHOWN), min(y.size, SHOWN)
    return invalid(
        f"{text}First {count_x} elements of x:\n{x[:count_x]}\nFirst {count_y} elements of y:\n{y[:count_y]}"
    )


def axis(value: Any, rank: int, extra: int = 0, name: str = "axis") -> int:
    """A possibly negative axis counted from the front; ValueError when there is none such, TypeError unless an int."""
    if isinstance(value, (str, bytes, float)) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int; got {type(value).__name__}")
    value = int(value)
    limit = rank + extra
    if not -limit <= value < limit:
        raise ValueError(f"{name}={value} out of bounds: expected {-limit}<={name}<{limit}")
    return value % limit


def cuts_of(row_splits: Any) -> Any:
    """Row splits as an array, or where only a run of the graph knows them as the tensor that they are."""
    tensor = numbers(row_splits, "row_splits")
    known = getattr(tensor, "array", None)
    return tensor if known is None else np.asarray(known)
