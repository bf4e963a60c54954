"""Define the base class of the callbacks for libraries that run the training loop.

A callback records some steps and warns about each new finding. ``minitape.bridges.keras``, ``.lightning`` and
``.transformers`` each define a class ``Explain`` for their library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from ..common.translation import format_error
from ..explain.caller import warn_at_user_line
from ..explain.translated_sentences import fill
from .checkup import FrameworkRecording
from .model_page import ModelPage
from .sampling import require_positive_step_count

StepLog = Callable[[int, ModelPage], object]


class ExplainedSteps:
    """Records some training steps, explains the model, and warns about new findings.

    The first step and then every n-th step are recorded, where n is ``every``. Errors in this class become warnings and
    never stop the training run.

    Attributes:
        record: The bridge's ``record`` function.
        every: The number of steps from one recorded step to the next.
        steps: The number of completed steps.
        page: The page of explanations for the last recorded step.
    """

    record: Callable[[], AbstractContextManager]

    def __init__(self, every: int = 100, log: StepLog | None = None):
        """Record the first step and then every n-th step, where n is ``every``.

        Args:
            every: The number of steps from one recorded step to the next.
            log: A function that is called as ``log(step, page)`` after each recorded step.

        Raises:
            ValueError: If ``every`` is not a positive int.
        """
        self.every = require_positive_step_count(every, "every", "every=100 records each hundredth")
        self.steps = 0
        self.page = ModelPage()
        self._on_page = log
        self._open_blocks = ExitStack()
        self._recording: FrameworkRecording | None = None
        self._warned_keys: set = set()

    @property
    def problems(self) -> list:
        """The problems found in the last recorded step, worst first."""
        return self.page.problems

    def begin_step_and_record_if_due(self) -> None:
        """Begin a training step, and open a recording block if the step is due to be recorded."""
        self.close()
        if self.steps % self.every == 0:
            self._recording = self._open_blocks.enter_context(self.record())

    def end_step_and_report_if_recorded(self, model: Any) -> None:
        """End a training step. If the step was recorded, explain the model and report the page.

        Args:
            model: The model, in any form that ``recording.explain`` accepts.
        """
        self.steps += 1
        recording = self._recording
        self.close()
        if recording is not None:
            try:
                self._store_page_and_warn_about_new_problems(recording.explain(model))
            except Exception as error:
                error_text = format_error(error)
                warn_at_user_line(
                    fill("Step {step} could not be explained: {error}", step=self.steps, error=error_text)
                )

    def close(self) -> None:
        """Close the current step's recording block, if there is one, to undo all changes to the framework."""
        self._recording = None
        self._open_blocks.close()

    @contextmanager
    def record_step(self, model: Any) -> Iterator[None]:
        """Return a context manager whose block is one training step.

        Args:
            model: The model, in any form that ``recording.explain`` accepts.
        """
        self.begin_step_and_record_if_due()
        try:
            yield
        except BaseException:
            self.close()
            raise
        self.end_step_and_report_if_recorded(model)

    def _store_page_and_warn_about_new_problems(self, page: ModelPage) -> None:
        """Store the page of a recorded step, warn once about each new problem, and call ``log``."""
        self.page = page
        problem_keys = {explanation.build_group_key() for explanation in page.problems}
        if problem_keys - self._warned_keys:
            self._warned_keys |= problem_keys
            warn_at_user_line(fill("Step {step}:", step=self.steps) + f"\n{page}")
        if self._on_page is not None:
            self._on_page(self.steps, page)
