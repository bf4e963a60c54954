"""Run a patched program in copies of the process to judge the patch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...explain.translated_sentences import fill
from ..run_watch.patch_trials import (
    PassFacts,
    PatchVerdict,
    apply_patch,
    judge_patch_for_missing_gradient,
    judge_patch_for_wrong_gradient,
)
from ..run_watch.report import ProblemGroup
from ..run_watch.waiting_copies import Message

SendRequest = Callable[[Message], Message | None]
JUDGED_PASSES = 5  # The number of passes that are recorded to see whether a patch corrects a wrong gradient.


def try_patch_and_add_verdict(
    group: ProblemGroup,
    source: str,
    pass_number: int,
    send_request_and_read_answer: SendRequest,
    problems: list[ProblemGroup],
) -> ProblemGroup:
    """Try the patch of a problem.

    Args:
        group: The problem.
        source: The text of the program.
        pass_number: The backward pass that shows the problem.
        send_request_and_read_answer: Sends a request to a copy that runs the program from its start, and returns the
            answer, or None if that is not possible.
        problems: All problems of the recorded steps.

    Returns:
        The problem, including the result of the trial.
    """
    patched = apply_patch(source, group.patch_line or group.line or 0, group.patch or "")
    if patched is None:
        return group._replace(patch=None)
    if group.kind == "suspect":
        verdict = _try_patch_for_wrong_gradient(group, patched, send_request_and_read_answer, problems)
    else:
        request = {"kind": "trial", "low": pass_number, "high": pass_number}
        before = send_request_and_read_answer(request)
        after = send_request_and_read_answer(request | {"source": patched})
        verdict = None
        if before is not None and after is not None:
            verdict = judge_patch_for_missing_gradient(_read_pass_facts(before), _read_pass_facts(after), group.names)
    if verdict is None:
        return group._replace(is_patch_offered=True, trial=fill("The patch was not tested."))
    return group._replace(is_patch_offered=verdict.is_offered, trial=verdict.sentence)


def _try_patch_for_wrong_gradient(
    group: ProblemGroup, source: str, send_request_and_read_answer: SendRequest, problems: list[ProblemGroup]
) -> PatchVerdict | None:
    answer = send_request_and_read_answer({"kind": "steps", "low": 1, "high": JUDGED_PASSES, "source": source})
    if answer is None:
        return None
    before = {(name, problem.cause) for problem in problems for name in problem.names}
    after = [(name, problem["cause"]) for problem in answer["problems"] for name in problem["names"]]
    error = answer["error"] or ""
    return judge_patch_for_wrong_gradient(before, after, group.cause, group.names, error, answer["pass"])


def _read_pass_facts(answer: Mapping[str, Any]) -> PassFacts:  # The type is Any, because the answer is JSON.
    return PassFacts(answer["norms"], answer["error"] or "")
