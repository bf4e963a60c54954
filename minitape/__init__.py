"""minitape, a small tape that records a computation and runs it backward, with TensorFlow's eager API.

>>> import minitape as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x * x
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>

Names are loaded when they are first used. ``dir(minitape)`` lists them.
"""

import sys as _sys
from importlib.util import find_spec as _find_spec

from .engine.hooks import hooks as _hooks
from .engine.table.accelerator import install_accelerator as _install

# The package `speed` is optional. Without it, the plain engine computes everything.
if _find_spec("minitape.speed"):
    from .speed import Speed as _Speed

    _install(_Speed())
# The engine uses the accelerator at import time, so these imports must come after it is set up. The modules
# fill the table of primitives.
from .engine.table.primitives import choice as _choice  # noqa: F401
from .engine.table.primitives import elementwise as _elementwise  # noqa: F401
from .engine.table.primitives import linear as _linear  # noqa: F401
from .engine.table.primitives import reduce as _reduce  # noqa: F401
from .engine.table.primitives import scatter as _scatter  # noqa: F401
from .engine.table.primitives import shaping as _shaping  # noqa: F401
from .engine.tensor.operators import install_operators as _install_operators
from .explain.uncaught_errors import install_error_hooks as _watch_errors
from .tf.api import NamespaceFinder as _Namespaces
from .tf.api import install_namespace_names as _fill

__version__ = "0.1.0"

# Maps modules to the hooks that they implement for lower packages, which must not import them
# (minitape/engine/hooks.py).
_HOOKS = {
    "tf.indexing": "getitem",
    "tf.products": "matmul",
    "tf.api": "wrap_public_names",
    "functions.traced_custom_gradient": "write_custom_gradient_row",
    "explain.tape_answers": "explain warn_once_per_reason_for_none",
    "explain.caller": "format_place",
    "explain.reasons.tape_checks": "find_break_on_tape_of_py_function",
    "explain.gradient_warnings": (
        "add_notes_why_gradients_are_none add_non_tensor_note add_unregistered_op_note "
        "format_reasons_of_none_or_how_to_ask"
    ),
    "picture.drawing": "draw",
    "recording.sites": "find_site_of_bytecode",
    "minitape_widgets.front_end": "front_end_bundle=BUNDLE",
    "minitape_widgets.playground": "snapshot_program=run_program_and_snapshot",
}
_hooks.register(_HOOKS)
_watch_errors()
_install_operators()
_sys.meta_path.insert(0, _Namespaces())
_fill(globals(), "")
