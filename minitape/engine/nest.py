"""Nested structures of Python: flatten them and pack them again (``tf.nest``).

Sequences, dictionaries and their views are structures, and so are objects of ``attrs`` classes and those that take
themselves apart (``__tf_flatten__`` and ``__tf_unflatten__``); everything else is a leaf. Dictionaries are walked in the
order of their sorted keys, as in https://www.tensorflow.org/api_docs/python/tf/nest.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, MappingView, MutableMapping, Sequence
from itertools import islice, repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .typed import Function, Object, Structure

_known: dict[type, bool] = {}
_LEAVES: set[type] = set()  # classes that are known to be no structures
_SEQUENCES = (Sequence, Mapping, MappingView)
_TEXTS = (str, bytes, collections.UserString)


def is_nested(structure: Structure) -> bool:
    """True for sequences other than strings, dictionaries, their views, and objects that take themselves apart.

    >>> is_nested([1]), is_nested("ab")
    (True, False)
    """
    return _is_kind(type(structure))


def _is_kind(kind: type) -> bool:
    """Whether a class is one of structures."""
    nested = _known.get(kind)
    if nested is None:
        nested = issubclass(kind, _SEQUENCES) and not issubclass(kind, _TEXTS)  # abstract classes answer slowly
        nested = _known[kind] = nested or _takes_itself_apart(kind) or hasattr(kind, "__attrs_attrs__")
        if not nested:
            _LEAVES.add(kind)
    return nested


def _takes_itself_apart(kind: type) -> bool:
    return hasattr(kind, "__tf_flatten__") and hasattr(kind, "__tf_unflatten__")


def _all_leaves(children: Structure) -> bool:
    """Whether no child is a structure itself: one question for each class among them."""
    return not any(map(_is_kind, {*map(type, children)}))


def _children(structure: Structure) -> Iterator[Structure]:
    if isinstance(structure, Mapping):
        return (structure[key] for key in sorted(structure))
    kind = type(structure)
    if _takes_itself_apart(kind):
        return iter(structure.__tf_flatten__()[1])
    if hasattr(kind, "__attrs_attrs__"):
        return (getattr(structure, field.name) for field in kind.__attrs_attrs__)
    return iter(structure)


def flatten(structure: Structure, expand_composites: bool = False) -> list[Structure]:
    """The leaves of a structure, in order; with ``expand_composites`` the tensors inside of ragged and sparse ones.

    Raises TypeError for a dictionary whose keys cannot be sorted.

    >>> flatten({"b": [1, 2], "a": (3,)})
    [3, 1, 2]
    """
    kind = type(structure)
    if not expand_composites:  # the usual cases
        if kind in _LEAVES:
            return [structure]
        if (kind is list or kind is tuple) and _LEAVES.issuperset(map(type, structure)):
            return list(structure)
    if is_nested(structure):
        children = list(_children(structure))
        if not expand_composites and _all_leaves(children):
            return children
        return [leaf for child in children for leaf in flatten(child, expand_composites)]
    if expand_composites and hasattr(structure, "_components"):
        return list(structure._components())
    return [structure]


def _short(value: object) -> str:
    text = str(value)
    return f"{text[:100]}..." if len(text) > 100 else text


def pack_sequence_as(structure: Structure, flat_sequence: Structure, expand_composites: bool = False) -> Structure:
    """A structure like ``structure`` with the leaves of ``flat_sequence``; ValueError when their number differs.

    >>> pack_sequence_as({"b": 0, "a": [0]}, [1, 2])
    {'b': 2, 'a': [1]}
    """
    if not is_nested(flat_sequence):
        raise TypeError(f"Attempted to pack value:\n  {flat_sequence!s}\ninto a structure, but found incompatible type "
                        f"`{type(flat_sequence)}` instead.")  # fmt: skip
    leaves = flat_sequence
    if not is_nested(structure) and not (expand_composites and hasattr(structure, "_components")):
        if len(leaves) != 1:
            raise ValueError(f"The target structure is of type `{type(structure)}`\n  {_short(structure)}\nHowever the "
                             f"input is a sequence ({type(flat_sequence)}) of length {len(leaves)}.\n  {_short(flat_sequence)}\n"
                             "nest cannot guarantee that it is safe to map one to the other.")  # fmt: skip
        return leaves[0]
    wanted = len(flatten(structure, expand_composites))
    if wanted != len(leaves):
        raise ValueError(f"Could not pack sequence. Structure had {wanted} atoms, but flat_sequence had {len(leaves)} "
                         f"items.  Structure: {structure!r}, flat_sequence: {flat_sequence!r}.")  # fmt: skip
    return _pack(structure, (leaves[i] for i in range(wanted)), expand_composites)


def _pack(structure: Structure, leaves: Iterator[Structure], expand: bool) -> Structure:
    if not is_nested(structure):
        if expand and hasattr(structure, "_components"):
            return structure._rebuilt([next(leaves) for _ in structure._components()])
        return next(leaves)
    if isinstance(structure, Mapping):
        packed = {key: _pack(structure[key], leaves, expand) for key in sorted(structure)}
        pairs = [(key, packed[key]) for key in structure]
        return _dictionary(structure, pairs)
    children = list(_children(structure))
    if not expand and _all_leaves(children):
        items = list(islice(leaves, len(children)))
    else:
        items = [_pack(child, leaves, expand) for child in children]
    kind: Object = type(structure)
    if _takes_itself_apart(kind):
        return kind.__tf_unflatten__(structure.__tf_flatten__()[0], tuple(items))
    if hasattr(structure, "_fields") or hasattr(kind, "__attrs_attrs__"):
        return kind(*items)
    return items if isinstance(structure, (range, MappingView)) else kind(items)


def _dictionary(structure: Structure, pairs: list[tuple[Structure, Structure]]) -> Structure:
    """A mapping of the same class with other values."""
    kind: Object = type(structure)
    if not isinstance(structure, MutableMapping):
        return kind(pairs)
    made = kind(structure.default_factory) if isinstance(structure, collections.defaultdict) else kind()
    for key, value in pairs:
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
    check_types, expand = kwargs.pop("check_types", True), kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError("Only valid keyword arguments are `check_types` and `expand_composites`, not: "
                         f"`{'`, `'.join(kwargs)}`")  # fmt: skip
    if len(structure) == 1 and not expand and type(structure[0]) in _LEAVES:  # the usual case
        return func(structure[0])
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    leaves = zip(*[flatten(s, expand) for s in structure], strict=True)
    return pack_sequence_as(structure[0], [func(*args) for args in leaves], expand)


def assert_same_structure(nest1: Structure, nest2: Structure, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises ValueError (or TypeError for other types of the same form) unless the structures match.

    With ``expand_composites`` ragged and sparse tensors must be of one kind and dtype as well.

    >>> assert_same_structure([1, (2,)], ["a", ("b",)])
    """
    found = _difference(nest1, nest2, check_types, expand_composites)
    if found is None:
        return
    kind, why = found
    raise kind("The two structures don't have the same nested structure.\n\nFirst structure: "
               f"{_shown(nest1)}\n\nSecond structure: {_shown(nest2)}\n\nMore specifically: {why}\nEntire first "
               f"structure:\n{_dots(nest1)}\nEntire second structure:\n{_dots(nest2)}")  # fmt: skip


def _difference(a: Structure, b: Structure, check_types: bool, expand: bool) -> tuple[type[Exception], str] | None:
    """Where two structures differ first: the exception to raise and TensorFlow's words; None if they match."""
    composite = (hasattr(a, "_components"), hasattr(b, "_components"))
    if expand and any(composite):
        if all(composite):
            return _unlike(a, b)
        more, less = (a, b) if composite[0] else (b, a)
        return ValueError, f'Substructure "{_shown(more)}" is a sequence, while substructure "{_shown(less)}" is not'
    if is_nested(a) != is_nested(b):
        more, less = (a, b) if is_nested(a) else (b, a)
        return ValueError, f'Substructure "{_shown(more)}" is a sequence, while substructure "{_shown(less)}" is not'
    if not is_nested(a):
        return None
    mappings = isinstance(a, Mapping) and isinstance(b, Mapping)
    if check_types and not (mappings or _same_kind(a, b)):
        return TypeError, (f"The two namedtuples don't have the same sequence type. First structure {_shown(a)} has "
                           f"type {type(a).__name__}, while second structure {_shown(b)} has type "
                           f"{type(b).__name__}")  # fmt: skip
    if mappings and set(a) != set(b):
        return ValueError, (f"The two dictionaries don't have the same set of keys. First structure has keys "
                            f"{_shown(list(a))}, while second structure has keys {_shown(list(b))}")  # fmt: skip
    ours, others = list(_children(a)), list(_children(b))
    for x, y in zip(ours, others, strict=False):
        found = _difference(x, y, check_types, expand)
        if found is not None:
            return found
    if len(ours) != len(others):
        return ValueError, (f"The two structures don't have the same number of elements. First structure: {_shown(a)}. "
                            f"Second structure: {_shown(b)}")  # fmt: skip
    return None


def _same_kind(a: Structure, b: Structure) -> bool:
    """Whether two sequences are of one type: all lists are, and named tuples of one name with the same fields."""
    if type(a) is type(b) or (isinstance(a, list) and isinstance(b, list)):
        return True
    fields = [getattr(s, "_fields", None) if isinstance(s, tuple) else None for s in (a, b)]
    return fields[0] is not None and fields[0] == fields[1] and type(a).__name__ == type(b).__name__


def _unlike(a: Structure, b: Structure) -> tuple[type[Exception], str] | None:
    """The difference of two composite tensors, which may have any shape."""
    kinds = [(type(c), c.dtype, getattr(c, "ragged_rank", None), len(c._components())) for c in (a, b)]
    if kinds[0] == kinds[1]:
        return None
    return ValueError, f"Incompatible CompositeTensor TypeSpecs: {_shown(type(a))} vs. {_shown(type(b))}"


def _shown(value: object) -> str:
    return f"type={type(value).__name__} str={value!s}"


class _Dot:
    def __repr__(self) -> str:
        return "."


def _dots(structure: Structure) -> str:
    """The form of a structure with dots for its leaves."""
    return str(_pack(structure, repeat(_Dot()), False))
