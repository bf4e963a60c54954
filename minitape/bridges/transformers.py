"""A callback for the Trainer of Transformers: ``Trainer(..., callbacks=[Explain()])``."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from .callbacks import ExplainedSteps
from .torch import record


class TransformersExplain(ExplainedSteps, TrainerCallback):
    """Records the first step and then each ``every``-th one, with all batches of which its gradient is the sum, and
    warns of what is wrong with the model. ``log`` is called with the step and the page; ``page`` and
    ``problems`` are those of the last recorded step. The Trainer says nothing of
    an error inside a step: after one, ``close()`` ends the recording that it left open, as the next step does.
    """

    record = staticmethod(record)

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin a step."""
        self.begin_step()

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        """End the step."""
        self.end_step(dict(model.named_parameters()))


Explain = TransformersExplain
