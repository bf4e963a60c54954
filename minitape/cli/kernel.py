"""The surroundings in which notebooks are run by `check` and `save`: the same on every machine."""

from __future__ import annotations

import os
from pathlib import Path

from minitape.common.texts import VARIABLES
from minitape.common.write_beside import write
from minitape.course.progress import VARIABLE

# a lesson speaks its own language
DROPPED = (
    *("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_PLUGINS", "PYTHONWARNINGS", "PYTHONSTARTUP"),
    VARIABLES[0],
)
DROPPED_PREFIXES = ("PYTEST_XDIST_",)
FIXED = {
    "PYTHONHASHSEED": "0",
    "COLUMNS": "120",
    "LINES": "40",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "JUPYTER_PLATFORM_DIRS": "1",
}

# Runs when a kernel starts. A `!command` that fails becomes an exception, where IPython would continue without a word.
STARTUP = """\
def _install():
    import subprocess

    import IPython.core.interactiveshell as core
    import ipykernel.zmqshell as kernel

    run = kernel.system

    def system(command):
        code = run(command)
        if code:
            raise subprocess.CalledProcessError(code, command)
        return code

    def getoutput(command):
        shell = dict(shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        return subprocess.run(command, check=True, **shell).stdout

    kernel.system, core.getoutput = system, getoutput


_install()
del _install
"""


def kernel_environment(scratch: Path) -> dict[str, str]:
    """Environment variables for a kernel whose settings, history and course progress live in `scratch`.

    The user's own IPython settings and progress are neither read nor written.
    """
    startup = scratch / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    write(startup / "10-failing-commands.py", STARTUP)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in DROPPED and not name.startswith(DROPPED_PREFIXES)
    }
    return environment | FIXED | {"IPYTHONDIR": str(scratch / "ipython"), VARIABLE: str(scratch / "progress.json")}
