"""Python runs this first where its folder is in PYTHONPATH, as `tests.mutations` has it for pytest and all processes
that tests start: one file of minitape has another text, lines of minitape that run or tests that fail are written down.
"""

import importlib.abc
import importlib.util
import os
import sys
import threading
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
LINES, FAILING, MUTANT = "MINITAPE_LINES", "MINITAPE_FAILING", "MINITAPE_MUTANT"  # names of files


class Changed(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Imports one module from a changed text."""

    def __init__(self, path, text):
        self.path, self.text = path, text

    def find_spec(self, name, path=None, target=None):
        place = REPOSITORY.joinpath(*name.split("."))
        if self.path in (str(place.with_suffix(".py")), str(place / "__init__.py")):
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def get_filename(self, name):
        return self.path

    def get_data(self, path):
        return self.text.encode()


def write_lines(file, package):
    """Each line of the package once, when it first runs in this process."""
    seen, out = set(), os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def trace(frame, event, _):
        if not (name := frame.f_code.co_filename).startswith(package):
            return None
        if (line := (name, frame.f_lineno)) not in seen:
            seen.add(line)
            os.write(out, f"{name}\t{frame.f_lineno}\n".encode())
        return trace

    os.register_at_fork(after_in_child=seen.clear)
    threading.settrace(trace)
    sys.settrace(trace)


def pytest_runtest_logreport(report):
    """As a plugin of pytest: writes down what fails."""
    if report.failed:
        with open(os.environ[FAILING], "a", encoding="utf-8") as file:
            print(report.nodeid, file=file)


if MUTANT in os.environ:
    sys.meta_path.insert(0, Changed(*Path(os.environ[MUTANT]).read_text(encoding="utf-8").split("\n", 1)))
if LINES in os.environ:
    write_lines(os.environ[LINES], str(REPOSITORY / "minitape"))
