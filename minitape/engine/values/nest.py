"""Flatten nested Python structures, and pack values into structures (``tf.nest``).

Sequences and dictionaries are structures, and everything else is a leaf. As in
https://www.tensorflow.org/api_docs/python/tf/nest, dictionaries are traversed in the order of their sorted keys.
"""

import copy
from collections.abc import Iterator, Mapping, MappingView, Sequence

from ..types import Function, Object, Structure

# This set caches classes that turned out to be leaves, because `issubclass` is slow.
_LEAF_TYPES: set[type] = set()


def is_nested(structure: Structure) -> bool:
    """Return whether an object is a dictionary, a view of a dictionary, or a sequence other than a string.

    Args:
        structure: Any object.

    Returns:
        Whether the object is a structure rather than a leaf.

    >>> is_nested([1]), is_nested("ab")
    (True, False)
    """
    kind = type(structure)
    if kind in _LEAF_TYPES:
        return False
    has_parts = issubclass(kind, (Sequence, Mapping, MappingView)) and not issubclass(kind, (str, bytes))
    if not has_parts:
        _LEAF_TYPES.add(kind)
    return has_parts


def _list_children(structure: Structure) -> list[Structure] | None:
    """List the children of a structure in order, or return None for a leaf."""
    if is_nested(structure):
        return [structure[key] for key in sorted(structure)] if isinstance(structure, Mapping) else list(structure)
    return None


def flatten(structure: Structure) -> list[Structure]:
    """Return the leaves of a structure, in order.

    See https://www.tensorflow.org/api_docs/python/tf/nest/flatten.

    Args:
        structure: A nested structure or a leaf.

    Returns:
        A list of the leaves.

    Raises:
        TypeError: If the keys of a dictionary cannot be sorted.

    >>> flatten({"b": [1, 2], "a": (3,)})
    [3, 1, 2]
    """
    kind = type(structure)
    if kind in _LEAF_TYPES:
        return [structure]
    if (kind is list or kind is tuple) and _LEAF_TYPES.issuperset(map(type, structure)):
        return list(structure)
    children = _list_children(structure)
    return [structure] if children is None else [leaf for child in children for leaf in flatten(child)]


def pack_sequence_as(structure: Structure, flat_sequence: Structure) -> Structure:
    """Pack the leaves in ``flat_sequence`` into a structure like ``structure``.

    See https://www.tensorflow.org/api_docs/python/tf/nest/pack_sequence_as.

    Args:
        structure: The structure to imitate. Its own leaves do not matter.
        flat_sequence: The leaves, in the order of :func:`flatten`.

    Returns:
        A new structure.

    Raises:
        ValueError: If the number of leaves differs.
        TypeError: If ``flat_sequence`` is not a sequence.

    >>> pack_sequence_as({"b": 0, "a": [0]}, [1, 2])
    {'b': 2, 'a': [1]}
    """
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence!s}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    leaf_count = len(flatten(structure))
    count = len(flat_sequence)
    if leaf_count != count:
        raise ValueError(
            f"Could not pack sequence. Structure had {leaf_count} atoms, but flat_sequence had {count} "
            f"items.  Structure: {structure!r}, flat_sequence: {flat_sequence!r}."
        )
    return _pack_leaves_like(structure, iter(flat_sequence))


def _pack_leaves_like(structure: Structure, leaves: Iterator[Structure]) -> Structure:
    children = _list_children(structure)
    if children is None:
        return next(leaves)
    kind: Object = type(structure)
    items = [_pack_leaves_like(child, leaves) for child in children]
    if isinstance(structure, Mapping):
        mapping: Object = copy.copy(structure)
        for key, item in zip(sorted(structure), items, strict=True):
            mapping[key] = item
        return mapping
    if hasattr(structure, "_fields"):
        return kind(*items)
    return items if isinstance(structure, (range, MappingView)) else kind(items)


def map_structure(func: Function, *structure: Structure) -> Structure:
    """Apply a function to the leaves of one or more structures of the same form.

    See https://www.tensorflow.org/api_docs/python/tf/nest/map_structure.

    Args:
        func: A function that takes one leaf from each structure.
        *structure: The structures, which must not differ except in their leaves.

    Returns:
        A structure of the same form that contains the results.

    Raises:
        TypeError: If ``func`` is not callable.
        ValueError: If the structures differ in form, or no structure is passed.

    >>> map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    form = _build_comparable_form(structure[0])
    for other in structure[1:]:
        if _build_comparable_form(other) != form:
            raise ValueError(f"The structures do not have the same form: {structure[0]!r} and {other!r}")
    leaves = zip(*[flatten(structure_part) for structure_part in structure], strict=True)
    return pack_sequence_as(structure[0], [func(*leaf_group) for leaf_group in leaves])


def _build_comparable_form(structure: Structure) -> object:
    """Return an object that describes the form of a structure. Structures of the same form have equal descriptions."""
    children = _list_children(structure)
    if children is None:
        return None
    keys = sorted(structure) if isinstance(structure, Mapping) else len(children)
    kind = Mapping if isinstance(structure, Mapping) else type(structure)
    return kind, keys, [*map(_build_comparable_form, children)]
