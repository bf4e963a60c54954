"""Exclude the programs of frameworks that are not installed from the doctests."""

import importlib.util

from minitape.bridges.pytest_plugin import assert_trains  # noqa: F401 - The plugin may not be installed.

collect_ignore_glob = [
    f"{name}_programs.py" for name in ("torch", "tensorflow", "jax") if importlib.util.find_spec(name) is None
]
