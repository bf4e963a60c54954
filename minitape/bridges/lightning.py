"""Define the callback for Lightning, used as ``Trainer(callbacks=[Explain()])``."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .callbacks import ExplainedSteps
from .torch import record

_lightning: Any = import_module("lightning.pytorch" if find_spec("lightning") else "pytorch_lightning")


class LightningExplain(ExplainedSteps, _lightning.Callback):
    """Records the first batch and then every n-th batch (n is ``every``), and warns about problems with the module.

    ``log(step, page)`` is called after each recorded batch. The attributes ``page`` and ``problems`` describe the last
    recorded batch.
    """

    record = staticmethod(record)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Begin a step."""
        self.begin_step_and_record_if_due()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """End the step."""
        self.end_step_and_report_if_recorded(dict(pl_module.named_parameters()))

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Close the recording block of a step that raised an error."""
        self.close()


Explain = LightningExplain
