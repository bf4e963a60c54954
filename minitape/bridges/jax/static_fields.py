"""Find arrays in static fields of modules. JAX treats such arrays as constants."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from inspect import getsourcefile, getsourcelines
from typing import Any

import numpy as np

from ...engine.types import LIST_OR_TUPLE
from ...explain.explanation import OptionalExplanation, explain_cause
from ...explain.reasons.program_text import list_statements
from .recording import JaxRecording, jax
from .row_log import is_inexact

MAX_DEPTH = 8


def explain_array_in_static_field(recording: JaxRecording) -> OptionalExplanation:
    """Explain that an array in a static field of an argument gets no gradient.

    Args:
        recording: The recording of the program's function.

    Returns:
        The explanation of the first such field, or None if none exists.
    """
    for owner, name in _iter_classes_and_names_of_static_arrays(recording.recorded_call.args):
        file = getsourcefile(owner) or ""
        class_line = getsourcelines(owner)[1]
        declarations = [
            statement.site
            for statement in list_statements(file)
            if name in statement.bound_names and statement.line > class_line
        ]
        site = declarations[0] if declarations else (file, class_line)
        return explain_cause("jax", "not_trainable", site, fields={"x": f"{owner.__name__}.{name}"})
    return None


def _iter_classes_and_names_of_static_arrays(value: Any, depth: int = 0) -> Iterator[tuple[type, str]]:
    """Yield the class and the name of each static field that holds an array of floats.

    Args:
        value: A module, a list, a tuple or a dictionary. For other objects, nothing is yielded.
        depth: The number of objects that enclose this object.
    """
    if depth > MAX_DEPTH:
        return
    if isinstance(value, LIST_OR_TUPLE):
        parts = list(value)
    elif isinstance(value, dict):
        parts = list(value.values())
    elif is_dataclass(value) and not isinstance(value, type):
        parts = []
        for part in fields(value):
            held = getattr(value, part.name, None)
            if not (part.metadata.get("static") or part.metadata.get("pytree_node") is False):
                parts.append(held)
            elif isinstance(held, (jax.Array, np.ndarray)) and is_inexact(held):
                yield type(value), part.name
    else:
        return
    for part in parts:
        yield from _iter_classes_and_names_of_static_arrays(part, depth + 1)
