"""Implement `minitape explain`, which runs an unchanged training program and reports problems with its gradients."""

import json
import os
import sys
import traceback
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from click import ClickException, echo

from ..bridges.model_page import ModelPage
from ..bridges.program import FrameworkBlock, RunnableProgram, find_imported_frameworks, run_program
from ..bridges.run_watch.report import RunReport
from ..common.atomic_write import write_file
from ..engine.types import CountsByName, JsonObject, Names, OptionalError, OptionalPath, OptionalText, TextList
from .job_page import find_job, print_or_collect_report
from .messages import convert_write_errors, create_usage_error, say

LONGEST_SHOWN_LINE = 200
"""The length of a line with a syntax error above which the line is not printed."""


def find_runnable_module_spec(module_name: str) -> ModuleSpec:
    """Find the module that ``python -m NAME`` would run. For a package, this is its ``__main__`` module.

    Args:
        module_name: The dotted name of a module or package.

    Returns:
        The module's spec.

    Raises:
        click.UsageError: If the module does not exist.
    """
    try:
        spec = find_spec(module_name)
        if spec and spec.submodule_search_locations is not None:
            spec = find_spec(f"{module_name}.__main__")
    except (ImportError, ValueError):
        spec = None
    if not (spec and spec.has_location):
        raise create_usage_error("Python found no module {name} that it can run", name=module_name)
    return spec


def run_and_explain_program(
    program: str,
    arguments: Names,
    is_module: bool,
    framework: OptionalText,
    recording_options: CountsByName,
    answers_file: OptionalPath,
    may_repeat: bool = False,
    may_fail: bool = False,
) -> int:
    """Run a program and report problems with its gradients.

    Args:
        program: The path of a file, or the name of a module.
        arguments: The program's arguments.
        is_module: Whether `program` is a module name.
        framework: "torch", "tensorflow" or "jax". If None, all frameworks that the program imports are recorded.
        recording_options: Keyword arguments for `run_program` that select the steps to record.
        answers_file: A file that also receives the answers as JSON, or None.
        may_repeat: Whether a PyTorch program may run a second time even if it writes files or takes a long time.
        may_fail: Whether findings also lead to exit status 1 in a process of a distributed job.

    Returns:
        The exit status: 1 if there are findings or the program raised an exception, otherwise 0.

    Raises:
        click.UsageError: If the program does not exist, or its framework cannot be determined.
        click.ClickException: If the program is not valid Python, none of its frameworks is installed, or `answers_file`
            cannot be written.
    """
    spec = None
    if is_module:
        sys.path.insert(0, os.getcwd())  # Python does the same when it is run with -m.
        spec = find_runnable_module_spec(program)
    path = Path(str(spec.origin) if spec else program)
    if not path.is_file():
        raise create_usage_error("the file {program} does not exist; to run a module, use -m", program=program)
    try:
        frameworks = [framework] if framework else find_imported_frameworks(path)
    except SyntaxError as error:
        if error.text and len(error.text) > LONGEST_SHOWN_LINE:  # A picture, for example, is a single line.
            error.text = None
        raise ClickException("".join(traceback.format_exception_only(error))) from error
    if not frameworks:
        raise create_usage_error(
            "{program} does not import torch, tensorflow or jax. Name its framework with --framework. If the program "
            "uses minitape itself, add print(tape.explain(y, x)) to the program",
            program=path.name,
        )
    frameworks = _import_installed_bridges(frameworks)
    shown_pages = []

    def show_page(page: ModelPage) -> None:
        shown_pages.append(page)
        echo(f"\n{page}\n", err=True)

    runnable = RunnableProgram(path, arguments, spec)
    blocks = [FrameworkBlock(name, recording_options, show_page) for name in frameworks if name != "torch"]
    if "torch" in frameworks:
        return _explain_torch_program(
            runnable, blocks, shown_pages, recording_options, may_repeat, answers_file, may_fail
        )
    result = run_program(runnable, blocks)
    print_program_error(result.error, path)
    print_pages_of_framework_blocks(result.blocks, shown_pages)
    write_answers(answers_file, program, list_block_answers(result.blocks))
    return 1 if result.error or any(block.has_problems for block in result.blocks) else 0


def _import_installed_bridges(frameworks: TextList) -> TextList:
    """Import the bridges of frameworks and return the frameworks that are installed.

    Args:
        frameworks: The frameworks that a program imports. The list has at least one element.

    Raises:
        click.ClickException: If none of them is installed.
    """
    installed = []
    errors = []
    for framework in frameworks:
        try:
            import_module(f"minitape.bridges.{framework}")
            installed.append(framework)
        except ImportError as error:  # The message includes the command that installs the framework.
            errors.append(error)
    if not installed:
        raise ClickException(str(errors[0])) from errors[0]
    return installed


def print_pages_of_framework_blocks(blocks: list[FrameworkBlock], shown_pages: list[ModelPage]) -> None:
    """Print a page for each framework that the program used to compute gradients.

    Args:
        blocks: The blocks of the frameworks.
        shown_pages: The pages that were printed while the program ran.
    """
    for block in blocks:
        for problem in block.run_problems:
            echo(f"\n{problem}", err=True)
        is_healthy_beside_problems = block.run_problems and not block.page.problems
        if is_healthy_beside_problems or any(block.page is page for page in shown_pages):
            echo("\n".join(["", *block.remarks]), err=True, nl=bool(block.remarks))
            continue
        page_text = str(block.page)
        if block.missed_all_gradients:
            page_text = say(
                "No explanation is possible, because the program computed its gradients in a way that could not be "
                "recorded."
            )
        echo("\n".join([f"\n{page_text}", *block.remarks]), err=True)
        if not block.has_problems and block.has_gradients:
            echo(_summarize_seen_steps(*block.recording.count_recorded_and_checked_steps()), err=True)


def _summarize_seen_steps(recorded_count: int, later_count: int) -> str:
    """Return a sentence about the steps that the report is based on.

    Args:
        recorded_count: The number of recorded steps.
        later_count: The number of later steps whose results were checked.
    """
    if not later_count:
        return say("The report is based on the gradients of {n} steps.", n=recorded_count)
    note = (
        "The report is based on the gradients of {n} steps. The results of {more} other steps are finite. Gradients "
        "that only these steps compute are not in the report. Use --steps N to record N steps."
    )
    return say(note, n=recorded_count, more=later_count)


def list_block_answers(blocks: list[FrameworkBlock]) -> dict[str, list[Any]]:  # The values are JSON.
    """Return the explanations and problems from all blocks, in the format of the answers file.

    Args:
        blocks: The blocks.
    """
    return {
        "answers": [answer for block in blocks for answer in block.page.as_json()],
        "problems": [problem._asdict() for block in blocks for problem in block.run_problems],
    }


def _explain_torch_program(
    runnable: RunnableProgram,
    other_blocks: list[FrameworkBlock],
    shown_pages: list[ModelPage],
    recording_options: CountsByName,
    may_repeat: bool,
    answers_file: OptionalPath,
    may_fail: bool,
) -> int:
    """Watch the whole run of a program that imports PyTorch, report on it, and return the exit status.

    Args:
        runnable: The program.
        other_blocks: The blocks of the other frameworks that it imports. If the program computed gradients only with
            one of them, PyTorch probably just loaded data.
        shown_pages: The pages of these blocks that were printed while the program ran.
        recording_options: Keyword arguments that select the steps to record.
        may_repeat: Whether the program may run a second time in any case.
        answers_file: The file for the answers as JSON, or None.
        may_fail: Whether findings also lead to exit status 1 in a process of a distributed job.
    """
    from ..bridges.torch.program import WatchedProgram

    def show_first_problems(report: RunReport) -> None:
        echo(f"\n{say('The program is still running. Its first steps show:')}\n\n{report}\n", err=True)

    watched = WatchedProgram(runnable, may_repeat, recording_options, other_blocks)
    report = watched.run_program(show_first_problems)
    blocks = [block for block in other_blocks if block.has_gradients]
    print_program_error(report.error, runnable.path)
    answers = report.to_json()
    is_torch_used = not report.missed_all_gradients or not blocks
    job = find_job()
    if is_torch_used:
        if job is None:
            echo(f"\n{report}", err=True)
        else:
            print_or_collect_report(job, report)
    print_pages_of_framework_blocks(blocks, shown_pages)
    if not is_torch_used:
        answers = {"answers": [], "problems": []}
    for name, block_answers in list_block_answers(blocks).items():
        answers[name] += block_answers
    if answers_file and job:
        answers_file = answers_file.with_stem(f"{answers_file.stem}_rank{job.rank}")
    write_answers(answers_file, str(runnable.path), answers)
    if report.error is not None:
        return 1
    has_findings = (is_torch_used and report.has_findings_or_unobserved_part) or any(
        block.has_problems for block in blocks
    )
    # torchrun ends all other processes of the job as soon as one fails, and their pages would be lost.
    return int(has_findings and (may_fail or job is None))


def print_program_error(error: OptionalError, path: Path) -> None:
    """Print the error that ended a program, without minitape's frames.

    Args:
        error: The error, or None if the program ended normally.
        path: The program's file.
    """
    if not isinstance(error, (Exception, KeyboardInterrupt)):
        return
    user_traceback = error.__traceback__
    while user_traceback and user_traceback.tb_frame.f_code.co_filename != str(path):
        user_traceback = user_traceback.tb_next
    error_report = traceback.TracebackException.from_exception(error.with_traceback(user_traceback))
    bridges_folder = str(Path(__file__).parent.parent / "bridges")
    error_report.stack = traceback.StackSummary.from_list(
        [frame for frame in error_report.stack if not frame.filename.startswith(bridges_folder)]
    )
    echo("".join(error_report.format()), err=True, nl=False)


# The answers are JSON, so their type is Any.
def write_answers(answers_file: OptionalPath, program: str, answers: JsonObject) -> None:
    """Write the answers as JSON if a file was specified.

    Args:
        answers_file: The file, or None if no file was specified.
        program: The program that was run.
        answers: The answers, whose values are JSON.

    Raises:
        click.ClickException: If the file cannot be written.
    """
    if answers_file:
        with convert_write_errors(answers_file):
            write_file(answers_file, json.dumps({"program": program, **answers}, indent=1) + "\n")
