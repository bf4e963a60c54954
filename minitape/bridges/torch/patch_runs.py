"""Run a patched program in copies of the process to judge the patch."""

from collections.abc import Callable

from ...explain.translated_sentences import fill
from ..run_watch.patch_trials import (
    apply_patch,
    judge_patch_for_missing_gradient,
    judge_patch_for_wrong_gradient,
)
from ..run_watch.report import ProblemGroup, ProblemGroupList
from ..run_watch.waiting_copies import Message

JUDGED_PASSES = 5  # The number of passes that are recorded to see whether a patch corrects a wrong gradient.


def try_patch_and_add_verdict(
    group: ProblemGroup,
    source: str,
    pass_number: int,
    send_request_and_read_answer: Callable[[Message], Message | None],
    problems: ProblemGroupList,
) -> ProblemGroup:
    """Try the patch for a problem.

    Args:
        group: The problem.
        source: The text of the program.
        pass_number: The backward pass that shows the problem.
        send_request_and_read_answer: A function that sends a request to a copy that runs the program from the
            beginning, and returns the copy's answer, or None if no answer is possible.
        problems: All problems found in the recorded steps.

    Returns:
        The problem, including the result of the trial.
    """
    patched = apply_patch(source, group.patch_line or group.line or 0, group.patch or "")
    if patched is None:
        return group._replace(patch=None)
    is_wrong = group.kind == "suspect"
    request: Message = {"kind": "trial", "low": pass_number, "high": pass_number}
    if is_wrong:
        request = {"kind": "steps", "low": 1, "high": JUDGED_PASSES}
    before = {} if is_wrong else send_request_and_read_answer(request)
    after = send_request_and_read_answer(request | {"source": patched})
    if before is None or after is None:
        return group._replace(is_patch_offered=True, trial=fill("The patch was not tested."))
    if after["error"]:
        return group._replace(
            trial=fill("A patch was tried, but the patched program raises {error}.", error=after["error"])
        )
    if is_wrong:
        verdict = judge_patch_for_wrong_gradient(
            {(name, problem.cause) for problem in problems for name in problem.names},
            [(name, problem["cause"]) for problem in after["problems"] for name in problem["names"]],
            group.cause,
            group.names,
            after["pass"],
        )
    else:
        verdict = judge_patch_for_missing_gradient(before["norms"], after["norms"], group.names)
    return group._replace(is_patch_offered=verdict.is_offered, trial=verdict.sentence)
