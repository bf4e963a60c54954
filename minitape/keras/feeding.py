"""Where the batches of a training loop come from: arrays, or a dataset."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..engine.recording.evidence import exits, origin_of_new
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import nest
from ..ops.seeds import permutation


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """(x, y, sample weight) of a batch that may lack the last or the last two, as a ``train_step`` is given it.

    Raises ValueError for more than three.
    """
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise ValueError(
            f"Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: {data}"
        )
    x, y, weight = (*data, None, None)[:3]
    return x, y, weight


def _packed(x: Any, y: Any, weight: Any) -> Any:
    """A batch as ``train_step`` is given it; inputs alone stay as they are, but for a list or tuple of them."""
    if y is None and weight is None:
        return (x,) if isinstance(x, (list, tuple)) else x
    return (x, y) if weight is None else (x, y, weight)


class Feed:
    """The batches of each epoch: of arrays, or of a dataset or another iterable of batches.

    Raises ValueError for data of another kind, for arrays of different lengths, and for labels or weights beside what
    gives them itself; TypeError for a generator, which gives its batches only once.
    """

    def __init__(self, x: Any, y: Any, weight: Any, batch_size: int | None, shuffle: bool) -> None:
        self._shuffle = shuffle
        self.steps: int | None = None  # the number of batches in an epoch, None while it is unknown
        self._pass_over: Callable[[], Any] | None = getattr(x, "pass_over", None)
        self._source: Callable[[], Iterable]
        if (
            isinstance(x, (np.ndarray, Tensor, list, tuple, dict, str))
            or hasattr(x, "__array__")
            or not hasattr(x, "__iter__")
        ):
            self._arrays(x, y, weight, batch_size)
        else:
            self._stream(x, y, weight)

    def _stream(self, x: Any, y: Any, weight: Any) -> None:
        if isinstance(x, Iterator):
            raise TypeError(
                "minitape takes no generators as data: collect the arrays, or make a tf.data.Dataset of them."
            )
        for name, what, given in (("y", "targets", y), ("sample_weights", "sample weights", weight)):
            if given is not None:
                raise ValueError(
                    f"When providing `x` as a tf.data.Dataset, `{name}` should not be passed. Instead, the {what} "
                    "should be "
                    "included as part of the tf.data.Dataset."
                )
        if self._shuffle:
            warnings.warn(
                "`shuffle=True` was passed, but will be ignored since the data `x` was provided as a tf.data.Dataset. "
                "The "
                "Dataset is expected to already be shuffled (via `.shuffle(buffer_size)`).",
                stacklevel=4,
            )
        self._source = lambda: x
        try:
            self.steps = len(x)
        except TypeError:
            self.steps = None

    def _arrays(self, x: Any, y: Any, weight: Any, batch_size: int | None) -> None:
        given = [a for a in (x, y, weight) if a is not None]
        if not all(len(getattr(leaf, "shape", ())) for leaf in nest.flatten(given)):
            raise ValueError(f"Unrecognized data type: x={x} (of type {type(x)})")
        arrays = nest.map_structure(_array, given)
        made = _origins(given, arrays)
        sizes = {a.shape[0] for a in nest.flatten(arrays)}
        if len(sizes) != 1:
            names = [name for name, a in (("x", x), ("y", y), ("sample_weight", weight)) if a is not None]
            raise ValueError(
                "Data cardinality is ambiguous. Make sure all arrays contain the same number of samples."
                + "".join(
                    f"'{name}' sizes: {', '.join(str(a.shape[0]) for a in nest.flatten(array))}\n"
                    for name, array in zip(names, arrays, strict=True)
                )
            )
        count, size = sizes.pop(), batch_size or 32
        self.steps = math.ceil(count / size)

        def rows(array: Any, chosen: Any) -> Any:
            found = new_tensor(array[chosen])
            found._origin = made.get(id(array))
            return found

        def source() -> Iterator:
            order = permutation(count) if self._shuffle else np.arange(count)
            for start in range(0, count, size):
                chosen = order[start : start + size]
                found = iter(nest.map_structure(lambda a, c=chosen: rows(a, c), arrays))
                yield tuple(None if a is None else next(found) for a in (x, y, weight))

        self._source = source

    def epoch(self) -> Iterator[tuple[int, Any]]:
        """Pairs (number, batch) of one epoch."""
        batches = iter(self._source())
        step = -1
        for step, batch in enumerate(itertools.islice(batches, self.steps)):
            parts = (None if p is None else nest.map_structure(_tensor, p) for p in unpack_x_y_sample_weight(batch))
            yield step, _packed(*parts)
        if self.steps is None:
            self.steps = step + 1
            warnings.warn(
                "Your input ran out of data; interrupting training. Make sure that your dataset or generator can "
                "generate at "
                "least `steps_per_epoch * epochs` batches. You may need to use the `.repeat()` function when building "
                "your "
                "dataset.",
                stacklevel=3,
            )
        elif self._pass_over is not None:
            self._pass_over()  # Keras begins another iteration behind each epoch, and uses none of it


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) or hasattr(value, "_composite") else new_tensor(np.asarray(value))


def _array(value: Any) -> Any:
    """An array of one leaf: float64 becomes float32, as Keras feeds it."""
    array = value.array if isinstance(value, Tensor) else np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _origins(given: Any, arrays: Any) -> dict[int, Any]:
    """What `explain` will know of the batches of each array: that they are rows of a tensor, or of what had left
    one.
    """
    found: dict[int, Any] = {}
    for value, array in zip(nest.flatten(given), nest.flatten(arrays), strict=True):
        if isinstance(value, Tensor) or hasattr(value, "_read"):
            found[id(array)] = origin_of_new("row", (value,))
        elif (exit := exits().of(value)) is not None:
            found[id(array)] = origin_of_new("constant", (), exit)
    return found
