"""The logger with TensorFlow's name, as TensorFlow 1 speaks to it: what it is told, and how much it shows."""

from __future__ import annotations

from typing import Any

from ...graphs.devices import get_logger

DEBUG, INFO, WARN, ERROR, FATAL = 10, 20, 30, 40, 50


def get_verbosity() -> int:
    """The level from which on messages are shown.

    >>> import minitape.compat.v1 as tf
    >>> tf.logging.set_verbosity(tf.logging.ERROR)
    >>> tf.logging.get_verbosity() == tf.logging.ERROR
    True
    >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    return get_logger().getEffectiveLevel()


def set_verbosity(v: Any) -> None:
    """Shows messages from this level on: a number or its name. ValueError for another name.

    >>> import minitape.compat.v1 as tf
    >>> tf.logging.set_verbosity("WARN")
    """
    get_logger().setLevel(v)


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message of this level, with ``args`` put in for its ``%``.

    >>> import minitape.compat.v1 as tf
    >>> tf.logging.log(tf.logging.DEBUG, "step %d", 1)
    """
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message that helps to find errors, with ``args`` put in for its ``%``.

    >>> import minitape.compat.v1 as tf
    >>> tf.logging.debug("step %d", 1)
    """
    log(DEBUG, msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message about what happens, with ``args`` put in for its ``%``.

    >>> import minitape.compat.v1 as tf
    >>> tf.logging.info("step %d", 1)
    """
    log(INFO, msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message about what may be wrong, with ``args`` put in for its ``%``.

    >>> import minitape.compat.v1 as tf
    >>> tf.logging.set_verbosity(tf.logging.ERROR)
    >>> tf.logging.warning("step %d", 1)
    >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message about what is wrong, with ``args`` put in for its ``%``.

    >>> import minitape.compat.v1 as tf
    >>> tf.logging.set_verbosity(tf.logging.FATAL)
    >>> tf.logging.error("step %d", 1)
    >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    log(ERROR, msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """A message about what cannot go on, with ``args`` put in for its ``%``. It does go on.

    >>> import minitape.compat.v1 as tf
    >>> tf.logging.set_verbosity(tf.logging.FATAL + 1)
    >>> tf.logging.fatal("step %d", 1)
    >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    log(FATAL, msg, *args, **kwargs)
