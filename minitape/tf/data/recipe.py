"""What is known of a dataset - how its elements are made, how many there are, of which types - and walks over it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...engine.errors import OutOfRangeError
from ...engine.invalid import invalid
from ...engine.shown import methods_of
from ...engine.state import state
from ...engine.tensor import wrap
from .elements import apart, leaves, map_leaves, spec_of
from .shuffling import Rounds

AUTOTUNE = -1
INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2


@methods_of("DatasetV2")
class Recipe:
    """How to make elements, one after the other, each time anew: ``start()`` gives an iterator over them."""

    _checkpointed: Any = None  # a checkpoint takes it, and keeps nothing of it

    def __init__(self, start: Callable[[], Iterator[Any]], length: int, kind: str, spec: Any = None) -> None:
        self._start, self._length, self._kind, self._spec = start, length, kind, spec
        self._source: Recipe | None = None  # what this one is made of
        self._rounds: Rounds | None = None  # random numbers, two for each iteration
        self._in_graph = state.graph is not None  # its parts may be tensors of the graph

    def _known_specs(self) -> list[Any] | None:
        """The types of an element's leaves; None where an element must be made to know them."""
        return None if self._spec is None or callable(self._spec) else leaves(self._spec)

    def pass_over(self) -> None:
        """Takes the random numbers of one iteration and iterates not."""
        if self._rounds is not None:
            next(self._rounds), next(self._rounds)
        if self._source is not None:
            self._source.pass_over()

    def _all_rounds(self) -> list[Rounds]:
        """The random numbers of this dataset and of those that it is made of."""
        return [*([] if self._rounds is None else [self._rounds]), *([] if self._source is None else self._source._all_rounds())]

    def __iter__(self) -> DatasetIterator:
        return DatasetIterator(self)

    def as_numpy_iterator(self) -> NumpyIterator:
        """The elements as NumPy arrays; ``next(iterator)`` and ``iterator.next()`` give one.

        >>> import minitape as tf
        >>> list(tf.data.Dataset.range(3).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        return NumpyIterator(iter(self))

    def cardinality(self) -> Any:
        """The number of elements, int64: -1 for endless datasets, -2 where nobody knows.

        >>> import minitape as tf
        >>> numbers = tf.data.Dataset.range(5)
        >>> [d.cardinality().numpy() for d in (numbers.batch(2), numbers.repeat(), numbers.filter(bool))]
        [np.int64(3), np.int64(-1), np.int64(-2)]
        """
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
        """The only element; InvalidArgumentError when there are none or several.

        >>> import minitape as tf
        >>> tf.data.Dataset.range(5).batch(5).get_single_element().numpy()
        array([0, 1, 2, 3, 4])
        """
        found = list(itertools.islice(iter(self), 2))
        if len(found) != 1:
            what = "was empty" if not found else "had more than one element"
            raise invalid(f"Dataset {what}.", "DatasetToSingleElement")
        return found[0]

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

    __str__ = __repr__


class NumpyIterator:
    """The elements of another iterator as NumPy arrays."""

    def __init__(self, elements: Iterator[Any]) -> None:
        self._elements = elements

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return map_leaves(lambda t: t.numpy() if hasattr(t, "numpy") else t, next(self._elements))

    def next(self) -> Any:
        """The next element."""
        return next(self)


class DatasetIterator:
    """One walk over a dataset, as ``iter(dataset)`` makes it.

    ``next`` ends with StopIteration, ``get_next`` with OutOfRangeError.

    >>> import minitape as tf
    >>> iterator = iter(tf.data.Dataset.range(2))
    >>> next(iterator).numpy(), iterator.get_next().numpy(), isinstance(iterator, tf.data.Iterator)
    (np.int64(0), np.int64(1), True)
    """

    _checkpointed: frozenset[str] = frozenset({"_elements"})

    def __init__(self, dataset: Recipe) -> None:
        self._dataset = dataset
        self._begin([rounds.taken for rounds in dataset._all_rounds()])

    def _begin(self, rounds: list[int]) -> None:
        self._elements, self._rounds, self._taken = self._dataset._start(), rounds, 0

    @property
    def _place(self) -> np.ndarray:
        """Where the walk is, as a checkpoint keeps it: how many elements are gone, and where the random numbers began."""
        return np.array([self._taken, *self._rounds], np.int64)

    @_place.setter
    def _place(self, place: Any) -> None:
        taken, *began = map(int, place)
        for rounds, first in zip(self._dataset._all_rounds(), began, strict=True):
            rounds.taken = first
        self._begin(began)
        for _ in range(taken):
            next(self)

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        element = apart(self._elements.__next__)
        self._taken += 1
        return element

    def get_next(self) -> Any:
        """The next element; OutOfRangeError after the last one."""
        if state.graph is not None:
            from ...graphs.streams import next_element

            return next_element(self)
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext] name: ") from None

    @property
    def element_spec(self) -> Any:
        """The types of an element."""
        return self._dataset.element_spec
