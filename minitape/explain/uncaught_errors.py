"""Errors as they are shown: with a sentence on what fixes them, and without minitape's own frames.

Many errors are Python's own, ``0.1 * None`` or ``y.grad``: minitape is not asked then, so it looks when one is shown.
A hook stands in front of the one that shows errors, ``sys.excepthook``; in IPython and Jupyter, which have another one,
in front of that. Both do what they did before, with one note more. ``python -X dev`` shows all frames.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from ..common.api_suggestions import suggest_replacement
from ..common.notebook import find_ipython_shell
from ..engine.record.user_frames import _PACKAGE
from ..engine.tensor.tensor import Tensor
from .error_texts import ADVICE, MISSING_NAME

if TYPE_CHECKING:
    from ..engine.types import Object

_OWN_MODULES = ("minitape.engine", "minitape.tf", "minitape.picture", "minitape.explain")  # a bridge's words are others


def install_error_hooks() -> None:
    """Let each error that is shown say what fixes it, where minitape knows that, from now on."""
    previous_hook = sys.excepthook
    sys.excepthook = lambda kind, error, trace: previous_hook(kind, error, add_advice_and_hide_frames(error, trace))
    shell = find_ipython_shell()
    if shell is not None and not shell.custom_exceptions:  # else another extension takes these errors
        shell.set_custom_exc((Exception,), _show_error_in_shell)


def _show_error_in_shell(
    shell: Object, kind: type, error: BaseException, trace: Object, tb_offset: int | None = None
) -> Object:
    return shell.showtraceback((kind, error, add_advice_and_hide_frames(error, trace)), tb_offset=tb_offset)


def add_advice_and_hide_frames(error: BaseException, trace: Object) -> TracebackType | None:
    """Add a note to an error on what fixes it, and return its traceback without minitape's frames.

    What is wrong in here must not hide the error itself.
    """
    with suppress(Exception):
        links = [trace]
        while links[-1].tb_next:
            links.append(links[-1].tb_next)
        is_own = [link.tb_frame.f_code.co_filename.startswith(_PACKAGE) for link in links]
        if not hasattr(error, "__notes__") and _is_error_about_none(error):
            from .gradient_warnings import add_none_reasons_from_frames

            add_none_reasons_from_frames(error, [link.tb_frame for link in links[::-1]])
        if not hasattr(error, "__notes__") and (advice := _find_advice_on_error(error, is_own[-1])):
            error.add_note(advice)
        if cause := error.__context__:
            cause.__traceback__ = add_advice_and_hide_frames(cause, cause.__traceback__)
        shown_links = [
            link for link, is_inside in zip(links, is_own, strict=True) if sys.flags.dev_mode or not is_inside
        ]
        for link, next_link in zip(shown_links, [*shown_links[1:], None], strict=True):
            link.tb_next = next_link
        return shown_links[0]
    return trace


def _find_advice_on_error(error: BaseException, is_own_error: bool) -> str:
    """Find what fixes an error; "" for one that is not known.

    Known are attributes of minitape's objects, and what minitape, or Python for one of them, does not take.
    """
    from .translated_sentences import fill

    if isinstance(error, NameError):  # cells that are run out of order
        return fill(MISSING_NAME) if find_ipython_shell() and "minitape.course" in sys.modules else ""
    message, obj = str(error), getattr(error, "obj", None)
    if isinstance(error, AttributeError) and (isinstance(obj, Tensor) or type(obj).__module__.startswith(_OWN_MODULES)):
        names = [name for name in dir(obj) if name[0] != "_"]
        return suggest_replacement(error.name or "", names, dir(sys.modules["minitape"]))
    if is_own_error or re.search(
        "Tensor|ResourceVariable|GradientTape|DType|keyword argument '|'type' object", message
    ):
        return next((fill(text) for pattern, (text, _) in ADVICE.items() if re.search(pattern, message)), "")
    return ""


def _is_error_about_none(error: BaseException) -> bool:
    """Whether an error of Python is about a None in place of a tensor; one about an attribute, if tensors have it."""
    from ..engine.tensor.variable import ResourceVariable

    if isinstance(error, AttributeError):
        return error.obj is None and any(hasattr(cls, error.name or "") for cls in (Tensor, ResourceVariable))
    return isinstance(error, (TypeError, ValueError)) and "NoneType" in str(error)
