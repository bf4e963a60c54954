"""Two pages follow a program through the files, and add a cause: what they print is what they say."""

import contextlib
import io
import linecache
import re
from pathlib import Path

import pytest

from minitape.explain.causes import CAUSES
from minitape.explain.reasons import check_order

DOCS = Path(__file__).parents[2] / "docs"
PAGES = "\n".join((DOCS / name).read_text(encoding="utf-8") for name in ("explain_inside.md", "add_a_cause.md"))
PROGRAMS, PRINTED = (re.findall(rf"```{kind}\n(.*?)```", PAGES, re.S) for kind in ("python", "text"))


@pytest.mark.parametrize(("program", "printed"), [*zip(PROGRAMS, PRINTED, strict=True)], ids=["steps", "a cause"])
def test_a_program_of_the_page_prints_what_the_page_says(
    monkeypatch: pytest.MonkeyPatch, program: str, printed: str
) -> None:
    monkeypatch.setitem(CAUSES, "left_behind", CAUSES["independent"])  # It is removed after the test.
    monkeypatch.setattr(check_order, "CHECKS", check_order.CHECKS)
    linecache.cache["train.py"] = len(program), None, program.splitlines(keepends=True), "train.py"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "train.py", "exec"), {"__name__": "user_code"})
    assert out.getvalue() == printed
