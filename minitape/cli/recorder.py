"""A pytest plugin for nbval: sends the parent process, cell by cell, what ran and what it printed.

`minitape check` starts pytest with this plugin in a process of its own. Each code cell gives one line on standard
output that starts with MARK and holds a JSON object (see `_record`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Generator
from itertools import groupby
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbval import plugin
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from .rules import FOLLOWS_ANSWERS, is_exercise, is_grown, kinds, solution_of, tags_of

if TYPE_CHECKING:
    from .rules import Output, Ran

MARK = "\x1eminitape "
VARIANT_VARIABLE = "MINITAPE_VARIANT"
NOTEBOOK_VARIABLE = "MINITAPE_NOTEBOOK"
SHOWN = ("stream", "display_data", "execute_result", "error")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every cell its place in the notebook; in the solved variant, put the solutions in."""
    cells = [item for item in items if isinstance(item, IPyNbCell)]
    places = _places(cells[0]) if cells else []
    for item in cells:
        item.place = places[item.cell_num]
        item.cell["outputs"] = [_as_first_shown(output) for output in item.cell.get("outputs", [])]
    if os.environ.get(VARIANT_VARIABLE) == "solved":
        for item in items:
            _solve(item)


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what lies beside the notebook. On pytest's command line its name could not hold every character."""
    wanted = Path(os.environ[NOTEBOOK_VARIABLE])
    return None if collection_path in (wanted, wanted.parent) else True


def pytest_configure() -> None:
    """Let nbval run and compare cells as JupyterLab runs and shows them."""
    _notice_death()
    _keep_history()
    _compare_order()
    _follow_changes()


def _keep_history() -> None:
    """With a history, as in JupyterLab: only there IPython looks for the `;` at the end of a cell that shows no
    result.
    """

    # the message's id
    def execute_cell_input(kernel: RunningKernel, code: str, allow_stdin: bool | None = None) -> Any:
        kernel.begun = kernel.kc.execute(code, allow_stdin=allow_stdin, stop_on_error=False)
        return kernel.begun

    RunningKernel.execute_cell_input = execute_cell_input


def _compare_order() -> None:
    """nbval compares the streams of a cell, and its results, each for itself: here their order counts, and a result is
    no display.
    """
    merged, same = plugin.coalesce_streams, IPyNbCell.compare_outputs

    def coalesce_streams(outputs: list[Output]) -> list[Output]:
        groups = groupby(outputs, lambda output: output.output_type == "stream")
        return [output for streams, group in groups for output in (merged(list(group)) if streams else group)]

    def compare_outputs(
        item: IPyNbCell, new: list[Output], saved: list[Output], skip_compare: tuple[str, ...] | None = None
    ) -> bool:
        return bool(same(item, new, saved, skip_compare)) and kinds(new) == kinds(saved)

    plugin.coalesce_streams, IPyNbCell.compare_outputs = coalesce_streams, compare_outputs


def _follow_changes() -> None:
    """A cell may clear its outputs and update its displays: what counts is what is left of them, which `save` keeps."""
    get = IPyNbFile.get_kernel_message

    # a message of the kernel's, as jupyter_client gives it
    def get_kernel_message(file: IPyNbFile, timeout: float | None = None, stream: str = "iopub") -> Any:
        message = get(file, timeout, stream)
        if message["parent_header"].get("msg_id") == file.kernel.begun:
            file.screen.show(message["msg_type"], message["content"])
        return message

    IPyNbFile.get_kernel_message = get_kernel_message


class _Screen:
    """The outputs of a cell that one sees; nbval appends to them what comes."""

    def __init__(self, item: IPyNbCell) -> None:
        self._item, self._clears = item, False
        self._displays: dict[str, list[int]] = {}

    # what the kernel sends with an output of this kind
    def show(self, kind: str, content: Any) -> None:
        """Do what a message of the kernel says with the outputs that were there before."""
        outputs, clears = self._item.test_outputs, kind == "clear_output"
        if clears and content["wait"]:
            self._clears = True
        elif clears or (self._clears and kind in SHOWN):
            outputs.clear()
            self._displays, self._clears = {}, False
        if name := content.get("transient", {}).get("display_id"):
            places = self._displays.setdefault(name, [])
            for place in () if is_grown(content) else places:  # a picture counts as it was first shown
                outputs[place].update(data=content["data"], metadata=content["metadata"])
            if kind in SHOWN:
                places.append(len(outputs))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Begin with an empty screen."""
    if isinstance(item, IPyNbCell):
        item.parent.screen = _Screen(item)


def _notice_death() -> None:
    """Within a second, where nbval would wait for the cell's whole time."""
    wait = RunningKernel.await_reply

    def await_reply(kernel: RunningKernel, msg_id: str, timeout: float) -> None:
        end = time.monotonic() + timeout
        while True:
            try:
                return wait(kernel, msg_id, timeout=min(1.0, timeout))
            except Empty:
                if not kernel.is_alive():
                    raise RuntimeError("the kernel died in this cell") from None
                if time.monotonic() > end:
                    raise

    RunningKernel.await_reply = await_reply


def _as_first_shown(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """An output as its cell showed it: nbval does not follow those that are replaced after their cell has run."""
    if not is_grown(output):
        return output
    return nbformat.from_dict({**output, "data": {"text/plain": "TapeView(0 rows, 1 tape)"}, "metadata": {}})


def _places(item: IPyNbCell) -> list[int]:
    return [number for number, cell in enumerate(item.parent.nb.cells) if cell.cell_type == "code"]


def _solve(item: IPyNbCell) -> None:
    """Replace an exercise's code by its solution; its saved output then no longer binds."""
    solution = solution_of(item.parent.nb.cells, item.place)
    if is_exercise(item.cell) and solution is not None:
        item.cell = nbformat.from_dict({**item.cell, "source": solution})
        item.options["check"] = False
    elif FOLLOWS_ANSWERS in tags_of(item.cell):
        item.options["check"] = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send what happened in a cell; a kernel that does not start is sent as the cell that could not run."""
    report = yield
    if isinstance(item, IPyNbCell) and (call.when == "call" or report.failed):
        # Past pytest's capture, which is in the place of sys.stdout.
        print(MARK + json.dumps(_record(item, call)), file=sys.__stdout__, flush=True)
    return report


def _record(item: IPyNbCell, call: pytest.CallInfo[None]) -> Ran:
    error = call.excinfo.value if call.excinfo else None
    skipped = isinstance(error, pytest.skip.Exception)
    return {
        "cell": item.place,
        "source": item.cell.source,
        "seconds": call.duration,
        "outputs": item.test_outputs or [],
        "skipped": skipped,
        "problem": None if error is None or skipped else str(error) or type(error).__name__,
    }
