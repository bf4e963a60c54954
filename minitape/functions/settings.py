"""How functions run, and where a block is: ``init_scope``, ``executing_eagerly``, ``run_functions_eagerly``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import nullcontext

from ..engine.record.interrupt_safe import ThreadContext, make_interrupt_safe
from .first_run import find_current_trace

EAGER_FUNCTIONS = [False]  # one flag: whether every tf.function runs as plain Python


@make_interrupt_safe
def init_scope() -> Iterator[None]:
    """Lift the block out of functions that are being traced: what it does happens once. No tape records it.

    See https://www.tensorflow.org/api_docs/python/tf/init_scope.

    >>> import minitape as tf
    >>> with tf.init_scope():
    ...     tf.executing_eagerly()
    True
    """
    trace = find_current_trace()
    with nullcontext() if trace is None else trace.leave_scope(), ThreadContext(record=None, tapes=[]):
        yield


def executing_eagerly() -> bool:
    """True where tensors tell their values: outside of functions that are being traced.

    >>> import minitape as tf
    >>> tf.executing_eagerly(), bool(tf.function(lambda: tf.executing_eagerly())())
    (True, False)
    """
    return find_current_trace() is None


def run_functions_eagerly(run_eagerly: bool) -> None:
    """With True, every ``tf.function`` runs as the plain Python function that it wraps.

    So Python's debugger stops inside. It holds for all functions until it is switched off.

    >>> import minitape as tf
    >>> tf.config.run_functions_eagerly(True)
    >>> tf.function(lambda: tf.executing_eagerly())()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    EAGER_FUNCTIONS[0] = bool(run_eagerly)


def get_logger() -> logging.Logger:
    """The logger to which minitape's warnings go; it has TensorFlow's name.

    >>> import minitape as tf
    >>> tf.get_logger().name
    'tensorflow'
    """
    return logging.getLogger("tensorflow")
