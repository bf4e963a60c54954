"""The notebook in which minitape runs, if it runs in one."""

from __future__ import annotations

import sys
from typing import Any


def find_ipython_shell() -> Any:
    """Return IPython's shell, as ``get_ipython()`` does; None in a plain program.

    >>> find_ipython_shell() is None
    True
    """
    # IPython may not be installed, so it is not imported here.
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
