"""``minitape explain`` for JAX, TensorFlow and Keras programs: what only the run shows, and healthy runs beside it.

The programs run in the process of the tests, because importing a framework takes longer than a program.
"""

import json
import linecache

import numpy as np
import pytest

from minitape.cli.explain_program import run_and_explain_program

from . import jax_runs, jax_updates, tensorflow_runs
from .cases import apply_fixes, list_blamed_line_numbers, parse_programs_by_name, strip_fix_comments

BEGINNINGS = {
    "jax": "import jax\nimport jax.numpy as jnp\n",
    "tensorflow": "import tensorflow as tf\nimport numpy as np\n",
}
PROGRAMS = [
    pytest.param(framework, cause, text, id=f"{framework}-{name}")
    for framework, cases in {
        "jax": jax_runs.CASES
        + jax_runs.OPTAX_CASES
        + jax_runs.FLAX_CASES
        + jax_updates.CASES
        + jax_updates.HEALTHY_CASES,
        "tensorflow": tensorflow_runs.CASES,
    }.items()
    for name, (cause, text) in parse_programs_by_name(cases).items()
]


def explain(tmp_path, framework, text):
    """Run a program in the block of its framework.

    Returns:
        The exit status, and the causes and lines of all problems.
    """
    pytest.importorskip(framework)
    for library in ("optax", "flax", "equinox"):
        if f"import {library}" in text or f"from {library}" in text:
            pytest.importorskip(library)
    program, file = tmp_path / "train.py", tmp_path / "answers.json"
    program.write_text(BEGINNINGS[framework] + text)
    linecache.clearcache()  # The repaired program has the same path.
    code = run_and_explain_program(str(program), (), False, framework, {"first": 5}, file)
    answers = json.loads(file.read_text())
    found = [*answers["answers"], *answers["problems"]]
    return code, {(problem["cause"], problem["line"]) for problem in found} - {("connected", None)}


@pytest.mark.parametrize(("framework", "cause", "text"), PROGRAMS)
def test_cause_and_line_of_a_run_and_nothing_of_the_repaired_one(tmp_path, capsys, framework, cause, text):
    code, problems = explain(tmp_path, framework, strip_fix_comments(text))
    printed = capsys.readouterr().err
    if cause == "connected":
        assert (code, problems) == (0, set()), printed
        assert "Healthy: " in printed
        return
    blamed = list_blamed_line_numbers(BEGINNINGS[framework] + text) or [None]
    assert (code, problems) == (1, {(cause, blamed[0])}), printed
    assert not printed.startswith("Healthy")
    fixed = apply_fixes(text)
    assert fixed != strip_fix_comments(text)
    assert explain(tmp_path, framework, fixed) == (0, set()), capsys.readouterr().err


@pytest.mark.parametrize(
    ("framework", "text", "sentence"),
    [
        ("jax", jax_runs.CLIPPED_ANGLE, "Healthy: w (1 of 1): norm 0"),
        ("jax", jax_runs.FIXED_ARRAY, "Frozen: p['fixed'] (1 of 2), train.py, line 5."),
        ("tensorflow", tensorflow_runs.LATER_VARIABLE, "Not used in the recorded steps: later (1 of 3)."),
        # The training step of the discriminator was traced before it was frozen, so it goes on training.
        ("tensorflow", tensorflow_runs.DISCRIMINATOR_OF_A_GENERATOR, "discriminator.layers[0].bias, kernel (4 of 4)"),
    ],
)
def test_what_the_program_leaves_out_on_purpose_is_no_problem(tmp_path, capsys, framework, text, sentence):
    code, _ = explain(tmp_path, framework, text)
    printed = capsys.readouterr().err
    assert (code, sentence in printed) == (0, True), printed


@pytest.mark.parametrize(("text", "fix"), jax_runs.FIXES.values(), ids=jax_runs.FIXES)
def test_the_fix_names_the_operand_to_change(tmp_path, capsys, text, fix):
    code, _ = explain(tmp_path, "jax", text)
    printed = capsys.readouterr().err
    assert (code, fix in printed) == (1, True), printed


def test_a_compiled_step_without_any_gradient_is_explained_instead_of_its_error(tmp_path, capsys):
    code, problems = explain(tmp_path, "tensorflow", tensorflow_runs.FAILED_STEP)
    assert (code, problems) == (1, {("computed_before_tape", 9)}), capsys.readouterr().err


def test_a_step_that_loses_its_parameters_is_not_also_blamed_for_its_state(tmp_path):
    assert {cause for cause, _ in explain(tmp_path, "jax", jax_runs.STATE_OF_LOST_PARAMETERS)[1]} == {"not_applied"}


@pytest.mark.parametrize("sign", [1, -1])
def test_a_step_has_the_wrong_sign_if_the_loss_grows_in_numpy(tmp_path, sign):
    w, losses = np.zeros(3), []
    for _ in range(6):
        losses.append(np.sum((w - 3.0) ** 2))
        w = w + sign * 0.1 * 2.0 * (w - 3.0)
    program = parse_programs_by_name(jax_updates.CASES)["the_gradient_is_added_without_a_compiler"][1]
    text = apply_fixes(program) if sign < 0 else strip_fix_comments(program)
    causes = {cause for cause, _ in explain(tmp_path, "jax", text)[1]}
    assert causes == ({"wrong_sign"} if losses[-1] > losses[0] else set())


def test_the_index_of_the_bad_example_and_frozen_parameters_are_named(tmp_path, capsys):
    explain(tmp_path, "jax", parse_programs_by_name(jax_runs.CASES)["an_example_under_vmap_has_a_nan_gradient"][1])
    assert "only the example with index 2 is recorded" in capsys.readouterr().err
    explain(tmp_path, "jax", parse_programs_by_name(jax_runs.OPTAX_CASES)["an_optimizer_freezes_on_purpose"][1])
    assert "The optimizer step (train.py, line 13) did not change params['base'] (1 of 2)." in capsys.readouterr().err
