"""Track the views shown in a notebook's outputs.

- Rerunning or deleting a cell closes the view that it showed, unless a variable still refers to the view.
- A view that is shown before its tape has recorded rows has no picture that the notebook could save. Its output
  therefore has a *display id*. If the tape has grown or computed a gradient when a cell ends, a new output replaces it,
  with the widget and the static picture.
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

GROWN_METADATA = {"minitape": {"grown": True}}  # This metadata marks outputs replaced after their cells ran.


@dataclass
class _ShownOutput:
    """An output that shows a view.

    Attributes:
        view_ref: A weak reference to the view.
        cell_id: The id of the cell, or None if the notebook does not send it.
        run_id: The id of the message that ran the cell.
        execution_count: IPython's execution number for the cell.
        display_handle: The handle for replacing the output, or None if it cannot be replaced.
        drawn_state: The key of the picture in the output (``TapeView.build_drawn_state_key``).
    """

    view_ref: weakref.ref[TapeView]
    cell_id: str | None
    run_id: str | None
    execution_count: int
    display_handle: Any = None
    drawn_state: Any = None


_outputs: list[_ShownOutput] = []
_shells: weakref.WeakSet[Any] = weakref.WeakSet()  # The shells that call `_close_replaced_views_and_update_outputs`.


def note_shown_view(view: TapeView, display_handle: Any = None) -> None:
    """Record that the running cell shows a view.

    Args:
        view: The view.
        display_handle: IPython's handle of the output, if the output can be replaced.
    """
    shell = _find_kernel_shell()
    if shell is None:
        return
    if shell not in _shells:
        shell.events.register("post_run_cell", _close_replaced_views_and_update_outputs)
        _shells.add(shell)
    cell_id, run_id, _ = _read_cell_run_and_deleted_ids(shell)
    is_noted = any(
        output.view_ref() is view and output.run_id == run_id and output.display_handle is None for output in _outputs
    )
    if not is_noted or display_handle is not None:
        _outputs.append(_ShownOutput(weakref.ref(view), cell_id, run_id, shell.execution_count, display_handle))


def show_in_replaceable_output(view: TapeView, data: dict[str, Any], metadata: dict[str, Any]) -> bool:
    """Show a view in an output that can be replaced later.

    Args:
        view: The view.
        data: The output by MIME type.
        metadata: The metadata of the output.

    Returns:
        Whether the output was shown, or False if the program does not run in a notebook.
    """
    if _find_kernel_shell() is None:
        return False
    from IPython.display import display

    note_shown_view(view, display(data, metadata=metadata, raw=True, display_id=True))
    return True


def _find_kernel_shell() -> Any:
    """Find IPython's shell, or None if no shell runs in a kernel."""
    shell = find_ipython_shell()
    return shell if getattr(shell, "kernel", None) is not None else None


def _read_cell_run_and_deleted_ids(shell: Any) -> tuple[str | None, str | None, list[str]]:
    """Return the id of the running cell, the id of the message that runs it, and the ids of deleted cells.

    An id is None if the notebook does not send it.
    """
    with suppress(Exception):
        message = shell.get_parent()
        metadata = message.get("metadata", {})
        return metadata.get("cellId"), message["header"]["msg_id"], list(metadata.get("deletedCells") or ())
    return None, None, []


def _close_replaced_views_and_update_outputs(*_: Any) -> None:
    """Close the views replaced by the cell's execution, and update the outputs whose tapes have grown."""
    shell = _find_kernel_shell()
    if shell is None:
        return
    with suppress(Exception):  # An error in a picture must not disturb the program.
        _close_replaced_views(shell)
    notify_sending_thread()  # Assignments to variables do not call the listeners of a recording.
    for output in list(_outputs):
        with suppress(Exception):
            _replace_outdated_output(output)


def _close_replaced_views(shell: Any) -> None:
    """Forget the outputs that were deleted or replaced, and close their views unless the program still uses them."""
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
    # IPython's own names for results (_, _12, Out) do not count as names of the program.
    named_ids = {id(value) for _, value in iter_public_names_and_values([shell.user_ns])}
    for output in replaced_outputs:
        view = output.view_ref()
        for saved_output in getattr(shell.history_manager, "outputs", {}).get(output.execution_count, ()):
            # IPython keeps the outputs of every run, but this picture will not be shown again.
            saved_output.bundle.pop("text/html", None)
        if view is not None and id(view) not in shown_view_ids | named_ids:
            view.close()
    _outputs[:] = [entry for entry in _outputs if (view := entry.view_ref()) is not None and view.comm is not None]


def _replace_outdated_output(output: _ShownOutput) -> None:
    """Replace an output if its tape has new rows or a new gradient."""
    view = output.view_ref()
    if output.display_handle is None or view is None:
        return
    state = view.build_drawn_state_key()
    if state is not None and state != output.drawn_state:
        output.drawn_state = state
        data, metadata = view.build_mime_bundle()
        output.display_handle.update(data, metadata=metadata | GROWN_METADATA, raw=True)
