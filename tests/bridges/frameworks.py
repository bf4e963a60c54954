"""Describe the differences between frameworks, for tests that check the same behavior in every framework."""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from .cases import compile_program, parse_programs_by_name

PROGRAM_FILES = ("cases", "reports", "numbers")
"""The endings of the names of the files that contain programs."""


@dataclass(frozen=True)
class Framework:
    """Runs the programs of a framework and explains their gradients.

    Attributes:
        name: The name of the module and the bridge.
        title: The name that people use, such as "PyTorch".
        import_name: The name under which the programs import the module.
        target_name: The variable that holds the target in the cases' programs.
        seed: A function that receives the module and sets the framework's random seed.
        gradient: A function that receives the namespace of a finished program and returns the gradient.
        errors: The exceptions that a program may raise.
        absent_causes: The causes for which no case exists. Some have a program elsewhere, such as in jax_runs.py.
    """

    name: str
    title: str
    import_name: str
    target_name: str
    seed: Callable[[Any], Any]
    gradient: Callable[[dict[str, Any]], Any]
    errors: tuple[type[Exception], ...] = ()
    absent_causes: frozenset[str] = frozenset()

    @property
    def is_installed(self) -> bool:
        """Whether the framework is installed."""
        return importlib.util.find_spec(self.name) is not None

    @property
    def module(self) -> Any:
        """The framework's module. The test is skipped if it is not installed."""
        return pytest.importorskip(
            self.name, reason=f"{self.title} is not installed: pip install 'minitape[{self.name}]'"
        )

    @property
    def bridge(self) -> Any:
        """The bridge of the framework."""
        assert self.module
        return importlib.import_module(f"minitape.bridges.{self.name}")

    @property
    def cases(self) -> dict[str, tuple[str, str]]:
        """The cause and the text of each program, which can be read even if the framework is not installed."""
        files = (importlib.import_module(f"tests.bridges.{self.name}_{file_kind}") for file_kind in PROGRAM_FILES)
        return {name: case for file in files for name, case in parse_programs_by_name(file.CASES).items()}

    def run_program(self, text: str, name: str) -> dict[str, Any]:
        """Run a program and return its namespace.

        Args:
            text: The program.
            name: The file name under which the program is compiled.

        Returns:
            The namespace. If the program raised an expected exception, the exception is stored as "error".
        """
        return self._run_code(text, name, {self.import_name: self.module, "nn": getattr(self.module, "nn", None)})

    def _run_code(self, text: str, name: str, names: dict[str, Any]) -> dict[str, Any]:
        self.seed(self.module)
        space = names | {"__name__": "program"}
        code = compile_program(text, name)
        try:
            exec(code, space)
        except self.errors as error:
            space["error"] = error
        return space

    def record_and_explain_program(self, text: str, name: str) -> tuple[dict[str, Any], Any, Any]:
        """Record a program and explain the gradient of ``w``.

        Args:
            text: The program.
            name: The file name under which the program is compiled.

        Returns:
            The namespace of the program, the recording and the explanation.
        """
        with self.bridge.record() as recording:
            space = self.run_program(text, name)
        return space, recording, self.explain_program(space, recording)

    def explain_program(self, space: dict[str, Any], recording: Any) -> Any:
        """Explain the gradient of ``w`` in a recording.

        Args:
            space: The namespace of the program.
            recording: The recording of the program.
        """
        target = space.get(self.target_name)  # The program may have ended before it computed the target.
        return recording.explain(space["w"]) if target is None else recording.explain(target, space["w"])


class Jax(Framework):
    """JAX, whose bridge records a function with its arguments."""

    def run_program(self, text: str, name: str) -> dict[str, Any]:
        """Run a program with the usual names for JAX's modules, and return its namespace."""
        module = self.module
        names = {"jax": module, "jnp": module.numpy, "lax": module.lax}
        return self._run_code(text, name, names)

    def record_and_explain_program(self, text: str, name: str) -> tuple[dict[str, Any], Any, Any]:
        """Run a program, record its function ``loss``, and explain the gradient of ``w``."""
        space = self.run_program(text, name)
        recording = self.bridge.record(space["loss"], *space["args"], **space.get("options", {}))
        return space, recording, self.explain_program(space, recording)

    def explain_program(self, space: dict[str, Any], recording: Any) -> Any:
        """Explain the gradient of ``w`` in a recording."""
        return recording.explain(recording.value, space["w"])


def convert_to_dense(gradient: Any) -> Any:
    """Convert a TensorFlow gradient to a dense tensor if it contains only some rows of a table."""
    if gradient is None or not hasattr(gradient, "indices"):
        return gradient
    return pytest.importorskip("tensorflow").convert_to_tensor(gradient)


FRAMEWORKS = [
    Framework("torch", "PyTorch", "torch", "loss", lambda torch: torch.manual_seed(3), lambda space: space["w"].grad,
        errors=(RuntimeError,), absent_causes=frozenset({"connected", "nonfinite_value", "refused"})),
    Framework("tensorflow", "TensorFlow", "tf", "y", lambda tf: tf.random.set_seed(3),
        lambda space: convert_to_dense(space["grad"]),
        absent_causes=frozenset({"connected", "nonfinite_value", "refused"})),
    Jax("jax", "JAX", "jax", "loss", lambda jax: None, lambda space: space.get("grad"), errors=(Exception,),
        absent_causes=frozenset({"connected", "nonfinite_value", "not_trainable"})),
]  # fmt: skip


def list_all_cases() -> list[Any]:
    """Return the programs of all frameworks as test parameters."""
    return [
        pytest.param(framework, name, id=f"{framework.name}-{name}")
        for framework in FRAMEWORKS
        for name in framework.cases
    ]


def is_usable(gradient: Any) -> bool:
    """Return whether a gradient exists, is finite and is not all zeros."""
    if gradient is None:
        return False
    array = np.asarray(gradient)
    return bool(np.isfinite(array).all() and array.any())
