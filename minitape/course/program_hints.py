"""Find mistakes in a program's text, such as an unused result, an unread name, or a tape outside its loop."""

from __future__ import annotations

import ast
import re
import sys
from types import FrameType

from ..common.translation import say
from .exercise import Case, NamedValues, Program

UNUSED_RESULTS = ast.BinOp, ast.Compare, ast.ListComp
VALUE_CALLS = r"tf\.(?!print)(math\.)?\w+\(|\w+\.gradient\("  # calls that give a value, and do nothing else


def find_unused_value_hint(source: str, solution_source: str) -> str:
    """Find the first thing that a program's text does but the solution's text does not, or return "" if none exists.

    >>> find_unused_value_hint("def f(x): x + 1", "def f(x): return x")
    'The result of x + 1 is lost. Give the result a name or return it.'
    >>> find_unused_value_hint("def f(x, y): return x", "def f(a, b): return a * b")
    "You never use 'y'. What could it be for?"
    """
    own_nodes, solution_nodes = ([*ast.walk(ast.parse(text))] for text in (source, solution_source))
    read_names = _collect_read_names(own_nodes)
    solution_names = _collect_read_names(solution_nodes)
    for node in own_nodes:
        if isinstance(node, ast.Expr):
            line = ast.unparse(node)
            if isinstance(node.value, UNUSED_RESULTS) or re.match(VALUE_CALLS, line):
                return say("The result of {line} is lost. Give the result a name or return it.", line=line)
        if isinstance(node, ast.Name) and node.id not in read_names | {"_"} and source.count(f"{node.id} = "):
            return say("You compute {name} but never use it.", name=repr(node.id))
    for name, solution_name in zip(
        *([node.arg for node in nodes if isinstance(node, ast.arg)] for nodes in (own_nodes, solution_nodes)),
        strict=False,
    ):
        if name not in read_names and solution_name in solution_names:
            return say("You never use {name}. What could it be for?", name=repr(name))
    if match := re.search(r"\b(\w+)\.assign\((?!.*\b\1\b).*", re.sub(r"\w+\.gradient\([^)]*\)", "...", source)):
        return say("{line} replaces the old value of {name} with a new value.", line=match[0], name=match[1])
    return ""


def find_uncalled_method_hint(source: str) -> str:
    r"""Say that a line names a function but lacks the parentheses that call it.

    >>> find_uncalled_method_hint("def f(x):\n    tape.watch\n    return x")
    'The line tape.watch has no parentheses, so it does not call anything.'

    Args:
        source: The learner's program.

    Returns:
        The sentence, or "" if no such line exists.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute):
            return say("The line {line} has no parentheses, so it does not call anything.", line=ast.unparse(node))
    return ""


def find_tape_outside_loop_hint(source: str, solution_source: str) -> str:
    """Say that a tape records once but is used in a loop, although the solution records in each iteration.

    Args:
        source: The learner's program.
        solution_source: The solution.

    Returns:
        The sentence, or "" if the tape is in the loop or the solution has no tape there.
    """
    solution_records_in_loop = _has_tape_question_in_loop(solution_source, has_block=True)
    if solution_records_in_loop and _has_tape_question_in_loop(source, has_block=False):
        return say(
            "Your tape records only once, before the loop. Every step therefore gets the gradient of the first step, "
            "however many steps you have taken."
        )
    return ""


def _has_tape_question_in_loop(source: str, has_block: bool) -> bool:
    """Return whether a loop asks a tape for gradients, and contains the block of a tape or does not."""
    for loop in (node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.For, ast.While))):
        asks_tape = any(isinstance(node, ast.Attribute) and node.attr == "gradient" for node in ast.walk(loop))
        if asks_tape and any(isinstance(node, ast.With) for node in ast.walk(loop)) == has_block:
            return True
    return False


def _collect_read_names(nodes: list[ast.AST]) -> set[str]:
    """Collect the names that are read."""
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def run_and_capture_final_locals(function: Program, case: Case) -> NamedValues:
    """Call a function, and return the values that its names had when it returned."""
    final_locals: NamedValues = {}

    def on_profile_event(frame: FrameType, event: str, _: object) -> None:
        if event == "return" and frame.f_code is getattr(function, "__code__", None):
            final_locals.update(frame.f_locals)

    outer_profiler = sys.getprofile()
    sys.setprofile(on_profile_event)
    try:
        function(*case)
    finally:
        sys.setprofile(outer_profiler)
    return final_locals
