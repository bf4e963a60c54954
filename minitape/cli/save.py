"""`minitape save`: run a notebook and save it the way lessons are saved."""

from __future__ import annotations

import asyncio
import math
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

from ..common.read_data import NOTEBOOK, read_text
from ..common.write_beside import write as write_file
from .kernel import kernel_environment
from .messages import failure, say, writing
from .rules import (
    LANGUAGE,
    UNCHECKED,
    WIDGET_VIEW,
    errors_text,
    is_grown,
    place_in,
    plain,
    saved_findings,
    tags_of,
)

if TYPE_CHECKING:
    from .rules import Cell, Notebook, Output

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def save(path: Path, timeout: float = 120) -> None:
    """Run the notebook at `path` in a fresh kernel, and save it in place with its new outputs.

    Raises click.ClickException, and leaves the file as it was, where a cell fails (unless it is tagged
    `raises-exception`), writes to stderr, or breaks a rule that `minitape check` would report, and where it cannot be
    written.
    """
    notebook = read_notebook(path)
    execute(notebook, path.absolute().parent, timeout, str(path))
    clean(notebook)
    sources = [cell.source for cell in notebook.cells]
    problems = [
        *_stderr_problems(notebook),
        *(f"{place_in(sources, f.cell)}: {f.message}" for f in saved_findings(notebook)),
    ]
    if problems:
        told = say("{path} was not saved:", path=path)
        raise click.ClickException("\n  ".join([told, *problems]))
    write(notebook, path)


def read_notebook(path: Path) -> Notebook:
    """The notebook in a file; click.ClickException where it cannot be read."""
    try:
        notebook = nbformat.reads(read_text(path, NOTEBOOK), as_version=4)
        nbformat.validate(notebook)
    except Exception as error:
        why = next(iter(str(error).splitlines()), type(error).__name__)
        raise failure("{path} is not a readable notebook: {error}", path=path, error=why) from error
    return notebook


def execute(notebook: Notebook, folder: Path, timeout: float, name: str) -> None:
    """Run all cells of `notebook` in `folder`; its outputs are replaced.

    Raises click.ClickException where a cell fails, takes longer than `timeout` seconds, or ends the kernel.
    """
    sources = [cell.source for cell in notebook.cells]
    begun: list[int] = []
    ended = threading.Event()

    def begins(cell: Cell, cell_index: int) -> None:
        if ended.is_set():
            raise KeyboardInterrupt
        begun.append(cell_index)

    def end() -> None:
        ended.set()
        kernel = getattr(manager.provisioner, "process", None)
        if kernel is not None:
            kernel.kill()

    with tempfile.TemporaryDirectory(prefix="minitape-save-") as scratch:
        manager = AsyncKernelManager(kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager())
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=math.ceil(timeout),  # traitlets 5.14 takes whole numbers only
            resources={"metadata": {"path": str(folder)}},
            store_widget_state=False,
            record_timing=False,
            on_cell_execute=begins,
        )
        try:
            env = kernel_environment(Path(scratch))
            run = partial(client.async_execute, env=env, stderr=subprocess.DEVNULL, cleanup_kc=True)
            _in_a_thread(lambda: asyncio.run(run()), end)
        except CellExecutionError as error:
            told = f"{error.ename}: {error.evalue}" if error.ename == "CalledProcessError" else str(error)
            raise _not_saved(name, sources, begun, f"{say('fails')}\n{plain(told)}") from error
        except CellTimeoutError as error:
            message = say(
                "takes longer than {timeout:g} seconds: give it more time with --timeout SECONDS", timeout=timeout
            )
            raise _not_saved(name, sources, begun, message) from error
        except DeadKernelError as error:
            raise _not_saved(name, sources, begun, str(error)) from error


def _in_a_thread(work: Callable[[], object], end: Callable[[], object]) -> None:
    """Do `work`; Ctrl-C calls `end`, which ends it. In the main thread nbclient would catch Ctrl-C, and fail."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            future.result()
        except KeyboardInterrupt:
            end()
            raise


def _not_saved(name: str, sources: list[str], begun: list[int], message: str) -> click.ClickException:
    place = place_in(sources, begun[-1] if begun else None)
    return click.ClickException(f"{say('{path} was not saved:', path=name)} {place} {message}")


def clean(notebook: Notebook) -> None:
    """Take out of an executed notebook what does not belong into a file: widgets, timings, this machine's versions. A
    cell whose picture grew gets the tag by which nbval does not compare it.
    """
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata.pop("widgets", None)
    notebook.metadata["kernelspec"] = nbformat.from_dict(KERNEL)
    notebook.metadata["language_info"] = nbformat.from_dict(LANGUAGE)
    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells, 1):
        cell["id"] = _lasting_id(cell.get("id"), number, seen)
        cell.metadata.pop("execution", None)
        cell.metadata.pop("trusted", None)
        if cell.cell_type == "code":
            cell.outputs = _joined_streams(o for output in cell.outputs if (o := _without_widget(output)) is not None)
            if any(map(is_grown, cell.outputs)) and UNCHECKED not in tags_of(cell):
                cell.metadata["tags"] = [*tags_of(cell), UNCHECKED]


def _lasting_id(given: str | None, number: int, seen: set[str]) -> str:
    """A cell's own id if it has one, else one made from its place; never one that another cell has."""
    name = given if given and given not in seen else f"cell-{number:03d}"
    while name in seen:
        name += "x"
    seen.add(name)
    return name


def _without_widget(output: Output) -> Output | None:
    """The output without its live widget view, or None if nothing is left."""
    if "data" not in output:
        return output
    for part in ("data", "metadata"):
        output[part].pop(WIDGET_VIEW, None)
    return output if output["data"] else None


def _joined_streams(outputs: Iterable[Output]) -> list[Output]:
    """The outputs, with neighbouring pieces of one stream as one: where the kernel cuts a stream is chance."""
    joined: list[Output] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last is not None and last.output_type == output.output_type == "stream" and last.name == output.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def _stderr_problems(notebook: Notebook) -> list[str]:
    sources = [cell.source for cell in notebook.cells]
    wrote = ((place, errors_text(cell.get("outputs", ()))) for place, cell in enumerate(notebook.cells))
    told = say("writes to stderr:")
    return [f"{place_in(sources, place)} {told}\n{text.rstrip()}" for place, text in wrote if text]


def write(notebook: Notebook, path: Path) -> None:
    """Write a notebook in one step, so that a crash leaves the old file or the new one.

    Raises click.ClickException where it cannot be written.
    """
    nbformat.validate(notebook)
    text = nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"
    with writing(path):
        write_file(path, text)
