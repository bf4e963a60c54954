"""Read the names and the values of a program's variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def iter_public_names_and_values(namespaces: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, object]]:
    """Yield the public names and values in the given namespaces. Names that begin with an underscore are skipped.

    Args:
        namespaces: Dictionaries of variables, such as ``f_locals`` and ``f_globals`` of a frame.
    """
    for namespace in namespaces:
        for name, value in list(namespace.items()):
            if isinstance(name, str) and not name.startswith("_"):
                yield name, value
