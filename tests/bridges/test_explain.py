"""``recording.explain`` in every framework: the cause and the line of each program, and that what it advises works."""

import re

import pytest

from minitape.common.translation import LANGUAGE_VARIABLES
from minitape.explain.causes import CAUSES

from .cases import CHINESE_PATTERN, apply_fixes, find_english_sentences, list_blamed_line_numbers, strip_fix_comments
from .frameworks import FRAMEWORKS, is_usable, list_all_cases
from .variants import find_variant, read_variants

# what PyTorch and TensorFlow themselves say in these programs
pytestmark = pytest.mark.filterwarnings(
    "ignore:To copy construct", "ignore:The .grad attribute", "ignore:Converting a tensor", "ignore:.*non-leaf Tensor",
    "ignore:std", "ignore:None of the inputs", "ignore:.torch.cpu.amp.autocast:FutureWarning",
    "ignore:__array__ implementation:DeprecationWarning",
)  # fmt: skip
FAILS = set(
    """
    unknown requires_grad create_graph detach data no_grad inference_mode copied integer_cast no_derivative
    in_place backward_twice not_scalar integer_dtype left_jax branch boolean_index has_aux while_loop callback
    leaked_tracer refused
""".split()
)

TORCH, TENSORFLOW, JAX = FRAMEWORKS
VARIANTS = read_variants()
PATCHES = [  # None: one line is not enough, or there are several ways
    (TORCH, "draw_of_a_latent", "z = torch.distributions.Normal(w, 1.0).rsample()"),
    (TORCH, "data_of_the_output", "loss = (out ** 2).mean()"),
    (TORCH, "straight_through_cut_as_a_whole", "codes = w + (torch.round(w) - w).detach()"),
    (TORCH, "torch_tensor_of_a_list", None),
    (TORCH, "in_place_relu_after_sigmoid", None),
    (TORCH, "recurrence_in_a_buffer", None),
    (TORCH, "numpy_in_the_middle", None),
    (TORCH, "index_by_a_parameter", None),
    (TORCH, "where_hides_the_root", "y = torch.sqrt(w + 1e-12)"),
    (TORCH, "saturated_sigmoid", None),
    (TORCH, "meter_that_keeps_a_number", None),  # what reads it makes a new tensor
    (TENSORFLOW, "numpy_in_the_middle", "z = tf.math.log1p(h)"),
    (TENSORFLOW, "straight_through_cut_as_a_whole", "codes = w + tf.stop_gradient(tf.round(w) - w)"),
    (TENSORFLOW, "floor_of_a_value", None),
    (JAX, "stop_gradient_on_the_way", "h = w * 3.0"),
    (JAX, "straight_through_cut_as_a_whole", "codes = w + jax.lax.stop_gradient(jnp.round(w) - w)"),
    (JAX, "integer_weights", None),
]


def apply_patch(text: str, line: int, patch: str) -> str:
    """A program with a line changed; the patch is indented as that was."""
    lines = text.splitlines()
    indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
    lines[line - 1 : line] = [indent + one for one in patch.splitlines()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("framework", "name"), list_all_cases())
def test_cause_and_line(framework, name, monkeypatch):
    """And each sentence of the answer, and of what fixes it, is translated."""
    cause, text = framework.cases[name]
    space, recording, why = framework.record_and_explain_program(strip_fix_comments(text), f"<{name}>")
    assert recording.internal_error is None
    assert "error" not in space or cause in FAILS
    assert (
        "error" in space
        or not is_usable(framework.gradient(space))
        or cause in ("backward_twice", "non_leaf", "closure")
    )
    assert (why.cause, [why.line] if why.line else []) == (cause, list_blamed_line_numbers(text)), str(why)
    assert find_variant(framework.name, why) == VARIANTS[framework.name].get(name, ""), str(why)
    assert why.filename == (f"<{name}>" if list_blamed_line_numbers(text) else None)
    there = why.kind in ("zero", "nonfinite")
    by_rule = framework is TORCH or why.cause == "custom_rule"
    there |= by_rule and "zeros" in why.message  # also as zeros that a rule or a line gave
    assert why.connected is there and why.message and why.fix
    assert "{" not in why.message + re.sub("`.*?`", "", why.fix, flags=re.S) and str(why) and why._repr_html_()
    with monkeypatch.context() as patch:
        patch.setenv(LANGUAGE_VARIABLES[0], "zh")
        theirs = framework.explain_program(space, recording)
        assert (
            find_english_sentences(str(theirs)) == []
            and CHINESE_PATTERN.search(theirs.message)
            and CHINESE_PATTERN.search(theirs.fix)
        )
    if why.patch is not None:
        space = framework.run_program(
            apply_patch(strip_fix_comments(text), why.patch_line, why.patch), f"<{name} patched>"
        )
        assert "error" not in space and is_usable(framework.gradient(space)), why.fix


@pytest.mark.parametrize(("framework", "name"), list_all_cases())
def test_what_mends_it(framework, name):
    text = apply_fixes(framework.cases[name][1])
    space, _, why = framework.record_and_explain_program(text, f"<{name} fixed>")
    assert "error" not in space and is_usable(framework.gradient(space))
    assert why.cause == "connected", str(why)


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)
def test_every_cause_has_words_and_a_program(framework):
    causes = {name for name, cause in CAUSES.items() if framework.name in cause.frameworks and cause.kind != "suspect"}
    assert {cause for cause, _ in framework.cases.values()} == causes - framework.absent_causes


FIXES = [  # how they end where the lines to change are not the one to blame
    (TORCH, "forward_under_no_grad", "Remove line 3 (`with torch.no_grad():`)."),
    (TORCH, "features_without_gradients_in_guided_sampling", "Remove line 6 (`with torch.no_grad():`)."),
    (TORCH, "index_of_an_embedding",
     "is an index, and an index has no gradient. Ask for the gradient of the indexed tensor."),
    (TORCH, "detached_hidden_state", "Delete line 3."),
]  # fmt: skip


@pytest.mark.parametrize(("framework", "name", "end"), FIXES, ids=lambda value: getattr(value, "name", None))
def test_lines_of_the_fix(framework, name, end):
    _, _, why = framework.record_and_explain_program(strip_fix_comments(framework.cases[name][1]), f"<{name}>")
    assert why.fix.endswith(end), why.fix
    assert why.patch is None


@pytest.mark.parametrize(("framework", "name", "patch"), PATCHES, ids=lambda value: getattr(value, "name", None))
def test_patches(framework, name, patch):
    _, _, why = framework.record_and_explain_program(strip_fix_comments(framework.cases[name][1]), f"<{name}>")
    assert why.patch == patch


OPERATIONS = [  # a line whose operation has words of its own: they hold what to write for what
    (TORCH, "y = (w < 0.3).float()"), (TORCH, "y = (torch.sigmoid(w) > 0.3).float()"), (TORCH, "y = torch.floor(w)"),
    (TORCH, "y = torch.softmax(w[:, :1], dim=1)"), (TENSORFLOW, "h = tf.cast(tf.greater(w, 0.3), tf.float32)"),
    (JAX, "y = w // 0.2"), (TORCH, "y = torch.acos(w / 0.9)"), (TENSORFLOW, "h = tf.acos(w / 0.9)"),
    (JAX, "y = jnp.arccos(w / 0.9)"),
]  # fmt: skip
VALUES = "[[0.1, 0.7, 0.4], [0.9, 0.2, 0.3]]"
AROUND = {
    "torch": f"w = torch.tensor({VALUES}, requires_grad=True)\n{{}}\nloss = (y ** 2).sum()\nloss.backward()\n",
    "tensorflow": f"w = tf.Variable({VALUES})\nwith tf.GradientTape() as tape:\n    {{}}\n    y = tf.reduce_sum(h ** "
    "2)\ngrad = tape.gradient(y, w)\n",
    "jax": f"w = jnp.array({VALUES})\ndef loss(w):\n    {{}}\n    return jnp.sum(y ** 2)\nargs = w,\ngrad = "
    "jax.grad(loss)(w)\n",
}


@pytest.mark.parametrize(("framework", "line"), OPERATIONS, ids=lambda value: getattr(value, "name", None))
def test_words_of_an_operation(framework, line):
    text = AROUND[framework.name].format(line)
    space, _, why = framework.record_and_explain_program(text, f"<{line}>")
    assert why.cause != "connected"
    assert "error" in space or not is_usable(framework.gradient(space))
    words = re.search(
        "`(?P<new>[^`]+)` instead of `(?P<old>[^`]+)`|Replace `(?P<before>[^`]+)` with [^`]+`(?P<after>[^`]+)`", why.fix
    )
    new, old = words["new"] or words["after"], words["old"] or words["before"]
    assert old in line, why.fix
    space = framework.run_program(text.replace(old, new), f"<{line} fixed>")
    assert "error" not in space and is_usable(framework.gradient(space)), why.fix
