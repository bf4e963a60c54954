"""Run the programs on the pages about causes.

``docs/cause_texts.md`` has the programs and ``cause_pages/outputs.json`` what minitape prints about them, in each
language. ``tests/repository/make_causes.py`` writes the latter, and the pages.
"""

from __future__ import annotations

import difflib
import importlib
import io
import json
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import minitape
from minitape.common.translation import LANGUAGE_VARIABLES
from minitape.explain.causes import CAUSES
from minitape.explain.explanation import Explanation
from tests.bridges.cases import (
    apply_fixes,
    compile_program,
    list_blamed_line_numbers,
    parse_programs_by_name,
    strip_fix_comments,
)

from .cause_sections import LANGUAGES, list_section_programs

FOLDER = Path(__file__).parent / "cause_pages"
OUTPUTS_FILE = FOLDER / "outputs.json"
PICTURES_FOLDER = Path(__file__).parents[2] / "docs" / "cause_pictures"
FEWEST_PICTURE_ROWS = 3
LARGEST_PICTURE = 8_000  # Characters. A larger picture has too many rows to be read at the width of a page.
PROGRAM_FILE = "program.py"
CASE_FILES = ("cases", "reports", "numbers", "suspects", "runs")
LONGEST_ERROR = 160
PRINT_GRADIENT, PRINT_EXPLANATION = "print(tape.gradient(y, w))\n", "print(tape.explain(y, w))\n"
GRADIENT_RAISES = ("no_gradient_registered",)
HIDDEN_LINE = re.compile(r"^#\* (.*)\n?", re.MULTILINE)
IMPORTS = {  # The imports that a program needs if it contains a name.
    "tape": {"": "import minitape as tf"},
    "tensorflow": {"": "import tensorflow as tf"},
    "torch": {"": "import torch", "F.": "import torch.nn.functional as F", "nn.": "from torch import nn"},
    "jax": {"jax.": "import jax", "jnp.": "import jax.numpy as jnp", "lax.": "from jax import lax"},
}


class PageProgram(NamedTuple):
    """A program on a page about a cause.

    Attributes:
        cause: The cause that minitape finds.
        framework: The framework of the program, or "tape".
        code: The program with its mistake, as the page shows it.
        fixed_code: The program without it.
        hidden_code: Lines that run after the fixed program and that the page does not show.
        is_run: Whether only a watch over the whole run finds the cause.
        blamed_lines: The number of the line to blame in `code`, or no number if the text does not mark a line.
    """

    cause: str
    framework: str
    code: str
    fixed_code: str
    hidden_code: str
    is_run: bool
    blamed_lines: list[int]

    @property
    def has_output(self) -> bool:
        """Whether the page shows what minitape prints. A run under `minitape explain` needs a process of its own."""
        return not self.is_run or self.framework == "torch"

    @property
    def diff(self) -> str:
        """The change that fixes the program, as the lines of a diff."""
        lines = difflib.unified_diff(self.code.splitlines(), self.fixed_code.splitlines(), n=1, lineterm="")
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def load_page_programs() -> dict[str, dict[str, PageProgram]]:
    """Return the programs by cause and framework."""
    programs: dict[str, dict[str, PageProgram]] = {}
    for cause, framework, code, name in list_section_programs():
        text, file = find_case(framework, name, cause) if name else (code, "")
        programs.setdefault(cause, {})[framework] = build_page_program(cause, framework, text, file)
    return programs


def list_own_program_names() -> set[tuple[str, str]]:
    """Return the framework and cause of each program that is in no other file."""
    return {(program.framework, program.cause) for program in list_section_programs() if program.code}


def find_case(framework: str, name: str, cause: str) -> tuple[str, str]:
    """Return the text of a program of tests/bridges, and the kind of file that it is in."""
    for file in CASE_FILES:
        module = importlib.import_module(f"tests.bridges.{framework}_{file}")
        found_cause, text = parse_programs_by_name(module.CASES).get(name, ("", ""))
        if found_cause == cause:
            return text, file
    raise LookupError(f"{framework} has no program {name} with the cause {cause}")


def build_page_program(cause: str, framework: str, text: str, file: str) -> PageProgram:
    """Complete a program with its imports, and separate the program, its fix and its hidden lines."""
    hidden_code = "\n".join(HIDDEN_LINE.findall(text))
    text = HIDDEN_LINE.sub("", text).strip("\n") + "\n"
    if framework == "tensorflow" and not file and "grad = " not in text:
        text += "grad = tape.gradient(y, w)\n"
    if framework == "tape":
        text += PRINT_EXPLANATION if cause in GRADIENT_RAISES else PRINT_GRADIENT + PRINT_EXPLANATION
    imports = [line for word, line in IMPORTS[framework].items() if word in text]
    while text.startswith(("import ", "from ")):
        line, _, text = text.partition("\n")
        imports.append(line)
    text = "\n".join(imports) + "\n\n" + text.lstrip("\n")
    # `apply_fixes` keeps a removed line as an empty one.
    kept_lines = [
        line for line in text.splitlines() if not re.search(r"#-$", line.rstrip()) or line.strip().startswith("#+")
    ]
    fixed_code = apply_fixes("\n".join(kept_lines) + "\n")
    marked_code = re.sub(r"^ *#\+.*\n", "", text, flags=re.MULTILINE)
    code = "\n".join(line.rstrip() for line in strip_fix_comments(marked_code).splitlines()) + "\n"
    is_run = file == "runs" or cause == "grad_off"
    blamed_lines = list_blamed_line_numbers(marked_code)
    return PageProgram(cause, framework, code, fixed_code, hidden_code, is_run, blamed_lines)


@contextmanager
def use_environment_language(language: str) -> Iterator[None]:
    """Let explanations use a language inside the block."""
    previous = os.environ.get(LANGUAGE_VARIABLES[0])
    os.environ[LANGUAGE_VARIABLES[0]] = language
    try:
        yield
    finally:
        if previous is None:
            del os.environ[LANGUAGE_VARIABLES[0]]
        else:
            os.environ[LANGUAGE_VARIABLES[0]] = previous


class ProgramRun:
    """A program that ran, and that can be asked about.

    Attributes:
        namespace: The variables of the program.
        printed: What the program printed.
        error: The exception that the program raised, or None.
    """

    def __init__(self, program: PageProgram, code: str) -> None:
        """Run a program's code and record it."""
        self.program = program
        self.namespace: dict[str, Any] = {"__name__": "program"}
        self.error: Exception | None = None
        self.printed = ""
        self._code = compile_program(code, PROGRAM_FILE)
        self._recording: Any = None  # A tape, a recording of a framework, or a watch over a run.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch and TensorFlow warn of some of these mistakes themselves.
            getattr(self, f"_record_{program.framework}")()

    def draw(self) -> str:
        """Draw the recording as SVG in the language of the environment, or return "" if it has almost no rows."""
        if len(self._recording.snapshot()["rows"]) < FEWEST_PICTURE_ROWS:
            return ""
        # The picture looks for names in the code that draws it.
        picture = eval("draw(recording)", self.namespace | {"draw": minitape.draw, "recording": self._recording})
        return str(picture.svg)

    def explain(self) -> Explanation | None:
        """Explain the gradient in the language of the environment. Return None if the run has no finding."""
        if self.program.is_run:
            from minitape.bridges.run_watch.findings import find_run_findings

            findings = find_run_findings(self._recording.accounts)
            return findings[0].to_explanation("torch") if findings else None
        return eval(self.question, self.namespace | {"recording": self._recording})

    @property
    def question(self) -> str:
        """The expression that asks for the explanation. Its text gives the source its name."""
        framework, space = self.program.framework, self.namespace
        if framework == "tape":
            return "tape.explain(y, w)"
        if CAUSES[self.program.cause].kind == "suspect":
            return "next(iter(recording.explain().problems), None)"
        target = {"torch": "loss", "tensorflow": "y", "jax": "recording.value"}[framework]
        # A program that raised an error may have no target.
        return (
            f"recording.explain({target}, w)"
            if target.partition(".")[0] in {*space, "recording"}
            else "recording.explain(w)"
        )

    def _execute(self) -> None:
        output = io.StringIO()
        try:
            with redirect_stdout(output):
                exec(self._code, self.namespace)
        except Exception as error:
            self.error = error
        self.printed = output.getvalue()

    def _record_tape(self) -> None:
        self._execute()

    def _record_torch(self) -> None:
        import torch

        from minitape.bridges.torch import record

        torch.manual_seed(0)
        if not self.program.is_run:
            with record() as self._recording:
                self._execute()
            return
        from minitape.bridges.torch.ledger.run_watch import TorchRunWatch
        from minitape.bridges.torch.suspects import build_checked_run, record_findings_of_operations

        self._recording = TorchRunWatch()
        with torch.enable_grad(), record() as recording:
            self._recording.start_watching()
            self._execute()
            self._recording.stop_watching()
        record_findings_of_operations(build_checked_run(recording), self._recording.accounts)

    def _record_tensorflow(self) -> None:
        import tensorflow as tf

        from minitape.bridges.tensorflow import record

        tf.keras.utils.set_random_seed(0)
        with record() as self._recording:
            self._execute()

    def _record_jax(self) -> None:
        from minitape.bridges.jax import record

        self._execute()
        self._recording = record(self.namespace["loss"], *self.namespace["args"], **self.namespace.get("options", {}))


def explain_page_program(program: PageProgram) -> dict[str, str]:
    """Run a program and return what is printed about it.

    Returns:
        The cause ("cause"), the answer in each language, and the error that the program raised ("error", "" without).
    """
    run = ProgramRun(program, program.code)
    answers: dict[str, str] = {}
    for language in LANGUAGES:
        with use_environment_language(language):
            if program.framework == "tape":
                run = ProgramRun(program, program.code)
            explanation = run.explain()
            answers["cause"] = explanation.cause if explanation else "none"
            answers[language] = run.printed.rstrip("\n") if program.framework == "tape" else str(explanation)
    answers["error"] = ""
    if run.error is not None:
        first_line = str(run.error).strip().splitlines()[0]
        answers["error"] = f"{type(run.error).__name__}: {first_line}"[:LONGEST_ERROR]
    return answers


def names_blamed_line(program: PageProgram, answer: str) -> bool:
    """Return whether an answer names the line that the program marks, or any line if it marks none.

    Args:
        program: The program.
        answer: The English answer.
    """
    lines = {int(number) for number in re.findall(rf"{PROGRAM_FILE}, line (\d+):", answer)}
    return not program.blamed_lines or not lines.isdisjoint(program.blamed_lines)


def explain_fixed_program(program: PageProgram) -> str:
    """Run a program without its mistake and return the cause that remains, or "connected"."""
    run = ProgramRun(program, program.fixed_code + program.hidden_code)
    if run.error is not None:
        return repr(run.error)
    with use_environment_language("en"):
        explanation = run.explain()
    return "connected" if explanation is None else explanation.cause


def read_outputs() -> dict[str, dict[str, dict[str, str]]]:
    """Return what was printed about the programs, by framework and cause."""
    return json.loads(OUTPUTS_FILE.read_text(encoding="utf-8")) if OUTPUTS_FILE.exists() else {}


def write_outputs(framework: str) -> None:
    """Run all programs of a framework, and store what is printed about them."""
    outputs = read_outputs()
    outputs[framework] = {
        cause: explain_page_program(programs[framework])
        for cause, programs in load_page_programs().items()
        if framework in programs and programs[framework].has_output
    }
    OUTPUTS_FILE.write_text(json.dumps(outputs, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def get_picture_path(cause: str, framework: str, language: str) -> Path:
    """Return the path of the picture of a program's recording. Not every program has a picture."""
    return PICTURES_FOLDER / f"{cause}_{framework}{'' if language == 'en' else f'.{language}'}.svg"


def write_pictures(framework: str) -> None:
    """Draw the recordings of a framework's programs for the pages that have no live picture of a tape."""
    PICTURES_FOLDER.mkdir(exist_ok=True)
    for cause, programs in load_page_programs().items():
        for language in LANGUAGES:
            get_picture_path(cause, framework, language).unlink(missing_ok=True)
        if "tape" in programs or framework not in programs or programs[framework].is_run:
            continue
        run = ProgramRun(programs[framework], programs[framework].code)
        pictures = {}
        for language in LANGUAGES:
            with use_environment_language(language):
                pictures[language] = run.draw()
        if all(0 < len(picture) <= LARGEST_PICTURE for picture in pictures.values()):
            for language, picture in pictures.items():
                get_picture_path(cause, framework, language).write_text(picture + "\n", encoding="utf-8")
