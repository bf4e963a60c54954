"""A wrong program's tape beside that of the lesson's solution, up to the first row whose value or adjoint differs.

Both are run on the same case. The sentence names the row; in a notebook both tapes can be opened below it, and be
stepped through together.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..common.read_data import NOTEBOOK, read_json
from ..common.texts import COURSE, ENGLISH, paragraph, say
from ..picture.drawing import draw
from ..picture.snapshots import snapshot
from .widget import MISSING

if TYPE_CHECKING:
    from ipywidgets import Accordion

    from .exercise import Answer, Program

PROGRAM = re.compile(r"```python\n(.*?)\n*check\(\s*\"([\w.-]+)\"", re.DOTALL)  # of a solution, and its exercise
MOST = 30  # tapes that are compared


class Playback:
    """Two tapes that part at a row, and the sentence that says so."""

    def __init__(self, tapes: tuple[Answer, Answer], text: str) -> None:
        self.tapes, self.text = tapes, text

    def __repr__(self) -> str:
        return say("Your tape beside the solution's")

    def _repr_mimebundle_(self, **options: object) -> dict[str, Any]:  # JSON, as IPython asks for it
        """A folded box with both tapes, live; where nothing is live, with their pictures."""
        pictures = "".join(draw(tape)._repr_mimebundle_()["text/html"] for tape in self.tapes)
        page = f"<details><summary>{self}</summary>{pictures}</details>"
        data = {"text/plain": repr(self), "text/html": page}
        box = self.box()
        bundle: Any = {} if box is None else box._repr_mimebundle_(**options)  # a dictionary, or two
        return {**(bundle[0] if isinstance(bundle, tuple) else bundle), **data}

    def box(self) -> Accordion | None:
        """A folded box that makes the two views when it is opened; None where the lesson shows no live ones."""
        widgets = sys.modules.get("minitape_widgets")
        if widgets is None or MISSING:
            return None
        from ipywidgets import Accordion, VBox

        inside = VBox()
        box = Accordion(children=[inside], titles=[repr(self)], selected_index=None)

        def show_both(_: object) -> None:
            if not inside.children:
                inside.children = widgets.TapeView.compare(*self.tapes).views

        box.observe(show_both, "selected_index")
        return box


def program_of(name: str) -> str:
    """The text of a lesson's solution of an exercise; "" where there is none."""
    return _solutions(name.rpartition(".")[0]).get(name, "")


def solution_of(program: str, answer: Program) -> Program | None:
    """The function that the text of a solution makes, with the names around the learner's; None where it makes none."""
    names = dict(getattr(answer, "__globals__", {}))
    before = dict(names)
    exec(program, names)
    made = [one for key, one in names.items() if callable(one) and before.get(key) is not one]
    return made[-1] if made else None


@cache
def _solutions(lesson: str) -> dict[str, str]:
    """The programs of a lesson's folded solutions, by their exercises."""
    paths = [path for course in COURSE for path in (course / ENGLISH).glob(f"{lesson}_*.ipynb")]
    cells = read_json(paths[0], NOTEBOOK)["cells"] if paths else []
    found = PROGRAM.findall("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"))
    return {name: program for program, name in found}


def playback_of(mine: Sequence[Answer], right: Sequence[Answer], once: bool = True) -> Playback | None:
    """The first two tapes that differ, of those that two programs asked in turn; None where they are alike, and where
    one program asked more tapes: it goes another way, which need not be wrong. Where a tape was not asked `once`, the
    adjoints are those of its last question, and tell nothing.
    """
    if len(mine) != len(right):
        return None
    for number, tapes in enumerate(zip(mine[:MOST], right[:MOST], strict=True), 1):
        if told := _difference(*(_without_names(snapshot(tape), once) for tape in tapes)):
            which = say("Tape {number}:", number=number) if len(mine) > 1 else ""
            return Playback(tapes, paragraph(which, told))
    return None


def _without_names(recorded: Answer, once: bool) -> Answer:
    """A snapshot in which no leaf has a name, as another name is no mistake, and each row says whether it is recorded;
    without its sweep where that tells nothing.
    """
    rows = []
    for row in recorded["rows"]:
        off = row["status"] != "recorded"
        label = say("{operation}, not recorded,", operation=row["label"]) if off else row["label"]
        rows.append({**row, "label": label if row["inputs"] else say("an input")})
    return {**recorded, "rows": rows, "sweep": recorded["sweep"] if once else None}


def _difference(mine: Answer, right: Answer) -> str:
    """What the first row is in which two tapes differ: in what ran there, its value, or the adjoint that arrives.

    A leaf counts where all else is alike: other leaves say no more than that the programs differ.
    """
    if _steps(mine) != _steps(right):  # another question, whose adjoints are others
        mine, right = ({**recorded, "sweep": None} for recorded in (mine, right))
    found = import_module("minitape_widgets.difference").first_difference(mine, right)
    if found is None:
        return ""
    number, here, there = found
    both = [recorded["rows"] for recorded in (mine, right)]
    row = next((one for one in both[0] if one["row"] == number), None)
    alike = [row["inputs"] for row in both[0]] == [row["inputs"] for row in both[1]]
    if not alike and any(not one["inputs"] for rows in both for one in rows if one["row"] == number):
        more = number > both[1][-1]["row"]  # what is computed of it says more
        return _difference({**mine, "rows": [one for one in both[0] if one is not row]}, right) if more else ""
    line = linecache.getline(row["file"] or "", row["line"] or 0).strip() if row else ""
    place = say("Row {row} of your tape{line}: {told}.", row=number, line=f" ({line})" if line else "", told=here)
    return paragraph(place, say("In the solution: {there}.", there=there))


def _steps(recorded: Answer) -> list[Answer]:
    """The rows through which a sweep goes, and those that each hands something to."""
    steps = (recorded["sweep"] or {"steps": []})["steps"]
    return [(step["row"], [edge["input"] for edge in step["edges"]]) for step in steps]
