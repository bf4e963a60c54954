"""What differs between the frameworks where tests ask the same of all."""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from .cases import compile_program, parse_programs_by_name

PROGRAM_FILES = ("cases", "reports", "numbers")  # files of programs

SENTENCE_MODULES = {"torch": "torch.sentences", "tensorflow": "tensorflow.sentences", "jax": "jax.sentences"}


@dataclass(frozen=True)
class Framework:
    """How tests run the programs of a framework, and ask about them."""

    name: str
    title: str  # its name for people
    import_name: str  # what its programs call it
    target_name: str  # what the programs of the cases call the target
    seed: Callable[[Any], Any]
    gradient: Callable[[dict[str, Any]], Any]  # of a program that has run
    errors: tuple[type[Exception], ...] = ()  # in which a program may end
    absent_causes: frozenset[str] = frozenset()  # causes for which no program stands in the cases

    @property
    def is_installed(self) -> bool:
        return importlib.util.find_spec(self.name) is not None

    @property
    def module(self) -> Any:
        return pytest.importorskip(
            self.name, reason=f"{self.title} is not installed: pip install 'minitape[{self.name}]'"
        )

    @property
    def bridge(self) -> Any:
        assert self.module
        return importlib.import_module(f"minitape.bridges.{self.name}")

    @property
    def texts(self) -> dict[str, tuple[str, str]]:
        assert self.module
        return importlib.import_module(f"minitape.bridges.{SENTENCE_MODULES[self.name]}").TEXT

    @property
    def cases(self) -> dict[str, tuple[str, str]]:
        """Name -> (cause, text); they can be read where the framework is not installed."""
        files = (importlib.import_module(f"tests.bridges.{self.name}_{file_kind}") for file_kind in PROGRAM_FILES)
        return {name: case for file in files for name, case in parse_programs_by_name(file.CASES).items()}

    def run_program(self, text: str, name: str) -> dict[str, Any]:
        """What a program left behind, whether it ended in an error or not."""
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
        """What a program left behind, its recording, and the answer about ``w``."""
        with self.bridge.record() as recording:
            space = self.run_program(text, name)
        return space, recording, self.explain_program(space, recording)

    def explain_program(self, space: dict[str, Any], recording: Any) -> Any:
        """The answer about ``w``."""
        target = space.get(self.target_name)  # none where the program ended before it
        return recording.explain(space["w"]) if target is None else recording.explain(target, space["w"])


class Jax(Framework):
    """JAX's bridge takes a function and its arguments."""

    def run_program(self, text: str, name: str) -> dict[str, Any]:
        """With the names that programs of JAX use."""
        module = self.module
        names = {"jax": module, "jnp": module.numpy, "lax": module.lax}
        return self._run_code(text, name, names)

    def record_and_explain_program(self, text: str, name: str) -> tuple[dict[str, Any], Any, Any]:
        space = self.run_program(text, name)
        recording = self.bridge.record(space["loss"], *space["args"], **space.get("options", {}))
        return space, recording, self.explain_program(space, recording)

    def explain_program(self, space: dict[str, Any], recording: Any) -> Any:
        return recording.explain(recording.value, space["w"])


def convert_to_dense(gradient: Any) -> Any:
    """A gradient of TensorFlow that has rows of a table only, as a whole."""
    return (
        gradient
        if gradient is None or not hasattr(gradient, "indices")
        else pytest.importorskip("tensorflow").convert_to_tensor(gradient)
    )


FRAMEWORKS = [
    Framework("torch", "PyTorch", "torch", "loss", lambda torch: torch.manual_seed(3), lambda space: space["w"].grad,
        errors=(RuntimeError,), absent_causes=frozenset({"connected", "not_tensor", "zero_sum"})),
    Framework("tensorflow", "TensorFlow", "tf", "y", lambda tf: tf.random.set_seed(3),
        lambda space: convert_to_dense(space["grad"]),
        absent_causes=frozenset({"connected", "target_not_tensor", "zero_seed", "no_backward"})),
    Jax("jax", "JAX", "jax", "loss", lambda jax: None, lambda space: space.get("grad"), errors=(Exception,),
        absent_causes=frozenset({"connected"})),
]  # fmt: skip


def list_all_cases() -> list[Any]:
    """The programs of all frameworks."""
    return [
        pytest.param(framework, name, id=f"{framework.name}-{name}")
        for framework in FRAMEWORKS
        for name in framework.cases
    ]


def is_usable(gradient: Any) -> bool:
    """Whether a gradient is one that can be used: there, finite, and not all zeros."""
    if gradient is None:
        return False
    array = np.asarray(gradient)
    return bool(np.isfinite(array).all() and array.any())
