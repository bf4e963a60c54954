"""What live widgets are made of: anywidget's class and traitlets' fields, or without anywidget invisible ones.

So whoever has the core of minitape alone can make a view, and save it as a page. In a notebook it then shows its static
picture or its text, and below it what to install.
"""

from __future__ import annotations

from typing import Any

try:
    from anywidget import AnyWidget
    from traitlets import Bytes, Float, Int, List, Unicode

    MISSING = ""
except ModuleNotFoundError:
    MISSING = 'This is live with JupyterLab and ipywidgets: pip install "minitape[lab]"'

    class AnyWidget:  # type: ignore[no-redef]
        """A widget of which no browser hears."""

        comm = layout = None
        model_id = ""

        def __init__(self, **fields: object) -> None:
            for name, value in fields.items():
                setattr(self, name, value)

        def on_msg(self, callback: object) -> None:
            """Nothing ever comes from a browser."""

        def close(self) -> None:
            """There is nothing to close."""

        def _repr_mimebundle_(self, **options: object) -> dict[str, object]:
            return {}

    class _Field:
        """A field of a widget: here no more than its first value."""

        def __init__(self, default: object = None) -> None:
            self.default = default

        def tag(self, **metadata: object) -> Any:  # as its values are of any type
            return self.default

    Bytes = Float = Int = List = Unicode = _Field  # type: ignore[assignment,misc]

__all__ = ["MISSING", "AnyWidget", "Bytes", "Float", "Int", "List", "Unicode"]
