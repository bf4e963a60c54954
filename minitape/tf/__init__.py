"""TensorFlow's functions and classes by name, as ``tf`` in the rooms above: all of ``import minitape as tf`` but Keras.

``from .. import tf`` costs nothing: a name is loaded when it is first used.
"""

from ..engine.namespace import lazy as _lazy
from .api import NAMESPACES as _NAMESPACES
from .api import ROOT as _ROOT

__getattr__, __dir__ = _lazy("tf", _ROOT, globals(), {name: (f"tf.{name}", "") for name in _NAMESPACES})
