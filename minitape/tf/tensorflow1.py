"""Define the functions of the five source documents that only TensorFlow 1 has.

Graphs and sessions are in ``minitape/functions``. The functions and their arguments follow TensorFlow
(https://www.tensorflow.org/api_docs/python/tf/compat/v1).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from ..engine.derivatives.py_function import numpy_function
from ..engine.record.interrupt_safe import make_interrupt_safe_context_manager
from ..engine.record.log_warnings import log_warning_up_to_limit
from ..engine.record.user_frames import find_user_frame
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import DTypeLike, GraphName, Object, OptionalFlag, OptionalText, ShapeLike, Structure, Value
from ..engine.values import dtypes
from .keras import create_initial_value

_DEPRECATED = (
    "py_func (from tensorflow.python.ops.script_ops) is deprecated and will be removed in a future version.\n"
    "Instructions for updating:\ntf.py_func is deprecated in TF V2. Instead, there are two\n    options available in "
    "V2.\n"
    "    - tf.py_function takes a python function which manipulates tf eager\n    tensors instead of numpy arrays. "
    "It's easy to convert a tf eager tensor to\n    an ndarray (just call tensor.numpy()) but having access to eager "
    "tensors\n    means `tf.py_function`s can use accelerators such as GPUs as well as\n    being differentiable using "
    "a gradient tape.\n"
    "    - tf.numpy_function maintains the semantics of the deprecated tf.py_func\n    (it is not differentiable, and "
    "manipulates numpy arrays). It drops the\n    stateful argument making all functions stateful.\n"
)


def py_func(
    func: Callable, inp: Structure, Tout: Structure, stateful: bool = True, name: GraphName = None
) -> Structure:
    """Run a Python function on NumPy arrays as an operation.

    The operation is named "PyFunc", and ``tf.RegisterGradient`` can override its gradient.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/py_func.

    Args:
        func: A function that takes arrays and returns an array or a list of arrays.
        inp: The function's arguments, a list of tensor-like values of any shape.
        Tout: The dtype of the result, or a list of dtypes if there are several results.
        stateful: Whether the function has side effects, as in ``tf.numpy_function``.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor, or a list of tensors if ``Tout`` is a list.

    Raises:
        Exception: Any exception that ``func`` raises.

    >>> import minitape as tf
    >>> print(tf.compat.v1.py_func(lambda x: x * 2, [tf.constant(2.0)], tf.float32).numpy())
    4.0
    """
    frame = find_user_frame(sys._getframe(1))
    location = "unknown:0" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
    log_warning_up_to_limit("py_func", f"From {location}: {_DEPRECATED}", 1)
    return numpy_function(func, inp, Tout, stateful)


@make_interrupt_safe_context_manager
def name_scope(name: OptionalText, default_name: GraphName = None, values: Object = None) -> Iterator[str]:
    """Open a name scope for a ``with`` block.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/name_scope.

    Args:
        name: The scope's name.
        default_name: The name to use if ``name`` is None.
        values: The tensors that the block computes with, of any shape and dtype. TensorFlow uses them to find the
            graph.

    Yields:
        The scope's name followed by a slash, or "" for an unnamed scope.

    Raises:
        ValueError: If there are values but no name.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.name_scope(None, "layer") as scope:
    ...         print(scope)
    layer/
    """
    name = default_name if name is None else name
    if name is None and values is not None:
        raise ValueError("tf.name_scope with values needs a name or a default_name")
    yield f"{name}/" if name else ""


def op_scope(values: Object, name: OptionalText, default_name: GraphName = None) -> AbstractContextManager[str]:
    """Open a ``name_scope`` with the argument order used in earlier TensorFlow versions.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/op_scope.

    Args:
        values: The tensors that the block computes with, of any shape and dtype.
        name: The scope's name.
        default_name: The name to use if ``name`` is None.

    Returns:
        A context manager that returns the scope's name followed by a slash, or "" for an unnamed scope.

    Raises:
        ValueError: If there are values but no name. Entering the block raises this error.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.op_scope([], None, "mod") as scope:
    ...         print(scope)
    mod/
    """
    return name_scope(name, default_name, values)


# -- variables -------------------------------------------------------------------------------------


def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    initializer: Value = None,
    *,
    trainable: OptionalFlag = None,
) -> ResourceVariable:
    """Create a named variable.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_variable.

    Args:
        name: The name of the variable.
        shape: The shape. Omit it if ``initializer`` is a value.
        dtype: The dtype. The default is the dtype of the initial value, or float32 if ``initializer`` is not a value.
        initializer: A value, a tensor, or a function that receives a shape and a ``dtype``. The default is Glorot's
            uniform initializer.
        trainable: Whether training may change the variable.

    Returns:
        The variable.

    Raises:
        ValueError: If both a shape and a value are given, or neither is given.

    >>> import minitape as tf
    >>> tf.compat.v1.get_variable("w", initializer=3.0)
    <tf.Variable 'w:0' shape=() dtype=float32, numpy=3.0>
    """
    if shape is None:
        if initializer is None:
            raise ValueError(f"Variable {name!r} needs a shape, or a value as its initializer")
        return ResourceVariable(initializer, trainable=trainable, name=name, dtype=dtype)
    if initializer is not None and not callable(initializer):
        raise ValueError("An initializer that is a value already has a shape, so omit shape")
    value = create_initial_value(initializer, shape, dtype or dtypes.float32)
    return ResourceVariable(value, trainable=trainable, name=name)


def assign(ref: ResourceVariable, value: Value, name: GraphName = None) -> Object:
    """Set a variable to a new value.

    In eager mode, the variable changes immediately. In a graph, it changes when the returned operation runs.

    See https://www.tensorflow.org/api_docs/python/tf/compat/v1/assign.

    Args:
        ref: The variable.
        value: The new value, a tensor-like value with the variable's shape and dtype.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        The variable in eager mode, or the operation in a graph.

    Raises:
        TypeError: If the value cannot be converted to the variable's dtype.
        ValueError: If the shapes do not match.

    >>> import minitape as tf
    >>> print(tf.compat.v1.assign(tf.Variable(1.0), 2.0).numpy())
    2.0
    """
    return ref.assign(value)
