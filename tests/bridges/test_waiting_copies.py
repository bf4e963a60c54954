"""What a sleeping copy of a run answers, and what is known when it no longer does."""

import os

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
