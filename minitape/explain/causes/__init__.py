"""List the causes of a missing or wrong gradient, each as one record.

Except for a few causes with older names, a cause has the same name for a tape, PyTorch, TensorFlow and JAX. To add a
cause, add its record to one of this package's files, write a check that finds it, and add a program to the tests.
``docs/add_a_cause.md`` shows the steps.

``cause``               the record of a cause, and the kinds of causes
``sources``             the source is not tracked, or not a float
``broken_paths``        the path from the source to the target is broken
``escapes``             the value left the framework
``other_objects``       the target was computed without the source
``zero_and_nonfinite``  the gradient is zero or not finite
``lost_gradients``      the gradient was refused, not requested or discarded; also, the answer "nothing is wrong"
``suspicions``          the gradient exists but is wrong
``runs``                what happened to the gradient on its way to the weight, as only a whole training run shows
"""

from . import broken_paths, escapes, lost_gradients, other_objects, runs, sources, suspicions, zero_and_nonfinite
from .cause import KINDS, Cause, Kind

CAUSE_FILES = (sources, broken_paths, escapes, other_objects, zero_and_nonfinite, lost_gradients, suspicions, runs)
CAUSES: dict[str, Cause] = {cause.name: cause for file in CAUSE_FILES for cause in file.CAUSES}


def get_kind_name_or_error_kind(cause: str) -> str:
    """Return the name of a cause's kind. An unlisted cause has the kind `error`.

    Args:
        cause: The name of a cause.

    >>> get_kind_name_or_error_kind("detach"), get_kind_name_or_error_kind("no such cause")
    ('cut', 'error')
    """
    return CAUSES[cause].kind if cause in CAUSES else "error"


def get_kind_or_error_kind(cause: str) -> Kind:
    """Return the properties shared by all causes of the same kind. An unlisted cause has the kind `error`.

    Args:
        cause: The name of a cause.

    >>> get_kind_or_error_kind("saturated").has_gradient, get_kind_or_error_kind("rebound").has_gradient
    (True, False)
    """
    return KINDS[get_kind_name_or_error_kind(cause)]


def get_cause_name_in_bridges(cause: str) -> str:
    """Return the name that the bridges use for a cause, usually the name of the cause itself.

    Args:
        cause: The name of a cause, or "".

    >>> get_cause_name_in_bridges("state"), get_cause_name_in_bridges("detach")
    ('variable_assign', 'detach')
    """
    return (CAUSES[cause].name_in_bridges if cause in CAUSES else "") or cause
