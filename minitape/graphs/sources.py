"""From a function to its rewritten form: finds the source, rewrites it, compiles it with the same closure."""

from __future__ import annotations
import __future__

import ast
import inspect
import re
import types
from collections.abc import Callable
from typing import Any

from ..engine.frames import compiled_before, lines_of
from .rewrite import AG, Rewriter, rewritten_expression
from .syntax import CanNotConvert

FUNCTION = "_minitape_function"


_codes: dict[tuple[types.CodeType, str], types.CodeType | None] = {}  # (code, file) -> what it was rewritten to


def converted(function: types.FunctionType, runtime: Any) -> Callable[..., Any]:
    """The rewritten function, with the globals, defaults and closure of the original; CanNotConvert when there is
    none."""
    code = function.__code__
    key = code, code.co_filename  # of two files that read the same, the codes are equal
    if key not in _codes:
        try:
            _codes[key] = _rewritten_code(function)
        except (OSError, TypeError, SyntaxError, CanNotConvert):
            _codes[key] = None
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


@compiled_before()
def _rewritten_code(function: types.FunctionType) -> types.CodeType:
    code = function.__code__
    lines, first = source_lines(function)
    tree = parsed(lines)
    node = definition_of(tree, code)
    if isinstance(node, ast.Lambda):
        node.body = rewritten_expression(node.body)
        inner: ast.stmt = ast.Return(node)
    else:
        node.decorator_list = []
        node.type_params = []  # of ``def f[T](x)``: what a body reads of them comes in with the closure
        inner = Rewriter().function(node)
        node.name = FUNCTION  # its own name must stay the global that it is
    names = [n for n in (*code.co_freevars, AG) if n != "__class__"]
    text = f"def _factory({', '.join(names)}): pass"
    factory = ast.parse(text).body[0]
    if "__class__" in code.co_freevars:
        factory.body = ast.parse("__class__ = None").body
    else:
        factory.body = []
    factory.body.append(inner)
    module = ast.Module([factory], [])
    ast.fix_missing_locations(module)
    ast.increment_lineno(module, max(first, 1) - 1)
    whole = compile(module, code.co_filename, "exec", dont_inherit=True, flags=_future_flags(code))
    found = _find_code(whole, code.co_name if code.co_name == "<lambda>" else FUNCTION)
    if found is None:
        raise CanNotConvert(code.co_name)
    return found.replace(co_name=code.co_name, co_qualname=code.co_qualname)


def source_lines(function: types.FunctionType) -> tuple[list[str], int]:
    """The lines of a function's source and the number of the first; OSError when there is none."""
    try:
        return inspect.getsourcelines(function)
    except OSError:  # a cell or a doctest: its text may be known, though there is no file
        code = function.__code__
        lines = lines_of(code.co_filename)
        if not lines:
            raise
        return inspect.getblock(lines[code.co_firstlineno - 1 :]), code.co_firstlineno


def _future_flags(code: types.CodeType) -> int:
    return code.co_flags & __future__.annotations.compiler_flag


def parsed(lines: list[str]) -> ast.Module:
    """The tree of a function's source lines, each part where it stands, however deep they are indented."""
    text = "".join(lines)
    try:
        tree = ast.parse("if True:\n" + text if text[:1].isspace() else "\n" + text)
        return ast.increment_lineno(tree, -1)
    except SyntaxError:
        found = []
        at = text.find("lambda")
        while at >= 0:  # lambdas in the middle of an expression that goes on elsewhere
            before = "(" + re.sub(r"[^\n]", " ", text[:at])[1:]
            for end in range(len(text), at, -1):
                try:
                    found += ast.parse(f"{before}{text[at:end]})").body
                    break
                except SyntaxError:
                    continue
            at = text.find("lambda", at + 1)
        if not found:
            raise
        return ast.Module(found, [])


def definition_of(tree: ast.Module, code: types.CodeType) -> Any:
    """The node of the function that has this code."""
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if code.co_name != "<lambda>":
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
                return node
        raise CanNotConvert(code.co_name)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            args = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
            if tuple(args) == names:
                found.append(node)
    same = [n for n in found if _same_code(n, code)] if len(found) > 1 else found
    if not same:
        raise CanNotConvert("<lambda>")
    return same[0]


def _same_code(node: ast.Lambda, code: types.CodeType) -> bool:
    """Whether a lambda of the source is the one that was compiled to this code."""
    factory = ast.parse(f"def _factory({', '.join(code.co_freevars)}): return 0")
    factory.body[0].body[0].value = node
    return _equal(_find_code(compile(ast.fix_missing_locations(factory), "<lambda>", "exec"), "<lambda>"), code)


def _equal(a: Any, b: Any) -> bool:
    """Whether two constants of compiled code, or two pieces of it, do the same."""
    if type(a) is not types.CodeType or type(b) is not types.CodeType:
        return type(a) is type(b) and a == b
    return (
        (a.co_code, a.co_names, a.co_freevars) == (b.co_code, b.co_names, b.co_freevars)
        and len(a.co_consts) == len(b.co_consts)
        and all(map(_equal, a.co_consts, b.co_consts))
    )


def _find_code(code: types.CodeType, name: str) -> types.CodeType | None:
    factory = next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == "_factory")
    for constant in factory.co_consts:
        if isinstance(constant, types.CodeType) and constant.co_name == name:
            return constant
    return None
