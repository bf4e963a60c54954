"""Implement `minitape save`, which runs a notebook and saves it in the same form as the course's lessons."""

import asyncio
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import nbformat
from click import ClickException, unstyle
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

from ..common.atomic_write import write_file as write_file
from ..common.read_data import MAX_NOTEBOOK_SIZE, read_text
from ..engine.types import Action, NameSet, OptionalText, TextList, TextSequence
from .kernel import prepare_kernel_environment
from .messages import convert_write_errors, create_failed_action_error, say
from .notebook_rules import (
    LANGUAGE,
    UNCHECKED,
    WIDGET_VIEW,
    Cell,
    Notebook,
    Output,
    check_saved_notebook,
    collect_stderr,
    describe_cell,
    get_tags,
    is_picture_grown_after_run,
)

KERNEL_SPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def run_and_save_notebook(path: Path, cell_timeout: float = 120) -> None:
    """Run a notebook in a fresh kernel and save it in place with its new outputs.

    Args:
        path: The notebook.
        cell_timeout: The time limit per cell, in seconds.

    Raises:
        click.ClickException: If a cell without the tag `raises-exception` fails, a cell writes to stderr, `minitape
            check` would report the notebook, or the file cannot be written. In that case, the file is left unchanged.
    """
    notebook = read_notebook(path)
    execute_notebook(notebook, path, cell_timeout)
    clean_notebook(notebook)
    sources = [cell.source for cell in notebook.cells]
    problems = [
        *_list_stderr_problems(notebook, sources),
        *(f"{describe_cell(sources, finding.cell)}: {finding.message}" for finding in check_saved_notebook(notebook)),
    ]
    if problems:
        heading = say("{path} was not saved:", path=path)
        raise ClickException("\n  ".join([heading, *problems]))
    write_notebook(notebook, path)


def read_notebook(path: Path) -> Notebook:
    """Read and validate a notebook.

    Args:
        path: The notebook.

    Returns:
        The notebook, converted to version 4 of the notebook format.

    Raises:
        click.ClickException: If the notebook cannot be read or is invalid.
    """
    try:
        notebook = nbformat.reads(read_text(path, MAX_NOTEBOOK_SIZE), as_version=4)
        nbformat.validate(notebook)
    except Exception as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise create_failed_action_error(
            "{path} is not a readable notebook: {error}", path=path, error=reason
        ) from error
    return notebook


def execute_notebook(notebook: Notebook, path: Path, cell_timeout: float) -> None:
    """Run all cells of a notebook in its folder and replace its outputs.

    Args:
        notebook: The notebook to change.
        path: The file of the notebook, which need not exist.
        cell_timeout: The time limit per cell, in seconds.

    Raises:
        click.ClickException: If a cell fails, takes too long, or terminates the kernel.
    """
    sources = [cell.source for cell in notebook.cells]
    started_cells = []
    was_interrupted = Event()

    def on_cell_execute(cell: Cell, cell_index: int) -> None:
        if was_interrupted.is_set():
            raise KeyboardInterrupt
        started_cells.append(cell_index)

    def end_kernel() -> None:
        was_interrupted.set()
        kernel = getattr(manager.provisioner, "process", None)
        if kernel is not None:
            kernel.kill()

    with TemporaryDirectory(prefix="minitape-save-") as scratch:
        manager = AsyncKernelManager(kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager())
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=ceil(cell_timeout),  # traitlets 5.14 accepts only integers.
            resources={"metadata": {"path": str(path.absolute().parent)}},
            store_widget_state=False,
            record_timing=False,
            on_cell_execute=on_cell_execute,
        )
        try:
            env = prepare_kernel_environment(Path(scratch))
            run_client = partial(client.async_execute, env=env, stderr=subprocess.DEVNULL, cleanup_kc=True)
            _run_in_interruptible_thread(lambda: asyncio.run(run_client()), end_kernel)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            heading = say("{path} was not saved:", path=path)
            cell_description = describe_cell(sources, started_cells[-1] if started_cells else None)
            reason = _describe_execution_error(error, cell_timeout)
            raise ClickException(f"{heading} {cell_description} {reason}") from error


def _run_in_interruptible_thread(task: Action, on_interrupt: Action) -> None:
    """Run `task` in another thread. On Ctrl-C, call `on_interrupt`, which must terminate the task.

    If nbclient ran in the main thread, it would catch Ctrl-C and fail.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(task)
        try:
            future.result()
        except KeyboardInterrupt:
            on_interrupt()
            raise


def _describe_execution_error(error: Exception, cell_timeout: float) -> str:
    """Return what a cell did that ended the run, as the end of a sentence about the cell."""
    if isinstance(error, CellExecutionError):
        error_text = f"{error.ename}: {error.evalue}" if error.ename == "CalledProcessError" else str(error)
        return f"{say('fails')}\n{unstyle(error_text)}"
    if isinstance(error, CellTimeoutError):
        return say(
            "takes longer than {timeout:g} seconds: allow more time with --timeout SECONDS", timeout=cell_timeout
        )
    return str(error)


def clean_notebook(notebook: Notebook) -> None:
    """Remove everything from an executed notebook that does not belong in a saved file.

    Widget states, timings and version numbers are removed, and cells without an ID receive one. Cells whose picture
    grew receive the tag that exempts them from nbval's comparison.

    Args:
        notebook: The notebook to change.
    """
    notebook.nbformat = 4
    notebook.nbformat_minor = 5
    notebook.metadata.pop("widgets", None)
    notebook.metadata["kernelspec"] = KERNEL_SPEC
    notebook.metadata["language_info"] = LANGUAGE
    used_ids: NameSet = set()
    for number, cell in enumerate(notebook.cells, 1):
        cell["id"] = _choose_and_add_cell_id(cell.get("id"), number, used_ids)
        cell.metadata.pop("execution", None)
        cell.metadata.pop("trusted", None)
        if cell.cell_type == "code":
            cell.outputs = _join_stream_outputs(
                stripped for output in cell.outputs if (stripped := _strip_widget_view(output)) is not None
            )
            if any(map(is_picture_grown_after_run, cell.outputs)) and UNCHECKED not in get_tags(cell):
                cell.metadata["tags"] = [*get_tags(cell), UNCHECKED]


def _choose_and_add_cell_id(own_id: OptionalText, cell_number: int, used_ids: NameSet) -> str:
    """Return a cell's own ID, or a new ID derived from its number, and add the ID to `used_ids`.

    A new ID is also created if the cell's own ID is already in use.
    """
    name = own_id if own_id and own_id not in used_ids else f"cell-{cell_number:03d}"
    while name in used_ids:
        name += "x"
    used_ids.add(name)
    return name


def _strip_widget_view(output: Output) -> Output | None:
    """Remove the live widget view from an output. Return the output, or None if it is then empty."""
    if "data" not in output:
        return output
    for field in ("data", "metadata"):
        output[field].pop(WIDGET_VIEW, None)
    return output if output["data"] else None


def _join_stream_outputs(outputs: Iterable[Output]) -> list[Output]:
    """Merge adjacent outputs of the same stream, because the kernel splits streams at arbitrary points."""
    joined_outputs: list[Output] = []
    for output in outputs:
        # Only the outputs of streams have names.
        if joined_outputs and output.output_type == "stream" and joined_outputs[-1].get("name") == output.name:
            joined_outputs[-1].text += output.text
        else:
            joined_outputs.append(output)
    return joined_outputs


def _list_stderr_problems(notebook: Notebook, sources: TextSequence) -> TextList:
    message = say("writes to stderr:")
    return [
        f"{describe_cell(sources, cell_index)} {message}\n{text.rstrip()}"
        for cell_index, cell in enumerate(notebook.cells)
        if (text := collect_stderr(cell.get("outputs", ())))
    ]


def write_notebook(notebook: Notebook, path: Path) -> None:
    """Write a notebook atomically. After a crash, either the old file or the new file exists.

    Args:
        notebook: A valid notebook.
        path: The file.

    Raises:
        click.ClickException: If the file cannot be written.
    """
    nbformat.validate(notebook)
    text = nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"
    with convert_write_errors(path):
        write_file(path, text)
