"""Record a JAX program's first gradients for ``minitape explain``."""

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

from ...engine.record.interrupt_safe import InterruptSafeExit
from ...engine.record.user_frames import is_minitape_or_library_file
from ...explain.caller import format_bracketed_place, warn_at_user_line
from ...explain.translated_sentences import fill
from ...recording.sites import find_user_site
from ..framework_patches import FrameworkPatches
from ..model_page import ModelPage, join_parameter_names
from ..sampling import check_step_count
from .program_origin import iter_function_and_callees, read_outside_values, unwrap_function
from .recording import JaxRecording, jax, record

if TYPE_CHECKING:
    from ...engine.types import ExitProperty

GRADIENT_LIMIT = 10  # The maximum number of recorded gradients for a compiled function.
UPDATE_LIBRARIES = {"optax", "equinox"}  # The libraries whose apply_updates returns new parameters.


class FirstGradients:
    """A block in which ``jax.grad`` and ``jax.value_and_grad`` record their functions and arguments.

    A function compiled by ``jax.jit`` has no concrete values while it is traced. While further steps are due, the
    function therefore also runs without the compiler, only to be recorded. The program's results are the same as
    without the block.

    Attributes:
        first: The maximum number of recorded gradients.
        every: The distance between recorded gradients.
        steps: The number of gradients recorded so far.
        gradient_count: The number of computed gradients, including traced ones.
        on_recorded: A function to call after each completed recording, or None.

    >>> with FirstGradients(first=1) as recording:
    ...     step = jax.jit(jax.grad(lambda w: jax.numpy.sum(jax.numpy.floor(w))))
    ...     gradients = [step(jax.numpy.ones(2)) for _ in range(3)]
    >>> recording.steps, [answer.cause for answer in recording.explain().values()]
    (1, ['zero_derivative'])
    """

    def __init__(self, first: int = 1_000_000, every: int = 1) -> None:
        """Check the options, and start without recordings."""
        self.first = check_step_count(first, "first", "first=5 records five")
        self.every = check_step_count(every, "every", "every=100 records each hundredth")
        self.steps = self._taken_count = self.gradient_count = 0
        self.on_recorded: Callable[[], object] | None = None
        self._latest_recordings: dict[Any, JaxRecording] = {}  # The keys are the code objects of functions.
        self._patches = FrameworkPatches()
        self._watched_libraries = set[str]()
        self._entered = self._is_recording = False
        # The number of gradients that may still be recorded in a function that runs only to be recorded.
        self._remaining_gradients: int | None = None

    def __enter__(self) -> FirstGradients:
        """Replace ``jax.grad``, ``jax.value_and_grad`` and ``jax.jit`` until the block ends."""
        self._entered = True
        self._patches.activate_in_this_thread()
        for name in ("grad", "value_and_grad"):
            self._patches.wrap_function(jax, name, self._on_gradient_transform)
        self._patches.wrap_function(jax, "jit", self._on_jit)
        self._watch_update_functions()
        return self

    def _watch_update_functions(self) -> None:
        """Watch ``apply_updates`` of the libraries that the program has imported by now."""
        for library in UPDATE_LIBRARIES - self._watched_libraries:
            module = sys.modules.get(library)
            if hasattr(module, "apply_updates"):
                self._watched_libraries.add(library)
                self._patches.wrap_function(module, "apply_updates", self._on_apply_updates)

    def _on_apply_updates(self, original: Any, params: Any, updates: Any) -> Any:
        new_params = original(params, updates)
        old_leaves, new_leaves = jax.tree_util.tree_leaves(params), jax.tree_util.tree_leaves(new_params)
        is_traced = any(isinstance(leaf, jax.core.Tracer) for leaf in [*old_leaves, *new_leaves])
        if not is_traced and not self._is_recording and len(old_leaves) == len(new_leaves):
            site = find_user_site()
            for recording in self._latest_recordings.values():
                recording.note_updates(old_leaves, new_leaves, site)
        return new_params

    def _leave_block(self, *_: object) -> None:
        self._patches.undo_all()
        self._entered = False

    __exit__: ExitProperty = InterruptSafeExit(_leave_block, lambda block: block._entered)

    def explain(self) -> ModelPage:
        """Explain all sources in the last recording of each function, on one page."""
        page = ModelPage()
        for recording in self._latest_recordings.values():
            for name, explanation in recording.explain().items():
                key = name
                if name in page:
                    key = f"{unwrap_function(recording.recorded_call.function).__name__}: {name}"
                page[key] = explanation
        return page

    def list_remarks(self) -> list[str]:
        """Return sentences on what the run showed beside the explanations."""
        remarks = []
        for recording in self._latest_recordings.values():
            still = {row: update for row, update in recording.updates.items() if not update.is_moved}
            if still and len(still) < len(recording.updates):
                names = join_parameter_names(recording.map_names_to_rows(sorted(still)))
                place = format_bracketed_place(*still[min(still)].site)
                remarks.append(
                    fill(
                        "The optimizer left unchanged{line}: {which} ({n} of {all}).",
                        line=place,
                        which=names,
                        n=len(still),
                        all=len(recording.updates),
                    )
                )
        return remarks

    def _on_jit(self, original: Any, *function: Any, **options: Any) -> Any:
        if not function:  # The program wrote ``@jax.jit(option=...)``.
            return partial(jax.jit, **options)
        return CompiledFunction(self, function[0], original(*function, **options))

    def can_record(self, arguments: Any) -> bool:
        """Return whether a call may be recorded.

        The arguments must be concrete values, not tracers, the call must be in the program's thread, and a step must
        be due.
        """
        is_traced_flags = (isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves(arguments))
        return (
            self.steps != self.first
            and self._patches.is_active_in_this_thread
            and not self._is_recording
            and not any(is_traced_flags)
        )

    def record_gradients_uncompiled(self, function: Any, args: tuple, kwargs: dict, gradient_limit: int) -> int:
        """Run a compiled function without the compiler to record the gradients that it computes.

        Args:
            function: The function.
            args: Its positional arguments.
            kwargs: Its keyword arguments.
            gradient_limit: The number of gradients after which the function stops.

        Returns:
            The number of computed gradients.
        """
        self._remaining_gradients = gradient_limit
        # The function may change its arguments, so copy all containers in them.
        args, kwargs = jax.tree_util.tree_map(lambda leaf: leaf, (args, kwargs))
        try:
            with jax.disable_jit(), redirect_stdout(StringIO()):
                function(*args, **kwargs)
        except Exception:  # Either the limit has been reached, or the program's own call will raise the same error.
            pass
        finally:
            computed_count = gradient_limit - self._remaining_gradients
            self._remaining_gradients = None
        return computed_count

    def _on_gradient_transform(
        self, original: Any, function: Any, argnums: Any = 0, has_aux: bool = False, **options: Any
    ) -> Any:
        original_gradient = original(function, argnums, has_aux, **options)
        self._watch_update_functions()

        @wraps(original_gradient)
        def record_and_compute_gradient(*args: Any, **kwargs: Any) -> Any:
            self.gradient_count += 1
            self._watch_update_functions()
            if self.can_record((args, kwargs)):
                if self._remaining_gradients is not None or self._taken_count % self.every == 0:
                    self._record_gradient(partial(function, **kwargs) if kwargs else function, args, argnums, has_aux)
                if self._remaining_gradients is None:
                    self._taken_count += 1
                else:
                    self._remaining_gradients -= 1
                    if not self._remaining_gradients or self.steps == self.first:
                        raise StopIteration
            return original_gradient(*args, **kwargs)

        return record_and_compute_gradient

    def _record_gradient(self, function: Any, args: tuple, argnums: Any, has_aux: bool) -> None:
        self._is_recording, restore_state = True, save_mutable_state(function, *args)
        try:
            with redirect_stdout(StringIO()):
                recording = record(function, *args, argnums=argnums, has_aux=has_aux)
            user_function = unwrap_function(function)
            key = getattr(user_function, "__code__", user_function)
            recording.count_arguments_unchanged_since(self._latest_recordings.get(key, recording))
            self._latest_recordings[key] = recording
            self.steps += 1
            # The program's own call must be the first to raise an error.
            if self.on_recorded is not None and recording.error is None:
                self.on_recorded()
        except Exception as error:
            warn_at_user_line(f"A gradient was not explained: {type(error).__name__}: {error}")
        finally:
            self._is_recording = False
            restore_state()


class CompiledFunction:
    """The replacement for a function returned by ``jax.jit`` in the block."""

    def __init__(self, gradient_block: FirstGradients, function: Any, jitted: Any) -> None:
        """Wrap a compiled function together with its original function."""
        self._gradient_block, self._function, self._jitted = gradient_block, function, jitted
        self._call_count, self._gradient_limit = 0, GRADIENT_LIMIT
        update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record the function's gradients if a step is due, and then call the compiled function."""
        gradient_block = self._gradient_block
        if (
            self._gradient_limit
            and gradient_block._remaining_gradients is None
            and gradient_block.can_record((args, kwargs))
        ):
            restore_state = save_mutable_state(self._function, *args)
            if self._call_count == 0:  # The program's own call reuses this trace, which JAX caches.
                previous_count = gradient_block.gradient_count
                with suppress(Exception):
                    self._jitted.eval_shape(*args, **kwargs)
                if gradient_block.gradient_count == previous_count:
                    self._gradient_limit = 0
            restore_after_trace = save_mutable_state(self._function, *args)
            restore_state()
            if self._gradient_limit and self._call_count % gradient_block.every == 0:
                self._gradient_limit = gradient_block.record_gradients_uncompiled(
                    self._function, args, kwargs, self._gradient_limit
                )
            restore_after_trace()
            self._call_count += 1
        return self._jitted(*args, **kwargs)

    def __get__(self, owner: Any, owner_class: Any = None) -> Any:
        """Bind the function as a method if it is a class attribute."""
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled function, such as ``lower``."""
        return getattr(self.__dict__["_jitted"], name)


def save_mutable_state(function: Any, *args: Any) -> Callable[[], None]:
    """Save the objects that a function may change, and return a function that restores them.

    These are the attributes of the program's objects, and any lists, dictionaries and deques that the function reads
    from outside or receives as arguments.

    >>> def loss(w, seen):
    ...     seen.append(w)
    ...     return w
    >>> seen = []
    >>> restore_state = save_mutable_state(loss, seen)
    >>> loss(2.0, seen), seen
    (2.0, [2.0])
    >>> restore_state()
    >>> seen
    []
    """
    saved_contents: dict[int, tuple] = {}
    pending = [function, *args]
    pending += [
        value
        for inner_function in iter_function_and_callees(function)
        for value in read_outside_values(inner_function).values()
    ]
    while pending:
        current = pending.pop()
        current = current.__self__ if inspect.ismethod(current) else current
        module = sys.modules.get(type(current).__module__)
        if not is_minitape_or_library_file(getattr(module, "__file__", None) or __file__) and hasattr(
            current, "__dict__"
        ):
            current = vars(current)
        if type(current) in (dict, list, deque) and id(current) not in saved_contents:
            saved_contents[id(current)] = current, copy(current)
            pending += current.values() if isinstance(current, dict) else current

    def restore_state() -> None:
        for container, contents in saved_contents.values():
            container.clear()
            if isinstance(container, dict):
                container.update(contents)
            else:
                container.extend(contents)

    return restore_state
