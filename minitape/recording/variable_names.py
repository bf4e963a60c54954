"""Read the names and the values of a program's variables."""

import threading
from collections.abc import Iterable, Iterator, Mapping

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.types import NamespaceList, Namespaces


class _CollectedNamespaces(threading.local):
    """The namespaces that `use_namespaces_for_names` sets for the current thread.

    Attributes:
        namespaces: The dictionaries, or None if the names come from the frames of the current thread.
    """

    namespaces: NamespaceList | None = None


_collected = _CollectedNamespaces()


def use_namespaces_for_names(namespaces: Namespaces) -> TemporaryAttributes:
    """Return a context manager in which explanations look up the program's names in the given dictionaries.

    A picture collects the names when it is created, because it explains gradients later, in another frame or thread.

    Args:
        namespaces: The dictionaries. If several dictionaries contain a name, the first one is used.
    """
    return TemporaryAttributes(_collected, namespaces=list(namespaces))


def list_collected_namespaces() -> NamespaceList | None:
    """Return the dictionaries that :func:`use_namespaces_for_names` has set, or None outside such a block."""
    return _collected.namespaces


def iter_public_names_and_values(namespaces: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, object]]:
    """Yield the public names and values in the given namespaces. Names that begin with an underscore are skipped.

    Args:
        namespaces: Dictionaries of variables, such as ``f_locals`` and ``f_globals`` of a frame.
    """
    for namespace in namespaces:
        for name, value in list(namespace.items()):
            if isinstance(name, str) and not name.startswith("_"):
                yield name, value
