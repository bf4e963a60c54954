"""No answer is in sight: while a prediction is open, the cells after the one that tells its answer cannot be read."""

from __future__ import annotations

import re

import nbformat
import pytest

from minitape.cli.lessons import lesson_of, lessons_folder, notebooks_in

from .test_lesson_in_browser import LONG, opened_with_kernel

# The rule is one for all lessons: the one with the most questions is looked at in CI.
MARKS = {"08": pytest.mark.long}
LESSONS = [path for path in notebooks_in(lessons_folder()) if lesson_of(path)]
QUESTION = re.compile(r'\bpredict\(\s*"([^"]+)"')
READABLE = """question => {
    let cell = question.closest(".jp-Cell").nextElementSibling;
    const seen = [];
    while ((cell = cell?.nextElementSibling) && cell.getBoundingClientRect().top < innerHeight) {
        if (cell.querySelector(".minitape-choices")) break;
        if (!getComputedStyle(cell).filter.includes("blur")) seen.push(cell.innerText);
    }
    return seen;
}"""


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_question_is_followed_at_once_by_the_cell_that_tells_its_answer(path):
    """Which is what the veil counts from."""
    cells = nbformat.read(path, as_version=4).cells
    asked = [(place, QUESTION.search(cell.source)) for place, cell in enumerate(cells) if cell.cell_type == "code"]
    questions = {found[1]: place for place, found in asked if found}
    assert questions
    for name, place in questions.items():
        assert re.search(rf'reveal\(\s*"{re.escape(name)}"', cells[place + 1].source), name


@pytest.mark.browser
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=MARKS.get(lesson_of(path), pytest.mark.longest)) for path in LESSONS],
)
def test_nothing_after_an_open_question_can_be_read(path, page, start_lab, tmp_path):
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(start_lab(tmp_path).replace("01_the_first_tape", path.stem))
    opened_with_kernel(page)
    page.get_by_text("Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.get_by_text(re.compile(r"Python 3 \(ipykernel\) \| Busy")).wait_for(timeout=LONG)
    page.get_by_text(re.compile(r"Python 3 \(ipykernel\) \| Idle")).wait_for(timeout=LONG)
    names = [
        found[1]
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and (found := QUESTION.search(cell.source))
    ]
    panel = page.locator(".jp-WindowedPanel-outer").first
    panel.evaluate("panel => panel.scrollTo(0, 0)")
    seen = 0
    for _ in range(400):
        for box in page.locator(".minitape-open").all():
            if not box.get_attribute("data-tried"):
                box.evaluate("el => { el.dataset.tried = 1; el.closest('.jp-Cell').scrollIntoView(true); }")
                page.wait_for_timeout(60)
                assert not any(box.evaluate(READABLE)), box.inner_text()
                seen += 1
        if seen >= len(names):
            break
        panel.evaluate("panel => panel.scrollBy(0, 400)")
        page.wait_for_timeout(30)
    assert seen >= len(names), (seen, names)
    question = page.locator(".minitape-open").last
    question.locator("button").first.click()
    page.wait_for_function("() => document.querySelectorAll('.minitape-choices:not(.minitape-open)').length > 0")
