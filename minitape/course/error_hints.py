"""Errors in a learner's function that say more than a wrong result: a name that does not exist, a tape that is used
up.
"""

from __future__ import annotations

import difflib
import linecache
from types import TracebackType
from typing import TYPE_CHECKING

from ..engine.texts import say

if TYPE_CHECKING:
    from ..engine.types import Function

NONE = (
    "Something is None here, and one cannot compute with None. Did a gradient find no path, or does a function "
    "give nothing back?"
)


def slip_in(error: BaseException, function: Function) -> str:
    """What to say of a misspelled name in the learner's own code; "" for every other error.

    >>> def half(x):
    ...     return x / too
    >>> try:
    ...     half(2.0)
    ... except NameError as error:
    ...     print(slip_in(error, half))
    Python does not know the name 'too'. Is it misspelled, or is it made in a cell that has not run?
    """
    unbound = isinstance(error, UnboundLocalError)  # has no name before Python 3.12
    name = str(error).split("'")[1] if unbound and "'" in str(error) else getattr(error, "name", None)
    if not isinstance(name, str) or not name:
        return ""
    if unbound:
        return say("The name {name} is used before it gets a value.", name=repr(name))
    if isinstance(error, NameError):
        near = _nearest(name, _names_near(error.__traceback__, function))
        known = say("Python does not know the name {name}.", name=repr(name))
        return f"{known} {near or say('Is it misspelled, or is it made in a cell that has not run?')}"
    if isinstance(error, AttributeError) and error.obj is not None:
        near = _nearest(name, dir(error.obj))
        return f"{say('There is no {name} here.', name=repr('.' + name))} {near}" if near else ""
    return ""


def told_of(error: BaseException) -> str:
    """What to say of an error that many a first program with a tape raises; "" for every other one.

    >>> told_of(TypeError("unsupported operand type(s) for *: 'float' and 'NoneType'"))
    'Something is None here, and one cannot compute with None. Did a gradient find no path, or does a function give
    nothing back?'
    """
    said = str(error)
    if "non-persistent GradientTape" in said:
        return say(
            "This tape was asked a second time, and it answers once. Which of your questions needs a tape of its own?"
        )
    if isinstance(error, TypeError) and "received None" in said:
        return say(
            "The target of a gradient was None. Did a gradient before it find no path, or does a function give "
            "nothing back?"
        )
    if isinstance(error, TypeError) and "NoneType" in said:
        return say(NONE)
    if "'_tape'" in said:
        return say("A tape was asked to watch while it was off. Is it the tape of this block?")
    if isinstance(error, AttributeError) and getattr(error, "name", "").startswith("assign"):
        return say(
            "Only a variable can be assigned to. Of a tensor compute a new one, and give it the name: x = x - ..."
        )
    if "this function takes tensors" in said:
        return say("The function got a plain number. Hand it the tensor or the variable that the tape watches.")
    if isinstance(error, TypeError) and "positional argument" in said:
        return say("The function is called with other values than it takes. Leave its first line as it was.")
    if isinstance(error, TypeError) and "'type' object" in said and "context manager" in said:
        return say("A tape must be made first: brackets are missing, as in tf.GradientTape().")
    return ""


def _nearest(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, [other for other in names if other != name], n=1, cutoff=0.7)
    return say("Did you mean {near}?", near=repr(near[0])) if near else ""


def _names_near(traceback: TracebackType | None, function: Function) -> list[str]:
    """The names that were known where the error was raised: those of the function, and those of its notebook."""
    names = [*getattr(function, "__globals__", {})]
    while traceback is not None:
        names += traceback.tb_frame.f_locals
        traceback = traceback.tb_next
    return names


def line_of(error: BaseException, function: Function) -> str:
    """The line of the learner's function that was running when the error was raised; "" where it is out of reach."""
    file, found, traceback = getattr(getattr(function, "__code__", None), "co_filename", None), "", error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            found = linecache.getline(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno).strip()
        traceback = traceback.tb_next
    return found
