"""Save and restore the objects that a function may change, so that a second run has no lasting effect."""

import inspect
import random
import sys
from collections import deque
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from ..engine.record.user_frames import is_minitape_or_library_file
from ..engine.types import Action, FactsById
from .outside_values import iter_function_and_callees, read_outside_values


def save_state_and_build_restorer(function: Any, *args: Any) -> Action:
    """Save the objects that a function may change, and return a function that restores them.

    The attributes of the program's objects are saved, together with all lists, dictionaries and deques that the
    function receives as arguments or reads from globals and closures. The states of NumPy's and Python's random
    generators are saved as well.

    >>> def loss(w, seen):
    ...     seen.append(w)
    ...     return w
    >>> seen = []
    >>> restore_state = save_state_and_build_restorer(loss, seen)
    >>> loss(2.0, seen), seen
    (2.0, [2.0])
    >>> restore_state()
    >>> seen
    []
    """
    saved_contents: FactsById = {}
    # A library may wrap the function in an object that has mutable state, as ``flax.nnx.grad`` does.
    pending = [function, *getattr(function, "__dict__", {}).values(), *args]
    pending += [
        value
        for inner_function in iter_function_and_callees(function)
        for value in read_outside_values(inner_function).values()
    ]
    restorers = [partial(np.random.set_state, np.random.get_state()), partial(random.setstate, random.getstate())]
    while pending:
        current = pending.pop()
        if isinstance(current, np.random.Generator):
            restorers.append(partial(setattr, current.bit_generator, "state", current.bit_generator.state))
        current = current.__self__ if inspect.ismethod(current) else current
        module = sys.modules.get(type(current).__module__)
        if not is_minitape_or_library_file(getattr(module, "__file__", None) or __file__) and hasattr(
            current, "__dict__"
        ):
            current = vars(current)
        if type(current) in (dict, list, deque) and id(current) not in saved_contents:
            saved_contents[id(current)] = current, copy(current)
            pending += current.values() if isinstance(current, dict) else current

    def restore_state() -> None:
        for restore in restorers:
            restore()
        for container, contents in saved_contents.values():
            container.clear()
            if isinstance(container, dict):
                container.update(contents)
            else:
                container.extend(contents)

    return restore_state
