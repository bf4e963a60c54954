"""What all bridges decide in the same way: which steps are recorded, where a NaN arose, what affects the outside."""

import linecache
import socket
import subprocess
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import numpy as np
import pytest

from minitape.bridges.framework_adapter import is_any_name_read_later
from minitape.bridges.known_errors import explain_error_by_message, find_error_site
from minitape.bridges.nonfinite_values import explain_nonfinite_target, explain_origin_of_nonfinite_values
from minitape.bridges.run_watch.side_effects import SideEffects
from minitape.bridges.sampling import SampledSteps
from minitape.explain.reasons.program_text import find_statement
from tests.explain.hand_built_runs import build_rows

# -- which steps are recorded ----------------------------------------------------------------------


class Framework:
    """A framework whose `backward` computes gradients."""

    @staticmethod
    def backward(loss=1.0):
        """Return the loss."""
        if loss == "fails":
            raise ValueError(loss)
        return loss

    @staticmethod
    def grad(loss=1.0):
        """Return the loss."""
        return loss


ORIGINAL_BACKWARD = Framework.backward


class Blocks:
    """Blocks that note which steps they recorded."""

    def __init__(self):
        """Start without a recorded step."""
        self.recorded = []

    @contextmanager
    def build(self):
        """Note the steps between the beginning and the end of a block."""
        recording = SimpleNamespace(sweeps=[], number=len(self.recorded))
        self.recorded.append(recording)
        yield recording

    def note(self, name):
        """Note a call in the latest recording."""
        if self.is_open():
            self.recorded[-1].sweeps.append(name)


def run_steps(program, every=None, first=None, **options):
    """Run a program that calls a framework's functions, and return the block and the calls that were recorded."""
    blocks = Blocks()
    step_ends = [(Framework, "backward"), (Framework, "grad")]
    sampled = SampledSteps(every, first, blocks.build, step_ends, **options)
    blocks.is_open = lambda: sampled.is_recording
    with suppress(ValueError), sampled:
        program(blocks.note)
    assert not sampled.is_recording and Framework.backward is ORIGINAL_BACKWARD
    return sampled, [recording.sweeps for recording in blocks.recorded]


def train(note, steps=5, losses=None):
    for step in range(steps):
        note(step)
        Framework.backward(*(losses or {}).get(step, ()))


def train_two(note, steps=4):
    for step in range(steps):
        note(f"d{step}")
        Framework.backward()
        note(f"g{step}")
        Framework.backward()


def train_with_grad(note, steps=3):
    for step in range(steps):
        note(f"p{step}")
        Framework.grad()
        note(step)
        Framework.backward()


STEPS = {
    "every step": (train, {"every": 1}, 5, [[0, 1], [2], [3], [4]]),
    "every second": (train, {"every": 2}, 5, [[0, 1], [2], [4]]),
    # Only the second step shows where the first one ended.
    "the first": (train, {"first": 1}, 5, [[0, 1]]),
    "the first two": (train, {"first": 2}, 5, [[0, 1]]),
    "the first four of two": (lambda note: train(note, 2), {"first": 4}, 2, [[0, 1]]),
    "two places": (train_two, {"every": 2}, 4, [["d0", "g0", "d1", "g1"], ["d2", "g2"]]),
    "a single step": (lambda note: train(note, 1), {"every": 1}, 1, [[0]]),
}


@pytest.mark.parametrize(("program", "options", "steps", "recorded"), STEPS.values(), ids=STEPS)
def test_the_steps_that_are_recorded(program, options, steps, recorded) -> None:
    sampled, found = run_steps(program, **options)
    assert sampled.steps == steps
    assert [sweeps for sweeps in found if sweeps] == recorded


def test_calls_that_only_ask_for_a_gradient_end_no_step_of_a_program_that_calls_backward() -> None:
    sampled, found = run_steps(train_with_grad, every=1)
    assert sampled.steps == 3 and sorted((it for sweeps in found for it in sweeps), key=str) == [
        0,
        1,
        2,
        "p0",
        "p1",
        "p2",
    ]


def test_a_step_that_is_not_recorded_is_checked_for_a_loss_that_is_not_finite() -> None:
    losses = {3: (float("nan"),), 4: (float("inf"),)}
    options = {"first": 1, "measure_step": lambda latest, args, results: results}
    sampled, _ = run_steps(lambda note: train(note, losses=losses), **options)
    assert (sampled.bad_step, sampled.watched_count) == (4, 3)
    assert sampled.count_recorded_and_checked_steps() == (1, 3)
    unknown, _ = run_steps(train, first=1)
    assert (unknown.bad_step, unknown.watched_count) == (None, 0)
    assert run_steps(train, every=2)[0].count_recorded_and_checked_steps() == (3, 0)


def test_a_call_that_fails_is_kept_and_a_call_that_gives_no_gradient_ends_no_step() -> None:
    sampled, _ = run_steps(lambda note: train(note, losses={1: ("fails",)}), every=1)
    assert sampled.failed_call[0] == ("fails",) and isinstance(sampled.failed_call[2], ValueError)
    assert run_steps(train, every=1, gives_gradients=lambda *owner: False)[0].steps == 0
    assert run_steps(train, every=1, is_ready=lambda: False)[0].steps == 0


def test_calls_after_a_recording_are_told_and_end_no_step() -> None:
    blocks, told = Blocks(), []
    sampled = SampledSteps(2, None, blocks.build, [(Framework, "backward"), (Framework, "grad")])
    blocks.is_open = lambda: sampled.is_recording
    sampled.on_recorded = lambda: told.append((sampled.steps, sampled.is_recording, Framework.backward(2.0)))
    with sampled:
        train(blocks.note)
    assert sampled.steps == 5 and told == [(2, False, 2.0), (3, False, 2.0), (5, False, 2.0)]


def test_further_steps_are_recorded_unless_some_are_being_recorded() -> None:
    blocks = Blocks()
    sampled = SampledSteps(None, 1, blocks.build, [(Framework, "backward"), (Framework, "grad")])
    blocks.is_open = lambda: sampled.is_recording
    with sampled:
        sampled.record_next_steps_unless_recording(9)
        assert sampled.first == 1
        for steps, first in ((3, 5), (4, 9)):
            train(blocks.note, steps)
            sampled.record_next_steps_unless_recording(2)
            assert sampled.first == first
    assert sampled.steps == 7 and [it.sweeps for it in blocks.recorded] == [[0, 1], [0, 1], []]


@pytest.mark.parametrize(("fails", "number"), [(False, 1), (True, 2)])
def test_the_latest_recording_is_not_empty_unless_the_program_failed_in_it(fails, number) -> None:
    def program(note):
        train(note, 2)
        if fails:
            raise ValueError

    sampled, found = run_steps(program, every=1)
    assert found == [[0, 1], []] or found == [[0], [1], []]
    assert sampled.latest.number == len(found) - 2 + fails


def test_a_block_has_the_attributes_of_its_latest_recording() -> None:
    sampled = SampledSteps(1, None, None, [])
    with pytest.raises(RuntimeError, match="No step has been recorded yet"):
        sampled.rows  # noqa: B018
    sampled.latest = SimpleNamespace(rows=3, _secret=4)
    assert sampled.rows == 3 and not hasattr(sampled, "_secret") and not hasattr(sampled, "other")
    assert repr(sampled).startswith("SampledSteps(0 steps, namespace(rows=3")


@pytest.mark.parametrize("options", [{"every": 0}, {"every": True}, {"every": 2.0}, {"first": -1}, {"first": "3"},
                                     {"every": 1, "first": 1}, {}])  # fmt: skip
def test_the_number_of_steps_is_a_positive_whole_number(options) -> None:
    with pytest.raises(ValueError, match=r"(every|first)="):
        SampledSteps(options.get("every"), options.get("first"), None, [])


# -- where a value became NaN ----------------------------------------------------------------------

FINITE, NAN = {"value": [1.0, 2.0]}, {"value": [np.nan, 2.0]}
NONFINITE = {
    "none": ([("leaf", [], FINITE), ("Log", [0], FINITE)], None, None),
    "a logarithm": ([("leaf", [], FINITE), ("Log", [0], NAN), ("Sin", [1], NAN)], 2, "log"),
    "a quotient": ([("leaf", [], FINITE), ("RealDiv", [0, 0], NAN)], 2, "division"),
    "another operation": ([("leaf", [], FINITE), ("Sin", [0], NAN)], 2, ""),
    "the data": ([("leaf", [], NAN), ("Sin", [0], NAN)], None, None),
    "an unknown input": ([("leaf", []), ("Sqrt", [0], NAN)], 2, "root"),
    "the first of two": ([("leaf", [], FINITE), ("Sqrt", [0], NAN), ("Log", [0], NAN), ("Add", [1, 2], NAN)], 2,
                         "root"),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "line", "variant"), NONFINITE.values(), ids=NONFINITE)
def test_the_first_operation_with_finite_inputs_and_a_nonfinite_result_is_blamed(descriptions, line, variant) -> None:
    recording = SimpleNamespace(framework="torch", rows=build_rows(*descriptions))
    for answer in (
        explain_origin_of_nonfinite_values(recording),
        explain_nonfinite_target(recording, len(descriptions) - 1),
    ):
        assert (answer and answer.line) == line
        assert answer is None or answer.cause == "nonfinite_value"


def test_a_target_is_explained_by_its_own_ancestors() -> None:
    rows = build_rows(
        ("leaf", [], FINITE), ("Log", [0], NAN), ("Sqrt", [0], NAN), ("Sin", [2], NAN), ("Cos", [0], FINITE)
    )
    recording = SimpleNamespace(framework="torch", rows=rows)
    assert explain_origin_of_nonfinite_values(recording).line == 2
    assert explain_nonfinite_target(recording, 3).line == 3
    assert explain_nonfinite_target(recording, 4) is None


# -- what affects the outside ----------------------------------------------------------------------

EFFECTS = {
    "write": (lambda folder: (folder / "a.txt").write_text("a"), "open("),
    "append": (lambda folder: (folder / "a.txt").open("a").close(), "open("),
    "read": (lambda folder: (folder / "there.txt").read_text(), ""),
    "read and write": (lambda folder: (folder / "there.txt").open("r+").close(), "open("),
    "a cache": (lambda folder: (folder / "__pycache__.bin").write_text("a"), ""),
    "rename": (lambda folder: (folder / "there.txt").rename(folder / "here.txt"), "os.rename("),
    "remove": (lambda folder: (folder / "there.txt").unlink(), "os.remove("),
    "a process": (lambda folder: subprocess.run(["true"], check=False), "subprocess.Popen("),
    "a socket of the network": (lambda folder: connect(("127.0.0.1", 9)), "socket.connect"),
    "a socket of the machine": (lambda folder: connect(f"{folder}/none"), ""),
    "a null device": (lambda folder: open("/dev/null", "w").close(), ""),
}


def connect(address):
    family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
    with socket.socket(family) as sock, suppress(OSError):
        sock.connect(address)


@pytest.mark.parametrize(("act", "expected"), EFFECTS.values(), ids=EFFECTS)
def test_what_a_program_does_outside_of_its_process_is_noticed(act, expected, tmp_path) -> None:
    (tmp_path / "there.txt").write_text("text")
    noticed = []
    effects = SideEffects(noticed.append)
    effects.start_noticing()
    try:
        act(tmp_path)
        first = effects.first
        act_again = [] if not first else [first]
    finally:
        effects.stop_noticing()
    assert noticed[:1] == act_again and bool(first) is bool(expected) and first.startswith(expected)
    (tmp_path / "later.txt").write_text("text")
    assert not any("later" in effect for effect in noticed)


# -- texts and errors ------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "is_read"), [
    ("g = 1\nprint(g)\n", True), ("g = 1\nh = 2\n", False), ("print(g)\ng = 1\n", False),
    ("def f():\n    g = 1\nprint(g)\n", False), ("g = 1\ndef f():\n    print(g)\n", False),
    ("g = 1\ng += 1\n", True),
])  # fmt: skip
def test_a_name_is_read_later_in_the_same_function(text, is_read) -> None:
    file = f"read later {abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    line = next(number for number, it in enumerate(text.splitlines(), 1) if it.strip() == "g = 1")
    assert is_any_name_read_later(find_statement((file, line)), ["g"]) is is_read


MESSAGES = [
    ("jax", "size argument of a NonConcreteBooleanIndexError", "boolean_index"),
    ("torch", "Expected more than 1 value per channel when training, got input size [1, 3]", "refused"),
    ("tensorflow", "Incompatible shapes: [2] vs. [3] [Op:AddV2]", "refused"),
    ("torch", "Incompatible shapes: [2] vs. [3]", None),
    ("jax", "something else", None),
]


@pytest.mark.parametrize(("name", "message", "cause"), MESSAGES)
def test_an_error_is_known_by_its_message_in_its_own_framework(name, message, cause) -> None:
    try:
        raise ValueError(message)
    except ValueError as error:
        answer = explain_error_by_message(name, error)
        blamed = explain_error_by_message(name, error, ("other.py", 3))
        site, library_function = find_error_site(error)
    assert (answer and answer.cause) == cause and "[Op:" not in str(answer and answer.message)
    assert site[0] == __file__ and library_function == ""
    assert answer is None or (
        (answer.filename, answer.line) == site and (blamed.filename, blamed.line) == ("other.py", 3)
    )
