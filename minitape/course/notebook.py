"""The notebook in which the course runs, if it runs in one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..engine.types import Object


def running_notebook() -> Object:
    """IPython's shell, as `get_ipython` gives it; None in a plain program.

    >>> running_notebook() is None
    True
    """
    ipython = sys.modules.get("IPython")  # a plain program need not have it
    return ipython.get_ipython() if ipython else None
