"""Datasets, as training loops use them: tensors that are sliced, mapped, shuffled and batched.

A dataset is a recipe: each ``for`` over it begins anew. Functions given to ``map`` and ``filter`` run on each element
as it comes, with its value, and may print or look at it.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...engine import dtypes, nest
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.shown import methods_of
from ...engine.state import state
from ...engine.tensor import wrap
from .arguments import datasets, following, function, number, parallel_calls
from .batches import Batches, row, rows_of
from .choosing import Choices
from .elements import (
    apart,
    call,
    check_shape,
    handed,
    leaves,
    map_leaves,
    packed,
    signature,
    source,
    spec_of,
    tensor_spec,
    typed,
)
from .options import Options
from .pipelines import Pipelines
from .recipe import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Recipe
from .selection import Selection
from .shuffling import Rounds, drawn, seed_pair, words


@methods_of("DatasetV2")
class Dataset(Batches, Choices, Selection, Pipelines, Recipe):
    """A sequence of elements, each a tensor or a structure (tuple, dictionary) of tensors.

    Make one with ``Dataset.from_tensor_slices`` and its siblings. See https://www.tensorflow.org/api_docs/python/tf/data/Dataset.

    >>> import minitape as tf
    >>> ds = tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: x * 10).batch(2)
    >>> [batch.numpy().tolist() for batch in ds]
    [[10, 20], [30]]
    """

    # -- sources ------------------------------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """One element for each row of the tensors; ValueError when they have different numbers of rows.

        >>> import minitape as tf
        >>> pairs = tf.data.Dataset.from_tensor_slices(([[1, 2], [3, 4]], ["a", "b"]))
        >>> [(x.numpy(), y.numpy()) for x, y in pairs]
        [(array([1, 2], dtype=int32), b'a'), (array([3, 4], dtype=int32), b'b')]
        """
        if tensors is None:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        parts = map_leaves(handed, tensors)
        flat = leaves(parts)
        if not flat:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        if any(not len(t.shape) for t in flat):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        count = rows_of(flat[0])
        for part in flat[1:]:
            if rows_of(part) != count:
                raise ValueError(f"Dimensions {count} and {rows_of(part)} are not compatible")
        return Dataset(
            lambda: (map_leaves(lambda t, i=i: row(t, i), parts) for i in range(count)),
            count,
            "_TensorSliceDataset",
            map_leaves(lambda t: spec_of(t, 1), parts),
        )

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: the tensors themselves.

        >>> import minitape as tf
        >>> [x.numpy() for x in tf.data.Dataset.from_tensors([1, 2, 3])]
        [array([1, 2, 3], dtype=int32)]
        """
        if tensors is None:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        parts = map_leaves(handed, tensors)
        return Dataset(lambda: iter([parts]), 1, "_TensorDataset", map_leaves(spec_of, parts))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = (),
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What a generator function yields, as tensors of ``output_signature``.

        ``output_types`` and ``output_shapes`` are the older way to say the same. TypeError for both ways at once or
        none; InvalidArgumentError for an element of another shape.

        >>> import minitape as tf
        >>> def words():
        ...     yield "tape"
        ...     yield "gradient"
        >>> data = tf.data.Dataset.from_generator(words, output_signature=tf.TensorSpec([], tf.string))
        >>> list(data.as_numpy_iterator())
        [b'tape', b'gradient']
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if not isinstance(args, (tuple, list)):
            raise TypeError("values must be a sequence.")
        if output_signature is None:
            output_signature = signature(output_types, output_shapes)
        elif output_types is not None or output_shapes is not None:
            word = "types" if output_types is not None else "shapes"
            raise TypeError(
                f"The `output_{word}` argument can not be used together with the `output_signature` argument."
            )
        for spec in nest.flatten(output_signature):
            if not (hasattr(spec, "dtype") and hasattr(spec, "shape")):
                raise TypeError("`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                                f"{type(spec)} which is not.")  # fmt: skip
        kinds = nest.map_structure(lambda s: s.dtype, output_signature)

        def start() -> Iterator[Any]:
            for item in generator(*[convert_to_tensor(a).numpy() for a in args]):
                element = typed(item, kinds)
                for part, spec in zip(leaves(element), nest.flatten(output_signature), strict=True):
                    check_shape(part, spec)
                yield element

        return Dataset(start, UNKNOWN_CARDINALITY, "_FlatMapDataset", output_signature)

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """The numbers of Python's range as scalars of ``output_type``.

        ValueError unless 1 to 3 bounds are given, InvalidArgumentError for steps of 0.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(2, 10, 3)]
        [2, 5, 8]
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        words = ("start", "stop", "step") if len(args) > 1 else ("stop",)
        bounds = [number(a, w, "RangeDataset") for a, w in zip(args, words, strict=False)]
        if bounds[2:] == [0]:
            raise invalid("step must be a non-zero integer.", "RangeDataset")
        numbers = range(*bounds)
        kind = dtypes.as_dtype(output_type).as_numpy_dtype
        return Dataset(
            lambda: (wrap(kind(i)) for i in numbers), len(numbers), "_RangeDataset", tensor_spec((), output_type)
        )

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, until the shortest ends.

        >>> import minitape as tf
        >>> pairs = tf.data.Dataset.zip(tf.data.Dataset.range(5), tf.data.Dataset.from_tensor_slices(["a", "b"]))
        >>> [(int(n), word.numpy()) for n, word in pairs]
        [(0, b'a'), (1, b'b')]
        """
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = leaves(given)
        if not parts:
            raise TypeError("Must pass at least one dataset to `zip`.")
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
                yield packed(given, items)

        return Dataset(start, length, "_ZipDataset", lambda: map_leaves(lambda p: p.element_spec, given))

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
        """A function of each element; one that is a tuple gives several arguments. A list that it returns is a tuple.

        Elements are made one after the other, in their order: ``deterministic``, ``synchronous`` and
        ``use_unbounded_threadpool`` say how TensorFlow makes several at a time, and have no effect.
        ValueError for what is no function, InvalidArgumentError for ``num_parallel_calls`` below 1.

        >>> import minitape as tf
        >>> pairs = tf.data.Dataset.from_tensor_slices(([1, 2], [10, 20]))
        >>> [int(total) for total in pairs.map(lambda x, y: x + y)]
        [11, 22]
        """
        function(map_func)
        parallel_calls(num_parallel_calls, "ParallelMapDatasetV2")

        def start() -> Iterator[Any]:
            for element in self:
                made = call(map_func, element)
                yield map_leaves(source, tuple(made) if isinstance(made, list) else made)

        return self._derived(start, self._length, "_MapDataset", lambda: self._spec_of_map(map_func))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """A function gives a dataset for each element (else TypeError); their elements one after the other.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(4).flat_map(tf.data.Dataset.range)]
        [0, 0, 1, 0, 1, 2]
        """
        function(map_func)
        return self._derived(
            lambda: itertools.chain.from_iterable(datasets(map_func, self)), UNKNOWN_CARDINALITY, "_FlatMapDataset"
        )

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool = True, name: str | None = None
    ) -> Dataset:
        """Elements drawn by chance from the next ``buffer_size`` ones; in another order at each iteration.

        From all of them for ``tf.data.UNKNOWN_CARDINALITY``; InvalidArgumentError for another size below 1.

        >>> import minitape as tf
        >>> tf.random.set_seed(7)
        >>> shuffled = tf.data.Dataset.range(5).shuffle(5, seed=1)
        >>> [int(n) for n in shuffled], [int(n) for n in shuffled]
        ([0, 4, 1, 3, 2], [4, 2, 0, 3, 1])
        """
        size = number(buffer_size, "buffer_size", "ShuffleDatasetV3")
        if size <= 0 and size != UNKNOWN_CARDINALITY:
            raise invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY", "ShuffleDatasetV3")
        size = size if size > 0 else sys.maxsize
        seeds = seed_pair(seed)
        rounds = Rounds(seeds)  # each iteration takes two seeds from here

        def start() -> Iterator[Any]:
            mine = (next(rounds), next(rounds)) if reshuffle_each_iteration else seeds
            return drawn(iter(self), size, words(mine))

        made = self._derived(start, self._length, "_ShuffleDataset", self._spec)
        made._rounds = rounds if reshuffle_each_iteration else None
        return made

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements: there is nothing to prepare ahead of time here.

        InvalidArgumentError for a ``buffer_size`` below 0 that is not AUTOTUNE.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(3).prefetch(tf.data.AUTOTUNE)]
        [0, 1, 2]
        """
        size = AUTOTUNE if buffer_size is None else number(buffer_size, "buffer_size", "PrefetchDataset")
        if size < 0 and size != AUTOTUNE:
            raise invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning", "PrefetchDataset")
        return self._derived(lambda: iter(self), self._length, "_PrefetchDataset", self._spec)

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, made once and kept in memory. ValueError for a file name.

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
        if filename:
            raise ValueError("minitape caches datasets in memory only: leave `filename` out.")
        walks: list[list[Any]] = []  # the elements of each walk that came to its end

        def start() -> Iterator[Any]:
            if walks:
                yield from walks[0]
                return
            mine = []
            for element in self:
                mine.append(element)
                yield element
            walks.append(mine)

        return self._derived(start, self._length, "CacheDataset", self._spec)

    def apply(self, transformation_func: Callable[[Dataset], Dataset], name: str | None = None) -> Dataset:
        """A function of the dataset; TypeError when it gives none.

        >>> import minitape as tf
        >>> def evens(dataset):
        ...     return dataset.filter(lambda n: n % 2 == 0)
        >>> [int(n) for n in tf.data.Dataset.range(5).apply(evens)]
        [0, 2, 4]
        """
        out = transformation_func(self)
        if not isinstance(out, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(out)}.")
        return out

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        """The same elements: options change how TensorFlow runs a pipeline, and nothing here.

        TypeError for what is no ``tf.data.Options``.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(3).with_options(tf.data.Options())]
        [0, 1, 2]
        """
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be a tf.data.Options, got {type(options).__name__!r}.")
        made = self._derived(lambda: iter(self), self._length, "_OptionsDataset", lambda: self.element_spec)
        made._options = options
        return made

    def options(self) -> Options:
        """The options that ``with_options`` was given last, for this dataset or one that it was made of.

        >>> import minitape as tf
        >>> options = tf.data.Options()
        >>> options.deterministic = True
        >>> tf.data.Dataset.range(3).with_options(options).batch(2).options().deterministic
        True
        """
        given = getattr(self, "_options", None)
        if given is not None:
            return given
        return Options() if self._source is None else self._source.options()

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """``state = reduce_func(state, element)`` over all elements; the last state.

        TypeError when a state has another type than the one before.

        >>> import minitape as tf
        >>> int(tf.data.Dataset.range(1, 5).reduce(tf.constant(1, tf.int64), lambda product, n: product * n))
        24
        """
        function(reduce_func)
        first = map_leaves(source if state.graph is not None else handed, initial_state)

        def fold(before: Any, element: Any) -> Any:
            return following(before, map_leaves(source, reduce_func(before, element)))

        return apart(lambda: functools.reduce(fold, self, first))

    def _spec_of_map(self, map_func: Callable[..., Any]) -> Any:
        """The types of what a function makes of elements, as its trace knows them; None for one that needs their values."""
        from ...graphs.function import Function

        spec = self.element_spec
        try:
            traced = Function(lambda *tensors: call(map_func, packed(spec, tensors))).get_concrete_function(*leaves(spec))
            return map_leaves(spec_of, traced.structured_outputs)
        except Exception:
            return None

    def _derived(self, start: Callable[[], Iterator[Any]], length: int, kind: str, spec: Any = None) -> Dataset:
        made = Dataset(start, length, kind, spec)
        made._source = self
        return made
