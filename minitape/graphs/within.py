"""What a picture sees of a call that it looks into (``state.within``): each row at its own statement and in the scopes
of its graph, the turns of a loop by number, branches by name. Other replays take no notice of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..engine.recording.block import During
from ..engine.recording.state import state

_STRUCTURE = re.compile(r"(while|cond|switch_case|case)(_\d+)?").fullmatch  # scopes of the graph that turns and branches stand for
_UNSEEN = nullcontext()  # around what runs where nobody looks


def turn(step: Callable[..., Any], number: int, *given: Any) -> Any:
    """A turn of a loop, counted from 1: its rows are in a scope of that name."""
    if not state.within:
        return step(*given)
    with During(state, scope=(*state.scope, f"turn {number}")):
        return step(*given)


def branch(taken: Any, bodies: Sequence[Any], decides: Any) -> AbstractContextManager[Any]:
    """The rows in the block are in a scope named after the branch: of a condition ``then`` or ``else``, else its number."""
    if not state.within:
        return _UNSEEN
    number = bodies.index(taken)
    name = ("then", "else")[number] if decides.dtype.kind == "b" else f"branch {number}"
    return During(state, scope=(*state.scope, name))


def statement(graph: Any, row: int) -> AbstractContextManager[Any]:
    """What runs in the block belongs to the statement of a graph's row, and to the scopes in which it was traced."""
    if not state.within:
        return _UNSEEN
    op = graph.op_of.get(row)
    scoped = op is not None and op.type != "ReadVariableOp"  # a read has the name of its variable, which is not where it stands
    own = [part for part in op.name.split("/")[:-1] if not _STRUCTURE(part)] if scoped else []
    scope = {"scope": (*state.scope, *own)} if own else {}
    return During(state, site=graph.site(row) or state.site, **scope)
