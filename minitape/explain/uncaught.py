"""Errors as they are shown: with a sentence on what fixes them, and without minitape's own frames.

Many errors are Python's own, ``0.1 * None`` or ``y.grad``: minitape is not asked then, so it looks when one is shown.
A hook stands in front of the one that shows errors, ``sys.excepthook``; in IPython and Jupyter, which have another way,
in front of that. Both do what they did before, with one note more. ``python -X dev`` shows all frames.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from ..common.habits import instead_of
from ..common.notebook import running_notebook
from ..engine.recording.frames import _PACKAGE
from ..engine.tensor.tensor import Tensor
from .error_texts import ADVICE, MISSING_NAME

if TYPE_CHECKING:
    from ..engine.types import Object

_OURS = ("minitape.engine", "minitape.tf", "minitape.picture", "minitape.explain")  # a bridge's words are others


def watch_errors() -> None:
    """From now on an error that is shown says what fixes it, where minitape knows that."""
    before = sys.excepthook
    sys.excepthook = lambda kind, error, trace: before(kind, error, prepared(error, trace))
    shell = running_notebook()
    if shell is not None and not shell.custom_exceptions:  # else another extension takes these errors
        shell.set_custom_exc((Exception,), _show_in_shell)


def _show_in_shell(
    shell: Object, kind: type, error: BaseException, trace: Object, tb_offset: int | None = None
) -> Object:
    return shell.showtraceback((kind, error, prepared(error, trace)), tb_offset=tb_offset)


def prepared(error: BaseException, trace: Object) -> TracebackType | None:
    """Adds to an error what fixes it, and returns its traceback without minitape's frames; what is wrong in here must
    not hide the error itself.
    """
    with suppress(Exception):
        links = [trace]
        while links[-1].tb_next:
            links.append(links[-1].tb_next)
        own = [link.tb_frame.f_code.co_filename.startswith(_PACKAGE) for link in links]
        if not hasattr(error, "__notes__") and _is_of_none(error):
            from .warnings import why_none_at

            why_none_at(error, [link.tb_frame for link in links[::-1]])
        if not hasattr(error, "__notes__") and (advice := _advice(error, own[-1])):
            error.add_note(advice)
        if cause := error.__context__:
            cause.__traceback__ = prepared(cause, cause.__traceback__)
        kept = [link for link, inside in zip(links, own, strict=True) if sys.flags.dev_mode or not inside]
        for link, after in zip(kept, [*kept[1:], None], strict=True):
            link.tb_next = after
        return kept[0]
    return trace


def _advice(error: BaseException, own: bool) -> str:
    """What fixes an error: of an attribute of minitape's objects, and of what minitape, or Python for one of them, does
    not take; "" for another one.
    """
    from .sentences import fill

    if isinstance(error, NameError):  # cells that are run out of order
        return fill(MISSING_NAME) if running_notebook() and "minitape.course" in sys.modules else ""
    said, of = str(error), getattr(error, "obj", None)
    if isinstance(error, AttributeError) and (isinstance(of, Tensor) or type(of).__module__.startswith(_OURS)):
        names = [name for name in dir(of) if name[0] != "_"]
        return instead_of(error.name or "", names, dir(sys.modules["minitape"]))
    if own or re.search("Tensor|ResourceVariable|GradientTape|DType|keyword argument '|'type' object", said):
        return next((fill(text) for pattern, (text, _) in ADVICE.items() if re.search(pattern, said)), "")
    return ""


def _is_of_none(error: BaseException) -> bool:
    """Whether an error of Python is about a None in place of a tensor; one about an attribute, if tensors have it."""
    from ..engine.tensor.variable import ResourceVariable

    if isinstance(error, AttributeError):
        return error.obj is None and any(hasattr(kind, error.name or "") for kind in (Tensor, ResourceVariable))
    return isinstance(error, (TypeError, ValueError)) and "NoneType" in str(error)
