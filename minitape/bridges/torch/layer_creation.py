"""Find the expressions in a program's text that create the layers of its models."""

from __future__ import annotations

import ast
from typing import NamedTuple

from torch.nn import Module, Sequential

from ...engine.types import TextSequence
from ...explain.reasons.program_text import (
    find_attribute_assignment_site,
    find_binding_statements,
    find_last_name_of_dotted_path,
    find_statement,
)
from ...recording.recorded_rows import RecordedRow
from ...recording.sites import Site
from .parameter_history import ParameterHistory


class LayerCreation(NamedTuple):
    """A call in the program's text that creates a layer, and the file that contains the call."""

    file: str
    call: ast.Call


def find_layer_creation_or_row_site(history: ParameterHistory, row: RecordedRow) -> Site:
    """Return the line that creates the layer of PyTorch in which a row was computed.

    Args:
        history: The history of the modules that the program called.
        row: The row.

    Returns:
        The line of a call such as ``nn.ReLU()``, or the row's own line if the operation is not in such a layer or the
        program's text does not show its creation.
    """
    module_ref = history.called_modules.get(row.scope[0]) if row.scope else None
    root = module_ref() if module_ref else None
    layer = None if root is None else dict(root.named_modules()).get(".".join(row.scope[1:]))
    if root is None or not type(layer).__module__.startswith("torch.nn."):
        return row.site
    creation = _find_creation(root, row.scope, row.site)
    creates_layer = find_last_name_of_dotted_path(creation.call.func) == type(layer).__name__ if creation else False
    return (creation.file, creation.call.lineno) if creation and creates_layer else row.site


def _find_creation(root: Module, path: TextSequence, use_site: Site) -> LayerCreation | None:
    """Return the call that creates a module, or None if the program's text shows no such call.

    Args:
        root: The module that the program calls.
        path: The name of the root's variable, followed by the attributes that lead to the module.
        use_site: The line that calls the root.
    """
    *owner_path, name = path
    if not owner_path:
        bindings = find_binding_statements(name, find_statement(use_site))
        return _to_creation(bindings[-1].file, bindings[-1].value) if bindings else None
    owner = root.get_submodule(".".join(owner_path[1:]))
    if type(owner) is not Sequential:
        assignment = find_statement(find_attribute_assignment_site(owner, name))
        return _to_creation(assignment.file, assignment.value)
    owner_creation = _find_creation(root, owner_path, use_site)
    if owner_creation is None or len(owner_creation.call.args) != len(owner):
        return None
    return _to_creation(owner_creation.file, owner_creation.call.args[int(name)])


def _to_creation(file: str, expression: ast.expr | None) -> LayerCreation | None:
    """Return a ``LayerCreation`` if an expression is a call, or else None."""
    return LayerCreation(file, expression) if isinstance(expression, ast.Call) else None
