"""Datasets, as training loops use them: tensors that are sliced, mapped, shuffled and batched.

A dataset is a recipe: each ``for`` over it begins anew. Functions given to ``map`` and ``filter`` run on each element
as it comes, with its value, and may print or look at it.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...engine.recording.state import state
from ...engine.tensor.convert import convert_to_tensor
from ...engine.tensor.tensor import new_tensor
from ...engine.values import dtypes
from ...engine.values.class_names import methods_of
from ...engine.values.errors import OutOfRangeError
from ...engine.values.invalid import invalid, shape_text
from ...functions.function import Function
from ...functions.spec import TensorSpec
from ...ops.joining import stack
from ...ops.seeds import pair_of
from ..api import missing
from .elements import as_yielded, call, detach, leaves, map_leaves, outside_tape, pack, shuffle, spec_of, tensor, words

AUTOTUNE = -1
INFINITE, UNKNOWN = -1, -2  # numbers of elements


class _Named(type):
    """The metaclass of datasets: a name of TensorFlow's that is not here is answered as the names of ``tf`` are."""

    def __getattr__(cls, name: str) -> Any:
        raise missing("tf.data.Dataset", name, cls)


@methods_of("DatasetV2")
class Dataset(metaclass=_Named):
    """A sequence of elements, each a tensor or a structure (tuple, dictionary) of tensors.

    Make one with ``Dataset.from_tensor_slices`` and its siblings. See https://www.tensorflow.org/api_docs/python/tf/data/Dataset.

    >>> import minitape as tf
    >>> ds = tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: x * 10).batch(2)
    >>> [batch.numpy().tolist() for batch in ds]
    [[10, 20], [30]]
    """

    def __init__(self, start: Callable[[], Iterator], length: int, kind: str, spec: Any = None) -> None:
        # ``start()`` gives an iterator over the elements; ``spec`` is their type, or a function that finds it
        self._start, self._length, self._kind, self._spec = start, length, kind, spec
        self._source: Dataset | None = None  # what this one is made of
        self._seeds: Iterator[int] | None = None  # two for each walk over it
        self._in_graph = state.graph is not None  # its parts may be tensors of the graph

    def _derived(self, start: Callable[[], Iterator], length: int, kind: str, spec: Any = None) -> Dataset:
        """A dataset that is made of this one; its elements have the same type, unless ``spec`` says otherwise."""
        made = Dataset(start, length, kind, spec or (lambda: self.element_spec))
        made._source = self
        return made

    def __getattr__(self, name: str) -> Any:
        raise missing("tf.data.Dataset", name, self)

    # -- sources -----------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """One element for each row of the tensors; ValueError when they have different numbers of rows.

        >>> import minitape as tf
        >>> pairs = tf.data.Dataset.from_tensor_slices(([[1, 2], [3, 4]], ["a", "b"]))
        >>> [(x.numpy(), y.numpy()) for x, y in pairs]
        [(array([1, 2], dtype=int32), b'a'), (array([3, 4], dtype=int32), b'b')]
        """
        parts = map_leaves(detach, tensors)
        flat = leaves(parts)
        if any(not len(t.shape) for t in flat):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        count = int(flat[0].shape[0])
        for part in flat[1:]:
            if part.shape[0] != count:
                raise ValueError(f"Dimensions {count} and {part.shape[0]} are not compatible")
        spec = map_leaves(lambda t: TensorSpec(t.shape[1:], t.dtype), parts)
        return Dataset(
            lambda: (map_leaves(lambda t, i=i: t[i], parts) for i in range(count)), count, "_TensorSliceDataset", spec
        )

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element: the tensors themselves.

        >>> import minitape as tf
        >>> [x.numpy() for x in tf.data.Dataset.from_tensors([1, 2, 3])]
        [array([1, 2, 3], dtype=int32)]
        """
        parts = map_leaves(detach, tensors)
        return Dataset(lambda: iter([parts]), 1, "_TensorDataset", map_leaves(spec_of, parts))

    @staticmethod
    def from_generator(generator: Callable[[], Any], *, output_signature: Any) -> Dataset:
        """What a generator function yields, as tensors of ``output_signature``: a structure of ``tf.TensorSpec``.

        TypeError for anything else; InvalidArgumentError for an element of another shape.

        >>> import minitape as tf
        >>> def words():
        ...     yield "tape"
        ...     yield "gradient"
        >>> data = tf.data.Dataset.from_generator(words, output_signature=tf.TensorSpec([], tf.string))
        >>> list(data.as_numpy_iterator())
        [b'tape', b'gradient']
        """
        for spec in leaves(output_signature):
            if not isinstance(spec, TensorSpec):
                raise TypeError(
                    "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                    f"{type(spec)} which is not."
                )
        return Dataset(
            lambda: (as_yielded(item, output_signature) for item in generator()),
            UNKNOWN,
            "_FlatMapDataset",
            output_signature,
        )

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64) -> Dataset:
        """The numbers of Python's range as scalars of ``output_type``; ValueError for steps of 0.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(2, 10, 3)]
        [2, 5, 8]
        """
        numbers = range(*map(_number, args))
        kind = dtypes.as_dtype(output_type).as_numpy_dtype
        return Dataset(
            lambda: (new_tensor(kind(i)) for i in numbers), len(numbers), "_RangeDataset", TensorSpec((), output_type)
        )

    @staticmethod
    def zip(*args: Any) -> Dataset:
        """Elements of several datasets side by side, until the shortest ends.

        >>> import minitape as tf
        >>> pairs = tf.data.Dataset.zip(tf.data.Dataset.range(5), tf.data.Dataset.from_tensor_slices(["a", "b"]))
        >>> [(int(n), word.numpy()) for n, word in pairs]
        [(0, b'a'), (1, b'b')]
        """
        given = args[0] if len(args) == 1 else args
        parts = leaves(given)
        for part in parts:
            if not isinstance(part, Dataset):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` "
                    f"objects but encountered object of type {type(part)}."
                )
        lengths = [p._length for p in parts]
        length = UNKNOWN if UNKNOWN in lengths else min((n for n in lengths if n >= 0), default=INFINITE)

        def start() -> Iterator:
            return (pack(given, items) for items in zip(*map(iter, parts), strict=False))

        return Dataset(start, length, "_ZipDataset", lambda: map_leaves(lambda p: p.element_spec, given))

    # -- what is done to the elements --------------------------------------------------------------

    def map(self, map_func: Callable, num_parallel_calls: Any = None) -> Dataset:
        """A function of each element; one that is a tuple gives several arguments. A list that it returns is a tuple.

        Elements are made one after the other: ``num_parallel_calls`` says how many TensorFlow makes at a time, and has
        no effect.

        >>> import minitape as tf
        >>> pairs = tf.data.Dataset.from_tensor_slices(([1, 2], [10, 20]))
        >>> [int(total) for total in pairs.map(lambda x, y: x + y)]
        [11, 22]
        """

        def start() -> Iterator:
            for element in self:
                made = call(map_func, element)
                yield map_leaves(tensor, tuple(made) if isinstance(made, list) else made)

        made = self._derived(start, self._length, "_MapDataset")
        made._spec = lambda: self._spec_of_map(map_func)
        return made

    def _spec_of_map(self, map_func: Callable) -> Any:
        """The types of what a function makes of elements, as its trace knows them; None for one that needs their
        values.
        """
        spec = self.element_spec
        try:
            traced = Function(lambda *tensors: call(map_func, pack(spec, tensors))).get_concrete_function(*leaves(spec))
            return map_leaves(spec_of, traced.structured_outputs)
        except Exception:
            return None

    def filter(self, predicate: Callable) -> Dataset:
        """The elements for which the function is true; ValueError when it gives anything but a scalar of bool.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(6).filter(lambda n: n % 2 == 0)]
        [0, 2, 4]
        """

        def chosen(element: Any) -> bool:
            answer = tensor(call(predicate, element))
            if answer.dtype != dtypes.bool or answer.shape.rank:
                raise ValueError(
                    "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type "
                    f"is {spec_of(answer)}."
                )
            return bool(answer)

        return self._derived(lambda: filter(chosen, self), UNKNOWN, "_FilterDataset")

    def batch(self, batch_size: Any, drop_remainder: bool = False) -> Dataset:
        """Several elements stacked into one; the last batch may be smaller, unless ``drop_remainder``.

        InvalidArgumentError when their shapes differ.

        >>> import minitape as tf
        >>> [b.numpy() for b in tf.data.Dataset.range(5).batch(2)]
        [array([0, 1]), array([2, 3]), array([4])]
        >>> len(tf.data.Dataset.range(5).batch(2, drop_remainder=True))
        2
        """
        size = _number(batch_size)
        if size <= 0:
            raise invalid("Batch size must be greater than zero.", "BatchDatasetV2")
        length = self._length
        if length >= 0:
            length = length // size if drop_remainder else -(-length // size)

        def start() -> Iterator:
            elements = iter(self)
            while group := list(itertools.islice(elements, size)):
                if len(group) == size or not drop_remainder:
                    yield pack(group[0], map(_stack, zip(*map(leaves, group), strict=True)))

        def batched(spec: Any) -> Any:
            return type(spec)([size if drop_remainder else None, *spec.shape], spec.dtype)

        return self._derived(start, length, "_BatchDataset", lambda: map_leaves(batched, self.element_spec))

    def enumerate(self, start: Any = 0) -> Dataset:
        """Pairs of a number (int64) and an element.

        >>> import minitape as tf
        >>> [(int(i), word.numpy()) for i, word in tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(start=1)]
        [(1, b'a'), (2, b'b')]
        """
        return Dataset.zip(Dataset.range(_number(start), sys.maxsize), self)

    # -- which elements come, when and how often ---------------------------------------------------

    def take(self, count: Any) -> Dataset:
        """The first ``count`` elements; all for -1.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(5).take(2)]
        [0, 1]
        """
        n = _number(count)
        n = n if n >= 0 else sys.maxsize
        length = (
            min(n, self._length)
            if self._length >= 0 or n == sys.maxsize
            else n
            if self._length == INFINITE
            else UNKNOWN
        )
        return self._derived(lambda: itertools.islice(iter(self), n), length, "_TakeDataset")

    def skip(self, count: Any) -> Dataset:
        """All but the first ``count`` elements; none for -1.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(5).skip(2)]
        [2, 3, 4]
        """
        n = _number(count)
        n = n if n >= 0 else sys.maxsize
        length = max(self._length - n, 0) if self._length >= 0 else self._length
        return self._derived(lambda: itertools.islice(iter(self), n, None), length, "_SkipDataset")

    def repeat(self, count: Any = None) -> Dataset:
        """All elements ``count`` times over; without end for None or -1.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(2).repeat(2)]
        [0, 1, 0, 1]
        >>> [int(n) for n in tf.data.Dataset.range(2).repeat().take(5)]
        [0, 1, 0, 1, 0]
        """
        times = -1 if count is None else _number(count)

        def start() -> Iterator:
            rounds = itertools.count() if times < 0 else range(times)
            return itertools.chain.from_iterable(iter(self) for _ in rounds)

        length = self._length
        if times < 0:
            length = INFINITE if length else 0
        elif length >= 0:
            length *= times
        return self._derived(start, length, "_RepeatDataset")

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool = True) -> Dataset:
        """Elements drawn by chance from the next ``buffer_size`` ones; in another order at each iteration.

        InvalidArgumentError for a size below 1.

        >>> import minitape as tf
        >>> tf.random.set_seed(7)
        >>> shuffled = tf.data.Dataset.range(5).shuffle(5, seed=1)
        >>> [int(n) for n in shuffled], [int(n) for n in shuffled]
        ([0, 4, 1, 3, 2], [4, 2, 0, 3, 1])
        """
        size = _number(buffer_size)
        if size <= 0 and size != UNKNOWN:
            raise invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY", "ShuffleDatasetV3")
        size = size if size > 0 else sys.maxsize
        pair = pair_of(None if seed is None else int(seed))
        seeds = words(pair)

        def start() -> Iterator:
            mine = (next(seeds), next(seeds)) if reshuffle_each_iteration else pair
            return shuffle(iter(self), size, words(mine))

        made = self._derived(start, self._length, "_ShuffleDataset")
        made._seeds = seeds if reshuffle_each_iteration else None
        return made

    def pass_over(self) -> None:
        """Takes the random numbers of one iteration and iterates not."""
        if self._seeds is not None:
            next(self._seeds), next(self._seeds)
        if self._source is not None:
            self._source.pass_over()

    def prefetch(self, buffer_size: Any) -> Dataset:
        """The same elements: there is nothing to prepare ahead of time here, and ``buffer_size`` has no effect.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(3).prefetch(tf.data.AUTOTUNE)]
        [0, 1, 2]
        """
        return self._derived(lambda: iter(self), self._length, "_PrefetchDataset")

    def cache(self) -> Dataset:
        """The same elements, made once and kept in memory.

        >>> import minitape as tf
        >>> def told(n):
        ...     print("making", int(n))
        ...     return n
        >>> for n in tf.data.Dataset.range(2).map(told).cache().repeat(2):
        ...     print(int(n))
        making 0
        0
        making 1
        1
        0
        1
        """
        kept: list = []  # the elements of a walk that came to its end

        def start() -> Iterator:
            if kept:
                yield from kept
                return
            mine = []
            for element in self:
                mine.append(element)
                yield element
            kept[:] = mine

        return self._derived(start, self._length, "CacheDataset")

    # -- what is asked of a dataset ----------------------------------------------------------------

    def __iter__(self) -> DatasetIterator:
        return DatasetIterator(self)

    def as_numpy_iterator(self) -> Iterator:
        """The elements as NumPy arrays.

        >>> import minitape as tf
        >>> list(tf.data.Dataset.range(3).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        return (map_leaves(lambda t: t.numpy(), element) for element in self)

    def __len__(self) -> int:
        if self._length == INFINITE:
            raise TypeError("The dataset is infinite.")
        if self._length == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return self._length

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """The types of an element."""
        if callable(self._spec):
            self._spec = self._spec()
        if self._spec is None:
            first = next(iter(self), None)
            self._spec = map_leaves(spec_of, first) if first is not None else None
        return self._spec

    def __repr__(self) -> str:
        return f"<{self._kind} element_spec={self.element_spec}>"


def _number(value: Any) -> int:
    """A whole number: Python's, or a scalar int64 tensor."""
    return int(convert_to_tensor(value, dtypes.int64))


def _stack(items: Any) -> Any:
    """Tensors of one shape as the rows of a tensor."""
    first = items[0].shape
    for item in items:
        if item.shape != first:
            raise invalid(
                "Cannot add tensor to the batch: number of elements does not match. Shapes are: "
                f"[tensor]: {shape_text(item.shape)}, [batch]: {shape_text(first)}",
                "IteratorGetNext",
            )
    return stack(items)


class DatasetIterator:
    """One walk over a dataset, as ``iter(dataset)`` makes it.

    ``next`` ends with StopIteration, ``get_next`` with OutOfRangeError.

    >>> import minitape as tf
    >>> iterator = iter(tf.data.Dataset.range(2))
    >>> next(iterator).numpy(), iterator.get_next().numpy(), isinstance(iterator, tf.data.Iterator)
    (np.int64(0), np.int64(1), True)
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset, self._elements = dataset, dataset._start()

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        return outside_tape(self._elements.__next__)

    def get_next(self) -> Any:
        """The next element; OutOfRangeError after the last one."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext] name: ") from None

    @property
    def element_spec(self) -> Any:
        """The types of an element."""
        return self._dataset.element_spec
