"""What a sleeping copy of a run answers, and what is known when it no longer does."""

import os
import subprocess
import sys

import pytest

from minitape.bridges.run_watch.waiting_copies import WaitingCopy


def test_a_copy_that_has_ended_was_not_stopped_by_the_side_effect_of_an_earlier_request():
    (read_requests, write_requests), (read_answers, write_answers) = os.pipe(), os.pipe()
    copy = WaitingCopy(3, 0, write_requests, read_answers)
    os.write(write_answers, b'{"loss": 0.5}\n{"stopped_by": "open"}\n')
    assert copy.send_request_and_read_answer({"seconds": 1}) == {"loss": 0.5, "from_pass": 3}
    assert copy.send_request_and_read_answer({"seconds": 1}) is None and copy.stopped_by == "open"
    os.close(read_requests)
    os.close(write_answers)
    assert copy.send_request_and_read_answer({"seconds": 1}) is None and copy.stopped_by == ""
    copy.close_own_pipe_ends()


REQUESTS = """
import os, signal
from minitape.bridges.run_watch.waiting_copies import WaitingCopy, fork_waiting_copy

side = fork_waiting_copy(3)
if isinstance(side, WaitingCopy):
    for fields in ({"act": "answer"}, {"act": "die"}, {"act": "wait", "seconds": 1}, {"act": "answer"}):
        print(side.send_request_and_read_answer(fields), flush=True)
    side.terminate_copy()
elif side.fields["act"] == "answer":
    print("a copy prints nothing")
    side.answer_and_exit({"loss": 0.5})
elif side.fields["act"] == "wait":
    signal.sigtimedwait([], 60)
    side.answer_and_exit({"loss": "too late"})
os._exit(1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="A process can be copied only on Linux.")
def test_a_copy_that_dies_or_takes_too_long_gives_no_answer_and_the_next_request_gets_one():
    done = subprocess.run([sys.executable, "-c", REQUESTS], capture_output=True, text=True, timeout=600, check=False)
    answer = "{'loss': 0.5, 'from_pass': 3}"
    assert done.stdout.splitlines() == [answer, "None", "None", answer], done.stderr
