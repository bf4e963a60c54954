"""Gradients registered by the name of an operation type, as TensorFlow 1 does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..engine.typed import Function

GRADIENTS: dict[str, Function | None] = {}  # gradient functions (op, *upstream) by the type that they were registered for


class RegisterGradient:
    """Decorator that registers ``grad(op, *upstream)`` under the name of an operation type.

    ``Graph.gradient_override_map`` says which operations use it. Raises KeyError when the name is taken, TypeError when
    it is no string. See https://www.tensorflow.org/api_docs/python/tf/RegisterGradient.

    >>> import minitape as tf
    >>> @tf.RegisterGradient("DoctestTimes7")
    ... def times7(op, grad):
    ...     return grad * 7.0
    >>> with tf.Graph().as_default() as g:
    ...     x = tf.constant(2.0)
    ...     with g.gradient_override_map({"Identity": "DoctestTimes7"}):
    ...         y = tf.identity(x)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(tf.gradients(y, x)))
    [np.float32(7.0)]
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Function | None) -> Function | None:
        from ..engine.table.primitives import TABLE

        op_type = self._op_type
        if op_type in GRADIENTS or any(p.op == op_type and p.rules is not None for p in TABLE.values()):
            raise KeyError(f"Registering two gradient with name '{op_type}'! (Previous registration was in register)")
        GRADIENTS[op_type] = f
        return f


def no_gradient(op_type: str) -> None:
    """Says that operations of a type have no gradient: None passes through them.

    Raises TypeError when ``op_type`` is no string. See https://www.tensorflow.org/api_docs/python/tf/no_gradient.

    >>> import minitape as tf
    >>> tf.no_gradient("DoctestSteps")
    """
    RegisterGradient(op_type)(None)


NotDifferentiable = no_gradient
