"""Programs for a framework are not read for doctests where it is not installed."""

import importlib.util

collect_ignore_glob = [
    f"{name}_programs.py" for name in ("torch", "tensorflow", "jax") if importlib.util.find_spec(name) is None
]
