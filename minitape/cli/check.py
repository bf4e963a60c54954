"""`minitape check`: run notebooks under nbval, and collect everything that is wrong with them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..common.write_beside import write
from .kernel import kernel_environment
from .lessons import copy_missing, languages, lessons_folder, notebooks_in
from .messages import misuse, say
from .recorder import MARK, NOTEBOOK_VARIABLE, VARIANT_VARIABLE
from .rules import (
    DEPENDS_ON_ANSWERS,
    NOT_REPEATABLE,
    UNSAVED,
    CheckFinding,
    has_died,
    is_compared,
    is_exercise,
    run_findings,
    saved_findings,
)
from .save import read_notebook

if TYPE_CHECKING:
    from .rules import Notebook, Ran

VARIANTS = ("blank", "solved")
PYTEST_RAN = (0, 1)  # all passed, some failed
PYTEST_OPTIONS = (
    *("--noconftest", "-p", "no:cacheprovider", "-p", "minitape.cli.recorder", "-p", "nbval.plugin"),
    *("--nbval", "--nbval-current-env", "--color=no", "--tb=short", "-q"),
)


@dataclass
class Result:
    """What checking one notebook gave: `broken` says why it could not be checked at all, `uncompared` which cells'
    outputs were not.
    """

    name: str
    findings: list[CheckFinding] = field(default_factory=list)
    runs: set[tuple[int, str]] = field(default_factory=set)  # cell, variant
    sources: list[str] = field(default_factory=list)
    uncompared: list[int] = field(default_factory=list)
    seconds: float = 0.0
    broken: str | None = None

    @property
    def exit_code(self) -> int:
        """0 if nothing was found, 1 if something was, 2 if the notebook could not be checked."""
        return 2 if self.broken else int(bool(self.findings))

    @property
    def unsaved(self) -> bool:
        """Whether the notebook is as JupyterLab leaves it while one writes: `minitape save` has not seen it since."""
        return any(finding.rule in UNSAVED for finding in self.findings)


def find_notebooks(given: Sequence[Path], language: str | None = None) -> list[Path]:
    """The notebooks meant by the arguments: files as they are, all in a folder, the course's lessons in a language for
    none.

    Raises click.UsageError where a path does not exist, is no notebook, or a folder holds none.
    """
    own = lessons_folder(language, *given[:1])
    if not given:
        return notebooks_in(own)
    found = []
    for path in given:
        if path.is_dir():
            inside = notebooks_in(path)
            if not inside:
                raise misuse("no notebooks in the folder {path}", path=path)
            found.extend(inside)
        elif not path.exists():
            raise misuse("no such notebook: {path}", path=path)
        elif path.suffix != ".ipynb":
            raise misuse("not a notebook: {path} (expected a name that ends in .ipynb)", path=path)
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _variants_of(notebook: Notebook, variants: Sequence[str]) -> Sequence[str]:
    """The variants worth running: none without code, and of several only the blank one without exercises."""
    if not any(cell.cell_type == "code" for cell in notebook.cells):
        return ()
    return variants if any(is_exercise(cell) for cell in notebook.cells) else variants[:1]


class Processes:
    """The processes in which notebooks run. After `end` there are none, and none begins."""

    def __init__(self) -> None:
        self._begun: list[subprocess.Popen[str]] = []
        self._ended = False
        self._lock = threading.Lock()

    def begin(self, command: list[str], **options: Any) -> subprocess.Popen[str]:  # those of Popen
        """Start a process. Raises KeyboardInterrupt after `end`."""
        with self._lock:
            if self._ended:
                raise KeyboardInterrupt
            self._begun.append(subprocess.Popen(command, **options))
            return self._begun[-1]

    def end(self) -> None:
        """End all of them."""
        with self._lock:
            self._ended = True
            for process in self._begun:
                process.terminate()


def check_notebooks(
    paths: Sequence[Path],
    variants: Sequence[str] = VARIANTS,
    jobs: int = 2,
    timeout: float = 120,
    done: Callable[[], object] = lambda: None,
) -> list[Result]:
    """Check several notebooks, `jobs` at once; results come in the order of `paths`. Ctrl-C ends all of them. `done` is
    called after each notebook.
    """
    processes = Processes()
    with tempfile.TemporaryDirectory(prefix="minitape-check-") as scratch, ThreadPoolExecutor(jobs) as pool:
        places = _places_to_run(paths, Path(scratch))
        futures = [
            pool.submit(check_notebook, path, variants, timeout, run_at=place, processes=processes)
            for path, place in zip(paths, places, strict=True)
        ]
        for future in futures:
            future.add_done_callback(lambda _: done())
        try:
            return [future.result() for future in futures]
        except KeyboardInterrupt:
            processes.end()
            raise


def _places_to_run(paths: Sequence[Path], scratch: Path) -> list[Path]:
    """Where each notebook is run: the course's own from a copy, so that an installed package stays as it is."""
    codes = {folder.resolve(): code for code, folder in languages().items()}
    own = {path: codes[path.resolve().parent] for path in paths if path.resolve().parent in codes}
    for code in set(own.values()):
        copy_missing(scratch / code, outputs=True, language=code)
    return [scratch / own[path] / path.name if path in own else path for path in paths]


def check_notebook(
    path: Path,
    variants: Sequence[str] = VARIANTS,
    timeout: float = 120,
    run_at: Path | None = None,
    processes: Processes | None = None,
) -> Result:
    """Check one notebook: look at what is saved, then run it in each variant and compare.

    The solved variant is left out where the notebook has no exercises. `run_at` is the copy to run, if it is not
    `path` itself. Neither file is changed. `processes` takes the processes that this starts.
    """
    processes = processes or Processes()
    result = Result(str(path))
    begin = time.perf_counter()
    try:
        notebook = read_notebook(path)
    except click.ClickException as error:
        result.broken = error.message
        return result
    result.sources = [cell.source for cell in notebook.cells]
    result.uncompared = [place for place, cell in enumerate(notebook.cells) if not is_compared(cell)]
    result.findings.extend(saved_findings(notebook))
    for variant in _variants_of(notebook, variants):
        for _ in range(2):  # a kernel that ends is tried again once: on a busy machine one may not start in time
            records = list(_records(run_at or path, variant, timeout, result, processes))
            ends = next((n for n, record in enumerate(records, 1) if has_died(record)), None)
            if ends is None:
                break
        for record in records[:ends]:
            _take_in(record, notebook, variant, result)
    result.seconds = time.perf_counter() - begin
    return result


def _take_in(record: Ran, notebook: Notebook, variant: str, result: Result) -> None:
    """Add to `result` what one cell's run shows, unless another variant showed the same."""
    result.runs.add((record["cell"], variant))
    known = [replace(finding, variant=variant) for finding in result.findings if finding.cell == record["cell"]]
    wrote = {finding.cell for finding in known if finding.rule == "stderr"}  # what it writes may name the process
    for finding in run_findings(notebook, record, variant):
        if finding.rule == "stderr" and finding.cell in wrote:
            continue
        if finding.rule == "outputs-differ":
            finding = _with_other_run(finding, result)
        if finding not in known:
            result.findings.append(finding)


def _with_other_run(finding: CheckFinding, result: Result) -> CheckFinding:
    """The finding of an output that differs, with its reason if the same cell ran in another variant before."""
    if all(variant == finding.variant for cell, variant in result.runs if cell == finding.cell):
        return finding
    same_cell = [other for other in result.findings if (other.rule, other.cell) == (finding.rule, finding.cell)]
    if not same_cell:
        message = say("this cell's output is another one once the solutions are put in")
        return replace(finding, rule=DEPENDS_ON_ANSWERS, message=message, variant=None)
    if same_cell[0].new == finding.new:
        return finding
    result.findings.remove(same_cell[0])
    message = say("this cell's output is another one in each run")
    return replace(finding, rule=NOT_REPEATABLE, message=message, saved=same_cell[0].new, variant=None)


def _records(path: Path, variant: str, timeout: float, result: Result, processes: Processes) -> Iterator[Ran]:
    """Run a notebook under nbval in a process of its own; give a record per code cell as it comes.

    Where pytest ends in another way than with passed or failed tests, its words are put into `result.broken`.
    """
    log: deque[str] = deque(maxlen=30)
    with tempfile.TemporaryDirectory(prefix="minitape-run-") as folder:
        scratch = Path(folder)
        settings = scratch / "pytest.ini"
        write(settings, "[pytest]\n")
        place = path.absolute()
        told = {VARIANT_VARIABLE: variant, NOTEBOOK_VARIABLE: str(place), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [sys.executable, "-P", "-m", "pytest", f"--rootdir={scratch}", "-c", str(settings), *PYTEST_OPTIONS]
        command += [f"--nbval-cell-timeout={timeout}", "."]
        process = processes.begin(
            command,
            cwd=place.parent,
            env=kernel_environment(scratch) | told,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                start = line.find(MARK)
                if start < 0:
                    log.append(line)
                else:
                    yield json.loads(line[start + len(MARK) :])
        finally:
            if process.poll() is None:
                process.terminate()
            code = process.wait()
            process.stdout.close()
    if code not in PYTEST_RAN:
        result.broken = f"nbval ended with code {code}:\n{''.join(log)}"
