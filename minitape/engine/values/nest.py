"""Nested structures of Python: flatten them and pack them again (``tf.nest``).

Sequences and dictionaries are structures; everything else is a leaf. Dictionaries are walked in the order of their
sorted
keys, as in https://www.tensorflow.org/api_docs/python/tf/nest.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, MappingView, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types import Function, Object, Structure

_LEAVES: set[type] = set()  # classes that are known to be no structures


def is_nested(structure: Structure) -> bool:
    """True for sequences other than strings, dictionaries, and their views.

    >>> is_nested([1]), is_nested("ab")
    (True, False)
    """
    kind = type(structure)
    if kind in _LEAVES:
        return False
    nested = issubclass(kind, (Sequence, Mapping, MappingView)) and not issubclass(kind, (str, bytes))
    if not nested:
        _LEAVES.add(kind)
    return nested


def _children(structure: Structure) -> list[Structure] | None:
    """The parts of a structure, in order; None for a leaf."""
    if is_nested(structure):
        return [structure[key] for key in sorted(structure)] if isinstance(structure, Mapping) else list(structure)
    return None


def flatten(structure: Structure) -> list[Structure]:
    """The leaves of a structure, in order.

    Raises TypeError for a dictionary whose keys cannot be sorted.

    >>> flatten({"b": [1, 2], "a": (3,)})
    [3, 1, 2]
    """
    kind = type(structure)
    if kind in _LEAVES:
        return [structure]
    if (kind is list or kind is tuple) and _LEAVES.issuperset(map(type, structure)):
        return list(structure)
    children = _children(structure)
    return [structure] if children is None else [leaf for c in children for leaf in flatten(c)]


def pack_sequence_as(structure: Structure, flat_sequence: Structure) -> Structure:
    """A structure like ``structure`` with the leaves of ``flat_sequence``; ValueError when their number differs.

    >>> pack_sequence_as({"b": 0, "a": [0]}, [1, 2])
    {'b': 2, 'a': [1]}
    """
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence!s}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    wanted, count = len(flatten(structure)), len(flat_sequence)
    if wanted != count:
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} atoms, but flat_sequence had {count} "
            f"items.  Structure: {structure!r}, flat_sequence: {flat_sequence!r}."
        )
    return _pack(structure, iter(flat_sequence))


def _pack(structure: Structure, leaves: Iterator[Structure]) -> Structure:
    children = _children(structure)
    if children is None:
        return next(leaves)
    kind: Object = type(structure)
    items = [_pack(child, leaves) for child in children]
    if isinstance(structure, Mapping):
        made: Object = copy.copy(structure)
        for key, item in zip(sorted(structure), items, strict=True):
            made[key] = item
        return made
    if hasattr(structure, "_fields"):
        return kind(*items)
    return items if isinstance(structure, (range, MappingView)) else kind(items)


def map_structure(func: Function, *structure: Structure) -> Structure:
    """Applies ``func`` to the leaves of one or several structures of the same form.

    Raises ValueError for structures that differ.

    >>> map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    form = _form(structure[0])
    for other in structure[1:]:
        if _form(other) != form:
            raise ValueError(f"The structures do not have the same form: {structure[0]!r} and {other!r}")
    leaves = zip(*[flatten(s) for s in structure], strict=True)
    return pack_sequence_as(structure[0], [func(*args) for args in leaves])


def _form(structure: Structure) -> object:
    """The form of a structure: its kind, keys, and the forms inside."""
    children = _children(structure)
    if children is None:
        return None
    keys = sorted(structure) if isinstance(structure, Mapping) else len(children)
    kind = Mapping if isinstance(structure, Mapping) else type(structure)
    return kind, keys, [*map(_form, children)]
