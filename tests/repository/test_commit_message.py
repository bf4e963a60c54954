"""A commit message says what the commit does and why. `.ci/commit_message` checks this as a hook and in CI."""

import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "commit_message"
WHY = "The counter read one frame too few, so that the line of a caller was named."


def load_script():
    """Load the script as a module, without leaving compiled files next to it."""
    loader = SourceFileLoader("commit_message", str(SCRIPT))
    module = module_from_spec(spec_from_loader("commit_message", loader))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


find_faults = load_script().find_faults


@pytest.mark.parametrize(
    "subject", ["Fix the caller's line", "tensorflow: fix the caller's line", "Rename `way` to path"]
)
def test_a_message_that_says_what_and_why_passes(subject):
    assert find_faults(f"{subject}\n\n{WHY}\n") == []


@pytest.mark.parametrize(("message", "word"), [
    ("Fix it", "body"),
    (f"Fix {'x' * 80}\n\n{WHY}", "characters"),
    (f"Sizes\n\n{WHY}", "verb"),
    (f"Fixed the line\n\n{WHY}", "verb"),
    (f"Adds the line\n\n{WHY}", "verb"),
    (f"Would fix the line\n\n{WHY}", "verb"),
    (f"Fix the line.\n\n{WHY}", "full stop"),
    (f"Fix the line\n{WHY}", "second line"),
    ("Fix the line\n\n# Please enter the commit message\n", "body"),
])  # fmt: skip
def test_any_other_is_refused_with_the_reason(message, word):
    [fault] = find_faults(message)
    assert word in fault


def test_the_hook_reads_a_file_and_fails(tmp_path):
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text("Sizes\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(SCRIPT), str(file)], capture_output=True, text=True)
    assert done.returncode == 1 and "1 commit messages, 2 faults" in done.stdout, done.stdout + done.stderr
