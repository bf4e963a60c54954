"""TensorFlow's functions and classes by name, as ``tf`` in the rooms above: all of ``import minitape as tf`` but Keras.

``from .. import tf`` costs nothing: a name is loaded when it is first used. A file or folder with a name of TensorFlow's
(``math``, ``nn``, ...) is the table of that namespace; ``import minitape.nn`` finds ``minitape.tf.nn``. The others:

``api``        which module holds which name of ``tf`` itself, and what is left out on purpose
``module``     ``tf.Module``; ``initial``: its variables' first values
``checkpoint`` ``tf.train.Checkpoint``, with ``archive`` (files of arrays) and ``awaited`` (values for what is not there yet)
``exported``   objects with traced functions in files, and ``graphdata``: the functions as data
``tables``     what ``tf.lookup`` looks up
``check``      derivatives against finite differences
``dispatch``   functions of ``tf`` that also take ragged or sparse tensors
"""

from ..engine.namespace import lazy as _lazy
from .api import NAMESPACES as _NAMESPACES
from .api import ROOT as _ROOT

__getattr__, __dir__ = _lazy("tf", _ROOT, globals(), {name: (f"tf.{name}", "") for name in _NAMESPACES})
