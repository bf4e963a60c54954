"""Nested structures of Python: flatten them and pack them again (``tf.nest``).

Sequences and dictionaries are structures; everything else is a leaf. Dictionaries are walked in the order of their
sorted
keys, as in https://www.tensorflow.org/api_docs/python/tf/nest. With ``expand_composites`` a ragged or sparse tensor
is a structure of the tensors inside of it.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, MappingView, MutableMapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types import Function, Object, Structure

_known: dict[type, bool] = {}
_LEAVES: set[type] = set()  # classes that are known to be no structures


def is_nested(structure: Structure) -> bool:
    """True for sequences other than strings, dictionaries, and their views.

    >>> is_nested([1]), is_nested("ab")
    (True, False)
    """
    kind = type(structure)
    nested = _known.get(kind)
    if nested is None:
        nested = _known[kind] = issubclass(kind, (Sequence, Mapping, MappingView)) and not issubclass(
            kind, (str, bytes)
        )
        if not nested:
            _LEAVES.add(kind)
    return nested


def _children(structure: Structure) -> list[Structure] | None:
    """What a structure holds, in order; None for a leaf."""
    if is_nested(structure):
        return [structure[key] for key in sorted(structure)] if isinstance(structure, Mapping) else list(structure)
    return None


def flatten(structure: Structure) -> list[Structure]:
    """The leaves of a structure, in order; with ``expand_composites`` the tensors inside of ragged and sparse ones.

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
    items = [_pack(child, leaves) for child in children]
    if isinstance(structure, Mapping):
        return _dictionary(structure, dict(zip(sorted(structure), items, strict=True)))
    kind: Object = type(structure)
    if hasattr(structure, "_fields"):
        return kind(*items)
    return items if isinstance(structure, (range, MappingView)) else kind(items)


def _dictionary(structure: Structure, values: dict[Structure, Structure]) -> Structure:
    """A mapping of the same class, in the same order, with other values."""
    kind: Object = type(structure)
    pairs = [(key, values[key]) for key in structure]
    if not isinstance(structure, MutableMapping):
        return kind(pairs)
    made = kind(structure.default_factory) if isinstance(structure, collections.defaultdict) else kind()
    for key, value in pairs:  # a Counter's `update` counts
        made[key] = value
    return made


def map_structure(func: Function, *structure: Structure, **kwargs: Structure) -> Structure:
    """Applies ``func`` to the leaves of one or several structures of the same form.

    ``check_types=False`` lets lists and tuples match. Raises TypeError or ValueError for structures that differ.

    >>> map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    if kwargs:
        raise ValueError(f"Only check_types is known, not {kwargs}")
    if len(structure) == 1 and type(structure[0]) in _LEAVES:  # the usual case
        return func(structure[0])
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    leaves = zip(*[flatten(s) for s in structure], strict=True)
    return pack_sequence_as(structure[0], [func(*args) for args in leaves])


def assert_same_structure(nest1: Structure, nest2: Structure, check_types: bool = True) -> None:
    """Raises ValueError (or TypeError for other types of the same form) unless the structures match.

    >>> assert_same_structure([1, (2,)], ["a", ("b",)])
    """
    found = _difference(nest1, nest2, check_types)
    if found is None:
        return
    kind, why = found
    raise kind(
        "The two structures don't have the same nested structure.\n\nFirst structure: "
        f"{_show(nest1)}\n\nSecond structure: {_show(nest2)}\n\nMore specifically: {why}\nEntire first "
        f"structure:\n{_dots(nest1)}\nEntire second structure:\n{_dots(nest2)}"
    )


def _difference(a: Structure, b: Structure, check_types: bool) -> tuple[type[Exception], str] | None:
    """Where two structures differ first: the exception to raise and TensorFlow's words; None if they match."""
    ours, others = _children(a), _children(b)
    if ours is None and others is None:
        return None
    if ours is None or others is None or is_nested(a) != is_nested(b):
        more, less = (b, a) if ours is None else (a, b)
        return ValueError, f'Substructure "{_show(more)}" is a sequence, while substructure "{_show(less)}" is not'
    mappings = isinstance(a, Mapping) and isinstance(b, Mapping)
    if check_types and not (mappings or _same_kind(a, b)):
        return TypeError, (
            f"The two namedtuples don't have the same sequence type. First structure {_show(a)} has "
            f"type {type(a).__name__}, while second structure {_show(b)} has type "
            f"{type(b).__name__}"
        )
    if mappings and set(a) != set(b):
        return ValueError, (
            f"The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_show(list(a))}, while second structure has keys {_show(list(b))}"
        )
    for x, y in zip(ours, others, strict=False):
        found = _difference(x, y, check_types)
        if found is not None:
            return found
    if len(ours) != len(others):
        return ValueError, (
            f"The two structures don't have the same number of elements. First structure: {_show(a)}. "
            f"Second structure: {_show(b)}"
        )
    return None


def _same_kind(a: Structure, b: Structure) -> bool:
    """Whether two sequences are of one type: all lists are, and named tuples of one name with the same fields."""
    if type(a) is type(b) or (isinstance(a, list) and isinstance(b, list)):
        return True
    fields = getattr(a, "_fields", None)
    return fields is not None and fields == getattr(b, "_fields", None) and type(a).__name__ == type(b).__name__


def _show(value: object) -> str:
    return f"type={type(value).__name__} str={value!s}"


class _Dot:
    def __repr__(self) -> str:
        return "."


def _dots(structure: Structure) -> str:
    """The form of a structure with dots for its leaves."""
    return str(_pack(structure, repeat(_Dot())))
