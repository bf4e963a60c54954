"""Every lesson passes under nbval and minitape's own rules, as it is saved and with its solutions.

The run with solutions checks more. It compares all outputs except those of exercises, and each exercise must print
"correct".

With `--long`, every English lesson is run with solutions, and so is every eighth Chinese lesson, because the Chinese
lessons have the same code (see `test_translations`). With `--longest`, all lessons are also run as saved, as in CI.
Otherwise, each kind of run has one lesson.
"""

import pytest

from minitape.cli.check_notebooks import check_notebook
from minitape.cli.lesson_files import find_lessons_folder, list_notebook_files
from tests.warm import format_result_text, warm_check  # noqa: F401  # a fixture for all tests here

LESSONS = list_notebook_files(find_lessons_folder())
CHINESE = list_notebook_files(find_lessons_folder().parent / "zh")
SAMPLE = [(LESSONS[0], "blank"), (CHINESE[1], "solved")]
LONG = [(lesson, "solved") for lesson in LESSONS + CHINESE[1::8]]
RUNS = [(lesson, variant) for variant in ("solved", "blank") for lesson in LESSONS + CHINESE]


def _build_param(run):
    lesson, variant = run
    return pytest.param(
        *run,
        id=f"{lesson.parent.name}-{lesson.stem}-{variant}",
        marks=[] if run in SAMPLE else [pytest.mark.long if run in LONG else pytest.mark.longest],
    )


@pytest.mark.parametrize(("lesson", "variant"), [_build_param(run) for run in RUNS])
def test_lesson(lesson, variant, tmp_path):
    copy = tmp_path / lesson.name
    copy.write_bytes(lesson.read_bytes())
    result = check_notebook(lesson, [variant], run_path=copy)
    assert result.exit_code == 0, format_result_text(result)
