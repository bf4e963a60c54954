"""Every lesson, as saved and with its solutions put in, under nbval and minitape's own rules.

The run with solutions tells more: it compares all outputs but those of exercises, and each of these must be told
"correct".
With `--long` every lesson has both runs; without it one lesson has each. The Chinese lessons have the same code (see
`test_translations`): with `--long` they have the run with solutions, and some of them both.
"""

from __future__ import annotations

import pytest

from minitape.cli.check import VARIANTS, check_notebook
from minitape.cli.lessons import lessons_folder, notebooks_in
from minitape.cli.report import as_text

LESSONS = notebooks_in(lessons_folder())
CHINESE = notebooks_in(lessons_folder().parent / "zh")
LONGEST, LONGEST_CELL = 20, 3  # seconds that a learner waits at most, for a whole lesson and for one cell
PATIENCE = 3  # for busy machines: what fails here is not slow by chance
RUNS = [
    *((lesson, variant) for variant in VARIANTS for lesson in LESSONS),
    *((lesson, "solved") for lesson in CHINESE),
    *((lesson, "blank") for lesson in CHINESE[::4]),
]
SAMPLE = [(LESSONS[4], "blank"), (LESSONS[0], "solved"), (CHINESE[2], "solved")]  # without --long


def _param(lesson, variant):
    return pytest.param(
        lesson,
        variant,
        id=f"{lesson.parent.name}-{lesson.stem}-{variant}",
        marks=[] if (lesson, variant) in SAMPLE else [pytest.mark.long],
    )


@pytest.mark.parametrize(("lesson", "variant"), [_param(*run) for run in RUNS])
def test_lesson(lesson, variant, tmp_path, request):
    copy = tmp_path / lesson.name
    copy.write_bytes(lesson.read_bytes())
    result = check_notebook(lesson, [variant], run_at=copy)
    assert result.exit_code == 0, as_text(result)
    if request.config.getoption("--long"):
        cells = {result.sources[run.cell]: run.seconds for run in result.runs}
        assert sum(cells.values()) < PATIENCE * LONGEST
        assert {source for source, seconds in cells.items() if seconds > PATIENCE * LONGEST_CELL} == set()
