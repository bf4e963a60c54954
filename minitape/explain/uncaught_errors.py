"""Add advice to errors when they are displayed, and hide minitape's own frames.

Many errors are raised by Python itself, for example in ``0.1 * None`` or ``y.grad``. minitape's code is not running at
that moment, so minitape adds its note when the error is displayed. A hook runs before ``sys.excepthook``, or before the
handler of IPython and Jupyter. Otherwise, these handlers behave as before. ``python -X dev`` shows all frames.
"""

import re
import sys
from contextlib import suppress
from types import TracebackType

from ..common.api_suggestions import suggest_replacement
from ..common.notebook import find_ipython_shell
from ..engine.record.user_frames import _PACKAGE
from ..engine.tensor.tensor import Tensor
from ..engine.types import Object, OptionalNumber
from .error_texts import ADVICE, MISSING_NAME

# The bridges are not included, because advice for their users would have to use another framework's names.
_OWN_MODULES = ("minitape.engine", "minitape.tf", "minitape.picture", "minitape.explain")


def install_error_hooks() -> None:
    """Install the hooks that add minitape's advice to each displayed error, if there is any advice."""
    previous_hook = sys.excepthook
    sys.excepthook = lambda kind, error, trace: previous_hook(kind, error, add_advice_and_hide_frames(error, trace))
    shell = find_ipython_shell()
    # Keep a handler that another extension has already installed for these errors.
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show_error_in_shell)


def _show_error_in_shell(
    shell: Object, kind: type, error: BaseException, trace: Object, tb_offset: OptionalNumber = None
) -> Object:
    return shell.showtraceback((kind, error, add_advice_and_hide_frames(error, trace)), tb_offset=tb_offset)


def add_advice_and_hide_frames(error: BaseException, trace: Object) -> TracebackType | None:
    """Add a note to an error saying how to fix it, and remove minitape's frames from its traceback.

    Errors in this function are suppressed, so that they cannot hide the user's error.

    Args:
        error: The error that is about to be displayed. The context of the error is handled in the same way.
        trace: The traceback of the error.

    Returns:
        The traceback without minitape's frames. With ``python -X dev``, all frames are kept.
    """
    with suppress(Exception):
        links = [trace]
        while links[-1].tb_next:
            links.append(links[-1].tb_next)
        is_own = [link.tb_frame.f_code.co_filename.startswith(_PACKAGE) for link in links]
        if not hasattr(error, "__notes__") and _is_error_about_none(error):
            from .gradient_warnings import add_notes_why_none_from_frames

            add_notes_why_none_from_frames(error, [link.tb_frame for link in links[::-1]])
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
    """Return advice on how to fix an error, or "" if none is known.

    Advice exists for unknown attributes of minitape's objects, for arguments that minitape does not accept, and for
    Python operations that do not accept minitape's objects.
    """
    from .translated_sentences import fill

    if isinstance(error, NameError):  # Learners often run lesson cells out of order.
        is_in_lesson = find_ipython_shell() and "minitape.course" in sys.modules
        return fill(MISSING_NAME) if is_in_lesson else ""
    message = str(error)
    obj = getattr(error, "obj", None)
    if isinstance(error, AttributeError) and (isinstance(obj, Tensor) or type(obj).__module__.startswith(_OWN_MODULES)):
        names = [name for name in dir(obj) if name[0] != "_"]
        return suggest_replacement(error.name or "", names, dir(sys.modules["minitape"]))
    if is_own_error or re.search(
        "Tensor|ResourceVariable|GradientTape|DType|keyword argument '|'type' object", message
    ):
        return next((fill(text) for pattern, text in ADVICE.items() if re.search(pattern, message)), "")
    return ""


def _is_error_about_none(error: BaseException) -> bool:
    """Return whether Python raised an error because a value is None instead of a tensor.

    An AttributeError qualifies if tensors or variables have the attribute.
    """
    from ..engine.tensor.variable import ResourceVariable

    if isinstance(error, AttributeError):
        return error.obj is None and any(hasattr(cls, error.name or "") for cls in (Tensor, ResourceVariable))
    return isinstance(error, (TypeError, ValueError)) and "NoneType" in str(error)
