"""``tf.keras.optimizers``: plain gradient descent, with momentum if wanted, and Adam."""

from __future__ import annotations

import warnings
from typing import Any

from .. import tf
from ..engine.back.tape import _WARNS
from ..engine.hooks import hooks
from ..engine.recording.evidence import one_statement
from .layers import auto_name


class Optimizer:
    """What optimizers share: a step takes pairs of a gradient and a variable."""

    def __init__(self, learning_rate: float, name: str | None = None) -> None:
        self.name, self.learning_rate, self.iterations = name or auto_name(type(self).__name__), learning_rate, 0
        self._kept: dict[tuple[int, int], Any] = {}  # what the rule keeps for a variable from step to step

    def apply_gradients(self, grads_and_vars: Any) -> int:
        """One step; variables without a gradient are left alone, with a warning."""
        pairs = list(grads_and_vars)
        missing = [v for g, v in pairs if g is None]
        if not pairs or len(missing) == len(pairs):
            raise hooks.why_none(ValueError("No gradients provided for any variable."), missing)
        if missing:
            names = [getattr(v, "path", None) or v.name for v in missing]
            text = f"Gradients do not exist for variables {names} when minimizing the loss."
            warnings.warn(f"{text}\n{hooks.why_some_none(missing)}", stacklevel=2)
        self.iterations += 1
        with one_statement():
            for gradient, variable in pairs:
                if gradient is not None:
                    held = getattr(variable, "_gradient_leaf", lambda v=variable: v)()
                    held.assign_sub(self._change(tf.convert_to_tensor(gradient), held))
        if _WARNS:
            hooks.warn_of_step([v for g, v in pairs if g is not None])
        return self.iterations

    def _state(self, variable: Any, number: int = 0) -> Any:
        return self._kept.get((id(variable), number), 0.0)

    def _change(self, gradient: Any, variable: Any) -> Any:
        """What the variable loses."""
        raise NotImplementedError


class SGD(Optimizer):
    """``w -= learning_rate * gradient``; with ``momentum`` the earlier steps go on.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant(1.0), v)])
    1
    >>> v.numpy()
    np.float32(0.5)
    """

    def __init__(self, learning_rate: float = 0.01, momentum: float = 0.0, name: str | None = None) -> None:
        super().__init__(learning_rate, name)
        self.momentum = momentum

    def _change(self, gradient: Any, variable: Any) -> Any:
        step = self.learning_rate * gradient
        if self.momentum:
            step = self._kept[id(variable), 0] = self.momentum * self._state(variable) + step
        return step


class Adam(Optimizer):
    """Steps scaled by running means of the gradient and of its square.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.constant(3.0), v)])
    1
    >>> v.numpy().round(3)
    np.float32(0.9)
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, name)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _change(self, gradient: Any, variable: Any) -> Any:
        m = self._kept[id(variable), 0] = self.beta_1 * self._state(variable) + (1 - self.beta_1) * gradient
        s = self._kept[id(variable), 1] = self.beta_2 * self._state(variable, 1) + (1 - self.beta_2) * gradient**2
        n = self.iterations
        scale = self.learning_rate * (1 - self.beta_2**n) ** 0.5 / (1 - self.beta_1**n)
        return m * scale / (tf.sqrt(s) + self.epsilon)
