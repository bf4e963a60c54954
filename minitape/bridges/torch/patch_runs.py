"""Run a patched program in copies of the process to judge the patch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...explain.caller import format_place
from ...explain.translated_sentences import fill
from ...recording.value_summary import to_float_array
from ..run_watch.patch_trials import (
    PassFacts,
    PatchVerdict,
    apply_patch,
    judge_missing_gradient,
    judge_wrong_gradient,
)
from ..run_watch.report import ProblemGroup
from ..run_watch.waiting_copies import Message

if TYPE_CHECKING:
    from .recording import TorchRecording

SendRequest = Callable[[Message], Message | None]
JUDGED_PASSES = 5  # The number of passes that are recorded to see whether a patch corrects a wrong gradient.


def try_patch(
    group: ProblemGroup, source: str, pass_number: int, send_request: SendRequest, problems: list[ProblemGroup]
) -> ProblemGroup:
    """Try the patch of a problem.

    Args:
        group: The problem.
        source: The text of the program.
        pass_number: The backward pass that shows the problem.
        send_request: Sends a request to a copy that runs the program from its start, and returns the answer, or None
            if that is not possible.
        problems: All problems of the recorded steps.

    Returns:
        The problem, with the result of the trial.
    """
    patched = apply_patch(source, group.patch_line or group.line or 0, group.patch or "")
    if patched is None:
        return group._replace(patch=None)
    if group.kind == "suspect":
        verdict = _try_to_correct(group, patched.source, send_request, problems)
    else:
        request = {"kind": "trial", "low": pass_number, "high": pass_number, "file": group.file}
        lines = {"first_line": patched.first_line, "last_line": patched.last_line}
        before = send_request(request | lines)
        lines["last_line"] = patched.patched_last_line
        after = send_request(request | lines | {"source": patched.source})
        verdict = None
        if before is not None and after is not None:
            verdict = judge_missing_gradient(_read_facts(before), _read_facts(after), group.names)
    if verdict is None:
        return group._replace(is_patch_offered=True, trial=fill("The patch was not tested."))
    return group._replace(is_patch_offered=verdict.is_offered, trial=verdict.sentence)


def _try_to_correct(
    group: ProblemGroup, source: str, send_request: SendRequest, problems: list[ProblemGroup]
) -> PatchVerdict | None:
    answer = send_request({"kind": "steps", "low": 1, "high": JUDGED_PASSES, "source": source})
    if answer is None:
        return None
    before = {(name, problem.cause) for problem in problems for name in problem.names}
    after = [(name, problem["cause"]) for problem in answer["problems"] for name in problem["names"]]
    error = answer["error"] or ""
    return judge_wrong_gradient(before, after, group.cause, group.names, error, answer["pass"])


def _read_facts(answer: Mapping[str, Any]) -> PassFacts:  # Any, because the answer is JSON.
    return PassFacts(answer["norms"], answer["shares"], answer["error"] or "")


def measure_shares(recording: TorchRecording, file: str, first_line: int, last_line: int) -> dict[str, float]:
    """Return the norms of the gradients that the given lines send to their inputs in the last backward pass.

    Args:
        recording: The recording of the pass.
        file: The file that contains the lines.
        first_line: The first line.
        last_line: The last line.

    Returns:
        The norms, by a description of the input.
    """
    if not recording.sweeps:
        return {}
    rows = recording.rows
    inside = {
        row.index
        for row in rows
        if row.kind == "operation" and row.site[0] == file and first_line <= (row.site[1] or 0) <= last_line
    }
    sums: dict[str, Any] = {}  # Any, because the values are arrays or numbers.
    for call, shares in recording.sweeps[-1].edges.items():
        for share in shares if call in inside else ():
            array = to_float_array(share.product)
            if share.row in inside or array is None:
                continue
            row = rows[share.row]
            # The patch may move later lines, so their numbers may differ between the two runs.
            line = row.site[1] if row.site[1] and row.site[1] <= last_line else None
            place = "" if line is None else format_place(row.site[0], line)
            result = fill("the result of {op}", op=row.op) if row.kind == "operation" else row.name or row.op
            description = f"{result} {place} {list(row.shape)}"
            sums[description] = sums.get(description, 0.0) + array
    return {description: float(np.linalg.norm(array)) for description, array in sums.items()}
