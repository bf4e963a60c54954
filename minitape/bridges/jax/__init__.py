"""Record a JAX function by running its equations one by one, in the order in which JAX traces them.

``record(f, *args)`` traces ``f`` with ``jax.make_jaxpr`` and runs the equations without compiling them, as
``jax.disable_jit`` does. JAX then computes the gradient with its own derivative rules and adds up the shares itself.

>>> import jax.numpy as jnp
>>> def loss(w, x):
...     y = w * x
...     return jnp.sum(y * w)
>>> recording = record(loss, jnp.array([1.0, 2.0]), jnp.array([0.5, -1.0]))
>>> recording
Recording(jax, 5 rows, 1 backward pass)
>>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
['w', 'x', 'y', '×', 'loss']
>>> recording.value, recording.gradient
(Array(-3.5, dtype=float32), Array([ 1., -4.], dtype=float32))
>>> recording.explain(recording.value, "x").message
'The gradient is not computed with respect to x, because argnums selects other arguments.'
"""

from ..framework_import import import_framework

import_framework("jax", "JAX", (0, 7))

from .recording import JaxRecording as JaxRecording  # noqa: E402 - behind the check
from .recording import record as record  # noqa: E402
from .recording import record_if_bad as record_if_bad  # noqa: E402
