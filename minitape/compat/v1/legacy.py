"""Functions that only TensorFlow 1 has."""

from __future__ import annotations

from typing import Any

from ...engine.derivatives.pyfunction import call_numpy
from ...engine.recording.block import block
from ...engine.recording.logs import deprecated

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


def py_func(func: Any, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """Runs a Python function on NumPy arrays as an operation "PyFunc", whose gradient may be overridden.

    >>> import minitape as tf
    >>> print(tf.compat.v1.py_func(lambda x: x * 2, [tf.constant(2.0)], tf.float32).numpy())
    4.0
    """
    deprecated(_DEPRECATED)
    return call_numpy(func, inp, Tout, stateful)


# -- modes -----------------------------------------------------------------------------------------


@block
def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> Any:
    """Operations in the block are called ``name/...`` (or ``default_name/...``); yields the scope's name with a slash.

    ``values`` are the tensors that the block computes with; ValueError when they are given and neither name is.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.name_scope(None, "layer") as scope:
    ...         print(scope, tf.constant(1.0).name)
    layer/ layer/Const:0
    """
    name = default_name if name is None else name
    if name is None and values is not None:
        raise ValueError("At least one of name (None) and default_name (None) must be provided.")
    yield f"{name}/" if name else ""


@block
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> Any:
    """``name_scope`` with its arguments in the old order; yields the scope's name.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.op_scope([], None, "mod") as scope:
    ...         print(scope)
    mod/
    """
    with name_scope(name, default_name, values) as scope:
        yield scope
