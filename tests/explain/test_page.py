"""The pages about explain: their programs print what they say. Those of other frameworks run in tests/bridges."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from minitape.common.translation import LANGUAGE_VARIABLES

DOCS = Path(__file__).parents[2] / "docs"
PAGE_NAMES = ("explain", "explain_answers", "explain_loop", "explain_model", "explain_program")
PAGES = {
    (code, name): (DOCS / f"{name}{end}").read_text(encoding="utf-8")
    for code, end in (("en", ".md"), ("zh", ".zh.md"))
    for name in PAGE_NAMES
}
PROGRAMS = [
    (code, program, output)
    for (code, _), page in PAGES.items()
    for program, output in re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
]
OWN = [case for case in PROGRAMS if "import minitape as tf" in case[1]]


def test_each_program_shows_its_output():
    assert sum(page.count("```python") for page in PAGES.values()) == len(PROGRAMS) == 18


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_program_prints_what_its_page_says(language, tmp_path, monkeypatch):
    monkeypatch.setenv(LANGUAGE_VARIABLES[0], language)
    for _, program, output in (case for case in OWN if case[0] == language):
        (tmp_path / "train.py").write_text(program)
        done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
        printed = (done.stdout + done.stderr).replace(f"{tmp_path}/", "")
        for line in output.splitlines():
            assert line in printed, printed
