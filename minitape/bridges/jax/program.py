"""Record a JAX program's first gradients for ``minitape explain``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import partial, wraps
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
from jax.tree_util import tree_leaves, tree_map

from ...common.translation import format_error
from ...engine.record.interrupt_safe import InterruptSafeExit, TemporaryAttributes
from ...engine.types import (
    LIST_OR_TUPLE,
    Action,
    CountsByName,
    ExitProperty,
    FactsById,
    NumberPair,
    OptionalNumber,
    TextList,
)
from ...explain.caller import format_place_suffix, warn_at_user_line
from ...explain.explanation import Explanation, OptionalExplanation, explain_cause
from ...explain.reasons.program_text import find_statement, list_statements
from ...explain.translated_sentences import fill
from ...recording.sites import Site, find_user_call_stack, find_user_site
from ..framework_patches import FrameworkPatches
from ..model_page import ModelPage, join_parameter_names
from ..mutable_state import save_state_and_build_restorer
from ..nonfinite_values import explain_nonfinite_target
from ..outside_values import unwrap_function
from ..sampling import require_positive_step_count
from ..traced_draws import TracedDraws
from .ascents import explain_ascent, find_optax_masked_adding_raw_gradients
from .compiled_functions import GRADIENT_LIMIT, CompiledFunction
from .optax_checks import explain_early_decay_of_each_schedule, explain_swapped_moving_average_arguments
from .program_origin import find_site_with_unread_name_or_innermost
from .recording import JaxRecording, jax, record
from .repeated_statistics import RANDOM_FUNCTIONS, RepeatedStatisticsAndKeys
from .static_fields import explain_array_in_static_field
from .transforms import (
    are_alive_and_finite,
    find_first_nonfinite_or_first_row,
    find_nonfinite_or_first_example,
    flatten_tree_into_vector,
    list_float_arrays,
    select_example_of_vmap,
)

LARGE_STEP_SIZE = 0.5  # With a larger step size, a moving average is dominated by its first argument.
WATCHED_UPDATES = 20  # After this many updates, it is clear whether the program keeps an optimizer's state.
UPDATE_LIBRARIES = {"optax", "equinox"}  # The libraries whose apply_updates returns new parameters.


class OptimizerStateFacts(NamedTuple):
    """The state that the last call of an optimizer's ``update`` received.

    Attributes:
        arrays: The arrays of floats in the state.
        call_count: The number of consecutive calls that received this state.
    """

    arrays: list[np.ndarray]
    call_count: int = 0


def _get_leaf_path_and_shape(recording: JaxRecording, name: str) -> tuple[str, Sequence[int]]:
    """Return a leaf's path in its argument, and its shape. Neither depends on the function that receives the leaf."""
    row = recording.find_row(name)
    path = re.sub(r"^\w+", "", name) or name
    return path, () if row is None else recording.rows[row].shape


def _get_code_or_function(function: Any) -> Any:
    """Return a function's code, which stays the same even if the program defines the function again in each step."""
    user_function = unwrap_function(function)
    return getattr(user_function, "__code__", user_function)


class SampledGradients:
    """A block in which ``jax.grad`` and ``jax.value_and_grad`` record their functions and arguments.

    A function compiled by ``jax.jit`` has no concrete values while it is traced. Therefore, the function is also run
    without the compiler, just to record it, as long as there are steps left to record. The program's results are the
    same as they would be without the block.

    Attributes:
        first: The maximum number of recorded gradients.
        every: The number of gradients from one recorded gradient to the next.
        steps: The number of gradients recorded so far.
        gradient_count: The number of computed gradients, including traced ones.
        on_recorded: A function to call after each completed recording, or None.
        watched_count: The number of calls checked after the recorded ones.
        bad_step: The step number of the first later call with a NaN or infinite result, or None.
        stale_values: Explanations of values that compiled functions read during a trace and that the program has
            replaced since.
        traced_draws: The random numbers that NumPy and Python drew while each compiled function was traced.

    >>> with SampledGradients(first=1) as recording:
    ...     step = jax.jit(jax.grad(lambda w: jax.numpy.sum(jax.numpy.floor(w))))
    ...     gradients = [step(jax.numpy.ones(2)) for _ in range(3)]
    >>> recording.steps, [answer.cause for answer in recording.explain().values()]
    (1, ['zero_derivative'])
    """

    def __init__(self, first: int = 1_000_000, every: int = 1):
        """Check the options, and start with an empty collection of recordings."""
        self.first = require_positive_step_count(first, "first", "first=5 records five")
        self.every = require_positive_step_count(every, "every", "every=100 records each hundredth")
        self.steps = self._taken_count = self.gradient_count = 0
        self.on_recorded: Action | None = None
        self._latest_recordings: dict[Any, JaxRecording] = {}  # The keys are the code objects of functions.
        self._patches = FrameworkPatches()
        self._watched_libraries = set[str]()
        self._states: dict[Site, OptimizerStateFacts] = {}  # The keys are lines that drop or update a state.
        self._functions_without_gradients: dict[
            int, Any
        ] = {}  # These objects are kept alive so that no other object gets their ids.
        self.stale_values: list[Explanation] = []
        self.traced_draws: list[TracedDraws] = []
        self._trained_leaves: list = []  # The arrays that the last step returned.
        self._swapped_averages = dict[Site, OptionalExplanation]()
        self._repeated_statistics = RepeatedStatisticsAndKeys()
        self.watched_count = self._watched_updates = 0
        self.bad_step: OptionalNumber = None
        self._latest_calls: FactsById = {}  # The keys are the ids of the functions.
        self._example_numbers: CountsByName = {}  # For each mapped function, the index of the recorded example.
        self._entered = self._is_recording = self._are_gradients_accumulated = False
        # The number of gradients that may still be recorded in a function that runs only to be recorded.
        self._remaining_gradients: OptionalNumber = None

    def __enter__(self) -> SampledGradients:
        """Replace ``jax.grad``, ``jax.value_and_grad`` and ``jax.jit`` until the block ends."""
        self._entered = True
        self._patches.activate_in_this_thread()
        record_jacobian = partial(self._build_recording_jacobian_function, is_second=False)
        self._patches.wrap_functions(
            jax,
            grad=self._build_recording_gradient_function,
            value_and_grad=self._build_recording_gradient_function,
            jit=self._compile_and_wrap_function,
            vmap=self._build_recording_mapped_function,
            jacrev=record_jacobian,
            jacfwd=record_jacobian,
            jacobian=record_jacobian,
            hessian=partial(self._build_recording_jacobian_function, is_second=True),
        )
        handlers = dict.fromkeys(RANDOM_FUNCTIONS, self._repeated_statistics.record_key_and_draw)
        self._patches.wrap_functions(jax.random, **handlers)
        self._watch_imported_libraries()
        return self

    def _watch_imported_libraries(self) -> None:
        """Watch ``apply_updates`` and Flax models, if the program has imported their libraries so far."""
        self._repeated_statistics.watch_models_if_imported(self._patches)
        for library in UPDATE_LIBRARIES - self._watched_libraries:
            module: Any = sys.modules.get(library)
            if hasattr(module, "apply_updates"):
                self._watched_libraries.add(library)
                self._patches.wrap_function(module, "apply_updates", self._apply_and_record_updates)
                if library == "optax":
                    self._watch_optimizers(module.GradientTransformation)
                    self._patches.wrap_function(
                        module.MultiSteps, "update", self._mark_gradients_as_accumulated_and_update
                    )
                    self._patches.wrap_function(module, "incremental_update", self._update_average_and_explain_swap)

    def _watch_optimizers(self, transformation_class: Any) -> None:
        """Watch the ``update`` function of every optimizer. An optimizer is a named tuple with an ``update`` field."""
        update_field = transformation_class.update
        self._patches.add_undo_action(partial(setattr, transformation_class, "update", update_field))
        transformation_class.update = property(
            lambda optimizer: partial(self._update_and_count_repeated_states, update_field.__get__(optimizer))
        )

    def _mark_gradients_as_accumulated_and_update(
        self, original: Any, accumulator: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Call ``optax.MultiSteps.update``, and record that the parameters change only after several gradients.

        The state of the optimizer inside, which rightly stays the same until then, is not compared.
        """
        self._are_gradients_accumulated = True
        return self._update_and_count_repeated_states(partial(original, accumulator), *args, **kwargs)

    def _update_and_count_repeated_states(
        self, original_update: Any, updates: Any, state: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Call an optimizer's ``update``, and count consecutive calls in which the same line passed the same state."""
        if self._watched_updates == WATCHED_UPDATES:
            return original_update(updates, state, *args, **kwargs)
        with TemporaryAttributes(self, _is_recording=True):  # An optimizer may call other optimizers.
            results = original_update(updates, state, *args, **kwargs)
        # If all gradients are zero, a step may leave the state unchanged.
        if self._may_watch_call((updates, state)) and any(map(np.any, tree_leaves(updates))):
            self._watched_updates += 1
            site = find_site_with_unread_name_or_innermost(find_user_call_stack())
            last = self._states.get(site, OptimizerStateFacts([]))
            arrays = [np.asarray(array) for array in list_float_arrays(state)]
            is_repeated = bool(last.arrays) and all(map(np.array_equal, arrays, last.arrays))
            self._states[site] = OptimizerStateFacts(arrays, is_repeated * last.call_count + 1)
        return results

    def _update_average_and_explain_swap(
        self, original: Any, new_tensors: Any, old_tensors: Any, step_size: Any
    ) -> Any:
        """Update a moving average, and store an explanation if the average was passed in place of the parameters."""
        if self._may_watch_call((new_tensors, old_tensors, step_size)) and step_size < LARGE_STEP_SIZE:
            site = find_user_site()
            trees = new_tensors, old_tensors
            self._swapped_averages[site] = explain_swapped_moving_average_arguments(trees, self._trained_leaves, site)
        return original(new_tensors, old_tensors, step_size)

    def _apply_and_record_updates(self, original: Any, params: Any, updates: Any) -> Any:
        new_params = original(params, updates)
        old_leaves = tree_leaves(params)
        new_leaves = tree_leaves(new_params)
        update_leaves = tree_leaves(updates, is_leaf=lambda leaf: leaf is None)
        if self._may_watch_call([old_leaves, new_leaves]) and len(old_leaves) == len(new_leaves) == len(update_leaves):
            call_stack = find_user_call_stack()
            self._trained_leaves = new_leaves
            for recording in self._latest_recordings.values():
                recording.record_updates(old_leaves, new_leaves, update_leaves, call_stack)
        return new_params

    def _exit_block(self, *_: object) -> None:
        self._patches.undo_all()
        self._entered = False

    __exit__: ExitProperty = InterruptSafeExit(_exit_block, lambda block: block._entered)

    def explain(self) -> ModelPage:
        """Explain all sources in the last recording of each function, on one page."""
        page = ModelPage()
        if not self._entered:
            for recording in self._latest_recordings.values():
                recording.final_leaves = self._trained_leaves
        pages = [(recording, recording.explain()) for recording in self._latest_recordings.values()]
        trained_leaves = {
            _get_leaf_path_and_shape(recording, name)
            for recording, explanations in pages
            for name, explanation in explanations.items()
            if explanation.kind == "connected"
        }
        for recording, explanations in pages:
            for name, explanation in explanations.items():
                # While the program runs, a gradient of the other argument may still be to come.
                if explanation.cause == "argnums" and self._entered:
                    continue
                # This gradient does not train the parameter, but another one does. There may be several losses.
                if (
                    explanation.kind in ("cut", "not_tracked")
                    and _get_leaf_path_and_shape(recording, name) in trained_leaves
                ):
                    continue
                key = name
                if name in page:
                    key = f"{unwrap_function(recording.recorded_call.function).__name__}: {name}"
                page[key] = explanation
        return page

    def count_recorded_and_checked_steps(self) -> NumberPair:
        """Return the number of recorded steps, and the number of later steps whose results were checked."""
        return self.steps, self.watched_count

    def iter_run_problems(self) -> Iterator[OptionalExplanation]:
        """Yield an explanation for each problem that no single gradient reveals, or None if the problem is absent."""
        recordings = list(self._latest_recordings.values())
        nonfinite = (
            explain_nonfinite_target(recording, recording.target_row)
            for recording in recordings
            if recording.target_row is not None
        )
        yield next(filter(None, nonfinite), None)
        yield from map(explain_array_in_static_field, recordings)
        yield explain_ascent(recordings)
        for site in filter(None, map(find_optax_masked_adding_raw_gradients, recordings)):
            yield explain_cause("jax", "not_applied", site, "raw")
        yield from self._iter_lost_states(recordings)
        yield from self.stale_values
        yield from self._swapped_averages.values()
        for (site, variant), n in self._repeated_statistics.map_lines_and_variants_to_step_counts().items():
            yield explain_cause("jax", "state_not_kept", site, variant, {"n": n})
        yield from (draws.explain_first_repeated_draw("jax") for draws in self.traced_draws)
        spent = explain_early_decay_of_each_schedule() if self.watched_count else []  # The search takes some time.
        # With several schedules, it is unknown which schedule belongs to which number of updates.
        yield from () if None in spent else spent

    def _iter_lost_states(self, recordings: list[JaxRecording]) -> Iterator[Explanation]:
        """Yield an explanation for each optimizer state that several steps began with, and no step kept."""
        if any(
            update.is_moved and row in recording.unchanged_counts
            for recording in recordings
            for row, update in recording.updates.items()
        ):
            return  # The steps drop all their new values, so a lost state is not a separate problem.
        for site, facts in self._states.items():
            if facts.call_count < 3:
                continue
            enclosing = find_statement(site).enclosing
            creations = (
                statement.site
                for statement in list_statements(site[0])
                if statement.enclosing == enclosing and statement.find_call("init")
            )
            creation = next(creations, None)
            variant = "created" if creation else ""
            yield explain_cause("jax", "state_not_kept", creation or site, variant, {"n": facts.call_count})

    def list_run_remarks(self) -> TextList:
        """Return additional sentences about the run."""
        remarks = [
            fill("Under jax.vmap, only the example with index {n} is recorded for {which}.", which=name, n=index)
            for name, index in self._example_numbers.items()
            if self._latest_recordings
        ]
        for recording in self._latest_recordings.values():
            still = {row: update for row, update in recording.updates.items() if not update.is_moved}
            if still and len(still) < len(recording.updates):
                remarks.append(
                    fill(
                        "The optimizer step{line} did not change {which} ({n} of {all}).",
                        line=format_place_suffix(still[min(still)].site),
                        which=join_parameter_names(recording.map_names_or_placeholders_to_rows(sorted(still))),
                        n=len(still),
                        all=len(recording.updates),
                    )
                )
        return remarks

    def _compile_and_wrap_function(self, original: Any, *function: Any, **options: Any) -> Any:
        if not function:  # The program wrote ``@jax.jit(option=...)``.
            return partial(jax.jit, **options)
        return CompiledFunction(self, function[0], original(*function, **options))

    def may_record_call(self, arguments: Any) -> bool:
        """Return whether a call may be recorded.

        The arguments must be concrete values rather than tracers, the call must be made in the program's thread, and a
        step must be due.
        """
        return self.steps != self.first and self._may_watch_call(arguments)

    def _may_watch_call(self, arguments: Any) -> bool:
        """Return whether a call with these arguments comes from the program itself and computes concrete values."""
        is_traced_flags = (isinstance(leaf, jax.core.Tracer) for leaf in tree_leaves(arguments))
        return self._patches.is_active_in_this_thread and not self._is_recording and not any(is_traced_flags)

    @property
    def _is_step_due(self) -> bool:
        """Whether the gradient of the next call should be recorded, if the call may be recorded at all."""
        return self._remaining_gradients is not None or self._taken_count % self.every == 0

    def _count_program_or_replay_gradient(self) -> None:
        """Count a gradient computed by the program, or by a function that runs only to be recorded."""
        if self._remaining_gradients is None:
            self._taken_count += 1
        else:
            self._remaining_gradients -= 1

    def check_later_call_and_record_if_nonfinite(
        self, function: Any, args: tuple, kwargs: dict, results: Any, record_call: Callable[[tuple, dict], object]
    ) -> None:
        """Check the results of a call that is not recorded, and record the call with the first non-finite results.

        JAX functions have no state, so a call can be repeated with the same arguments.

        Args:
            function: The program's function.
            args: Its positional arguments.
            kwargs: Its keyword arguments.
            results: The results of the call.
            record_call: A function that records a call with the given arguments.
        """
        if self.steps != self.first or self.bad_step is not None or not self._may_watch_call((args, kwargs)):
            return
        self.watched_count += 1
        calls = [(args, kwargs), self._latest_calls.get(id(function), (args, kwargs))]
        self._latest_calls[id(function)] = args, kwargs
        self._trained_leaves = list_float_arrays(results)
        # A non-finite gradient reaches all parameters within a step or two, so only the smallest arrays are checked.
        if are_alive_and_finite(sorted(self._trained_leaves, key=np.size)[:4]):
            return
        self.bad_step = self.steps + self.watched_count
        # Non-finite arguments were computed by the previous call, which is then the one to record.
        call = next((call for call in calls if are_alive_and_finite(list_float_arrays(call))), None)
        if call is None:
            return
        restore_state = save_state_and_build_restorer(function, *call[0])
        self.first += GRADIENT_LIMIT
        try:
            record_call(*call)
        finally:
            self.first = self.steps
            restore_state()

    def record_uncompiled_and_count_gradients(
        self, function: Any, args: tuple, kwargs: dict, gradient_limit: int
    ) -> int:
        """Run a compiled function uncompiled, to record the gradients that it computes.

        Args:
            function: The function.
            args: Its positional arguments.
            kwargs: Its keyword arguments.
            gradient_limit: The number of gradients after which the function stops.

        Returns:
            The number of computed gradients.
        """
        self._remaining_gradients = gradient_limit
        self._repeated_statistics.used = set()
        # The function may change its arguments, so copy all containers in them.
        args, kwargs = tree_map(lambda leaf: leaf, (args, kwargs))
        try:
            with jax.disable_jit(), redirect_stdout(StringIO()):
                function(*args, **kwargs)
        except Exception:  # The limit has been reached, or the program's call will raise this error too.
            pass
        finally:
            computed_count = gradient_limit - self._remaining_gradients
            self._remaining_gradients = None
        return computed_count

    def _build_recording_gradient_function(
        self, original: Any, function: Any, argnums: Any = 0, has_aux: bool = False, **options: Any
    ) -> Any:
        original_gradient = original(function, argnums, has_aux, **options)
        self._watch_imported_libraries()

        @wraps(original_gradient)
        def record_and_compute_gradient(*args: Any, **kwargs: Any) -> Any:
            self.gradient_count += 1
            self._watch_imported_libraries()
            if self.may_record_call((args, kwargs)):
                if self._is_step_due:
                    self._rerun_and_record_gradient_call(
                        partial(function, **kwargs) if kwargs else function, args, argnums, has_aux
                    )
                self._count_program_or_replay_gradient()
                is_replay = self._remaining_gradients is not None
                if is_replay and (not self._remaining_gradients or self.steps == self.first):
                    raise StopIteration
                if not is_replay:
                    self._repeated_statistics.used = set()
                with self._repeated_statistics.watch_step_and_keep_repeated_values(
                    (_get_code_or_function(function), argnums)
                ):
                    return original_gradient(*args, **kwargs)
            gradients = original_gradient(*args, **kwargs)
            self.check_later_call_and_record_if_nonfinite(
                function,
                args,
                kwargs,
                gradients,
                lambda args, kwargs: self._rerun_and_record_gradient_call(
                    partial(function, **kwargs), args, argnums, has_aux
                ),
            )
            return gradients

        return record_and_compute_gradient

    def _build_recording_mapped_function(
        self, original: Any, function: Any, in_axes: Any = 0, out_axes: Any = 0, **options: Any
    ) -> Any:
        mapped = original(function, in_axes, out_axes, **options)
        key = _get_code_or_function(function)

        @wraps(mapped)
        def map_and_record_an_example(*args: Any, **kwargs: Any) -> Any:
            if id(key) in self._functions_without_gradients or not self.may_record_call((args, kwargs)):
                return mapped(*args, **kwargs)
            restore_state = save_state_and_build_restorer(function, *args)
            previous_count = self.gradient_count
            results = mapped(*args, **kwargs)
            if self.gradient_count == previous_count:
                self._functions_without_gradients[id(key)] = key
            elif self._is_step_due:
                restore_after_results = save_state_and_build_restorer(function, *args)
                restore_state()
                try:
                    self._record_nonfinite_or_first_example(function, args, kwargs, in_axes, results, out_axes)
                finally:
                    restore_after_results()
            return results

        return map_and_record_an_example

    def _record_nonfinite_or_first_example(
        self, function: Any, args: tuple, kwargs: dict, in_axes: Any, results: Any, out_axes: Any
    ) -> None:
        """Record the gradients of a mapped function for one example.

        This is the first example with a non-finite result, or the first example if all results are finite.

        Args:
            function: The function that ``jax.vmap`` maps.
            args: The positional arguments of all examples.
            kwargs: The keyword arguments of all examples.
            in_axes: The axes of the examples in the positional arguments.
            results: The results of all examples.
            out_axes: The axes of the examples in the results.
        """
        try:
            index = find_nonfinite_or_first_example(results, out_axes)
            example_args = select_example_of_vmap(args, in_axes, index)
            example_kwargs = select_example_of_vmap(kwargs, 0, index)
        except Exception:  # The axes are in an unsupported form. The gradient is counted as unrecorded.
            return
        self._example_numbers[getattr(unwrap_function(function), "__name__", "")] = index
        if self._remaining_gradients is not None:
            function(*example_args, **example_kwargs)
        else:
            self.record_uncompiled_and_count_gradients(function, example_args, example_kwargs, GRADIENT_LIMIT)
            self._taken_count += 1

    def _build_recording_jacobian_function(
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
            jacobian = original_jacobian(*args, **kwargs)
            if not self._is_step_due or isinstance(argnums, LIST_OR_TUPLE) or not self.may_record_call((args, kwargs)):
                return jacobian
            computed = jax.grad(function, argnums, has_aux) if is_second else function

            @wraps(function)
            def compute_one_result(*args: Any) -> Any:
                results = computed(*args, **kwargs)
                return flatten_tree_into_vector(results[0] if has_aux else results)[index]

            try:
                index = find_first_nonfinite_or_first_row(jacobian[0] if has_aux else jacobian, args[argnums])
                self._rerun_and_record_gradient_call(compute_one_result, args, argnums, has_aux=False)
            finally:
                self._count_program_or_replay_gradient()
            return jacobian

        return record_and_compute_jacobian

    def _rerun_and_record_gradient_call(self, function: Any, args: tuple, argnums: Any, has_aux: bool) -> None:
        self._is_recording, restore_state = True, save_state_and_build_restorer(function, *args)
        try:
            with redirect_stdout(StringIO()):
                recording = record(function, *args, argnums=argnums, has_aux=has_aux)
            key = _get_code_or_function(function), argnums
            if not self._are_gradients_accumulated:
                recording.record_arguments_unchanged_or_moved_uphill(self._latest_recordings.get(key, recording))
            self._latest_recordings[key] = recording
            self.steps += 1
            # If the function has an error, the program's call must raise it first.
            if self.on_recorded is not None and recording.error is None:
                self.on_recorded()
        except Exception as error:
            warn_at_user_line(f"A gradient could not be explained: {format_error(error)}")
        finally:
            self._is_recording = False
            restore_state()
