"""Define functions that an exercise passes to the learner's function without revealing their formulas.

The learner has to use a tape to find their gradients.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np

from ..common.translation import say
from ..engine.table.generated_code import compile_expression, find_names_in_expression
from ..engine.tensor.conversion import convert_to_tensor
from .call_log import note_unknown_function_call

if TYPE_CHECKING:
    from ..engine.tensor.tensor import EagerTensor
    from .exercise import Answer, Program


class UnknownFunction:
    """A function whose formula only the feedback shows; `check` sees which of its calls a tape recorded.

    The function accepts only tensors and variables.

    >>> compile_unknown_function("x * x", "2 * x")(3.0)
    Traceback (most recent call last):
        ...
    TypeError: this function accepts only values that a tape can follow: tensors and variables
    """

    def __init__(self, formula: str, compute: Program, compute_derivatives: Program):
        """Store the formula, the function, and a function that returns the derivatives that an exercise asks for."""
        self.formula = formula
        self._compute = compute
        self.compute_derivatives = compute_derivatives

    def __call__(self, *inputs: Answer) -> Answer:
        """Call the function and note the call.

        Args:
            *inputs: Tensors and variables.

        Raises:
            TypeError: If one of the inputs is not a tensor, or if there are too few or too many.
        """
        inputs = tuple(
            convert_to_tensor(value) if isinstance(value, list) and any(map(_is_tensor, value)) else value
            for value in inputs
        )
        if any(map(_is_tensor, inputs)):  # Next to a tensor, an array or a number is a constant.
            number_types = (float, np.generic, np.ndarray)
            inputs = tuple(convert_to_tensor(value) if isinstance(value, number_types) else value for value in inputs)
        if not all(map(_is_tensor, inputs)):
            raise TypeError(say("this function accepts only values that a tape can follow: tensors and variables"))
        inspect.signature(self._compute).bind(*inputs)  # This raises TypeError if the number of inputs is wrong.
        result: EagerTensor = self._compute(*inputs)
        note_unknown_function_call(inputs, result)
        return result

    def __repr__(self) -> str:
        """Return the formula."""
        return self.formula


def compile_unknown_function(formula: str, derivatives: str, expression: str = "") -> UnknownFunction:
    """Compile an unknown function from texts. Its arguments are the names in the texts, in alphabetical order.

    >>> compile_unknown_function("a b", "[b, a]", "a * b").compute_derivatives(2.0, 3.0)
    [3.0, 2.0]

    Args:
        formula: The formula that the feedback shows.
        derivatives: The derivatives that an exercise asks for, as a Python expression.
        expression: The Python expression that computes the function, if it is not the formula.
    """
    arguments = ", ".join(sorted(find_names_in_expression(expression or formula)))
    compute, compute_derivatives = (
        compile_expression(text, {}, arguments) for text in (expression or formula, derivatives)
    )
    return UnknownFunction(formula, compute, compute_derivatives)


def _is_tensor(value: Answer) -> bool:
    return hasattr(value, "numpy")


def _format_term(coefficient: float, exponent: int) -> str:
    """Return a term of a polynomial, such as "-x" or "2x**3".

    >>> [_format_term(-1, 1), _format_term(1, 0), _format_term(2, 3)]
    ['-x', '1', '2x**3']
    """
    if exponent == 0:
        return f"{coefficient:g}"
    power = "x" if exponent == 1 else f"x**{exponent}"
    if abs(coefficient) == 1:
        return power if coefficient > 0 else f"-{power}"
    return f"{coefficient:g}{power}"


class Polynomial(UnknownFunction):
    """An unknown function of one number that knows its own derivatives.

    >>> cubic = Polynomial(0, 2, 0, 1)
    >>> cubic, cubic.derivative(2.0), cubic.derivative(2.0, order=2)
    (2x + x**3, 14.0, 12.0)
    """

    def __init__(self, *coefficients: float):
        """Store the coefficients of 1, x, x**2 and so on."""
        terms = [
            _format_term(coefficient, exponent) for exponent, coefficient in enumerate(coefficients) if coefficient
        ]
        super().__init__(" + ".join(terms).replace("+ -", "- "), self._evaluate_horner, self.derivative)
        self.coefficients = coefficients

    def _evaluate_horner(self, x: Answer) -> Answer:
        """Compute the value, leaving out multiplications by 1 and additions of 0."""
        constant, *_, leading = self.coefficients
        total = x if leading == 1 and len(self.coefficients) > 2 else x * leading
        for coefficient in self.coefficients[-2:0:-1]:
            total = (total + coefficient if coefficient else total) * x
        return total + constant if constant else total

    def derivative(self, point: float, order: int = 1) -> float:
        """Compute the derivative of this order, at a plain number."""
        return float(np.polynomial.Polynomial(self.coefficients).deriv(order)(point))


class TracedNumber(Polynomial):
    """An unknown function that works only inside a traced function, so that learners keep `@tf.function`.

    >>> import minitape as tf
    >>> TracedNumber(0, 0, 1)(tf.constant(3.0))
    Traceback (most recent call last):
        ...
    TypeError: this function works only inside a traced function: keep @tf.function and call this function there
    """

    def __call__(self, *inputs: Answer) -> Answer:
        """Call the function inside a traced function.

        Args:
            *inputs: Tensors and variables.

        Raises:
            TypeError: If no function is being traced.
        """
        result: EagerTensor = super().__call__(*inputs)
        if result._record is None or result._record.first_run is None:
            raise TypeError(
                say("this function works only inside a traced function: keep @tf.function and call this function there")
            )
        return result


def run_gradient_descent(f: Polynomial, start: float, steps: int, rate: float = 0.1) -> float:
    """Return the point that the given number of steps down the slope of `f` leads to.

    Args:
        f: The function.
        start: The point at which the first step begins.
        steps: The number of steps.
        rate: The factor by which each derivative is multiplied.

    >>> run_gradient_descent(Polynomial(0, 0, 1), start=1.0, steps=2, rate=0.25)
    0.25
    """
    for _ in range(steps):
        start -= rate * f.derivative(start)
    return start


def run_newton_minimization_step(f: Polynomial, start: float) -> float:
    """Return the point that one Newton step leads to. For a parabola, this is its vertex.

    Args:
        f: The function.
        start: The point at which the step begins.

    >>> run_newton_minimization_step(Polynomial(0, -6, 1), start=1.0)
    3.0
    """
    return start - f.derivative(start) / f.derivative(start, order=2)
