"""Show live pictures of a tape that step through its rows and its backward sweep.

>>> from minitape_widgets import TapeView
"""

from minitape import __version__

from .film import Film, film
from .model_map import ModelMap, map_model
from .paired_views import build_comparison_bundle
from .view import TapeView

__all__ = ["Film", "ModelMap", "TapeView", "__version__", "build_comparison_bundle", "film", "map_model"]
