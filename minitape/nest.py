"""Nested structures of Python: flatten them and pack them again (``tf.nest``).

Lists, tuples, named tuples and dictionaries are structures; everything else is a leaf. Dictionaries are walked in the
order of their sorted keys, as in https://www.tensorflow.org/api_docs/python/tf/nest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def is_nested(structure: Any) -> bool:
    """True for lists, tuples, named tuples and dictionaries."""
    return isinstance(structure, (list, tuple, Mapping))


def _children(structure: Any) -> Iterator[Any]:
    if isinstance(structure, Mapping):
        try:
            keys = sorted(structure)
        except TypeError:
            raise TypeError("nest only supports dicts with sortable keys.") from None
        return (structure[key] for key in keys)
    return iter(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure, in order.

    >>> flatten({"b": [1, 2], "a": (3,)})
    [3, 1, 2]
    """
    if not is_nested(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure like ``structure`` with the leaves of ``flat_sequence``; ValueError when their number differs."""
    leaves = list(flat_sequence)
    if not is_nested(structure):
        if len(leaves) != 1:
            raise ValueError(f"The target structure is of type `{type(structure)}`\n  {structure!r}\nHowever the input "
                             f"is a sequence ({type(flat_sequence)}) of length {len(leaves)}.\n  {flat_sequence!r}\n"
                             "nest cannot guarantee that it is safe to map one to the other.")  # fmt: skip
        return leaves[0]
    wanted = len(flatten(structure))
    if wanted != len(leaves):
        raise ValueError(f"Could not pack sequence. Structure had {wanted} atoms, but flat_sequence had {len(leaves)} "
                         f"items.  Structure: {structure!r}, flat_sequence: {flat_sequence!r}.")  # fmt: skip
    iterator = iter(leaves)
    return _pack(structure, iterator)


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, Mapping):
        packed = {key: _pack(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, packed[key]) for key in structure)  # type: ignore[call-arg]
    items = [_pack(child, leaves) for child in structure]
    if hasattr(structure, "_fields"):
        return type(structure)(*items)
    return type(structure)(items)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies ``func`` to the leaves of one or several structures of the same form.

    >>> map_structure(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    leaves = zip(*[flatten(s) for s in structure], strict=True)
    return pack_sequence_as(structure[0], [func(*args) for args in leaves])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises ValueError (or TypeError for other types of the same form) unless the structures match."""
    nested = is_nested(nest1), is_nested(nest2)
    if nested[0] != nested[1]:
        more, less = (nest1, nest2) if nested[0] else (nest2, nest1)
        raise ValueError(
            f"The two structures don't have the same nested structure.\n\nFirst structure: type={type(nest1).__name__} "
            f"str={nest1}\n\nSecond structure: type={type(nest2).__name__} str={nest2}\n\nMore specifically: "
            f'Substructure "type={type(more).__name__} str={more}" is a sequence, while substructure '
            f'"type={type(less).__name__} str={less}" is not'
        )
    if not nested[0]:
        return
    if check_types and type(nest1) is not type(nest2) and not (isinstance(nest1, Mapping) and isinstance(nest2, Mapping)):
        raise TypeError(
            f"The two structures don't have the same nested structure.\n\nFirst structure: type={type(nest1).__name__} "
            f"str={nest1}\n\nSecond structure: type={type(nest2).__name__} str={nest2}\n\nMore specifically: The two "
            f"namedtuples don't have the same sequence type."
        )
    if len(nest1) != len(nest2) or (isinstance(nest1, Mapping) and set(nest1) != set(nest2)):
        raise ValueError(
            f"The two structures don't have the same nested structure.\n\nFirst structure: type={type(nest1).__name__} "
            f"str={nest1}\n\nSecond structure: type={type(nest2).__name__} str={nest2}\n\nMore specifically: The two "
            f"structures don't have the same number of elements."
        )
    for a, b in zip(_children(nest1), _children(nest2), strict=True):
        assert_same_structure(a, b, check_types)
