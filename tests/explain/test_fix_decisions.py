"""Which line an edit writes, and when it leaves a line alone, in programs of a single line."""

import ast
import linecache
from types import SimpleNamespace

import pytest

from minitape.explain.causes import CAUSES
from minitape.explain.explanation import Explanation
from minitape.explain.fixes import edits, numeric_fixes
from minitape.explain.fixes.dialects import JAX, TAPE, TORCH
from minitape.explain.fixes.fault_site import FaultSite, apply_edit_to_only_fitting_node
from minitape.explain.reasons.program_text import find_statement

from .hand_built_runs import build_rows


def edit_line(edit, line, dialect=TORCH, row=None, rows=(), before="import torch\nimport numpy as np\n"):
    """Apply an edit to a line, and return the new line, or None if the line stays as it is."""
    text = f"{before}{line}\n"
    file = f"fix decisions {abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    statement = find_statement((file, before.count("\n") + 1))
    adapter = SimpleNamespace(dialect=dialect, list_program_variable_names_and_values=list)
    question = SimpleNamespace(
        adapter=adapter,
        rows=rows,
        get_or_compute_shared_result=lambda name, build: build(),
        is_computed_from_source=lambda index: index == 0,
    )
    fix = apply_edit_to_only_fitting_node(FaultSite(question, "detach", statement, row), edit)
    return None if fix is None else fix.text


UNWRAPPED = {
    "h = f(x).detach()": "h = f(x)",
    "h = x.detach() * 2": "h = x * 2",
    "h = (x + 1).detach() * 2": "h = (x + 1) * 2",
    "h = torch.detach(x)": "h = x",
    "h = x.data * 2": "h = x * 2",
    "h = x.data.sum()": None,
    "x.data = y": None,
    "h = torch.detach(x, 1)": None,
    "h = x.detach(1)": None,
    "h = x + (y - x).detach()": None,
    "h = (y - x).detach() + x": None,
    "h = z + (y - x).detach()": "h = z + (y - x)",
    "h = torch.tensor(x.detach())": None,
    "h = torch.tensor(x)": None,
    "h = x.detach() + y.detach()": None,
}


@pytest.mark.parametrize("line", UNWRAPPED)
def test_a_cut_is_taken_off_its_operand(line) -> None:
    assert edit_line(edits.build_call_unwrapping_edit("detach", "data"), line) == UNWRAPPED[line]


@pytest.mark.parametrize(("line", "expected"), [
    ("y = lax.stop_gradient(x + f(x) - x)", "y = x + lax.stop_gradient(f(x) - x)"),
    ("y = lax.stop_gradient(x + (f(x) - x))", "y = x + lax.stop_gradient(f(x) - x)"),
    ("y = lax.stop_gradient(x + f(x) - z)", None), ("y = lax.stop_gradient(f(x) - x)", None),
    ("y = round(x + f(x) - x)", None),
])  # fmt: skip
def test_a_cut_moves_to_the_difference(line, expected) -> None:
    assert edit_line(edits.build_edit_that_moves_cut_to_difference("stop_gradient"), line, JAX) == expected


@pytest.mark.parametrize(("line", "expected"), [
    ("y = f(x)", "y = f(x, create_graph=True)"), ("y = f(x, create_graph=False)", "y = f(x, create_graph=True)"),
    ("y = f(x, create_graph=True)", None), ("y = g(x)", None), ("y = g(x, create_graph=False)",
                                                               "y = g(x, create_graph=True)"),
])  # fmt: skip
def test_a_keyword_is_set(line, expected) -> None:
    assert edit_line(edits.build_keyword_edit("create_graph", True, "f"), line) == expected


OPERANDS = {
    "y = 1 / x": "y = 1 / (x + 1e-06)",
    "y = torch.log(x)": "y = torch.log(x + 1e-06)",
    "y = x.log()": "y = (x + 1e-06).log()",
    "y = x ** 0.5": "y = (x + 1e-06) ** 0.5",
    "y = x ** 2": None,
    "y = x ** 1.5": None,
    "y = x ** p": "y = (x + 1e-06) ** p",
    "y = x * 2": None,
    "y = torch.exp(x)": None,
}


@pytest.mark.parametrize("line", OPERANDS)
def test_an_operand_is_kept_away_from_zero(line) -> None:
    assert edit_line(edits.build_operand_edit("{x} + 1e-06", "div", "log", "pow"), line) == OPERANDS[line]


@pytest.mark.parametrize(("line", "before", "expected"), [
    ("w.requires_grad = False", "", "w.requires_grad = True"), ("w.requires_grad = flag", "", None),
    ("net.requires_grad_(False)", "", "net.requires_grad_(True)"), ("net.requires_grad_(True)", "", None),
    ("layer.trainable = False", "", "layer.trainable = True"), ("layer.frozen = False", "", None),
    ("    w.requires_grad = False", "for w in ws:\n", None),
])  # fmt: skip
def test_what_is_frozen_outside_of_a_loop_is_thawed(line, before, expected) -> None:
    assert edit_line(edits.replace_false_in_requires_grad_or_trainable, line, before=before) == expected


@pytest.mark.parametrize(("value", "operator", "expected"), [
    ("w - 0.1 * g", None, "w.assign_sub(0.1 * g)"), ("w + g", None, "w.assign_add(g)"),
    ("g - w", None, "w.assign(g - w)"),
    ("w * 2", None, "w.assign(w * 2)"), ("g", ast.Sub(), "w.assign_sub(g)"), ("g", ast.Add(), "w.assign_add(g)"),
    ("g", ast.Mult(), ""), ("tf.Variable(2.0)", None, "w.assign(2.0)"),
    ("tf.Variable()", None, "w.assign(tf.Variable())"),
])  # fmt: skip
def test_an_assignment_becomes_a_call_of_the_variable(value, operator, expected) -> None:
    node = ast.parse(value, mode="eval").body
    assert edits.format_variable_assign_call_or_empty("w", node, operator) == expected


@pytest.mark.parametrize(("shapes", "expected"), [
    (((8, 1), (8,)), "loss = p.squeeze(-1) - y"), (((8,), (8, 1)), "loss = p - y.squeeze(-1)"),
    (((8, 1), (8, 1)), None), (((8,), (8,)), None),
])  # fmt: skip
def test_the_column_is_squeezed(shapes, expected) -> None:
    rows = build_rows(*(("leaf", [], {"shape": shape}) for shape in shapes), ("sub", [0, 1]))
    file_line = "loss = p - y"
    text = f"import torch\nimport numpy as np\n{file_line}\n"
    rows[2].site = (f"fix decisions {abs(hash(text))}.py", 3)
    assert edit_line(edits.squeeze_column, file_line, row=rows[2], rows=rows) == expected


@pytest.mark.parametrize(("line", "dialect", "expected"), [
    ("y = torch.round(x)", TORCH, "x + (torch.round(x) - x).detach()"),
    ("y = torch.round(x + 1)", TORCH, "x + 1 + (torch.round(x + 1) - (x + 1)).detach()"),
    ("y = torch.round(f(x))", TORCH, None), ("y = torch.round(x + torch.rand(3))", TORCH, None),
    ("y = torch.round(torch.sin(x))", TORCH, "torch.sin(x) + (torch.round(torch.sin(x)) - torch.sin(x)).detach()"),
    ("y = tf.round(x)", TAPE, "x + tf.stop_gradient(tf.round(x) - x)"),
    ("y = jnp.round(x)", JAX, "x + jax.lax.stop_gradient(jnp.round(x) - x)"),
    ("y = a // b", TAPE, "a / b + tf.stop_gradient(a // b - a / b)"),
    ("y = tf.math.floordiv(a, b)", TAPE, "a / b + tf.stop_gradient(tf.math.floordiv(a, b) - a / b)"),
])  # fmt: skip
def test_a_step_function_passes_the_gradient_straight_through(line, dialect, expected) -> None:
    def write_estimator(fault, node):
        if node is not fault.statement.value:
            return None
        operand = numeric_fixes.find_step_function_operand(fault, node)
        return numeric_fixes.format_straight_through_estimator(fault, node, operand)

    imports = {
        "torch": "import torch\n",
        "tf": "import minitape as tf\n",
        "jax": "import jax\nimport jax.numpy as jnp\n",
    }
    found = edit_line(write_estimator, line, dialect, before=imports[dialect.name])
    assert found == (expected and f"y = {expected}")


ROOT = [("leaf", [], {"value": [0.0, 2.0]}), ("sqrt", [0], {"value": [0.0, 1.4]})]
AT_ZERO = {
    "a zero": (ROOT, True),
    "nothing at zero": ([("leaf", [], {"value": [1.0, 2.0]}), ROOT[1]], False),
    "a negative number": ([("leaf", [], {"value": [-1.0, 0.0]}), ROOT[1]], False),
    "unknown elements": ([("leaf", []), ROOT[1]], False),
    "a zero of an exponential": ([("exp", [], {"value": [0.0, 2.0]}), ROOT[1]], False),
    "a zero in a normalization": ([("leaf", [], {"value": [0.0, 2.0], "scope": ["LayerNorm"]}), ROOT[1]], False),
    "a result of zeros": ([("leaf", [], {"value": [0.0, 0.0]}), ("sqrt", [0], {"value": [0.0, 0.0]})], False),
    "an input of another source": ([ROOT[0], ROOT[0], ("sqrt", [1], {"value": [0.0, 1.4]})], False),
}


@pytest.mark.parametrize(("descriptions", "is_edited"), AT_ZERO.values(), ids=AT_ZERO)
def test_a_small_number_is_added_where_the_input_is_zero(descriptions, is_edited) -> None:
    rows = build_rows(*descriptions)
    edit = numeric_fixes.restrict_edit_to_nonzero_operation_result(
        numeric_fixes.restrict_edit_to_input_with_minimum_zero(edits.build_operand_edit("{x} + 1e-12", "sqrt"))
    )
    found = edit_line(edit, "y = torch.sqrt(x)", row=rows[-1], rows=rows)
    assert found == ("y = torch.sqrt(x + 1e-12)" if is_edited else None)


@pytest.mark.parametrize("cause", ["connected", "dead_relu", "stop_gradient", "broadcast", "nan_forward"])
def test_a_kind_says_whether_there_is_a_gradient_and_only_problems_have_a_page(cause) -> None:
    answer = Explanation(cause, "It happened.", "")
    assert answer.connected is (CAUSES[cause].kind in ("connected", "zero", "suspect", "nonfinite"))
    assert ("More: minitape explain --cause" in str(answer)) is (cause != "connected")
    assert Explanation(cause, "", "", connected=False).connected is False
