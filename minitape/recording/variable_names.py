"""The names of the program's variables, for what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def iter_public_names_and_values(namespaces: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, object]]:
    """Yield the names and values in these dictionaries, without names that begin with an underscore."""
    for namespace in namespaces:
        for name, value in list(namespace.items()):
            if isinstance(name, str) and not name.startswith("_"):
                yield name, value
