"""Find the expressions in a program's text that create the layers of its models."""

from __future__ import annotations

import ast

from torch.nn import Module, Sequential

from ...engine.record.user_frames import is_minitape_or_library_file
from ...engine.types import OptionalExpression, TextSequence
from ...explain.reasons.program_text import (
    NO_STATEMENT,
    find_attribute_assignment_site,
    find_binding_statements,
    find_last_name_of_dotted_path,
    find_statement,
    list_call_sites,
)
from ...recording.recorded_rows import RecordedRow
from ...recording.sites import Site
from .parameter_history import ParameterHistory


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
    file, creation = _find_creation_expression(root, row.scope, row.site)
    if is_minitape_or_library_file(file):  # A larger layer of PyTorch created this one.
        outer_layers = [root.get_submodule(".".join(row.scope[1:depth])) for depth in range(len(row.scope), 1, -1)]
        calls = (list_call_sites(row.site[0], type(outer_layer).__name__) for outer_layer in outer_layers)
        return next((sites[0] for sites in calls if len(sites) == 1), row.site)
    if isinstance(creation, ast.Call) and find_last_name_of_dotted_path(creation.func) == type(layer).__name__:
        return file, creation.lineno
    return row.site


def _find_creation_expression(root: Module, path: TextSequence, use_site: Site) -> tuple[str, OptionalExpression]:
    """Return the file and the expression that create a module. The expression is None if the file does not show it.

    Args:
        root: The module that the program calls.
        path: The name of the root's variable, followed by the attributes that lead to the module.
        use_site: The line that calls the root.
    """
    *owner_path, name = path
    if not owner_path:
        bindings = find_binding_statements(name, find_statement(use_site))
        statement = bindings[-1] if bindings else NO_STATEMENT
        return statement.file, statement.value
    owner = root.get_submodule(".".join(owner_path[1:]))
    if type(owner) is not Sequential:
        statement = find_statement(find_attribute_assignment_site(owner, name))
        return statement.file, statement.value
    file, container = _find_creation_expression(root, owner_path, use_site)
    expressions = container.args if isinstance(container, ast.Call) else []
    return file, expressions[int(name)] if len(expressions) == len(owner) else None
