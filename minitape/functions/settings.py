"""Switch tracing off, suspend it for a block, and check whether a function is being traced."""

from collections.abc import Iterator
from contextlib import nullcontext
from logging import Logger, getLogger

from ..engine.record.interrupt_safe import ThreadContext, make_interrupt_safe_context_manager
from .first_run import find_current_first_run

# Whether every tf.function runs as plain Python.
# The flag is in a list, so that a module that imports the name sees later changes.
EAGER_FUNCTIONS = [False]


@make_interrupt_safe_context_manager
def init_scope() -> Iterator[None]:
    """Run a block outside all functions that are being traced.

    The operations in the block run once, and no tape records them. Tensors from traced functions
    cannot be used in the block.

    See https://www.tensorflow.org/api_docs/python/tf/init_scope.

    Returns:
        A context manager.

    >>> import minitape as tf
    >>> with tf.init_scope():
    ...     tf.executing_eagerly()
    True
    """
    first_run = find_current_first_run()
    with (
        nullcontext() if first_run is None else first_run.open_block_outside_function(),
        ThreadContext(record=None, tapes=[]),
    ):
        yield


def executing_eagerly() -> bool:
    """Return whether Python can read the values of tensors.

    See https://www.tensorflow.org/api_docs/python/tf/executing_eagerly.

    Returns:
        False while a function is being traced, otherwise True.

    >>> import minitape as tf
    >>> tf.executing_eagerly(), bool(tf.function(lambda: tf.executing_eagerly())())
    (True, False)
    """
    return find_current_first_run() is None


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run every ``tf.function`` as the plain Python function that it wraps.

    A debugger can then stop inside the function. The setting applies to all functions until it is switched off.

    See https://www.tensorflow.org/api_docs/python/tf/config/run_functions_eagerly.

    Args:
        run_eagerly: True to run plain Python, False to record functions again.

    >>> import minitape as tf
    >>> tf.config.run_functions_eagerly(True)
    >>> tf.function(lambda: tf.executing_eagerly())()
    True
    >>> tf.config.run_functions_eagerly(False)
    """
    EAGER_FUNCTIONS[0] = bool(run_eagerly)


def get_logger() -> Logger:
    """Return the logger that receives minitape's warnings.

    The logger has the name of TensorFlow's logger, so that programs can configure both in the same way.

    See https://www.tensorflow.org/api_docs/python/tf/get_logger.

    Returns:
        A logger of the ``logging`` module.

    >>> import minitape as tf
    >>> tf.get_logger().name
    'tensorflow'
    """
    return getLogger("tensorflow")
