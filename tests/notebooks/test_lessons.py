"""Every lesson, as saved and with its solutions put in, under nbval and minitape's own rules.

The run with solutions tells more: it compares all outputs but those of exercises, and each of these must be told
"correct".
With `--long` every lesson is run with solutions, and every second English one also as saved; without it one lesson
has each. The Chinese lessons have the same code (see `test_translations`).
"""

from __future__ import annotations

import pytest

from minitape.cli.check import check_notebook
from minitape.cli.lessons import lessons_folder, notebooks_in
from minitape.cli.report import as_text

LESSONS = notebooks_in(lessons_folder())
CHINESE = notebooks_in(lessons_folder().parent / "zh")
RUNS = [*((lesson, "blank") for lesson in LESSONS[::2]), *((lesson, "solved") for lesson in LESSONS + CHINESE)]
SAMPLE = [(LESSONS[4], "blank"), (CHINESE[2], "solved")]  # without --long


def _param(lesson, variant):
    return pytest.param(
        lesson,
        variant,
        id=f"{lesson.parent.name}-{lesson.stem}-{variant}",
        marks=[] if (lesson, variant) in SAMPLE else [pytest.mark.long],
    )


@pytest.mark.parametrize(("lesson", "variant"), [_param(*run) for run in RUNS])
def test_lesson(lesson, variant, tmp_path):
    copy = tmp_path / lesson.name
    copy.write_bytes(lesson.read_bytes())
    result = check_notebook(lesson, [variant], run_at=copy)
    assert result.exit_code == 0, as_text(result)
