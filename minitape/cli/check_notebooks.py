"""Implement `minitape check`, which runs notebooks under nbval and collects all problems."""

import json
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from click import ClickException

from ..common.atomic_write import write_file
from ..engine.types import (
    Action,
    OptionalPath,
    OptionalText,
    PathList,
    PathSequence,
    TextList,
    TextsByName,
    TextSequence,
)
from .kernel import prepare_kernel_environment
from .lesson_files import (
    copy_missing_lessons,
    find_lesson_folders_by_language,
    find_lessons_folder,
    list_notebook_files,
)
from .messages import create_usage_error, say
from .nbval_recorder import NOTEBOOK_VARIABLE, RECORD_MARK, VARIANT_VARIABLE
from .notebook_rules import (
    DEPENDS_ON_ANSWERS,
    NOT_REPEATABLE,
    UNSAVED_RULES,
    CellResult,
    CheckFinding,
    Notebook,
    check_cell_run,
    check_saved_notebook,
    has_kernel_died,
    is_exercise,
    is_output_compared,
)
from .save import read_notebook

VARIANTS = ("blank", "solved")
PYTEST_RAN_CODES = (0, 1)
"""The exit codes of pytest after all tests passed, and after some failed."""
PYTEST_OPTIONS = (
    "--noconftest -p no:cacheprovider -p minitape.cli.nbval_recorder -p nbval.plugin "
    "--nbval --nbval-current-env --color=no --tb=short -q"
).split()


@dataclass
class CheckResult:
    """The result of checking one notebook.

    Attributes:
        name: The path of the notebook, as shown to the user.
        findings: The problems that were found.
        runs: The (cell, variant) pairs that were run.
        cell_sources: The code of all cells.
        uncompared_cells: The cells whose outputs were not compared with the saved outputs.
        seconds: The duration of the check, in seconds.
        failure_reason: Why the notebook could not be checked, or None.
    """

    name: str
    findings: list[CheckFinding] = field(default_factory=list)
    runs: set[tuple[int, str]] = field(default_factory=set)
    cell_sources: TextList = field(default_factory=list)
    uncompared_cells: list[int] = field(default_factory=list)
    seconds: float = 0.0
    failure_reason: OptionalText = None

    @property
    def exit_code(self) -> int:
        """The exit status: 0 if there are no findings, 1 if there are any, 2 if the notebook could not be checked."""
        return 2 if self.failure_reason else int(bool(self.findings))

    @property
    def is_unsaved(self) -> bool:
        """Whether the notebook was edited in JupyterLab after `minitape save` saved it."""
        return any(finding.rule in UNSAVED_RULES for finding in self.findings)


def resolve_notebook_paths(named_paths: PathSequence, language: OptionalText = None) -> PathList:
    """List the notebooks that a command's arguments refer to.

    Args:
        named_paths: Notebooks and folders. A folder stands for all its notebooks, and an empty list stands for the
            course's lessons.
        language: The language of the course's lessons. None means English.

    Returns:
        The notebooks in the given order, without duplicates.

    Raises:
        click.UsageError: If a path does not exist or is not a notebook, or a folder contains no notebooks.
    """
    course_folder = find_lessons_folder(language, *named_paths[:1])
    if not named_paths:
        return list_notebook_files(course_folder)
    notebooks = []
    for path in named_paths:
        if path.is_dir():
            folder_notebooks = list_notebook_files(path)
            if not folder_notebooks:
                raise create_usage_error("no notebooks in the folder {path}", path=path)
            notebooks.extend(folder_notebooks)
        elif not path.exists():
            raise create_usage_error("no such notebook: {path}", path=path)
        elif path.suffix != ".ipynb":
            raise create_usage_error("not a notebook: {path} (expected a name that ends in .ipynb)", path=path)
        else:
            notebooks.append(path)
    return list(dict.fromkeys(notebooks))


def _select_useful_variants(notebook: Notebook, variants: TextSequence) -> TextSequence:
    """Select the variants that need to be run.

    Notebooks without code need no runs. Notebooks without exercises need only one, because all variants are the same.
    """
    if not any(cell.cell_type == "code" for cell in notebook.cells):
        return ()
    return variants if any(map(is_exercise, notebook.cells)) else variants[:1]


class ProcessGroup:
    """The processes that run notebooks. After `terminate_all`, no new process can be started."""

    def __init__(self) -> None:
        """Create a group without processes."""
        self._processes: list[subprocess.Popen[str]] = []
        self._is_terminated = False
        self._lock = threading.Lock()

    def start_process(self, command: TextList, working_folder: Path, environment: TextsByName) -> subprocess.Popen[str]:
        """Start a process that writes its stderr to its stdout.

        Args:
            command: The program and its arguments.
            working_folder: The working folder of the process.
            environment: The complete environment of the process.

        Returns:
            The process.

        Raises:
            KeyboardInterrupt: If `terminate_all` has been called.
        """
        with self._lock:
            if self._is_terminated:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                command,
                cwd=working_folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
            self._processes.append(process)
            return process

    def terminate_all(self) -> None:
        """Terminate all processes and prevent new ones from starting."""
        with self._lock:
            self._is_terminated = True
            for process in self._processes:
                process.terminate()


def check_notebooks(
    paths: PathSequence,
    variants: TextSequence = VARIANTS,
    job_count: int = 2,
    cell_timeout: float = 120,
    on_checked: Action = lambda: None,
) -> list[CheckResult]:
    """Check several notebooks in parallel. Ctrl-C terminates all processes.

    Args:
        paths: The notebooks.
        variants: The variants of the exercises to run: "blank", "solved" or both.
        job_count: The number of notebooks to run in parallel.
        cell_timeout: The time limit per cell, in seconds.
        on_checked: A function that is called after each notebook.

    Returns:
        The results in the order of `paths`.
    """
    processes = ProcessGroup()
    with TemporaryDirectory(prefix="minitape-check-") as scratch, ThreadPoolExecutor(job_count) as pool:
        run_paths = _prepare_run_paths(paths, Path(scratch))
        futures = [
            pool.submit(check_notebook, path, variants, cell_timeout, run_path=run_path, processes=processes)
            for path, run_path in zip(paths, run_paths, strict=True)
        ]
        for future in futures:
            future.add_done_callback(lambda _: on_checked())
        try:
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            processes.terminate_all()
            raise


def _prepare_run_paths(paths: PathSequence, scratch_folder: Path) -> PathList:
    """Return the path to run each notebook from.

    The course's own lessons are copied before they run, so the installed package is not changed.
    """
    language_by_folder = {folder.resolve(): code for code, folder in find_lesson_folders_by_language().items()}
    codes = [language_by_folder.get(path.resolve().parent) for path in paths]
    for code in set(filter(None, codes)):
        copy_missing_lessons(scratch_folder / code, with_outputs=True, language=code)
    return [scratch_folder / code / path.name if code else path for code, path in zip(codes, paths, strict=True)]


def check_notebook(
    path: Path,
    variants: TextSequence = VARIANTS,
    cell_timeout: float = 120,
    run_path: OptionalPath = None,
    processes: ProcessGroup | None = None,
) -> CheckResult:
    """Check one notebook as saved, then run each variant and compare the outputs.

    The solved variant is skipped if the notebook has no exercises. No file is changed.

    Args:
        path: The notebook.
        variants: The variants of the exercises to run: "blank", "solved" or both.
        cell_timeout: The time limit per cell, in seconds.
        run_path: The copy to run, or None to run `path` itself.
        processes: The group that the new processes join.

    Returns:
        The result. If the notebook cannot be read, `failure_reason` is set.
    """
    processes = processes or ProcessGroup()
    result = CheckResult(str(path))
    start_time = perf_counter()
    try:
        notebook = read_notebook(path)
    except ClickException as error:
        result.failure_reason = error.message
        return result
    result.cell_sources = [cell.source for cell in notebook.cells]
    result.uncompared_cells = [
        cell_index for cell_index, cell in enumerate(notebook.cells) if not is_output_compared(cell)
    ]
    result.findings.extend(check_saved_notebook(notebook))
    for variant in _select_useful_variants(notebook, variants):
        for _ in range(2):  # Retry once if the kernel died, because a busy machine may have started it too slowly.
            cell_results = list(_run_and_iter_cell_results(run_path or path, variant, cell_timeout, result, processes))
            end_number = next(
                (n for n, cell_result in enumerate(cell_results, 1) if has_kernel_died(cell_result)), None
            )
            if end_number is None:
                break
        for cell_result in cell_results[:end_number]:
            _add_run_findings(cell_result, notebook, variant, result)
    result.seconds = perf_counter() - start_time
    return result


def _add_run_findings(cell_result: CellResult, notebook: Notebook, variant: str, check_result: CheckResult) -> None:
    """Add the findings of one cell to `check_result`, except those that another variant has already produced."""
    check_result.runs.add((cell_result["cell"], variant))
    known_findings = [
        replace(finding, variant=variant) for finding in check_result.findings if finding.cell == cell_result["cell"]
    ]
    has_known_stderr = any(finding.rule == "stderr" for finding in known_findings)
    for finding in check_cell_run(notebook, cell_result, variant):
        # The stderr output of two variants may differ, because it can contain process IDs.
        if finding.rule == "stderr" and has_known_stderr:
            continue
        if finding.rule == "outputs-differ":
            finding = _merge_with_other_variant(finding, check_result)
        if finding not in known_findings:
            check_result.findings.append(finding)


def _merge_with_other_variant(finding: CheckFinding, check_result: CheckResult) -> CheckFinding:
    """Return the finding for a changed output, with a more precise reason if the cell also ran in another variant.

    If the new finding replaces the other variant's finding, that finding is removed from `check_result`.
    """
    if all(variant == finding.variant for cell, variant in check_result.runs if cell == finding.cell):
        return finding
    earlier_findings = [
        earlier for earlier in check_result.findings if (earlier.rule, earlier.cell) == (finding.rule, finding.cell)
    ]
    if not earlier_findings:
        message = say("this cell's output changes when the solutions are filled in")
        return replace(finding, rule=DEPENDS_ON_ANSWERS, message=message, variant=None)
    if earlier_findings[0].new == finding.new:
        return finding
    check_result.findings.remove(earlier_findings[0])
    message = say("this cell's output differs from run to run")
    return replace(finding, rule=NOT_REPEATABLE, message=message, saved=earlier_findings[0].new, variant=None)


def _run_and_iter_cell_results(
    path: Path, variant: str, cell_timeout: float, check_result: CheckResult, processes: ProcessGroup
) -> Iterator[CellResult]:
    """Run a notebook under nbval in a separate process and yield the result of each code cell as it arrives.

    If pytest exits with an unexpected status, its output becomes the `failure_reason` of `check_result`.
    """
    output_lines: deque[str] = deque(maxlen=30)
    with TemporaryDirectory(prefix="minitape-run-") as folder:
        scratch = Path(folder)
        settings_file = scratch / "pytest.ini"
        write_file(settings_file, "[pytest]\n")
        notebook_path = path.absolute()
        variables = {
            VARIANT_VARIABLE: variant,
            NOTEBOOK_VARIABLE: str(notebook_path),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        command = [sys.executable, "-P", "-m", "pytest", f"--rootdir={scratch}", "-c", str(settings_file)]
        command += [*PYTEST_OPTIONS, f"--nbval-cell-timeout={cell_timeout}", "."]
        process = processes.start_process(
            command, notebook_path.parent, prepare_kernel_environment(scratch) | variables
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                mark_start = line.find(RECORD_MARK)
                if mark_start < 0:
                    output_lines.append(line)
                else:
                    yield json.loads(line[mark_start + len(RECORD_MARK) :])
        finally:
            if process.poll() is None:
                process.terminate()
            exit_code = process.wait()
            process.stdout.close()
    if exit_code not in PYTEST_RAN_CODES:
        check_result.failure_reason = f"nbval ended with code {exit_code}:\n{''.join(output_lines)}"
