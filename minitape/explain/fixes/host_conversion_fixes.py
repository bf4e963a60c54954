"""Use the framework's own functions in a line that converts a value to NumPy or Python."""

import ast
import builtins
from ast import AST
from types import ModuleType
from typing import Any

import numpy as np

from ...common.syntax import list_nodes, select_nodes
from ...engine.table.generated_code import parse_expression
from ...engine.tensor.tensor import wrap_array
from ...engine.types import NameSet, OptionalExpression
from ..reasons.program_text import (
    BINDABLE_NODES,
    copy_tree_with_replacements,
    find_last_name_of_dotted_path,
    find_last_name_or_text,
    unparse,
)
from .fault_site import (
    SIMPLE_STATEMENTS,
    TENSOR_BUILDERS,
    FaultSite,
    Fix,
    is_call_of,
    replace_node_in_line,
    spell_function_path_as_imported,
)
from .numeric_fixes import STEP_FUNCTIONS

CONVERSION_NAMES = ("numpy", "float", "int", "item", "tolist")
_TENSORFLOW_NAME_OF_METHOD = {"flatten": "reshape", "ravel": "reshape", "astype": "cast", "copy": "identity"}
_TENSORFLOW_NAME_OF_METHOD |= {f: f for f in ("transpose", "reshape", "squeeze")}
_TENSORFLOW_NAME_OF_METHOD |= {f: f"reduce_{f}" for f in ("mean", "sum", "max", "min")}
# The frameworks' versions of these NumPy functions block gradients.
FLAT_FUNCTIONS = (
    STEP_FUNCTIONS + "argmax argmin argsort nonzero searchsorted digitize around histogram bincount unique".split()
)
# These NumPy functions take different arguments in PyTorch and TensorFlow.
_DIFFERENT_FUNCTIONS = "vstack hstack concatenate tensordot inner outer normal uniform randn".split()
_BUILTINS_FOR_TENSORS = "abs sum pow max min print float range zip enumerate isinstance repr bool list".split()
_TENSOR_PACKAGES = ("minitape", "tensorflow", "keras", "torch", "jax", "functools")
_NUMPY_CONSTANTS = set("float16 float32 float64 int32 int64 pi inf newaxis e".split())
_NESTED_NODES = (ast.ListComp, ast.GeneratorExp, ast.List, ast.Dict, ast.Lambda, ast.JoinedStr)
_SAMPLE_TENSOR = wrap_array(np.ones(1, np.float32))


def strip_conversion(node: Any) -> ast.expr:
    """Return the tensor that is converted to NumPy or Python: ``h`` in ``float(h)`` or ``h.detach().numpy()``.

    Args:
        node: The expression, which is returned unchanged if it is not a conversion.
    """
    if not is_call_of(node, *CONVERSION_NAMES, "detach", "cpu") or node.keywords or unparse(node.func) == "int":
        return node
    is_method = isinstance(node.func, ast.Attribute)
    if bool(node.args) == is_method:
        return node
    return strip_conversion(node.func.value if isinstance(node.func, ast.Attribute) else node.args[0])


def _has_conversion(node: AST) -> bool:
    """Return whether an expression contains a conversion to NumPy or Python."""
    return any(strip_conversion(n) is not n for n in ast.walk(node))


def _find_root_package(fault: FaultSite, function: AST) -> str:
    """Return the package that defines a function such as ``np.mean``, or "" if the function is not in a module."""
    root = unparse(function).partition(".")[0] if isinstance(function, ast.Attribute) else ""
    value = fault.program_values_by_name.get(root) if root else None
    module_name = value.__name__ if isinstance(value, ModuleType) else ""
    return (fault.program.imported_modules.get(root) or module_name).partition(".")[0]


def _does_function_reject_tensors(fault: FaultSite, node: AST) -> bool:
    """Return whether a function or method does not accept tensors.

    Tensors are not accepted by most built-in functions, by other libraries, or by the program's own functions that use
    NumPy. TensorFlow's tensors also lack some of the methods that arrays have.
    """
    node = node.func if isinstance(node, ast.Call) else node
    functions = fault.program.definitions.get(find_last_name_of_dotted_path(node), [])
    if any(
        _find_root_package(fault, n) in ("numpy", "math", "scipy")
        for definition in functions
        for n in ast.walk(definition)
    ):
        return True
    if isinstance(node, ast.Name):
        return callable(getattr(builtins, node.id, None)) and node.id not in _BUILTINS_FOR_TENSORS
    if not isinstance(node, ast.Attribute) or node.attr in _NUMPY_CONSTANTS:
        return False
    if module := _find_root_package(fault, node):
        return module not in _TENSOR_PACKAGES
    return fault.dialect.name == "tf" and hasattr(np.ndarray, node.attr) and not hasattr(_SAMPLE_TENSOR, node.attr)


def convert_expression_to_framework(fault: FaultSite, node: AST) -> OptionalExpression:
    """Rewrite an expression so that its value stays in the framework.

    Args:
        fault: The fault site, which provides the dialect and the program.
        node: The expression.

    Returns:
        The new expression, or None if nothing leaves the framework, or if the expression cannot be rewritten.
    """
    if any(
        _convert_escaping_call(fault, n) is not None
        for part in list_nodes(node, *_NESTED_NODES)
        for n in ast.walk(part)
    ):
        # Other statements use the converted items, so rewriting this line would break those statements.
        return None
    converted = ast.fix_missing_locations(copy_tree_with_replacements(node, lambda n: _convert_escaping_call(fault, n)))
    makes_text = any(
        isinstance(n, (ast.JoinedStr, ast.Compare, ast.Mod)) or is_call_of(n, *FLAT_FUNCTIONS, "format", "predict")
        for n in ast.walk(converted)
    )
    is_foreign = any(_does_function_reject_tensors(fault, n) for n in list_nodes(converted, ast.Call, ast.Attribute))
    return None if makes_text or is_foreign or unparse(converted) == unparse(node) else converted


def _convert_escaping_call(fault: FaultSite, node: AST) -> AST | None:
    """Return the replacement for a conversion, a NumPy call, or a call that builds a new tensor.

    The result is None if the node needs no change.
    """

    def convert_part(part: Any) -> Any:
        return copy_tree_with_replacements(part, lambda n: _convert_escaping_call(fault, n))

    is_tensorflow = fault.dialect.name == "tf"
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    inner = strip_conversion(node)
    if inner is not node:
        return convert_part(inner)
    arguments = [convert_part(argument) for argument in node.args]
    keywords = [convert_part(keyword) for keyword in node.keywords]
    if is_call_of(node, "predict") and isinstance(function, ast.Attribute):
        return ast.Call(convert_part(function.value), arguments, [])
    if is_tensorflow and isinstance(function, ast.Attribute) and _has_conversion(function.value):
        name = _TENSORFLOW_NAME_OF_METHOD.get(function.attr)
        if not name:
            return None
        shape = [parse_expression("[-1]")] if function.attr in ("flatten", "ravel") else arguments
        return ast.Call(parse_expression(f"tf.{name}"), [convert_part(function.value), *shape], keywords)
    is_jax = fault.dialect.name == "jax"
    if is_call_of(node, *TENSOR_BUILDERS) and node.args and not is_jax:
        return _replace_tensor_builder_with_argument(fault, node, arguments, keywords)
    name = find_last_name_of_dotted_path(function)
    excluded_names = FLAT_FUNCTIONS if is_jax else FLAT_FUNCTIONS + _DIFFERENT_FUNCTIONS
    if name in excluded_names or _find_root_package(fault, function) not in ("numpy", "math"):
        return None
    equivalent = fault.dialect.find_equivalent_function(unparse(function).partition(".")[2])
    path = spell_function_path_as_imported(fault, equivalent) if equivalent else None
    if path is None:
        return None
    extra_arguments = [ast.Constant(1)] if is_tensorflow and name == "dot" else []
    return ast.Call(parse_expression(path), [*arguments, *extra_arguments], keywords)


def _replace_tensor_builder_with_argument(
    fault: FaultSite, node: ast.Call, arguments: list[Any], keywords: list[Any]
) -> AST | None:
    """Return the rewritten argument of a call that builds a new tensor, such as ``constant(h.numpy())``.

    In TensorFlow, the argument is wrapped in ``tf.convert_to_tensor`` if it may be a list or a variable. The result is
    None if the call needs no change.
    """
    argument = node.args[0]
    converted = arguments[0]
    is_changed = unparse(converted) != unparse(argument)
    if fault.dialect.name != "tf":
        return converted if is_changed and len(arguments) == 1 else None
    if not is_changed and node is not fault.call and _find_root_package(fault, node.func) != "numpy":
        return None
    needs_call = (
        isinstance(converted, (ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple))
        or keywords
        or arguments[1:]
    )
    return ast.Call(parse_expression("tf.convert_to_tensor"), arguments, keywords) if needs_call else converted


def find_convertible_call_and_new_text(fault: FaultSite) -> tuple[ast.expr, str] | None:
    """Return the outermost rewritable call in the statement to blame, and its new text.

    Args:
        fault: The fault site, which holds the statement to blame.

    Returns:
        The call and its new text, or None if no call can be rewritten or if an enclosing call accepts only arrays.
    """
    calls = select_nodes(fault.statement.nodes, ast.Call)
    for call in [n for n in calls if fault.call is None or fault.call in ast.walk(n)]:
        converted = convert_expression_to_framework(fault, call)
        if converted is not None or _does_function_reject_tensors(fault, call):
            return None if converted is None else (call, unparse(converted))
    return None


def convert_line_to_framework(fault: FaultSite) -> Fix | None:
    """Replace NumPy and Python functions with the framework's functions in the line to blame. This is a `Plan`.

    Args:
        fault: The fault site, which holds the line.

    Returns:
        The fix, or None if the line cannot be rewritten, or if a statement that uses its result may require an array.
    """
    statement = fault.statement
    names = {*map(find_last_name_or_text, statement.targets)}
    value: Any = statement.node.value if isinstance(statement.node, SIMPLE_STATEMENTS) else None
    converted = None if value is None else convert_expression_to_framework(fault, value)
    fills_list = statement.does_set_item_at_nonconstant_index or statement.find_call(
        "extend", "insert", "assign", "assign_add", "assign_sub"
    )
    appends = is_call_of(value, "append") and isinstance(value.func, ast.Attribute)
    is_dropped = isinstance(statement.node, ast.Expr) and not isinstance(value, ast.Yield) and not appends
    if converted is None or [unparse(converted)] == statement.bound_names or fills_list or is_dropped:
        return None
    if appends:
        names.add(find_last_name_or_text(value.func.value))
    # The name may refer to a variable or to a list of variables.
    is_reference = appends or isinstance(converted, BINDABLE_NODES)
    needs_array = any(
        _does_use_need_array(fault, n, names, is_reference)
        for reader in fault.find_other_readers_of_assigned_names(*names)
        for n in reader.nodes
    )
    return None if needs_array else replace_node_in_line(fault, value, unparse(converted))


def _does_use_need_array(fault: FaultSite, node: AST, names: NameSet, may_name_variable: bool) -> bool:
    """Return whether a node uses any of the names in a way that requires an array, or converts the value again."""
    if isinstance(node, ast.AugAssign):
        return may_name_variable and find_last_name_of_dotted_path(node.target) in names
    if isinstance(node, ast.Subscript):
        part: AST = node if isinstance(node.ctx, ast.Store) else node.slice
    elif isinstance(node, ast.Call):
        has_list = any(select_nodes(node.args, ast.List, ast.Tuple))
        rebuilds = is_call_of(node, *TENSOR_BUILDERS, "clamp", "clip") and (
            may_name_variable or has_list or fault.dialect.name != "tf"
        )
        if not rebuilds and strip_conversion(node) is node and not _does_function_reject_tensors(fault, node):
            return False
        part = node
    elif isinstance(node, ast.Attribute) and _does_function_reject_tensors(fault, node):
        part = node.value
    else:
        return False
    return not names.isdisjoint(map(find_last_name_or_text, list_nodes(part, ast.expr)))
