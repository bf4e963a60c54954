"""What a figure folds: name scopes and layers, patterns of operations that repeat, and what is between the ends of a
long recording; widgets/frontend/src/fold.ts does it for the live picture.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from .words import word

if TYPE_CHECKING:
    from .fields import Fields

LEVELS = ("none", "layers", "all")  # what is folded: nothing, each scope, and also what repeats
LONGEST, TIMES = 64, 3  # rows of a pattern; how often it comes
HOISTED = 3  # variables of a folded part that are drawn beside it


class Part(NamedTuple):
    """Rows that are one node: ``first`` to ``end`` - 1, by their places in the list. ``turns`` are the places at which
    the turns of a loop begin.
    """

    first: int
    end: int
    title: str = ""  # none of a row that is a node by itself
    turns: tuple[int, ...] = ()
    sign: Hashable = None


def parts_of(rows: Sequence[Fields], most: int, jump: int | None = None) -> list[Part]:
    """The nodes of these rows in order, at most ``most`` and what stands for those between: each row, a node for each
    scope, or also one for each pattern that repeats, the first of these with few enough nodes. ``jump`` is the place
    before which rows are missing.

    >>> rows = [{"row": k, "op": op, "label": op, "kind": "operation", "inputs": [k - 1], "line": 1, "scope": []}
    ...         for k, op in enumerate(["neg", *["sin", "multiply"] * 4, "sum"])]
    >>> [(part.first, part.end, part.title) for part in parts_of(rows, 5)]
    [(0, 1, ''), (1, 9, 'loop × 4'), (9, 10, '')]
    """
    for level in LEVELS:
        parts = _at_level(rows, level, jump or 0)
        if len(parts) <= most:
            break
    if len(parts) <= most and jump is None:
        return parts
    head = [part for part in parts if jump is None or part.end <= jump][: most // 2]
    tail = [part for part in parts if jump is None or part.first >= jump][-(most // 2) :]
    first, end = head[-1].end, tail[0].first
    between = rows[end]["row"] - rows[first - 1]["row"] - 1
    return [*head, Part(first, end, word("{n} rows", n=between)), *tail]


def _at_level(rows: Sequence[Fields], level: str, jump: int) -> list[Part]:
    tokens = list(_tokens(rows, level != "none", jump))
    parts = list(_repeats(tokens)) if level == "all" else tokens
    found: list[Part] = []
    at = 0
    for part in [*parts, Part(len(rows), len(rows))]:
        found += [Part(k, k + 1) for k in range(at, part.first)]  # leaves, which are made before they are read
        if part.title:
            found += [Part(k, k + 1) for k in _hoisted(rows, part)]
        if part.end > part.first:
            found.append(part)
        at = max(at, part.end)
    return found


def _hoisted(rows: Sequence[Fields], part: Part) -> list[int]:
    """The leaves in a folded part that are drawn all the same: what others read, too, and variables, where few are."""
    leaves = [k for k in range(part.first, part.end) if rows[k]["kind"] != "operation"]
    numbers = {rows[k]["row"] for k in leaves}
    shared = {i for row in rows[part.end :] for i in row["inputs"] if i in numbers}
    weights = [k for k in leaves if rows[k]["kind"] != "constant"]
    return [k for k in leaves if rows[k]["row"] in shared or (k in weights and len(weights) <= HOISTED)]


def _tokens(rows: Sequence[Fields], scopes: bool, jump: int) -> Iterator[Part]:
    """Operations one by one, or those in a row that share a scope as one; those before and behind a jump apart."""
    places = [k for k, row in enumerate(rows) if row["kind"] == "operation"]
    for (before, *scope), group in groupby(places, key=lambda k: (k < jump, *(rows[k]["scope"] if scopes else ()))):
        inside = list(group)
        signs = [(before, rows[k]["op"], rows[k]["label"], rows[k]["line"]) for k in inside]
        if not scope or len(inside) == 1:
            yield from (Part(k, k + 1, sign=sign) for k, sign in zip(inside, signs, strict=True))
        else:
            yield Part(inside[0], inside[-1] + 1, scope[-1], sign=tuple(signs))


def _repeats(tokens: list[Part]) -> Iterator[Part]:
    at = 0
    while at < len(tokens):
        period, length = _run(tokens, at)
        run = tokens[at : at + length]
        if length > 1:
            turns = tuple(part.first for part in run[::period])
            name = run[0].title.rstrip("_0123456789") if period == 1 else ""
            yield Part(run[0].first, run[-1].end, f"{name or word('loop')} × {len(turns):,}", turns)
        else:
            yield run[0]
        at += length


def _run(tokens: list[Part], at: int) -> tuple[int, int]:
    """The shortest pattern that repeats from here, and how many tokens have it; a token by itself else."""
    for period in range(1, min(LONGEST, (len(tokens) - at) // TIMES) + 1):
        end = at
        while end + period < len(tokens) and tokens[end].sign == tokens[end + period].sign:
            end += 1
        length = end - at + period
        if length >= TIMES * period:
            return period, length - length % period
    return 1, 1
