"""``cond``, ``while_loop`` and ``gradients`` with the arguments that they have in TensorFlow 1."""

from __future__ import annotations

from typing import Any

from ...engine.backward import UnconnectedGradients
from ...engine.state import state
from ...graphs import control
from ...graphs import gradients as of_graphs
from ...graphs.whiles import repeated


def cond(
    pred: Any,
    true_fn: Any = None,
    false_fn: Any = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Any = None,
    fn2: Any = None,
) -> Any:
    """``tf.cond``; eagerly a list or tuple of one result is unpacked unless ``strict``.

    ``fn1`` and ``fn2`` are old names of ``true_fn`` and ``false_fn``: TypeError for both names.

    >>> import minitape as tf
    >>> tf.compat.v1.cond(tf.constant(True), lambda: [1], lambda: [2])
    1
    """
    for old, new, given in (("fn1", "true_fn", (fn1, true_fn)), ("fn2", "false_fn", (fn2, false_fn))):
        if None not in given:
            raise TypeError(f"cond(): '{new}' and '{old}' may not be set simultaneously.")
    found = control.cond(pred, true_fn or fn1, false_fn or fn2, name)
    single = state.graph is None and not strict and isinstance(found, (list, tuple)) and len(found) == 1
    return found[0] if single else found


def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """``tf.while_loop``, which returns a single loop variable by itself unless ``return_same_structure``.

    ``parallel_iterations`` and ``swap_memory`` have no effect.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     n = tf.compat.v1.while_loop(lambda n: n < 5, lambda n: n + 1, [tf.constant(0)])
    ...     print(tf.compat.v1.Session().run(n))
    5
    """
    return repeated(cond, body, loop_vars, shape_invariants, back_prop, maximum_iterations, not return_same_structure)


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """``tf.gradients``; ``colocate_gradients_with_ops`` has no effect, for there is one device.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(3.0)
    ...     (g,) = tf.compat.v1.gradients(x * x, [x])
    ...     print(tf.compat.v1.Session().run(g))
    6.0
    """
    return of_graphs.gradients(
        ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients
    )
