"""``tf.compat.v1``: graphs and sessions, and what TensorFlow 1 spells as ``tf`` does.

>>> import minitape.compat.v1 as tf
>>> with tf.Graph().as_default():
...     x = tf.placeholder(tf.float32)
...     with tf.Session() as session:
...         session.run(tf.exp(x), {x: 0.0})
np.float32(1.0)
"""

from ...tf.api import ABOVE as _ABOVE
from ...tf.api import NAMESPACES as _NAMESPACES
from ...tf.api import ROOT as _ROOT
from ...tf.namespace import lazy as _lazy
from ...tf.namespace import places as _places
from ...tf.version import VERSION as __version__  # noqa: F401 - programs print it

# not in TensorFlow 1, or something else there
_ONLY_TF = "autodiff draw explain losses metrics neg optimizers python snapshot".split()
_SHARED = {
    name: place
    for name, place in {
        **_places(_ROOT),
        **_places(_ABOVE),
        **{name: (f"tf.{name}", "") for name in _NAMESPACES},
    }.items()
    if name not in _ONLY_TF
}

__getattr__, __dir__ = _lazy(
    "tf.compat.v1",
    {
        "functions.deferred": "Session get_default_graph get_default_session placeholder initialize_all_variables "
        "global_variables_initializer=initialize_all_variables",
        "compat.v1.legacy": "name_scope op_scope py_func",
    },
    globals(),
    _SHARED,
)
