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
        """Each step runs through this callback until the training ends, also with an error."""
        model, plain = self.model, self.model.train_function

        def step(*args: Any) -> Any:
            try:
                with self.step(model):
                    return plain(*args)
            except tensorflow.errors.OutOfRangeError:  # the epoch ends, of data that did not say how long it is
                raise
            except BaseException:
                model.train_function = plain
                raise

        self._plain, model.train_function = plain, step

    def on_train_end(self, logs: Any = None) -> None:
        """Keras's function is back."""
        self.model.train_function = self._plain


Explain = KerasExplain
