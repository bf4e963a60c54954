"""docs/explain_inside.md follows a program through the files: what it prints is what its steps give today."""

import contextlib
import io
import linecache
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "explain_inside.md").read_text(encoding="utf-8")


def test_the_program_of_the_page_prints_what_the_page_says() -> None:
    (program,), (printed,) = (
        re.findall(r"```python\n(.*?)```", PAGE, re.S),
        re.findall(r"```text\n(.*?)```", PAGE, re.S),
    )
    linecache.cache["train.py"] = len(program), None, program.splitlines(keepends=True), "train.py"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "train.py", "exec"), {"__name__": "user_code"})
    assert out.getvalue() == printed
