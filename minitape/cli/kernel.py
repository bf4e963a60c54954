"""The surroundings in which notebooks are run by `check` and `save`: the same on every machine."""

from __future__ import annotations

import os
from pathlib import Path

from minitape.common.atomic_write import write_file
from minitape.common.translation import LANGUAGE_VARIABLES
from minitape.course.progress import ENVIRONMENT_VARIABLE

# a lesson speaks its own language
DROPPED_VARIABLES = (
    *("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_PLUGINS", "PYTHONWARNINGS", "PYTHONSTARTUP"),
    LANGUAGE_VARIABLES[0],
)
DROPPED_PREFIXES = ("PYTEST_XDIST_",)
FIXED_VARIABLES = {
    "PYTHONHASHSEED": "0",
    "COLUMNS": "120",
    "LINES": "40",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "JUPYTER_PLATFORM_DIRS": "1",
}

# Runs when a kernel starts. A `!command` that fails becomes an exception, where IPython would continue without a word.
STARTUP_CODE = """\
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


def prepare_kernel_environment(scratch_folder: Path) -> dict[str, str]:
    """Write a kernel's settings to `scratch_folder`, and return the environment variables with which it uses them.

    Its history and the course's progress live there, too.

    The user's own IPython settings and progress are neither read nor written.
    """
    startup = scratch_folder / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    write_file(startup / "10-failing-commands.py", STARTUP_CODE)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in DROPPED_VARIABLES and not name.startswith(DROPPED_PREFIXES)
    }
    return (
        environment
        | FIXED_VARIABLES
        | {"IPYTHONDIR": str(scratch_folder / "ipython"), ENVIRONMENT_VARIABLE: str(scratch_folder / "progress.json")}
    )
