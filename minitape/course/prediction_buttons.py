"""Define the live form of a prediction, a single widget with a button for each choice.

When the kernel is restarted, the buttons look as if they could not be pressed, and the widget says what to do.
JupyterLab does not mark a single widget as broken, but it does mark each part of a box of ipywidgets.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import uuid4

from ..common.translation import say
from ..engine.types import OptionalText, TextSequence
from .widget_base import AnyWidget, List, Unicode

HERE = Path(__file__).parent
# If a model takes longer than two seconds to load on a busy machine, anywidget ignores all later messages of the
# kernel. At the end of `initialize`, `hear` makes the model accept them in any case. `_key` is the model's own id.
HEAR_SCRIPT = """
async function hear(model) {
  try {
    const own = await model.widget_manager.get_model(model.get("_key"));
    const take = Object.getPrototypeOf(Object.getPrototypeOf(own))._handle_comm_msg;
    own.comm?.on_msg((message) => take.call(own, message));
  } catch (error) {
    console.debug("minitape hears as anywidget does:", error);
  }
}
"""


class ChoiceButtons(AnyWidget):
    """A question with a button for each choice. `commit` receives the choice and returns the sentence to show."""

    _esm = HEAR_SCRIPT + (HERE / "choices.js").read_text(encoding="utf-8")
    _css = HERE / "choices.css"
    _key = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    choices = List(Unicode()).tag(sync=True)
    chosen = Unicode().tag(sync=True)
    said = Unicode().tag(sync=True)
    label = Unicode().tag(sync=True)
    gone = Unicode().tag(sync=True)
    veiled = Unicode().tag(sync=True)
    lift = Unicode().tag(sync=True)

    def __init__(
        self,
        text: str,
        choices: TextSequence,
        commit: Callable[[str], str],
        chosen: OptionalText,
        previous_note: str,
        blurs_next_cell: bool,
    ):
        """Build the buttons.

        Args:
            text: The question.
            choices: The words to choose from.
            commit: The function that records a choice and returns the sentence that confirms it.
            chosen: The choice that was made in this kernel, or None.
            previous_note: The sentence about an earlier choice.
            blurs_next_cell: Whether the text after the next cell is hidden until the question is answered.
        """
        key = uuid4().hex
        restart_note = say("The kernel was restarted. To choose, run this cell again.")
        super().__init__(
            model_id=key,
            _key=key,
            text=text,
            choices=list(choices),
            label=say("Predict."),
            gone=restart_note,
            said=previous_note,
            veiled=say("The text below is blurred until you choose an answer.") if blurs_next_cell else "",
            lift=say("I'm only looking something up: show the whole lesson"),
        )
        self._commit = commit
        if chosen is not None and chosen in choices:
            self.choose(chosen)
        self.on_msg(self.on_request)

    def choose(self, choice: str) -> None:
        """Commit to a choice, and show it."""
        self.said = self._commit(choice)
        self.chosen = choice

    def on_request(self, _widget: object, content: Mapping[str, str], _buffers: object) -> None:
        """Commit the choice that the browser sends."""
        self.choose(content["choice"])
