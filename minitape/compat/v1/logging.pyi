"""The names of `tf.compat.v1.logging`, for editors and type checkers: see `python tests/core/make_stubs.py`."""

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
    warn as warn,
    warning as warning,
)
