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

import numpy as np

from ...engine.record.interrupt_safe import InterruptSafeExit
from ...engine.record.user_frames import is_minitape_or_library_file
from ...explain.caller import format_bracketed_place, warn_at_user_line
from ...explain.translated_sentences import fill
from ...recording.sites import find_user_site
from ..framework_patches import FrameworkPatches
from ..model_page import ModelPage, join_parameter_names
from ..nonfinite_values import explain_nonfinite_target
from ..sampling import check_step_count
from .program_origin import iter_function_and_callees, read_outside_values, unwrap_function
from .recording import JaxRecording, jax, record

if TYPE_CHECKING:
    from ...engine.types import ExitProperty
    from ...explain.explanation import Explanation

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
        self._functions_without_gradients: dict[int, Any] = {}  # They are kept alive, so that their ids stay theirs.
        self._example_numbers: dict[str, int] = {}  # Which example of a mapped function is recorded.
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
        self._patches.wrap_function(jax, "vmap", self._on_vmap)
        for name in ("jacrev", "jacfwd", "jacobian", "hessian"):
            self._patches.wrap_function(jax, name, partial(self._on_jacobian, is_second=name == "hessian"))
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

    def list_run_problems(self) -> list[Explanation]:
        """Return explanations of what is wrong with the run although each gradient is well."""
        explanations = [
            explain_nonfinite_target(recording, recording.target_row)
            for recording in self._latest_recordings.values()
            if recording.target_row is not None
        ]
        return [explanation for explanation in explanations if explanation is not None][:1]

    def list_remarks(self) -> list[str]:
        """Return sentences on what the run showed beside the explanations."""
        remarks = [
            fill("Under jax.vmap, {which} is recorded for one example, with index {n}.", which=name, n=index)
            for name, index in self._example_numbers.items()
            if self._latest_recordings
        ]
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

    def _on_vmap(self, original: Any, function: Any, in_axes: Any = 0, out_axes: Any = 0, **options: Any) -> Any:
        mapped = original(function, in_axes, out_axes, **options)

        user_function = unwrap_function(function)
        key = getattr(user_function, "__code__", user_function)

        @wraps(mapped)
        def map_and_record_an_example(*args: Any, **kwargs: Any) -> Any:
            if id(key) in self._functions_without_gradients or not self.can_record((args, kwargs)):
                return mapped(*args, **kwargs)
            restore_state, previous_count = save_mutable_state(function, *args), self.gradient_count
            results = mapped(*args, **kwargs)
            is_replay = self._remaining_gradients is not None
            if self.gradient_count == previous_count:
                self._functions_without_gradients[id(key)] = key
            elif is_replay or self._taken_count % self.every == 0:
                restore_after_results = save_mutable_state(function, *args)
                restore_state()
                try:
                    self._record_example(function, args, kwargs, in_axes, results, out_axes)
                finally:
                    restore_after_results()
            return results

        return map_and_record_an_example

    def _record_example(
        self, function: Any, args: tuple, kwargs: dict, in_axes: Any, results: Any, out_axes: Any
    ) -> None:
        """Record the gradients of one example of a mapped function, the first one whose result is not finite.

        Args:
            function: The function that ``jax.vmap`` maps.
            args: The positional arguments of all examples.
            kwargs: The keyword arguments of all examples.
            in_axes: The axes of the examples in the positional arguments.
            results: The results of all examples.
            out_axes: The axes of the examples in the results.
        """
        try:
            index = find_bad_example(results, out_axes)
            example_args = take_example(args, in_axes, index)
            example_kwargs = take_example(kwargs, 0, index)
        except Exception:  # The axes are a tree of another form. What is not recorded is counted.
            return
        self._example_numbers[getattr(unwrap_function(function), "__name__", "")] = index
        if self._remaining_gradients is not None:
            function(*example_args, **example_kwargs)
        else:
            self.record_gradients_uncompiled(function, example_args, example_kwargs, GRADIENT_LIMIT)
            self._taken_count += 1

    def _on_jacobian(
        self,
        original: Any,
        function: Any,
        argnums: Any = 0,
        has_aux: bool = False,
        *more: Any,
        is_second: bool,
        **options: Any,
    ) -> Any:
        original_jacobian = original(function, argnums, has_aux, *more, **options)

        @wraps(original_jacobian)
        def record_and_compute_jacobian(*args: Any, **kwargs: Any) -> Any:
            self.gradient_count += 1
            is_due = self._remaining_gradients is not None or self._taken_count % self.every == 0
            if not (is_due and self.can_record((args, kwargs)) and not isinstance(argnums, (tuple, list))):
                return original_jacobian(*args, **kwargs)
            jacobian = original_jacobian(*args, **kwargs)

            @wraps(function)
            def compute_one_result(*args: Any) -> Any:
                results = function(*args, **kwargs)
                return flatten_results(results[0] if has_aux else results)[index]

            differentiated = compute_one_result
            if is_second:
                inner_gradient = self._compute_plain_gradient(function, argnums, has_aux)

                @wraps(function)
                def compute_one_slope(*args: Any) -> Any:
                    return flatten_results(inner_gradient(*args, **kwargs))[index]

                differentiated = compute_one_slope
            try:
                index = find_bad_row(jacobian[0] if has_aux else jacobian, args[argnums], is_second)
                self._record_gradient(differentiated, args, argnums, has_aux=False)
            finally:
                if self._remaining_gradients is None:
                    self._taken_count += 1
                else:
                    self._remaining_gradients -= 1
            return jacobian

        return record_and_compute_jacobian

    def _compute_plain_gradient(self, function: Any, argnums: Any, has_aux: bool) -> Any:
        """Return a function that computes the gradient of a function; ``jax.grad`` passes on tracers unrecorded."""
        gradient = jax.grad(function, argnums, has_aux)
        return (lambda *args, **kwargs: gradient(*args, **kwargs)[0]) if has_aux else gradient

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


def flatten_results(results: Any) -> Any:
    """Return all elements of a tree of arrays as one vector.

    Args:
        results: The tree.

    >>> flatten_results({"a": jax.numpy.ones(2), "b": 3.0}).shape
    (3,)
    """
    return jax.numpy.concatenate([jax.numpy.ravel(leaf) for leaf in jax.tree_util.tree_leaves(results)])


def find_bad_row(jacobian: Any, source: Any, is_second: bool) -> int:
    """Return the first row of a Jacobian that has a NaN or infinite element; 0 if all are finite.

    Args:
        jacobian: The Jacobian or the Hessian, a tree of arrays.
        source: The argument that it is taken by.
        is_second: Whether it is a Hessian.
    """
    sources = jax.tree_util.tree_leaves(source)
    blocks = jax.tree_util.tree_leaves(jacobian)
    row = 0
    for number in range(0, len(blocks), len(sources)):
        shared = [
            np.asarray(block).reshape(-1, max(1, np.size(leaf)))
            for block, leaf in zip(blocks[number : number + len(sources)], sources, strict=False)
        ]
        bad_rows = np.flatnonzero(~np.all([np.isfinite(block).all(1) for block in shared], axis=0))
        if bad_rows.size:
            return row + int(bad_rows[0])
        row += len(shared[0])
    return 0


def find_bad_example(results: Any, out_axes: Any) -> int:
    """Return the first example of the results of ``jax.vmap`` that is not finite; 0 if all are.

    Args:
        results: The results, a tree of arrays.
        out_axes: The axes of the examples in the results, as for ``jax.vmap``.

    >>> find_bad_example(jax.numpy.array([[1.0, 2.0], [3.0, jax.numpy.nan]]), 1)
    1
    """
    bad_examples = []

    def search_leaf(axis: int | None, leaf: Any) -> None:
        if axis is not None and jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact):
            examples = np.moveaxis(np.asarray(leaf), axis, 0)
            bad_examples.extend(np.flatnonzero(~np.isfinite(examples.reshape(len(examples), -1)).all(1))[:1].tolist())

    map_along_axes(search_leaf, out_axes, results)
    return min(bad_examples, default=0)


def take_example(arguments: Any, axes: Any, index: int) -> Any:
    """Return the arguments of one example of ``jax.vmap``.

    Args:
        arguments: The arguments, a tree of arrays.
        axes: The axes of the examples, as for ``jax.vmap``.
        index: The number of the example.

    >>> take_example(({"a": jax.numpy.arange(3)}, 5.0), (0, None), 2)
    ({'a': Array(2, dtype=int32)}, 5.0)
    """

    def take_leaf(axis: int | None, leaf: Any) -> Any:
        return leaf if axis is None else jax.lax.index_in_dim(jax.numpy.asarray(leaf), index, axis, keepdims=False)

    return map_along_axes(take_leaf, axes, arguments)


def map_along_axes(function: Callable[[int | None, Any], Any], axes: Any, tree: Any) -> Any:
    """Call a function with the axis and the array of each leaf of a tree, and return the tree of the results.

    Args:
        function: The function.
        axes: An axis, None, or a tree of them, whose leaves may stand for whole parts of the other tree.
        tree: The tree of arrays.
    """
    axes = tuple(axes) if isinstance(axes, list) and isinstance(tree, tuple) else axes
    return jax.tree_util.tree_map(
        lambda axis, part: jax.tree_util.tree_map(lambda leaf: function(axis, leaf), part),
        axes,
        tree,
        is_leaf=lambda axis: axis is None,
    )


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
