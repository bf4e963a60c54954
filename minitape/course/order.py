"""Cells that are run out of order: say so where Python only says that a name is not defined."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from ..common.notebook import running_notebook
from ..common.texts import say

if TYPE_CHECKING:
    from ..engine.types import Object


def explain_missing_names() -> None:
    """In a notebook, add advice to every NameError; elsewhere do nothing."""
    shell = running_notebook()
    if shell is not None:
        shell.set_custom_exc((NameError,), _show_with_advice)


def _show_with_advice(
    shell: Object, kind: type, error: NameError, traceback: TracebackType, tb_offset: int | None = None
) -> None:
    error.add_note(say("If a cell above makes this name, run that cell first: menu Run, Run All Above Selected Cell."))
    shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
