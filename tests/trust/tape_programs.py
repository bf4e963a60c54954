"""Generate random programs in which tapes watch, stop, reset, nest and compute gradients.

`programs()` is a hypothesis strategy. The strategy writes a program as Python text, so a failure can be pasted into a
file. `run_program` runs a text with minitape or with TensorFlow and returns what it observed, and `find_difference`
compares two runs.

    python tests/trust/tape_programs.py --programs 2000 --seed 1

needs TensorFlow 2.21 and hypothesis. The script prints each disagreement as a program that is as short as possible, and
the number of states that the programs reached.
"""

from __future__ import annotations

import argparse
import collections
import logging
import math
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

HEADER = """\
w0 = tf.Variable(1.5, dtype=tf.float64)
w1 = tf.Variable(-0.5, dtype=tf.float64)
u0 = tf.Variable(2.0, dtype=tf.float64, trainable=False)
k0 = tf.Variable(3)
c0 = tf.constant(0.75, tf.float64)
c1 = tf.constant(-1.25, tf.float64)
"""
VARIABLES = {"w0": "trainable", "w1": "trainable", "u0": "not trainable", "k0": "integer"}
LEAVES = VARIABLES | {"c0": "constant", "c1": "constant"}
TAPE_OPTIONS = (
    "",
    "persistent=True",
    "watch_accessed_variables=False",
    "persistent=True, watch_accessed_variables=False",
)
OPERATIONS = (
    "{a} * {b}",
    "{a} + {b}",
    "{a} - {b}",
    "tf.sin({a})",
    "tf.tanh({a}) * {b}",
    "tf.square({a})",
    "{a} * 0.5",
    "tf.identity({a})",
    "tf.stop_gradient({a})",
    "tf.convert_to_tensor({a})",
    "tf.add_n([{a} + 0.0, {b} * 1.0])",
    "tripled({a})",
    "scaled({a})",
    "tf.cond({a} > 0.5, lambda: {a} * {b}, lambda: tf.sin({b}) + 1.0)",
    "tf.where({a} > {b}, {a} * {a}, {b} * 0.25)",
    "tf.zeros_like({a}) + {b}",
    "tf.round({a}) * {b}",
)
READS = ("{v}.read_value()", "{v}.value()", "tf.identity({v})", "{v} * 1.0")
ASSIGNS = ("{v}.assign({a} * 0.5)", "{v}.assign_add(tf.tanh({a}))", "{v}.assign_sub({a} * 0.25)")
ERROR_MARK = -777.0
"""The result of a question that raised an error."""
MAX_NESTING = 3
FORWARD = True


@dataclass
class TapeModel:
    """The state of a tape at one point of the program that is being written.

    Attributes:
        status: "recording", "paused" or "left".
        persistent: Whether the tape can compute several gradients.
        events: The events of each leaf under the tape, such as "watched", "used" and "assigned", in order.
        questions: The number of gradients requested so far.
        is_reset: Whether the tape has been reset.
    """

    status: str = "recording"
    persistent: bool = False
    automatic: bool = True
    events: dict[str, list[str]] = field(default_factory=dict)
    questions: int = 0
    is_reset: bool = False
    recording: object = None


@dataclass(frozen=True)
class Program:
    """A program, and the states in which its tapes perform actions."""

    text: str
    states: frozenset[tuple[object, ...]]


class ProgramWriter:
    """Writes one program from the choices that hypothesis draws."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw = draw
        self.counts: collections.Counter[str] = collections.Counter()
        self.states: set[tuple[object, ...]] = set()
        self.functions: list[str] = []
        self.open_tapes: list[TapeModel] = []
        self.lines = HEADER.splitlines()
        self.kinds = dict(LEAVES)
        self.indent = ""
        self.tapes: dict[str, TapeModel] = {}
        self.in_function = False
        self.accumulator_count = 0

    # ---------------------------------------------------------------- choices
    def choose(self, options: Any) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def choose_number(self, largest: int) -> int:
        return self.draw(st.integers(0, largest))

    def new_name(self, letter: str) -> str:
        self.counts[letter] += 1
        return f"{letter}{self.counts[letter] - 1}"

    def choose_value(self) -> str:
        """Choose a float value, preferring the newest."""
        names = [name for name, kind in self.kinds.items() if kind != "integer"]
        return self.choose(names[-3:] + names)

    # ---------------------------------------------------------------- writing
    def write(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def note(self, event: str, *names: str) -> None:
        """Note an event that concerns some leaves, with the state of each tape."""
        for name in names:
            kind = self.kinds.get(name, "")
            for tape in self.open_tapes:
                earlier = tape.events.setdefault(name, [])
                self.states.add((event, kind, tape.status, tape.automatic, *earlier[-2:], self.in_function))
                if earlier[-1:] != [event]:
                    earlier.append(event)

    def write_program(self) -> Program:
        for _ in range(1 + self.choose_number(9)):
            self.write_statement(0)
        for name in list(self.tapes):
            self.write_question(name, ["w0", "w1", "u0", "c0", "c1"])
        for variable in VARIABLES:
            self.write(f"seen.append({variable}.value())")
        return Program("\n".join(self.lines) + "\n", frozenset(self.states))

    def write_statement(self, nesting: int) -> None:
        kinds = [self.write_operation, self.write_operation, self.write_assignment, self.write_read]
        if nesting < MAX_NESTING:
            kinds += [self.write_tape, self.write_tape]
        if self.tapes:
            kinds += [self.write_watch, self.write_watch, self.write_tape_question, self.write_tape_question]
            kinds += [self.write_reset, self.write_watched_variables]
            if nesting < MAX_NESTING:
                kinds += [self.write_pause, self.write_again]
        if not self.in_function and nesting < MAX_NESTING:
            kinds += [self.write_function]
        if self.functions:
            kinds += [self.write_call]
        if nesting < MAX_NESTING and FORWARD:
            kinds += [self.write_accumulator]
        writer = self.choose(kinds)
        if writer in (self.write_tape, self.write_pause, self.write_again, self.write_function, self.write_accumulator):
            writer(nesting)
        else:
            writer()

    def write_block(self, nesting: int) -> None:
        indent, self.indent = self.indent, self.indent + "    "
        for _ in range(1 + self.choose_number(4)):
            self.write_statement(nesting + 1)
        self.indent = indent

    def write_operation(self) -> None:
        a, b, form = self.choose_value(), self.choose_value(), self.choose(OPERATIONS)
        name = self.new_name("y")
        self.write(f"{name} = {form.format(a=a, b=b)}")
        self.note("used", *{a, b})
        self.kinds[name] = "result"

    def write_read(self) -> None:
        variable, form = self.choose(["w0", "w1", "u0"]), self.choose(READS)
        name = self.new_name("y")
        self.write(f"{name} = {form.format(v=variable)}")
        self.note("used", variable)
        self.kinds[name] = "read"

    def write_assignment(self) -> None:
        variable, a, form = self.choose(["w0", "w1", "u0"]), self.choose_value(), self.choose(ASSIGNS)
        self.write(form.format(v=variable, a=a))
        self.note("used", a)
        self.note("assigned", variable)

    def write_tape(self, nesting: int) -> None:
        options, name = self.choose(TAPE_OPTIONS), self.new_name("t")
        tape = TapeModel(persistent="persistent" in options, automatic="watch" not in options)
        self.states.add(("tape", options, len(self.open_tapes), self.in_function))
        self.write(f"with tf.GradientTape({options}) as {name}:")
        self.tapes[name] = tape
        self.write_tape_block(tape, nesting)

    def write_tape_block(self, tape: TapeModel, nesting: int) -> None:
        tape.status = "recording"
        tape.recording = tape.recording or self.find_open_recording() or object()
        self.open_tapes.append(tape)
        self.write_block(nesting)
        self.open_tapes.pop()
        tape.status = "left"

    def find_open_recording(self) -> object:
        """Return the recording of the open tapes, or None. A tape records until its only gradient is computed."""
        recordings = [tape.recording for tape in self.open_tapes if tape.persistent or not tape.questions]
        return recordings[0] if recordings else None

    def write_again(self, nesting: int) -> None:
        """Write a block that enters a tape again. The tape then continues its recording."""
        name = self.choose(self.tapes)
        tape = self.tapes[name]
        self.states.add(("again", tape.status, tape.persistent, tape.questions > 0, tape.is_reset))
        # minitape raises an error if a tape is entered again while another recording is open.
        is_same = self.find_open_recording() in (None, tape.recording)
        if tape.status == "left" and is_same and not self.accumulator_count:
            self.write(f"with {name}:")
            self.write_tape_block(tape, nesting)

    def write_pause(self, nesting: int) -> None:
        name = self.choose(self.tapes)
        tape = self.tapes[name]
        self.states.add(("pause", tape.status, tape.persistent, len(self.open_tapes)))
        if tape.status == "recording":
            self.write(f"with {name}.stop_recording():")
            tape.status = "paused"
            self.write_block(nesting)
            tape.status = "recording"

    def write_reset(self) -> None:
        name = self.choose(self.tapes)
        tape = self.tapes[name]
        self.states.add(("reset", tape.status, tape.persistent, tape.questions > 0))
        if tape.status == "recording":
            self.write(f"{name}.reset()")
            tape.events.clear()
            tape.is_reset = True

    def write_watch(self) -> None:
        name, watched = self.choose(self.tapes), self.choose_value()
        tape = self.tapes[name]
        earlier = tape.events.setdefault(watched, [])
        self.states.add(("watch", self.kinds[watched], tape.status, *earlier[-2:], self.in_function))
        self.write(f"{name}.watch({watched})")
        if tape.status == "recording":
            earlier.append("watched")

    def write_watched_variables(self) -> None:
        name = self.choose(self.tapes)
        if not self.in_function and not self.functions:
            self.write(f"seen.append([names[id(variable)] for variable in {name}.watched_variables()])")

    def write_tape_question(self) -> None:
        name = self.choose(self.tapes)
        names = [name for name, kind in self.kinds.items() if kind != "result"]
        sources = [self.choose(names[-3:] + names) for _ in range(1 + self.choose_number(2))]
        self.write_question(name, list(dict.fromkeys(sources)))

    def write_question(self, tape_name: str, sources: list[str]) -> None:
        tape, asked = self.tapes[tape_name], self.choose_value()
        options = self.choose(("", "", "", ", unconnected_gradients='zero'", ", output_gradients=c1 * 1.0"))
        several = self.choose((False, False, True))
        target_text = f"[{asked}, {self.choose_value()}]" if several else asked
        if "k0" in sources:
            options = ""  # For integers, the zeros would be integers, which the other operations do not accept.
        if several and "output" in options:
            options = ", output_gradients=[c1 * 1.0, c0 * 1.0]"
        for source in sources:
            events = tape.events.get(source, [])
            state = (tape.status, tape.persistent, tape.questions > 0, tape.is_reset, len(self.open_tapes))
            self.states.add(("ask", *state, self.kinds[asked], self.kinds[source], *events[-3:], self.in_function))
        names = [self.new_name("g") for _ in sources]
        question = f"{tape_name}.gradient({target_text}, [{', '.join(sources)}]{options})"
        self.write(f"{', '.join(names)}{',' * (len(names) == 1)} = ask(lambda: {question}, {len(names)}, seen)")
        tape.questions += 1
        self.kinds |= dict.fromkeys(names, "gradient")

    def write_accumulator(self, nesting: int) -> None:
        """Write a block of forward mode that computes a derivative at its end."""
        primal, name = self.choose_value(), self.new_name("a")
        self.write(f"with tf.autodiff.ForwardAccumulator({primal}, tf.ones_like({primal})) as {name}:")
        self.note("used", primal)
        self.accumulator_count += 1
        self.write_block(nesting)
        self.accumulator_count -= 1
        asked, tangent = self.choose_value(), self.new_name("g")
        self.states.add(("jvp", self.kinds[primal], self.kinds[asked], len(self.open_tapes), self.in_function))
        self.write(f"    {tangent}, = ask(lambda: [{name}.jvp({asked})], 1, seen)")
        self.kinds[tangent] = "gradient"

    def write_function(self, nesting: int) -> None:
        """Write a function of two numbers, and a call."""
        name = self.new_name("f")
        outer = self.kinds, self.tapes, self.open_tapes
        self.kinds, self.tapes, self.open_tapes, self.in_function = dict(self.kinds), {}, [], True
        self.kinds |= {"p": "argument", "q": "argument"}
        self.write("@tf.function(autograph=False)")
        self.write(f"def {name}(p, q):")
        self.write("    seen = []")
        self.write_block(nesting)
        self.write(f"    return {self.choose_value()} * 1.0, seen")
        (self.kinds, self.tapes, self.open_tapes), self.in_function = outer, False
        self.functions.append(name)
        self.write_call()

    def write_call(self) -> None:
        function, a, b = self.choose(self.functions), self.choose_value(), self.choose_value()
        if self.accumulator_count and VARIABLES.keys() & {a, b}:
            return  # TensorFlow's forward mode raises an error for a variable as an argument.
        if self.in_function and function == self.functions[-1]:
            return  # The function may be the one that is being written.
        name = self.new_name("y")
        self.write(f"{name}, found = {function}({a}, {b})")
        self.write("seen.extend(found)")
        self.note("used", *{a, b})
        self.states.add(("call", self.kinds[a], self.kinds[b], len(self.open_tapes), self.in_function))
        self.kinds[name] = "function's result"


@st.composite
def programs(draw: Callable[..., Any]) -> Program:
    """Return programs as a hypothesis strategy."""
    return ProgramWriter(draw).write_program()


# ---------------------------------------------------------------- running and comparing
class Seen(list):
    """The observed values of a program. Each is described immediately, because an assignment may change it."""

    def append(self, value: object) -> None:
        super().append(describe(value))

    def extend(self, values: Any) -> None:
        for value in values:
            self.append(value)


def describe(value: Any) -> object:
    """Describe an observed value, as a number with its dtype, None, or a text."""
    if value is None or isinstance(value, (str, list)):
        return value
    return value.dtype.name, float(value)


def run_program(text: str, tf: Any) -> Seen:
    """Run a program, and return its observations. If an error ends the program, its class name comes last."""
    seen = Seen()

    def ask(question: Callable[[], Any], count: int, into: list) -> list:
        try:
            answers = question()
        except Exception as error:
            into.append(type(error).__name__ if into is seen else tf.constant(ERROR_MARK, tf.float64))
            answers = [None] * count
        else:
            into.extend(answers)
        return [tf.constant(0.25, tf.float64) if answer is None else answer for answer in answers]

    @tf.custom_gradient
    def tripled(x: Any) -> Any:
        return x * 1.0, lambda upstream: upstream * 3.0

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        x = tf.convert_to_tensor(x)
        return tf.sin(x), lambda upstream: upstream * tf.cos(x) * 2.0

    space: dict[str, Any] = {"tf": tf, "seen": seen, "ask": ask, "tripled": tripled, "scaled": scaled}
    header, body = text[: len(HEADER)], text[len(HEADER) :]
    exec(header, space)
    space["names"] = {id(space[name]): name for name in VARIABLES}
    try:
        exec(compile(body, "<a tape program>", "exec"), space)
    except Exception as error:
        seen.append(type(error).__name__)
    return seen


@dataclass(frozen=True)
class KnownDifference:
    """An intended disagreement.

    Attributes:
        reason: The reason why minitape behaves differently.
        pattern: A regular expression that such programs contain.
        is_meant: Returns whether an observation in minitape and one in TensorFlow differ in this way.
    """

    reason: str
    pattern: str
    is_meant: Callable[[Any, Any], bool]


def are_names(ours: Any, theirs: Any) -> bool:
    """Return whether both are lists of watched variables."""
    return isinstance(ours, list) and isinstance(theirs, list)


def are_numbers(ours: Any, theirs: Any) -> bool:
    """Return whether both are numbers."""
    return isinstance(ours, tuple) and isinstance(theirs, tuple)


def is_error_of_tensorflow(ours: Any, theirs: Any) -> bool:
    """Return whether only TensorFlow raised an error."""
    return not isinstance(ours, str) and isinstance(theirs, str)


def is_one_for_none(ours: Any, theirs: Any) -> bool:
    """Return whether a source is also the target, and only TensorFlow returned None."""
    return theirs is None and isinstance(ours, tuple) and ours[1] == 1.0


def is_zero_for_none(ours: Any, theirs: Any) -> bool:
    """Return whether minitape returned None, but TensorFlow returned zero."""
    return ours is None and isinstance(theirs, tuple) and theirs[1] == 0.0


KNOWN_DIFFERENCES = (
    KnownDifference(
        "A tape lists a variable that only stop_gradient read, because explain names the line of that read.",
        r"tf\.stop_gradient\([wu]",
        are_names,
    ),
    KnownDifference(
        "A tape that was left lists no variable that it is told to watch then, because it records nothing of it.",
        r"\.watch\([wu]",
        are_names,
    ),
    KnownDifference(
        "A captured tensor that is converted to a tensor stays itself in a function, as it does outside of one.",
        r"(?s)def f\d.*convert_to_tensor\([cyg]",
        is_one_for_none,
    ),
    KnownDifference(
        "A function uses the variable that it names. TensorFlow uses the argument of each call, if the first call "
        "passed the same variable as an argument.",
        r"(?s)def f(\d).*?\b([wu]\d)\b.*?return.*?f\1\([^)]*\b\2\b",
        are_numbers,
    ),
    KnownDifference(
        "In forward mode, a value that does not depend on the input has the tangent None, also if a function or an "
        "inner accumulator computed it.",
        r"ForwardAccumulator",
        is_zero_for_none,
    ),
    KnownDifference(
        "TensorFlow raises errors of its own for accumulators inside each other and for functions inside accumulators.",
        r"ForwardAccumulator",
        is_error_of_tensorflow,
    ),
    KnownDifference(
        "Forward mode uses the rules of reverse mode, so a custom gradient counts, which TensorFlow ignores there.",
        r"(?s)(tripled|scaled)\(.*ForwardAccumulator|ForwardAccumulator.*(tripled|scaled)\(",
        are_numbers,
    ),
)


def find_difference(text: str, ours: list, theirs: list, known: collections.Counter[str]) -> int | None:
    """Return the first place at which two runs of a program made different observations, or None.

    Intended differences are counted in `known`, by their reason.
    """
    for place, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if is_equal(one, other):
            continue
        meant = (item for item in KNOWN_DIFFERENCES if item.is_meant(one, other) and re.search(item.pattern, text))
        if (difference := next(meant, None)) is None:
            return place
        known[difference.reason] += 1
        if isinstance(other, str):
            return None  # After an error that only TensorFlow raised, the two runs are not comparable.
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def is_equal(ours: Any, theirs: Any) -> bool:
    """Return whether two observations are equal. The last digits depend on the order of sums."""
    if not (isinstance(ours, tuple) and isinstance(theirs, tuple)):
        return ours == theirs
    (dtype, number), (other_dtype, other_number) = ours, theirs
    if dtype != other_dtype:
        return False
    if not (math.isfinite(number) and math.isfinite(other_number)):
        return not math.isfinite(number) and not math.isfinite(other_number)
    return math.isclose(number, other_number, rel_tol=1e-6, abs_tol=1e-7)


@dataclass
class Comparison:
    """The results of many programs in both libraries.

    Attributes:
        count: The number of programs.
        states: The number of programs that reached each state of the tape.
        known: The number of intended differences, by reason.
        disagreement: The shortest program found with a disagreement, with the two observations, or "" if there was
            none.
    """

    count: int = 0
    states: collections.Counter[tuple[object, ...]] = field(default_factory=collections.Counter)
    known: collections.Counter[str] = field(default_factory=collections.Counter)
    disagreement: str = ""


def compare_programs(count: int, seed_number: int) -> Comparison:
    """Run random programs in minitape and in TensorFlow, up to the first disagreement, which is then shortened.

    Args:
        count: The number of programs to run if none disagrees.
        seed_number: The seed of the random programs.
    """
    import tensorflow

    import minitape

    comparison = Comparison()

    @seed(seed_number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
    )
    @given(programs())
    def check(program: Program) -> None:
        comparison.count += 1
        comparison.states.update(program.states)
        ours, theirs = run_program(program.text, minitape), run_program(program.text, tensorflow)
        place = find_difference(program.text, ours, theirs, comparison.known)
        if place is not None:
            observed = f"minitape {ours[place : place + 1]}, TensorFlow {theirs[place : place + 1]}"
            raise AssertionError(f"{program.text}\n# observation {place}: {observed}")

    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check()
    except AssertionError as error:
        comparison.disagreement = str(error)
    finally:
        logging.disable(logging.NOTSET)
    return comparison


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    count, disagreements, states, known = 0, 0, set(), collections.Counter()
    for number in range(options.rounds):
        comparison = compare_programs(options.programs, options.seed + number)
        count += comparison.count
        states |= comparison.states.keys()
        known += comparison.known
        if comparison.disagreement:
            disagreements += 1
            print(f"---- seed {options.seed + number}\n{comparison.disagreement}")
        print(
            f"{count} programs, {len(states)} states, {disagreements} disagreements, {known.total()} known", flush=True
        )
    for reason, times in known.most_common():
        print(f"{times}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
