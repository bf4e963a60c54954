"""Which line an edit writes, and when it leaves a line alone, in programs of a single line."""

import ast
import linecache
from types import SimpleNamespace

import pytest

from minitape.explain.causes import CAUSES
from minitape.explain.explanation import Explanation
from minitape.explain.fixes import block_fixes, edits, host_conversion_fixes, numeric_fixes, operation_advice
from minitape.explain.fixes.dialects import JAX, TAPE, TORCH
from minitape.explain.fixes.fault_site import (
    FaultSite,
    apply_edit_to_only_fitting_node,
    is_result_used_as_index,
    spell_function_path_as_imported,
)
from minitape.explain.reasons.program_text import find_statement

from .hand_built_runs import build_rows


def build_fault(text, line, dialect=TORCH, row=None, rows=()):
    """Build the fault site of a line of a program."""
    file = f"fix decisions {abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    adapter = SimpleNamespace(dialect=dialect, list_program_variable_names_and_values=list)
    question = SimpleNamespace(
        adapter=adapter,
        rows=rows,
        get_or_compute_shared_result=lambda name, build: build(),
        is_computed_from_source=lambda index: index == 0,
    )
    return FaultSite(question, "detach", find_statement((file, line)), row)


def edit_line(edit, line, dialect=TORCH, row=None, rows=(), before="import torch\nimport numpy as np\n"):
    """Apply an edit to a line, and return the new line, or None if the line stays as it is."""
    fault = build_fault(f"{before}{line}\n", before.count("\n") + 1, dialect, row, rows)
    fix = apply_edit_to_only_fitting_node(fault, edit)
    return None if fix is None else fix.text


def edit_value(write):
    """Return an edit that writes the value of an assignment anew."""
    return lambda fault, node: write(fault, node) if node is fault.statement.value else None


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
    "h = np.data * x": None,
    "h = h.detach()": "",
    "o.h = o.h.detach()": "o.h = o.h",
    "h = d['k'].detach()": "h = d['k']",
    'h = d["k"].detach()': 'h = d["k"]',
    "h = d[\"k\"][e['l']].detach()": "h = d['k'][e['l']]",
    "h = f(\n    x\n).detach()": None,
}


@pytest.mark.parametrize("line", UNWRAPPED)
def test_a_cut_is_taken_off_its_operand(line) -> None:
    assert edit_line(edits.build_call_unwrapping_edit("detach", "data"), line) == UNWRAPPED[line]


def test_the_call_that_builds_a_tensor_can_itself_be_taken_off() -> None:
    assert edit_line(edits.build_call_unwrapping_edit("tensor"), "h = torch.tensor(x)") == "h = x"


def test_arguments_can_be_added_to_an_argument() -> None:
    def add_keyword(fault, node):
        return "x, dim=0" if isinstance(node, ast.Name) and node.id == "x" else None

    assert edit_line(add_keyword, "y = f(x)") == "y = f(x, dim=0)"


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
    ("y = torch.round()", TORCH, None),
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


@pytest.mark.parametrize(("imports", "path", "expected"), [
    ("import jax.numpy as jnp", "jnp.log", "jnp.log"), ("from jax import numpy as jnp", "jnp.log", "jnp.log"),
    ("import jax", "jnp.log", "jax.numpy.log"), ("import numpy as jnp", "jnp.log", None),
    ("import numpy as jnp\nimport jax", "jnp.log", "jax.numpy.log"), ("import torch", "jnp.log", None),
    ("import jax.numpy as jnp", "jax.lax.stop_gradient", None), ("import jax", "jax.lax.cond", "jax.lax.cond"),
])  # fmt: skip
def test_a_function_is_written_as_the_program_imports_it(imports, path, expected) -> None:
    fault = build_fault(f"{imports}\ny = f(x)\n", imports.count("\n") + 2, JAX)
    assert spell_function_path_as_imported(fault, path) == expected


def test_no_estimator_is_written_if_the_program_has_no_name_for_the_cut() -> None:
    fault = build_fault("import jax.numpy as jnp\ny = jnp.round(x)\n", 2, JAX)
    step = fault.statement.value
    assert numeric_fixes.format_straight_through_estimator(fault, step, step.args[0]) is None


@pytest.mark.parametrize(("call", "is_cast"), [
    ("x.int()", True), ("x.long()", True), ("x.short()", True), ("int(x)", True), ("x.to(torch.int32)", True),
    ("x.to(dtype=torch.uint8)", True), ("tf.cast(x, tf.int64)", True), ("tf.cast(int_x, tf.float32)", False),
    ("x.float()", False), ("x.to(dtype=torch.float32)", False),
])  # fmt: skip
def test_a_cast_to_an_integer_type_is_known_by_its_name_or_its_type(call, is_cast) -> None:
    assert numeric_fixes.is_integer_cast(ast.parse(call, mode="eval").body) is is_cast


@pytest.mark.parametrize(("comparison", "expected"), [
    ("x > 0.5", "torch.sigmoid((x - 0.5) / 0.1)"), ("0.5 < x", "torch.sigmoid((x - 0.5) / 0.1)"),
    ("x >= 0", "torch.sigmoid(x / 0.1)"), ("x <= 0.0", "torch.sigmoid((0.0 - x) / 0.1)"),
    ("torch.gt(x, y)", "torch.sigmoid((x - y) / 0.1)"), ("torch.less(x, y)", "torch.sigmoid((y - x) / 0.1)"),
    ("0 < x < 1", None), ("x == y", None), ("torch.gt(x)", None), ("torch.add(x, y)", None), ("x", None),
])  # fmt: skip
def test_an_ordering_comparison_of_two_values_has_a_smooth_replacement(comparison, expected) -> None:
    found = edit_line(edit_value(operation_advice.format_soft_comparison), f"y = {comparison}")
    assert found == (expected and f"y = {expected}")


REMOVALS = {
    "a block": ("with torch.no_grad():\n    h = f(x)\n", 2, (1, "with torch.no_grad():")),
    "the inner of two blocks": (
        "with torch.no_grad():\n    with torch.no_grad():\n        h = f(x)\n",
        3,
        (2, "with torch.no_grad():"),
    ),
    "another block around": (
        "with torch.no_grad():\n    with open(x):\n        h = f(x)\n",
        3,
        (1, "with torch.no_grad():"),
    ),
    "a decorator": ("@torch.no_grad()\ndef g():\n    h = f(x)\n", 3, (1, "@torch.no_grad()")),
    "the second of three decorators": (
        "@cache\n@torch.no_grad()\n@log\ndef g():\n    h = f(x)\n",
        5,
        (2, "@torch.no_grad()"),
    ),
    "no block": ("h = f(x)\n", 1, None),
    "a block above": ("with torch.no_grad():\n    pass\nh = f(x)\n", 3, None),
}


@pytest.mark.parametrize(("text", "line", "removed"), REMOVALS.values(), ids=REMOVALS)
def test_the_block_or_decorator_that_pauses_is_removed(text, line, removed) -> None:
    fix = block_fixes.plan_removal_of_block_using("no_grad")(build_fault(text, line))
    assert (fix and (fix.line, fix.text)) == (removed and (removed[0], ""))
    assert fix is None or fix.sentence == "Remove line {} (`{}`).".format(*removed)


@pytest.mark.parametrize(("conversion", "inner"), [
    ("float(h)", "h"), ("h.item()", "h"), ("h.detach().cpu().numpy()", "h"), ("float(h.sum())", "h.sum()"),
    ("int(h)", None), ("float()", None), ("h.numpy(1)", None), ("float(x=h)", None), ("h.sum()", None), ("h", None),
])  # fmt: skip
def test_a_conversion_is_taken_off_its_tensor(conversion, inner) -> None:
    found = host_conversion_fixes.strip_conversion(ast.parse(conversion, mode="eval").body)
    assert ast.unparse(found) == (inner or conversion)


CONVERTED = {
    "a number": ("y = float(h) * 2\n", "y = h * 2"),
    "a number that is increased": ("y = float(h) * 2\ny += 1\n", "y = h * 2"),
    "the tensor itself, which is increased": ("y = float(h)\ny += 1\n", None),
    "an item of a list": ("ys[0] = float(h) * 2\n", "ys[0] = h * 2"),
    "an item of an array": ("ys[i] = float(h) * 2\n", None),
    "a list": ("ys.append(float(h))\n", "ys.append(h)"),
    "a list that becomes an array": ("ys.append(float(h))\nz = np.mean(ys)\n", None),
    "another list that becomes an array": ("ys.append(float(h))\nz = np.mean(zs)\n", "ys.append(h)"),
    "several values of a list": ("n = ys.extend(float(h))\n", None),
    "a value that is dropped": ("f(float(h))\n", None),
    "a number that becomes an array": ("y = float(h) * 2\nz = np.mean(y)\n", None),
    "a line that has no conversion": ("y = h * 2\n", None),
}


@pytest.mark.parametrize(("text", "expected"), CONVERTED.values(), ids=CONVERTED)
def test_a_line_keeps_its_tensor_unless_a_later_line_needs_a_number(text, expected) -> None:
    fix = host_conversion_fixes.convert_line_to_framework(build_fault(f"import numpy as np\nimport torch\n{text}", 3))
    assert (fix and fix.text) == expected


INT, FLOAT = {"dtype": "int64"}, {"dtype": "float32"}
INDEXED = {
    "directly": ([("leaf", []), ("argmax", [0], INT), ("getitem", [0, 1])], True),
    "through another integer": ([("leaf", []), ("argmax", [0], INT), ("add", [1], INT), ("getitem", [0, 2])], True),
    "through a float": ([("leaf", []), ("argmax", [0], INT), ("to", [1], FLOAT), ("getitem", [0, 2])], False),
    "not at all": ([("leaf", []), ("argmax", [0], INT), ("getitem", [0])], False),
}


@pytest.mark.parametrize(("descriptions", "is_index"), INDEXED.values(), ids=INDEXED)
def test_a_result_is_used_as_an_index_through_integers(descriptions, is_index) -> None:
    rows = build_rows(*descriptions)
    assert is_result_used_as_index(build_fault("i = x.argmax()\n", 1, row=rows[1], rows=rows)) is is_index
    assert not is_result_used_as_index(build_fault("i = x.argmax()\n", 1, rows=rows))
