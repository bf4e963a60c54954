"""Collect the tests' programs for each framework, by the cause that explain finds."""

import importlib
from pathlib import Path
from typing import NamedTuple

from tests.bridges.cases import list_blamed_line_numbers, parse_programs_by_name, strip_fix_comments

from .cause_sections import list_section_programs
from .programs import load_cases

CASE_FOLDERS = ("cases", "inside", "nonfinite")
PROGRAM_FILES = ("cases", "reports", "numbers", "suspects", "runs")
# Programs with these causes need more than one run or more than one file.
PROGRAMS_ELSEWHERE = {
    # The gradient may be finite even if the loss is not.
    ("torch", "nonfinite_value"): "tests/bridges/test_explained_run.py",
    ("torch", "refused"): "tests/bridges/test_torch_explain.py",  # No recording is needed to explain these errors.
}
# A framework has sentences for these causes, but no program is known to lead to them.
WITHOUT_PROGRAM = {
    ("tape", "zero_seed"): "The sweep of a tape begins with ones; a call of a function inside it may get zeros.",
}


class CauseProgram(NamedTuple):
    """A program in which explain finds a cause.

    Attributes:
        name: The name of the program in its file.
        code: The source without marks.
        blamed_lines: The numbers of the lines to blame.
    """

    name: str
    code: str
    blamed_lines: list[int]


def map_causes_to_programs(framework: str) -> dict[str, list[CauseProgram]]:
    """Map each cause to the programs in which explain finds this cause.

    The framework need not be installed.

    Args:
        framework: The name of a framework, or "tape".
    """
    programs_by_cause: dict[str, list[CauseProgram]] = {}
    for cause, framework_of_page, code, _ in list_section_programs():
        if framework_of_page == framework and code:
            program = CauseProgram(f"page/{cause}", strip_fix_comments(code), list_blamed_line_numbers(code))
            programs_by_cause.setdefault(cause, []).append(program)
    if framework == "tape":
        for folder in CASE_FOLDERS:
            for case in load_cases(Path(__file__).parent / folder):
                lines = [number for number, mark, _, _ in case.marks if mark == "!"]
                code_lines = case.code.splitlines()
                # The loader appends the lines that assign the target and the source.
                code_lines = code_lines[: len(code_lines) - len(case.target_and_source)]
                program = CauseProgram(case.name, "\n".join(code_lines), lines)
                for cause in {causes[0] for causes in case.causes}:
                    programs_by_cause.setdefault(cause, []).append(program)
        return programs_by_cause
    for file in PROGRAM_FILES:
        text = importlib.import_module(f"tests.bridges.{framework}_{file}").CASES
        for name, (cause, code) in parse_programs_by_name(text).items():
            program = CauseProgram(name, strip_fix_comments(code), list_blamed_line_numbers(code))
            programs_by_cause.setdefault(cause, []).append(program)
    return programs_by_cause
