"""``tf.compat.v1.Session``: gives calls that were put off their values."""

from __future__ import annotations

import threading
from typing import Any

from ..engine.recording.state import state
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from .deferred import Deferred, Graph, Run, get_default_graph


class _Open(threading.local):
    def __init__(self) -> None:
        self.sessions: list[Session] = []


_open = _Open()


class Session:
    """Runs calls of a graph; in ``with Session():`` it is the default one.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(2.0)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run({"y": x * 3.0}))
    {'y': np.float32(6.0)}
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        self.graph = graph or get_default_graph()
        self._block: Any = None

    def __enter__(self) -> Session:
        _open.sessions.append(self)
        self._block = None if state.graph is self.graph else self.graph.as_default()
        if self._block is not None:
            self._block.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        _open.sessions.remove(self)
        if self._block is not None:
            type(self._block).__exit__(self._block, *error)

    def close(self) -> None:
        """Has no effect."""

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """The values of a structure of calls as NumPy arrays, for these values of others."""
        run = Run(dict(feed_dict or {}))
        return nest.map_structure(
            _as_numpy, run.value(fetches if isinstance(fetches, (list, tuple, dict)) else fetches)
        )


def _as_numpy(value: Any) -> Any:
    if hasattr(value, "_read"):
        return value._state._numpy()
    return value._numpy() if isinstance(value, Tensor) and not isinstance(value, Deferred) else value


def get_default_session() -> Session | None:
    """The innermost open session."""
    return _open.sessions[-1] if _open.sessions else None


def default_session(session: Session | None = None) -> Session:
    """This session, else the default one; ValueError without any."""
    found = session or get_default_session()
    if found is None:
        raise ValueError("Cannot evaluate a tensor without a default session: use `with sess.as_default()`")
    return found
