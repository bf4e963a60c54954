"""Datasets inside graphs: elements are drawn when the graph runs, not when it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..engine import dtypes, errors, nest
from ..engine.shape import TensorShape
from ..engine.state import state
from ..engine.tensor import Tensor, wrap
from .effects import LATER_STATEFUL, later
from .primitive import GraphPrimitive
from .scopes import init_scope
from .spec import TensorSpec
from .symbolic import is_symbolic
from .whiles import REDUCE, WHILE

NEXT = GraphPrimitive(
    "next_element", "IteratorGetNext", LATER_STATEFUL.infer, eager=LATER_STATEFUL.eager, stateful=True
)
_RUN = 32  # the index of an element: its number, and above these bits the number of the run


def specs_of(source: Any) -> list[Any] | None:
    """(shape, dtype) of each part of an element; None for what only Python can walk over."""
    with init_scope():
        try:
            spec = source.element_spec
            made_here = next(iter(source), ()) if getattr(source, "_in_graph", False) else ()
        except Exception:  # of the user's functions; Python's loop, which then walks over it, raises it again
            return None
    leaves = nest.flatten(spec)
    if not leaves or not all(type(leaf) is TensorSpec for leaf in leaves):
        return None
    if any(is_symbolic(leaf) or not isinstance(leaf, Tensor) for leaf in nest.flatten(made_here)):
        return None
    return [(leaf.shape, leaf.dtype) for leaf in leaves]


class Stream:
    """What a ``for`` over a dataset walks over: each run of the loop starts the dataset anew."""

    def __init__(self, source: Any, specs: list[Any]) -> None:
        self._source, self._specs, self._run = source, specs, 0
        self.kinds = REDUCE if _is_dataset(source) else WHILE  # of loops; of an iterator's, too, they are ordinary ones
        self._live: Iterator[Any] = iter(())
        self._seen: list[Any] = []  # a gradient goes through the loop's turns once more
        self.start = later(self._begin, [], [(TensorShape([]), dtypes.int64)], stateful=True)[0]

    def _begin(self) -> list[Any]:
        self._run, self._live, self._seen = self._run + 1, iter(self._source), []
        return [wrap(np.int64(self._run << _RUN))]

    def _number(self, index: Any) -> int:
        run, number = divmod(int(index), 1 << _RUN)
        if run != self._run:
            raise errors.FailedPreconditionError(
                None,
                None,
                "The gradient of a loop over a dataset is only known until the loop runs again: compute it before.",
            )
        return number

    def _has(self, index: Any) -> list[Any]:
        number = self._number(index)
        if number == len(self._seen):
            self._seen.extend([e] for e in (next(self._live, self),) if e is not self)
        return [wrap(np.bool_(number < len(self._seen)))]

    def _element(self, index: Any) -> list[Any]:
        return nest.flatten(self._seen[self._number(index)][0])

    def item(self, index: Any) -> Any:
        """The element, as tensors of the graph."""
        return nest.pack_sequence_as(self._source.element_spec, later(self._element, [index], self._specs))

    def next(self, index: Any) -> Any:
        """The index of the following element."""
        return index + 1

    def inside(self, index: Any) -> Any:
        """Whether there is such an element."""
        return later(self._has, [index], [(TensorShape([]), dtypes.bool)])[0]


class _Restarted:
    """``iter(dataset)`` written inside a function: every run of the function starts anew."""

    def __init__(self, source: Any) -> None:
        self._source, self.element_spec = source, source.element_spec
        self._live: Iterator[Any] = iter(())
        later(self._begin, [], [(TensorShape([]), dtypes.int32)], stateful=True)

    def _begin(self) -> list[Any]:
        self._live = iter(self._source)
        return [wrap(np.int32(0))]

    def __iter__(self) -> _Restarted:
        return self

    def __next__(self) -> Any:
        return next(self._live)

    def get_next(self) -> Any:
        """The next element; OutOfRangeError after the last one."""
        return next_element(self)


def restarted(source: Any) -> Any:
    """``iter`` of a dataset while a graph is built."""
    return iter(source) if specs_of(source) is None else _Restarted(source)


def next_element(iterator: Any) -> Any:
    """``next`` of a dataset's iterator while a graph is built: each run of the graph draws one element."""
    leaves = nest.flatten(iterator.element_spec)
    if not all(type(leaf) is TensorSpec for leaf in leaves):
        return next(iterator)

    def draw() -> list[Any]:
        try:
            return nest.flatten(next(iterator))
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence\n\t [[{{node IteratorGetNext}}]]") from None

    specs = [(leaf.shape, leaf.dtype) for leaf in leaves]
    found = state.graph.apply(NEXT, (), {"function": draw, "specs": specs})
    return nest.pack_sequence_as(iterator.element_spec, found)


def _is_dataset(value: Any) -> bool:
    return state.graph is not None and hasattr(value, "element_spec") and hasattr(value, "as_numpy_iterator")


def is_stream(value: Any) -> bool:
    """True for datasets and their iterators while a graph is built."""
    return state.graph is not None and hasattr(value, "element_spec") and hasattr(value, "__iter__")


def _iter(value: Any) -> Any:
    return restarted(value) if _is_dataset(value) else iter(value)


def _next(iterator: Any, *default: Any) -> Any:
    if default or not is_stream(iterator) or _is_dataset(iterator):
        return next(iterator, *default)
    return next_element(iterator)


def _enumerate(value: Any, start: Any = 0) -> Any:
    if _is_dataset(value) and specs_of(value) is not None:
        return value.enumerate(start)
    return enumerate(value, start)


def _zip(*values: Any, **options: Any) -> Any:
    if all(map(_is_dataset, values)) and not options:
        return type(values[0]).zip(values)
    return zip(*values, **options)  # noqa: B905 - as the caller said


def _map(function: Any, *values: Any) -> Any:
    if not all(map(_is_dataset, values)):
        return map(function, *values)
    return (_zip(*values) if len(values) > 1 else values[0]).map(function)


def _filter(function: Any, values: Any) -> Any:
    return values.filter(function) if _is_dataset(values) else filter(function, values)


STREAMS: dict[Any, Callable[..., Any]] = {
    iter: _iter, next: _next, enumerate: _enumerate, zip: _zip, map: _map, filter: _filter
}  # fmt: skip
