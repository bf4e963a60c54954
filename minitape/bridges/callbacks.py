"""Callbacks for what owns the training loop: some steps are recorded, and new findings are told as warnings.

``minitape.bridges.keras``, ``.lightning`` and ``.transformers`` have the class ``Explain`` of each.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
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

    ``page`` is the last answer and ``problems`` its findings; ``log`` is called with each recorded step and its page.
    """

    record: Callable[[], AbstractContextManager]  # of the bridge

    def __init__(self, every: int = 100, log: StepLog | None = None) -> None:
        self.every = count_of(every, "every", "every=100 records each hundredth")
        self.steps, self.page = 0, ModelPage()
        self._log = log
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
