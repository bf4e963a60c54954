"""Callbacks for what owns the training loop: some steps are recorded, and new findings are told as warnings.

``minitape.bridges.keras``, ``.lightning`` and ``.transformers`` have the class ``Explain`` of each.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from ..explain.caller import warn_at_user_line
from ..explain.translated_sentences import fill
from .model_page import ModelPage
from .sampling import check_step_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .checkup import FrameworkRecording

StepLog = Callable[[int, ModelPage], object]


class ExplainedSteps:
    """Records the first step of a training and then each ``every``-th one, asks about the model, and warns of what is
    new. A training does not end by it: a mistake of its own is a warning, too.

    ``page`` is the page of the last recorded step and ``problems`` its findings; ``log`` is called with each recorded
    step and its page.
    """

    record: Callable[[], AbstractContextManager]  # of the bridge

    def __init__(self, every: int = 100, log: StepLog | None = None) -> None:
        self.every = check_step_count(every, "every", "every=100 records each hundredth")
        self.steps, self.page = 0, ModelPage()
        self._on_page = log
        self._open_block: AbstractContextManager | None = None
        self._recording: FrameworkRecording | None = None
        self._warned_keys: set = set()

    @property
    def problems(self) -> list:
        """The findings of the last recorded step, the worst first."""
        return self.page.problems

    def begin_step(self) -> None:
        """Note that a step begins: open the block if this step is recorded."""
        self.close()
        if self.steps % self.every == 0:
            self._open_block = self.record()
            self._recording = self._open_block.__enter__()

    def end_step(self, model: Any) -> None:
        """Note that the step has ended: if it was recorded, ask about the model and report its page."""
        self.steps += 1
        recording, self._recording = self._recording, None
        if self._open_block is not None and recording is not None:
            self.close()
            try:
                self._store_and_report_page(recording.explain(model))
            except Exception as error:
                error_text = f"{type(error).__name__}: {error}"
                warn_at_user_line(fill("Step {step} was not explained: {error}", step=self.steps, error=error_text))

    def close(self) -> None:
        """Leave the block of the step, if one is open: the framework is as it was, also after an error."""
        block, self._open_block = self._open_block, None
        if block is not None:
            block.__exit__(None, None, None)

    @contextmanager
    def record_step(self, model: Any) -> Iterator[None]:
        """Return a block that is one step."""
        self.begin_step()
        try:
            yield
        except BaseException:
            self.close()
            raise
        self.end_step(model)

    def _store_and_report_page(self, page: ModelPage) -> None:
        """Keep the page of a recorded step, warn once of each new problem, and call the log."""
        self.page = page
        problem_keys = {explanation.build_group_key() for explanation in page.problems}
        if problem_keys - self._warned_keys:
            self._warned_keys |= problem_keys
            warn_at_user_line(fill("Step {step}:", step=self.steps) + f"\n{page}")
        if self._on_page is not None:
            self._on_page(self.steps, page)
