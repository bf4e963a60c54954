"""The parts of minitape that are installed or not: which command to type for a package that is missing."""

from __future__ import annotations

import importlib.util

from .messages import say

LAB_EXTRA = "lab"
EXTRAS = {
    "sphinx": "docs",
    "myst_parser": "docs",
    "furo": "docs",
    "jupyterlite_core": "lite",
    "jupyterlite_pyodide_kernel": "lite",
}
"""Package -> the extra of minitape that brings it, where the course does not."""


def require_packages(*packages: str) -> None:
    """Raise ModuleNotFoundError for the first of `packages` that is not installed, before any work has begun."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def describe_missing_package(package: str) -> str:
    """Say what to type where a package is missing that the core of minitape does without.

    >>> print(describe_missing_package("furo"))
    this needs the package furo, which is not installed. Type: pip install "minitape[docs]"
    """
    message = 'this needs the package {package}, which is not installed. Type: pip install "minitape[{part}]"'
    return say(message, package=package, part=EXTRAS.get(package, LAB_EXTRA))
