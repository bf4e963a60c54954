"""TensorFlow's functions and classes by name, as ``tf`` in the packages above: all of ``minitape`` but Keras.

``from .. import tf`` costs nothing: a name is loaded when it is first used. A file or folder with a name of
TensorFlow's (``math``, ``nn``, ...) is the table of that namespace; ``import minitape.nn`` finds ``minitape.tf.nn``.
The others:

``api``        which module holds which name of ``tf`` itself, and what is said of a name that is not there
``namespace``  names of a module that are loaded when they are first used
``module``     ``tf.Module``
"""

from .api import NAMESPACES as _NAMESPACES
from .api import ROOT as _ROOT
from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf", _ROOT, globals(), {name: (f"tf.{name}", "") for name in _NAMESPACES})
