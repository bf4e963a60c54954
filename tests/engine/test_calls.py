"""A gradient takes few calls, and docs/engine.md and docs/engine_speed.md name the calls that really happen."""

import contextlib
import gc
import importlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import minitape as tf
from minitape.engine.table import accelerator
from minitape.engine.table.primitives import TABLE

ENGINE = Path(tf.__file__).parent
REPOSITORY = Path(__file__).parents[2]
PAGE = "\n".join(
    (REPOSITORY / "docs" / name).read_text(encoding="utf-8")
    for name in ("engine.md", "engine_gradient.md", "engine_more.md", "engine_calls.md")
)
# The programs of docs/engine_calls.md, each with the calls in its list and the line that it prints.
STORIES = [
    (program, re.findall(r"^\d+\. `([\w.]+)`", section, re.M), re.findall(r"^print.*# (.*)$", program, re.M))
    for section in (REPOSITORY / "docs" / "engine_calls.md").read_text(encoding="utf-8").split("\n## ")[1:]
    for program in re.findall(r"^```python\n(.*?)^```$", section, re.M | re.S)
]
BOTH = PAGE + (REPOSITORY / "docs" / "engine_speed.md").read_text(encoding="utf-8")
ACCELERATED = (ENGINE / "speed").is_dir()

# For each program, the largest numbers of calls and of minitape's files. Without speed/, both are larger.
BUDGET = {
    "one operation": (21, 7) if ACCELERATED else (80, 15),
    "one operation on a variable": (23, 8) if ACCELERATED else (90, 17),
    "a fourth derivative": (172, 17) if ACCELERATED else (1000, 32),
}


class RecordedCalls:
    """The Python functions that are called in a ``with`` block, as (file, qualified name), in order."""

    def __init__(self) -> None:
        self.made: list[tuple[str, str]] = []

    def __enter__(self) -> "RecordedCalls":
        gc.disable()  # Finalizers that it would call belong to other tests.
        self._before = sys.getprofile()
        sys.setprofile(self._note_call)
        return self

    def __exit__(self, *error: Any) -> None:
        sys.setprofile(self._before)
        gc.enable()
        del self.made[-1]  # This removes the call of this method itself.
        self.made = [
            call for call in self.made if call[0] != __file__
        ]  # This removes the functions of the program itself.

    def _note_call(self, frame: Any, event: str, _: Any) -> None:
        if event == "call":
            self.made.append((frame.f_code.co_filename, frame.f_code.co_qualname))

    @property
    def files(self) -> set[str]:
        """minitape's files. Formulas that were compiled from text have no file."""
        return {file for file, _ in self.made if file.startswith(str(ENGINE))}

    def __str__(self) -> str:
        return "\n".join(f"{file.removeprefix(str(ENGINE))} {name}" for file, name in self.made)


X, V = tf.constant(3.0), tf.Variable(3.0)


def one_operation() -> None:
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = X * X
    assert float(tape.gradient(y, X)._value) == 6.0


def one_operation_on_a_variable() -> None:
    with tf.GradientTape() as tape:
        y = V * V
    assert float(tape.gradient(y, V)._value) == 6.0


def a_fourth_derivative(order: int = 4) -> Any:
    if not order:
        return V**5.0
    with tf.GradientTape() as tape:
        y = a_fourth_derivative(order - 1)
    return tape.gradient(y, V)


PROGRAMS = (one_operation, one_operation_on_a_variable, a_fourth_derivative)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_gradient_is_few_calls_through_few_files(program):
    for _ in range(20):  # The first runs load and compile everything.
        program()
    with RecordedCalls() as calls:
        program()
    most, files = BUDGET[program.__name__.replace("_", " ")]
    assert len(calls.made) <= most, f"{len(calls.made)} calls, {most} at most:\n{calls}"
    assert len(calls.files) <= files, f"{len(calls.files)} files, {files} at most:\n" + "\n".join(sorted(calls.files))


def record_calls_of_square() -> RecordedCalls:
    """Return the calls that ``y = x * x`` under an open tape and its gradient make."""
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with RecordedCalls() as calls:
            y = x * x
    with RecordedCalls() as more:
        g = tape.gradient(y, x)
    assert float(g) == 6.0
    calls.made += more.made
    return calls


# -- docs/engine.md and docs/engine_speed.md -------------------------------------------------------

# The page names files, functions (`module.function` or `Class.method`), and lines of a file, in a block of code that
# begins with ```python and the file.
QUOTES = re.findall(r"^```python (\S+)\n(.*?)^```$", BOTH, re.M | re.S)
NAMED_FILES = sorted({file for file, _ in QUOTES if "/" in file} | set(re.findall(r"`([\w/]+/(?:\w+\.py)?)`", BOTH)))
NAMED = sorted({name for name in re.findall(r"`([A-Za-z_]\w*\.\w+)`", BOTH) if not name.endswith((".py", ".md"))})
ASKED = sorted(set(re.findall(r"`@?fast\.(\w+)", BOTH)))  # These are names of the accelerator.
STEPS = re.findall(r"^### \d+\. `(\w+\.\w+)`", PAGE, re.M)


def skip_without_accelerators(file: str) -> None:
    if "speed/" in file and not ACCELERATED:
        pytest.skip("the accelerators' folder is not there")


def import_named_modules() -> list[Any]:
    """Return the modules whose files the page names."""
    found = []
    for file in NAMED_FILES:
        if file.endswith(".py") and (REPOSITORY / file).is_file() and (ACCELERATED or "speed/" not in file):
            name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            found.append(importlib.import_module(name))
    return found


def test_the_page_names_and_quotes_enough_to_be_held_to():
    assert len(NAMED_FILES) >= 10 and len(NAMED) >= 15 and len(QUOTES) >= 10 and len(STEPS) >= 8


@pytest.mark.parametrize("file", NAMED_FILES)
def test_a_file_that_the_page_names_is_there(file):
    skip_without_accelerators(file)
    assert (REPOSITORY / file).exists()


@pytest.mark.parametrize("name", NAMED)
def test_a_function_that_the_page_names_is_there(name):
    owner, attribute = name.split(".")
    if owner[0].isupper():
        owners = [vars(module)[owner] for module in import_named_modules() if owner in vars(module)]
    else:
        owners = [module for module in import_named_modules() if module.__name__.rpartition(".")[2] == owner]
    if not ACCELERATED and f"`{name}`" not in PAGE:
        pytest.skip("the accelerators' folder is not there")
    assert owners, f"no file that the page names has {owner}"
    assert any(hasattr(o, attribute) or attribute in getattr(o, "__slots__", ()) for o in owners), name


@pytest.mark.parametrize("name", ASKED)
def test_the_accelerator_answers_what_the_page_names(name):
    assert len(ASKED) >= 2 and hasattr(accelerator.Accelerator, name)


@pytest.mark.parametrize(("file", "quote"), QUOTES)
def test_a_quoted_line_stands_in_its_file(file, quote, monkeypatch):
    skip_without_accelerators(file)
    text = (REPOSITORY / file).read_text(encoding="utf-8") if "/" in file else build_operator_text(file, monkeypatch)
    lines = [re.sub(r"\s", "", line) for line in text.splitlines()]
    at = 0
    for line in quote.splitlines():
        bare = re.sub(r"\s", "", line)
        if bare in ("", "..."):  # Lines are left out.
            continue
        assert bare in lines[at:], f"{file} has no line {line.strip()!r}, or not after the lines before it"
        at = lines.index(bare, at) + 1


def build_operator_text(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the text from which the fast form of ``x * y`` is generated."""
    operators = pytest.importorskip("minitape.speed.operators", reason="the accelerators' folder is not there")
    texts: list[str] = []
    monkeypatch.setattr(operators, "execute_definitions", lambda text, label, space: texts.append(text) or {name: None})
    operators.build_operation_function(None, TABLE["multiply"], name)
    return texts[0]


class Plain(NamedTuple):
    """The calls and lines of the page's program in the plain engine."""

    calls: list[tuple[str, str]]  # (file, qualified name)
    lines: set[tuple[str, int]]
    stories: list[tuple[list[tuple[str, str]], str]]  # The calls and the output of each program in STORIES.


@pytest.fixture(scope="module")
def plain() -> Plain:
    program = """if True:
        import json, sys
        sys.modules["minitape.speed"] = None
        import test_calls
        print(json.dumps(test_calls.plain_square()))
    """
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    calls, lines, stories = json.loads(done.stdout)
    return Plain([tuple(call) for call in calls], {tuple(line) for line in lines}, stories)


def check_order(steps: list[str], calls: list[tuple[str, str]]) -> None:
    """Check that the calls contain the steps, in this order."""
    made = []
    for file, name in calls:
        owner, _, attribute = name.rpartition(".")
        made.append(f"{owner or Path(file).stem}.{attribute}")
    at = 0
    for step in steps:
        assert step in made[at:], f"{step} does not run, or not after the steps before it:\n" + "\n".join(made)
        at = made.index(step, at) + 1


def test_the_page_follows_the_calls_of_the_plain_engine_in_their_order(plain):
    check_order(STEPS, plain.calls)


def test_each_program_makes_the_calls_of_its_list_in_their_order(plain):
    assert [len(steps) > 15 for _, steps, _ in STORIES] == [True, True, True]
    for (_, steps, printed), (calls, output) in zip(STORIES, plain.stories, strict=True):
        check_order(steps, calls)
        assert output.splitlines() == printed


def trace_lines_of_square() -> set[tuple[str, int]]:
    """Return (file, line) for each line of minitape that runs during the page's program."""
    ran: set[tuple[str, int]] = set()

    def note_line(frame: Any, event: str, _: Any) -> Any:
        ran.add((frame.f_code.co_filename, frame.f_lineno))
        return note_line

    before, x = sys.gettrace(), tf.constant(3.0)
    sys.settrace(note_line)
    try:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.gradient(y, x)
    finally:
        sys.settrace(before)
    return ran


def plain_square() -> tuple[list[tuple[str, str]], list[tuple[str, int]], list[tuple[list[tuple[str, str]], str]]]:
    """Return the calls and the lines of the page's program, and the stories, from a separate process."""
    for _ in range(3):
        record_calls_of_square()
    return record_calls_of_square().made, sorted(trace_lines_of_square()), [run_story(story[0]) for story in STORIES]


def run_story(program: str) -> tuple[list[tuple[str, str]], str]:
    """Return the calls that a program makes, and what it prints."""
    code = compile(program, __file__, "exec")
    with contextlib.redirect_stdout(io.StringIO()) as output, RecordedCalls() as calls:
        exec(code, {})
    return calls.made, output.getvalue()


def test_of_each_quotation_something_runs_in_the_pages_program(plain):
    walk = PAGE.partition("## While the program runs")[2].partition("## Operations that are more")[0]
    quotes = [quote for quote in QUOTES if quote[1] in walk]
    idle = []
    for file, quote in quotes:
        lines = [re.sub(r"\s", "", line) for line in (REPOSITORY / file).read_text(encoding="utf-8").splitlines()]
        bare = {re.sub(r"\s", "", line) for line in quote.splitlines()} - {"", "..."}
        ran = (line in bare and (str(REPOSITORY / file), at) in plain.lines for at, line in enumerate(lines, 1))
        if not any(ran):
            idle.append(quote)
    assert len(quotes) >= 10 and not idle, "\n\n".join(idle)
