"""Datasets inside graphs: elements are drawn when the graph runs, not when it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.state import state
from ..engine.tensor.tensor import new_tensor
from ..engine.values import dtypes, errors, nest
from ..engine.values.shape import TensorShape
from .effects import NEXT, add_effect
from .scopes import init_scope
from .spec import TensorSpec
from .whiles import REDUCE

if TYPE_CHECKING:
    from ..engine.types import Index, Value


class Stream:
    """What a ``for`` over a dataset walks over: each run of the loop starts the dataset anew."""

    kinds = REDUCE

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._live: Iterator = iter(())
        self._element: Any = None
        self.start = add_effect(self._begin, [], [(TensorShape([]), dtypes.int32)], stateful=True)[0]

    def _begin(self) -> list:
        self._live = iter(self._dataset)
        return [new_tensor(np.int32(0))]

    def _draw(self, index: Index) -> list:
        self._element = next(self._live, self)
        return [new_tensor(np.bool_(self._element is not self))]

    def item(self, index: Index) -> Any:
        """The element, as tensors of the graph."""
        spec = self._dataset.element_spec
        kinds = [(leaf.shape, leaf.dtype) for leaf in nest.flatten(spec)]
        return nest.pack_sequence_as(
            spec, add_effect(lambda _: nest.flatten(self._element), [index], kinds, stateful=True)
        )

    def next(self, index: Index) -> Any:
        """The index of the following element."""
        return index + 1

    def inside(self, index: Index) -> Any:
        """Whether there is such an element: it is drawn."""
        return add_effect(self._draw, [index], [(TensorShape([]), dtypes.bool)], stateful=True)[0]


def is_dataset(value: Value) -> bool:
    """True for datasets while a graph is built."""
    return state.graph is not None and hasattr(value, "as_numpy_iterator")


def is_drawn_later(dataset: Any) -> bool:
    """Whether a loop of a graph can go over it: its elements are plain tensors, not made of those of this graph."""
    with init_scope():
        leaves = nest.flatten(dataset.element_spec)
        try:
            if getattr(dataset, "_in_graph", False):
                next(iter(dataset), ())
        except TypeError:  # a tensor of the graph has no value here
            return False
    return bool(leaves) and all(type(leaf) is TensorSpec for leaf in leaves)


def is_iterator(value: Value) -> bool:
    """True for the iterators of datasets while a graph is built."""
    return state.graph is not None and hasattr(value, "element_spec") and hasattr(value, "get_next")


def next_element(iterator: Any) -> Any:
    """``next`` of a dataset's iterator while a graph is built: each run of the graph draws one element."""

    def draw() -> list:
        try:
            return nest.flatten(next(iterator))
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence\n\t [[{{node IteratorGetNext}}]]") from None

    specs = [(leaf.shape, leaf.dtype) for leaf in nest.flatten(iterator.element_spec)]
    found = state.graph.apply(NEXT, (), {"function": draw, "specs": specs})
    return nest.pack_sequence_as(iterator.element_spec, found)


def _refuse_iter(dataset: Any) -> Any:
    raise NotImplementedError(
        "In a tf.function minitape makes no iterators: write `for x in dataset`, or give it iter(dataset)."
    )


DATASETS: dict[Any, Callable] = {  # Python's functions that have their own way with datasets in a graph
    enumerate: lambda dataset, start=0: dataset.enumerate(start),
    zip: lambda *datasets: type(datasets[0]).zip(datasets),
    iter: _refuse_iter,
}
