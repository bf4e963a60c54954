"""Show live pictures of a tape that step through its rows and its backward sweep.

>>> from minitape_widgets import TapeView
"""

from minitape import __version__

from .paired_views import build_comparison_bundle
from .view import TapeView

__all__ = ["TapeView", "__version__", "build_comparison_bundle"]
