"""Callbacks for what owns the training loop: some steps are recorded, and new findings are told as warnings.

``minitape.bridges.keras``, ``.lightning`` and ``.transformers`` have the class ``Explain`` of each.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..explain.caller import warn_user
from ..explain.sentences import fill
from .model_page import ModelPage
from .sampling import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator

StepLog = Callable[[int, ModelPage], object]


class ExplainedSteps:
    """Records the first step of a training and then each ``every``-th one, asks about the model, and warns of what is
    new. A training does not end by it: a mistake of its own is a warning, too.

    ``page`` is the last answer and ``problems`` its findings; ``log`` is what :func:`step_log` takes.
    """

    record: Callable[[], AbstractContextManager]  # of the bridge

    def __init__(self, every: int = 100, log: Any = None) -> None:
        self.every = count_of(every, "every", "every=100 records each hundredth")
        self.steps, self.page = 0, ModelPage()
        self._log = step_log(log)
        self._open: AbstractContextManager | None = None
        self._recording: Any = None
        self._told: set = set()

    @property
    def problems(self) -> list:
        """The findings of the last recorded step, the worst first."""
        return self.page.problems

    def begin(self) -> None:
        """A step begins."""
        self.close()
        if self.steps % self.every == 0:
            self._open = self.record()
            self._recording = self._open.__enter__()

    def end(self, model: Any) -> None:
        """The step has ended: if it was recorded, the model is asked about."""
        self.steps += 1
        if self._open is not None:
            self.close()
            try:
                self._tell(self._recording.explain(model))
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
                warn_user(fill("Step {step} was not explained: {error}", step=self.steps, error=said))
            self._recording = None

    def close(self) -> None:
        """The framework is as it was, also where an error ended the step."""
        block, self._open = self._open, None
        if block is not None:
            block.__exit__(None, None, None)

    @contextmanager
    def step(self, model: Any) -> Iterator[None]:
        """A block of one step."""
        self.begin()
        try:
            yield
        except BaseException:
            self.close()
            raise
        self.end(model)

    def _tell(self, page: ModelPage) -> None:
        self.page = page
        found = {answer.key() for answer in page.problems}
        if found - self._told:
            self._told |= found
            warn_user(fill("Step {step}:", step=self.steps) + f"\n{page}")
        if self._log is not None:
            self._log(self.steps, page)


def step_log(log: Any) -> StepLog | None:
    """What writes a page of each recorded step: to a file of JSON lines, where ``log`` is its path; to TensorBoard,
    where it has ``add_scalar``; where it is a function of the step and the page, that.

    >>> step_log(lambda step, page: print(step, page))(3, ModelPage())
    3 The block used no parameters.
    """
    if log is None or callable(log):
        return log
    if hasattr(log, "add_scalar"):
        return lambda step, page: _scalars(log, step, page)
    path = Path(log)

    def write(step: int, page: ModelPage) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, "answers": page.as_json()}) + "\n")

    return write


def _scalars(writer: Any, step: int, page: ModelPage) -> None:
    """The numbers of each gradient, and the findings as a text."""
    for name, answer in page.items():
        for what, number in answer.numbers._asdict().items() if answer.numbers is not None else ():
            if number is not None:
                writer.add_scalar(f"gradient {what}/{name}", number, step)
    if page.problems and hasattr(writer, "add_text"):
        writer.add_text("gradient problems", "\n\n".join(map(str, page.problems)), step)
