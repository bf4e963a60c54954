"""Public functions that are more than the operations that they are made of while a ``tf.function`` is traced.

This is the one place that says so; namespaces ask it when a name is first used.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from ..engine.recording.state import state

# what :mod:`.rows` does with them there -> the functions
_BY_NAME = {
    name: how
    for how, names in {
        "effect": "print",
        "draw": "normal uniform",
        "python_row": "py_function numpy_function py_func",
        "looks": "boolean_mask eye fill gather getitem length linspace one_hot ones pad range repeat reshape split "
        "substr tensor_scatter_nd_update tile to_dense top_k transpose unique unstack where zeros",
    }.items()
    for name in names.split()
}


def in_traces(name: str, found: Any) -> Any:
    """The object that a namespace offers under a name: in a traced function, a row where the name is in the table.

    >>> in_traces("cos", abs) is abs
    True
    """
    how = _BY_NAME.get(name)
    if how is None or not inspect.isfunction(found):
        return found

    @functools.wraps(found)
    def called(*args: Any, **kwargs: Any) -> Any:
        record = state.record
        if record is None or record.trace is None:
            return found(*args, **kwargs)
        from . import rows

        return getattr(rows, how)(found, *args, **kwargs)

    return called
