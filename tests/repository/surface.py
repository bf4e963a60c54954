"""Read surface.txt, the list of minitape's public names."""

from functools import cache
from pathlib import Path


@cache
def read_names_by_namespace() -> dict[str, set[str]]:
    """Return the names in surface.txt by namespace, in the order of the file."""
    names_by_namespace: dict[str, set[str]] = {}
    for line in Path(__file__).with_name("surface.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            namespace, _, line = line.partition(":")
        names_by_namespace.setdefault(namespace, set()).update(line.split())
    return names_by_namespace
