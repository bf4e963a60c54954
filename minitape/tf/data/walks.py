"""Walks over a dataset."""

from __future__ import annotations

from typing import Any

from ...engine.recording.state import state
from ...engine.values.errors import OutOfRangeError
from .elements import apart


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
        return apart(self._elements.__next__)

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
