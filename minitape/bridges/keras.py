"""A callback for Keras: ``model.fit(x, y, callbacks=[Explain()])``."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow

from .callbacks import ExplainedSteps
from .tensorflow import record


class KerasExplain(ExplainedSteps, keras.callbacks.Callback):
    """Records the first step of ``fit`` and then each ``every``-th one, compiled or not, and warns of what is wrong
    with the model. The other steps run as they are. ``log`` is called with the step and the page;
    ``page`` and ``problems`` are those of the last recorded step.

    >>> import numpy
    >>> model = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> explain = Explain(every=10)
    >>> _ = model.fit(numpy.ones((8, 3)), numpy.ones((8, 1)), callbacks=[explain], verbose=0)
    >>> explain.problems
    []
    """

    record = staticmethod(record)

    def __init__(self, every: int = 100, log: Any = None) -> None:
        keras.callbacks.Callback.__init__(self)
        ExplainedSteps.__init__(self, every, log)
        if keras.backend.backend() != "tensorflow":
            raise RuntimeError(f"Explain() records TensorFlow, and Keras uses {keras.backend.backend()}.")

    def on_train_begin(self, logs: Any = None) -> None:
        """Run each step through this callback until the training ends, also with an error."""
        model, train_function = self.model, self.model.train_function

        def run_step(*args: Any) -> Any:
            try:
                with self.record_step(model):
                    return train_function(*args)
            except tensorflow.errors.OutOfRangeError:  # the epoch ends, of data that did not say how long it is
                raise
            except BaseException:
                model.train_function = train_function
                raise

        self._original_function, model.train_function = train_function, run_step

    def on_train_end(self, logs: Any = None) -> None:
        """Put Keras's own function back."""
        self.model.train_function = self._original_function


Explain = KerasExplain
