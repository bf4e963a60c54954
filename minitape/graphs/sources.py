"""From a function to its rewritten form: finds the source, rewrites it, compiles it with the same closure."""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import types
from collections.abc import Callable
from typing import Any

from ..engine.recording.frames import lines_of, without_syntax_warnings
from ..engine.recording.logs import log_first_n
from .rewrite import AG, Rewriter, rewritten_expression
from .syntax import CanNotConvert, RareStatement

FUNCTION = "_minitape_function"


_codes: dict[tuple[types.CodeType, str], types.CodeType | None] = {}  # (code, file) -> what it was rewritten to


def convert_function(function: types.FunctionType, runtime: Any) -> Callable:
    """The rewritten function, with the globals, defaults and closure of the original; CanNotConvert when there is
    none."""
    code = function.__code__
    key = code, code.co_filename  # of two files that read the same, the codes are equal
    if key not in _codes:
        _codes[key] = None
        try:
            _codes[key] = _rewritten_code(function)
        except RareStatement as error:
            place, cause = repr(function), f"{error} of {code.co_filename}"
            log_first_n(place, f"AutoGraph could not transform {place} and will run it as-is.\nCause: {cause}")
        except (TypeError, SyntaxError, CanNotConvert):
            pass
    made = _codes[key]
    if made is None:
        raise CanNotConvert(function.__name__)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[AG] = types.CellType(runtime)
    closure = tuple(cells[name] for name in made.co_freevars)
    new = types.FunctionType(made, function.__globals__, function.__name__, function.__defaults__, closure)
    new.__kwdefaults__ = function.__kwdefaults__
    new.__qualname__, new.__doc__, new.__module__ = function.__qualname__, function.__doc__, function.__module__
    new.__dict__.update(function.__dict__)
    new.__dict__.pop("__wrapped__", None)
    return new


def _rewritten_code(function: types.FunctionType) -> types.CodeType:
    code = function.__code__
    node = rewritten_definition(function)
    if isinstance(node, ast.Lambda):
        inner: ast.stmt = ast.Return(node)
    else:
        node.type_params = []  # of ``def f[T](x)``: what a body reads of them comes in with the closure
        node.name = FUNCTION  # its own name must stay the global that it is
        inner = node
    names = [n for n in (*code.co_freevars, AG) if n != "__class__"]
    factory: Any = ast.parse(f"def _factory({', '.join(names)}): pass").body[0]
    own_class = ast.parse("__class__ = None").body if "__class__" in code.co_freevars else []
    factory.body = [*own_class, inner]
    module = ast.fix_missing_locations(ast.Module([factory], []))
    flags = code.co_flags & __future__.annotations.compiler_flag
    with without_syntax_warnings():
        whole = compile(module, code.co_filename, "exec", dont_inherit=True, flags=flags)
    found = _code_inside(whole, "_factory")
    found = _code_inside(found, code.co_name if code.co_name == "<lambda>" else FUNCTION)
    return found.replace(co_name=code.co_name, co_qualname=code.co_qualname)


def _code_inside(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def rewritten_definition(function: types.FunctionType) -> Any:
    """The node of a function or lambda, rewritten; CanNotConvert where its source is not known."""
    node = _definition(function.__code__)
    if isinstance(node, ast.Lambda):
        node.body = rewritten_expression(node.body)
        return node
    node.decorator_list = []
    return Rewriter().function(node)


def _definition(code: types.CodeType) -> Any:
    """A copy of the node that was compiled to this code."""
    is_lambda = code.co_name == "<lambda>"
    found = []
    for node in ast.walk(_tree("".join(lines_of(code.co_filename)))):
        if is_lambda and isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            found.append(node)
        elif isinstance(node, ast.FunctionDef) and (node.name, _first_line(node)) == (
            code.co_name,
            code.co_firstlineno,
        ):
            return copy.deepcopy(node)
    if not found:
        raise CanNotConvert(code.co_name)
    return copy.deepcopy(found[0])


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


@functools.lru_cache(16)
def _tree(text: str) -> ast.Module:
    """The tree of a file's text; a notebook's cell may ``await`` outside of functions."""
    with without_syntax_warnings():
        return compile(text, "<source>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)




