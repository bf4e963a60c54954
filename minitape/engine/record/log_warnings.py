"""Log the same warnings as TensorFlow."""

from ..types import CountsByName
from ..values.dtypes import DType

_log_counts: CountsByName = {}


def log_warning_up_to_limit(place_key: str, message: str, limit: int = 5) -> None:
    """Log a warning as TensorFlow does, through the logger "tensorflow".

    Args:
        place_key: The key under which warnings are counted.
        message: The text of the warning.
        limit: The maximum number of warnings to log with this key. Later warnings are dropped.
    """
    import logging  # This import would add four milliseconds to every start, although the module is rarely needed.

    _log_counts[place_key] = _log_counts.get(place_key, 0) + 1
    if _log_counts[place_key] <= limit:
        logging.getLogger("tensorflow").warning(message)


def warn_not_watchable(dtype: DType) -> None:
    """Warn that a tape cannot watch a tensor that contains integers, booleans or strings.

    Args:
        dtype: The dtype of the tensor.
    """
    log_warning_up_to_limit(
        f"watch {dtype!r}", f"The dtype of the watched tensor must be floating (e.g. tf.float32), got {dtype!r}"
    )
