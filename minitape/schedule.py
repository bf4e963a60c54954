"""The order of a written sweep: which of its steps run together, block by block through the cache, and what is let go of.

A step on large arrays of one shape waits for others on arrays of this shape, of the forward rows as of the backward
shares. What does not depend on those that wait goes before them, everything else behind.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .primitives.blocks import UFUNCS

BIG = 4096  # elements from which on an array is dropped as soon as nothing reads it any more


class Step:
    """One value that is made: the lines that make it, and the names that they read (its own where they add to it).

    ``share`` is the same in blocks, for steps on ``arrays`` of one shape and dtype (``meta``) and single numbers: there
    an array ``v3`` is called ``bv3``.
    """

    __slots__ = ("makes", "reads", "lines", "share", "arrays", "meta", "adds")

    def __init__(self, makes: str, reads: Iterable[str], lines: list[str], share: str = "", arrays: Sequence[str] = (),
                 meta: Any = None, adds: bool = False) -> None:  # fmt: skip
        self.makes, self.lines, self.share, self.arrays, self.meta, self.adds = makes, lines, share, arrays, meta, adds
        self.reads = {*reads, makes} if adds else {*reads}


class _Part:
    """Lines of the program, with the names that occur in them."""

    def __init__(self, lines: list[str], names: set[str]) -> None:
        self.lines, self.names = lines, names


def schedule(steps: list[Step], wanted: set[str], sizes: dict[str, int]) -> list[str]:
    """The lines of steps that lead to the ``wanted`` names; ``sizes`` are the elements of what they make."""
    return _dropped(_Order(steps, wanted).parts(), wanted, sizes)


def useful(steps: Sequence[Step], wanted: set[str]) -> list[Step]:
    """Those steps that lead to the ``wanted`` names."""
    read, found = set(wanted), []
    for step in reversed(steps):
        if step.makes in read:
            read |= step.reads
            found.append(step)
    return found[::-1]


def _dropped(parts: list[_Part], wanted: set[str], sizes: dict[str, int]) -> list[str]:
    """The lines of all parts; a large array is let go of behind the last one that reads it."""
    seen, lines = set(wanted), []
    for part in reversed(parts):
        last = sorted(n for n in part.names - seen if sizes.get(n, 0) >= BIG)
        seen |= part.names
        lines += [" = ".join([*last, "None"])] if last else []
        lines += reversed(part.lines)
    return lines[::-1]


class _Order:
    def __init__(self, steps: list[Step], wanted: set[str]) -> None:
        self.steps, self.wanted = steps, wanted
        self.found: list[_Part] = []
        self.run: list[Step] = []  # steps in blocks that wait for more of them
        self.behind: list[Step] = []  # others that depend on them
        self.made: set[str] = set()  # by all that wait
        self.late: set[str] = set()  # ... by those behind

    def parts(self) -> list[_Part]:
        for step in self.steps:
            names = {*step.reads, step.makes}
            if step.share:
                if self.run and (self.run[0].meta != step.meta or names & self.late):
                    self._flush()
                self.run.append(step)
                self.made.add(step.makes)
            elif names & self.made:
                self.behind.append(step)
                self.made.add(step.makes)
                self.late.add(step.makes)
            else:
                self.found.append(_part(step))
        self._flush()
        return self.found

    def _flush(self) -> None:
        run, behind = self.run, self.behind
        self.run, self.behind, self.made, self.late = [], [], set(), set()
        if sum(not step.share.isidentifier() for step in run) < 2:
            self.found += map(_part, run)
        else:
            elsewhere = self.wanted.union(*[step.reads for step in self.steps if step not in run])
            self.found.append(_blocks(run, elsewhere))
        self.found += map(_part, behind)


def _part(step: Step) -> _Part:
    return _Part(step.lines, {*step.reads, step.makes})


def _blocks(run: list[Step], elsewhere: set[str]) -> _Part:
    """The loop over blocks; of the arrays it makes only those that are read ``elsewhere`` are made whole."""
    shape, dtype = run[0].meta
    made: dict[str, int] = {}  # name -> the last step that adds to it
    given: dict[str, None] = {}
    last: dict[str, int] = {}  # name -> the last step that reads or makes it
    for number, step in enumerate(run):
        for name in (*step.arrays, *([step.makes] if step.adds else ())):
            last[name] = number
            if name not in made:
                given[name] = None
        made[step.makes] = last[step.makes] = number
    whole = [name for name in made if name in elsewhere]
    lines = [f"f{name} = flat({name})" for name in given]
    lines += [f"{name} = buffer({shape!r}, {dtype.str!r}); w{name} = {name}.reshape(-1)" for name in whole]
    lines.append(f"for at in slices({math.prod(shape)}):")
    lines += [f"    b{name} = f{name}[at] if type(f{name}) is A else f{name}" for name in given]
    owners = _Owners(last)
    for number, step in enumerate(run):
        share = f"b{step.makes} + ({step.share})" if step.adds else step.share
        lines += [f"    {line}" for line in owners.lines(number, f"b{step.makes}", share)]
        if step.makes in whole and made[step.makes] == number:
            lines.append(f"    w{step.makes}[at] = b{step.makes}")
        ended = [f"b{name}" for name, at in last.items() if at == number]
        if ended:
            lines.append(f"    {' = '.join([*ended, 'None'])}")
    names = [*(f"f{name}" for name in given), *(f"w{name}" for name in whole)]
    lines.append(" = ".join([*names, "None"]))
    return _Part(lines, {*made, *(name for step in run for name in step.reads)})


class _Owners:
    """Which names of a block refer to an array that was made in it: the last one may be written over.

    ``last`` says at which step of the block a name is read or made for the last time.
    """

    def __init__(self, last: dict[str, int]) -> None:
        self.last = {f"b{name}": number for name, number in last.items()}
        self.array_of: dict[str, int] = {}  # name -> the step that made the array; others' arrays and views have none

    def lines(self, number: int, name: str, share: str) -> list[str]:
        """The lines that make ``name``, in the memory of an operand that nobody reads after this step where there is one."""
        tree: Any = ast.parse(share, mode="eval").body
        if isinstance(tree, ast.Name):  # handed on
            self._refers(name, self.array_of.get(tree.id))
        elif isinstance(tree, ast.BinOp) and type(tree.op) in _IN_PLACE and self._is_free(tree.left, number, name):
            operand, rest = tree.left.id, ast.unparse(tree.right)
            self._refers(name, self.array_of[operand])
            change = f"{operand} {_IN_PLACE[type(tree.op)]}= {rest}"
            return [change] if operand == name else [change, f"{name} = {operand}"]
        else:
            fresh = isinstance(tree, (ast.BinOp, ast.UnaryOp)) or (isinstance(tree, ast.Call) and _makes_array(tree))
            self._refers(name, number if fresh else None)
        return [f"{name} = {share}"]

    def _refers(self, name: str, array: int | None) -> None:
        self.array_of.pop(name, None)
        if array is not None:
            self.array_of[name] = array

    def _is_free(self, operand: ast.expr, number: int, name: str) -> bool:
        """Whether an operand is an array of this block that no name refers to after the step, but the one it makes."""
        array = self.array_of.get(operand.id) if isinstance(operand, ast.Name) else None
        others = (n for n, a in self.array_of.items() if a == array and n != name)
        return array is not None and all(self.last[n] <= number for n in others)


_IN_PLACE = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def _makes_array(call: ast.Call) -> bool:
    """Whether a function of a formula gives an array of its own, which may be written over."""
    name = call.func.id.removeprefix("a_")
    return name in UFUNCS and name != "pow"


def flat(array: Any) -> Any:
    """An array as one row of numbers; a number that was broadcast as the number itself."""
    if type(array) is not np.ndarray or not any(array.strides):
        return np.asarray(array)[(0,) * np.ndim(array)]
    return array.reshape(-1)
