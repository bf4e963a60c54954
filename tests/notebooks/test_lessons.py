"""Every lesson, as saved and with its solutions put in, under nbval and minitape's own rules.

The run with solutions tells more: it compares all outputs but those of exercises, and each of these must be told
"correct".
With `--long` every English lesson is run with solutions, and every eighth Chinese one, which has the same code (see
`test_translations`); with `--longest` all, also as saved, as nbval alone runs them in CI. Without these one lesson has
each.
"""

import pytest

from minitape.cli.check import check_notebook
from minitape.cli.lessons import lessons_folder, notebooks_in
from tests.warm import as_text, warm_check  # noqa: F401  # a fixture for all tests here

LESSONS = notebooks_in(lessons_folder())
CHINESE = notebooks_in(lessons_folder().parent / "zh")
SAMPLE = [(LESSONS[0], "blank"), (CHINESE[1], "solved")]
LONG = [(lesson, "solved") for lesson in LESSONS + CHINESE[1::8]]
RUNS = [(lesson, variant) for variant in ("solved", "blank") for lesson in LESSONS + CHINESE]


def _param(run):
    lesson, variant = run
    return pytest.param(
        *run,
        id=f"{lesson.parent.name}-{lesson.stem}-{variant}",
        marks=[] if run in SAMPLE else [pytest.mark.long if run in LONG else pytest.mark.longest],
    )


@pytest.mark.parametrize(("lesson", "variant"), [_param(run) for run in RUNS])
def test_lesson(lesson, variant, tmp_path):
    copy = tmp_path / lesson.name
    copy.write_bytes(lesson.read_bytes())
    result = check_notebook(lesson, [variant], run_at=copy)
    assert result.exit_code == 0, as_text(result)
