"""The names of `tf.compat.v1.logging`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.compat.v1.messages import (
    DEBUG as DEBUG,
    ERROR as ERROR,
    FATAL as FATAL,
    INFO as INFO,
    WARN as WARN,
    debug as debug,
    error as error,
    fatal as fatal,
    get_verbosity as get_verbosity,
    info as info,
    log as log,
    set_verbosity as set_verbosity,
    warning as warning,
)
def warn(msg: _Any, *args: _Any, **kwargs: _Any) -> None:
    """A message about what may be wrong, with ``args`` put in for its ``%``."""

