"""What explain reads from the text of a program: lines, names of operands and results, and how values flow."""

import ast
import linecache
from types import SimpleNamespace

import pytest

from minitape.explain import caller
from minitape.explain.caller import format_place, format_place_suffix
from minitape.explain.explanation import Explanation, format_note_that_fix_is_not_enough
from minitape.explain.explanation_page import group_explanations_by_reason, to_explanation_page
from minitape.explain.reasons import program_text
from minitape.explain.reasons.object_names import find_name_bound_at_site
from minitape.recording.expression_names import map_file_line_and_operation_to_result_name, read_expression_names
from minitape.recording.sites import NOWHERE, find_innermost_site, find_last_return_site, read_line_at_site
from minitape.recording.tape_reachability import read_given_variable_name
from minitape.recording.variable_names import iter_public_names_and_values

from .hand_built_runs import build_rows


def with_text(text):
    """Make the text of a program known, and return the name of its file."""
    file = f"text decisions {abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return file


# -- lines -----------------------------------------------------------------------------------------


def test_the_text_of_a_line_is_empty_where_there_is_none() -> None:
    file = with_text("a = 1\nb = 2\n")
    assert [read_line_at_site((file, line)) for line in (1, 2, 3, None)] == ["a = 1\n", "b = 2\n", "", ""]
    assert read_line_at_site(NOWHERE) == "" == read_line_at_site(("no such file.py", 1))
    assert find_innermost_site([(file, 1), (file, 2)]) == (file, 2)
    assert find_innermost_site([]) == NOWHERE and find_innermost_site([], (file, 1)) == (file, 1)


def test_the_last_return_of_a_rule_is_found_behind_its_decorators() -> None:
    text = "def rule(x):\n    if x:\n        return 1\n    return 2\ndef empty(x):\n    pass\n"
    file, space = with_text(text), {}
    exec(compile(text, file, "exec"), space)
    wrapped = SimpleNamespace(__wrapped__=space["rule"])
    assert find_last_return_site(space["rule"]) == (file, 4) == find_last_return_site(wrapped)
    assert find_last_return_site(space["empty"]) == (file, 6)
    assert find_last_return_site(print) == NOWHERE


@pytest.mark.parametrize(("file", "line", "place"), [
    ("/home/me/train.py", 3, "train.py, line 3"), ("C:\\me\\train.py", 3, "train.py, line 3"), ("", 3, "line 3"),
    (None, 3, "line 3"),
])  # fmt: skip
def test_a_place_names_the_file_without_its_folder(file, line, place) -> None:
    assert format_place(file, line) == place and format_place_suffix((file, line)) == f" ({place})"
    assert format_place_suffix(NOWHERE) == ""


# -- names of operands and results -----------------------------------------------------------------

EXPRESSIONS = {
    "y = tf.matmul(x, w)": ("matmul", ("x", "w"), "y"),
    "y = x @ self.w": ("@", ("x", "self.w"), "y"),
    "self.y = x * ws[0]": ("×", ("x", "ws[0]"), "self.y"),
    "y: int = x + 1": ("+", ("x", None), "y"),
    "y = -x": ("−x", ("x",), "y"),
    "f(x - w)": ("−", ("x", "w"), None),
    "a = b = x / w": ("÷", ("x", "w"), None),
    "y = x ** w[i]": ("pow", ("x", None), "y"),
    "y = (lambda t: t)(x)": ("", ("x",), "y"),
    "y = tf.concat(*x)": None,
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_the_names_in_an_expression(text) -> None:
    file = with_text(text + "\n")
    code = compile(text + "\n", file, "exec")
    nodes = (ast.BinOp, ast.UnaryOp, ast.Call)
    tree = ast.parse(text)
    wanted = [node for node in ast.walk(tree) if isinstance(node, nodes)][text.startswith("f(")]
    span = (wanted.lineno, wanted.end_lineno, wanted.col_offset, wanted.end_col_offset)
    offset = next(2 * index for index, it in enumerate(code.co_positions()) if it == span)
    names = read_expression_names(code, offset)
    assert (names and tuple(names)) == EXPRESSIONS[text]


def test_the_operands_of_an_operation_are_not_those_of_a_function_that_runs_it() -> None:
    file = with_text("y = norm(x, w)\nz = x * w\n")
    norm, product = (read_expression_names(compile(text, file, "exec"), offset) for text, offset in (
        ("y = norm(x, w)\nz = x * w\n", find_offset("y = norm(x, w)\nz = x * w\n", file, 1)),
        ("y = norm(x, w)\nz = x * w\n", find_offset("y = norm(x, w)\nz = x * w\n", file, 2))))  # fmt: skip
    assert norm.has_operands_of_operation_itself("norm", 5) and not norm.has_operands_of_operation_itself("sqrt", 2)
    assert product.has_operands_of_operation_itself("Mul", 2) and not product.has_operands_of_operation_itself("Mul", 1)


def find_offset(text, file, line):
    """Return the offset of the instruction that computes the value which a line assigns."""
    value = ast.parse(text).body[line - 1].value
    span = (value.lineno, value.end_lineno, value.col_offset, value.end_col_offset)
    code = compile(text, file, "exec")
    return next(2 * index for index, it in enumerate(code.co_positions()) if it == span)


def test_a_result_has_a_name_if_its_operation_is_the_only_one_of_its_kind_on_the_line() -> None:
    file = with_text("y = tf.sin(x)\nz = a * b * c\nu = a * b + c\nprint(x)\n")
    names = map_file_line_and_operation_to_result_name([file])
    assert {key: name for key, name in names.items() if key[1]} == {(file, 1, "sin"): "y", (file, 3, "+"): "u"}


@pytest.mark.parametrize(("name", "given"), [
    ("kernel:0", "kernel"), ("Variable:0", ""), ("variable_3", ""), (None, ""), ("bias", "bias"),
])  # fmt: skip
def test_a_default_name_of_a_variable_is_no_name(name, given) -> None:
    assert read_given_variable_name(SimpleNamespace(name=name)) == given


def test_private_names_are_left_out() -> None:
    namespaces = [{"x": 1, "_y": 2, 3: 4}, {"x": 5}]
    assert list(iter_public_names_and_values(namespaces)) == [("x", 1), ("x", 5)]


@pytest.mark.parametrize(("text", "column", "name"), [
    ("w = f(1)", 4, "w"), ("a, b = f(1), f(2)", 13, "b"), ("ws = [f(1), f(2)]", 12, "ws[1]"),
    ("d = {'k': f(1), 'l': f(2)}", 21, "d['l']"), ("why = explain(y, x[0])", 17, "x[0]"), ("f(1)", 0, ""),
    ("w = 1; f(2)", 7, ""), ("ws = [f(1)]", 6, "ws[0]"),
])  # fmt: skip
def test_the_name_that_a_statement_gives_to_the_object_created_at_a_place(text, column, name) -> None:
    class Site(tuple):
        place = SimpleNamespace(line=1, column=column)

    assert find_name_bound_at_site(Site((with_text(text + "\n"), 1))) == name


def test_without_a_place_the_first_name_of_the_line_is_taken() -> None:
    assert find_name_bound_at_site((with_text("a, b = f(1), f(2)\n"), 1)) == "a"
    assert find_name_bound_at_site((with_text("f(2)\n"), 1)) == ""


BLOCKS = """@decorate
def f(x):
    try:
        a = 1
    except ValueError:
        b = 2
    else:
        c = 3
    finally:
        d = 4
    while x:
        e = 5
    else:
        g = 6
    match x:
        case 1:
            h = 7
        case _:
            i = 8
    async def inner():
        async with x:
            j = (
                9
            )
class C:
    def __init__(self): k = 10
"""


def test_the_statement_of_each_line_is_the_innermost_in_any_kind_of_block() -> None:
    file = with_text(BLOCKS)
    spans = [(it.lineno, it.end_lineno) for it in ast.walk(ast.parse(BLOCKS)) if isinstance(it, ast.stmt)]
    spans[0] = (1, spans[0][1])  # A decorator belongs to its function.
    for line in range(1, BLOCKS.count("\n") + 1):
        wanted = max(span for span in spans if span[0] <= line <= span[1])
        found = program_text.find_statement((file, line))
        assert (found.line if wanted[0] > 1 else 1, found.last_line) == wanted, line
    assert not program_text.find_statement((file, BLOCKS.count("\n") + 1))


def test_the_modules_of_imports_and_the_functions_of_classes_are_known() -> None:
    text = "import a\nimport b.c\nimport d.e as f\nfrom g.h import i, j as k\n"
    text += "class C:\n    def __init__(self):\n        pass\n    def call(self):\n        pass\n"
    program = program_text.read_program(with_text(text))
    modules = {"a": "a", "b": "b.c", "f": "d.e", "i": "g.h", "k": "g.h"}
    assert program.imported_modules == modules
    lines = {name: [it.lineno for it in functions] for name, functions in program.definitions.items()}
    assert lines == {"C": [6], "__init__": [6], "call": [8]}


@pytest.mark.parametrize(("text", "root", "last"), [
    ("a.b.f", "a", "f"), ("a[0].f", "a", "f"), ("a(x).f", "a", "f"), ("a.b[i]", "a", "a.b[i]"), ("a", "a", "a"),
    ("f(a)", "f", "f(a)"), ("1 + b", "", "1 + b"),
])  # fmt: skip
def test_the_first_and_the_last_name_of_an_expression(text, root, last) -> None:
    node = ast.parse(text, mode="eval").body
    assert (program_text.find_root_name(node), program_text.find_last_name_or_text(node)) == (root, last)


CLASSES = """class Base:
    kind = "net"
    def __init__(this, w):
        this.base = w
        w.own = 1
class Net(Base):
    def __init__(self, w):
        self.w = w
        self.w = [self.w]
class Other:
    def __init__(self):
        self.w = self.other = 1
def build(self):
    self.built = 1
"""


@pytest.mark.parametrize(("name", "line"), [("w", 8), ("base", 4), ("other", None), ("built", None), ("own", None)])
def test_an_attribute_is_set_in_a_class_of_its_object(name, line) -> None:
    file, space = with_text(CLASSES), {}
    exec(compile(CLASSES, file, "exec"), space)
    site = program_text.find_attribute_assignment_site(space["Net"](SimpleNamespace()), name)
    assert site == (NOWHERE if line is None else (file, line))


def test_an_attribute_of_self_is_bound_in_its_own_class() -> None:
    file = with_text(CLASSES)
    lines = [[it.line for it in program_text.find_binding_statements("self.w", program_text.find_statement((file, at)))]
             for at in (8, 12, 4)]  # fmt: skip
    assert lines == [[8, 9], [12], []]


def test_the_statements_of_a_function_include_those_of_its_inner_functions() -> None:
    text = "def f():\n    a = 1\n    def g():\n        return a\n    return g\nb = 2\n"
    file, space = with_text(text), {}
    exec(compile(text, file, "exec"), space)
    assert [it.line for it in program_text.list_statements_of_code(space["f"].__code__)] == [2, 3, 4, 5]


def test_a_text_that_cannot_be_parsed_has_no_statements() -> None:
    assert program_text.list_statements(with_text("x = (\n")) == [] == program_text.list_statements(None)


def test_the_lines_that_call_or_bind_are_listed() -> None:
    file = with_text("m.compile(a)\nb.trainable = c\ncompile = d\nfit(m)\nd.trainable_x = 1\n")
    assert program_text.list_call_sites(file, "compile", "fit") == [(file, 1), (file, 4)]
    assert program_text.list_binding_sites(file, ".trainable", "pile") == [(file, 2), (file, 3)]


@pytest.mark.parametrize(("text", "pairs"), [
    ("a, b = 1, 2", [("a", "1"), ("b", "2")]), ("a, b = f()", [("a", "f()"), ("b", "f()")]), ("a = 1, 2",
                                                                                            [("a", "(1, 2)")]),
    ("a, b = 1, 2, 3", [("a", "(1, 2, 3)"), ("b", "(1, 2, 3)")]), ("f()", []),
])  # fmt: skip
def test_each_target_is_paired_with_its_own_value_or_the_whole(text, pairs) -> None:
    statement = program_text.find_statement((with_text(text + "\n"), 1))
    found = [tuple(map(ast.unparse, pair)) for pair in program_text.pair_targets_with_own_or_whole_value(statement)]
    assert found == pairs


DEPENDENT = {
    "a value that is read": ("s = f(x)\ny = s + 1\n", 2, True),
    "another value": ("s = f(x)\ny = t + 1\n", 2, False),
    "through a name": ("s = f(x)\nt = s\ny = t + 1\n", 3, True),
    "the statement itself": ("s = f(x)\n", 1, True),
    "a literal of the statement itself": ("s = 1\n", 1, False),
}


@pytest.mark.parametrize(("text", "line", "depends"), DEPENDENT.values(), ids=DEPENDENT)
def test_expressions_depend_on_a_statement_whose_value_they_read(text, line, depends) -> None:
    file = with_text(text)
    statement = program_text.find_statement((file, line))
    start = program_text.find_statement((file, 1))
    assert program_text.may_depend_on_statement(start, statement, [statement.value]) is depends


# -- operands, keys and flow -----------------------------------------------------------------------


@pytest.mark.parametrize(("text", "op", "inputs", "expected"), [
    ("y = a - b", "Sub", [0, 1], ["a", "b"]), ("y = a - b", "Mul", [0, 1], []), ("y = a - b - c", "Sub", [0, 1], []),
    ("y = loss(a, b)", "Sub", [0, 1], ["a", "b"]), ("y = loss(a, b)", "Sub", [1, 0], ["b", "a"]),
    ("y = loss(a)", "Sub", [0, 1], []), ("y = f(a, b) + g(a, b)", "Sub", [0, 1], []),
    ("y = a - b", "Sub", [1, 0], ["a", "b"]), ("y = a * b", "Mul", [0, 1], ["a", "b"]),
])  # fmt: skip
def test_both_operands_of_an_operation_are_found_in_its_line(text, op, inputs, expected) -> None:
    file = with_text(text + "\n")
    rows = build_rows(("leaf", [], {"name": "a"}), ("leaf", [], {"name": "b"}), (op, inputs, {"site": (file, 1)}))
    assert [ast.unparse(it) for it in program_text.find_both_operand_expressions(rows, rows[2])] == expected


@pytest.mark.parametrize(("text", "parts"), [
    ("d['k']", ("d", "k")), ("d.get('k')", ("d", "k")), ("d.pop('k', 0)", ("d", "k")), ("d[0]", None), ("d[k]", None),
    ("d.get(k)", None), ("f().get('k')", None), ("d.find('k')", None), ("d", None), ("d.get()", None),
])  # fmt: skip
def test_a_lookup_by_a_literal_key_is_split(text, parts) -> None:
    base, key = program_text.split_key_lookup(ast.parse(text, mode="eval").body)
    assert (base.id, key) == parts if parts else (base, key) == (None, "")


FLOWS = {
    "a name": ("s = f(x)\ny = s + 1\nz = 2\n", {2}),
    "a name that is bound again": ("s = f(x)\ns = 1\ny = s\n", set()),
    "a name that may be bound again": ("s = f(x)\nif c:\n    s = 1\ny = s\n", {4}),
    "a name that is changed": ("s = f(x)\ns += 1\ny = s\n", {3}),
    "a list": ("s = f(x)\nall.append(s)\ny = all[0]\n", {2, 3}),
    "a key": ("d['k'] = f(x)\ny = d['k']\nz = d['l']\n", {2}),
    "the whole dictionary": ("d['k'] = f(x)\ny = d\n", {2}),
    "an attribute": ("o.s = f(x)\ny = p.s\nz = o.t\n", {2}),
    "an argument": ("def g(t, u):\n    a = t\n    b = u\ns = f(x)\ng(s, 1)\n", {2, 5}),
    "an argument by name": ("def g(t, u):\n    a = t\n    b = u\ns = f(x)\ng(1, u=s)\n", {3, 5}),
    "a result": ("def g():\n    return f(x)\ny = g()\nz = h()\n", {3}),
    "a part of an argument": ("def g(t, u):\n    t[0] = f(x)\nd = [0]\ne = [0]\ng(d, e)\ny = d[0]\n", {6}),
    "another argument": ("def g(t, u):\n    t[0] = f(x)\nd = [0]\ne = [0]\ng(d, e)\ny = e[0]\n", set()),
    "an argument of another call": ("def g(t):\n    a = t\ns = f(x)\ng(s)\ng(o)\ny = o\n", {2}),
    "a class without a base": (
        "class C:\n    def g(self):\n        self.s = f(x)\n    def h(self):\n"
        "        y = self.s\nclass D:\n    def h(self):\n        y = self.s\n",
        {5},
    ),
    "a class with a subclass": (
        "class C:\n    def g(self):\n        self.s = f(x)\n    def h(self):\n"
        "        y = self.s\nclass D(C):\n    def h(self):\n        y = self.s\n",
        {5, 8},
    ),
    "an argument of a method": (
        "class C:\n    def g(self, t, u):\n        a = t\n        b = u\ns = f(x)\nC().g(s, 1)\n",
        {3, 6},
    ),
    "a function that is passed on": ("def g():\n    return f(x)\ny = pool.map(g, d)\n", {3}),
    "another function that is passed on": ("def g():\n    return 1\ns = f(x)\ny = pool.map(g, d)\n", set()),
    "an object that is called": ("class C:\n    def __call__(self):\n        return f(x)\nm = C()\ny = m()\n", {4, 5}),
    "an attribute that may be that of another object": ("o.s = f(x)\np.s = 1\ny = o.s\n", {3}),
    "a branch": ("if f(x):\n    y = 1\nz = 2\n", {2}),
    "a local name": ("def g():\n    s = f(x)\n    return 1\ny = s\n", set()),
}


@pytest.mark.parametrize(("text", "lines"), FLOWS.values(), ids=FLOWS)
def test_a_value_flows_through_a_program(text, lines) -> None:
    file = with_text(text)
    start_line = next(number for number, it in enumerate(text.splitlines(), 1) if "f(x)" in it)
    start = program_text.find_statement((file, start_line))
    reached = program_text.collect_statements_using_value(start, [file])
    assert {statement.line for statement in reached if statement is not start} >= lines
    unreached = set(range(1, len(text.splitlines()) + 1)) - lines - {start_line}
    simple = {it.line for it in reached if isinstance(it.node, ast.Assign)}
    assert simple.isdisjoint(unreached)


# -- answers that belong together ------------------------------------------------------------------


def build(name, cause="stop_gradient", line=3, message=None):
    answer = Explanation(cause, message or f"{name} is cut.", "Mend it.", line and "a.py", line)
    answer.name = name
    return answer


def test_answers_with_one_line_share_a_paragraph_and_missing_gradients_come_first() -> None:
    page = to_explanation_page([build("h", "connected", None), build("z", "dead_relu"), build("a"), build("b"),
                                build("c", line=4), build("d", line=None), build("e", line=None),
                                build("f", line=None, message="something else")])  # fmt: skip
    names = [[answer.name for answer in group] for group in group_explanations_by_reason(page)]
    assert names == [["a", "b"], ["c"], ["d", "e"], ["f"], ["z"], ["h"]]
    headings = [paragraph.splitlines()[0] for paragraph in str(page).split("\n\n")]
    assert headings[0] == "No gradient for a and b (2 of 8)." and headings[-1] == "Gradient found for h (1 of 8)."
    page[0].fix = ""
    assert str(page).split("\n\n")[-1] == headings[-1]  # Nothing is wrong there, so nothing more is said.


def test_a_paragraph_names_six_variables() -> None:
    page = to_explanation_page([build(name) for name in "abcdefgh"])
    assert str(page).startswith("No gradient for a, b, c, d, e, f and 2 more (8 of 8).")
    assert str(to_explanation_page({"k": [build("a")], "l": (build("b"),)})).startswith(
        "No gradient for a and b (2 of 2)."
    )
    assert "There are no sources" in str(to_explanation_page([]))


def test_further_breaks_are_listed_once_each_and_five_at_most() -> None:
    others = [build(name, line=line) for name, line in zip("abcdefgh", (3, 4, 4, 5, 6, 7, 8, 9), strict=True)]
    answer = build("x").add_side_breaks(others)
    assert [other.line for other in answer.others] == [4, 5, 6, 7, 8]
    assert all(other.beside is (other in answer.others) for other in others)


@pytest.mark.parametrize(("cause", "other_cause", "is_added"), [
    ("recording_paused", "recording_paused", False), ("outside_tape", "outside_tape", False),
    ("recording_paused", "outside_tape", True), ("stop_gradient", "stop_gradient", True),
])  # fmt: skip
def test_one_pause_and_one_operation_outside_are_enough(cause, other_cause, is_added) -> None:
    answer = build("x", cause).add_side_breaks([build("y", other_cause, line=4)])
    assert bool(answer.others) is is_added


def test_a_further_break_is_told_with_its_fix_unless_both_were_told() -> None:
    other, third, told = build("b", line=4), build("c", line=5), build("d", line=6, message="a is cut.")
    third.fix = "Mend that."
    answer = build("a").add_side_breaks([other, third, told])
    also = [line for line in str(answer).splitlines() if "Also" in line]
    assert also == ["  Also: b is cut.", "  Also: c is cut. Mend that."]


def test_a_fix_that_is_not_enough_names_the_break_on_the_same_path_first() -> None:
    beside, behind, unknown = build("b", line=4), build("c", line=5), build("d", line=None)
    assert format_note_that_fix_is_not_enough(build("a").add_side_breaks([beside])) == (
        "Another path is also blocked. See line 4."
    )
    answer = build("a").add_side_breaks([beside])
    answer.others.append(behind)
    assert format_note_that_fix_is_not_enough(answer) == "This fix alone is not enough. See line 5 as well."
    behind.filename = "/home/me/b.py"
    assert format_note_that_fix_is_not_enough(answer).endswith("See b.py, line 5 as well.")
    for alone in ([], [unknown], [build("e", line=3)]):
        answer.others = alone
        assert format_note_that_fix_is_not_enough(answer) == ""


def test_a_warning_outside_of_any_program_is_issued_all_the_same(monkeypatch) -> None:
    monkeypatch.setattr(caller, "find_user_frame", lambda frame: None)
    with pytest.warns(RuntimeWarning, match="^It happened$"):
        caller.warn_at_user_line("It happened")


def test_an_answer_without_a_line_shows_none_and_an_empty_page_says_so() -> None:
    assert "None" not in build("h", line=None)._repr_html_() and "line 3" in build("h")._repr_html_()
    assert '0"></div>' not in build("h", "connected", None)._repr_html_()
    assert "There are no sources" in to_explanation_page([])._repr_html_()
