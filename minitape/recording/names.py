"""The names of the program's variables, for what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def named_values(namespaces: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, object]]:
    """The variables of these dictionaries, without those whose names begin with an underscore."""
    for space in namespaces:
        for name, value in list(space.items()):
            if isinstance(name, str) and not name.startswith("_"):
                yield name, value
