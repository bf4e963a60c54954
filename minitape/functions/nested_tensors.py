"""Find and replace the tensors in a nested structure, such as the arguments of a call."""

from collections.abc import Iterable

from ..engine.tensor.tensor import Tensor
from ..engine.types import Structure, Tensors
from ..engine.values.nest import flatten, map_structure


def list_tensors(structure: Structure) -> Tensors:
    """Return the tensors in a structure, in the order of ``tf.nest.flatten``.

    Args:
        structure: A nested structure, whose leaves may have any type.
    """
    return [leaf for leaf in flatten(structure) if isinstance(leaf, Tensor)]


def replace_tensors(structure: Structure, tensors: Iterable[object]) -> Structure:
    """Return a copy of a structure with other values in place of its tensors.

    Args:
        structure: The nested structure. Its other leaves stay as they are.
        tensors: A value for each tensor, in the order of ``list_tensors``.
    """
    remaining = iter(tensors)
    return map_structure(lambda leaf: next(remaining) if isinstance(leaf, Tensor) else leaf, structure)
