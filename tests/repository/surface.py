"""Reads surface.txt, the list of the public names of minitape."""

from functools import cache
from pathlib import Path


@cache
def listed() -> dict[str, set[str]]:
    """The names of each namespace, in the order in which the namespaces come first."""
    found: dict[str, set[str]] = {}
    for line in Path(__file__).with_name("surface.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            namespace, _, line = line.partition(":")
        found.setdefault(namespace, set()).update(line.split())
    return found
