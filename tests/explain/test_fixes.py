"""`Explanation.patch`: the changed line, put into the program that it was printed for, gives a gradient."""

from pathlib import Path

import numpy as np
import pytest

import minitape as tf
from minitape.explain import Explanation

from .programs import Case, load_cases
from .test_inside import CASES, run_and_explain

EACH = 5  # patches for one source: behind a break there may be another one


def replace_line_by_patch(code: str, line: int, patch: str) -> str:
    """A program with a line changed; the patch is indented as that was."""
    lines = code.splitlines()
    indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
    lines[line - 1 : line] = [indent + one for one in patch.splitlines()]
    return "\n".join(lines) + "\n"


def find_first_patched_break(answer):
    """The first break that has a patch; None where there is none."""
    return next((one for one in (answer, *answer.others) if one.patch is not None), None)


PATCHES = [
    ("stop_gradient", "h = tf.stop_gradient(w * 3.0)", "h = w * 3.0"),
    ("nondifferentiable_op", "h = tf.round(w + 0.2)", None),
    ("nondifferentiable_op", "h = w // 2.0", None),
    ("left_through_numpy", "h = tf.constant(np.exp(w.numpy()))", "h = tf.exp(w)"),
    ("left_through_numpy", "h = float(w) * 2.0", "h = w * 2.0"),
    ("left_through_numpy", "h = tf.constant(np.log(w.numpy() + 1.0).sum())", "h = tf.reduce_sum(tf.math.log(w + 1.0))"),
    ("left_through_numpy", "h = (w * 2.0).numpy().mean()", "h = tf.reduce_mean(w * 2.0)"),
    # what becomes of a list stands elsewhere
    ("left_through_numpy", "h = tf.reduce_sum([v.numpy() for v in [w, w]])", None),
    ("left_through_numpy", "h = tf.constant(w.numpy().item())", "h = tf.convert_to_tensor(w)"),
    ("left_through_numpy", "h = np.sort(w.numpy()[None])[-1]", "h = tf.sort(w[None])[-1]"),
    ("left_through_numpy", "h = tf.add_n([float(w), 1.0])", None),
    ("left_through_numpy", "h = tf.constant(w.numpy()) + tf.reduce_sum([1.0, 2.0])",
     "h = tf.convert_to_tensor(w) + tf.reduce_sum([1.0, 2.0])"),
    ("left_through_numpy", "h = int(w) * 1.0", None),  # a whole number has no gradient
    ("nondifferentiable_op", "h = tf.cast(tf.argmax([w, 1.0]), tf.float32)", None),
]  # fmt: skip


@pytest.mark.parametrize(("cause", "line", "patch"), PATCHES)
def test_one_line(cause: str, line: str, patch: str | None) -> None:
    code = (
        f"import numpy as np\nw = tf.Variable(2.7)\nwith tf.GradientTape() as tape:\n    {line}\n    y = "
        "tf.square(h)\ntarget, source = y, w\n"
    )
    (gradient,), (why,) = run_and_explain("one-line", code)
    assert gradient is None and (why.cause, why.line, why.patch) == (cause, 4, patch)
    if patch is not None:
        (gradient,), (why,) = run_and_explain("one-line-fixed", replace_line_by_patch(code, 4, patch))
        assert why.connected and float(gradient) != 0.0


@pytest.mark.parametrize(
    ("body", "patch"),
    [("return tf.square(tf.stop_gradient(tf.sin(x * self.w)))", "return tf.square(tf.sin(x * self.w))")],
)
def test_a_line_of_a_method(body: str, patch: str) -> None:
    """What is rewritten for a graph stands where the user wrote it, deep as that is."""
    code = (
        f"class M(tf.Module):\n    w = tf.Variable(2.0)\n    @tf.function\n    def f(self, x):\n        {body}\nm "
        "= M()\n"
    )
    code += "with tf.GradientTape() as tape:\n    y = m.f(tf.constant([3.0]))\ntarget, source = y, m.w\n"
    _, (why,) = run_and_explain("method", code)
    assert find_first_patched_break(why).patch == patch
    (gradient,), _ = run_and_explain("method-fixed", replace_line_by_patch(code, 5, patch))
    assert float(gradient) != 0.0


LINES = [
    ("x = tf.Variable(2.0)", "c = tf.identity(x)", "y = x * 2.0", "c", "c = x"),
    # the copy from x to z passes the gradient to z alone, in either order
    ("x, z = tf.Variable(2.0), tf.Variable(1.0)", "", "y = tf.stop_gradient(x - z) + z", "x", None),
    ("x, z = tf.Variable(2.0), tf.Variable(1.0)", "", "y = z + tf.stop_gradient(x - z)", "x", None),
    # without one of two cuts, the line would mean something else
    ("x = tf.Variable(2.0)", "", "y = tf.square(tf.stop_gradient(x)) - tf.stop_gradient(x)", "x", None),
    # line by line it would leave again
    ("x = tf.Variable(2.0)", "", "k = x.numpy()\n    y = tf.constant(np.square(k))", "x", None),
    # a function that calculates with math takes numbers, and a tensor would leave in it
    ("import math\ndef tone(v):\n    return math.sin(v)\nx = tf.Variable(2.0)", "", "y = tf.constant(tone(float(x)))",
     "x", None),
]  # fmt: skip


@pytest.mark.parametrize(("made", "then", "body", "source", "patch"), LINES)
def test_lines_of_other_kinds(made: str, then: str, body: str, source: str, patch: str | None) -> None:
    code = (
        f"import numpy as np\n{made}\n{then}\nwith tf.GradientTape() as tape:\n    {body}\ntarget, source = y, "
        f"{source}\n"
    )
    _, (why,) = run_and_explain("kinds", code)
    assert why.patch == patch
    if patch is not None:
        (gradient,), _ = run_and_explain("kinds-fixed", replace_line_by_patch(code, why.patch_line, patch))
        assert float(gradient) != 0.0


IN_WORDS = [  # what breaks, what the fix says, and the same line when the words are followed
    ("i = 2.0 * w[0]\n    y = tf.gather(t, tf.cast(i, tf.int32))", "`(1 - part) * table[low] + part * table[low + 1]`",
     "x = 2.0 * w[0]\n    k, part = tf.cast(x, tf.int32), x - 2.0\n    y = (1 - part) * t[k] + part * t[k + 1]"),
    ("y = tf.gather(t, tf.argmax(w))", "the candidates with `tf.nn.softmax` of `w`",
     "y = tf.tensordot(tf.nn.softmax(w, axis=0), t[:3], 1)"),
    ("y = tf.where(w > 1.0, 2.0, 0.0)", "with a number between 0 and 1: `tf.sigmoid((w - 1.0) / 0.1)`",
     "p = tf.sigmoid((w - 1.0) / 0.1)\n    y = p * 2.0 + (1 - p) * 0.0"),
    ("y = tf.nn.softmax(w[:1])", "`tf.sigmoid(w[:1])` instead of `tf.nn.softmax(w[:1])`", "y = tf.sigmoid(w[:1])"),
    ("y = 1.0 + tf.maximum(w - 9.0, 0.0)", "Use leaky_relu", "y = 1.0 + tf.nn.leaky_relu(w - 9.0)"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "said", "followed"), IN_WORDS)
def test_words_that_are_followed_give_a_gradient(body: str, said: str, followed: str) -> None:
    code = "import numpy as np\nw, t = tf.Variable([1.3, 0.4, 0.2]), tf.constant([0.1, 0.7, 1.5, 2.0])\n"
    code += (
        "with tf.GradientTape() as tape:\n    {}\n    y = tf.reduce_sum(tf.cast(y, tf.float32) ** 2)\ntarget, "
        "source = y, w\n"
    )
    (gradient,), (why,) = run_and_explain("words", code.format(body))
    assert (gradient is None or not np.any(gradient)) and said in why.fix and why.patch is None
    (gradient,), _ = run_and_explain("words-followed", code.format(followed))
    assert np.any(gradient) and np.all(np.isfinite(gradient))


SOURCES = [
    ("x = tf.constant(3.0)", "not_watched", 3, "tape.watch(x)\ny = x * 2.0"),
    ("x = tf.Variable(3.0, trainable=False)", "not_trainable", 1, "x = tf.Variable(3.0, trainable=True)"),
]


@pytest.mark.parametrize(("made", "cause", "line", "patch"), SOURCES)
def test_the_source_itself(made: str, cause: str, line: int, patch: str) -> None:
    code = f"{made}\nwith tf.GradientTape() as tape:\n    y = x * 2.0\ntarget, source = y, x\n"
    _, (why,) = run_and_explain("source", code)
    assert (why.cause, why.line, why.patch) == (cause, line, patch)
    (gradient,), _ = run_and_explain("source-fixed", replace_line_by_patch(code, line, patch))
    assert float(gradient) == 2.0


def test_a_source_that_the_block_makes_is_not_watched_at_the_top_of_the_block() -> None:
    block = "with tf.GradientTape() as tape:\n    x = tf.constant(3.0)\n    y = x * 2.0\n"
    _, (why,) = run_and_explain("made-in-block", f"{block}target, source = y, x\n")
    assert (why.cause, why.line, why.patch) == ("not_watched", 3, None) and "tape.watch(x)" in why.fix


def test_a_fix_asks_about_the_row_that_was_blamed_also_behind_rows_that_do_not_count() -> None:
    block = "with tf.GradientTape() as tape:\n    y = tf.cast(n, tf.float32) * 2.0\n    k = n * 3\n"
    code = f"n = tf.Variable(2)\n{block}target, source = k, n\n"
    _, (why,) = run_and_explain("whole-target", code)
    assert (why.cause, why.line) == ("integer_dtype", 1) and "write 1.0 instead of 1" in why.fix
    (gradient,), _ = run_and_explain("whole-target-fixed", replace_line_by_patch(code, 1, "n = tf.Variable(2.0)"))
    assert float(gradient) == 3.0


def test_the_fix_of_a_variable_that_its_step_replaced_changes_it_in_place() -> None:
    code = """w = tf.Variable(1.0)
for step in range(2):
    with tf.GradientTape(persistent=True) as tape:
        y = (w - 3.0) ** 2
    g = tape.gradient(y, w)
    if g is not None:
        w = w - 0.1 * g
target, source = y, w
"""
    _, (why,) = run_and_explain("replaced", code)
    assert (why.cause, why.patch) == ("rebound", None) and "w.assign_sub(0.1 * g)" in f"{why.message} {why.fix}"


def test_a_patch_that_would_not_be_enough_has_no_line_either() -> None:
    code = "w = tf.Variable(1.0)\nh = w * 2.0\nwith tf.GradientTape() as tape:\n    y = tf.stop_gradient(h)\n"
    _, (why,) = run_and_explain("not-enough", f"{code}target, source = y, w\n")
    assert [one.cause for one in (why, *why.others)] == ["outside_tape", "stop_gradient"]
    assert [(one.patch, one.patch_line) for one in (why, *why.others)] == [(None, None)] * 2


PATCHED = [(case, i) for case in CASES for i in range(len(case.causes or [[]]))]


@pytest.mark.parametrize(("case", "i"), PATCHED, ids=lambda v: getattr(v, "name", str(v)))
def test_each_patch_that_is_printed_gives_a_gradient(case: Case, i: int) -> None:
    gradients, said = apply_patches_repeatedly(case, i)
    if gradients is None:
        assert said[i].connected or said[i].fix  # words alone
    else:
        assert gradients[i] is not None and said[i].connected


OLDER = load_cases(Path(__file__).parent / "cases")
NOT_ENOUGH = {
    "numpy_values/gan-moments": "NumPy goes on with the value of the first line, and with that of the second: no line "
    "is enough",
    "python_numbers/pool-gives-floats": "without float() workers still compute where no tape is: no line is enough",
    "stop_gradient/asked-in-a-worker": "the program itself asserts that there is no gradient",
    "numpy_functions/asked-in-a-worker-after-numpy-in-main": "the program itself asserts that there is no gradient",
}


@pytest.mark.long(sample=8)
@pytest.mark.parametrize("case", [case for case in OLDER if case.name not in NOT_ENOUGH], ids=lambda case: case.name)
def test_the_patches_of_older_programs(case: Case) -> None:
    _, before = run_and_explain(case.name, case.code)
    for i, answer in enumerate(before):
        gradients, said = apply_patches_repeatedly(case, i)
        if gradients is not None:
            assert gradients[i] is not None and said[i].connected, answer


def apply_patches_repeatedly(case: Case, i: int) -> tuple[list[object] | None, list[Explanation]]:
    """The gradients and answers when all patches are applied that are printed, and again; None for a source without
    one.
    """
    code, gradients = case.code, None
    _, said = run_and_explain(case.name, code)
    for step in range(EACH):
        found = {
            one.patch_line: one.patch for answer in said[::-1] if (one := find_first_patched_break(answer)) is not None
        }
        mine = find_first_patched_break(said[i])
        if mine is None:
            break
        found[mine.patch_line] = mine.patch
        for line in sorted(found, reverse=True):
            code = replace_line_by_patch(code, line, found[line])
        gradients, said = run_and_explain(f"{case.name}-{step}", code)
    return gradients, said


@pytest.mark.parametrize(("body", "why"), [
    ("h = w.numpy()\n    h[0] = 0.0\n    y = tf.reduce_sum(tf.constant(h))", ""),
    ("h = w.numpy()\n    h *= 2.0\n    h[1] += 1.0\n    y = tf.reduce_sum(h)", ""),
    ("h = w.numpy()\n    y = tf.reduce_sum(tf.constant(np.concatenate([h, h])))", ""),
    ("h = (w.numpy() > 0.5).astype(np.float32)\n    y = tf.reduce_sum(h)", ""),
    ("h = bytes(memoryview(w.numpy()))\n    y = tf.constant(float(h[3]))", ""),
    ("h = float(w[0])\n    y = tf.constant({1.0: 5.0}[h])", ""),
])  # fmt: skip
def test_no_patch_where_a_tensor_cannot_stand_for_the_array(body: str, why: str) -> None:
    code = (
        f"import numpy as np\nw = tf.Variable([1.0, 2.0])\nwith tf.GradientTape() as tape:\n    {body}\ntarget, "
        "source = y, w\n"
    )
    _, (answer,) = run_and_explain("arrays", code)
    assert (answer.cause, answer.line, answer.patch) == ("left_through_numpy", 4, None)
    assert why in answer.fix


def test_the_logarithm_of_a_negative_number_gets_its_own_advice_beside_a_division():
    x = tf.Variable([-0.5, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.math.log(x) + x / (1.0 + x * x))
    fix = tape.explain(y, x).fix
    assert fix.startswith("`x` is negative for at least one element"), fix
