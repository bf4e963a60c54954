"""``tf.data``: datasets, as training loops use them: tensors that are sliced, mapped, shuffled and batched.

A dataset is a recipe: each ``for`` over it begins anew. Functions given to ``map`` and ``filter`` run on each element
as it comes, with its value, and may print or look at it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import dtypes, nest
from .convert import convert_to_tensor
from .errors import InvalidArgumentError
from .tensor import Tensor, wrap

AUTOTUNE = -1
INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2


class Dataset:
    """A sequence of elements, each a tensor or a structure (tuple, dictionary) of tensors.

    Make one with ``Dataset.from_tensor_slices`` and its siblings. See https://www.tensorflow.org/api_docs/python/tf/data/Dataset.

    >>> import minitape as tf
    >>> ds = tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: x * 10).batch(2)
    >>> [batch.numpy().tolist() for batch in ds]
    [[10, 20], [30]]
    """

    def __init__(self, start: Callable[[], Iterator[Any]], length: int, kind: str, spec: Any = None) -> None:
        self._start, self._length, self._kind, self._spec = start, length, kind, spec

    # -- sources ------------------------------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """One element for each row of the tensors; ValueError when they have different numbers of rows."""
        parts = _map(_source, tensors)
        flat = _flatten(parts)
        if not flat:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        if any(not len(t.shape) for t in flat):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        sizes = {_rows(t) for t in flat}
        if len(sizes) > 1:
            raise ValueError(f"Dimensions {sorted(sizes)[0]} and {sorted(sizes)[1]} are not compatible")
        count = sizes.pop()
        return Dataset(
            lambda: (_map(lambda t, i=i: _row(t, i), parts) for i in range(count)),
            count,
            "_TensorSliceDataset",
            _map(lambda t: _spec_of(t, 1), parts),
        )

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: the tensors themselves."""
        parts = _map(_source, tensors)
        return Dataset(lambda: iter([parts]), 1, "_TensorDataset", _map(_spec_of, parts))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = (),
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What a generator function yields, as tensors of ``output_signature`` (or ``output_types``)."""
        if output_signature is None and output_types is None:
            raise TypeError("Either `output_signature` or `output_types` must be specified.")
        kinds = output_types if output_signature is None else nest.map_structure(lambda s: s.dtype, output_signature)

        def start() -> Iterator[Any]:
            for item in generator(*[convert_to_tensor(a).numpy() for a in args]):
                yield _typed(item, kinds)

        return Dataset(start, UNKNOWN_CARDINALITY, "_FlatMapDataset", output_signature)

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """The numbers of Python's range, int64."""
        numbers = range(*[int(a) for a in args])
        kind = dtypes.as_dtype(output_type).as_numpy_dtype
        return Dataset(
            lambda: (wrap(kind(i)) for i in numbers), len(numbers), "_RangeDataset", _tensor_spec((), output_type)
        )

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, until the shortest ends."""
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = _flatten(given)
        for part in parts:
            if not isinstance(part, Dataset):
                raise TypeError(
                    f"Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` "
                    f"objects but encountered object of type {type(part)}."
                )
        known = [p._length for p in parts]
        length = (
            UNKNOWN_CARDINALITY
            if UNKNOWN_CARDINALITY in known
            else min((n for n in known if n >= 0), default=INFINITE_CARDINALITY)
        )

        def start() -> Iterator[Any]:
            for items in zip(*[iter(p) for p in parts], strict=False):
                left = iter(items)
                yield _map(lambda _, left=left: next(left), given)

        return Dataset(start, length, "_ZipDataset", lambda: _map(lambda p: p.element_spec, given))

    # -- what is done to them -----------------------------------------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        synchronous: Any = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """A function of each element; one that is a tuple gives several arguments."""
        return self._derived(lambda: (_map(_source, _call(map_func, e)) for e in self), self._length, "_MapDataset")

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which the function is true."""
        return self._derived(
            lambda: (e for e in self if bool(_call(predicate, e))), UNKNOWN_CARDINALITY, "_FilterDataset", self._spec
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """A function gives a dataset for each element; their elements one after the other."""
        return self._derived(
            lambda: (e for outer in self for e in _call(map_func, outer)), UNKNOWN_CARDINALITY, "_FlatMapDataset"
        )

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Several elements stacked into one; the last batch may be smaller, unless ``drop_remainder``.

        InvalidArgumentError when their shapes differ.
        """
        size = int(batch_size)
        if size <= 0:
            raise InvalidArgumentError(None, None, "Batch size must be greater than zero. [Op:BatchDatasetV2] name: ")
        length = (
            self._length if self._length < 0 else self._length // size if drop_remainder else -(-self._length // size)
        )
        together = _ragged if self._has_ragged_rows() else _stacked
        return self._derived(
            lambda: (together(g) for g in _groups(self, size, drop_remainder)),
            length,
            "_BatchDataset",
            lambda: _map(lambda s: _with_rows(s, size if drop_remainder else None), self.element_spec),
        )

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = dtypes.int64,
        name: str | None = None,
    ) -> Dataset:
        """Several elements of different lengths as one ragged tensor."""
        size = int(batch_size)
        length = (
            self._length if self._length < 0 else self._length // size if drop_remainder else -(-self._length // size)
        )
        return self._derived(
            lambda: (_ragged(g) for g in _groups(self, size, drop_remainder)), length, "_RaggedBatchDataset"
        )

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Several elements of different lengths stacked into one, filled up with zeros (or ``padding_values``)."""
        size = int(batch_size)
        length = (
            self._length if self._length < 0 else self._length // size if drop_remainder else -(-self._length // size)
        )
        return self._derived(
            lambda: (_padded(g, padded_shapes, padding_values) for g in _groups(self, size, drop_remainder)),
            length,
            "_PaddedBatchDataset",
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of each element."""

        def start() -> Iterator[Any]:
            for element in self:
                for i in range(_rows(_flatten(element)[0])):
                    yield _map(lambda t, i=i: _row(t, i), element)

        return self._derived(start, UNKNOWN_CARDINALITY, "_UnbatchDataset")

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool = True, name: str | None = None
    ) -> Dataset:
        """Elements drawn by chance from the next ``buffer_size`` ones; in another order at each iteration."""
        size = int(buffer_size)
        if size <= 0:
            raise InvalidArgumentError(
                None, None, "buffer_size must be greater than zero. [Op:ShuffleDatasetV3] name: "
            )
        source: list[Any] = []
        first = _seeds(seed)

        def start() -> Iterator[Any]:
            if not source or not reshuffle_each_iteration:
                source[:] = [np.random.default_rng(first)]
            return _drawn(iter(self), size, source[0])

        return self._derived(start, self._length, "_ShuffleDataset", self._spec)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """All elements ``count`` times over; without end for None or -1."""
        times = None if count is None or int(count) < 0 else int(count)

        def start() -> Iterator[Any]:
            rounds = itertools.count() if times is None else range(times)
            return itertools.chain.from_iterable(iter(self) for _ in rounds)

        length = (
            (INFINITE_CARDINALITY if self._length else 0)
            if times is None
            else self._length * times
            if self._length >= 0
            else self._length
        )
        return self._derived(start, length, "_RepeatDataset", self._spec)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first ``count`` elements; all for -1."""
        n = int(count)
        if n < 0:
            return self._derived(lambda: iter(self), self._length, "_TakeDataset", self._spec)
        length = (
            n if self._length == INFINITE_CARDINALITY else min(n, self._length) if self._length >= 0 else self._length
        )
        return self._derived(lambda: itertools.islice(iter(self), n), length, "_TakeDataset", self._spec)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first ``count`` elements; none for -1."""
        n = int(count)
        if n < 0:
            return self._derived(lambda: iter(()), 0, "_SkipDataset", self._spec)
        length = max(self._length - n, 0) if self._length >= 0 else self._length
        return self._derived(lambda: itertools.islice(iter(self), n, None), length, "_SkipDataset", self._spec)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which the function is false."""
        return self._derived(
            lambda: itertools.takewhile(lambda e: bool(_call(predicate, e)), self),
            UNKNOWN_CARDINALITY,
            "_TakeWhileDataset",
            self._spec,
        )

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this and then of the other."""
        lengths = (self._length, dataset._length)
        length = sum(lengths) if min(lengths) >= 0 else min(lengths)
        return self._derived(
            lambda: itertools.chain(iter(self), iter(dataset)), length, "_ConcatenateDataset", self._spec
        )

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of a number (int64) and an element."""
        return self._derived(
            lambda: ((wrap(np.int64(i)), e) for i, e in enumerate(self, int(start))),
            self._length,
            "_ZipDataset",
            lambda: (_tensor_spec((), dtypes.int64), self.element_spec),
        )

    def window(
        self, size: Any, shift: Any = None, stride: int = 1, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Datasets of ``size`` neighbours, each ``shift`` further on."""

        def start() -> Iterator[Any]:
            elements = list(self)
            for begin in range(0, len(elements), int(shift or size)):
                found = elements[begin : begin + int(size) * stride : stride]
                if len(found) == size or not drop_remainder:
                    yield Dataset(lambda found=found: iter(found), len(found), "_VariantDataset", self._spec)

        return self._derived(start, UNKNOWN_CARDINALITY, "_WindowDataset")

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements: there is nothing to prepare ahead of time here."""
        return self._derived(lambda: iter(self), self._length, "_PrefetchDataset", self._spec)

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, made once and kept in memory. ValueError for a file name."""
        if filename:
            raise ValueError("minitape caches datasets in memory only: leave `filename` out.")
        kept: list[Any] = []
        done: list[bool] = []

        def start() -> Iterator[Any]:
            if done:
                yield from kept
                return
            kept.clear()
            for element in self:
                kept.append(element)
                yield element
            done.append(True)

        return self._derived(start, self._length, "CacheDataset", self._spec)

    def apply(self, transformation_func: Callable[[Dataset], Dataset], name: str | None = None) -> Dataset:
        """A function of the dataset; TypeError when it gives none."""
        out = transformation_func(self)
        if not isinstance(out, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(out)}.")
        return out

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        """The same elements: options change how TensorFlow runs a pipeline, and nothing here."""
        return self

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """``state = reduce_func(state, element)`` over all elements; the last state."""
        state = _map(_source, initial_state)
        for element in self:
            state = _map(_source, reduce_func(state, element))
        return state

    # -- looking ------------------------------------------------------------------------------------------------------

    def _has_ragged_rows(self) -> bool:
        """True when an element is known to be a row of a ragged tensor."""
        return (
            self._spec is not None
            and not callable(self._spec)
            and any(hasattr(s, "ragged_rank") for s in _flatten(self._spec))
        )

    def _derived(self, start: Callable[[], Iterator[Any]], length: int, kind: str, spec: Any = None) -> Dataset:
        return Dataset(start, length, kind, spec)

    def __iter__(self) -> Iterator[Any]:
        return self._start()

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements as NumPy arrays."""
        return (_map(lambda t: t.numpy() if hasattr(t, "numpy") else t, e) for e in self)

    def cardinality(self, name: str | None = None) -> Any:
        """The number of elements, int64: -1 for endless datasets, -2 where nobody knows."""
        return wrap(np.int64(self._length))

    def __len__(self) -> int:
        if self._length == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if self._length == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return self._length

    def __bool__(self) -> bool:
        return True

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element; InvalidArgumentError when there are none or several."""
        found = list(itertools.islice(iter(self), 2))
        if len(found) != 1:
            raise InvalidArgumentError(
                None,
                None,
                f"Dataset {'was empty' if not found else 'had more than one element'}. "
                "[Op:DatasetToSingleElement] name: ",
            )
        return found[0]

    @property
    def element_spec(self) -> Any:
        """The types of an element."""
        if self._spec is None:
            first = next(iter(self), None)
            self._spec = _map(_spec_of, first) if first is not None else None
        elif callable(self._spec):
            self._spec = self._spec()
        return self._spec

    def __repr__(self) -> str:
        return f"<{self._kind} element_spec={self.element_spec}>"

    __str__ = __repr__


# -- structures -------------------------------------------------------------------------------------------------------


def _is_structure(value: Any) -> bool:
    return isinstance(value, (tuple, Mapping))


def _map(function: Callable[..., Any], value: Any) -> Any:
    """A function of the leaves; tuples and dictionaries are structures, lists are tensors."""
    if isinstance(value, Mapping):
        return type(value)((k, _map(function, v)) for k, v in value.items())  # type: ignore[call-arg]
    if isinstance(value, tuple):
        items = [_map(function, v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return function(value)


def _flatten(value: Any) -> list[Any]:
    found: list[Any] = []
    _map(found.append, value)
    return found


def _source(value: Any) -> Any:
    if isinstance(value, (Tensor, Dataset)) or hasattr(value, "_composite") or value is None:
        return value
    return convert_to_tensor(value)


def _call(function: Callable[..., Any], element: Any) -> Any:
    return function(*element) if type(element) is tuple else function(element)


def _typed(item: Any, kinds: Any) -> Any:
    if isinstance(kinds, (tuple, list)):
        return tuple(_typed(i, k) for i, k in zip(item, kinds, strict=True))
    if isinstance(kinds, Mapping):
        return {k: _typed(item[k], kind) for k, kind in kinds.items()}
    if hasattr(item, "_composite"):
        return item
    array = np.asarray(item)
    return convert_to_tensor(
        array.astype(dtypes.as_dtype(kinds).as_numpy_dtype) if array.dtype.kind in "fiub" else item, kinds
    )


# -- rows and batches -------------------------------------------------------------------------------------------------


def _rows(t: Any) -> int:
    return int(t.shape[0])


def _row(t: Any, i: int) -> Any:
    if type(t).__name__ != "SparseTensor":
        return t[i]
    from .sparse import reshape, slice

    sizes = t.sizes()
    one = slice(t, [i] + [0] * (len(sizes) - 1), [1, *sizes[1:]])
    return reshape(one, sizes[1:])


def _groups(dataset: Dataset, size: int, drop: bool) -> Iterator[list[Any]]:
    source = iter(dataset)
    while True:
        group = list(itertools.islice(source, size))
        if not group or (drop and len(group) < size):
            return
        yield group


def _merged(group: list[Any], function: Callable[[list[Any]], Any]) -> Any:
    columns = zip(*[_flatten(e) for e in group], strict=True)
    made = iter([function(list(c)) for c in columns])
    return _map(lambda _: next(made), group[0])


def _stacked(group: list[Any]) -> Any:
    return _merged(group, _stack)


def _stack(items: list[Any]) -> Any:
    import minitape as tf

    if type(items[0]).__name__ == "SparseTensor":
        return tf.sparse.concat(0, [tf.sparse.expand_dims(i, 0) for i in items])
    if type(items[0]).__name__ == "RaggedTensor":
        return tf.ragged.stack(items)
    shapes = [tuple(i.shape) for i in items]
    if any(s != shapes[0] for s in shapes):
        at = next(i for i, s in enumerate(shapes) if s != shapes[0])
        show = [",".join(map(str, s)) for s in (shapes[0], shapes[at])]
        raise InvalidArgumentError(
            None,
            None,
            "Cannot add tensor to the batch: number of elements does not match. Shapes are: "
            f"[tensor]: [{show[1]}], [batch]: [{show[0]}] [Op:IteratorGetNext] name: ",
        )
    return tf.stack(items)


def _ragged(group: list[Any]) -> Any:
    import minitape as tf

    return _merged(group, lambda items: tf.ragged.stack(items) if len(items[0].shape) else tf.stack(items))


def _padded(group: list[Any], shapes: Any, values: Any) -> Any:
    wanted = (
        None if shapes is None else _flatten(shapes if _is_structure(shapes) and _is_structure(group[0]) else (shapes,))
    )
    fill = None if values is None else _flatten(values if _is_structure(group[0]) else (values,))
    columns = list(zip(*[_flatten(e) for e in group], strict=True))
    made = []
    for c, items in enumerate(columns):
        sizes = np.max([t.shape.as_list() for t in items], axis=0).astype(int).tolist() if items[0].ndim else []
        if wanted is not None:
            given = list(
                np.atleast_1d(np.asarray(wanted[c], object))
                if not hasattr(wanted[c], "as_list")
                else wanted[c].as_list()
            )
            sizes = [n if g in (None, -1) else int(g) for n, g in zip(sizes, given, strict=True)]
        kind = items[0].dtype
        default = (
            (b"" if kind.kind == "s" else 0)
            if fill is None or fill[c] is None
            else convert_to_tensor(fill[c], kind).array
        )
        out = np.full((len(items), *sizes), default, kind.as_numpy_dtype)
        for i, t in enumerate(items):
            out[(i, *[slice(0, n) for n in t.shape])] = t.array
        made.append(wrap(out))
    left = iter(made)
    return _map(lambda _: next(left), group[0])


def _drawn(source: Iterator[Any], size: int, chance: Any) -> Iterator[Any]:
    """Elements drawn from a buffer that is filled up again after each."""
    buffer = list(itertools.islice(source, size))
    while buffer:
        i = int(chance.integers(len(buffer)))
        yield buffer[i]
        following = next(source, _END)
        if following is _END:
            buffer[i] = buffer[-1]
            buffer.pop()
        else:
            buffer[i] = following


_END = object()


def _seeds(seed: Any) -> Any:
    if seed is not None:
        return int(seed)
    import minitape as tf

    return int(tf.random.uniform([], maxval=2**31 - 1, dtype=tf.int32))


# -- types ------------------------------------------------------------------------------------------------------------


def _tensor_spec(shape: Any, dtype: Any) -> Any:
    import minitape as tf

    return tf.TensorSpec(shape, dtype)


def _spec_of(value: Any, skip: int = 0) -> Any:
    if hasattr(value, "_composite"):
        spec = value._type_spec
        if skip and hasattr(spec, "ragged_rank"):
            shape = spec.shape[skip:]
            return type(spec)(shape, spec.dtype, spec.ragged_rank - 1)
        return type(spec)(spec.shape[skip:], spec.dtype) if skip else spec
    if isinstance(value, Dataset):
        return f"DatasetSpec({value.element_spec}, TensorShape([]))"
    return _tensor_spec(tuple(value.shape)[skip:], value.dtype)


def _with_rows(spec: Any, size: int | None) -> Any:
    shape = [size, *spec.shape]
    if hasattr(spec, "ragged_rank"):
        return type(spec)(shape, spec.dtype, spec.ragged_rank + 1)
    return type(spec)(shape, spec.dtype)


def _dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64) -> Any:
    """A function for ``Dataset.apply``: elements of different lengths become the rows of ragged tensors."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


experimental = SimpleNamespace(
    AUTOTUNE=AUTOTUNE,
    cardinality=lambda dataset: dataset.cardinality(),
    dense_to_ragged_batch=_dense_to_ragged_batch,
    INFINITE_CARDINALITY=INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY=UNKNOWN_CARDINALITY,
)


class Options:
    """Accepted by ``Dataset.with_options``; it changes nothing here."""


def __getattr__(name: str) -> Any:
    from .api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.data", name, ["Dataset", "AUTOTUNE", "Options", "experimental"]))
