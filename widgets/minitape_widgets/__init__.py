"""The live, steppable picture of a tape.

>>> from minitape_widgets import TapeView
"""

from minitape import __version__

from .view import TapeView

__all__ = ["TapeView", "__version__"]
