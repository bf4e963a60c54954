"""Every program on a page is run by a test. The programs that no other test runs are run here."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import minitape as tf
from minitape_widgets.live_updates import flush_view

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
TESTS_BY_PAGE = {  # Which test runs the programs of a page.
    "README": "tests/cli/test_readme.py",
    "docs/explain": "tests/explain/test_page.py",
    "docs/explain_answers": "tests/explain/test_page.py",
    "docs/explain_inside": "tests/explain/test_inside_page.py",
    "docs/explain_loop": "tests/bridges/test_recording.py",
    "docs/explain_model": "tests/bridges/test_recording.py",
    "docs/cause_texts": "tests/bridges/test_cause_pages.py",
    "docs/add_a_cause": "tests/explain/test_inside_page.py",
    "docs/bridges": "tests/bridges/test_recording.py",
    "docs/write_a_bridge": "tests/bridges/test_recording.py",
    "docs/engine": "tests/engine/test_calls.py",
    "docs/engine_gradient": "tests/engine/test_calls.py",
    "docs/engine_calls": "tests/engine/test_calls.py",
    "docs/engine_more": "tests/engine/test_calls.py",
    "docs/engine_speed": "tests/engine/test_calls.py",
    "docs/functions": "tests/functions/test_page.py",
    "docs/model_map": "tests/bridges/test_model_map.py",
    "docs/names": "tests/functions/test_page.py",
}
FOLDERS = {
    "docs/questions": "tests/repository/test_question_pages.py",
    "docs/causes": "tests/bridges/test_cause_pages.py",
}
NOT_RUN = {
    "docs/elsewhere": "The program needs Colab.",
    "docs/lessons": "The line is a sketch of a cell in a lesson's source.",
}
RUN_HERE = ("docs/exercises", "docs/film", "docs/snapshot", "docs/tapeview")


def list_pages_with_programs():
    """Return the pages that have a program, in any language, without their suffixes."""
    paths = [ROOT / "README.md", *(path for folder in ("docs", "deploy") for path in (ROOT / folder).rglob("*.md"))]
    names = {
        path.relative_to(ROOT).as_posix().partition(".")[0]
        for path in paths
        if BLOCK.search(path.read_text(encoding="utf-8"))
    }
    return sorted(name for name in names if str(Path(name).parent) not in FOLDERS)


def test_each_page_with_a_program_has_a_test():
    assert list_pages_with_programs() == sorted([*TESTS_BY_PAGE, *NOT_RUN, *RUN_HERE])
    for test_file in {*TESTS_BY_PAGE.values(), *FOLDERS.values()}:
        assert (ROOT / test_file).is_file(), test_file


@pytest.mark.parametrize("page", RUN_HERE)
def test_the_programs_of_a_page_run(page, tmp_path, monkeypatch):
    from minitape.course import Exercise, Mistake, add_exercise, check

    monkeypatch.chdir(tmp_path)  # Programs may write files.
    for suffix in (".md", ".zh.md"):
        path = ROOT / f"{page}{suffix}"
        if not path.exists():
            continue
        namespace = {"tf": tf, "Exercise": Exercise, "Mistake": Mistake, "add_exercise": add_exercise, "check": check}
        namespace["display"] = lambda shown: None
        for program in BLOCK.findall(path.read_text(encoding="utf-8")):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(program, namespace)
        if page == "docs/tapeview":
            flush_view(namespace["view"])
            assert repr(namespace["view"]) == "TapeView(3 rows, 1 tape)"
