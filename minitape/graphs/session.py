"""TensorFlow 1's way to run a graph: placeholders, ``Session.run``, and ``tf.gradients``, which adds rows to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import nest
from ..convert import convert_to_tensor, to_array
from ..ends import UnconnectedGradients
from ..invalid import unsupported
from ..random.seeds import restart
from ..record import state
from ..shape import TensorShape
from ..slices import IndexedSlices
from ..tensor import EagerTensor, Tensor
from .build import Graph
from .program import Program
from .symbolic import Operation, SymbolicTensor


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.sessions: list[Any] = []
        self.interactive: Any = None
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


def reset_default_graph() -> None:
    """Forgets the global default graph; AssertionError inside an ``as_default`` block.

    >>> import minitape as tf
    >>> before = tf.compat.v1.get_default_graph()
    >>> tf.compat.v1.reset_default_graph()
    >>> tf.compat.v1.get_default_graph() is before
    False
    """
    if state.graph is not None:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit "
            "the nesting and create a new graph."
        )
    _stacks.default_graph = None


def default_session(session: Any, what: str, graph: Graph) -> Any:
    """The given session or the innermost default one; ValueError when there is none.

    >>> import minitape as tf
    >>> tf.compat.v1.reset_default_graph()
    """
    if session is None:
        session = get_default_session()
        if session is None:
            short = "evaluate tensor using `eval()`" if "evaluate" in what else "execute operation using `run()`"
            verb = "eval(session=sess)" if "evaluate" in what else "run(session=sess)"
            raise ValueError(
                f"Cannot {short}: No default session is registered. Use `with sess.as_default()` or pass an "
                f"explicit session to `{verb}`"
            )
    if session.graph is not graph:
        raise ValueError("Cannot use the default session to evaluate tensor: the tensor's graph is different from the "
                         "session's graph. Pass an explicit session to `eval(session=sess)`.")  # fmt: skip
    return session


def get_default_session() -> Any:
    """The session of the innermost ``with`` block, or None.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     tf.compat.v1.get_default_session() is session
    True
    """
    return _stacks.sessions[-1] if _stacks.sessions else _stacks.interactive


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor that is given its value by ``feed_dict``. RuntimeError outside a graph.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.placeholder(tf.float32, [None, 2], name="x"))
    Tensor("x:0", shape=(None, 2), dtype=float32)
    """
    if state.graph is None:
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return state.graph.placeholder(dtype, shape, name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor that has the value ``input`` unless ``feed_dict`` gives another, of a shape that fits ``shape``.

    Its dtype is that of ``input``; the gradient passes to ``input``. In eager mode it is ``input`` as a tensor.
    Raises ValueError when ``input`` does not fit ``shape``.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     x = tf.compat.v1.placeholder_with_default([1.0, 2.0], shape=[None])
    ...     print(session.run(x * 2.0), session.run(x * 2.0, {x: [5.0]}))
    [2. 4.] [10.]
    """
    value = convert_to_tensor(input)
    if state.graph is None:
        return value
    from .primitive import GraphPrimitive

    primitive = GraphPrimitive(
        "placeholder_with_default",
        "PlaceholderWithDefault",
        lambda tensors, attrs: [(attrs["shape"], tensors[0].dtype)],
        forward=lambda x, shape: (x,),
        eager=lambda tensors, attrs: list(tensors),
        rules=[lambda g, z, x, *, shape: g],
    )
    return state.graph.apply(primitive, (value,), {"shape": TensorShape(shape)})[0]


class Session:
    """Runs the operations of a graph: ``run(fetches, feed_dict)``.

    Variables keep their values in themselves: sessions share them. Nothing depends on ``config``. See
    https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.compat.v1.placeholder(tf.float32)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(x * x, {x: 3.0}))
    9.0
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if target:
            raise ValueError(f"minitape runs graphs in this process: target must be '', got {target!r}.")
        if config is not None:
            _check_kind("config", config, "ConfigProto")
        self._own = graph
        self.graph: Graph = graph if graph is not None else get_default_graph()
        self._closed = False
        self._programs: dict[Any, Program] = {}
        self._graph_context: Any = None
        restart(self.graph)

    def __enter__(self) -> Session:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        self._graph_context = self.graph.as_default()
        self._graph_context.__enter__()
        _stacks.sessions.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        _stacks.sessions.remove(self)
        self._graph_context.__exit__(None, None, None)
        self.close()

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """``eval()`` and ``run()`` in the block use this session."""
        _stacks.sessions.append(self)
        try:
            yield self
        finally:
            _stacks.sessions.remove(self)

    def close(self) -> None:
        """Further runs raise RuntimeError."""
        self._closed = True

    def list_devices(self) -> list[Any]:
        """No devices are listed: everything runs on the CPU."""
        return []

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Computes ``fetches`` (a tensor, an operation, a name, or a structure of them); arrays in its form.

        ``options`` are a RunOptions and have no effect; ``run_metadata`` is refused with NotImplementedError.
        """
        unsupported("Session.run", run_metadata=run_metadata)
        if options is not None:
            _check_kind("options", options, "RunOptions")
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        graph = self.graph
        if not graph.by_name:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        flat = _flatten(fetches)
        elements = [_fetch(graph, f, fetches) for f in flat]
        feeds = _feeds(graph, feed_dict or {})
        rows = [e._row for e in elements if isinstance(e, SymbolicTensor)]
        ops = [e for e in elements if isinstance(e, Operation)]
        key = (tuple(rows), tuple(op.row for op in ops), tuple(feeds), len(graph))
        program = self._programs.get(key)
        if program is None:
            effects = [op.call for op in ops if op.call is not None]
            program = self._programs[key] = Program(graph, rows, list(feeds), effects)
        found = iter(program.run(list(feeds.values())))
        values = [_public(next(found)) if isinstance(e, SymbolicTensor) else None for e in elements]
        return _pack(fetches, iter(values))

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None) -> Any:
        """A function of the values of ``feed_list`` that runs ``fetches``."""
        feed_list = feed_list or []
        return lambda *values: self.run(fetches, dict(zip(map(_key, feed_list), values, strict=True)))


def _check_kind(argument: str, value: Any, kind: str) -> None:
    from ..compat.v1 import legacy

    if not isinstance(value, getattr(legacy, kind)):
        raise TypeError(f'Argument `{argument}` must be a tf.{kind}, but got "{type(value).__name__}"')


def _key(tensor: Any) -> Any:
    return tensor.ref() if isinstance(tensor, Tensor) else tensor


class InteractiveSession(Session):
    """A session that is the default one from its making until it is closed.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     session = tf.compat.v1.InteractiveSession()
    ...     print((tf.constant(2.0) * 3.0).eval())
    ...     session.close()
    6.0
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        _stacks.interactive = self

    def close(self) -> None:
        """Further runs raise RuntimeError."""
        super().close()
        if _stacks.interactive is self:
            _stacks.interactive = None


def _public(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.ndim:
            return value.copy() if not value.flags.writeable or value.base is not None else value
        value = value[()]
    return value


class IndexedSlicesValue(NamedTuple):
    """What a session returns for ``tf.IndexedSlices``: their arrays.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     session = tf.compat.v1.InteractiveSession()
    ...     print(tf.constant(2.0).eval())
    ...     session.close()
    2.0
    """

    values: Any
    indices: Any
    dense_shape: Any


def _flatten(fetches: Any) -> list[Any]:
    if isinstance(fetches, IndexedSlices):
        return [fetches._values, fetches._indices, fetches._dense_shape]
    if isinstance(fetches, (list, tuple)):
        return [f for part in fetches for f in _flatten(part)]
    if isinstance(fetches, dict):
        return [f for part in fetches.values() for f in _flatten(part)]
    return [fetches]


def _pack(fetches: Any, values: Iterator[Any]) -> Any:
    if isinstance(fetches, IndexedSlices):
        return IndexedSlicesValue(next(values), next(values), next(values))
    if isinstance(fetches, dict):
        return type(fetches)((k, _pack(v, values)) for k, v in fetches.items())
    if isinstance(fetches, (list, tuple)):
        parts = [_pack(v, values) for v in fetches]
        return type(fetches)(*parts) if hasattr(fetches, "_fields") else type(fetches)(parts)
    return next(values)


def _fetch(graph: Graph, fetch: Any, whole: Any) -> Any:
    if not isinstance(fetch, (str, Tensor, Operation)) and not hasattr(fetch, "_read"):
        raise TypeError(
            f'Argument `fetch` = {fetch} has invalid type "{type(fetch).__name__}" must be a string or Tensor. '
            f"(Can not convert a {type(fetch).__name__} into a Tensor or Operation.)"
        )
    if isinstance(fetch, EagerTensor):
        return graph.tensor_at(graph.enter(fetch))
    try:
        return graph.as_graph_element(fetch)
    except (ValueError, KeyError) as error:
        raise ValueError(f"Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})") from None


def _feeds(graph: Graph, feed_dict: Any) -> dict[int, Any]:
    """Row -> array, in the order of rows.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     x = tf.constant([[1.0], [2.0]])
    ...     print(session.run(tf.gradients(tf.gather(x, [1]), x))[0].indices)
    [1]
    """
    feeds: dict[int, Any] = {}
    items = feed_dict.items() if hasattr(feed_dict, "items") else feed_dict
    for key, value in items:
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
                f"Cannot feed value of shape {TensorShape(np.shape(array))} for Tensor {tensor.name}, which has "
                f"shape {tensor.shape}"
            )
        feeds[tensor._row] = array
    return dict(sorted(feeds.items()))


def _feed_array(value: Any, tensor: SymbolicTensor) -> Any:
    if tensor.dtype.kind == "s":
        return to_array(value, tensor.dtype)
    whole = isinstance(value, int) and not isinstance(value, bool) and tensor.dtype.is_integer
    if whole and np.asarray(value).astype(tensor.dtype.as_numpy_dtype) != value:
        raise TypeError(
            f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
            f"{tensor.dtype.as_numpy_dtype}. Try explicitly setting the type of the feed tensor to a larger type "
            "(e.g. int64)."
        )
    array = np.array(value, dtype=tensor.dtype.as_numpy_dtype)
    return array if array.ndim else array[()]


# -- tf.gradients -----------------------------------------------------------------------------------------------------


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Adds the operations that compute the sum of d``ys``/dx for each x in ``xs``; returns their outputs as a list.

    ``grad_ys`` weighs the ys; gradients do not pass ``stop_gradients``. None where nothing connects them.
    ``gate_gradients`` and ``aggregation_method`` say in which order TensorFlow adds gradients, not what they are.
    RuntimeError outside a graph, ValueError for an ``aggregation_method`` that does not exist. See
    https://www.tensorflow.org/api_docs/python/tf/gradients.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(3.0)
    ...     (g,) = tf.gradients(x * x, [x])
    ...     print(tf.compat.v1.Session().run(g))
    6.0
    """
    graph = state.graph
    if graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    check_aggregation(aggregation_method)
    targets = [_tensor(y) for y in _as_list(ys)]
    sources = _as_list(xs)
    seeds = [None] * len(targets) if grad_ys is None else _as_list(grad_ys)
    if len(seeds) != len(targets):
        raise ValueError(f"Must pass one grad_y for each y in ys. Received {len(seeds)} grad_ys for {len(targets)} ys.")
    stops = {r for s in _as_list(stop_gradients or []) for r in _rows(graph, s)}
    rows = [_rows(graph, s) if s.dtype.differentiable else [] for s in sources]
    with graph.name_scope(name) as scope:
        pass  # taken: the operations of the gradients have it before their names
    found = sweep_rows(graph, targets, rows, seeds, stops, scope[:-1])
    try:
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    return [_zeros(s) if g is None and zero else g for g, s in zip(found, sources, strict=True)]


def check_aggregation(method: int | None) -> None:
    """ValueError unless it is one of the ways to add gradients that TensorFlow knows; the sum is the same."""
    if method not in (None, 0, 1, 2):
        raise ValueError(f"Invalid `aggregation_method` specified {method}. Accepted values are [0, 1, 2].")


def hessians(
    ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: int | None = None, name: str = "hessians"
) -> list[Any]:
    """Adds the operations that compute the Hessian of the sum of ``ys`` for each x, of shape x.shape + x.shape.

    The other arguments and the errors are those of ``tf.gradients``; ValueError when nothing connects ``ys`` and an x.
    See https://www.tensorflow.org/api_docs/python/tf/hessians.

    >>> import minitape as tf
    >>> @tf.function
    ... def f(x):
    ...     return tf.hessians(tf.reduce_sum(x ** 3), x)[0]
    >>> f(tf.constant([1.0, 2.0])).numpy()
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    from ..primitives import TABLE

    sources = _as_list(xs)
    found = []
    for source, gradient in zip(sources, gradients(ys, sources, None, "gradients", gate_gradients, aggregation_method), strict=True):
        if gradient is None:
            raise ValueError("Cannot compute Hessian because ys does not depend on xs.")
        sizes = tuple(source.shape)
        count = int(np.prod(sizes))
        flat = TABLE["reshape"](_dense(gradient), shape=(count,))
        parts = [gradients(TABLE["slice"](flat, spec=(i,)), [source])[0] for i in range(count)]
        if parts and all(p is None for p in parts):
            raise ValueError("None values not supported.")
        parts = [_zeros(source) if p is None else _dense(p) for p in parts]
        found.append(TABLE["reshape"](TABLE["stack"](*parts, axis=0), shape=(*sizes, *sizes)))
    return found


def sweep_rows(
    graph: Graph, targets: list[Any], rows: list[list[int]], seeds: list[Any], stops: Any = (), prefix: str = ""
) -> list[Any]:
    """The gradient of the targets for each list of rows (the reads of one variable, or one tensor), or None."""
    from ..primitives import TABLE

    wanted = {r for group in rows for r in group}
    if not wanted:
        return [None] * len(rows)
    marks = dependents(graph, wanted, set(stops))
    starts: dict[int, Any] = {}
    for target, seed in zip(targets, seeds, strict=True):
        row = graph.enter(target)
        if target.dtype.differentiable and marks[row]:
            seed = TABLE["ones_like"](target) if seed is None else convert_to_tensor(seed, target.dtype)
            starts[row] = starts[row] + seed if row in starts else seed
    if not starts:
        return [None] * len(rows)
    sweep = graph.sweeper(graph, starts, wanted, marks, recorded=True)
    sweep.stops, sweep.prefix = stops, prefix
    sweep.run()
    found = []
    for group in rows:
        parts = [a for a in map(sweep.adjoint, group) if a is not None]
        total = parts[0] if parts else None
        for part in parts[1:]:
            total = _dense(total) + _dense(part)
        found.append(total)
    return found


def dependents(graph: Graph, sources: set[int], stops: set[int]) -> bytearray:
    """For each row, 1 when it depends on a source through differentiable values, and not through a stopped row."""
    marks = bytearray(len(graph))
    for row in sources:
        marks[row] = 1
    meta = graph.meta
    for call in graph.calls:
        if any(marks[r] and meta[r][1].kind in "fcV" for r in call.inputs):
            for row in range(call.row, call.row + call.outputs):
                if row not in stops:
                    marks[row] = 1
    return marks


def _dense(g: Any) -> Any:
    return g if isinstance(g, Tensor) else g.dense()


def _as_list(value: Any) -> list[Any]:
    return nest.flatten(value) if isinstance(value, (list, tuple, dict)) else [value]


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else convert_to_tensor(value)


def _rows(graph: Graph, source: Any) -> list[int]:
    if hasattr(source, "_read"):
        known = graph.variables.get(id(source))
        return [] if known is None else list(known[1])
    return [graph.enter(source)]


def _zeros(source: Any) -> Any:
    from ..primitives import TABLE

    return TABLE["zeros_like"](source if isinstance(source, Tensor) else source._read())
