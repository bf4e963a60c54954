"""Define the callback for Keras, used as ``model.fit(x, y, callbacks=[Explain()])``."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow

from .callbacks import ExplainedSteps
from .tensorflow import record


class KerasExplain(ExplainedSteps, keras.callbacks.Callback):
    """Records the first step of ``fit`` and then every n-th step (n is ``every``), and warns about model problems.

    The callback works whether or not Keras compiles the training step. Steps that are not recorded run unobserved.
    ``log(step, page)`` is called after each recorded step. The attributes ``page`` and ``problems`` describe the last
    recorded step.

    >>> import numpy
    >>> model = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> explain = Explain(every=10)
    >>> _ = model.fit(numpy.ones((8, 3)), numpy.ones((8, 1)), callbacks=[explain], verbose=0)
    >>> explain.problems
    []
    """

    record = staticmethod(record)

    def __init__(self, every: int = 100, log: Any = None):
        """Record the first step and then every n-th step, where n is ``every``.

        Args:
            every: The number of steps from one recorded step to the next.
            log: A function that is called as ``log(step, page)`` after each recorded step.

        Raises:
            RuntimeError: If Keras does not use TensorFlow.
            ValueError: If ``every`` is not a positive int.
        """
        keras.callbacks.Callback.__init__(self)
        ExplainedSteps.__init__(self, every, log)
        if keras.backend.backend() != "tensorflow":
            raise RuntimeError(f"Explain() records TensorFlow, but Keras uses {keras.backend.backend()}.")

    def on_train_begin(self, logs: Any = None) -> None:
        """Run each step through this callback until the training run ends or raises an error."""
        model = self.model
        train_function = self.model.train_function

        def run_step(*args: Any) -> Any:
            try:
                with self.record_step(model):
                    return train_function(*args)
            except tensorflow.errors.OutOfRangeError:
                # This error ends an epoch of unknown length, and Keras then continues with the training run.
                raise
            except BaseException:
                model.train_function = train_function
                raise

        self._original_function = train_function
        model.train_function = run_step

    def on_train_end(self, logs: Any = None) -> None:
        """Restore Keras's own train function."""
        self.model.train_function = self._original_function


Explain = KerasExplain
