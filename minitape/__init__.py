"""minitape: a small tape that records a computation and runs it backwards, spelled as TensorFlow's eager API.

>>> import minitape as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x * x
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>

Names are loaded when they are first used; ``dir(minitape)`` lists them.
"""

from importlib.util import find_spec as _find_spec

__path__ += [f"{__path__[0]}/engine", f"{__path__[0]}/tf"]  # until imports name the rooms

from .accelerator import install as _install

if _find_spec(f"{__name__}.speed"):  # may be deleted: then all is computed the plain way
    from .speed import Speed as _Speed

    _install(_Speed())
# the engine asks for it while it is imported
from .api import NAMESPACES as _NAMESPACES
from .api import ROOT as _ROOT
from .namespace import lazy as _lazy
from .operators import install as _install_operators
from .primitives import choice as _choice  # noqa: F401 - fills the table of primitives
from .primitives import elementwise as _elementwise  # noqa: F401
from .primitives import linear as _linear  # noqa: F401
from .primitives import reduce as _reduce  # noqa: F401
from .primitives import scatter as _scatter  # noqa: F401
from .primitives import shaping as _shaping  # noqa: F401

_install_operators()
__version__ = "0.1.0"
__getattr__, __dir__ = _lazy("tf", _ROOT, globals(), {name: (name, "") for name in _NAMESPACES})
