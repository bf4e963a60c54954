"""Find out whether minitape is running in a notebook."""

import sys
from typing import Any


def find_ipython_shell() -> Any:
    """Return IPython's shell, as ``get_ipython()`` does, or None in a plain program.

    >>> find_ipython_shell() is None
    True
    """
    # Importing IPython would fail if it is not installed.
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
