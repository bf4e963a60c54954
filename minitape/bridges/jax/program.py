"""A program of JAX under ``minitape explain``: the functions of the first gradients that it takes are recorded."""

from __future__ import annotations

import inspect
import sys
from collections import deque
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from copy import copy
from functools import partial, update_wrapper, wraps
from io import StringIO
from types import MethodType
from typing import TYPE_CHECKING, Any

from ...engine.recording.block import InterruptSafeExit
from ...engine.recording.frames import own_file
from ...explain.caller import warn_user
from ..changes import Changes
from ..model_page import ModelPage
from ..sampling import count_of
from .origin import functions, outside, plain
from .record import JaxRecording, jax, record

if TYPE_CHECKING:
    from ...engine.types import Leaving

MOST = 10  # gradients of a compiled function that are recorded


class FirstGradients:
    """A block in which ``jax.grad`` and ``jax.value_and_grad`` record their function and its arguments, until that was
    done ``first`` times, or each ``every``-th time.

    What ``jax.jit`` compiles has no numbers while it is traced. So long as steps are due, its function runs without the
    compiler, too, for nothing but the recording: what the program gets is what it gets without the block.

    >>> with FirstGradients(first=1) as recording:
    ...     step = jax.jit(jax.grad(lambda w: jax.numpy.sum(jax.numpy.floor(w))))
    ...     gradients = [step(jax.numpy.ones(2)) for _ in range(3)]
    >>> recording.steps, [answer.cause for answer in recording.explain().values()]
    (1, ['zero_derivative'])
    """

    def __init__(self, first: int = 1_000_000, every: int = 1) -> None:
        self.first = count_of(first, "first", "first=5 records five")
        self.every = count_of(every, "every", "every=100 records each hundredth")
        self.steps = self._taken = self.asked = 0  # `asked`: also while JAX traces
        self.recorded: Callable[[], object] | None = None  # is called when a recording is complete
        self._latest: dict[Any, JaxRecording] = {}  # of each function, by its code
        self._changes = Changes()
        self._entered = self._writes = False
        self._left: int | None = None  # how many gradients the call that runs for the recording may take

    def __enter__(self) -> FirstGradients:
        self._entered = True
        self._changes.begin()
        for name in ("grad", "value_and_grad"):
            self._changes.wrap(jax, name, self._gradient_of)
        self._changes.wrap(jax, "jit", self._compiled)
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
                page[name if name not in page else f"{plain(recording.asked[0]).__name__}: {name}"] = answer
        return page

    def _compiled(self, jit: Any, *function: Any, **options: Any) -> Any:
        return Compiled(self, function[0], jit(*function, **options)) if function else partial(jax.jit, **options)

    def sees(self, arguments: Any) -> bool:
        """Whether a call with these arguments may be recorded: they are numbers, and this is the program's thread."""
        traced = (isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves(arguments))
        return self.steps != self.first and self._changes.here and not self._writes and not any(traced)

    def rehearse(self, function: Any, args: tuple, kwargs: dict, takes: int) -> int:
        """Runs a function that the program compiles, without the compiler, to record the gradients that it takes, at
        most so many; returns how many it took.
        """
        self._left = takes
        args, kwargs = jax.tree_util.tree_map(lambda leaf: leaf, (args, kwargs))  # what it changes is not the program's
        try:
            with jax.disable_jit(), redirect_stdout(StringIO()):
                function(*args, **kwargs)
        except Exception:  # enough was recorded; or the program's own call will say it
            pass
        finally:
            takes, self._left = takes - self._left, None
        return takes

    def _gradient_of(self, transform: Any, function: Any, argnums: Any = 0, has_aux: bool = False, **rest: Any) -> Any:
        own = transform(function, argnums, has_aux, **rest)

        @wraps(own)
        def gradient(*args: Any, **kwargs: Any) -> Any:
            self.asked += 1
            if self.sees((args, kwargs)):
                if self._left is not None or self._taken % self.every == 0:
                    self._write(partial(function, **kwargs) if kwargs else function, args, argnums, has_aux)
                if self._left is None:
                    self._taken += 1
                else:
                    self._left -= 1
                    if not self._left or self.steps == self.first:
                        raise StopIteration
            return own(*args, **kwargs)

        return gradient

    def _write(self, function: Any, args: tuple, argnums: Any, has_aux: bool) -> None:
        self._writes, put_back = True, kept(function, *args)
        try:
            with redirect_stdout(StringIO()):
                recording = record(function, *args, argnums=argnums, has_aux=has_aux)
            of = plain(function)
            recording.follows(self._latest.get(key := getattr(of, "__code__", of), recording))
            self._latest[key] = recording
            self.steps += 1
            if self.recorded is not None and recording.error is None:  # else the program's own call raises it, first
                self.recorded()
        except Exception as error:
            warn_user(f"A gradient was not explained: {type(error).__name__}: {error}")
        finally:
            self._writes = False
            put_back()


class Compiled:
    """What ``jax.jit`` gives to a program in the block."""

    def __init__(self, block: FirstGradients, function: Any, jitted: Any) -> None:
        self._block, self._function, self._jitted = block, function, jitted
        self._calls, self._takes = 0, MOST  # gradients that it takes
        update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        block = self._block
        if self._takes and block._left is None and block.sees((args, kwargs)):
            put_back = kept(self._function, *args)
            if self._calls == 0:  # what is traced now is not traced again
                before = block.asked
                with suppress(Exception):
                    self._jitted.eval_shape(*args, **kwargs)
                self._takes *= block.asked > before
            traced = kept(self._function, *args)
            put_back()
            if self._takes and self._calls % block.every == 0:
                self._takes = block.rehearse(self._function, args, kwargs, self._takes)
            traced()
            self._calls += 1
        return self._jitted(*args, **kwargs)

    def __get__(self, owner: Any, of: Any = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_jitted"], name)


def kept(function: Any, *args: Any) -> Callable[[], None]:
    """Keeps what a function may change: attributes of the program's objects, and lists and the like, that it reads from
    outside. The result puts them back.

    >>> def loss(w, seen):
    ...     seen.append(w)
    ...     return w
    >>> seen = []
    >>> put_back = kept(loss, seen)
    >>> loss(2.0, seen), seen
    (2.0, [2.0])
    >>> put_back()
    >>> seen
    []
    """
    found: dict[int, tuple] = {}
    waiting = [function, *args]
    waiting += [value for inner in functions(function) for value in outside(inner).values()]
    while waiting:
        at = waiting.pop()
        at = at.__self__ if inspect.ismethod(at) else at
        module = sys.modules.get(type(at).__module__)
        if not own_file(getattr(module, "__file__", None) or __file__) and hasattr(at, "__dict__"):
            at = vars(at)
        if type(at) in (dict, list, deque) and id(at) not in found:
            found[id(at)] = at, copy(at)
            waiting += at.values() if isinstance(at, dict) else at

    def put_back() -> None:
        for own, before in found.values():
            own.clear()
            (own.update if isinstance(own, dict) else own.extend)(before)

    return put_back
