"""Fork copies of a process that sleep until a request wakes them, and then continue from where they were made.

A copy made before a program begins can run the program again from the start. A copy that is made while the program runs
can continue from there, with the weights, the data and the random numbers that the program had. Copies exist on Linux
only: forking is not safe on other systems.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from typing import Any, BinaryIO, NoReturn

from ...explain.translated_sentences import fill


def find_obstacle_to_copies() -> str:
    """Return why this process cannot be copied now; "" if it can.

    Returns:
        A sentence without its end.
    """
    if not (sys.platform == "linux" and hasattr(os, "fork")):
        return fill("a process can be copied on Linux only")
    if threading.active_count() > 1:
        return fill("other threads run in the process")
    return ""


class CopyRequest:
    """A request that a copy has received. The copy continues from where it was made, and answers once.

    Attributes:
        fields: The fields of the request.
    """

    def __init__(self, fields: dict[str, Any], answer_file: BinaryIO) -> None:  # The fields are JSON.
        """Receive the request."""
        self.fields, self._answer_file = fields, answer_file

    def answer_and_exit(self, answer: object) -> NoReturn:
        """Send the answer, which must be JSON, and end this process without running any exit handlers.

        Args:
            answer: The answer.
        """
        with contextlib.suppress(BaseException), self._answer_file as file:
            file.write(json.dumps(answer).encode())
        os._exit(0)


class WaitingCopy:
    """A copy of this process that sleeps until a request wakes it.

    Attributes:
        pass_number: The number of backward passes that the program had run when the copy was made.
    """

    def __init__(self, pass_number: int, process_id: int, requests: int, answers: int) -> None:
        """Remember the copy; `requests` and `answers` are the ends of its pipes."""
        self.pass_number, self._process_id = pass_number, process_id
        self._requests, self._answers = os.fdopen(requests, "wb"), os.fdopen(answers, "rb")

    def send_request(self, fields: dict[str, Any]) -> Any:  # Both are JSON.
        """Let the copy go on, and return its answer; None if it ended without one.

        Args:
            fields: The request. "seconds" limits the time that the copy may take.
        """
        try:
            self._requests.write(json.dumps(fields).encode() + b"\n")
            self._requests.flush()
            answer = self._answers.readline()
        except OSError:
            return None
        return json.loads(answer) if answer else None

    def end_copy(self) -> None:
        """End the copy, and whatever runs in it."""
        for file in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                file.close()
        with contextlib.suppress(OSError):
            os.killpg(self._process_id, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self._process_id, 0)

    def close_pipes(self) -> None:
        """Close this process's ends of the pipes, in a process that has only inherited them."""
        for file in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                file.close()


def create_waiting_copy(pass_number: int) -> WaitingCopy | CopyRequest:
    """Fork a copy of this process.

    Args:
        pass_number: The number of backward passes that the program has run.

    Returns:
        In this process, the copy. In a process that continues from here because of a request, the request.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    request_reader, request_writer = os.pipe()
    answer_reader, answer_writer = os.pipe()
    process_id = os.fork()
    if process_id:
        os.close(request_reader)
        os.close(answer_writer)
        with contextlib.suppress(OSError):  # The child does the same, and either may be first.
            os.setpgid(process_id, process_id)
        return WaitingCopy(pass_number, process_id, request_writer, answer_reader)
    try:
        os.close(request_writer)
        os.close(answer_reader)
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)  # Ctrl-C in the terminal reaches the program only.
        return _serve_requests(request_reader, answer_writer)
    except BaseException:
        os._exit(1)


def _serve_requests(request_reader: int, answer_writer: int) -> CopyRequest:
    """Wait for requests. Each one is served by a copy of this process, in which the function returns."""
    with os.fdopen(request_reader, "rb") as requests, os.fdopen(answer_writer, "wb") as answers:
        for line in requests:
            fields = json.loads(line)
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
