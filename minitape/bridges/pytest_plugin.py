"""Provide the pytest fixture ``assert_trains``.

The fixture runs a training step, and fails if a gradient is missing, not finite, zero or suspect.

    def test_the_model_trains(assert_trains):
        model = Net()
        optimizer = torch.optim.Adam(model.parameters())
        assert_trains(model, lambda: step(model, optimizer, batch))
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from ..engine.types import Action

BASE_CLASS_MODULES = {"torch": "torch.nn.modules.module", "tensorflow": "keras.src.layers.layer"}


def check_model_trains(model: Any, step: Action, steps: int = 2) -> None:
    """Run a training step a few times, and fail with a page of explanations if the model does not train.

    Args:
        model: A PyTorch or Keras model.
        step: A function without arguments that runs one training step.
        steps: The number of times to run the step.

    Raises:
        AssertionError: If the model has no parameters.
        TypeError: If ``model`` is not a PyTorch or Keras model.
        pytest.fail.Exception: If a gradient is missing or wrong.
    """
    __tracebackhide__ = True
    frameworks = [
        name
        for name, module in BASE_CLASS_MODULES.items()
        if any(base.__module__ == module for base in type(model).__mro__)
    ]
    if not frameworks:
        raise TypeError(f"assert_trains() takes a PyTorch or Keras model, but received {type(model).__name__}.")
    with import_module(f"minitape.bridges.{frameworks[0]}").record() as recording:
        for _ in range(steps):
            step()
    page = recording.explain(model)
    if page.problems:
        pytest.fail(f"{type(model).__name__} does not train.\n{page}", pytrace=False)
    assert page, f"{type(model).__name__} has no parameters."


@pytest.fixture
def assert_trains() -> Callable[..., None]:
    """Return ``assert_trains(model, step)``, a function that fails if a model does not train."""
    return check_model_trains
