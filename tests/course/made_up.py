"""Answers that nobody wrote: right ones in other forms, and wrong ones that a program makes of the solution, as
learners make them.

Each kind is a slip that is known from classrooms: a line forgotten, a sign, a factor, one iteration too many, two
things swapped, a name misspelled, the result of one example typed in, a slope from two values in place of a tape.
"""

import ast
import copy
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

OTHER = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


def changed(
    program: str, chosen: Callable[[ast.AST], bool], change: Callable[[ast.AST], ast.AST | None]
) -> Iterator[str]:
    """The program with one of its chosen parts changed, or left out, once for each of them."""
    for number in range(sum(map(chosen, ast.walk(ast.parse(program))))):
        tree = ast.parse(program)
        part = [node for node in ast.walk(tree) if chosen(node)][number]

        class Change(ast.NodeTransformer):
            def visit(self, node: ast.AST, part: ast.AST = part) -> Any:
                return change(copy.deepcopy(node)) if node is part else self.generic_visit(node)

        try:
            made = ast.unparse(ast.fix_missing_locations(Change().visit(tree)))
            ast.parse(made)
        except (SyntaxError, ValueError, IndexError):  # a block that is empty now
            continue
        yield made


def _calls(name: str, arguments: int) -> Callable[[ast.AST], bool]:
    return lambda node: (
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith(name) and len(node.args) == arguments
    )


def _with_result(wrap: str) -> Callable[[ast.AST], ast.AST]:
    def change(node: Any) -> ast.AST:
        return ast.parse(f"def f():\n return {wrap.format(ast.unparse(node.value))}").body[0].body[0]  # type: ignore[attr-defined]

    return change


def _returns(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and node.value is not None


def _operation(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and type(node.op) in OTHER


def _otherwise(node: Any) -> ast.AST:
    return ast.BinOp(node.left, OTHER[type(node.op)](), node.right)


def _swapped(node: Any) -> ast.AST:
    return ast.Call(node.func, node.args[::-1], node.keywords)


def _one_more(by: int) -> Callable[[Any], ast.AST]:
    return lambda node: ast.Call(
        node.func, [ast.BinOp(node.args[0], ast.Add() if by > 0 else ast.Sub(), ast.Constant(1))], []
    )


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _statement(node: ast.AST) -> bool:
    return isinstance(node, (ast.Assign, ast.AugAssign)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    )


def _is_tf(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tf"


def _plain_call(node: ast.AST) -> bool:
    """A call of something that was handed in, or of a helper."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and bool(node.args)
        and node.func.id not in ("range", "zip", "list")
    )


def _method(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not _is_tf(node.func)


def _renamed(node: Any) -> ast.AST:
    node.func.attr += "s"
    return node


def _capital(node: Any) -> ast.AST:
    node.arg = node.arg.capitalize()
    return node


def _numpy_of(node: Any) -> ast.AST:
    node.value = ast.Call(ast.Attribute(node.value, "numpy"), [], [])
    return node


def _for_another(node: Any) -> ast.AST:
    """The question to a tape about another source than the last: the target itself."""
    return ast.Call(node.func, [node.args[0], node.args[0]], node.keywords)


def _elsewhere(node: Any) -> ast.AST:
    node.args[-1:] = [ast.BinOp(one, ast.Add(), ast.Constant(1.0)) for one in node.args[-1:]]
    return node


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and block:
                yield block


def _apart(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two lines may come in either order: none of them changes what the other one reads."""
    if isinstance(one, ast.FunctionDef):
        return True
    used, changed = [], []
    for line in (one, other):
        names = [node for node in ast.walk(line) if isinstance(node, ast.Name)]
        owners = {id(node.func.value) for node in ast.walk(line) if _method(node)}  # type: ignore[attr-defined]
        used.append({node.id for node in names})
        changed.append({node.id for node in names if isinstance(node.ctx, ast.Store) or id(node) in owners})
    return not (changed[0] & used[1] or changed[1] & used[0])


def moved(program: str) -> Iterator[tuple[str, str]]:
    """Lines in other places: two in the wrong order, the last of a block behind it, the one behind in the block,
    a block without its tape, a loop that runs once.
    """
    for number, block in enumerate(_blocks(ast.parse(program))):
        for place, one in enumerate(block):
            for kind in ("order", "left the block", "into the block", "tape off", "no loop"):
                tree = ast.parse(program)
                lines = [*_blocks(tree)][number]
                after = place + 1 < len(lines)
                if kind == "order" and after and not _apart(one, block[place + 1]):
                    lines[place], lines[place + 1] = lines[place + 1], lines[place]
                elif kind == "left the block" and isinstance(one, (ast.With, ast.For)) and len(one.body) > 1:
                    lines.insert(place + 1, lines[place].body.pop())  # type: ignore[attr-defined]
                elif kind == "into the block" and isinstance(one, ast.For) and after:
                    lines[place].body.append(lines.pop(place + 1))  # type: ignore[attr-defined]
                elif kind == "tape off" and isinstance(one, ast.With) and one.items[0].optional_vars:
                    made = ast.Assign([one.items[0].optional_vars], one.items[0].context_expr)
                    lines[place : place + 1] = [made, *lines[place].body]  # type: ignore[attr-defined]
                elif kind == "no loop" and isinstance(one, ast.For):
                    start = ast.Assign([one.target], ast.parse("0").body[0].value)  # type: ignore[attr-defined]
                    lines[place : place + 1] = [start, *lines[place].body]  # type: ignore[attr-defined]
                else:
                    continue
                yield kind, ast.unparse(ast.fix_missing_locations(tree))


def _into_the_loop(program: str) -> Iterator[str]:
    """The return that follows a loop, as the last line of its body."""
    tree = ast.parse(program)
    for body in [node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        if len(body) > 1 and isinstance(body[-2], ast.For) and isinstance(body[-1], ast.Return):
            body[-2].body.append(body.pop())
            yield ast.unparse(tree)


def wrong_programs(program: str, blank: str, result: Any) -> Iterator[tuple[str, str]]:
    """Of a program that is right: the kind of a slip, and the program with it. `result` is what it gives in the first
    case.
    """
    program = program.rstrip()
    last = program.splitlines()[-1]
    yield "unfinished", blank
    yield "NameError", program[: -len(last.lstrip())] + "return misspeled"
    head = program[program.rindex("\ndef ") if "\ndef " in program else 0 :].strip().splitlines()[0]
    if "class Tape" in program:
        yield "wrong type", f"Tape = 'a tape'  # {head}"
        yield "None", "Tape = None"
    else:
        yield "hard-coded", f"{head}\n    return {result}"
        yield "None", f"{head}\n    return None"
        yield "wrong type", f"{head}\n    return 'the slope'"
    kinds: list[tuple[str, Callable[[ast.AST], bool], Callable[[ast.AST], ast.AST | None]]] = [
        ("forgotten", _statement, lambda node: None),
        ("forgotten", lambda node: isinstance(node, ast.Return), lambda node: ast.Pass()),
        ("sign", _returns, _with_result("-({})")),
        ("factor", _returns, _with_result("2.0 * ({})")),
        ("off by one", _returns, _with_result("({}) + 1.0")),
        ("wrong type", _returns, _with_result("str({})")),
        ("wrong type", _returns, _with_result("[{}]")),
        ("swapped", _returns, _with_result("({})[::-1]")),
        ("swapped", _calls(".gradient", 2), _swapped),
        ("value", _calls(".gradient", 2), lambda node: node.args[0]),  # type: ignore[attr-defined]
        ("operation", _operation, _otherwise),
        ("off by one", _calls("range", 1), _one_more(1)),
        ("off by one", _calls("range", 1), _one_more(-1)),
        ("number", _is_number, lambda node: ast.Constant(node.value + 1)),  # type: ignore[attr-defined]
        ("no tf.", _is_tf, lambda node: ast.Name(node.attr)),  # type: ignore[attr-defined]
        ("misspelled", _method, _renamed),
        ("argument", lambda node: isinstance(node, ast.keyword) and bool(node.arg), _capital),
        ("not called", _plain_call, lambda node: node.func),  # type: ignore[attr-defined]
        ("argument left out", _plain_call, lambda node: ast.Call(node.func, node.args[:-1], [])),  # type: ignore[attr-defined]
        ("called elsewhere", _plain_call, _elsewhere),
        (
            ".numpy()",
            lambda node: isinstance(node, ast.Assign) and isinstance(node.value, (ast.Call, ast.BinOp)),
            _numpy_of,
        ),
        ("print", _returns, lambda node: ast.Expr(ast.Call(ast.Name("print"), [node.value], []))),  # type: ignore[attr-defined]
        ("another source", _calls(".gradient", 2), _for_another),
        ("not called", _calls(".gradient", 2), lambda node: node.func),  # type: ignore[attr-defined]
        (
            "rate",
            lambda node: _is_number(node) and isinstance(node.value, float),
            lambda node: ast.Constant(node.value * 10),
        ),  # type: ignore[attr-defined]
        ("absolute", _returns, _with_result("abs({})")),
        (
            "typed in",
            lambda node: isinstance(node, ast.Name) and node.id in ("value", "start"),
            lambda node: ast.Constant(3.0),
        ),  # type: ignore[attr-defined]
        (
            "no @",
            lambda node: isinstance(node, ast.FunctionDef) and bool(node.decorator_list),
            lambda node: _plain(node),
        ),
    ]
    for kind, chosen, change in kinds:
        yield from ((kind, made) for made in changed(program, chosen, change))
    yield from (("return in the loop", made) for made in _into_the_loop(program))
    yield from moved(program)


def _plain(node: Any) -> ast.AST:
    node.decorator_list = []
    return node


def right_programs(program: str) -> list[str]:
    """A program that is right in three forms: as it is, with its result in a name of its own, and with other names and
    words about it.
    """
    wanted: dict[str, str] = {}
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, (ast.arg, ast.Name)) and not isinstance(getattr(node, "ctx", None), ast.Load):
            name = getattr(node, "arg", "") or getattr(node, "id", "")
            wanted[name] = (
                name if name.isupper() or name.startswith("__") or name in ("self", "tape", "value") else f"my_{name}"
            )

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(wanted.get(node.id, node.id), node.ctx)

        def visit_arg(self, node: ast.arg) -> ast.arg:
            return ast.arg(wanted[node.arg])

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            self.generic_visit(node)
            node.body.insert(0, ast.Expr(ast.Constant("What it does.")))
            return node

    lines = []
    for line in program.rstrip().splitlines():
        blanks, word, rest = line.partition("return ")
        named = word and not blanks.strip() and rest.count("(") == rest.count(")") and "#" not in rest
        lines += [f"{blanks}result = {rest}", f"{blanks}return result  # done"] if named else [line]
    return [program, "\n".join(lines), ast.unparse(ast.fix_missing_locations(Rename().visit(ast.parse(program))))]


def _as_call(name: str) -> Callable[[Any], ast.AST]:
    """The same call by another name, or with other words about it, as `name` has it."""

    def change(node: Any) -> ast.AST:
        return ast.parse(name.format(*map(ast.unparse, node.args))).body[0].value  # type: ignore[attr-defined]

    return change


def _persistent(node: Any) -> ast.AST:
    node.keywords.append(ast.keyword("persistent", ast.Constant(True)))
    return node


def _makes(what: str) -> Callable[[ast.AST], bool]:
    return lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == f"tf.{what}" and len(node.args) == 1


def other_forms(program: str, result: Any) -> list[str]:
    """A program that is right in other forms: a tape that is persistent, a variable for a constant, float64, results of
    Python and NumPy, a Jacobian for a gradient. `result` is what it gives in the first case.
    """
    tape = _makes("GradientTape")
    kinds: list[tuple[Callable[[ast.AST], bool], Callable[[Any], ast.AST]]] = [
        (lambda node: tape(node) or ast.unparse(node) == "tf.GradientTape()", _persistent),
        (_makes("constant"), _as_call("tf.Variable({})")),
        (_makes("constant"), _as_call("tf.convert_to_tensor({})")),
    ]
    single = isinstance(result, (int, float)) and not isinstance(result, bool)
    wraps = ["float({})", "np.float64({})", "np.array({})", "({}) * 1.0"] if single else ["tuple({})", "list({})"]
    if isinstance(result, dict):  # a variable is asked for
        wraps = []
    numbers = isinstance(result, (list, tuple, np.ndarray)) and not any(one is None for one in result)
    numbers = numbers and len({np.shape(one) for one in result}) == 1
    wraps += ["np.array({})"] if numbers else []
    if single or not numbers:
        kinds.append((_calls(".gradient", 2), lambda node: ast.Call(node.func, [], _named(node))))
    head = program.splitlines()[0]
    found = [re.sub(r"tf\.(constant|Variable)\(((?!times\b)[^(),]+)\)", r"tf.\1(\2, dtype=tf.float64)", program)]
    found += [made for chosen, change in kinds for made in changed(program, chosen, change)]
    if head.startswith("def ") and "class" not in program:
        takes = head.partition("(")[2]
        body = textwrap.indent(textwrap.dedent(program.partition("\n")[2]), " " * 8)
        inner = f"{head}\n    def inner({takes}\n{body}\n    return "
        found += [inner + wrap.format(f"inner({takes[:-2]})") for wrap in wraps]
    return found


def _named(node: Any) -> list[ast.keyword]:
    return [ast.keyword("target", node.args[0]), ast.keyword("sources", node.args[1])]


def other_values(value: Any) -> Iterator[tuple[str, Any]]:
    """Wrong answers near a value, each with its kind."""
    if isinstance(value, dict):
        for key in value:
            yield from ((kind, value | {key: other}) for kind, other in other_values(value[key]))
        keys = list(value)
        turned = dict(zip(keys, [*value.values()][::-1], strict=True))
        yield from [("swapped", turned)] if turned != value else []
        yield "forgotten", {key: value[key] for key in keys[:-1]}
        yield "wrong type", str(value)  # a list in the order of the names is as good as a dictionary
        yield "unfinished", value | {keys[-1]: ...}
    elif isinstance(value, (list, tuple)) and value:
        for place, one in enumerate(value):
            yield from ((kind, [*value[:place], other, *value[place + 1 :]]) for kind, other in other_values(one))
        yield "one more", [*value, value[-1] if value[-1] is None else 99]
        yield from [("swapped", value[::-1])] if value[::-1] != value else []
        yield "forgotten", list(value[:-1])
        yield from (
            ("wrong type", str(value)), ("wrong type", len(value)), ("nothing", []), ("unfinished", [*value[:-1], ...]),
        )  # fmt: skip
    elif isinstance(value, bool):
        yield from (("negated", not value), ("wrong type", str(value)), ("None", None), ("unfinished", ...))
    elif isinstance(value, (int, float)):
        yield from (
            [("sign", -value), ("factor", 2 * value), ("half", value / 2), ("a power", float(value) ** 3 + 0.5)]
            if value
            else [("None for zero", None)]
        )
        yield from (
            ("off by one", value + 1), ("off by one", value - 1), ("wrong type", str(value)), ("wrong type", [value]),
        )  # fmt: skip
        yield from (("None", None), ("unfinished", ...), ("NaN", float("nan")))
    elif value is None:
        yield from (("zero for None", 0.0), ("wrong type", "None"), ("a number", 1.0), ("unfinished", ...))
    else:
        yield from (
            ("another word", "something"), ("wrong type", 7.5), ("None", None), ("unfinished", ...),
            ("half", str(value)[:1] + "?"),
        )  # fmt: skip
        yield from (
            ("twice", 2 * value), ("nothing", ""), ("swapped", f"{value[::-1]}!"), ("wrong type", [value]),
            ("wrong type", True),
        )  # fmt: skip


def same_values(value: Any) -> list[Any]:
    """A right answer in three forms."""
    if isinstance(value, dict):
        return [value, dict(reversed(value.items())), {key: same_values(one)[-1] for key, one in value.items()}]
    if isinstance(value, (list, tuple)):
        return [list(value), tuple(value), [same_values(one)[-1] for one in value]]
    if isinstance(value, bool):
        return [value, np.bool_(value), np.array(value)]
    if isinstance(value, (int, float)):
        return [value, np.float64(value), np.array(value)]
    return [value, value.upper(), f" {value} "] if isinstance(value, str) else [value] * 3
