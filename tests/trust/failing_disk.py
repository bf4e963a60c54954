"""Run every function that writes files on a disk on which one call fails, and report the state of the files.

`failing_calls.c`, which must be loaded with LD_PRELOAD, counts calls and lets one fail. Each run is a copy of this
process. Every run must meet these conditions:

- The file is either the complete old file or the complete new file. A site may need another build for this.
- If the file is not the new one, the user has read the reason.
- Files are saved even on a disk without locks.
- The next run works, and leaves no other files behind.

    python tests/trust/failing_disk.py SCENARIO [--sample N]

prints a JSON object with the number of calls in a run, the number of runs, and the violations.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import errno
import gc
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import minitape as tf
from minitape.cli import lab, main, save, site
from minitape.cli.site_folder import replace_site_folder
from minitape.common.atomic_write import ERROR_REASONS
from minitape.course.checker import count_try_and_build_feedback
from minitape_widgets import TapeView

CALLS = "open write fsync flock rename link chmod mkdir unlink".split()
"""The kinds of calls, in the order of the enumeration in failing_calls.c."""
KILL, HALF = -1, -2
E = errno
FAILURES = {
    "open": [E.EACCES, E.EIO, E.ENOSPC, E.EMFILE, E.ESTALE, E.EROFS, E.EDQUOT],
    "write": [E.ENOSPC, E.EIO, E.EDQUOT, E.ESTALE, HALF],
    "fsync": [E.EIO, E.ENOSPC, E.EDQUOT, E.ESTALE],
    "flock": [E.ENOSYS, E.ENOLCK, E.EOPNOTSUPP, E.EIO, E.ESTALE],
    "rename": [E.EIO, E.ENOSPC, E.ESTALE, E.EACCES, E.EXDEV],
    "link": [E.EPERM, E.ENOSYS, E.EMLINK],
    "chmod": [E.EPERM, E.ENOSYS, E.EOPNOTSUPP, E.EROFS],
    "mkdir": [E.ENOSPC, E.EACCES, E.EDQUOT, E.ESTALE],
    "unlink": [E.EIO, E.EACCES, E.ESTALE],
}
WORDS = [
    "could not be saved",
    *ERROR_REASONS.values(),
    *map(os.strerror, sorted({n for f in FAILURES.values() for n in f})),
]
"""The messages of which a user must read at least one."""
LIBRARY = ctypes.CDLL(None)


@dataclass(frozen=True)
class Scenario:
    """An action that writes files.

    Attributes:
        prepare: Writes the old files into a folder.
        act: Writes the files. Returns the error message that the user sees, or "" if no error occurs.
        read: Returns "old", "new", or a description of what is wrong with the files.
        owned: The names that may be in the folder afterwards. A final `*` matches anything.
        recover: Prepares the files for reading, as the next run does, or None.
        fails_in: The part of the folder in which calls fail.
    """

    prepare: Callable[[Path], object]
    act: Callable[[Path], str]
    read: Callable[[Path], str]
    owned: tuple[str, ...]
    recover: Callable[[Path], object] = lambda folder: None
    fails_in: str = ""


def run_command(*arguments: object) -> str:
    """Run `minitape`, and return its error message if it fails."""
    done = CliRunner().invoke(main, list(map(str, arguments)))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output if done.exit_code else ""


def save_or_describe_error(write: Callable[[], object]) -> str:
    """Call a Python function that writes a file, and return the error message that the user sees."""
    try:
        write()
    except OSError as error:
        return "\n".join([str(error), *getattr(error, "__notes__", ())])
    return ""


# ---------------------------------------------------------------- progress
PROGRESS = {"version": 1, "exercises": {"01.1": {"tries": 1, "solved": False}}, "predictions": {}}


def answer_exercise(folder: Path) -> str:
    os.environ["MINITAPE_PROGRESS"] = str(folder / "progress.json")
    text = count_try_and_build_feedback("01.1", 12.0)
    return text if "could not be saved" in text else ""


def read_tries(folder: Path) -> str:
    """Return the number of answers to the exercise, of which the first was given before the run."""
    try:
        tries = json.loads((folder / "progress.json").read_text())["exercises"]["01.1"]["tries"]
    except (ValueError, KeyError) as error:
        return f"no progress: {error!r}"
    return "old" if tries == 1 else "new"


# ---------------------------------------------------------------- notebooks
def write_old_notebook(folder: Path) -> None:
    nbformat.write(new_notebook(cells=[new_code_cell("print('new')", id="a")]), folder / "mine.ipynb")
    (folder / "mine.ipynb").chmod(0o604)


def read_notebook_state(folder: Path) -> str:
    try:
        [cell] = nbformat.read(folder / "mine.ipynb", as_version=4).cells
    except Exception as error:
        return f"no notebook: {error!r}"
    return "new" if cell.get("outputs") or cell.source == "new" else "old"


def save_notebook(folder: Path) -> str:
    def execute(notebook: Any, *_: object) -> None:
        notebook.cells[0].outputs = [new_output("stream", text="new\n")]
        notebook.cells[0].execution_count = 1

    save.execute_notebook = execute
    return run_command("save", folder / "mine.ipynb")


def save_in_jupyterlab(folder: Path) -> str:
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
    from nbformat.sign import MemorySignatureStore, NotebookNotary
    from tornado import web

    from minitape.cli.contents_manager import NotebookContentsMixin

    class Notebooks(NotebookContentsMixin, AsyncLargeFileManager):
        """The contents manager that the server extension derives."""

    notary = NotebookNotary(store_factory=MemorySignatureStore, secret=b"secret")
    manager = Notebooks(root_dir=str(folder), notary=notary, parent=None)
    model = {"type": "notebook", "content": new_notebook(cells=[new_markdown_cell("new", id="a")])}
    try:
        asyncio.run(manager.save(model, "mine.ipynb"))
    except web.HTTPError as error:
        return str(error)
    return ""


# ---------------------------------------------------------------- sites and lessons
OLD_SITE = {"index.html": "old", "pages/one.html": "old", "only old.html": "old"}
NEW_SITE = {"index.html": "new", "pages/one.html": "new", "pages/two.html": "new", "_static/a.css": "new"}


def write_files(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def write_old_site(folder: Path) -> None:
    with replace_site_folder(folder / "out") as new:
        write_files(new, OLD_SITE)
    write_files(folder / "out", {"CNAME": "mine"})


def build_site(folder: Path) -> str:
    def build(out: Path, *_: object) -> int:
        with replace_site_folder(out) as new:
            write_files(new, NEW_SITE)
        return len(NEW_SITE)

    site.write_lesson_site = build
    return run_command("site", folder / "out")


def read_site(folder: Path) -> str:
    files = (path for path in (folder / "out").rglob("*") if path.is_file())
    found = {path.relative_to(folder / "out").as_posix(): path.read_text() for path in files}
    pages = {name: text for name, text in found.items() if not name.startswith(".minitape-site")}
    if pages.pop("CNAME", None) != "mine":
        return "the user's own file is gone"
    return {str(OLD_SITE): "old", str(NEW_SITE): "new"}.get(
        str({name: pages[name] for name in OLD_SITE | NEW_SITE if name in pages}), f"neither: {pages}"
    )


LESSONS = {
    f"{number:02}_lesson.ipynb": nbformat.writes(new_notebook(cells=[new_markdown_cell(str(number))]))
    for number in range(3)
}


def write_course(folder: Path) -> None:
    write_files(folder, {f"course/{name}": text for name, text in LESSONS.items()})
    write_files(folder, {"mine/00_lesson.ipynb": "my own"})


def copy_lessons(folder: Path) -> str:
    from minitape.cli import course_map, lesson_files

    for module in (lab, lesson_files, course_map):
        module.find_lessons_folder = lambda *_: folder / "course"
    return run_command("lab", folder / "mine", "--copy-only")


def read_lessons(folder: Path) -> str:
    found = {path.name: path.read_text() for path in (folder / "mine").glob("0*.ipynb")}
    if found.pop("00_lesson.ipynb", None) != "my own":
        return "the learner's own notebook is gone"
    try:
        first_cells = {name: "".join(json.loads(text)["cells"][0]["source"]) for name, text in found.items()}
    except ValueError as error:
        return f"half a notebook: {error!r}"
    has_map = first_cells.pop("00-course-map.ipynb", "").startswith("# Map of the course")
    return "new" if has_map and sorted(first_cells.values()) == ["1", "2"] else "old"


# ---------------------------------------------------------------- classes and pages
def write_class(folder: Path) -> None:
    for learner in ("ann", "bob"):
        write_files(folder, {f"class/{learner}/.minitape-progress.json": json.dumps(PROGRESS)})
    write_files(folder, {"table/class.csv": "old"})
    (folder / "table/class.csv").chmod(0o604)


def report_class(folder: Path) -> str:
    done = CliRunner().invoke(main, ["class", "--csv", str(folder / "table/class.csv"), str(folder / "class")])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output if done.exit_code or any(word in done.output for word in WORDS) else ""


def read_class(folder: Path) -> str:
    text = (folder / "table/class.csv").read_text()
    if text == "old":
        return "old"
    if not text.endswith("\n"):
        return f"half a table: {text!r}"
    return "new" if "ann" in text and "bob" in text and text.count(",1,") == 2 else "old"


def build_tape() -> tf.GradientTape:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    tape.gradient(y, x)
    return tape


def read_page(folder: Path) -> str:
    text = (folder / "page.html").read_text()
    return (
        "old"
        if text == "old"
        else "new"
        if text.rstrip().endswith(("</html>", "</svg>"))
        else f"half a page: {text[-40:]!r}"
    )


def write_old_page(folder: Path) -> None:
    write_files(folder, {"page.html": "old"})
    (folder / "page.html").chmod(0o604)


def write_linked_page(folder: Path) -> None:
    write_old_page(folder)
    (folder / "page.svg").symlink_to("page.html")


def save_picture(folder: Path) -> str:
    return save_or_describe_error(lambda: tf.draw(build_tape()).save(folder / "page.svg"))


SCENARIOS = {
    "progress": Scenario(
        lambda folder: write_files(folder, {"progress.json": json.dumps(PROGRESS)}),
        answer_exercise,
        read_tries,
        ("progress.json", "progress.json.lock"),
    ),
    "save": Scenario(write_old_notebook, save_notebook, read_notebook_state, ("mine.ipynb",)),
    "jupyterlab": Scenario(
        write_old_notebook, save_in_jupyterlab, read_notebook_state, ("mine.ipynb", ".ipynb_checkpoints*")
    ),
    "site": Scenario(
        write_old_site,
        build_site,
        read_site,
        tuple(f"out/{name}" for name in [*NEW_SITE, "CNAME", ".minitape-site"]),
        lambda folder: read_site(folder) in ("old", "new") or build_site(folder),
        "out",
    ),
    "lessons": Scenario(write_course, copy_lessons, read_lessons, ("course/*", "mine/0*"), fails_in="mine"),
    "class": Scenario(write_class, report_class, read_class, ("class/*", "table/class.csv"), fails_in="table"),
    "hand-ins": Scenario(write_class, report_class, read_class, ("class/*", "table/class.csv"), fails_in="class"),
    "page": Scenario(
        write_old_page,
        lambda folder: save_or_describe_error(lambda: TapeView(build_tape()).save(folder / "page.html")),
        read_page,
        ("page.html",),
    ),
    "picture": Scenario(write_linked_page, save_picture, read_page, ("page.html", "page.svg")),
}


# ---------------------------------------------------------------- running
@dataclass
class Fault:
    """A call that fails.

    Attributes:
        call: The kind of call.
        number: The position of the call among the calls of this kind, counted from 1.
        error: The error number, KILL or HALF.
        and_later: Whether all later calls of this kind also fail.
    """

    call: str
    number: int
    error: int
    and_later: bool

    def __str__(self) -> str:
        error = {KILL: "the end of the process", HALF: "half a write"}.get(self.error) or errno.errorcode[self.error]
        return f"{self.call} {self.number}{' and later' * self.and_later}: {error}"


def list_faults(counts: dict[str, int]) -> Iterator[Fault]:
    """Yield each fault that can occur in a run with the given numbers of calls."""
    for call, count in counts.items():
        for number in range(1, count + 1):
            for error in [*FAILURES[call], KILL]:
                yield Fault(call, number, error, False)
                if error not in (KILL, HALF):
                    yield Fault(call, number, error, True)


def run_in_copy(action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run a function in a copy of this process, and return its result, or {"killed": True} if the copy was killed."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        os.close(read_end)
        try:
            answer = action()
        except BaseException:
            LIBRARY.disarm()
            answer = {"traceback": traceback.format_exc()}
        with os.fdopen(write_end, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return {"killed": True} if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL else json.loads(text)


def age_files(folder: Path) -> None:
    """Set the modification times of all files to two hours ago."""
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 7200,) * 2, follow_symlinks=False)


def find_leftovers(folder: Path, owned: tuple[str, ...]) -> list[str]:
    """List the files and empty folders that should not be in a folder."""
    names = [
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not (path.is_dir() and any(path.iterdir()))
    ]
    is_owned = lambda name: any(name == one or (one.endswith("*") and name.startswith(one[:-1])) for one in owned)  # noqa: E731
    return [name for name in names if not is_owned(name)]


def act_and_count(scenario: Scenario, folder: Path, fault: Fault | None) -> dict[str, Any]:
    """Run a scenario with a fault, and then again without a fault."""
    kind = CALLS.index(fault.call) if fault else -1
    number, error, and_later = (fault.number, fault.error, fault.and_later) if fault else (0, 0, False)
    LIBRARY.arm(os.fsencode(folder / scenario.fails_in), kind, number, error, int(and_later))
    message = scenario.act(folder)
    LIBRARY.disarm()
    answer = {"message": message, "counts": {call: LIBRARY.count(place) for place, call in enumerate(CALLS)}}
    scenario.recover(folder)
    answer["state"] = scenario.read(folder)
    age_files(folder)
    return answer | {"again": scenario.act(folder), "at last": scenario.read(folder)}


def find_violations(scenario: Scenario, template: Path, folder: Path, fault: Fault) -> list[str]:
    """Run a scenario with a fault, and return the violated conditions."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder, symlinks=True)
    answer = run_in_copy(lambda: act_and_count(scenario, folder, fault))
    if "killed" in answer:
        age_files(folder)

        def go_on() -> dict[str, Any]:
            scenario.recover(folder)
            state = scenario.read(folder)
            return {"message": "", "state": state, "again": scenario.act(folder), "at last": scenario.read(folder)}

        answer = run_in_copy(go_on) | {"killed": True}
    if "traceback" in answer:
        return [f"an error instead of a message: {answer['traceback']}"]
    violations = []
    if answer["state"] not in ("old", "new"):
        violations.append(f"neither old nor new: {answer['state']}")
    is_told = any(word in answer["message"] for word in WORDS)
    if answer["state"] != "new" and "killed" not in answer and not is_told:
        violations.append(f"not saved, and not told: {answer['message']!r}")
    if fault.call == "flock" and answer["state"] != "new" and "killed" not in answer:
        violations.append(f"not saved without locks: {answer['message']!r}")
    if answer["again"] or answer["at last"] != "new":
        violations.append(f"the next run: {answer['at last']} {answer['again']}")
    if leftovers := find_leftovers(folder, scenario.owned):
        violations.append(f"left behind: {leftovers}")
    return violations


def run_scenario(name: str, sample: int) -> dict[str, Any]:
    """Run a scenario with each fault, or with a sample of the faults."""
    scenario = SCENARIOS[name]
    with tempfile.TemporaryDirectory() as scratch:
        template, folder = Path(scratch, "template"), Path(scratch, "folder")
        template.mkdir()
        scenario.prepare(template)
        shutil.copytree(template, folder, symlinks=True)
        act_and_count(scenario, folder, None)  # Run once before copying, so that all modules are loaded in the copies.
        gc.freeze()
        shutil.rmtree(folder)
        shutil.copytree(template, folder, symlinks=True)
        first = run_in_copy(lambda: act_and_count(scenario, folder, None))
        if first.get("at last") != "new":
            return {"violations": [f"without a fault: {first}"]}
        faults = list(list_faults(first["counts"]))[::sample]
        violations = []
        for fault in faults:
            violations += [f"{fault}: {text}" for text in find_violations(scenario, template, folder, fault)]
        errors = sorted({str(fault).rpartition(": ")[2] for fault in faults})
        return {"calls": first["counts"], "runs": len(faults), "errors": errors, "violations": violations}


def start(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []])
    parser.add_argument("--sample", type=int, default=1)
    options = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    for name in options.scenarios or SCENARIOS:
        print(json.dumps({"scenario": name, **run_scenario(name, options.sample)}), flush=True)


if __name__ == "__main__":
    start(sys.argv[1:])
