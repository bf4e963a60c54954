"""Provide a pad to draw digits on, the learner's network that reads them, and a page to share with both.

In a notebook, the pad is a widget. The browser runs the network, so drawing does not involve the kernel, and the saved
page needs no kernel at all.
"""

from __future__ import annotations

import linecache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from minitape.common.atomic_write import write_file
from minitape.common.script_json import format_script_json
from minitape.common.translation import detect_language, say
from minitape.course.digits import (
    MARGIN,
    PEN_RADIUS,
    SIDE,
    Drawings,
    NetworkParameters,
    convert_and_check_parameters,
    load_digits,
    rasterize_strokes,
    read_digits,
)
from minitape.course.predict import MimeBundle, build_widget_mimebundle
from minitape.course.widget_base import AnyWidget, Dict, List

HERE = Path(__file__).parent
MAX_POINTS = 20_000  # All drawings by hand together have a few thousand points.
PAGE_TEMPLATE = """<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --jp-layout-color2: light-dark(#eee, #2d333b) }}
body {{ max-width: 660px; margin: 2em auto; padding: 0 12px; font: 16px/1.5 sans-serif }}
pre {{ overflow-x: auto; font-size: 13px }}
{style}</style>
<h1>{title}</h1>
<p>{score}</p>
<main></main>
{tape}
<script type="module">
{program}
const fields = {fields};
pad.render({{ model: {{ get: (name) => fields[name] }}, el: document.querySelector("main") }});
</script>
</html>
"""


class DigitPad:
    """A pad to draw the digits from 0 to 9 on, and a network that reads them.

    >>> from minitape.course.digits import load_trained_network
    >>> DigitPad(load_trained_network())
    A pad for drawing digits. (In JupyterLab, you can draw on the pad with the mouse.)
    """

    def __init__(self, parameters: NetworkParameters) -> None:
        """Store the network.

        Args:
            parameters: The weights and biases of the hidden layer, then of the ten scores.

        Raises:
            ValueError: If the shapes of the parameters do not fit together.
        """
        self.parameters = convert_and_check_parameters(parameters)
        self._drawings: Drawings = []
        self._widget: _PadWidget | None = None

    @property
    def drawings(self) -> Drawings:
        """The drawings that were kept: of 0, of 1 and so on, each a list of strokes."""
        return self._drawings if self._widget is None else convert_and_check_drawings(self._widget.drawings)

    def keep_drawings(self, drawings: Drawings) -> None:
        """Keep the given drawings, as if they had been drawn on the pad, in place of its own drawings.

        Args:
            drawings: The drawings.

        Raises:
            ValueError: If they are not up to ten lists of strokes.
        """
        self._drawings = convert_and_check_drawings(drawings)
        if self._widget is not None:
            self._widget.drawings = self._drawings

    @property
    def images(self) -> np.ndarray:
        """The drawings as the network sees them, one per row."""
        return np.array([rasterize_strokes(strokes) for strokes in self.drawings]).reshape(-1, SIDE * SIDE)

    def count_right(self) -> int:
        """Count the drawings that the network reads correctly."""
        readings = read_digits(self.parameters, self.images)
        return int(np.sum(readings == np.arange(len(readings))))

    def save(self, path: str | Path, name: str, tape: type | None = None) -> None:
        """Write a page to share, with the drawings, the tape's text, and the network, which reads what visitors draw.

        Args:
            path: The file to write.
            name: The name of the learner, or any other text for the title.
            tape: The learner's tape. Its text is shown if Python has it.
        """
        write_file(path, build_pad_page(self, name, tape))

    def __repr__(self) -> str:
        """Return the text that is shown where nothing can be drawn."""
        return say("A pad for drawing digits. (In JupyterLab, you can draw on the pad with the mouse.)")

    def _repr_mimebundle_(self, **options: object) -> MimeBundle:
        drawings = self.drawings
        self._widget = _PadWidget(**build_pad_fields(self, drawings))
        return build_widget_mimebundle(self._widget, repr(self))


class _PadWidget(AnyWidget):
    """The live form of a pad."""

    _esm = HERE / "digit_pad.js"
    _css = HERE / "digit_pad.css"
    words = Dict().tag(sync=True)
    grid = Dict().tag(sync=True)
    parameters = List().tag(sync=True)
    drawings = List().tag(sync=True)


def convert_and_check_drawings(drawings: Any) -> Drawings:  # Any, because a browser sent the value.
    """Return drawings that came from a browser as lists of strokes.

    Args:
        drawings: The drawings.

    Raises:
        ValueError: If they are not up to ten drawings, whose strokes have points with two numbers.
    """
    try:
        checked: Drawings = [
            [[(float(x), float(y)) for x, y in stroke] for stroke in strokes if stroke]
            for strokes in list(drawings)[:10]
        ]
    except (TypeError, ValueError):
        raise ValueError(
            say("a drawing must be a list of strokes, and each stroke must be a list of points (x, y)")
        ) from None
    points = np.array([point for strokes in checked for stroke in strokes for point in stroke]).ravel()
    if not all(checked) or len(points) > 2 * MAX_POINTS or not np.all(np.isfinite(points)):
        raise ValueError(say("a drawing must be a list of strokes, and each stroke must be a list of points (x, y)"))
    return checked


def build_pad_fields(pad: DigitPad, drawings: Drawings) -> dict[str, object]:
    """Build the fields that the program in the browser reads.

    Args:
        pad: The pad.
        drawings: The drawings to begin with.
    """
    words = {
        "pad": say("Drawing pad: draw with the mouse, a pen or a finger."),
        "task": say("Draw the digit {digit}, then press Keep."),
        "done": say("You have drawn all ten digits."),
        "try": say("Draw a digit."),
        "empty": say("You have not drawn anything yet."),
        "reads": say("The network reads this as {digit} ({percent} %)."),
        "one": say("Drawn as {digit}, read as {read}."),
        "score": say("The network read {right} of {count} digits correctly."),
        "clear": say("Clear"),
        "keep": say("Keep"),
        "undo": say("Remove the last digit"),
    }
    return {
        "words": words,
        "grid": {"side": SIDE, "margin": MARGIN, "pen": PEN_RADIUS},
        "parameters": [np.round(array, 5).tolist() for array in pad.parameters],
        "drawings": drawings,
    }


def build_pad_page(pad: DigitPad, name: str, tape: type | None = None) -> str:
    """Build a page with a network and its author's drawings, which needs no kernel.

    Nothing in the fields can end their script, because ``<`` is an escape there. All other texts are escaped.

    Args:
        pad: The pad with its network.
        name: The name of the learner, which appears in the title.
        tape: The learner's tape, or None.
    """
    images, digits = load_digits("exam")
    right = float(np.mean(read_digits(pad.parameters, images) == digits))
    fields = format_script_json(build_pad_fields(pad, pad.drawings))
    text = _find_class_text(tape)
    heading = escape(say("The tape that trained the network"))
    return PAGE_TEMPLATE.format(
        language=escape(detect_language(), quote=True),
        title=escape(say("{name}'s network reads digits", name=name)),
        score=escape(
            say(
                "This network learned on a tape that was written from scratch. It correctly reads {percent} percent of "
                "the digits that it has never seen. Can it read yours?",
                percent=f"{100 * right:.0f}",
            )
        ),
        style=(HERE / "digit_pad.css").read_text(encoding="utf-8"),
        tape=f"<details><summary>{heading}</summary><pre>{escape(text)}</pre></details>" if text else "",
        program=(HERE / "digit_pad.js").read_text(encoding="utf-8").replace("export default", "const pad ="),
        fields=fields,
    )


def _find_class_text(tape: type | None) -> str:
    """Find the text of the cell that defines a class, or else return ""."""
    codes = (getattr(member, "__code__", None) for member in vars(tape).values()) if tape is not None else ()
    file_names = {code.co_filename for code in codes if code is not None}
    return "".join(linecache.getlines(file_names.pop())) if len(file_names) == 1 else ""
