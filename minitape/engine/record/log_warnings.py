"""Warnings that TensorFlow logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..values.dtypes import DType

_log_counts: dict[str, int] = {}


def log_warning_up_to_limit(place_key: str, message: str, limit: int = 5) -> None:
    """Log a warning as TensorFlow does, through the logger "tensorflow": the first ``limit`` times for a place."""
    import logging  # seldom needed, and four milliseconds of every start

    _log_counts[place_key] = _log_counts.get(place_key, 0) + 1
    if _log_counts[place_key] <= limit:
        logging.getLogger("tensorflow").warning(message)


def warn_not_watchable(dtype: DType) -> None:
    """Warn that integers, booleans or strings were watched."""
    log_warning_up_to_limit(
        f"watch {dtype!r}", f"The dtype of the watched tensor must be floating (e.g. tf.float32), got {dtype!r}"
    )
