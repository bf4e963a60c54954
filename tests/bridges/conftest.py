"""Programs for a framework are not read for doctests where it is not installed."""

import importlib.util

from minitape.bridges.pytest_plugin import assert_trains  # noqa: F401 - also where the plugin is not installed

collect_ignore_glob = [
    f"{name}_programs.py" for name in ("torch", "tensorflow", "jax") if importlib.util.find_spec(name) is None
]
