"""The cell of a tape runs again: the picture says so, and keeps the step where the program is the same."""

from typing import Any

import pytest

import minitape as tf
from minitape_widgets.saved_page import build_html_page as page_text

from .conftest import read_position, type_keys, wait_for_frame

pytestmark = pytest.mark.browser
SAID = "The tape started over because its with block ran again."
LIVE = """async (parts) => {
  const text = JSON.parse(document.getElementById("bundle").textContent);
  const { mount } = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  document.getElementById("view").replaceChildren();
  const view = mount(document.getElementById("view"), parts[0]);
  window.next = (k) => view.st.take(parts[k]);
}"""


@pytest.mark.parametrize("same", [True, False])
def test_a_cell_that_runs_again(same, page):
    x, tape = tf.Variable(3.0, name="x"), tf.GradientTape()

    def run(more: bool = False) -> Any:
        with tape:
            y = x * x + x
            if more:
                y = tf.sin(y)
        tape.gradient(y, x)
        return tf.snapshot(tape)

    parts = [run(), run(not same)]
    parts += [parts[1] | {"sweep": parts[1]["sweep"] | {"id": "another"}}]  # of a second call of tape.gradient
    for part in parts:
        part["record"] = parts[0]["record"]  # one reader reads on
    page.set_content(page_text(parts[0]))
    page.wait_for_selector(".mt-node")
    page.evaluate(LIVE, parts)
    page.locator(".mt-view").focus()
    type_keys(page, "End")
    before, said = read_position(page), page.locator(".mt-help")
    page.evaluate("next(1)")
    wait_for_frame(page)
    assert said.inner_text() == SAID and said.is_visible()
    assert read_position(page) == (before if same else "forward 6 / 6")
    type_keys(page, "Home", "?", "ArrowRight")
    assert said.is_visible() and "one step" in said.inner_text()
    page.evaluate("next(2)")
    assert read_position(page).startswith("forward 1 ")
