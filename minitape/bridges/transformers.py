"""Define the callback for the Transformers Trainer, used as ``Trainer(..., callbacks=[Explain()])``."""

from typing import Any

from transformers import TrainerCallback

from .callbacks import ExplainedSteps
from .torch import record


class TransformersExplain(ExplainedSteps, TrainerCallback):
    """Records the first step and then every n-th step (n is ``every``), and warns about problems with the model.

    A recorded step includes all batches whose gradients are accumulated in the step. ``log(step, page)`` is called
    after each recorded step, and ``page`` and ``problems`` describe the last recorded step.

    The Trainer does not report errors inside a step. After such an error, the open recording ends when the next step
    begins or when ``close()`` is called.
    """

    record = staticmethod(record)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin a step."""
        self.begin_step_and_record_if_due()

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        """End the step."""
        self.end_step_and_report_if_recorded(dict(model.named_parameters()))


Explain = TransformersExplain
