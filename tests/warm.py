"""`minitape check` runs each notebook in a new process of Python, which imports pytest and nbval: half of what a short
notebook takes. Here that process comes from one that has imported them. What is checked is the same; the notebook's
kernel is as new as ever. Tests that run the command `minitape` have all its processes.
"""

import multiprocessing
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from minitape.cli import check_notebooks, terminal_report

PRELOADED = ["minitape.cli.nbval_recorder", "nbval.plugin", "jupyter_client.blocking", "jupyter_client.provisioning"]


class WarmProcess:
    """A process of pytest, with what `minitape check` asks of it."""

    def __init__(self, command, cwd, env, **_):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        vars(sys.modules["__main__"]).setdefault("__spec__", None)  # a shell that another test made may have left none
        read_end, write_end = context.Pipe(duplex=False)
        arguments = command[command.index("pytest") + 1 :]
        self._process = context.Process(target=run_pytest_in_process, args=(arguments, cwd, env, write_end))
        self._process.start()
        write_end.close()
        self.stdout = os.fdopen(os.dup(read_end.fileno()), encoding="utf-8", errors="replace")
        read_end.close()
        self.terminate = self._process.terminate

    def poll(self):
        return self._process.exitcode

    def wait(self):
        self._process.join()
        return self._process.exitcode


def run_pytest_in_process(arguments, cwd, env, write_end):
    os.dup2(write_end.fileno(), 1)
    os.dup2(write_end.fileno(), 2)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.exit(pytest.main(arguments))


def format_result_text(result):
    """What `minitape check` says of one notebook, as plain text."""
    return "\n".join(line.plain for line in terminal_report.iter_result_lines(result))


@pytest.fixture(scope="session", autouse=hasattr(os, "fork"))
def warm_check():
    """For each folder of tests that imports this: notebooks are checked in such processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_notebooks, "subprocess", SimpleNamespace(**vars(subprocess) | {"Popen": WarmProcess}))
        yield
