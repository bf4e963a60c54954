"""Print one page for all processes of a job that ``torchrun`` started on this machine.

The processes leave their reports in a file that they share. The first process of the machine waits for the others and
prints the page. A process that ends with an error prints its report at once, because ``torchrun`` is about to end the
others. ``torchrun`` describes the job in environment variables, which are listed at
https://docs.pytorch.org/docs/stable/elastic/run.html.
"""

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from os import environ
from threading import Event
from time import monotonic
from typing import NamedTuple

from click import echo

from ..bridges.run_watch.accounts import ANOMALY_KINDS
from ..bridges.run_watch.report import RunReport
from ..common.atomic_write import lock_file, write_file
from ..common.grouping import group_values_by_key
from ..common.read_data import read_json
from ..engine.types import JsonObject
from ..speed.code_cache import iter_temporary_folders
from .messages import say

LONGEST_WAIT = 60.0  # The number of seconds for which the first process waits for the reports of the others.
WAIT_BETWEEN_READS = 0.2  # In seconds.
EMPTY_STATE = {"arrived": 0, "reports": [], "is_closed": False}


class Job(NamedTuple):
    """The place of this process in a job.

    Attributes:
        rank: The number of this process in the job.
        process_count: The number of processes in the job.
        local_rank: The number of this process among those on this machine.
        local_count: The number of processes on this machine.
        key: The name of the job, which the processes on this machine have in common.
    """

    rank: int
    process_count: int
    local_rank: int
    local_count: int
    key: str


class RankReport(NamedTuple):
    """The report of one process.

    Attributes:
        rank: The number of the process in the job.
        text: The report.
        anomaly_moment: The backward pass in which the first non-finite value was seen and the value's position in
            ``ANOMALY_KINDS``, or None if all values are finite.
        has_findings: Whether the report is about a problem.
    """

    rank: int
    text: str
    anomaly_moment: list[int] | None
    has_findings: bool


def find_job() -> Job | None:
    """Return the place of this process in a job that has several processes, or None if there is no such job."""
    process_count = int(environ.get("WORLD_SIZE", "1"))
    if "RANK" not in environ or process_count == 1:
        return None
    # A restarted job has the same name, and two jobs of one launcher can have the same name too.
    key_parts = [environ.get(name, "") for name in ("TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT")]
    key = re.sub(r"\W+", "_", "-".join([*key_parts, str(os.getppid())]))
    return Job(
        int(environ["RANK"]),
        process_count,
        int(environ.get("LOCAL_RANK", "0")),
        int(environ.get("LOCAL_WORLD_SIZE", "1")),
        key,
    )


def print_or_collect_report(job: Job, report: RunReport) -> None:
    """Print the report of this process, or leave it for the process that prints the page of the job.

    Args:
        job: The job.
        report: The report of this process.
    """
    anomaly = report.first_anomaly
    moment = None if anomaly is None else [anomaly.pass_number, ANOMALY_KINDS.index(anomaly.kind)]
    own = RankReport(job.rank, str(report), moment, report.has_findings_or_unobserved_part)
    shown = [own]
    if job.local_count > 1:
        # Without a file that can be written and read, each process prints its own report.
        with suppress(OSError, ValueError):
            shown = _share_report_and_list_reports_to_print(job, own, is_urgent=report.error is not None)
    if shown:
        echo(f"\n{format_job_page(shown, job.process_count)}", err=True)


def _share_report_and_list_reports_to_print(job: Job, own: RankReport, is_urgent: bool) -> list[RankReport]:
    """Store the report of this process, and return the reports that this process must print.

    Args:
        job: The job.
        own: The report of this process.
        is_urgent: Whether the program raised an error, so that the report must be printed at once.
    """
    is_collector = job.local_rank == 0
    with _open_shared_state(job) as state:
        state["arrived"] += 1
        if state["is_closed"] or (is_urgent and not is_collector):
            return [own]
        state["reports"].append(own)
        if is_urgent:
            state["is_closed"] = True
            return [RankReport(*report) for report in state["reports"]]
    return _wait_for_reports(job) if is_collector else []


def _wait_for_reports(job: Job) -> list[RankReport]:
    """Wait for the reports of the machine's other processes, and return all reports that have arrived.

    The wait ends early if ``torchrun`` ends this process, because another one has failed.
    """
    stop = Event()
    previous_handler = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    deadline = monotonic() + LONGEST_WAIT
    try:
        while True:
            with _open_shared_state(job) as state:
                is_complete = state["arrived"] == job.local_count
                if is_complete or stop.is_set() or monotonic() > deadline:
                    state["is_closed"] = True
                    return [RankReport(*report) for report in state["reports"]]
            stop.wait(WAIT_BETWEEN_READS)
    finally:
        signal.signal(signal.SIGTERM, previous_handler)


@contextmanager
def _open_shared_state(job: Job) -> Iterator[JsonObject]:
    """Open the state that the processes on this machine share, and store its changes when the block ends."""
    folder = next(iter_temporary_folders(), None)
    if folder is None:
        raise PermissionError("no temporary folder can be written")
    file = folder / f"job-{job.key}.json"
    with lock_file(file):
        stored = read_json(file) if file.exists() else EMPTY_STATE
        state = deepcopy(stored)
        yield state
        if state["is_closed"] and state["arrived"] == job.local_count:
            file.unlink(missing_ok=True)
            file.with_name(f"{file.name}.lock").unlink(missing_ok=True)
        elif state != stored:
            write_file(file, json.dumps(state))


def format_job_page(reports: list[RankReport], process_count: int) -> str:
    """Return the reports of a job's processes as text, with the processes that went wrong first at the top.

    Processes with the same report share one paragraph.

    >>> reports = [RankReport(0, "Healthy.", None, False), RankReport(1, "The loss is nan.", [6, 0], True)]
    >>> print(format_job_page(reports, 2))
    Rank 1 was the first process with a value that is not finite, in backward pass 6.
    <BLANKLINE>
    rank 1 of 2:
    The loss is nan.
    <BLANKLINE>
    rank 0 of 2:
    Healthy.

    Args:
        reports: The reports. The list has at least one element.
        process_count: The number of processes in the job.
    """
    ordered = sorted(reports, key=_measure_time_of_first_trouble)
    first = ordered[0]
    moments = [report.anomaly_moment for report in reports]
    paragraphs = []
    if first.anomaly_moment and len(reports) > 1 and moments.count(first.anomaly_moment) == 1:
        note = "Rank {rank} was the first process with a value that is not finite, in backward pass {n}."
        paragraphs.append(say(note, rank=first.rank, n=first.anomaly_moment[0]))
    for text, ranks in group_values_by_key((report.text, report.rank) for report in ordered).items():
        heading = "rank {ranks} of {count}" if len(ranks) == 1 else "ranks {ranks} of {count}"
        heading = say(heading, ranks=", ".join(map(str, sorted(ranks))), count=process_count)
        paragraphs.append(f"{heading}:\n{text}")
    return "\n\n".join(paragraphs)


def _measure_time_of_first_trouble(report: RankReport) -> tuple[bool, list[int], bool, int]:
    """Return a key that sorts reports by when something went wrong, and healthy processes last."""
    return (not report.anomaly_moment, report.anomaly_moment or [], not report.has_findings, report.rank)
