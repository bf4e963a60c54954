"""Functions that only TensorFlow 1 has."""

from __future__ import annotations

import logging
import sys
from contextlib import nullcontext
from typing import Any, NamedTuple

from ... import tf
from ...engine import dtypes
from ...engine.block import block
from ...engine.invalid import invalid
from ...engine.operands import named
from ...engine.pyfunction import call_numpy
from ...engine.state import state
from ...engine.tensor import Tensor
from ...engine.updates import deprecated
from ...graphs.session import get_default_graph
from ...graphs.symbolic import is_symbolic

_warned: set[tuple[str, int]] = set()


_DEPRECATED = (
    "From %s: py_func (from tensorflow.python.ops.script_ops) is deprecated and will be removed in a future version.\n"
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
    frame = sys._getframe(1)
    place = (frame.f_code.co_filename, frame.f_lineno)
    if place not in _warned:
        _warned.add(place)
        logging.getLogger("tensorflow").warning(_DEPRECATED, f"{place[0]}:{place[1]}")
    return call_numpy(func, inp, Tout, stateful)


# -- modes ------------------------------------------------------------------------------------------------------------


def disable_eager_execution() -> None:
    """Operations from now on are added to the default graph of this thread. Only at the start of a program.

    >>> import minitape as tf
    >>> tf.compat.v1.disable_eager_execution()
    >>> print(tf.constant(1.0))
    Tensor("Const:0", shape=(), dtype=float32)
    >>> tf.compat.v1.enable_eager_execution()
    >>> tf.compat.v1.reset_default_graph()
    """
    if state.tapes:
        raise ValueError("tf.disable_eager_execution() must be called at program startup.")
    graph = get_default_graph()
    state.record = state.graph = graph
    state.token = object()


disable_v2_behavior = disable_eager_execution


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Operations from now on compute at once, which is the default.

    ``config``, ``device_policy`` and ``execution_mode`` are about several devices and have no effect.

    >>> import minitape as tf
    >>> tf.compat.v1.enable_eager_execution()
    >>> tf.executing_eagerly()
    True
    """
    state.record = state.graph = state.token = None


enable_v2_behavior = enable_eager_execution


def executing_eagerly_outside_functions() -> bool:
    """True unless a TensorFlow 1 graph is being built.

    >>> import minitape as tf
    >>> tf.compat.v1.executing_eagerly_outside_functions()
    True
    """
    return state.graph is None or state.graph.building_function


def set_random_seed(seed: int) -> None:
    """Sets the seed of the default graph's random operations.

    >>> import minitape as tf
    >>> tf.compat.v1.set_random_seed(1)
    """
    get_default_graph().seed = seed
    tf.random.set_seed(seed)


@block
def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> Any:
    """Operations in the block are called ``name/...`` (or ``default_name/...``); yields the scope's name with a slash.

    The block adds to the graph of the tensors in ``values``, if there are any. Raises ValueError when they are of two
    graphs, or when neither name is given with them; TypeError for a ``default_name`` that is no string.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.name_scope(None, "layer") as scope:
    ...         print(scope, tf.constant(1.0).name)
    layer/ layer/Const:0
    """
    if state.graph is not None and not (default_name is None or isinstance(default_name, str)):
        raise TypeError(
            f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass this into the "
            "`values` kwarg."
        )
    name = default_name if name is None else name
    if state.graph is None:
        if not (name is None or isinstance(name, str)):
            raise ValueError("name for name_scope must be a string.")
        before = state.scope
        state.scope = (*before, name) if name else ()
        try:
            yield f"{'/'.join(state.scope)}/" if state.scope else ""
        finally:
            state.scope = before
        return
    if name is None and values is not None:
        raise ValueError("At least one of name (None) and default_name (None) must be provided.")
    graph = _graph_of(values or []) or state.graph
    with nullcontext() if graph is state.graph else graph.as_default(), graph.name_scope(name) as scope:
        yield scope


def _graph_of(values: Any) -> Any:
    """The graph of the symbolic tensors among the values; ValueError when they are of several."""
    first = None
    for value in values:
        if not is_symbolic(value):
            continue
        first = value if first is None else first
        if value.graph is not first.graph:
            raise ValueError(
                f"{value} must be from the same graph as {first} (graphs are {value.graph} and {first.graph})."
            )
    return None if first is None else first.graph


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


@block
def container(container_name: str) -> Any:
    """A block whose variables live in a container. Here all live in this process: ``container_name`` has no effect.

    >>> import minitape as tf
    >>> with tf.compat.v1.container("mine"):
    ...     pass
    """
    yield


# -- casts and others -------------------------------------------------------------------------------------------------


def _cast_to(name: str, spelled: str, dtype: Any) -> Any:
    def function(x: Any, name: str = spelled) -> Tensor:
        return tf.cast(x, dtype)

    doc = f"""Casts to {dtype.name}.

    The result has the shape of ``x``. Differentiable between floats; UnimplementedError for strings.

    >>> import minitape as tf
    >>> tf.compat.v1.{name}(tf.constant(1)).dtype
    tf.{dtype.name}
    """
    return named(function, name, doc, __name__)


to_float = _cast_to("to_float", "ToFloat", dtypes.float32)
to_double = _cast_to("to_double", "ToDouble", dtypes.float64)
to_int32 = _cast_to("to_int32", "ToInt32", dtypes.int32)
to_int64 = _cast_to("to_int64", "ToInt64", dtypes.int64)


def multinomial(logits: Any, num_samples: int, seed: int | None = None, name: str | None = None,
                output_dtype: Any = None) -> Tensor:  # fmt: skip
    """As ``tf.random.categorical``, with the seed before the type of the result (int64 by default).

    >>> import minitape as tf
    >>> tf.compat.v1.multinomial([[0.0, -1000.0]], 3).numpy()
    array([[0, 0, 0]])
    """
    return tf.random.categorical(logits, num_samples, output_dtype, seed)


def space_to_batch(input: Any, paddings: Any, block_size: Any = None, name: str | None = None,
                   block_shape: Any = None) -> Tensor:  # fmt: skip
    """``tf.space_to_batch`` with square blocks of ``block_size`` (also called ``block_shape``) for images of rank 4.

    Differentiable. Raises ValueError for another rank, InvalidArgumentError when the blocks do not cover the image.

    >>> import minitape as tf
    >>> tf.compat.v1.space_to_batch(tf.ones([1, 4, 4, 1]), [[0, 0], [0, 0]], 2).shape
    TensorShape([4, 2, 2, 1])
    """
    from ...ops import blocks

    return _in_squares(blocks.space_to_batch_nd, input, paddings, block_size if block_shape is None else block_shape)


def batch_to_space(input: Any, crops: Any, block_size: Any, name: str | None = None, block_shape: Any = None) -> Tensor:
    """``tf.batch_to_space`` with square blocks of ``block_size`` (also called ``block_shape``) for images of rank 4.

    Differentiable. Raises ValueError for another rank, InvalidArgumentError when the batch cannot be divided.

    >>> import minitape as tf
    >>> tf.compat.v1.batch_to_space(tf.ones([4, 2, 2, 1]), [[0, 0], [0, 0]], 2).shape
    TensorShape([1, 4, 4, 1])
    """
    from ...ops import blocks

    return _in_squares(blocks.batch_to_space, input, crops, block_size if block_shape is None else block_shape)


def _in_squares(moved: Any, images: Any, edges: Any, size: Any) -> Any:
    """Space as batches or back, with square blocks; ValueError where the result has another rank than images have."""
    found = moved(images, [int(size), int(size)], edges)
    return found if found.shape.rank is None else tf.ensure_shape(found, found.shape.with_rank(4))


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """``tf.gather`` along the last axis of ``indices``, separately for each batch element. Differentiable.

    ValueError for indices of unknown rank.

    >>> import minitape as tf
    >>> tf.compat.v1.batch_gather([[1, 2], [3, 4]], [[1], [0]]).numpy().tolist()
    [[2], [3]]
    """
    rank = tf.convert_to_tensor(indices).shape.rank
    if rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    return tf.gather(params, indices, batch_dims=rank - 1)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """As ``tf.where``, but a vector ``condition`` chooses whole rows of ``x`` and ``y``.

    With ``condition`` alone it gives the places where it is true. Differentiable in ``x`` and ``y``.

    >>> import minitape as tf
    >>> tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]).numpy()
    array([[1, 2],
           [7, 8]], dtype=int32)
    """
    if x is not None and y is not None:
        condition, places = tf.convert_to_tensor(condition), tf.convert_to_tensor(x).shape
        if condition.shape.rank == 1 and places.rank is None:
            condition = tf.reshape(condition, tf.concat([tf.shape(condition), tf.ones([tf.rank(x) - 1], tf.int32)], 0))
        elif condition.shape.rank == 1 and places.rank > 1:
            condition = tf.reshape(condition, [-1] + [1] * (places.rank - 1))
    return tf.where(condition, x, y)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False) -> Tensor:
    """As ``tf.constant``, but in a graph the last element fills a ``shape`` of more elements (unless ``verify_shape``).

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     print(session.run(tf.compat.v1.constant([1, 2], shape=[4])))
    [1 2 2 2]
    """
    if shape is not None and state.graph is not None:
        value = tf.make_tensor_proto(value, dtype, tf.TensorShape(shape).as_list(), verify_shape)
    return tf.constant(value, dtype, shape, name)


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> Any:
    """The elements of the vector ``x`` that ``y`` lacks, and their places: a named pair ``(out, idx)``. No gradient.

    >>> import minitape as tf
    >>> out, idx = tf.compat.v1.setdiff1d([1, 2, 3, 2], [2])
    >>> print(out.numpy(), idx.numpy())
    [1 3] [0 2]
    """
    deprecated("setdiff1d (from tensorflow.python.ops.array_ops) is deprecated and will be removed after 2018-11-30.\n"
               "Instructions for updating:\nThis op will be removed after the deprecation date. Please switch to "
               "tf.sets.difference().")  # fmt: skip
    x = tf.convert_to_tensor(x)
    y = tf.convert_to_tensor(y, x.dtype)
    for argument, value in (("x", x), ("y", y)):
        if value.ndim not in (None, 1):
            raise invalid(f"{argument} should be a 1D vector.", "ListDiff")
    alone = tf.logical_not(tf.reduce_any(tf.equal(x[:, None], y[None, :]), 1))
    kept = tf.where(alone)[:, 0]
    return ListDiff(tf.stop_gradient(tf.gather(x, kept)), tf.cast(kept, index_dtype))


class ListDiff(NamedTuple):
    """What ``setdiff1d`` gives."""

    out: Any
    idx: Any


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """t scaled down so that its euclidean norm over its number of elements is at most ``clip_norm``. Differentiable.

    >>> import minitape as tf
    >>> print(tf.compat.v1.clip_by_average_norm([3.0, 4.0], 1.0).numpy())
    [1.2 1.6]
    """
    deprecated("clip_by_average_norm (from tensorflow.python.ops.clip_ops) is deprecated and will be removed in a future "
               "version.\nInstructions for updating:\nclip_by_average_norm is deprecated in TensorFlow 2.0. Please use "
               "clip_by_norm(t, clip_norm * tf.cast(tf.size(t), tf.float32), name) instead.")  # fmt: skip
    t = tf.convert_to_tensor(t)
    inverse = tf.math.rsqrt(tf.reduce_sum(t * t)) * tf.cast(tf.size(t), t.dtype)
    return tf.identity(t * clip_norm * tf.minimum(inverse, tf.constant(1.0) / clip_norm), name=name)
