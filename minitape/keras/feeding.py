"""Where the batches of a training loop come from: arrays, a dataset, or a generator."""

from __future__ import annotations

import itertools
import math
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import tf
from ..engine import nest
from ..engine.evidence import born, exits
from ..engine.tensor import Tensor, wrap
from ..ops.seeds import permutation


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """(x, y, sample weight) of a batch that may lack the last or the last two, as a ``train_step`` is given it.

    Raises ValueError for more than three.

    >>> import minitape as tf
    >>> tf.keras.utils.unpack_x_y_sample_weight((1, 2))
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
    return (*data, None, None)[:3]


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """A batch of inputs, targets and weights as ``train_step`` is given it; inputs alone stay as they are.

    A list or tuple of inputs without targets becomes a tuple of one.

    >>> import minitape as tf
    >>> tf.keras.utils.pack_x_y_sample_weight(1), tf.keras.utils.pack_x_y_sample_weight(1, 2)
    (1, (1, 2))
    """
    if y is None:
        return (x,) if isinstance(x, (list, tuple)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def split(arrays: tuple[Any, ...], part: float) -> tuple[Any, Any]:
    """The first examples for training, the last ``part`` of them for validation."""
    kinds = [type(a) for a in nest.flatten(arrays) if a is not None and not hasattr(a, "__array__")]
    kinds = [kind for kind in kinds if kind not in (list, int, float)]
    if kinds:
        raise ValueError(
            "Argument `validation_split` is only supported for tensors or NumPy arrays.Found incompatible type in the "
            f"input: {kinds}"
        )
    if not 0 < part < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1, received: {part}")
    count = len(nest.flatten(arrays[0])[0])
    at = int(np.floor(count * (1.0 - part)))
    if at in (0, count):
        raise ValueError(
            f"Training data contains {count} samples, which is not sufficient to split it into a validation and "
            f"training set as specified by `validation_split={part}`. Either provide more data, or a different "
            "value for the `validation_split` argument."
        )

    def cut(keep: Any) -> tuple[Any, ...]:
        return tuple(nest.map_structure(lambda a: None if a is None else a[keep], structure) for structure in arrays)

    return cut(slice(0, at)), cut(slice(at, None))


class Feed:
    """The batches of each epoch: of arrays, of a dataset, of a generator, or of another iterable of batches.

    With ``steps`` an epoch has that many batches and the next one goes on behind it; else an epoch is all the data.
    Raises ValueError for data of another kind, for arrays of different lengths, for labels or weights beside what gives
    them itself, and for ``class_weight`` where it cannot be used.
    """

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
        self._class_weight, self._shuffle, self._limit = class_weight, shuffle, steps
        self._running: Any = None  # the iterator that an epoch of some steps leaves for the next one
        self._seen = 0  # the batches that it has given
        if _is_stream(x):
            self._stream(x, y, weight)
        else:
            self._arrays(x, y, weight, batch_size)

    def _stream(self, x: Any, y: Any, weight: Any) -> None:
        generator = isinstance(x, types.GeneratorType)
        kind = "a tf.data.Dataset" if hasattr(x, "element_spec") else "a generator"
        for name, what, given in (("y", "targets", y), ("sample_weights", "sample weights", weight)):
            if given is not None:
                raise ValueError(
                    f"When providing `x` as {kind}, `{name}` should not be passed. Instead, the {what} should be included "
                    f"as part of the {kind.split(' ')[1]}."
                )
        if generator and self._class_weight is not None:
            raise ValueError(
                "Argument `class_weight` is not supported for Python generator inputs. Received: "
                f"class_weight={self._class_weight}"
            )
        if self._shuffle:
            hint = "generator is expected to yield already-shuffled data."
            if not generator:
                hint = "Dataset is expected to already be shuffled (via `.shuffle(buffer_size)`)."
            warnings.warn(
                f"`shuffle=True` was passed, but will be ignored since the data `x` was provided as {kind}. The {hint}",
                stacklevel=4,
            )
        self._pass_over = getattr(x, "pass_over", None)
        self._source = _restarting(x) if generator else lambda: iter(x)
        try:
            self._known: int | None = len(x)
        except TypeError:
            self._known = None

    def _arrays(self, x: Any, y: Any, weight: Any, batch_size: int | None) -> None:
        if not all(map(_is_array, nest.flatten([a for a in (x, y, weight) if a is not None]))):
            raise ValueError(f"Unrecognized data type: x={x} (of type {type(x)})")
        arrays = tuple(None if a is None else nest.map_structure(_array, a) for a in (x, y, weight))
        made = _origins((x, y, weight), arrays)
        sizes = {a.shape[0] for a in nest.flatten([a for a in arrays if a is not None])}
        if len(sizes) != 1:
            raise ValueError(
                "Data cardinality is ambiguous. Make sure all arrays contain the same number of samples."
                + "".join(_sizes_of(n, a) for n, a in zip(("x", "y", "sample_weight"), arrays, strict=True))
            )
        count = sizes.pop()
        size = batch_size or (math.ceil(count / self._limit) if self._limit else 32)
        self._known, self._pass_over = math.ceil(count / size), None
        self._weighable(arrays[1], arrays[2])

        def source() -> Iterator[Any]:
            order = permutation(count) if self._shuffle else np.arange(count)
            for start in range(0, count, size):
                chosen = order[start : start + size]
                yield tuple(
                    None if a is None else nest.map_structure(lambda v, c=chosen: _rows(v, c, made), a) for a in arrays
                )

        self._source = source

    @property
    def steps(self) -> int | None:
        """The number of batches in an epoch, None while it is unknown."""
        return self._limit or self._known

    def epoch(self) -> Iterator[tuple[int, Any]]:
        """Pairs (number, batch) of one epoch; warns when there are fewer than there should be."""
        steps = self.steps
        if self._running is None or self._limit is None:
            self._running, self._seen = iter(self._source()), 0
        for step in itertools.count() if steps is None else range(steps):
            if self._known and self._seen >= self._known:
                if self._limit:
                    _ran_out()
                break
            self._seen += 1
            try:
                batch = next(self._running)
            except StopIteration:
                if self._known is None:
                    self._known = self._seen
                self._running = None
                _ran_out()
                return
            yield step, self._weighed(*unpack_x_y_sample_weight(batch))
        if self._known and self._seen >= self._known:
            self._running = None
            if self._limit is None and self._pass_over is not None:
                self._pass_over()  # Keras begins another iteration behind each epoch, and uses none of it

    def _weighable(self, y: Any, weight: Any) -> None:
        """Raises ValueError where ``class_weight`` cannot be used."""
        if self._class_weight is None:
            return
        if weight is not None:
            raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
        if nest.is_nested(y):
            raise ValueError("`class_weight` is only supported for Models with a single output.")

    def _weighed(self, *parts: Any) -> Any:
        x, y, weight = (None if part is None else nest.map_structure(_tensor, part) for part in parts)
        self._weighable(y, weight)
        if self._class_weight is not None:
            labels = y.numpy()
            if labels.ndim > 1:
                labels = labels.argmax(-1) if labels.shape[-1] != 1 else labels[..., 0]
            numbers = np.round(labels).astype(int)
            weights = [float(self._class_weight.get(int(number), 1)) for number in numbers.reshape(-1)]
            weight = tf.constant(weights, tf.float32, numbers.shape)
        return (x, y, weight) if weight is not None else pack_x_y_sample_weight(x, y)


def _restarting(generator: Any) -> Any:
    """A function that goes on with a generator, from its first two batches anew as Keras does."""
    first = list(itertools.islice(generator, 2))
    if not first:
        raise ValueError(
            "When passing a Python generator to a Keras model, the generator must yield at least one batch. Received an "
            "empty generator."
        )
    if not isinstance(first[0], tuple):
        raise ValueError(
            "When passing a Python generator to a Keras model, the generator must return a tuple, either (input,) or "
            f"(inputs, targets) or (inputs, targets, sample_weights). Received: {first[0]}"
        )
    return lambda: itertools.chain(first, generator)


def _ran_out() -> None:
    warnings.warn(
        "Your input ran out of data; interrupting training. Make sure that your dataset or generator can generate at "
        "least `steps_per_epoch * epochs` batches. You may need to use the `.repeat()` function when building your "
        "dataset.",
        stacklevel=4,
    )


def _sizes_of(name: str, arrays: Any) -> str:
    sizes = [] if arrays is None else [str(a.shape[0]) for a in nest.flatten(arrays)]
    return f"'{name}' sizes: {', '.join(sizes)}\n" if sizes else ""


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) or hasattr(value, "_composite") else wrap(np.asarray(value))


def _is_stream(x: Any) -> bool:
    if isinstance(x, (np.ndarray, Tensor, list, tuple, dict, str)) or hasattr(x, "_composite"):
        return False
    if hasattr(x, "__array__"):
        return False
    return hasattr(x, "__iter__") or hasattr(x, "__next__")


def _is_array(value: Any) -> bool:
    """Whether a leaf has rows, or may be None in its place."""
    return value is None or hasattr(value, "_composite") or bool(len(getattr(value, "shape", ())))


def _array(value: Any) -> Any:
    """An array of one leaf: float64 becomes float32, as Keras feeds it."""
    if hasattr(value, "_composite"):
        return value
    if isinstance(value, Tensor):
        array = value.array
    elif hasattr(value, "_read"):
        array = value._read().array
    else:
        array = np.asarray(value)
        if type(value).__name__ == "Series":  # a column of pandas
            array = array[:, None]
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _origins(given: Any, arrays: Any) -> dict[int, Any]:
    """What `explain` will know of the batches of each array: that they are rows of a tensor, or of what had left one."""
    found: dict[int, Any] = {}
    for value, array in zip(nest.flatten(given), nest.flatten(arrays), strict=True):
        if isinstance(value, Tensor) or hasattr(value, "_read"):
            found[id(array)] = born("row", (value,))
        elif (exit := exits().of(value)) is not None:
            found[id(array)] = born("constant", (), exit)
    return found


def _rows(array: Any, chosen: Any, made: dict[int, Any]) -> Any:
    if hasattr(array, "_composite"):
        return tf.gather(array, chosen) if type(array).__name__ == "RaggedTensor" else array._rows(chosen)
    rows = wrap(array[chosen])
    rows._origin = made.get(id(array))
    return rows
