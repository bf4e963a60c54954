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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine.record.interrupt_safe import InterruptSafeExit
from ...engine.record.user_frames import is_minitape_or_library_file
from ...explain.caller import format_bracketed_place, warn_at_user_line
from ...explain.causes import CAUSES
from ...explain.explanation import Explanation
from ...explain.reasons import program_text
from ...explain.translated_sentences import fill
from ...recording.sites import Site, find_user_site
from ..framework_patches import FrameworkPatches
from ..model_page import ModelPage, join_parameter_names
from ..nonfinite_values import explain_nonfinite_target
from ..sampling import check_step_count
from .program_origin import iter_function_and_callees, read_outside_values, unwrap_function
from .recording import JaxRecording, jax, record
from .row_log import is_inexact

if TYPE_CHECKING:
    from ...engine.types import ExitProperty

GRADIENT_LIMIT = 10  # The maximum number of recorded gradients for a compiled function.
UPDATE_LIBRARIES = {"optax", "equinox"}  # The libraries whose apply_updates returns new parameters.


class StaleValue(NamedTuple):
    """A value that a compiled function read from outside when it was traced, and that the program has replaced since.

    Attributes:
        name: The name of the value.
        site: The line that reads it.
        call_number: The first call in which the compiled function returned something else than the Python function.
    """

    name: str
    site: Site
    call_number: int

    def to_explanation(self) -> Explanation:
        """Return the value as an explanation."""
        text = CAUSES["stale_value"].find_text("jax", "")
        fields = {"what": self.name, "line": format_bracketed_place(*self.site), "n": self.call_number}
        return Explanation("stale_value", fill(text.message, **fields), fill(text.fix, **fields), *self.site)


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
        on_recorded: A function to call after each completed recording, or None if none exists.
        uncompiled_results: The results of the last function that ran without the compiler, or None if it raised an
            error.
        stale_values: The values that compiled functions read when they were traced, and that the program has replaced.

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
        self.uncompiled_results: Any = None
        self.stale_values: list[StaleValue] = []
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
        found = [explanation for explanation in explanations if explanation is not None][:1]
        return found + [stale_value.to_explanation() for stale_value in self.stale_values]

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
        self.uncompiled_results = None
        try:
            with jax.disable_jit(), redirect_stdout(StringIO()):
                self.uncompiled_results = function(*args, **kwargs)
        except Exception:  # Either the limit is reached, or the program's own call will raise the same error.
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
        self._outside_values: dict[tuple[Any, str], Any] | None = None  # None if the first call cannot be compared.
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
            gradient_block.uncompiled_results = None
            if self._gradient_limit and self._call_count % gradient_block.every == 0:
                # One more gradient than there are lets the function run to its end.
                self._gradient_limit = gradient_block.record_gradients_uncompiled(
                    self._function, args, kwargs, min(self._gradient_limit + 1, GRADIENT_LIMIT)
                )
            restore_after_trace()
            self._call_count += 1
            uncompiled_results = gradient_block.uncompiled_results
            results = self._jitted(*args, **kwargs)
            if uncompiled_results is not None:
                with suppress(RuntimeError):  # An array that was donated to the compiled function is gone.
                    self._compare_results(uncompiled_results, results)
            return results
        return self._jitted(*args, **kwargs)

    def _compare_results(self, uncompiled_results: Any, results: Any) -> None:
        """Compare what the Python function returned with what the compiled function returned.

        If the first call agrees and a later one does not, the function reads a value that has changed since it was
        traced. What differs in the first call already is rounded in another way.

        Args:
            uncompiled_results: What the Python function returned.
            results: What the compiled function returned.
        """
        is_same = have_same_values(uncompiled_results, results)
        if self._call_count == 1:
            self._outside_values = read_all_outside_values(self._function) if is_same else None
        elif not is_same and self._outside_values is not None:
            values = read_all_outside_values(self._function)
            for (function, name), value in self._outside_values.items():
                if values.get((function, name), value) is not value:
                    site = find_reading_site(function, name)
                    self._gradient_block.stale_values.append(StaleValue(name, site, self._call_count))
            self._outside_values = None

    def __get__(self, owner: Any, owner_class: Any = None) -> Any:
        """Bind the function as a method if it is a class attribute."""
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled function, such as ``lower``."""
        return getattr(self.__dict__["_jitted"], name)


def read_all_outside_values(function: Any) -> dict[tuple[Any, str], Any]:
    """Return the values that a function and its callees read from outside, apart from functions and modules.

    Args:
        function: The function.

    Returns:
        The values, by the function that reads each and its name there.
    """
    return {
        (callee, name): value
        for callee in iter_function_and_callees(function)
        for name, value in read_outside_values(callee).items()
        if not callable(value) and not inspect.ismodule(value)
    }


def find_reading_site(function: Any, name: str) -> Site:
    """Return the first line of a function that reads a name.

    Args:
        function: The function.
        name: The name.
    """
    code = function.__code__
    last_line = max((line for *_, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    for statement in program_text.list_statements(code.co_filename):
        if code.co_firstlineno < statement.site[1] <= last_line and name in statement.read_names:
            return statement.site
    return (code.co_filename, code.co_firstlineno)


def have_same_values(first: Any, second: Any) -> bool:
    """Return whether two trees of arrays agree, apart from rounding.

    Args:
        first: A tree of arrays.
        second: Another tree of arrays.

    >>> ones = jax.numpy.ones(2)
    >>> have_same_values([ones, 2], [ones + 1e-7, 2]), have_same_values([ones], [ones + 0.1])
    (True, False)
    """
    for one, other in zip(jax.tree_util.tree_leaves(first), jax.tree_util.tree_leaves(second), strict=False):
        if not hasattr(one, "dtype") or not is_inexact(one):
            continue
        one_array, other_array = np.asarray(one, np.complex128), np.asarray(other, np.complex128)
        if one_array.shape != other_array.shape or not np.allclose(
            np.nan_to_num(one_array),
            np.nan_to_num(other_array),
            rtol=1e-2,
            atol=1e-3 * np.abs(np.nan_to_num(other_array)).max(initial=0.0),
        ):
            return False
    return True


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
