"""What the bridges share besides their decisions about gradients: patches, kept values, outside values, pictures."""

import functools
import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from minitape.bridges import Recording
from minitape.bridges.checkup import FrameworkRecording
from minitape.bridges.framework_patches import FrameworkPatches, RecordingBlock
from minitape.bridges.kept_values import KeptValue, MemoryBudget
from minitape.bridges.known_errors import explain_error_by_message, find_error_site
from minitape.bridges.outside_values import (
    find_first_reading_or_definition_site,
    iter_function_and_callees,
    read_outside_data_with_callees,
    read_outside_values,
    unwrap_function,
)
from minitape.bridges.picture_reader import MAX_THUMBNAILS, RecordingReader, drop_excess_thumbnails
from minitape.bridges.recording import map_layer_paths_to_descriptions
from minitape.bridges.run_watch.accounts import RunAccounts
from minitape.bridges.traced_draws import TracedDraws, read_generator_states
from minitape.recording.sites import NOWHERE, get_site_running_in_frame

# -- patches ---------------------------------------------------------------------------------------


class Base:
    """A class of a framework."""

    @staticmethod
    def scale(value, factor=1):
        """Return the product."""
        return value * factor


class Derived(Base):
    """A class that inherits the function."""


def wrap(owner, addend):
    """Open patches that add a number to what `scale` returns."""
    patches = FrameworkPatches()
    patches.activate_in_this_thread()
    patches.wrap_function(owner, "scale", lambda original, value, factor=1: original(value, factor) + addend)
    return patches


@pytest.mark.parametrize("undone_first", [0, 1])
def test_two_patches_of_one_function_are_undone_in_any_order(undone_first) -> None:
    library = SimpleNamespace(scale=Base.scale)
    both = [wrap(library, 10), wrap(library, 100)]
    assert library.scale(2, factor=3) == 116
    both[undone_first].undo_all()
    assert library.scale(2, 3) == (106, 16)[undone_first]
    both[1 - undone_first].undo_all()
    both[undone_first].undo_all()
    assert library.scale is Base.scale


def test_a_patch_of_an_inherited_function_leaves_the_base_class_alone() -> None:
    patches = wrap(Derived, 10)
    assert (Derived.scale(2), Base.scale(2)) == (12, 2)
    patches.undo_all()
    assert "scale" not in vars(Derived) and Derived.scale(2) == 2


class Owner:
    """A class of a framework with a class method and a method."""

    @classmethod
    def make(cls, size, scale=1):
        """Return the arguments."""
        return cls, size, scale

    def move(self, size, scale=1, *, far=0):
        """Return the arguments."""
        return size, scale, far


def test_a_class_method_stays_one_and_keywords_reach_the_handler_by_position() -> None:
    def handle_make(original, cls, *args, **kwargs):
        return "make", *original(cls, *args, **kwargs)

    def handle_move(original, self, size, scale=5, **kwargs):
        return original(self, size, scale, **kwargs), kwargs

    patches = FrameworkPatches()
    patches.activate_in_this_thread()
    patches.wrap_functions(Owner, make=handle_make, move=handle_move)
    assert Owner.make(2) == Owner().make(size=2) == ("make", Owner, 2, 1) and Owner.make(2, 3) == ("make", Owner, 2, 3)
    assert Owner().move(2) == ((2, 5, 0), {}) and Owner().move(size=2, scale=3) == ((2, 3, 0), {})
    assert Owner().move(2, scale=3, far=4) == ((2, 3, 4), {"far": 4})
    patches.undo_all()
    assert Owner.make(2) == (Owner, 2, 1) and Owner().move(2) == (2, 1, 0)


def test_a_function_without_python_code_is_called_with_its_keywords() -> None:
    library, patches = SimpleNamespace(order=sorted), FrameworkPatches()
    patches.activate_in_this_thread()
    patches.wrap_function(library, "order", lambda original, *args, **kwargs: (original(*args, **kwargs), kwargs))
    assert library.order([2, 1], reverse=True) == ([2, 1], {"reverse": True}) and library.order([2, 1]) == ([1, 2], {})
    patches.undo_all()
    assert library.order is sorted


def test_a_function_that_the_program_replaced_stays_replaced() -> None:
    library = SimpleNamespace(scale=Base.scale)
    patches = wrap(library, 10)
    library.scale = abs
    patches.undo_all()
    assert library.scale is abs


def test_calls_in_another_thread_or_after_the_block_are_not_intercepted() -> None:
    library = SimpleNamespace(scale=Base.scale)
    patches = wrap(library, 10)
    assert patches.is_active_in_this_thread and library.scale(2) == 12
    patches.thread_id += 1
    assert not patches.is_active_in_this_thread and library.scale(2) == 2
    patches.undo_all()
    assert patches.thread_id is None


def test_a_block_is_entered_once() -> None:
    watcher = SimpleNamespace(start_watching=lambda: None, stop_watching=lambda: None)
    block = RecordingBlock(Recording("by hand"), watcher)
    with block as recording, pytest.raises(RuntimeError, match="only one block"):
        block.__enter__()
    assert not recording.is_recording
    with pytest.raises(RuntimeError, match="only one block"):
        block.__enter__()


# -- kept values -----------------------------------------------------------------------------------

LARGE = np.arange(65.0)


@pytest.mark.parametrize("array", [LARGE, LARGE[:64], LARGE.astype(complex), LARGE.astype(bool), np.zeros(80)])
def test_a_value_is_shown_in_the_same_way_after_its_elements_are_released(array) -> None:
    whole, reduced = KeptValue(array), KeptValue(array)
    expected = whole.shown()
    reduced.reduce_to_summary()
    assert reduced.content is None and reduced.to_array() is None
    assert (reduced.is_all_zero, reduced.is_all_finite) == (not array.any(), True)
    assert reduced.shown()["text"] == expected["text"] and reduced.shown().get("stats") == expected.get("stats")


def test_a_value_that_was_shown_keeps_what_was_shown() -> None:
    value = KeptValue(LARGE)
    shown = value.shown()
    value.reduce_to_summary()
    assert value.shown() is shown


def test_the_older_half_of_the_large_arrays_is_released_at_the_limit() -> None:
    budget, values = MemoryBudget(byte_limit=100), [KeptValue(LARGE) for _ in range(6)]
    for value, element_count, byte_count in zip(values, (5000, 4096, 4097, 5000, 5000, 5000), (40, 90, 60, 1, 60, 40),
                                                strict=True):  # fmt: skip
        budget.add_value_and_enforce_limit(value, element_count, byte_count)
        released = [kept.content is None for kept in values]
        if value is values[2]:
            assert not any(released)  # A small array does not count, and the limit itself may be reached.
    assert released == [True, False, True, True, True, False]


# -- outside values --------------------------------------------------------------------------------

RATE, GENERATOR, TABLE = 0.5, np.random.default_rng(0), {"k": 1}


class Model:
    """An object of the program with attributes."""

    def __init__(self, rate):
        """Set the rate."""
        self.rate, self.name = rate, "model"

    def __call__(self, x):
        """Return a product."""
        return self.scale(x)

    def scale(self, x):
        """Return a product."""
        return x * self.rate * RATE


def helper(x):
    return x * RATE


def step(model, other, x):
    def inner():
        return TABLE

    return helper(x) * model.rate * other.rate * len(inner())


def descend(x):
    return x if x < 1 else descend(x - 1) * helper(np.abs(x))


def test_a_function_that_calls_itself_is_followed_once_and_modules_are_no_data() -> None:
    assert list(iter_function_and_callees(descend)) == [descend, helper]
    assert read_outside_data_with_callees(descend, 1.0) == {(helper, "RATE"): 0.5}


def test_the_function_inside_its_wrappers_is_found() -> None:
    @functools.wraps(helper)
    def wrapped(x):
        return helper(x)

    model = Model(1.0)
    assert [unwrap_function(it) for it in (helper, wrapped, functools.partial(wrapped, 1), model.scale, model, 5)] == [
        helper, helper, helper, Model.scale, Model.__call__, 5]  # fmt: skip


def test_a_function_reads_globals_and_closures_but_no_unset_ones() -> None:
    captured = 3

    def reader():
        return captured + RATE + later

    assert read_outside_values(reader) == {"RATE": 0.5, "captured": 3}
    later = 4
    assert read_outside_values(reader) == {"RATE": 0.5, "captured": 3, "later": later}
    assert read_outside_values(step) == {"TABLE": TABLE, "helper": helper}
    assert read_outside_values(abs) == {} == read_outside_values(5)


def test_the_callees_of_a_function_are_followed() -> None:
    assert list(iter_function_and_callees(step)) == [step, helper]
    assert list(iter_function_and_callees(functools.partial(helper, 1))) == [helper]
    assert list(iter_function_and_callees(abs)) == []


def test_attributes_of_the_first_argument_count_as_outside_data() -> None:
    data = read_outside_data_with_callees(step, Model(2.0), Model(3.0), 1.0)
    assert data == {(step, "TABLE"): TABLE, (step, "model.rate"): 2.0, (helper, "RATE"): 0.5}
    data = read_outside_data_with_callees(Model.__call__, Model(2.0), 1.0)
    assert data == {(Model.scale, "self.rate"): 2.0}
    assert read_outside_data_with_callees(abs, 1.0) == {}


def test_the_first_line_that_reads_a_name_is_found() -> None:
    start = step.__code__.co_firstlineno
    lines = [find_first_reading_or_definition_site(step, name)[1] - start for name in ("TABLE", "other.rate", "rate")]
    assert lines == [2, 4, 0]


# -- numbers that a compiled function draws once ----------------------------------------------------


def draw(is_first=None):
    a = np.random.rand()
    b = random.random()
    c = GENERATOR.normal()
    d = np.sqrt(2.0)
    if is_first is None:
        GENERATOR.normal()
    return a + b + c + d


def draw_with_seed():
    np.random.seed(0)
    return np.random.rand()


def draw_in_callee():
    return draw(1)


def test_the_generators_of_the_drawing_lines_are_known_by_their_states() -> None:
    start = draw.__code__.co_firstlineno
    before = read_generator_states(draw_in_callee)
    assert {line - start: name for (_, line), (name, _) in before.items()} == {
        1: "np.random.rand", 2: "random.random", 3: "GENERATOR.normal"}  # fmt: skip
    GENERATOR.normal()
    after = read_generator_states(draw)
    assert [line - start for (_, line), state in after.items() if state != before[_, line]] == [3]
    assert read_generator_states(draw_with_seed) == {} == read_generator_states(helper)


A, B = ("train.py", 1), ("train.py", 2)
CALLS = {
    "drawn in the trace, and never again": ([({A: 1}, True), ({}, False), ({}, False)], ("train.py", 1)),
    "too few calls to know": ([({A: 1}, True), ({}, False)], None),
    "drawn in each call": ([({A: 1}, True), ({A: 2}, False), ({}, False), ({}, False)], None),
    "one of two drawn in each call": ([({A: 1, B: 1}, True), ({A: 2}, False), ({}, False)], ("train.py", 2)),
    "traced again": ([({A: 1}, True), ({}, False), ({B: 1}, True), ({}, False)], None),
    "nothing drawn": ([({}, True), ({}, False), ({}, False)], None),
}


@pytest.mark.parametrize(("calls", "site"), CALLS.values(), ids=CALLS)
def test_a_number_is_reused_if_two_later_calls_do_not_draw_it(calls, site) -> None:
    draws, states = TracedDraws(), {A: ("np.random.rand", "0"), B: ("random.random", "0")}
    for changes, was_traced in calls:
        draws.before = dict(states)
        states |= {place: (states[place][0], str(state)) for place, state in changes.items()}
        draws.update_after_call(states, was_traced)
    answer = draws.explain_first_repeated_draw("jax")
    assert (answer and (answer.cause, answer.filename, answer.line)) == (site and ("stale_value", *site))


# -- errors ----------------------------------------------------------------------------------------


def test_an_error_of_a_library_alone_has_no_line_of_the_program() -> None:
    assert find_error_site(ValueError("never raised")) == (NOWHERE, "")


def test_a_line_that_the_message_names_is_blamed() -> None:
    error = ValueError(
        'in user code:\n\n    File "train.py", line 7, in step  *\n\n    Incompatible shapes: [2] vs. [3]'
    )
    answer = explain_error_by_message("tensorflow", error)
    assert (answer.cause, answer.filename, answer.line) == ("refused", "train.py", 7)


# -- questions to a recording ----------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "options"), [
    ((1, 2, 3), {}), ((1, 2), {"target": 3}), ((1,), {"target": 2, "source": 3}), ((1, 2), {"source": 3}),
])  # fmt: skip
def test_a_question_has_a_target_and_a_source(arguments, options) -> None:
    with pytest.raises(TypeError, match="takes a target and a source"):
        FrameworkRecording.explain(None, *arguments, **options)


def test_a_question_is_about_the_sources_of_its_subject() -> None:
    first, second = object(), object()
    recording = SimpleNamespace(
        collect_sources_meant_to_be_trained=lambda: {"net.w": first, "net.b": second},
        find_row=lambda name: 0 if name == "x" else None,
        find_model_sources=lambda subject: {"m": first} if subject == 5 else None,
    )
    found = [FrameworkRecording._find_named_sources(recording, subject)
             for subject in (None, "b", "x", 5, {"k": first}, iter([second, recording]), first)]  # fmt: skip
    assert found == [{"net.w": first, "net.b": second}, {"net.b": second}, None, {"m": first}, {"k": first},
                     {"net.b": second, "[1]": recording}, None]  # fmt: skip


def test_a_gradient_is_explained_for_each_source_that_a_picture_shows(monkeypatch) -> None:
    recording = Recording("by hand")
    recording.add_leaf(1.0)
    monkeypatch.setattr(recording, "explain_gradient", lambda target, source: (target, source))
    result = {"target": [{"row": 0}], "sources": [{"at": -1}, {"at": 0}]}
    assert len(list(recording.explain_shown_gradient(result, None))) == 1
    assert list(recording.explain_shown_gradient(None, None)) == []
    assert recording.list_results_of_gradient_calls(None, None, None, ()) == []


def test_a_tracked_leaf_is_watched_and_an_operation_knows_its_instruction() -> None:
    recording = Recording("by hand")
    recording.add_leaf(1.0, kind="variable")
    recording.add_leaf(1.0)
    recording.add_leaf(1.0, tracked=False)
    site = get_site_running_in_frame(sys._getframe())
    recording.add_operation("sin", [0], 1.0, site=(site[0], site[1] + 1))
    recording.add_operation("cos", [0], 1.0, site=(site[0], site[1]))
    rows = recording.rows
    assert [row.watched for row in rows[:3]] == ["automatic", "explicit", None]
    assert rows[3].offset not in (None, rows[0].offset) and rows[4].offset == rows[0].offset
    assert (recording.left_out, RunAccounts({}).passes, list(RunAccounts({}).losses)) == (0, 0, [])


def test_the_first_error_of_a_bridge_is_kept_and_told() -> None:
    recording, errors = Recording("by hand"), [ValueError("first"), ValueError("second")]
    with pytest.warns(RuntimeWarning, match="The recording ended early: ValueError: first") as told:
        for error in errors:
            recording.store_first_internal_error_and_warn(error)
    assert recording.internal_error is errors[0] and len(told) == 1


def test_a_layer_is_described_by_its_class_and_its_own_parameters() -> None:
    def build(parameters, children=()):
        return SimpleNamespace(
            parameters=lambda: [SimpleNamespace(numel=lambda count=count: count) for count in parameters],
            children=lambda: children,
        )

    layer, activation = build([1200, 5]), build([])
    modules = [("", build([1205], [layer, activation])), ("0", layer), ("1", activation)]
    described = map_layer_paths_to_descriptions(SimpleNamespace(named_modules=lambda: modules))
    assert described == {"0": "SimpleNamespace, 1,205 parameters", "1": "SimpleNamespace"}
    assert map_layer_paths_to_descriptions(None) == {}


# -- pictures --------------------------------------------------------------------------------------


def test_only_the_first_thumbnails_of_a_page_are_kept() -> None:
    part = {"value": [{"thumb": [[1.0]], "data": {"thumb": 3}}, {"thumb": [[2.0]], "text": "a"}]}
    kept = drop_excess_thumbnails(part, iter([MAX_THUMBNAILS, MAX_THUMBNAILS + 1]))
    assert kept == {"value": [{"thumb": [[1.0]], "data": {"thumb": 3}}, {"text": "a"}]}


@pytest.mark.parametrize(("limit", "expected"), [(3, [0, 1, 2, 3, 4]), (4, [0, 1, 3, 4]), (5, [0, 1, 2, 3, 4])])
def test_a_picture_of_at_most_its_limit_has_all_rows(limit, expected) -> None:
    recording = Recording("by hand")
    row = recording.add_leaf(1.0)
    for _ in range(4):
        row = recording.add_operation("sin", [row], 1.0)
    reader = RecordingReader(recording)
    assert reader.read_first_and_last_rows(limit) == []  # The recording is still open.
    recording.close()
    rows = [row.row for row in reader.read_first_and_last_rows(limit)]
    assert rows == ([0, 4] if limit == 3 else expected)
