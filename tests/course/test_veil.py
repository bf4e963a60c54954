"""While a prediction is open, what follows cannot be read. One press shows the whole lesson.

The buttons run in a page with the classes of JupyterLab's cells. tests/cli/test_lesson_in_browser.py has the real ones.
"""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

import minitape.course

FOLDER = Path(minitape.course.__file__).parent
PAGE = """<!doctype html><style>{style}</style>
<div class="jp-Notebook">
  <div class="jp-Cell jp-CodeCell"><div id="question"></div></div>
  <div class="jp-Cell jp-CodeCell">
    <div class="jp-OutputArea-output" id="printed">6.0</div>
    <div class="jp-OutputArea-output jp-RenderedMarkdown" id="advice">Pick an answer above.</div>
  </div>
  <div class="jp-Cell" id="text">So the answer is 6.</div>
</div>
<script type="module">
const hear = () => {{}};
{program}
const fields = {fields}, changed = [];
const model = {{
  get: (name) => fields[name],
  on: (name, draw) => changed.push(draw),
  send: ({{ choice }}) => {{ fields.chosen = choice; changed.forEach((draw) => draw()); }},
}};
question.render({{ model, el: document.querySelector("#question") }});
</script>"""
FIELDS = {"text": "What is y?", "choices": ["6.0", "9.0"], "chosen": "", "said": "", "label": "Predict."}
BLURRED = "id => getComputedStyle(document.getElementById(id)).filter.includes('blur')"


@pytest.fixture
def shown(page):
    fields = FIELDS | {"veiled": "What follows is blurred.", "lift": "Show the lesson", "gone": "", "_key": "k"}
    page.set_content(
        PAGE.format(
            style=(FOLDER / "choices.css").read_text(encoding="utf-8"),
            program=(FOLDER / "choices.js").read_text(encoding="utf-8").replace("export default", "const question ="),
            fields=json.dumps(fields),
        )
    )
    page.locator(".minitape-open").wait_for()
    return page


def list_blurred(page):
    return [name for name in ("printed", "advice", "text") if page.evaluate(BLURRED, name)]


@pytest.mark.browser
def test_an_open_question_hides_what_was_printed_and_the_text_below_until_a_choice(shown):
    assert list_blurred(shown) == ["printed", "text"]
    shown.get_by_role("button", name="6.0").click()
    assert list_blurred(shown) == []
    expect(shown.get_by_role("button", name="Show the lesson")).not_to_be_visible()


@pytest.mark.browser
def test_one_press_shows_the_lesson_without_a_choice(shown):
    shown.get_by_role("button", name="Show the lesson").click()
    assert list_blurred(shown) == []
    expect(shown.get_by_role("button", name="Show the lesson")).not_to_be_visible()
    expect(shown.locator(".minitape-open")).to_have_count(1)  # the question can still be answered
