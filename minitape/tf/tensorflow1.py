"""Functions that only TensorFlow 1 has, as far as the documents show it. Graphs and sessions are in ``functions``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..engine.derivatives.py_function import numpy_function
from ..engine.record.interrupt_safe import make_interrupt_safe
from ..engine.record.log_warnings import log_warning_up_to_limit
from ..engine.record.user_frames import find_user_frame
from ..engine.tensor.variable import ResourceVariable
from ..engine.values import dtypes
from .keras import create_initial_value

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, GraphName, Object, ShapeLike, Structure, Value

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
    """Runs a Python function on NumPy arrays as an operation "PyFunc", whose gradient may be overridden.

    ``Tout`` is the dtype of the result, or a list of them for several.

    >>> import minitape as tf
    >>> print(tf.compat.v1.py_func(lambda x: x * 2, [tf.constant(2.0)], tf.float32).numpy())
    4.0
    """
    frame = find_user_frame(sys._getframe(1))
    location = "unknown:0" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
    log_warning_up_to_limit("py_func", f"From {location}: {_DEPRECATED}", 1)
    return numpy_function(func, inp, Tout, stateful)


@make_interrupt_safe
def name_scope(name: str | None, default_name: GraphName = None, values: Object = None) -> Iterator[str]:
    """A block in the place of TensorFlow 1's scope of names; gives the scope's name with a slash.

    ``values`` are the tensors that the block computes with; ValueError when they are given and neither name is.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.name_scope(None, "layer") as scope:
    ...         print(scope)
    layer/
    """
    name = default_name if name is None else name
    if name is None and values is not None:
        raise ValueError("tf.name_scope with values takes a name or a default_name")
    yield f"{name}/" if name else ""


@make_interrupt_safe
def op_scope(values: Object, name: str | None, default_name: GraphName = None) -> Iterator[str]:
    """``name_scope`` with its arguments in the old order.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.op_scope([], None, "mod") as scope:
    ...         print(scope)
    mod/
    """
    with name_scope(name, default_name, values) as scope:
        yield scope


# -- variables -------------------------------------------------------------------------------------


def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    initializer: Value = None,
    *,
    trainable: bool | None = None,
) -> ResourceVariable:
    """Makes a variable of that name.

    ``initializer`` is a value, a tensor or a function of (shape, dtype); by default Glorot's uniform one. Raises
    ValueError where there is neither a shape nor a value.

    >>> import minitape as tf
    >>> tf.compat.v1.get_variable("w", initializer=3.0)
    <tf.Variable 'w:0' shape=() dtype=float32, numpy=3.0>
    """
    if shape is None:
        if initializer is None:
            raise ValueError(f"Variable {name!r} takes a shape, or a value as initializer")
        return ResourceVariable(initializer, trainable=trainable, name=name, dtype=dtype)
    if initializer is not None and not callable(initializer):
        raise ValueError("An initializer that is a value has its own shape: leave out shape")
    value = create_initial_value(initializer, shape, dtype or dtypes.float32)
    return ResourceVariable(value, trainable=trainable, name=name)


def assign(ref: ResourceVariable, value: Value, name: GraphName = None) -> Object:
    """The operation that sets a variable; in eager mode it is set at once, and given back.

    >>> import minitape as tf
    >>> print(tf.compat.v1.assign(tf.Variable(1.0), 2.0).numpy())
    2.0
    """
    return ref.assign(value)
