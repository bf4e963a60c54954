"""Define a pytest plugin for nbval that sends the result of each cell to the parent process.

`minitape check` runs pytest with this plugin in a separate process. For each code cell, the plugin prints one line to
standard output, consisting of RECORD_MARK and a JSON object (see `_build_cell_result`).
"""

import json
import sys
from collections.abc import Generator
from os import environ
from pathlib import Path
from queue import Empty
from time import monotonic

import nbformat
import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell

from ..engine.types import OptionalFlag
from .notebook_rules import FOLLOWS_ANSWERS, CellResult, find_solution_code, get_tags, is_exercise

RECORD_MARK = "\x1eminitape "
VARIANT_VARIABLE = "MINITAPE_VARIANT"
NOTEBOOK_VARIABLE = "MINITAPE_NOTEBOOK"


def pytest_collection_modifyitems(items: list[IPyNbCell]) -> None:
    """Store each cell's position in the notebook. In the solved variant, replace exercises with their solutions.

    Args:
        items: All pytest items, which are nbval's cells of the one notebook that is collected.
    """
    _store_place_of_each_cell(items)
    if environ.get(VARIANT_VARIABLE) == "solved":
        for item in items:
            _replace_exercise_by_solution(item)


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path) -> OptionalFlag:
    """Ignore all files next to the notebook.

    The notebook is not passed on pytest's command line, which does not allow some characters.

    Args:
        collection_path: A path that pytest is about to collect.
    """
    notebook_path = Path(environ[NOTEBOOK_VARIABLE])
    return None if collection_path in (notebook_path, notebook_path.parent) else True


def pytest_configure() -> None:
    """Make nbval stop when its kernel dies, and run cells as JupyterLab and `minitape save` do."""
    _patch_nbval_await_reply()
    RunningKernel.execute_cell_input = _execute_cell_and_store_history


def _execute_cell_and_store_history(kernel: RunningKernel, cell_input: str, allow_stdin: OptionalFlag = None) -> str:
    """Run a cell the way nbval does, but store it in the kernel's history.

    IPython looks there for the semicolon that suppresses a result. Without this cell in the history, IPython would find
    a different cell there. `_` and `Out` also need the history.
    """
    message_id: str = kernel.kc.execute(cell_input, allow_stdin=allow_stdin, stop_on_error=False)
    return message_id


def _patch_nbval_await_reply() -> None:
    """Make nbval notice a dead kernel within a second, instead of waiting for the cell to time out."""
    original_await_reply = RunningKernel.await_reply

    def await_reply(kernel: RunningKernel, msg_id: str, timeout: float) -> None:
        deadline = monotonic() + timeout
        while True:
            try:
                return original_await_reply(kernel, msg_id, timeout=min(1.0, timeout))
            except Empty:
                if not kernel.is_alive():
                    raise RuntimeError("the kernel died in this cell") from None
                if monotonic() > deadline:
                    raise

    RunningKernel.await_reply = await_reply


def _store_place_of_each_cell(items: list[IPyNbCell]) -> None:
    """Store in each cell's item the cell's index among all cells of the notebook."""
    cells = items[0].parent.nb.cells if items else []
    code_cell_indexes = [cell_index for cell_index, cell in enumerate(cells) if cell.cell_type == "code"]
    for item in items:
        item.place = code_cell_indexes[item.cell_num]


def _replace_exercise_by_solution(item: IPyNbCell) -> None:
    """Replace the code of an exercise with its solution.

    The outputs of exercises, and of cells that depend on answers, are then not compared with the saved outputs.
    """
    solution = find_solution_code(item.parent.nb.cells, item.place)
    if is_exercise(item.cell) and solution is not None:
        item.cell = nbformat.from_dict({**item.cell, "source": solution})
        item.options["check"] = False
    elif FOLLOWS_ANSWERS in get_tags(item.cell):
        item.options["check"] = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the result of a cell. If the kernel does not start, the result contains that problem.

    Args:
        item: The item that was run.
        call: The phase of the run: setup, call or teardown.
    """
    report = yield
    if isinstance(item, IPyNbCell) and (call.when == "call" or report.failed):
        # This line must bypass pytest's output capture, which has replaced sys.stdout.
        print(RECORD_MARK + json.dumps(_build_cell_result(item, call)), file=sys.__stdout__, flush=True)
    return report


def _build_cell_result(item: IPyNbCell, call: pytest.CallInfo[None]) -> CellResult:
    error = call.excinfo.value if call.excinfo else None
    is_skipped = isinstance(error, pytest.skip.Exception)
    return {
        "cell": item.place,
        "outputs": item.test_outputs or [],
        "problem": None if error is None or is_skipped else str(error) or type(error).__name__,
    }
