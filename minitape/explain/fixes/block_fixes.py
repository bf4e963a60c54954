"""Fix a program by removing a block, or by adding a ``watch`` call to it."""

import ast
from typing import Any

from ...common.syntax import list_nodes
from ..reasons.program_text import collect_own_names_and_attributes_of_nodes, find_statement, unparse
from ..translated_sentences import fill
from .edits import list_names_of_source
from .fault_site import FaultSite, Fix, Plan


def plan_removal_of_block_using(*names: str) -> Plan:
    """Return a plan that removes the block or decorator that keeps operations from being recorded.

    Args:
        *names: The plan applies to the innermost enclosing block or decorated function that uses one of these names.
    """

    def build_removal(fault: FaultSite) -> Fix | None:
        enclosing = fault.statement.find_enclosing_with_or_function_using(*names)
        if enclosing is None:
            return None
        decorators = [
            decorator
            for decorator in getattr(enclosing.node, "decorator_list", ())
            if collect_own_names_and_attributes_of_nodes(ast.walk(decorator)) & {*names}
        ]
        line = decorators[0].lineno if decorators else enclosing.line
        return Fix(line, "", fill("Remove line {line} (`{code}`).", line=line, code=fault.lines[line - 1].strip()))

    return build_removal


def add_watch_call_at_top_of_block(fault: FaultSite) -> Fix | None:
    """Add ``tape.watch(x)`` at the top of the tape's block.

    Args:
        fault: The fault site to fix.

    Returns:
        The fix, or None if the block is unknown, its tape has no name, or the block does not use the source. The result
        is also None if the block itself assigns or watches the source.
    """
    block = find_statement(fault.question.adapter.find_block_site())
    node: Any = block.node
    if not isinstance(node, ast.With) or block.file != fault.statement.file:
        return None
    tape_names = (item.optional_vars for item in node.items if item.optional_vars and "GradientTape" in unparse(item))
    tape = next(map(unparse, tape_names), "")
    names_in_block = {unparse(part) for part in list_nodes(node, ast.expr)}
    name = next((name for name in list_names_of_source(fault) if name in names_in_block), "")
    if not tape or not name or node.body[0].lineno == block.line:
        return None
    is_bound_inside = any(
        block in statement.enclosing and name in statement.bound_names for statement in fault.statements
    )
    line = node.body[0].lineno
    old_line = fault.lines[line - 1]
    watch_line = f"{' ' * node.body[0].col_offset}{tape}.watch({name})"
    return None if is_bound_inside or old_line == watch_line else Fix(line, f"{watch_line}\n{old_line}")
