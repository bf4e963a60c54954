"""Group values that have the same key."""

from collections.abc import Iterable
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def group_values_by_key(keys_and_values: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the values of each key. Keys and values stay in order.

    Args:
        keys_and_values: The (key, value) pairs. Equal keys need not follow one another.

    >>> group_values_by_key((len(word), word) for word in ("a", "tape", "x"))
    {1: ['a', 'x'], 4: ['tape']}
    """
    groups: dict[Key, list[Value]] = {}
    for key, value in keys_and_values:
        groups.setdefault(key, []).append(value)
    return groups
