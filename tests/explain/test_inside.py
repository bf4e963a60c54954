"""`tape.explain` inside of ``tf.function``, and where paths are blocked next to an open one: programs in ``inside``.

What breaks in a loop or a scan gives zeros, as in TensorFlow: then the answer is connected, and its cause is what
broke the path.
"""

import contextlib
import io
import linecache
import re
from pathlib import Path
from typing import Any

import pytest

import minitape as tf
from minitape import nest

from .programs import Case, load_cases

CASES = load_cases(Path(__file__).parent / "inside")
CUT = [case for case in CASES if case.side_break_causes is None]
WRONG = [case for case in CASES if case.expected_text is not None]
IN_PART = [case for case in CASES if case.side_break_causes is not None]


def run_and_explain(name: str, code: str) -> tuple[list[Any], list[tf.explain.Explanation]]:
    """The gradients (None for those that are refused), and what is said of them."""
    filename = f"program_{name.replace('/', '_')}.py"
    linecache.cache[filename] = (len(code), None, code.splitlines(True), filename)
    space: dict[str, Any] = {"__name__": "user_code", "tf": tf}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, filename, "exec", dont_inherit=True), space)
        if "said" in space:  # a tape of a function, asked while it was traced
            return nest.flatten(space["grads"]), nest.flatten(space["said"])
        tape, target, source = space["tape"], space["target"], space["source"]
        try:
            grads = nest.flatten(space["grads"] if "grads" in space else tape.gradient(target, source))
        except LookupError:
            grads = [None] * len(nest.flatten(source))
        return grads, nest.flatten(tape.explain(target, source))


@pytest.mark.parametrize("case", CUT, ids=lambda c: c.name)
def test_cause_and_line_in_a_function(case: Case) -> None:
    grads, said = run_and_explain(case.name, case.code)
    assert len(grads) == len(said) == len(case.causes)
    for i, (g, answer, causes) in enumerate(zip(grads, said, case.causes, strict=True)):
        assert answer.connected == (g is not None)
        found = [one for one in (answer, *answer.others) if one.cause in causes]
        assert found, str(answer)
        assert found[0].line in case.list_accepted_lines(i, found[0].cause), str(answer)
        if g is not None and found[0] is answer and answer.kind not in ("connected", "suspect"):
            assert re.match(
                f"The (target|gradient of {re.escape(answer.name)}) is (zero|not finite)[:.] ", answer.message
            ), str(answer)


@pytest.mark.parametrize("case", IN_PART, ids=lambda c: c.name)
def test_a_cut_way_beside_one_that_holds(case: Case) -> None:
    (g,), (answer,) = run_and_explain(case.name, case.code)
    assert g is not None and answer.connected
    cut = ["left_through_numpy"] if answer.cause == "in_part" else []  # it is said there, with what fixes it
    assert sorted(cut + [other.cause for other in answer.others]) == sorted(case.side_break_causes or [])
    for other in answer.others:
        assert other.line in case.list_accepted_lines(0, other.cause), str(answer)
        assert other.message in str(answer) and other.fix
    assert (" missing" in answer.message) == bool(case.side_break_causes)


@pytest.mark.parametrize("case", WRONG, ids=lambda c: c.name)
def test_a_gradient_that_is_there_and_wrong(case: Case) -> None:
    """What is wrong is said, with its line, and what fixes it."""
    grads, said = run_and_explain(case.name, case.code)
    lines = [line for line, mark, _, cause in case.marks if mark == "!" and cause in (None, "says")]
    assert all(g is not None for g in grads) and lines
    for answer in said:
        assert answer.connected and answer.fix and case.expected_text in str(answer)
        assert any(f"line {line})" in answer.message for line in lines), str(answer)


@pytest.mark.parametrize("case", [case for case in CASES if case.fixes], ids=lambda case: case.name)
def test_the_program_mended_by_what_is_said(case: Case) -> None:
    """With the lines written as the answer says, there is a gradient, nothing is cut, and nothing more is told."""
    grads, said = run_and_explain(f"{case.name}-fixed", case.apply_fixes())
    assert all(g is not None for g in grads)
    for answer in said:
        assert answer.connected and not answer.others, answer
        assert "though:" not in answer.message and "But " not in answer.message and " missing" not in answer.message, (
            answer
        )
