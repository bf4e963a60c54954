"""Derive right and wrong answers from a solution.

Right answers differ in form. Wrong answers imitate learners' mistakes that are known from classrooms, such as a
forgotten line, a wrong sign or factor, one iteration too many, swapped operands, a misspelled name, the hard-coded
result of an example, and a slope computed from two values instead of with a tape.
"""

import ast
import copy
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

OTHER_OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


def iter_changed_programs(
    program: str, is_chosen: Callable[[ast.AST], bool], change: Callable[[ast.AST], ast.AST | None]
) -> Iterator[str]:
    """Yield variants of a program, each with one chosen node changed.

    Args:
        program: The program.
        is_chosen: Returns whether to change a node of the syntax tree.
        change: Receives a copy of the node and returns the new node, or None to remove the node.

    Yields:
        The changed programs that are syntactically valid.
    """
    for number in range(sum(map(is_chosen, ast.walk(ast.parse(program))))):
        tree = ast.parse(program)
        chosen_node = [node for node in ast.walk(tree) if is_chosen(node)][number]

        class ChangeOne(ast.NodeTransformer):
            def visit(self, node: ast.AST, part: ast.AST = chosen_node) -> Any:
                return change(copy.deepcopy(node)) if node is part else self.generic_visit(node)

        try:
            changed_program = ast.unparse(ast.fix_missing_locations(ChangeOne().visit(tree)))
            ast.parse(changed_program)
        except (SyntaxError, ValueError, IndexError):  # The change left a block empty.
            continue
        yield changed_program


def build_call_matcher(name: str, argument_count: int) -> Callable[[ast.AST], bool]:
    """Return a function that recognizes calls by the suffix of the function's name and the number of arguments."""
    return lambda node: (
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith(name) and len(node.args) == argument_count
    )


def build_result_wrapper(template: str) -> Callable[[ast.AST], ast.AST]:
    """Return a function that wraps the value of a `return` statement in a template such as "-({})"."""

    def wrap_node(node: Any) -> ast.AST:
        return ast.parse(f"def f():\n return {template.format(ast.unparse(node.value))}").body[0].body[0]  # type: ignore[attr-defined]

    return wrap_node


def is_return(node: ast.AST) -> bool:
    """Return whether a node is a `return` statement with a value."""
    return isinstance(node, ast.Return) and node.value is not None


def is_operation(node: ast.AST) -> bool:
    """Return whether a node is an operation with one of the four arithmetic operators."""
    return isinstance(node, ast.BinOp) and type(node.op) in OTHER_OPERATORS


def replace_operator(node: Any) -> ast.AST:
    """Return an operation with the inverse operator."""
    return ast.BinOp(node.left, OTHER_OPERATORS[type(node.op)](), node.right)


def swap_arguments(node: Any) -> ast.AST:
    """Return a call with its arguments in reverse order."""
    return ast.Call(node.func, node.args[::-1], node.keywords)


def build_count_changer(amount: int) -> Callable[[Any], ast.AST]:
    """Return a function that adds 1 to a call's first argument, or subtracts 1 if `amount` is negative."""
    return lambda node: ast.Call(
        node.func, [ast.BinOp(node.args[0], ast.Add() if amount > 0 else ast.Sub(), ast.Constant(1))], []
    )


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def is_statement(node: ast.AST) -> bool:
    """Return whether a node is an assignment or a call whose result is not used."""
    return isinstance(node, (ast.Assign, ast.AugAssign)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    )


def _is_tf_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tf"


def is_plain_call(node: ast.AST) -> bool:
    """Return whether a node calls a helper, or a function that the program received as an argument."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and bool(node.args)
        and node.func.id not in ("range", "zip", "list")
    )


def is_method_call(node: ast.AST) -> bool:
    """Return whether a node calls a method, and not a function of `tf`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not _is_tf_attribute(node.func)


def change_method_name(node: Any) -> ast.AST:
    """Misspell the name of a method, and return the call."""
    node.func.attr += "s"
    return node


def change_keyword_case(node: Any) -> ast.AST:
    """Capitalize the name of a keyword argument, and return the argument."""
    node.arg = node.arg.capitalize()
    return node


def add_numpy_call(node: Any) -> ast.AST:
    """Add `.numpy()` to the value of an assignment, and return the assignment."""
    node.value = ast.Call(ast.Attribute(node.value, "numpy"), [], [])
    return node


def replace_source_by_target(node: Any) -> ast.AST:
    """Return a call to `gradient` whose source is the target itself."""
    return ast.Call(node.func, [node.args[0], node.args[0]], node.keywords)


def shift_last_argument(node: Any) -> ast.AST:
    """Add 1 to the last argument of a call, and return the call."""
    node.args[-1:] = [ast.BinOp(argument, ast.Add(), ast.Constant(1.0)) for argument in node.args[-1:]]
    return node


def iter_blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the nonempty blocks of statements in a syntax tree."""
    for node in ast.walk(tree):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and block:
                yield block


def can_swap(first: ast.stmt, second: ast.stmt) -> bool:
    """Return whether two statements can be swapped.

    Statements can be swapped if neither changes a name that the other reads.
    """
    if isinstance(first, ast.FunctionDef):
        return True
    used_names, changed_names = [], []
    for statement in (first, second):
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        owners = {id(node.func.value) for node in ast.walk(statement) if is_method_call(node)}  # type: ignore[attr-defined]
        used_names.append({node.id for node in names})
        changed_names.append({node.id for node in names if isinstance(node.ctx, ast.Store) or id(node) in owners})
    return not (changed_names[0] & used_names[1] or changed_names[1] & used_names[0])


def iter_programs_with_moved_lines(program: str) -> Iterator[tuple[str, str]]:
    """Yield variants of a program with misplaced lines, each with the kind of mistake.

    Two lines are swapped, the last line of a block is moved after the block, the line after a loop is moved into the
    loop, a block has no tape, or a loop runs only once.

    Args:
        program: The program.
    """
    for number, block in enumerate(iter_blocks(ast.parse(program))):
        for line_index, statement in enumerate(block):
            for kind in ("order", "left the block", "into the block", "tape off", "no loop"):
                tree = ast.parse(program)
                lines = list(iter_blocks(tree))[number]
                has_next = line_index + 1 < len(lines)
                if kind == "order" and has_next and not can_swap(statement, block[line_index + 1]):
                    lines[line_index], lines[line_index + 1] = lines[line_index + 1], lines[line_index]
                elif (
                    kind == "left the block" and isinstance(statement, (ast.With, ast.For)) and len(statement.body) > 1
                ):
                    lines.insert(line_index + 1, lines[line_index].body.pop())  # type: ignore[attr-defined]
                elif kind == "into the block" and isinstance(statement, ast.For) and has_next:
                    lines[line_index].body.append(lines.pop(line_index + 1))  # type: ignore[attr-defined]
                elif kind == "tape off" and isinstance(statement, ast.With) and statement.items[0].optional_vars:
                    assignment = ast.Assign([statement.items[0].optional_vars], statement.items[0].context_expr)
                    lines[line_index : line_index + 1] = [assignment, *lines[line_index].body]  # type: ignore[attr-defined]
                elif kind == "no loop" and isinstance(statement, ast.For):
                    start = ast.Assign([statement.target], ast.parse("0").body[0].value)  # type: ignore[attr-defined]
                    lines[line_index : line_index + 1] = [start, *lines[line_index].body]  # type: ignore[attr-defined]
                else:
                    continue
                yield kind, ast.unparse(ast.fix_missing_locations(tree))


def iter_programs_with_return_in_loop(program: str) -> Iterator[str]:
    """Yield a program in which a `return` after a loop has become the last line of the loop."""
    tree = ast.parse(program)
    for body in [node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        if len(body) > 1 and isinstance(body[-2], ast.For) and isinstance(body[-1], ast.Return):
            body[-2].body.append(body.pop())
            yield ast.unparse(tree)


def iter_wrong_programs(program: str, blank: str, result: Any) -> Iterator[tuple[str, str]]:
    """Yield wrong programs derived from a right program, each with the kind of mistake.

    Args:
        program: The right program.
        blank: The unfinished program in the exercise.
        result: The right program's result in the first case.

    Yields:
        The kind of mistake and the program.
    """
    program = program.rstrip()
    last = program.splitlines()[-1]
    yield "unfinished", blank
    yield "NameError", program[: -len(last.lstrip())] + "return misspeled"
    header = program[program.rindex("\ndef ") if "\ndef " in program else 0 :].strip().splitlines()[0]
    if "class Tape" in program:
        yield "wrong type", f"Tape = 'a tape'  # {header}"
        yield "None", "Tape = None"
    else:
        yield "hard-coded", f"{header}\n    return {result}"
        yield "None", f"{header}\n    return None"
        yield "wrong type", f"{header}\n    return 'the slope'"
    kinds: list[tuple[str, Callable[[ast.AST], bool], Callable[[ast.AST], ast.AST | None]]] = [
        ("forgotten", is_statement, lambda node: None),
        ("forgotten", lambda node: isinstance(node, ast.Return), lambda node: ast.Pass()),
        ("sign", is_return, build_result_wrapper("-({})")),
        ("factor", is_return, build_result_wrapper("2.0 * ({})")),
        ("off by one", is_return, build_result_wrapper("({}) + 1.0")),
        ("wrong type", is_return, build_result_wrapper("str({})")),
        ("wrong type", is_return, build_result_wrapper("[{}]")),
        ("swapped", is_return, build_result_wrapper("({})[::-1]")),
        ("swapped", build_call_matcher(".gradient", 2), swap_arguments),
        ("value", build_call_matcher(".gradient", 2), lambda node: node.args[0]),  # type: ignore[attr-defined]
        ("operation", is_operation, replace_operator),
        ("off by one", build_call_matcher("range", 1), build_count_changer(1)),
        ("off by one", build_call_matcher("range", 1), build_count_changer(-1)),
        ("number", _is_number, lambda node: ast.Constant(node.value + 1)),  # type: ignore[attr-defined]
        ("no tf.", _is_tf_attribute, lambda node: ast.Name(node.attr)),  # type: ignore[attr-defined]
        ("misspelled", is_method_call, change_method_name),
        ("argument", lambda node: isinstance(node, ast.keyword) and bool(node.arg), change_keyword_case),
        ("not called", is_plain_call, lambda node: node.func),  # type: ignore[attr-defined]
        ("argument left out", is_plain_call, lambda node: ast.Call(node.func, node.args[:-1], [])),  # type: ignore[attr-defined]
        ("called elsewhere", is_plain_call, shift_last_argument),
        (
            ".numpy()",
            lambda node: isinstance(node, ast.Assign) and isinstance(node.value, (ast.Call, ast.BinOp)),
            add_numpy_call,
        ),
        ("print", is_return, lambda node: ast.Expr(ast.Call(ast.Name("print"), [node.value], []))),  # type: ignore[attr-defined]
        ("another source", build_call_matcher(".gradient", 2), replace_source_by_target),
        ("not called", build_call_matcher(".gradient", 2), lambda node: node.func),  # type: ignore[attr-defined]
        (
            "rate",
            lambda node: _is_number(node) and isinstance(node.value, float),
            lambda node: ast.Constant(node.value * 10),
        ),  # type: ignore[attr-defined]
        ("absolute", is_return, build_result_wrapper("abs({})")),
        (
            "typed in",
            lambda node: isinstance(node, ast.Name) and node.id in ("value", "start"),
            lambda node: ast.Constant(3.0),
        ),  # type: ignore[attr-defined]
        (
            "no @",
            lambda node: isinstance(node, ast.FunctionDef) and bool(node.decorator_list),
            lambda node: remove_decorators(node),
        ),
    ]
    for kind, is_chosen, change in kinds:
        yield from ((kind, wrong_program) for wrong_program in iter_changed_programs(program, is_chosen, change))
    yield from (("return in the loop", wrong_program) for wrong_program in iter_programs_with_return_in_loop(program))
    yield from iter_programs_with_moved_lines(program)


def remove_decorators(node: Any) -> ast.AST:
    """Remove the decorators from a function, and return the function."""
    node.decorator_list = []
    return node


def list_right_programs(program: str) -> list[str]:
    """Return a right program in three forms.

    The forms are the original program, a program that stores its result in a variable, and a program with other names
    and a docstring.

    Args:
        program: The right program.
    """
    new_names: dict[str, str] = {}
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, (ast.arg, ast.Name)) and not isinstance(getattr(node, "ctx", None), ast.Load):
            name = getattr(node, "arg", "") or getattr(node, "id", "")
            is_kept = name.isupper() or name.startswith("__") or name in ("self", "tape", "value")
            new_names[name] = name if is_kept else f"my_{name}"

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(new_names.get(node.id, node.id), node.ctx)

        def visit_arg(self, node: ast.arg) -> ast.arg:
            return ast.arg(new_names[node.arg])

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            self.generic_visit(node)
            node.body.insert(0, ast.Expr(ast.Constant("What it does.")))
            return node

    lines = []
    for line in program.rstrip().splitlines():
        blanks, keyword, expression = line.partition("return ")
        is_return = (
            keyword and not blanks.strip() and expression.count("(") == expression.count(")") and "#" not in expression
        )
        lines += [f"{blanks}result = {expression}", f"{blanks}return result  # done"] if is_return else [line]
    return [program, "\n".join(lines), ast.unparse(ast.fix_missing_locations(Rename().visit(ast.parse(program))))]


def build_call_replacer(template: str) -> Callable[[Any], ast.AST]:
    """Return a function that replaces a call with `template`, filled in with the call's arguments."""

    def replace_node(node: Any) -> ast.AST:
        return ast.parse(template.format(*map(ast.unparse, node.args))).body[0].value  # type: ignore[attr-defined]

    return replace_node


def make_persistent(node: Any) -> ast.AST:
    """Add `persistent=True` to a call, and return the call."""
    node.keywords.append(ast.keyword("persistent", ast.Constant(True)))
    return node


def build_tf_call_matcher(name: str) -> Callable[[ast.AST], bool]:
    """Return a function that recognizes calls to a `tf` function with one argument."""
    return lambda node: isinstance(node, ast.Call) and ast.unparse(node.func) == f"tf.{name}" and len(node.args) == 1


def list_other_right_forms(program: str, result: Any, may_be_list: bool) -> list[str]:
    """Return a right program in additional forms.

    These forms use a persistent tape, a variable instead of a constant, float64, Python or NumPy results, or keyword
    arguments.

    Args:
        program: The right program.
        result: The program's result in the first case.
        may_be_list: Whether a list of the same numbers is right.
    """
    is_tape = build_tf_call_matcher("GradientTape")
    kinds: list[tuple[Callable[[ast.AST], bool], Callable[[Any], ast.AST]]] = [
        (lambda node: is_tape(node) or ast.unparse(node) == "tf.GradientTape()", make_persistent),
        (build_tf_call_matcher("constant"), build_call_replacer("tf.Variable({})")),
        (build_tf_call_matcher("constant"), build_call_replacer("tf.convert_to_tensor({})")),
    ]
    is_single = isinstance(result, (int, float)) and not isinstance(result, bool)
    wraps = ["float({})", "np.float64({})", "np.array({})", "({}) * 1.0"] if is_single else ["tuple({})", "list({})"]
    if isinstance(result, dict) or not may_be_list:
        wraps = []
    is_numeric = isinstance(result, (list, tuple, np.ndarray)) and not any(element is None for element in result)
    is_numeric = is_numeric and len({np.shape(element) for element in result}) == 1
    wraps += ["np.array({})"] if is_numeric and may_be_list else []
    if is_single or not is_numeric:
        kinds.append((build_call_matcher(".gradient", 2), lambda node: ast.Call(node.func, [], to_keywords(node))))
    header = program.splitlines()[0]
    programs = [re.sub(r"tf\.(constant|Variable)\(((?!times\b)[^(),]+)\)", r"tf.\1(\2, dtype=tf.float64)", program)]
    programs += [
        changed_program
        for is_chosen, change in kinds
        for changed_program in iter_changed_programs(program, is_chosen, change)
    ]
    if header.startswith("def ") and "class" not in program:
        parameters = header.partition("(")[2]
        body = textwrap.indent(textwrap.dedent(program.partition("\n")[2]), " " * 8)
        inner = f"{header}\n    def inner({parameters}\n{body}\n    return "
        programs += [inner + wrap.format(f"inner({parameters[:-2]})") for wrap in wraps]
    return programs


def to_keywords(node: Any) -> list[ast.keyword]:
    """Return a call to `gradient` with its two arguments as keyword arguments."""
    return [ast.keyword("target", node.args[0]), ast.keyword("sources", node.args[1])]


def iter_wrong_values(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield wrong answers that resemble a right value, each with the kind of mistake.

    Args:
        value: The right value.

    Yields:
        The kind of mistake and the wrong value.
    """
    if isinstance(value, dict):
        for key in value:
            yield from ((kind, value | {key: other}) for kind, other in iter_wrong_values(value[key]))
        keys = list(value)
        swapped = dict(zip(keys, reversed(value.values()), strict=True))
        if swapped != value:
            yield "swapped", swapped
        yield "forgotten", {key: value[key] for key in keys[:-1]}
        yield "wrong type", str(value)  # A list in the order of the names is accepted, so only text is wrong.
        yield "unfinished", value | {keys[-1]: ...}
    elif isinstance(value, (list, tuple)) and value:
        for index, element in enumerate(value):
            yield from (
                (kind, [*value[:index], other, *value[index + 1 :]]) for kind, other in iter_wrong_values(element)
            )
        yield "one more", [*value, value[-1] if value[-1] is None else 99]
        if value[::-1] != value:
            yield "swapped", value[::-1]
        yield "forgotten", list(value[:-1])
        yield from (
            ("wrong type", str(value)), ("wrong type", len(value)), ("nothing", []), ("unfinished", [*value[:-1], ...]),
        )  # fmt: skip
    elif isinstance(value, bool):
        yield from (("negated", not value), ("wrong type", str(value)), ("None", None), ("unfinished", ...))
    elif isinstance(value, (int, float)):
        if value:
            yield from (("sign", -value), ("factor", 2 * value), ("half", value / 2))
            yield "a power", float(value) ** 3 + 0.5
        else:
            yield "None for zero", None
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


def list_right_values(value: Any) -> list[Any]:
    """Return a right answer in three forms, such as a Python number, a NumPy number and an array."""
    if isinstance(value, dict):
        return [
            value,
            dict(reversed(value.items())),
            {key: list_right_values(element)[-1] for key, element in value.items()},
        ]
    if isinstance(value, (list, tuple)):
        return [list(value), tuple(value), [list_right_values(element)[-1] for element in value]]
    if isinstance(value, bool):
        return [value, np.bool_(value), np.array(value)]
    if isinstance(value, (int, float)):
        return [value, np.float64(value), np.array(value)]
    return [value, value.upper(), f" {value} "] if isinstance(value, str) else [value] * 3
