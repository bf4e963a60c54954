"""`tape.explain` on hundreds of programs, each checked against real TensorFlow for which gradients are None."""

import contextlib
import io
import linecache
from pathlib import Path
from typing import Any

import pytest

import minitape as tf
from minitape import nest

from .programs import Case, load_cases

CASES = load_cases(Path(__file__).parent / "cases")


def run_and_explain(case: Case, early: bool) -> tuple[list[bool], list[Any]]:
    """Which gradients are None, and the explanations: asked before `gradient` as well when ``early``."""
    filename = f"program_{case.name.replace('/', '_').replace('-', '_')}.py"
    linecache.cache[filename] = (len(case.code), None, case.code.splitlines(True), filename)
    space: dict[str, Any] = {"__name__": "user_code", "tf": tf}
    tf.random.set_seed(1)  # a mask may hide everything, and weights may cancel: a gradient is zero then
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(case.code, filename, "exec", dont_inherit=True), space)
        tape, target, source = space["tape"], space["target"], space["source"]
        before = nest.flatten(tape.explain(target, source)) if early else None
        grads = space["grads"] if "grads" in space else tape.gradient(target, source)
        said = nest.flatten(tape.explain(target, source))
    if before is not None:
        assert [(e.cause, e.line) for e in before] == [(e.cause, e.line) for e in said]
    assert all(e.filename == filename for e in said if e.line is not None)
    return [g is None for g in nest.flatten(grads)], said


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_cause_and_line(case: Case) -> None:
    nones, said = run_and_explain(case, early=True)
    assert len(nones) == len(said) == len(case.causes)
    for i, (none, answer, causes) in enumerate(zip(nones, said, case.causes, strict=True)):
        assert none == (not answer.connected)
        assert answer.cause in causes, str(answer)
        assert answer.line in case.list_accepted_lines(i, answer.cause), str(answer)
        assert answer.message and (answer.fix or answer.connected)
        assert answer.patch is not None or not case.has_patch[i], str(answer)
        assert "explain failed" not in answer.message
        assert answer.cause in answer._repr_html_()


@pytest.mark.parametrize("case", [c for c in CASES if c.fixes], ids=lambda c: c.name)
def test_the_mended_program_has_gradients(case: Case) -> None:
    space: dict[str, Any] = {"__name__": "user_code", "tf": tf}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(case.apply_fixes(), "fixed.py", "exec", dont_inherit=True), space)
        grads = space["grads"] if "grads" in space else space["tape"].gradient(space["target"], space["source"])
    assert all(g is not None for g in nest.flatten(grads))


@pytest.mark.parametrize("case", CASES[::7], ids=lambda c: c.name)
def test_asked_once_after(case: Case) -> None:
    """Without an early call the answers are the same."""
    assert [e.cause for e in run_and_explain(case, early=False)[1]] == [
        e.cause for e in run_and_explain(case, early=True)[1]
    ]
