"""Errors that Python itself raises for a None, ``0.1 * None``: minitape is not asked then, so it looks when one is
shown.

The first gradient that is None puts a hook in front of the one that shows errors, ``sys.excepthook``; in IPython and
Jupyter, which have another way, in front of that. Both do what they did before, with one note more.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from ..common.notebook import running_notebook
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.variable import ResourceVariable

if TYPE_CHECKING:
    from ..engine.types import Object

_KINDS = (TypeError, AttributeError, ValueError)
_set: list[bool] = []


def watch_errors() -> None:
    """From now on an error that is shown, and comes of a gradient that is None, carries the reason."""
    if _set:
        return
    _set.append(True)
    before = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _explain(error, trace)
        before(kind, error, trace)

    sys.excepthook = excepthook
    shell = running_notebook()
    if shell is not None and not shell.custom_exceptions:  # else another extension takes these errors
        shell.set_custom_exc(_KINDS, _show_in_shell)


def _show_in_shell(
    shell: Object, kind: type[BaseException], error: BaseException, trace: TracebackType, tb_offset: int | None = None
) -> Object:
    _explain(error, trace)
    return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _explain(error: BaseException, trace: TracebackType | None) -> None:
    """Adds the reason to an error that a None caused; what is wrong in here must not hide the error itself."""
    if not isinstance(error, _KINDS) or getattr(error, "__notes__", None):
        return
    with suppress(Exception):
        if not _is_of_none(error):
            return
        from .warnings import why_none_at

        frames = []
        while trace is not None:
            frames.append(trace.tb_frame)
            trace = trace.tb_next
        why_none_at(error, frames[::-1])


def _is_of_none(error: BaseException) -> bool:
    """Whether an error of Python is about a None in place of a tensor; one about an attribute, if tensors have it."""
    if isinstance(error, AttributeError):
        return error.obj is None and any(hasattr(kind, error.name or "") for kind in (Tensor, ResourceVariable))
    return "NoneType" in str(error)
