"""The programs on the pages about causes: minitape prints what the pages say, and the fixes work.

Programs that test_explain, test_suspects and test_run_watch run as well are run here with --longest only.
"""

import re

import pytest

from tests.explain.page_programs import (
    explain_fixed_program,
    explain_page_program,
    list_own_program_names,
    load_page_programs,
    names_blamed_line,
    read_outputs,
)

from .frameworks import FRAMEWORKS

PROGRAMS = load_page_programs()
OWN = list_own_program_names()
NUMBER = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+")


def drop_digits(answers: dict[str, str]) -> dict[str, str]:
    """Versions and processors differ in the last digits of numbers, and versions in the words of errors."""
    return {key: NUMBER.sub("0", text) for key, text in answers.items() if key != "error"}


def list_programs(framework, is_own):
    return [
        (name, programs[framework.name])
        for name, programs in PROGRAMS.items()
        if framework.name in programs
        and programs[framework.name].has_output
        and ((framework.name, name) in OWN) == is_own
    ]


def check_programs(framework, is_own):
    outputs = read_outputs()[framework.name]
    for name, program in list_programs(framework, is_own):
        answers = explain_page_program(program)
        assert drop_digits(answers) == drop_digits(outputs[name]), name
        assert names_blamed_line(program, answers["en"]), name
        assert bool(answers["error"]) == bool(outputs[name]["error"]), name
        assert explain_fixed_program(program) == "connected", name


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)
def test_minitape_prints_what_the_pages_say(framework):
    pytest.importorskip(framework.name)
    check_programs(framework, is_own=True)


@pytest.mark.longest
@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)
def test_minitape_prints_what_the_pages_say_of_programs_that_other_tests_run(framework):
    pytest.importorskip(framework.name)
    check_programs(framework, is_own=False)
