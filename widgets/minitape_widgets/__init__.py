"""The live, steppable picture of a tape.

>>> from minitape_widgets import TapeView
"""

from .view import TapeView

__all__ = ["TapeView"]
__version__ = "0.1.0"
