"""What a picture sees of a call that it looks into (``state.within``): each row at its own statement and in the scopes
of its graph, the turns of a loop by number, branches by name. Other replays take no notice of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..engine.block import During
from ..engine.state import state

_STRUCTURE = re.compile(r"(while|cond|switch_case|case)(_\d+)?").fullmatch  # scopes of the graph that ways stand for


@contextmanager
def _scope(path: tuple[str, ...]) -> Iterator[None]:
    before = state.scope
    if path == before:
        yield
        return
    state.scope = path
    try:
        yield
    finally:
        state.scope = before


def way(name: str) -> AbstractContextManager[None]:
    """The rows in the block belong to this turn or branch."""
    return _scope((*state.scope, name)) if state.within else nullcontext()


def turn(step: Callable[..., Any], number: int, *given: Any) -> Any:
    """A turn of a loop, counted from 1."""
    with way(f"turn {number}"):
        return step(*given)


def branch(number: int, count: int, decides: Any) -> str:
    """The name of a branch: of a condition ``then`` or ``else``, else its number."""
    if decides.dtype.kind == "b":
        return ("then", "else")[number]
    return f"branch {number if 0 <= number < count else count - 1}"


@contextmanager
def statement(graph: Any, row: int) -> Iterator[None]:
    """What runs in the block belongs to the statement of a graph's row, and to the scopes in which it was traced."""
    op = graph.op_of.get(row)
    scoped = op is not None and op.type != "ReadVariableOp"  # a read has the name of its variable, which is not where it stands
    own: Sequence[str] = [part for part in op.name.split("/")[:-1] if not _STRUCTURE(part)] if scoped else ()
    with During(state, site=graph.site(row) or state.site), _scope((*state.scope, *own)):
        yield
