"""TensorFlow 1's way to run a graph: placeholders and ``Session.run``."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.block import During, InterruptSafeExit
from ..engine.recording.state import state
from ..engine.tensor.convert import to_array
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values import nest
from ..engine.values.shape import TensorShape
from .build import Graph
from .program import Program
from .symbolic import Operation, SymbolicTensor

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, ShapeLike, Value


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.sessions: list = []
        self.default_graph: Graph | None = None


_stacks = _Stacks()


def get_default_graph() -> Graph:
    """The graph to which operations are added; outside of any ``as_default`` block one graph of its own.

    >>> import minitape as tf
    >>> with tf.Graph().as_default() as graph:
    ...     tf.compat.v1.get_default_graph() is graph
    True
    """
    if state.graph is not None:
        return state.graph
    if _stacks.default_graph is None:
        _stacks.default_graph = Graph()
    return _stacks.default_graph




def default_session(session: Any, what: str, graph: Graph) -> Any:
    """The given session or the innermost default one; ValueError when there is none."""
    if session is None:
        session = get_default_session()
        if session is None:
            colon, verb = ("", "eval") if "evaluate" in what else (":", "run")
            raise ValueError(
                f"Cannot {what}: No default session is registered. Use `with sess.as_default(){colon}` or pass an "
                f"explicit session to `{verb}(session=sess)`"
            )
    if session.graph is not graph:
        raise ValueError(
            "Cannot use the default session to evaluate tensor: the tensor's graph is different from the "
            "session's graph. Pass an explicit session to `eval(session=sess)`."
        )
    return session


def get_default_session() -> Any:
    """The session of the innermost ``with`` block, or None.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     tf.compat.v1.get_default_session() is session
    True
    """
    return _stacks.sessions[-1] if _stacks.sessions else None


def placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> Tensor:
    """A tensor that is given its value by ``feed_dict``. RuntimeError outside a graph.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.placeholder(tf.float32, [None, 2], name="x"))
    Tensor("x:0", shape=(None, 2), dtype=float32)
    """
    if state.graph is None:
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return state.graph.placeholder(dtype, shape, name)


class Session:
    """Runs the operations of a graph: ``run(fetches, feed_dict)``.

    Variables keep their values in themselves: sessions share them. It runs in this process and takes no ``target`` and
    no ``config``. See https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.compat.v1.placeholder(tf.float32)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(x * x, {x: 3.0}))
    9.0
    """

    def __init__(self, *, graph: Graph | None = None) -> None:
        self.graph: Graph = graph if graph is not None else get_default_graph()
        self._closed = False
        self._programs: dict[Any, Program] = {}
        self._contexts: list = []  # of its own block

    def __enter__(self) -> Session:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        self._contexts = [self.graph.as_default(), self.as_default()]
        for context in self._contexts:
            context.__enter__()
        return self

    def _leave(self, *error: Any) -> None:
        for context in reversed(self._contexts):
            context.__exit__(None, None, None)
        self.close()
        self._contexts, self._held = [], None

    __exit__: Any = InterruptSafeExit(_leave, lambda session: session._contexts)

    def as_default(self) -> AbstractContextManager[Session]:
        """``eval()`` and ``run()`` in the block use this session.

        >>> import minitape as tf
        >>> with tf.Graph().as_default():
        ...     three = tf.constant(1.0) + 2.0
        ...     with tf.compat.v1.Session().as_default():
        ...         print(three.eval())
        3.0
        """
        return During(_stacks, self, sessions=[*_stacks.sessions, self])

    def close(self) -> None:
        """Further runs raise RuntimeError.

        >>> import minitape as tf
        >>> with tf.Graph().as_default():
        ...     one = tf.constant(1.0)
        ...     session = tf.compat.v1.Session()
        >>> session.close()
        >>> session.run(one)
        Traceback (most recent call last):
            ...
        RuntimeError: Attempted to use a closed Session.
        """
        self._closed = True

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """Computes ``fetches`` (a tensor, an operation, a name, or a structure of them); arrays in its form.

        >>> import minitape as tf
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        ...     x = tf.compat.v1.placeholder(tf.float32)
        ...     session.run({"double": x * 2.0, "square": x * x}, {x: 3.0})
        {'double': np.float32(6.0), 'square': np.float32(9.0)}
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        graph = self.graph
        leaves = nest.flatten(fetches)
        flat = leaves
        if not (graph.by_name or any(isinstance(f, EagerTensor) for f in flat)):  # a constant is an operation of it
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        elements = [_fetch(graph, f) for f in flat]
        feeds = _feeds(graph, feed_dict or {})
        rows = [e._row for e in elements if isinstance(e, SymbolicTensor)]
        ops = [e for e in elements if isinstance(e, Operation)]
        key = (tuple(rows), tuple(op.row for op in ops), tuple(feeds), len(graph))
        program = self._programs.get(key)
        if program is None:
            effects = [op.call for op in ops if op.call is not None]
            program = self._programs[key] = Program(graph, rows, list(feeds), effects)
        found = iter(program.run(list(feeds.values())))
        values = iter([_public(next(found)) if isinstance(e, SymbolicTensor) else None for e in elements])
        return nest.pack_sequence_as(fetches, list(values))


def _public(value: Value) -> Any:
    if isinstance(value, np.ndarray):
        if value.ndim:
            return value.copy() if not value.flags.writeable or value.base is not None else value
        value = value[()]
    return value






def _fetch(graph: Graph, fetch: Any) -> Any:
    if fetch is None:  # as a gradient is where nothing connects
        raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
    if not isinstance(fetch, (str, Tensor, Operation)) and not hasattr(fetch, "_read"):
        raise TypeError(
            f'Argument `fetch` = {fetch} has invalid type "{type(fetch).__name__}" must be a string or Tensor. '
            f"(Can not convert a {type(fetch).__name__} into a Tensor or Operation.)"
        )
    if isinstance(fetch, EagerTensor):
        return graph.tensor_at(graph.row_or_new_leaf(fetch))
    try:
        return graph.as_graph_element(fetch)
    except (ValueError, KeyError) as error:
        raise ValueError(f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})") from None


def _feeds(graph: Graph, feed_dict: Any) -> dict[int, Any]:
    """Row -> array, in the order of rows."""
    feeds: dict[int, Any] = {}
    for key, value in feed_dict.items():
        try:
            tensor = graph.as_graph_element(key.deref() if hasattr(key, "deref") else key, allow_operation=False)
        except (TypeError, ValueError, KeyError) as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from None
        if isinstance(value, Tensor):
            raise TypeError(
                "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, "
                f"strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} which "
                f"was passed to the argument `feed_dict` with key {tensor}."
            )
        array = _feed_array(value, tensor)
        if not tensor.shape.is_compatible_with(np.shape(array)):
            raise ValueError(
                f"Cannot feed value of shape {TensorShape(np.shape(array))} for Tensor {tensor.name}, which has shape "
                f"{tensor.shape}"
            )
        feeds[tensor._row] = array
    return dict(sorted(feeds.items()))


def _feed_array(value: Value, tensor: SymbolicTensor) -> Any:
    if tensor.dtype.kind == "s":
        return to_array(value, tensor.dtype)
    array = np.array(value, dtype=tensor.dtype.as_numpy_dtype)
    return array if array.ndim else array[()]
