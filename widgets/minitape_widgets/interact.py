"""Rerun a function with new variable values after the user moves a slider below the picture."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

import minitape as tf
from minitape.picture.gradient_results import PythonNames


class InteractiveFunction:
    """A function whose variables have sliders.

    Attributes:
        function: The function, which takes no arguments and reads the variables.
        variables: The scalar variables.
        low: The lowest value of each slider, or None to derive it from the variable's value.
        high: The highest value of each slider, or None to derive it from the variable's value.
        step: The step of each slider, or None for one 200th of the range.
        namespaces: The dictionaries in which to look up the variables' Python names.
    """

    def __init__(
        self,
        function: Callable[[], Any],
        variables: Any,
        low: float | None,
        high: float | None,
        step: float | None,
        namespaces: list[dict[str, Any]],
    ) -> None:
        """Check the arguments of ``TapeView.interact``.

        Raises:
            TypeError: If ``function`` is not a function without arguments, or one of ``variables`` is not a variable.
            ValueError: If a variable is not a scalar, or ``low`` is not less than ``high``.
        """
        if not callable(function) or _needs_arguments(function):
            raise TypeError(
                f"interact() takes a function that reads the variables and has no arguments, but received {function!r}."
            )
        self.function = function
        self.variables: list[Any] = list(variables) if isinstance(variables, Sequence) else [variables]
        for variable in self.variables:
            if not hasattr(variable, "assign"):
                raise TypeError(f"interact() moves a tf.Variable, but received {variable!r}.")
            if tuple(variable.shape) != ():
                raise ValueError(
                    f"interact() moves a variable with one number, but {variable.name} has shape {variable.shape}. "
                    "Create a scalar variable and compute the other numbers from this variable."
                )
        if low is not None and high is not None and low >= high:
            raise ValueError(f"interact() moves a variable from low to high, but received low={low} and high={high}.")
        self.low, self.high, self.step = low, high, step
        self.namespaces = namespaces

    def build_slider_json(self) -> str:
        """Return the name, value, range and step of each slider, as JSON for the browser."""
        sliders, names = [], PythonNames(self.namespaces)
        for variable in self.variables:
            value = float(variable.numpy())
            half_range = max(1.0, 2 * abs(value))
            low = value - half_range if self.low is None else self.low
            high = value + half_range if self.high is None else self.high
            step = (high - low) / 200 if self.step is None else self.step
            sliders.append(
                {
                    "name": names.find_name(variable) or variable.name.removesuffix(":0"),
                    "value": value,
                    "low": low,
                    "high": high,
                    "step": step,
                }
            )
        return json.dumps(sliders)

    def record_function_run(self, variable_values: Sequence[float] | None = None) -> Any:
        """Run the function under a new tape, and compute its result's gradient.

        Args:
            variable_values: A value to assign to each variable first, or None to assign nothing.

        Returns:
            The tape.
        """
        for variable, value in zip(self.variables, variable_values or (), strict=False):
            variable.assign(value)
        with tf.GradientTape() as tape:
            for variable in self.variables:
                if not variable.trainable:  # The tape watches trainable variables when the function reads them.
                    tape.watch(variable)
            target = self.function()
        tape.gradient(target, self.variables)
        return tape


def _needs_arguments(function: Callable[..., Any]) -> bool:
    """Return whether a function requires arguments, or False if its signature is unknown."""
    try:
        inspect.signature(function).bind()
    except TypeError:
        return True
    except ValueError:  # A function written in C may have no signature.
        return False
    return False
