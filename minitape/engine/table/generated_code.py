"""Compile the code that minitape generates as text: formulas, operators, row programs and numba kernels.

All generated code is compiled in this module and nowhere else. minitape generates this code from its own tables. Text
from a user or from a file never reaches this module.

A debugger can step into the compiled functions, because ``linecache`` contains their source. ``pdb``, tracebacks and
``inspect.getsource`` read it from there.

>>> import inspect
>>> print(inspect.getsource(compile_expression("g * cos(x)", {}, "g, x")), end="")
lambda g, x: g * cos(x)
"""

import ast
import linecache
import weakref
from copy import deepcopy
from itertools import count
from types import CodeType

from ...common.source_lines import register_source_lines
from ...common.syntax import list_nodes
from ..types import Function, FunctionsByName, NameSet, Object, TextSequence

ARGUMENTS = "g, z, x, y=None"  # The arguments of a formula are the output's adjoint, the output and the inputs.

_take_label_number = count(1).__next__


def compile_expression(text: str, functions: FunctionsByName, arguments: str = ARGUMENTS) -> Function:
    """Compile an expression into a function.

    >>> compile_expression("twice(x) + y", {"twice": lambda v: 2 * v}, "x, y")(3, 1)
    7

    Args:
        text: The expression, such as "g * cos(x)".
        functions: The functions and other objects that the expression uses, keyed by name.
        arguments: The parameters of the function, in Python syntax.

    Returns:
        A function with these parameters that returns the value of the expression.
    """
    source = f"lambda {arguments}: {text}"
    function: Function = eval(compile(source, _build_unique_label(f"<formula {text}>"), "eval"), dict(functions))
    _register_source(function.__code__, f"{source}\n")
    return function


def execute_definitions(text: str, file_label: str, namespace: dict[str, Object]) -> dict[str, Object]:
    r"""Run statements that define functions or other names.

    >>> execute_definitions("def f(x):\n    return x + one\n", "<formula f>", {"one": 1})["f"](2)
    3

    Args:
        text: The statements.
        file_label: The file name of the code in tracebacks. A number is added to a label such as "<formula f>", so that
            each text has its own file name.
        namespace: The names that the statements use. The names that they define are added to it.

    Returns:
        `namespace` itself.
    """
    label = _build_unique_label(file_label) if file_label.startswith("<formula ") else file_label
    code = compile(text, label, "exec")
    if label.startswith("<"):  # Python itself reads the lines of a real file.
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                _register_source(constant, text)
                break
    exec(code, namespace)
    return namespace


def _build_unique_label(label: str) -> str:
    """Add a number to a label: "<formula step>" becomes "<formula step, minitape 12>".

    The beginning does not change, because :mod:`minitape.engine.record.user_frames` recognizes minitape's own code by
    this beginning.
    """
    return f"{label[:-1]}, minitape {_take_label_number()}>"


def _register_source(code: CodeType, text: str) -> None:
    """Store the source of a compiled function in ``linecache`` for as long as the function's code exists."""
    label = code.co_filename
    register_source_lines(label, text)
    # Every traced function compiles programs, so permanent entries would be a memory leak.
    weakref.finalize(code, linecache.cache.pop, label, None).atexit = False


def parse_expression(text: str) -> ast.expr:
    """Parse an expression into its syntax tree.

    Args:
        text: The expression.

    Returns:
        The root node of the expression.

    Raises:
        SyntaxError: If the text is not an expression.
    """
    return ast.parse(text, mode="eval").body


def find_names_in_expression(text: str) -> NameSet:
    """Find the names of variables and functions in an expression.

    >>> sorted(find_names_in_expression("g * cos(x)"))
    ['cos', 'g', 'x']

    Args:
        text: The expression.

    Returns:
        The set of names.
    """
    return {node.id for node in list_nodes(parse_expression(text), ast.Name)}


class Substitution(ast.NodeTransformer):
    """A syntax tree transformer that replaces variables with expressions.

    Attributes:
        replacements: A dict that maps each variable's name to the tree that replaces it.
    """

    def __init__(self, replacements: dict[str, ast.expr]):
        """Store the replacements.

        Args:
            replacements: For each name, the tree that replaces it.
        """
        self.replacements = replacements

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Return a copy of the replacement of a name, or of the name itself if it has no replacement."""
        return deepcopy(self.replacements.get(node.id, node))


OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
}


class _OperatorCalls(ast.NodeTransformer):
    """A syntax tree transformer that replaces operators with function calls."""

    def _build_call(self, name: str, *operands: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(name), [*map(self.visit, operands)], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return self._build_call(ast.unparse(node.func), *node.args)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if type(node.op) not in OPERATORS:
            raise ValueError(
                f"{ast.unparse(node)}: a formula may use + - * / and functions, such as pow(x, y) for x ** y"
            )
        name = OPERATORS[type(node.op)]
        x = node.left
        y = node.right
        if not list_nodes(x, ast.Name):
            return self._build_call(f"reflected_{name}", y, x)
        return self._build_call(name if list_nodes(y, ast.Name) else f"{name}_number", x, y)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return self._build_call("negative", node.operand) if list_nodes(node, ast.Name) else node


def replace_operators_with_calls(text: str) -> str:
    """Replace the operators in a formula with function calls.

    The name of the called function depends on where a number occurs. ``z / 2`` becomes ``divide_number(z, 2)``. ``1 -
    x`` becomes ``reflected_subtract(x, 1)``, because the number is always the last argument.

    >>> replace_operators_with_calls("g * (1 - x * cos(z / 2))")
    'multiply(g, reflected_subtract(multiply(x, cos(divide_number(z, 2))), 1))'

    Args:
        text: The formula, which may contain ``+ - * /``, unary minus and function calls.

    Returns:
        The text of the new formula.

    Raises:
        ValueError: If the formula contains another operator, such as ``**``.
    """
    return ast.unparse(_OperatorCalls().visit(parse_expression(text)))


def replace_operands(text: str, operands: TextSequence) -> str:
    """Replace ``x`` and ``y`` in a formula with other expressions.

    >>> replace_operands("x * cos(y)", ["a[i]", "2.0"])
    'a[i] * cos(2.0)'

    Args:
        text: The formula.
        operands: The expression for ``x``, and the expression for ``y`` if there are two operands.

    Returns:
        The text of the new formula.
    """
    trees = map(parse_expression, operands)
    return ast.unparse(Substitution(dict(zip("xy", trees, strict=False))).visit(parse_expression(text)))
