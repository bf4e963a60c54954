"""Warnings that TensorFlow logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..values.dtypes import DType

_logged: dict[str, int] = {}


def log_first_n(place: str, message: str, times: int = 5) -> None:
    """Logs a warning as TensorFlow does, through the logger "tensorflow": the first ``times`` times for a place."""
    import logging  # seldom needed, and four milliseconds of every start

    _logged[place] = _logged.get(place, 0) + 1
    if _logged[place] <= times:
        logging.getLogger("tensorflow").warning(message)


def warn_not_watchable(dtype: DType) -> None:
    """The warning for watching integers, booleans or strings."""
    log_first_n(
        f"watch {dtype!r}", f"The dtype of the watched tensor must be floating (e.g. tf.float32), got {dtype!r}"
    )
