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
from typing import TYPE_CHECKING, Any

from minitape.common.notebook import find_ipython_shell
from minitape.recording.variable_names import iter_public_names_and_values

from .live_updates import notify_sending_thread

if TYPE_CHECKING:
    from .view import TapeView

GROWN_METADATA = {"minitape": {"grown": True}}  # in an output's metadata: it was replaced after its cell had run


@dataclass
class _ShownOutput:
    view_ref: weakref.ref[TapeView]
    cell_id: str | None
    run_id: str | None  # the id of the message that ran the cell
    execution_count: int  # IPython's number of that run
    display_handle: Any = None  # where it can be replaced
    drawn_state: Any = None  # what it showed last


_outputs: list[_ShownOutput] = []
_shells: weakref.WeakSet[Any] = weakref.WeakSet()  # that tell us of their cells


def note_shown_view(view: TapeView, display_handle: Any = None) -> None:
    """Note that the cell that runs now shows a view."""
    shell = _find_kernel_shell()
    if shell is None:
        return
    if shell not in _shells:
        shell.events.register("post_run_cell", _on_cell_end)
        _shells.add(shell)
    cell_id, run_id, _ = _read_cell_run_and_deleted_ids(shell)
    if (
        not any(
            output.view_ref() is view and output.run_id == run_id and output.display_handle is None
            for output in _outputs
        )
        or display_handle is not None
    ):
        _outputs.append(_ShownOutput(weakref.ref(view), cell_id, run_id, shell.execution_count, display_handle))


def show_in_replaceable_output(view: TapeView, data: dict[str, Any], metadata: dict[str, Any]) -> bool:
    """Show a view in an output that can be replaced; False where there is no notebook."""
    if _find_kernel_shell() is None:
        return False
    from IPython.display import display

    note_shown_view(view, display(data, metadata=metadata, raw=True, display_id=True))
    return True


def _find_kernel_shell() -> Any:
    """Find IPython's shell, if it runs in a kernel."""
    shell = find_ipython_shell()
    return shell if getattr(shell, "kernel", None) is not None else None


def _read_cell_run_and_deleted_ids(shell: Any) -> tuple[str | None, str | None, list[str]]:
    """Return the ids of the cell that runs, of the message that runs it, and of deleted cells, as far as known."""
    with suppress(Exception):
        message = shell.get_parent()
        metadata = message.get("metadata", {})
        return metadata.get("cellId"), message["header"]["msg_id"], list(metadata.get("deletedCells") or ())
    return None, None, []


def _on_cell_end(*_: Any) -> None:
    """Close the views that a run replaced, and update outputs whose tapes have grown."""
    shell = _find_kernel_shell()
    if shell is None:
        return
    with suppress(Exception):  # a picture never disturbs the program
        _close_replaced_views(shell)
    notify_sending_thread()  # a variable may have been assigned: no other code tells of it
    for output in list(_outputs):
        with suppress(Exception):
            _replace_outdated_output(output)


def _close_replaced_views(shell: Any) -> None:
    cell_id, run_id, deleted_cells = _read_cell_run_and_deleted_ids(shell)
    replaced_outputs = [
        entry
        for entry in _outputs
        if entry.cell_id is not None
        and (entry.cell_id in deleted_cells or (entry.cell_id == cell_id and entry.run_id != run_id))
    ]
    for output in replaced_outputs:
        _outputs.remove(output)
    shown_view_ids = {id(entry.view_ref()) for entry in _outputs}
    # IPython's own names for results (_, _12, Out) are not the program's
    named_ids = {id(value) for _, value in iter_public_names_and_values([shell.user_ns])}
    for output in replaced_outputs:
        view = output.view_ref()
        for saved_output in getattr(shell.history_manager, "outputs", {}).get(output.execution_count, ()):
            saved_output.bundle.pop(
                "text/html", None
            )  # IPython keeps what every run showed, here a picture that stays hidden
        if view is not None and id(view) not in shown_view_ids | named_ids:
            view.close()
    _outputs[:] = [entry for entry in _outputs if (view := entry.view_ref()) is not None and view.comm is not None]


def _replace_outdated_output(output: _ShownOutput) -> None:
    """Replace an output whose tape has new rows, or a new gradient."""
    view = output.view_ref()
    if output.display_handle is None or view is None:
        return
    state = view.build_drawn_state_key()
    if state is not None and state != output.drawn_state:
        output.drawn_state = state
        data, metadata = view.build_mime_bundle()
        output.display_handle.update(data, metadata=metadata | GROWN_METADATA, raw=True)
