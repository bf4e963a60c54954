"""Fork copies of a process. A copy sleeps until a request wakes it, and then continues from the point of the fork.

A copy created before a program begins can repeat the whole program. A copy created during the run continues with the
weights, data and random numbers of that moment. Copies exist only on Linux, because forking is not safe on other
systems.
"""

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from json import dumps, loads
from threading import active_count
from typing import Any, BinaryIO, NoReturn

from ...explain.translated_sentences import fill

Message = dict[str, Any]  # The type is Any, because requests to copies and their answers are JSON.


def describe_why_process_cannot_be_copied() -> str:
    """Return the reason why this process cannot currently be copied, or "" if it can be copied.

    Returns:
        A sentence without its final period.
    """
    if not (sys.platform == "linux" and hasattr(os, "fork")):
        return fill("a process can be copied only on Linux")
    if active_count() > 1:
        return fill("other threads are running in the process")
    return ""


@dataclass(eq=False)
class CopyRequest:
    """A request received by a copy. The copy continues from where it was created, and answers once.

    Attributes:
        fields: The fields of the request.
    """

    fields: Message
    _answer_file: BinaryIO

    def answer_and_exit(self, answer: object) -> NoReturn:
        """Send the answer as JSON, and end this process without running exit handlers.

        Args:
            answer: The answer.
        """
        with suppress(BaseException), self._answer_file as file:
            file.write(dumps(answer).encode())
        os._exit(0)


class WaitingCopy:
    """A copy of this process that sleeps until a request wakes it.

    Attributes:
        pass_number: The number of backward passes that had run when the copy was created.
        stopped_by: The side effect that the copy avoided by stopping during its last request, or "".
    """

    def __init__(self, pass_number: int, process_id: int, requests: int, answers: int):
        """Store the copy and the ends of its pipes, `requests` and `answers`."""
        self.pass_number = pass_number
        self.stopped_by = ""
        self._process_id = process_id
        self._requests = os.fdopen(requests, "wb")
        self._answers = os.fdopen(answers, "rb")

    def send_request_and_read_answer(self, request_fields: Message) -> Message | None:
        """Wake the copy and return its answer, or None if it stopped before a side effect or ended without answering.

        Args:
            request_fields: The request, whose field "seconds" limits the copy's running time.
        """
        try:
            self._requests.write(dumps(request_fields).encode() + b"\n")
            self._requests.flush()
            answer = self._answers.readline()
        except OSError:
            answer = b""
        fields: Message = loads(answer or "null") or {}
        self.stopped_by = fields.get("stopped_by", "")
        return fields | {"from_pass": self.pass_number} if fields and not self.stopped_by else None

    def terminate_copy(self) -> None:
        """Terminate the copy and all processes in its process group."""
        self.close_own_pipe_ends()
        with suppress(OSError):
            os.killpg(self._process_id, signal.SIGKILL)
        with suppress(OSError):
            os.waitpid(self._process_id, 0)

    def close_own_pipe_ends(self) -> None:
        """Close this process's ends of the pipes, even if the process has merely inherited them."""
        for file in (self._requests, self._answers):
            with suppress(OSError):
                file.close()


def fork_waiting_copy(pass_number: int) -> WaitingCopy | CopyRequest:
    """Fork a copy of this process.

    Args:
        pass_number: The number of backward passes that the program has run.

    Returns:
        The waiting copy in the original process, or the request to answer in a copy that has been woken.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    request_reader, request_writer = os.pipe()
    answer_reader, answer_writer = os.pipe()
    process_id = os.fork()
    if process_id:
        os.close(request_reader)
        os.close(answer_writer)
        # Both processes make this call, because either of them may be the first to run.
        with suppress(OSError):
            os.setpgid(process_id, process_id)
        return WaitingCopy(pass_number, process_id, request_writer, answer_reader)
    try:
        os.close(request_writer)
        os.close(answer_reader)
        with suppress(OSError):
            os.setpgid(0, 0)  # The copy gets a new process group so that it does not receive Ctrl-C from the terminal.
        return _fork_copy_for_each_request(request_reader, answer_writer)
    except BaseException:
        os._exit(1)


def _fork_copy_for_each_request(request_reader: int, answer_writer: int) -> CopyRequest:
    """Wait for requests. For each request, fork a copy of this process, and return the request in that copy."""
    with os.fdopen(request_reader, "rb") as requests, os.fdopen(answer_writer, "wb") as answers:
        for line in requests:
            fields = loads(line)
            reader, writer = os.pipe()
            process_id = os.fork()
            if process_id == 0:
                os.close(reader)
                _set_standard_files_to_null()
                signal.alarm(int(fields.get("seconds", 600)))
                return CopyRequest(fields, os.fdopen(writer, "wb"))
            os.close(writer)
            with os.fdopen(reader, "rb") as answer_file:
                answers.write((answer_file.read() or b"null") + b"\n")
            os.waitpid(process_id, 0)
            answers.flush()
    os._exit(0)


def _set_standard_files_to_null() -> None:
    """Disconnect this process from the terminal and from the program's input."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
