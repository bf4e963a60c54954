"""What differs between the frameworks where tests ask the same of all."""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from .cases import compiled, programs

WHICH = ("cases", "reports", "numbers")  # files of programs

WORDS = {"torch": "torch.words", "tensorflow": "tensorflow.words", "jax": "jax.words"}


@dataclass(frozen=True)
class Framework:
    """How tests run the programs of a framework, and ask about them."""

    name: str
    called: str  # its name for people
    short: str  # what its programs call it
    target: str  # what the programs of the cases call the target
    seed: Callable[[Any], Any]
    gradient: Callable[[dict[str, Any]], Any]  # of a program that has run
    errors: tuple[type[Exception], ...] = ()  # in which a program may end
    without: frozenset[str] = frozenset()  # causes for which no program stands in the cases

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.name) is not None

    @property
    def module(self) -> Any:
        return pytest.importorskip(
            self.name, reason=f"{self.called} is not installed: pip install 'minitape[{self.name}]'"
        )

    @property
    def bridge(self) -> Any:
        assert self.module
        return importlib.import_module(f"minitape.bridges.{self.name}")

    @property
    def texts(self) -> dict[str, tuple[str, str]]:
        assert self.module
        return importlib.import_module(f"minitape.bridges.{WORDS[self.name]}").TEXT

    @property
    def cases(self) -> dict[str, tuple[str, str]]:
        """Name -> (cause, text); they can be read where the framework is not installed."""
        files = (importlib.import_module(f"tests.bridges.{self.name}_{which}") for which in WHICH)
        return {name: case for file in files for name, case in programs(file.CASES).items()}

    def run(self, text: str, name: str) -> dict[str, Any]:
        """What a program left behind, whether it ended in an error or not."""
        return self._run(text, name, {self.short: self.module, "nn": getattr(self.module, "nn", None)})

    def _run(self, text: str, name: str, known: dict[str, Any]) -> dict[str, Any]:
        self.seed(self.module)
        space = known | {"__name__": "program"}
        code = compiled(text, name)
        try:
            exec(code, space)
        except self.errors as error:
            space["error"] = error
        return space

    def recorded(self, text: str, name: str) -> tuple[dict[str, Any], Any, Any]:
        """What a program left behind, its recording, and the answer about ``w``."""
        with self.bridge.record() as recording:
            space = self.run(text, name)
        return space, recording, self.asked(space, recording)

    def asked(self, space: dict[str, Any], recording: Any) -> Any:
        """The answer about ``w``."""
        target = space.get(self.target)  # none where the program ended before it
        return recording.explain(space["w"]) if target is None else recording.explain(target, space["w"])


class Jax(Framework):
    """JAX's bridge takes a function and its arguments."""

    def run(self, text: str, name: str) -> dict[str, Any]:
        """With the names that programs of JAX use."""
        module = self.module
        more = {"jax": module, "jnp": module.numpy, "lax": module.lax}
        return self._run(text, name, more)

    def recorded(self, text: str, name: str) -> tuple[dict[str, Any], Any, Any]:
        space = self.run(text, name)
        recording = self.bridge.record(space["loss"], *space["args"], **space.get("options", {}))
        return space, recording, self.asked(space, recording)

    def asked(self, space: dict[str, Any], recording: Any) -> Any:
        return recording.explain(recording.value, space["w"])


def dense(gradient: Any) -> Any:
    """A gradient of TensorFlow that has rows of a table only, as a whole."""
    return (
        gradient
        if gradient is None or not hasattr(gradient, "indices")
        else pytest.importorskip("tensorflow").convert_to_tensor(gradient)
    )


FRAMEWORKS = [
    Framework("torch", "PyTorch", "torch", "loss", lambda torch: torch.manual_seed(3), lambda space: space["w"].grad,
        errors=(RuntimeError,), without=frozenset({"connected", "not_tensor", "zero_sum"})),
    Framework("tensorflow", "TensorFlow", "tf", "y", lambda tf: tf.random.set_seed(3),
        lambda space: dense(space["grad"]),
        without=frozenset({"connected", "target_not_tensor", "zero_seed", "no_backward"})),
    Jax("jax", "JAX", "jax", "loss", lambda jax: None, lambda space: space.get("grad"), errors=(Exception,),
        without=frozenset({"connected"})),
]  # fmt: skip


def every_case() -> list[Any]:
    """The programs of all frameworks."""
    return [
        pytest.param(framework, name, id=f"{framework.name}-{name}")
        for framework in FRAMEWORKS
        for name in framework.cases
    ]


def arrived(gradient: Any) -> bool:
    """Whether a gradient is one that can be used: there, finite, and not all zeros."""
    if gradient is None:
        return False
    array = np.asarray(gradient)
    return bool(np.isfinite(array).all() and array.any())
