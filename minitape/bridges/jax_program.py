"""A program of JAX under ``minitape explain``: the functions of the first gradients that it takes are recorded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from ..engine.recording.block import InterruptSafeExit
from ..explain.caller import warn_user
from .changes import Changes
from .jax import JaxRecording, jax, record
from .model_page import ModelPage
from .sampling import count_of

if TYPE_CHECKING:
    from ..engine.types import Leaving


class FirstGradients:
    """A block in which ``jax.grad`` and ``jax.value_and_grad`` record their function and its arguments, until that was
    done ``first`` times, or each ``every``-th time. So long nothing is compiled: a step that ``jax.jit`` would compile
    has its numbers then.

    >>> with FirstGradients(first=1) as recording:
    ...     step = jax.jit(jax.grad(lambda w: jax.numpy.sum(jax.numpy.floor(w))))
    ...     gradients = [step(jax.numpy.ones(2)) for _ in range(3)]
    >>> recording.steps, [answer.cause for answer in recording.explain().values()]
    (1, ['zero_derivative'])
    """

    def __init__(self, first: int = 1_000_000, every: int = 1) -> None:
        self.first = count_of(first, "first", "first=5 records five")
        self.every = count_of(every, "every", "every=100 records each hundredth")
        self.steps = self._taken = 0
        self.recorded: Callable[[], object] | None = None  # is called when a recording is complete
        self._latest: dict[Any, JaxRecording] = {}  # of each function, by its code
        self._changes = Changes()
        self._entered = self._writes = False

    def __enter__(self) -> FirstGradients:
        self._entered = True
        self._changes.begin()
        for name in ("grad", "value_and_grad"):
            self._changes.wrap(jax, name, self._gradient_of)
        self._compile_again = partial(jax.config.update, "jax_disable_jit", jax.config.jax_disable_jit)
        self._changes.note(self._compile_again)
        jax.config.update("jax_disable_jit", True)
        return self

    def _leave(self, *_: object) -> None:
        self._changes.undo()
        self._entered = False

    __exit__: Leaving = InterruptSafeExit(_leave, lambda block: block._entered)

    def explain(self) -> ModelPage:
        """The page of all that was differentiated, in the last recording of each function."""
        page = ModelPage()
        for recording in self._latest.values():
            for name, answer in recording.explain().items():
                page[name if name not in page else f"{recording.asked[0].__name__}: {name}"] = answer
        return page

    def _gradient_of(self, transform: Any, function: Any, argnums: Any = 0, has_aux: bool = False, **rest: Any) -> Any:
        plain = transform(function, argnums, has_aux, **rest)

        @wraps(plain)
        def gradient(*args: Any, **kwargs: Any) -> Any:
            leaves = jax.tree_util.tree_leaves((args, kwargs))
            inside = self._writes or any(isinstance(leaf, jax.core.Tracer) for leaf in leaves)
            if self.steps != self.first and self._changes.here and not inside:
                if self._taken % self.every == 0:
                    self._write(partial(function, **kwargs) if kwargs else function, args, argnums, has_aux)
                self._taken += 1
            return plain(*args, **kwargs)

        return gradient

    def _write(self, function: Any, args: tuple, argnums: Any, has_aux: bool) -> None:
        self._writes = True
        try:
            recording = record(function, *args, argnums=argnums, has_aux=has_aux)
            self._latest[getattr(function, "__code__", function)] = recording
            self.steps += 1
            if self.recorded is not None:
                self.recorded()
        except Exception as error:
            warn_user(f"A gradient was not explained: {type(error).__name__}: {error}")
        finally:
            self._writes = False
            if self.steps == self.first:
                self._compile_again()
