"""The live form of a prediction: one widget with a button for each choice.

Of one widget JupyterLab marks nothing as broken when the kernel is restarted, and the widget itself says what to do. Of
a box of ipywidgets it marks each part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

HERE = Path(__file__).parent


class Choices(anywidget.AnyWidget):
    """A question with its choices; `commit` is called with the one that is chosen, and gives the sentence to show."""

    _esm = HERE / "choices.js"
    _css = HERE / "choices.css"
    text = traitlets.Unicode().tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
    chosen = traitlets.Unicode().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)

    def __init__(self, text: str, choices: Sequence[str], commit: Callable[[str], str], chosen: str | None) -> None:
        super().__init__(text=text, choices=list(choices))
        self._commit = commit
        if chosen is not None and chosen in choices:
            self.choose(chosen)
        self.on_msg(self._asked)

    def choose(self, choice: str) -> None:
        """Commit to a choice, and show it."""
        self.said, self.chosen = self._commit(choice), choice

    def _asked(self, _widget: Any, content: Any, _buffers: Any) -> None:
        self.choose(content["choice"])
