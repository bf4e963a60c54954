"""Control flow on symbolic tensors: what the rewritten functions call (:mod:`minitape.graphs.rewrite`).

Each function looks whether a symbolic tensor decides. If so it builds ``cond`` or ``while_loop`` from the statement's
parts, else it does what Python does.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..engine.recording.frames import own_file
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from ..engine.values.errors import OpError
from .body import BodyGraph, GraphBody
from .calls import call, rewritten  # noqa: F401 - rewritten functions find it here
from .control import branch_number, build_case
from .loops import for_stmt, while_stmt  # noqa: F401 - rewritten functions find them here
from .values import ChangedNames, Undefined, condition, copies, current, decides

if TYPE_CHECKING:
    from ..engine.types import Function, Structure, Value
    from .types import Test

# -- if --------------------------------------------------------------------------------------------


def if_stmt(
    test: Test,
    then: Function,
    orelse: Function,
    changed: ChangedNames,
) -> None:
    """``if``: on a symbolic tensor both branches are traced, and the names that they assign are joined."""
    test = current(test)
    if not decides(test):
        then() if test else orelse()
        return
    _Branches(test, then, orelse, changed).join()


class _Branches:
    """Two branches that were traced: what they return, what they leave in the names, and the operation made of them."""

    def __init__(self, test: Test, then: Function, orelse: Function, changed: ChangedNames) -> None:
        self.test = condition(test, "if statement")
        get, put = changed.get, changed.put
        self.changed, self.before = changed, get()
        self.results, self._graphs, self._after = [], [], []
        for branch in (then, orelse):
            graph = BodyGraph(state.graph)
            with graph.as_default(), graph.name_scope("cond"):
                put(copies(self.before))
                self.results.append(branch())
                self._after.append(get())
            self._graphs.append(graph)
        put(self.before)
        self._outs: list[list] = [[], []]

    def merged(self, name: str, first: Any, second: Any) -> Any:
        """What a name stands for after the statement; tensors become outputs of the branches."""
        value = _merge(name, first, second, self._outs)
        if isinstance(value, Undefined) and not name.isidentifier():  # an attribute or item outlives the function
            raise value.fail()
        return value

    def join(self, *returned: Any) -> tuple:
        """Adds the operation, and gives the names what they stand for after the statement; the values of what was
        merged of the results.
        """
        states = zip(self.changed.names, zip(*self._after, strict=True), strict=True)
        merged = [*returned, *(self.merged(n, *state) for n, state in states)]
        bodies = [GraphBody(graph, [], list(values)) for graph, values in zip(self._graphs, self._outs, strict=True)]
        found = build_case(branch_number(self.test), bodies, "cond")
        values = tuple(m.found_in(found) if isinstance(m, _Pending) else m for m in merged)
        self.changed.put(values[len(returned) :])
        return values[: len(returned)]


class _Pending:
    """A value that is among the results of the operation to come.

    ``places`` has for each tensor its number among the results, and None with the value where that is known.
    """

    def __init__(self, structure: Structure, places: list[tuple[int | None, Any]]) -> None:
        self._structure, self._places = structure, places

    def found_in(self, results: Sequence) -> Any:
        """The value, given the results."""
        leaves = [known if at is None else results[at] for at, known in self._places]
        return nest.pack_sequence_as(self._structure, list(leaves))


def _merge(name: str, first: Any, second: Any, outs: list[list]) -> Any:
    """What a name stands for after an ``if``; tensors are added to the outputs of the branches."""
    if first is second is not None:
        return first
    try:
        nest.assert_same_structure(first, second)
    except (TypeError, ValueError) as error:
        text = f"must have the same nested structure in the main and else branches:\n\n{error}"
    places: list[tuple[int | None, Any]] = []
    for a, b in zip(nest.flatten(first), nest.flatten(second), strict=True):
        place = _place(name, a, b, outs)
        if isinstance(place, Undefined):
            return place
        places.append(place)
    return _Pending(first, places)




def _place(name: str, a: Any, b: Any, outs: list[list]) -> tuple[int | None, Any] | Undefined:
    """Where the tensor is found that is ``a`` after one branch and ``b`` after the other, as ``_Pending`` wants it."""
    if a is b is not None and not isinstance(a, Tensor):
        return None, a
    one, other = convert_to_tensor(a).dtype, convert_to_tensor(b).dtype
    outs[0].append(a)
    outs[1].append(b)
    return len(outs[0]) - 1, None








# -- and, or, not ----------------------------------------------------------------------------------


def not_(value: Value) -> Any:
    """``not``."""
    value = current(value)
    if not decides(value):
        return not value
    if value.dtype.kind != "b":
        raise TypeError(
            f"Input 'x' of 'LogicalNot' Op has type {value.dtype.name} that does not match expected type of bool."
        )
    return TABLE["logical_not"](value)


def and_(*parts: Any) -> Any:
    """``and``."""
    return _junction(parts, True, lambda v: not v)




def _junction(parts: Sequence, is_and: bool, settles: Callable[[Any], bool]) -> Any:
    """The first part that settles it, else the last; on a tensor what follows runs only where it does not settle it."""
    value: Any = parts[0]()
    for at, part in enumerate(parts[1:], 1):
        value = current(value)
        if settles(value):
            return value
        value = part()
    return value




# -- the function itself ---------------------------------------------------------------------------


def convert_entry(function: Function) -> Callable:
    """The rewritten function, whose errors say where in the user's code; one that cannot be rewritten as it is."""
    inner = rewritten(function)
    if inner is function:
        return function

    @functools.wraps(function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        try:
            result = inner(*args, **kwargs)
            for leaf in nest.flatten(result):
                if isinstance(leaf, Undefined):
                    raise leaf.fail()
            return result
        except Exception as error:
            wrapped = _in_user_code(error)
            if wrapped is None:
                raise
            raise wrapped.with_traceback(error.__traceback__) from None

    return traced






class _KeyError(KeyError):
    """A KeyError whose text may have several lines."""



_KeyError.__name__ = _KeyError.__qualname__ = "KeyError"


def _in_user_code(error: Exception) -> Exception | None:
    """The same kind of error with the user's frames in its message, as TensorFlow words it."""
    if isinstance(error, OpError) or getattr(error, "_in_user_code", False):
        return None
    kind = type(error)
    lines = ["in user code:", ""]
    for frame, name in _user_frames(error):
        lines += [f'    File "{frame.filename}", line {frame.lineno}, in {name}  *', f"        {frame.line}"]
    message = str(error).replace("\n", "\n    ")
    lines += ["", f"    {kind.__name__}: {message}", ""]
    own = kind.__module__.startswith(("minitape", "tensorflow"))
    made: Any = kind("\n".join(lines))
    made._in_user_code = True
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made


def _user_frames(error: Exception) -> list[tuple[Any, str]]:
    """The user's frames with the names of their functions; a body of a branch or loop stands for its function's."""
    found: list[tuple[Any, str]] = []
    for frame in getattr(error, "_frames", None) or traceback.extract_tb(error.__traceback__):
        if own_file(frame.filename):
            continue
        last = found[-1] if found else None
        if frame.name.startswith("_ag_"):
            if last is not None:
                found[-1] = frame, last[1]
        elif last is None or frame.name != "<lambda>" or frame.lineno != last[0].lineno:
            found.append((frame, frame.name))
    return found


