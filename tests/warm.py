"""Run `minitape check` in processes that have already imported pytest and nbval.

`minitape check` runs each notebook in a new Python process, which spends half of a short notebook's time on imports.
Here, a fork server imports everything once. The checks are the same, and each notebook still gets a new kernel. Tests
that run the `minitape` command itself use normal processes.
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
    """A pytest process with the `subprocess.Popen` methods that `minitape check` uses.

    Attributes:
        stdout: The output of the process, including stderr.
        terminate: The method that terminates the process.
    """

    def __init__(self, command, cwd, env, **_):
        """Start pytest with the arguments in `command`."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        # The shell of another test may have removed the folder.
        vars(sys.modules["__main__"]).setdefault("__spec__", None)
        read_end, write_end = context.Pipe(duplex=False)
        arguments = command[command.index("pytest") + 1 :]
        self._process = context.Process(target=run_pytest_in_process, args=(arguments, cwd, env, write_end))
        self._process.start()
        write_end.close()
        self.stdout = os.fdopen(os.dup(read_end.fileno()), encoding="utf-8", errors="replace")
        read_end.close()
        self.terminate = self._process.terminate

    def poll(self):
        """Return the exit code, or None while the process is running."""
        return self._process.exitcode

    def wait(self):
        """Wait for the process to exit and return its exit code."""
        self._process.join()
        return self._process.exitcode


def run_pytest_in_process(arguments, cwd, env, write_end):
    """Run pytest in this process after making it look like a fresh process.

    Args:
        arguments: The arguments for pytest.
        cwd: The working folder.
        env: The complete environment.
        write_end: The pipe for stdout and stderr.
    """
    os.dup2(write_end.fileno(), 1)
    os.dup2(write_end.fileno(), 2)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.exit(pytest.main(arguments))


def format_result_text(result):
    """Return the lines that `minitape check` prints for one notebook, as plain text."""
    return "\n".join(line.plain for line in terminal_report.iter_result_lines(result))


@pytest.fixture(scope="session", autouse=hasattr(os, "fork"))
def warm_check():
    """Check notebooks in warm processes. The fixture applies to each test folder that imports it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_notebooks, "subprocess", SimpleNamespace(**vars(subprocess) | {"Popen": WarmProcess}))
        yield
