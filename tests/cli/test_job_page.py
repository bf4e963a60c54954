"""The processes of a job share one page: its text, the process that prints it, and what a failure does to it."""

import pytest

from minitape.bridges.model_page import ModelPage
from minitape.bridges.run_watch.accounts import Anomaly
from minitape.bridges.run_watch.report import RunReport
from minitape.cli import job_page
from minitape.recording.sites import NOWHERE

HEALTHY = RunReport(ModelPage(), summary="Healthy.")
NAN = RunReport(
    ModelPage(), anomaly="The loss is nan.", first_anomaly=Anomaly("loss", 6, 6, NOWHERE), summary="Observed."
)
LATER_NAN = RunReport(
    ModelPage(), anomaly="The gradients are nan.", first_anomaly=Anomaly("gradient", 6, 6, NOWHERE), summary="Observed."
)
FAILED = RunReport(ModelPage(), ValueError("a bad batch"), summary="Stopped.")


@pytest.fixture
def finish_rank(monkeypatch, tmp_path, capsys):
    """A function that ends one process of a job of three with a report and returns what this process prints."""
    monkeypatch.setattr(job_page, "iter_temporary_folders", lambda: iter([tmp_path]))
    monkeypatch.setenv("WORLD_SIZE", "3")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
    monkeypatch.setenv("MASTER_PORT", "29500")

    def finish(rank, report):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        job_page.print_or_collect_report(job_page.find_job(), report)
        return capsys.readouterr().err

    return finish


def test_one_page_begins_with_the_process_that_went_wrong_first(finish_rank, tmp_path):
    assert finish_rank(2, NAN) == finish_rank(1, LATER_NAN) == ""
    page = finish_rank(0, HEALTHY)
    assert page == (
        "\nRank 2 was the first process with a value that is not finite, in backward pass 6.\n\n"
        "rank 2 of 3:\nThe loss is nan.\n\nObserved.\n\n"
        "rank 1 of 3:\nThe gradients are nan.\n\nObserved.\n\n"
        "rank 0 of 3:\nHealthy.\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_processes_with_the_same_report_share_a_paragraph(finish_rank):
    assert finish_rank(1, HEALTHY) == finish_rank(2, HEALTHY) == ""
    assert finish_rank(0, HEALTHY) == "\nranks 0, 1, 2 of 3:\nHealthy.\n"


def test_processes_that_went_wrong_together_are_not_ordered(finish_rank):
    assert finish_rank(1, NAN) == finish_rank(2, HEALTHY) == ""
    assert finish_rank(0, NAN).startswith("\nranks 0, 1 of 3:\nThe loss is nan.")


def test_a_process_that_fails_prints_its_own_report_at_once(finish_rank):
    assert finish_rank(2, FAILED) == "\nrank 2 of 3:\nStopped.\n"
    assert finish_rank(1, HEALTHY) == ""
    assert finish_rank(0, NAN) == (
        "\nRank 0 was the first process with a value that is not finite, in backward pass 6.\n\n"
        "rank 0 of 3:\nThe loss is nan.\n\nObserved.\n\nrank 1 of 3:\nHealthy.\n"
    )


def test_a_first_process_that_fails_prints_what_has_arrived(finish_rank):
    assert finish_rank(1, HEALTHY) == ""
    assert finish_rank(0, FAILED) == "\nrank 0 of 3:\nStopped.\n\nrank 1 of 3:\nHealthy.\n"
    assert finish_rank(2, HEALTHY) == "\nrank 2 of 3:\nHealthy.\n"


def test_a_process_that_comes_after_the_page_prints_its_own_report(finish_rank, monkeypatch):
    monkeypatch.setattr(job_page, "LONGEST_WAIT", -1.0)
    assert finish_rank(0, HEALTHY) == "\nrank 0 of 3:\nHealthy.\n"
    assert finish_rank(2, NAN) == "\nrank 2 of 3:\nThe loss is nan.\n\nObserved.\n"


def test_without_a_folder_each_process_prints_its_own_report(finish_rank, monkeypatch):
    monkeypatch.setattr(job_page, "iter_temporary_folders", lambda: iter([]))
    assert finish_rank(0, HEALTHY) == "\nrank 0 of 3:\nHealthy.\n"
    assert finish_rank(1, HEALTHY) == "\nrank 1 of 3:\nHealthy.\n"


def test_a_process_alone_is_no_job(monkeypatch):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert job_page.find_job() is None
