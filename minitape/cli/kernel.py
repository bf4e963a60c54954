"""Prepare the environment in which `check` and `save` run notebooks. The environment is the same on every machine."""

import os
from pathlib import Path

from minitape.common.atomic_write import write_file
from minitape.common.translation import LANGUAGE_VARIABLES
from minitape.course.progress import ENVIRONMENT_VARIABLE

from ..engine.types import TextsByName

# The user's language is removed, because each lesson sets its own language.
DROPPED_VARIABLES = ("PYTHONWARNINGS", "PYTHONSTARTUP", LANGUAGE_VARIABLES[0])
PYTEST_PREFIX = "PYTEST_"
"""The prefix of pytest's variables, which are removed if `minitape check` runs in a test."""
FIXED_VARIABLES = {
    "PYTHONHASHSEED": "0",
    "COLUMNS": "120",
    "LINES": "40",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "JUPYTER_PLATFORM_DIRS": "1",
}

# A kernel runs this code at startup. It turns a failing `!command`, which IPython would ignore, into an exception.
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


def prepare_kernel_environment(scratch_folder: Path) -> TextsByName:
    """Write the settings for a kernel and return the environment variables that select them.

    The user's IPython settings and course progress are neither read nor changed.

    Args:
        scratch_folder: The folder for settings, history and course progress.

    Returns:
        The kernel's complete environment.
    """
    startup = scratch_folder / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    write_file(startup / "10-failing-commands.py", STARTUP_CODE)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in DROPPED_VARIABLES and not name.startswith(PYTEST_PREFIX)
    }
    return (
        environment
        | FIXED_VARIABLES
        | {"IPYTHONDIR": str(scratch_folder / "ipython"), ENVIRONMENT_VARIABLE: str(scratch_folder / "progress.json")}
    )
