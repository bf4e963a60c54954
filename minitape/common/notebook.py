"""The notebook in which minitape runs, if it runs in one."""

from __future__ import annotations

import sys
from typing import Any


def find_ipython_shell() -> Any:
    """Find IPython's shell, as `get_ipython` gives it; None in a plain program.

    >>> find_ipython_shell() is None
    True
    """
    ipython = sys.modules.get("IPython")  # a plain program need not have it
    return ipython.get_ipython() if ipython else None
