"""Where the batches of a training loop come from: arrays, a dataset, or a generator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import nest
from ..randomness import permutation
from ..tensor import Tensor, wrap


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """(x, y, weight) of a batch that may lack the last or the last two.

    >>> unpack_x_y_sample_weight((1, 2))
    (1, 2, None)
    """
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise ValueError(
            f"Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: {data}"
        )
    return (*data, None, None)[:3]  # type: ignore[return-value]


class Feed:
    """The batches of each epoch. ``steps`` is their number, None while it is unknown."""

    def __init__(
        self,
        x: Any,
        y: Any,
        weight: Any,
        batch_size: int | None,
        steps: int | None,
        shuffle: bool,
        class_weight: Any = None,
    ) -> None:
        self._class_weight, self._shuffle = class_weight, shuffle
        self._arrays: Any = None
        self._running: Any = None
        self._limit = steps
        if _is_stream(x):
            if y is not None or weight is not None:
                kind = "a `tf.data.Dataset`" if hasattr(x, "element_spec") else "a generator"
                raise ValueError(
                    f"`y` and `sample_weight` should not be passed when `x` is {kind}: it gives them itself."
                )
            self._stream = x
            try:
                self.steps: int | None = steps or len(x)
            except TypeError:
                self.steps = steps
            return
        self._arrays = tuple(None if a is None else nest.map_structure(_array, a) for a in (x, y, weight))
        sizes = {len(a) for a in nest.flatten([a for a in self._arrays if a is not None])}
        if len(sizes) != 1:
            raise ValueError(
                "Data cardinality is ambiguous. Make sure all arrays contain the same number of samples."
                + "".join(self._sizes_of(n, a) for n, a in zip(("x", "y", "sample_weight"), self._arrays, strict=True))
            )
        self._count = sizes.pop()
        self._size = batch_size or (math.ceil(self._count / steps) if steps else 32)
        self.steps = min(steps, math.ceil(self._count / self._size)) if steps else math.ceil(self._count / self._size)

    @staticmethod
    def _sizes_of(name: str, arrays: Any) -> str:
        sizes = [] if arrays is None else [str(len(a)) for a in nest.flatten(arrays)]
        return f"'{name}' sizes: {', '.join(sizes)}\n" if sizes else ""

    def epoch(self) -> Iterator[tuple[int, Any]]:
        """Pairs (number, batch) of one epoch."""
        source = self._from_stream() if self._arrays is None else self._from_arrays()
        step = -1
        for step, batch in enumerate(source):
            yield step, batch
            if self.steps is not None and step + 1 >= self.steps:
                break
        if self.steps is None:
            self.steps = step + 1
        if self._arrays is None and self._limit is None and hasattr(self._stream, "pass_over"):
            self._stream.pass_over()  # Keras begins another iteration behind each epoch, and uses none of it

    def _from_arrays(self) -> Iterator[Any]:
        order = permutation(self._count) if self._shuffle else np.arange(self._count)
        while True:
            for start in range(0, self._count, self._size):
                chosen = order[start : start + self._size]
                batch = [
                    None if a is None else nest.map_structure(lambda v, c=chosen: _rows(v, c), a) for a in self._arrays
                ]
                yield self._weighed(*batch)

    def _from_stream(self) -> Iterator[Any]:
        if self._limit is None or self._running is None:
            self._running = iter(self._stream)
        for data in self._running:
            batch = [
                None
                if a is None
                else nest.map_structure(
                    lambda v: v if isinstance(v, Tensor) or hasattr(v, "_composite") else wrap(np.asarray(v)), a
                )
                for a in unpack_x_y_sample_weight(data)
            ]
            yield self._weighed(*batch)

    def _weighed(self, x: Any, y: Any, weight: Any) -> Any:
        import minitape as tf

        if self._class_weight:
            labels = y.numpy()
            labels = (
                labels.argmax(-1)
                if labels.ndim > 1 and labels.shape[-1] > 1
                else labels.reshape(len(labels)).astype(int)
            )
            weight = tf.constant([float(self._class_weight.get(int(label), 1)) for label in labels], tf.float32)
        return (x, y, weight) if weight is not None else (x, y) if y is not None else (x,)


def _is_stream(x: Any) -> bool:
    if isinstance(x, (np.ndarray, Tensor, list, tuple, dict)) or hasattr(x, "_composite") or hasattr(x, "__array__"):
        return False
    return hasattr(x, "__iter__") or hasattr(x, "__next__")


def _array(value: Any) -> Any:
    """An array of one leaf: float64 becomes float32, as Keras feeds it."""
    if hasattr(value, "_composite"):
        return value
    if isinstance(value, Tensor):
        array = value.array
    elif hasattr(value, "_read"):
        array = value._read().array
    elif isinstance(value, (int, float)):
        raise ValueError(f"Unrecognized data type: x={value} (of type {type(value)})")
    else:
        array = np.asarray(value)
    if array.ndim == 0:
        raise ValueError(f"Unrecognized data type: x={value} (of type {type(value)})")
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _rows(array: Any, chosen: Any) -> Any:
    if hasattr(array, "_composite"):
        import minitape as tf

        return tf.gather(array, chosen) if type(array).__name__ == "RaggedTensor" else array._rows(chosen)
    return wrap(array[chosen])
