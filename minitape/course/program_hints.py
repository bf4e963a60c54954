"""Find mistakes in a program's text, such as an unused result, an unread name, or a tape outside its loop."""

import ast
import re
from collections.abc import Iterator

from ..common.syntax import list_nodes, select_nodes
from ..common.translation import say
from ..engine.types import NameSet, OptionalFlag, TextPair
from .line_difference import find_last_function

UNUSED_RESULTS = ast.BinOp, ast.Compare, ast.ListComp
VALUE_CALLS = r"tf\.(?!print)(math\.)?\w+\(|\w+\.gradient\("  # These calls only return a value.


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
        *([node.arg for node in select_nodes(nodes, ast.arg)] for nodes in (own_nodes, solution_nodes)),
        strict=False,
    ):
        if name not in read_names and solution_name in solution_names:
            return say("You never use {name}. What could it be for?", name=repr(name))
    own_text = re.sub(r"\w+\.gradient\([^)]*\)", "...", source)
    for match in re.finditer(r"\b(\w+)\.assign\((?!.*\b\1\b)(?:(\w+)\))?.*", own_text):
        # A name may stand for an old value that is put back. In some exercises, the solution has the same line.
        is_put_back = re.search(rf"\b{match[2]}\b.*= .*\b{match[1]}\b", own_text)
        if match[0] not in solution_source and not is_put_back:
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
    for node in list_nodes(ast.parse(source), ast.Expr):
        if isinstance(node.value, ast.Attribute):
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
    if _has_block_nested_with_loop(solution_source) and _has_block_nested_with_loop(source) is False:
        return say(
            "The loop that asks for the gradient opens no tape. If a tape records only once, before the loop, every "
            "step gets the gradient of the first step. A new tape in each step records where that step begins."
        )
    return ""


def _has_block_nested_with_loop(source: str) -> OptionalFlag:
    """Return whether a `with` block is in a loop or contains one, or None if no loop asks a tape for gradients."""
    tree = ast.parse(source)
    loops = list_nodes(tree, ast.For, ast.While)
    if not any(".gradient(" in ast.unparse(loop) for loop in loops):
        return None
    return any(list_nodes(loop, ast.With) for loop in loops) or any(
        list_nodes(block, ast.For, ast.While) for block in list_nodes(tree, ast.With)
    )


def _collect_read_names(nodes: list[ast.AST]) -> NameSet:
    """Collect the names that are read."""
    return {node.id for node in select_nodes(nodes, ast.Name) if isinstance(node.ctx, ast.Load)}


def iter_programs_with_other_results(source: str) -> Iterator[TextPair]:
    r"""Yield variants of a function that return one of its variables or a part of its result, each with its text.

    >>> for text, program in iter_programs_with_other_results("def f(x):\n    y = x * x\n    return y / (x + 1)"):
    ...     print(text, "|", program.partition("return ")[2])
    y | y
    y / (x + 1) | y / (x + 1)
    x + 1 | x + 1
    x | x
    (y / (x + 1))[0] | (y / (x + 1))[0]

    Args:
        source: The learner's function. If it does not end with a return, nothing is yielded.
    """
    function = find_last_function(source)
    last_line = function.body[-1] if function else None
    if not (function and isinstance(last_line, ast.Return) and last_line.value):
        return
    names = [
        node
        for node in ast.walk(function)
        if isinstance(node, (ast.Name, ast.Tuple)) and isinstance(node.ctx, ast.Store)
    ]
    parts = list_nodes(last_line.value, ast.Name, ast.Call, ast.BinOp)
    for text in dict.fromkeys(map(ast.unparse, [*names, *parts, ast.Subscript(last_line.value, ast.Constant(0))])):
        function.body[-1] = ast.parse(f"return {text}").body[0]
        yield text, ast.unparse(function)
