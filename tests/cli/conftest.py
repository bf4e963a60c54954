"""Define helpers for command-line tests, such as a function that runs commands."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from minitape.cli.save import run_and_save_notebook
from tests.warm import warm_check  # noqa: F401  # a fixture for all tests of this folder

SOLUTION = """<details><summary>Solution</summary>

```python
answer = 6.0
check("t.1", answer)
```

</details>"""

NotebookEdit = Callable[[nbformat.NotebookNode], object]


def run_minitape(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `minitape` in a separate process.

    Args:
        arguments: The command's arguments.
        cwd: The working folder.

    Returns:
        The finished process, with its output as text.
    """
    command = [sys.executable, "-m", "minitape", *map(str, arguments)]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "120"}
    return subprocess.run(command, cwd=cwd, env=environment, text=True, capture_output=True, timeout=300, check=False)


def build_small_notebook() -> nbformat.NotebookNode:
    """Build a notebook that has not been run yet, with one cell of each kind."""
    cells = [
        new_markdown_cell("# A small notebook"),
        new_code_cell("print([0.5, 1.5])"),
        new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]}),
        new_code_cell("from minitape.course import Exercise, add_exercise, check, progress"),
        new_code_cell("add_exercise(Exercise('t.1', expect=6.0))"),
        new_code_cell("answer = ...\ncheck('t.1', answer)", metadata={"tags": ["exercise"]}),
        new_markdown_cell(SOLUTION, metadata={"tags": ["solution"]}),
        new_code_cell("print(answer is ...)", metadata={"tags": ["follows-answers"]}),
        new_code_cell("x = !echo spoken\nprint(x)"),
        new_code_cell("print('last')"),
    ]
    return new_notebook(cells=cells)


@pytest.fixture(scope="session")
def saved_notebook(tmp_path_factory) -> Path:
    """Return the path of the small notebook, after `minitape save` saved it."""
    path = tmp_path_factory.mktemp("small") / "small.ipynb"
    nbformat.write(build_small_notebook(), path)
    run_and_save_notebook(path)
    return path


@pytest.fixture
def spoiled(saved_notebook: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that applies edits to a copy of the small notebook and returns the path of the copy."""

    def change_notebook(*edits: NotebookEdit) -> Path:
        notebook = nbformat.read(saved_notebook, as_version=4)
        for edit in edits:
            edit(notebook)
        path = tmp_path / "spoiled.ipynb"
        nbformat.write(notebook, path)
        return path

    return change_notebook
