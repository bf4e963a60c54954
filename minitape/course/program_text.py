"""What the text of a wrong program does: a result that nothing keeps, a name that nothing reads,
and what its names held in the line that gave its result.
"""

from __future__ import annotations

import ast
import re
import sys
from types import FrameType

from ..common.texts import say
from .exercise import Case, Named, Program
from .shown import shown

LOST = ast.BinOp, ast.Compare, ast.ListComp
CALLED = r"tf\.(?!print)(math\.)?\w+\(|\w+\.gradient\("  # calls that give a value, and do nothing else


def of_text(source: str, solution: str) -> str:
    """The first thing that a program's text does, and that of the solution does not; "" where there is none.

    >>> of_text("def f(x): x + 1", "def f(x): return x")
    'The line x + 1 computes something that nothing keeps.'
    >>> of_text("def f(x, y): return x", "def f(a, b): return a * b")
    'y is handed in, and your program does not use it.'
    """
    mine, right = ([*ast.walk(ast.parse(text))] for text in (source, solution))
    read, there = _names(mine), _names(right)
    for node in mine:
        if isinstance(node, ast.Expr):
            line = ast.unparse(node)
            if isinstance(node.value, LOST) or re.match(CALLED, line):
                return say("The line {line} computes something that nothing keeps.", line=line)
        if isinstance(node, ast.Name) and node.id not in read | {"_"} and source.count(f"{node.id} = "):
            return say("{name} gets a value that no line reads.", name=node.id)
    for name, other in zip(
        *([node.arg for node in tree if isinstance(node, ast.arg)] for tree in (mine, right)), strict=False
    ):
        if name not in read and other in there:
            return say("{name} is handed in, and your program does not use it.", name=name)
    if found := re.search(r"\b(\w+)\.assign\((?!.*\b\1\b).*", re.sub(r"\w+\.gradient\([^)]*\)", "...", source)):
        return say("{line} puts a new value in the place of what {name} held.", line=found[0], name=found[1])
    return ""


def _names(nodes: list[ast.AST]) -> set[str]:
    """The names that are read."""
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def names_at_end(function: Program, case: Case) -> Named:
    """What the names of a function held when it gave its result."""
    held: Named = {}

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "return" and frame.f_code is getattr(function, "__code__", None):
            held.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        function(*case)
    finally:
        sys.setprofile(before)
    return held


def of_result(source: str, held: Named) -> str:
    """What the names held in the last line that gives a result; "" where that computes nothing.

    >>> of_result("def f(x):\\n    y = x + 1\\n    return 2 * y", {"x": 1, "y": 2})
    'In the line return 2 * y: y is 2.'
    """
    line = source.rstrip().rpartition("\n")[2].partition("#")[0].strip()
    named = [name for name in held if re.search(rf"return\b(?=.*[-+*/@(]).*\b{name}\b(?![(.])", line)]
    told = [say("{name} is {value}", name=name, value=shown(held[name])) for name in named[:3]]
    return say("In the line {line}: {names}.", line=line, names=say(", ").join(told)) if told else ""
