"""Which version of a notebook is still whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.read_data import NOTEBOOK, read_json, read_text
from .lessons import notebooks_in
from .messages import say

if TYPE_CHECKING:
    from .rules import Notebook


def last_whole(path: Path) -> Path | None:
    """The last version of a notebook that can still be read, if that is another file: a copy that JupyterLab made."""
    copies = (path.with_name(f".~{path.name}"), path.parent / ".ipynb_checkpoints" / f"{path.stem}-checkpoint.ipynb")
    whole = [copy for copy in copies if _is_whole(copy)]
    return max(whole, key=lambda copy: copy.stat().st_mtime, default=None)


def advice(path: Path) -> str:
    """What to do about a notebook that cannot be read, to be put behind the sentence that says so."""
    whole = last_whole(path)
    return "" if whole is None else say(". The last version of it that can be read is {path}", path=whole)


def read_notebook(path: Path) -> Notebook:
    """The notebook in a file; click.ClickException where it cannot be read."""
    import nbformat  # here, because copies of lessons are made without it

    try:
        return nbformat.reads(read_text(path, NOTEBOOK), as_version=4)
    except Exception as error:
        told = say("{path} is not a readable notebook: {error}", path=path, error=error)
        raise click.ClickException(told + advice(path)) from error


def broken_notebooks(folder: Path) -> list[Path]:
    """The notebooks in `folder` that are no JSON: a save that was broken off, say."""
    return [path for path in notebooks_in(folder) if not _is_whole(path)]


def _is_whole(path: Path) -> bool:
    try:
        return isinstance(read_json(path, NOTEBOOK), dict)
    except (OSError, ValueError):
        return False
