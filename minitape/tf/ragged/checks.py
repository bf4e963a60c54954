"""What must hold of row splits and row lengths, in TensorFlow's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.evidence import planned
from ...engine.invalid import invalid
from ...engine.shape import TensorShape

SHOWN = 3  # so many numbers a message shows


def partition(value: Any, name: str) -> Any:
    """Row splits or row lengths as an int32 or int64 array of one axis."""
    known = hasattr(value, "dtype") or hasattr(value, "_read")
    tensor = convert_to_tensor(value) if known else convert_to_tensor(value, dtypes.int64)
    if tensor.shape.rank not in (None, 1):
        raise ValueError(f"Shape {tensor.shape} must have rank 1")
    if name == "row_splits" and tensor.shape.rank and tensor.shape[0] == 0:
        raise ValueError("row_splits tensor may not be empty.")
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")
    planned(tensor)
    array = getattr(tensor, "array", None)
    if array is None:
        raise ValueError(f"minitape cuts a ragged tensor at {name} that it knows while it traces a function; {tensor} is "
                         "known only when the graph runs.")  # fmt: skip
    return np.asarray(array)


def splits(values: Any) -> None:
    """Splits begin at zero and never fall."""
    what = "Arguments to from_row_splits do not form a valid RaggedTensor:"
    if values[0] != 0:
        raise unequal(values[:1], np.zeros(1, values.dtype), f"{what}zero\n")
    not_negative(np.diff(values), f"{what}monotonic")


def ends(last: Any, total: int) -> None:
    """The last split is the number of values."""
    if int(last) != total:
        what = "Arguments to _from_row_partition do not form a valid RaggedTensor\n"
        raise unequal(np.array([last]), np.array([total]), what)


def not_negative(values: Any, message: str) -> None:
    """InvalidArgumentError unless all are >= 0."""
    if (values < 0).any():
        shown = ", ".join(f"'{v}'" for v in values[:SHOWN].tolist()) + (", ..." if len(values) > SHOWN else "")
        raise invalid(f"{message}.  \nCondition x >= 0 did not hold element-wise:\nx (shape={TensorShape(values.shape)} "
                      f"dtype={values.dtype.name}) = \n[{shown}]")  # fmt: skip


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
