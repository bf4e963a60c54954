"""Provide the base of live widgets from anywidget and traitlets, or invisible widgets without anywidget.

A user who has only the core of minitape can therefore create a view and save it as a page. In a notebook, the view then
shows its static picture or its text, followed by a line that says what to install.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

# Type checkers always read the invisible widgets, because ipywidgets has no types.
if TYPE_CHECKING or find_spec("anywidget") is None:
    MISSING = 'This is live with JupyterLab and ipywidgets: pip install "minitape[lab]"'

    class AnyWidget:
        """A widget that no browser sees."""

        comm: Any = None  # In Jupyter, this is a Comm.
        layout = None
        model_id = ""

        def __init__(self, **fields: object):
            """Accept the fields of a widget and ignore them."""
            vars(self).update(fields)

        def send(self, content: object, buffers: object = None) -> None:
            """Do nothing, because there is no browser to send to."""

        def on_msg(self, callback: object) -> None:
            """Do nothing, because no message ever comes from a browser."""

        def close(self) -> None:
            """Do nothing, because there is nothing to close."""

        def _repr_mimebundle_(self, **options: object) -> Any:  # In Jupyter, a dictionary, a pair or None.
            return {}

    class _Field:
        """A field of a widget. Without a browser, it is only its default value."""

        def __init__(self, default: object = None):
            self.tag: Any = lambda **metadata: default  # The default can have any type.

    Bytes = Dict = Float = Int = List = Unicode = _Field
else:
    from anywidget import AnyWidget
    from traitlets import Bytes, Dict, Float, Int, List, Unicode

    MISSING = ""

__all__ = ["MISSING", "AnyWidget", "Bytes", "Dict", "Float", "Int", "List", "Unicode"]
