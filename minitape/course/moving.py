"""The live form of pictures in a row: one widget, with a slider and a button that plays them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anywidget
import traitlets

from .texts import say

if TYPE_CHECKING:
    from .plot import Moving

HERE = Path(__file__).parent


class Slider(anywidget.AnyWidget):
    """All pictures of a `Moving`, of which one is shown. What is moved stays in the page: the kernel is not asked."""

    _esm = HERE / "moving.js"
    _css = HERE / "moving.css"
    name = traitlets.Unicode().tag(sync=True)
    values = traitlets.List(traitlets.Float()).tag(sync=True)
    sources = traitlets.List(traitlets.Unicode()).tag(sync=True)
    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    start = traitlets.Int().tag(sync=True)
    play = traitlets.Unicode().tag(sync=True)
    pause = traitlets.Unicode().tag(sync=True)

    def __init__(self, moving: Moving) -> None:
        super().__init__(
            name=moving.name,
            values=moving.values,
            sources=[picture.source() for picture in moving.pictures],
            words=[picture.says for picture in moving.pictures],
            start=moving.start,
            play=say("Play"),
            pause=say("Pause"),
        )
