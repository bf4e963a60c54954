"""The notebook's outputs that show views: which cell shows which, and what is saved of one that was shown early.

- A cell that runs again, or was deleted, shows its old view no more. Where the program has no name for it, it is
  closed.
- A view that was shown before its tape recorded anything has no picture that a notebook could save. Its output has a
  name of its own (a *display id*); when a cell has ended in which the tape grew or gave a gradient, the output is
  replaced by one that holds the static picture beside the widget.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from minitape.common.notebook import running_notebook
from minitape.recording.names import named_values

from .live import wake

GROWN = {"minitape": {"grown": True}}  # in an output's metadata: it was replaced after its cell had run


@dataclass
class _Output:
    view: weakref.ref[Any]
    cell: str | None
    run: str | None  # the id of the message that ran the cell
    count: int  # IPython's number of that run
    handle: Any = None  # where it can be replaced
    drawn: Any = None  # what it showed last


_outputs: list[_Output] = []
_shells: weakref.WeakSet[Any] = weakref.WeakSet()  # that tell us of their cells


def note(view: Any, handle: Any = None) -> None:
    """The cell that runs now shows a view."""
    shell = _shell()
    if shell is None:
        return
    if shell not in _shells:
        shell.events.register("post_run_cell", _after_cell)
        _shells.add(shell)
    cell, run, _ = _running(shell)
    if not any(o.view() is view and o.run == run and o.handle is None for o in _outputs) or handle is not None:
        _outputs.append(_Output(weakref.ref(view), cell, run, shell.execution_count, handle))


def show(view: Any, data: dict[str, Any], metadata: dict[str, Any]) -> bool:
    """Shows a view in an output that can be replaced; False where there is no notebook."""
    if _shell() is None:
        return False
    from IPython.display import display

    note(view, display(data, metadata=metadata, raw=True, display_id=True))
    return True


def _shell() -> Any:
    """IPython's shell where it runs in a kernel."""
    shell = running_notebook()
    return shell if getattr(shell, "kernel", None) is not None else None


def _running(shell: Any) -> tuple[str | None, str | None, list[str]]:
    """The cell that runs, the message that runs it, and cells that were deleted; as far as the front end says it."""
    with suppress(Exception):
        message = shell.get_parent()
        about = message.get("metadata", {})
        return about.get("cellId"), message["header"]["msg_id"], list(about.get("deletedCells") or ())
    return None, None, []


def _after_cell(*_: Any) -> None:
    """A cell has ended."""
    shell = _shell()
    if shell is None:
        return
    with suppress(Exception):  # a picture never disturbs the program
        _close_replaced(shell)
    wake()  # a variable may have been assigned: no other code tells of it
    for output in list(_outputs):
        with suppress(Exception):
            _redraw(output)


def _close_replaced(shell: Any) -> None:
    cell, run, deleted = _running(shell)
    gone = [o for o in _outputs if o.cell is not None and (o.cell in deleted or (o.cell == cell and o.run != run))]
    for output in gone:
        _outputs.remove(output)
    still = {id(o.view()) for o in _outputs}
    # IPython's own names for results (_, _12, Out) are not the program's
    named = {id(value) for _, value in named_values([shell.user_ns])}
    for output in gone:
        view = output.view()
        for kept in getattr(shell.history_manager, "outputs", {}).get(output.count, ()):
            kept.bundle.pop("text/html", None)  # IPython keeps what every run showed, here a picture that stays hidden
        if view is not None and id(view) not in still | named:
            view.close()
    _outputs[:] = [o for o in _outputs if (view := o.view()) is not None and view.comm is not None]


def _redraw(output: _Output) -> None:
    """Replaces an output whose tape has new rows, or a new gradient."""
    view = output.view()
    if output.handle is None or view is None:
        return
    state = view._drawable()
    if state is not None and state != output.drawn:
        output.drawn = state
        data, metadata = view._bundle()
        output.handle.update(data, metadata=metadata | GROWN, raw=True)
