"""How functions run, and on what: on the CPU, the only device there is."""

from __future__ import annotations

import logging
import os

EAGER_FUNCTIONS = [False]  # one flag
GUARDS = [os.environ.get("MINITAPE_GUARDS") == "1"]  # whether Python may branch on a tensor: a recording for each path


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
