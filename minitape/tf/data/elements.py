"""Elements of datasets: structures whose leaves are tensors, how they are taken, and their types."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...engine.recording.block import no_tapes
from ...engine.recording.evidence import with_influences
from ...engine.recording.state import state
from ...engine.tensor.convert import convert_to_tensor
from ...engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ...engine.values import dtypes
from ...engine.values.invalid import invalid
from ...functions.spec import TensorSpec
from ...ops import philox


def map_leaves(function: Callable, value: Any) -> Any:
    """A function of the leaves; tuples and dictionaries are structures, lists are tensors."""
    if isinstance(value, Mapping):
        return type(value)((k, map_leaves(function, v)) for k, v in value.items())  # type: ignore[call-arg]
    if isinstance(value, tuple):
        items = [map_leaves(function, v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return function(value)


def leaves(value: Any) -> list:
    """The leaves of a structure."""
    found: list = []
    map_leaves(found.append, value)
    return found


def pack(structure: Any, items: Iterable) -> Any:
    """A structure of this form with other leaves, in their order.

    >>> pack({"a": 0, "b": (0, 0)}, "xyz")
    {'a': 'x', 'b': ('y', 'z')}
    """
    left = iter(items)
    return map_leaves(lambda _: next(left), structure)


def tensor(value: Any) -> Any:
    """A leaf that a function of elements gives, as a tensor."""
    if hasattr(value, "_composite"):
        raise TypeError("Elements of datasets are dense tensors in minitape, not ragged or sparse ones.")
    return value if isinstance(value, Tensor) else convert_to_tensor(value)


def detach(value: Any) -> Any:
    """A leaf that a dataset is made of: a tensor of its own, which no tape connects with the one that was given."""
    given = tensor(value)
    return with_influences(new_tensor(given.array), (given,), "tf.data") if type(given) is EagerTensor else given


def outside_tape(step: Callable[[], Any]) -> Any:
    """Runs a step of an input pipeline, which tapes do not see, as it runs beside the program in TensorFlow."""
    if state.record is None or state.graph is not None:
        return step()
    with no_tapes():
        return step()


def call(function: Callable, element: Any) -> Any:
    """``function`` of an element: a tuple becomes several arguments."""
    return function(*element) if type(element) is tuple else function(element)


def spec_of(value: Any) -> Any:
    """The type of a leaf."""
    return TensorSpec(value.shape, value.dtype)


def as_yielded(item: Any, specs: Any) -> Any:
    """What a generator yields, as tensors of these types; InvalidArgumentError for another structure or shape."""
    if isinstance(specs, (tuple, list)):
        if not isinstance(item, (tuple, list)) or len(item) != len(specs):
            expected = map_leaves(lambda spec: spec.dtype, tuple(specs))
            raise invalid(
                "TypeError: `generator` yielded an element that did not match the expected structure. The "
                f"expected structure was {expected}, but the yielded element was {item}."
            )
        return tuple(as_yielded(i, s) for i, s in zip(item, specs, strict=True))
    if isinstance(specs, Mapping):
        return {key: as_yielded(item[key], spec) for key, spec in specs.items()}
    array = np.asarray(item)
    made = convert_to_tensor(
        array.astype(dtypes.as_dtype(specs.dtype).as_numpy_dtype) if array.dtype.kind in "fiub" else item, specs.dtype
    )
    if not specs.shape.is_compatible_with(made.shape):
        raise invalid(
            f"TypeError: `generator` yielded an element of shape {made.shape} where an element of shape "
            f"{specs.shape} was expected."
        )
    return made


def shuffle(source: Iterator, size: int, numbers: Iterator[int]) -> Iterator:
    """Elements drawn from a buffer of the next ``size`` ones, which is filled up before each draw.

    >>> "".join(shuffle(iter("abcd"), 2, iter([1, 1, 0, 0])))
    'bcad'
    """
    buffer = list(itertools.islice(source, size))
    while buffer:
        i = next(numbers) % len(buffer)
        chosen, buffer[i] = buffer[i], buffer[0]
        del buffer[0]
        yield chosen
        buffer += itertools.islice(source, 1)


def words(seeds: tuple[int, int]) -> Iterator[int]:
    """The random 32 bits of two seeds, one after the other."""
    for first in itertools.count(step=16):
        yield from philox.blocks(seeds[0], (seeds[1] << 64) + first, 16).reshape(-1).tolist()
