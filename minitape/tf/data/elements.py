"""Elements of datasets: structures whose leaves are tensors, how they are taken, and their types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ... import tf
from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.custom import no_tapes
from ...engine.evidence import decided
from ...engine.invalid import invalid
from ...engine.state import state
from ...engine.tensor import EagerTensor, Tensor, wrap


def is_structure(value: Any) -> bool:
    """True for a tuple or a dictionary; lists are tensors."""
    return isinstance(value, (tuple, Mapping))


def map_leaves(function: Callable[..., Any], value: Any) -> Any:
    """A function of the leaves; tuples and dictionaries are structures, lists are tensors."""
    if isinstance(value, Mapping):
        return type(value)((k, map_leaves(function, v)) for k, v in value.items())  # type: ignore[call-arg]
    if isinstance(value, tuple):
        items = [map_leaves(function, v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return function(value)


def is_dataset(value: Any) -> bool:
    """True for a dataset."""
    return hasattr(value, "element_spec") and hasattr(value, "cardinality")


def leaves(value: Any) -> list[Any]:
    """The leaves of a structure."""
    found: list[Any] = []
    map_leaves(found.append, value)
    return found


def packed(structure: Any, items: Iterable[Any]) -> Any:
    """A structure of this form with other leaves, in their order.

    >>> packed({"a": 0, "b": (0, 0)}, "xyz")
    {'a': 'x', 'b': ('y', 'z')}
    """
    left = iter(items)
    return map_leaves(lambda _: next(left), structure)


def source(value: Any) -> Any:
    """A leaf that is given to a dataset, as a tensor."""
    if isinstance(value, Tensor) or hasattr(value, "_composite") or is_dataset(value) or value is None:
        return value
    return convert_to_tensor(value)


def handed(value: Any) -> Any:
    """A leaf that a dataset is made of: a tensor of its own, which no tape connects with the one that was given."""
    tensor = source(value)
    return decided(wrap(tensor.array), (tensor,), "tf.data") if type(tensor) is EagerTensor else tensor


def apart(step: Callable[[], Any]) -> Any:
    """Runs a step of an input pipeline, which tapes do not see, as it runs beside the program in TensorFlow."""
    if state.record is None or state.graph is not None:
        return step()
    with no_tapes():
        return step()


def call(function: Callable[..., Any], element: Any) -> Any:
    """``function`` of an element: a tuple becomes several arguments."""
    return function(*element) if type(element) is tuple else function(element)


def typed(item: Any, kinds: Any) -> Any:
    """What a generator yields, as tensors of these types."""
    if isinstance(kinds, (tuple, list)):
        if not isinstance(item, (tuple, list)) or len(item) != len(kinds):
            raise invalid("TypeError: `generator` yielded an element that did not match the expected structure. The "
                          f"expected structure was {kinds}, but the yielded element was {item}.")  # fmt: skip
        return tuple(typed(i, k) for i, k in zip(item, kinds, strict=True))
    if isinstance(kinds, Mapping):
        return {k: typed(item[k], kind) for k, kind in kinds.items()}
    if hasattr(item, "_composite"):
        return item
    array = np.asarray(item)
    return convert_to_tensor(
        array.astype(dtypes.as_dtype(kinds).as_numpy_dtype) if array.dtype.kind in "fiub" else item, kinds
    )


# -- types -------------------------------------------------------------------------------------------------------------


def tensor_spec(shape: Any, dtype: Any) -> Any:
    """The type of a tensor."""
    return tf.TensorSpec(shape, dtype)


def spec_of(value: Any, skip: int = 0) -> Any:
    """The type of a leaf, without its first ``skip`` axes."""
    if hasattr(value, "_composite"):
        spec = value._type_spec
        if skip and hasattr(spec, "ragged_rank"):
            shape = spec.shape[skip:]
            return type(spec)(shape, spec.dtype, spec.ragged_rank - 1)
        return type(spec)(spec.shape[skip:], spec.dtype) if skip else spec
    if is_dataset(value):
        return f"DatasetSpec({value.element_spec}, TensorShape([]))"
    return tensor_spec(tuple(value.shape)[skip:], value.dtype)


def with_rows(spec: Any, size: int | None) -> Any:
    """The type of a batch of ``size`` such leaves."""
    shape = [size, *spec.shape]
    if hasattr(spec, "ragged_rank"):
        return type(spec)(shape, spec.dtype, spec.ragged_rank + 1)
    return type(spec)(shape, spec.dtype)


def signature(types: Any, shapes: Any) -> Any:
    """The specs that the older arguments of ``from_generator`` describe."""
    if types is None:
        raise TypeError(
            "To specify the output signature you need to provide either the `output_signature` argument or the "
            "`output_types` argument."
        )
    if isinstance(types, (tuple, list)):
        inner = [None] * len(types) if shapes is None else shapes
        return tuple(signature(t, s) for t, s in zip(types, inner, strict=True))
    if isinstance(types, Mapping):
        return {key: signature(kind, None if shapes is None else shapes[key]) for key, kind in types.items()}
    return tensor_spec(shapes, types)


def check_shape(part: Any, spec: Any) -> None:
    """InvalidArgumentError for an element of a generator that has another shape than was announced."""
    if not spec.shape.is_compatible_with(part.shape):
        raise invalid(f"TypeError: `generator` yielded an element of shape {part.shape} where an element of shape "
                      f"{spec.shape} was expected.")  # fmt: skip
