"""TensorFlow's functions and classes by name, as ``tf`` in the rooms above: all of ``import minitape as tf`` but Keras.

``from .. import tf`` costs nothing: a name is loaded when it is first used.
"""

from .api import NAMESPACES as _NAMESPACES
from .api import ROOT as _ROOT
from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf", _ROOT, globals(), {name: (f"tf.{name}", "") for name in _NAMESPACES})
