"""The framework of a bridge, or an error that says what to install."""

from __future__ import annotations

import importlib
from typing import Any


def framework_module(name: str, called: str, oldest: tuple[int, int]) -> Any:
    """Imports and returns the module of a framework. ImportError if it is not installed, or too old for a bridge.

    >>> framework_module("numpy", "NumPy", (2, 0)).__name__
    'numpy'
    >>> framework_module("numpy", "NumPy", (99, 0))
    Traceback (most recent call last):
    ImportError: minitape.bridges.numpy needs NumPy 99.0 or newer, and 2... is installed.
    """
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"minitape.bridges.{name} needs {called}: pip install 'minitape[{name}]'.") from error
    if tuple(int(part) for part in module.__version__.split(".")[:2]) < oldest:
        wanted = ".".join(map(str, oldest))
        raise ImportError(
            f"minitape.bridges.{name} needs {called} {wanted} or newer, and {module.__version__} is installed."
        )
    return module
