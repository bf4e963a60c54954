"""Every lesson, as saved and with its solutions put in, under nbval and minitape's own rules."""

from __future__ import annotations

import pytest

from minitape.cli.check import VARIANTS, check_notebook
from minitape.cli.lessons import lessons_folder, notebooks_in
from minitape.cli.report import as_text


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("lesson", notebooks_in(lessons_folder()), ids=lambda path: path.stem)
def test_lesson(lesson, variant, tmp_path):
    copy = tmp_path / lesson.name
    copy.write_bytes(lesson.read_bytes())
    result = check_notebook(lesson, [variant], run_at=copy)
    assert result.exit_code == 0, as_text(result)
