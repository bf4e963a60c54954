"""`minitape site --lite`: the lessons in JupyterLite, which runs them in the reader's browser, without a server."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from ..engine.read_data import NOTEBOOK, read_json
from ..engine.write_beside import write
from .lessons import copy_missing, notebooks_in
from .parts import need
from .site_folder import new_site

NEEDS = ("jupyterlite_core", "jupyterlite_pyodide_kernel")
# Lessons import minitape, which the kernel in the browser does not have when it starts.
INSTALL: dict[str, object] = {
    "cell_type": "code",
    "id": "install-minitape",
    "execution_count": None,
    "metadata": {},
    "outputs": [],
    "source": "%pip install -q minitape anywidget",
}


def write_lite(out: Path, wheel: Path, language: str | None = None) -> int:
    """Write JupyterLite with the course's lessons in a language, and with `wheel` to install in it, to `out`; give back
    how many lessons it has.

    Raises ModuleNotFoundError where JupyterLite is missing, click.ClickException where `wheel` is none of minitape's,
    `out` holds something else, or JupyterLite cannot be built.
    """
    need(*NEEDS)
    if not wheel.name.startswith("minitape-") or not wheel.name.endswith("-py3-none-any.whl"):
        raise click.ClickException(
            f"{wheel} is no wheel of minitape. To make one of the repository: pip wheel --no-deps ."
        )
    with new_site(out) as new, tempfile.TemporaryDirectory(prefix="minitape-lite-") as scratch:
        contents = Path(scratch) / "contents"
        copy_missing(contents, language=language)
        lessons = [path for path in notebooks_in(contents) if _install(path)]
        command = [
            *(sys.executable, "-c", "from jupyterlite_core.app import main; main()", "build"),
            *("--lite-dir", scratch, "--contents", str(contents), "--output-dir", str(new.absolute())),
            *("--piplite-wheels", str(wheel.absolute()), "--apps", "lab", "--no-sourcemaps"),
        ]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)  # where it keeps notes of its own
        if done.returncode:
            raise click.ClickException(f"JupyterLite cannot be built:\n{done.stdout}{done.stderr}")
    return len(lessons)


def _install(path: Path) -> bool:
    """Let a notebook install minitape before its first program; whether it has one."""
    notebook = read_json(path, NOTEBOOK)
    first = next((at for at, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "code"), None)
    if first is None:
        return False
    notebook["cells"].insert(first, INSTALL)
    write(path, json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    return True
