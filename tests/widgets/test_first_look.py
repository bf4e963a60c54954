"""What a view shows before anybody scrolls, zooms or folds."""

import pytest

import minitape as tf

pytestmark = pytest.mark.browser

VISIBLE = """query => {
  const pane = document.querySelector(".mt-pane").getBoundingClientRect();
  return [...document.querySelectorAll(query)].map(part => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    return left >= pane.left - 1 && right <= pane.right + 1 && top >= pane.top - 1 && bottom <= pane.bottom + 1;
  });
}"""


def test_a_cell_shows_the_sum_below_a_node_of_a_small_tape(page):
    """README's example in a cell of a notebook: the pane grows with the graph, which is larger than natural size."""
    from minitape_widgets.saved_page import build_html_page

    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * tf.sin(x)
    page.set_viewport_size({"width": 1440, "height": 900})
    text = build_html_page(tf.snapshot(tape, y, x))
    page.set_content(text.replace('<main id="view" data-fill', '<main id="view" style="width: 1030px"'))
    page.wait_for_selector(".mt-node")
    page.locator(".mt-view").focus()
    page.keyboard.press("End")
    page.wait_for_selector(".mt-addends")
    assert page.locator(".mt-addends").text_content().split() == ["0.1411", "+", "(-2.97)", "=", "-2.829"]
    assert page.evaluate(VISIBLE, ".mt-addends, .mt-product, .mt-node") == [True] * 5


def test_the_whole_graph_is_in_view_if_a_lower_table_makes_room(show, page):
    page.set_viewport_size({"width": 1440, "height": 840})
    weights = [tf.Variable(float(k), name=f"w{k}") for k in range(7)]
    with tf.GradientTape() as tape:
        y = tf.add_n(weights)
    page = show(tf.snapshot(tape, y, weights))
    assert page.evaluate(VISIBLE, ".mt-node") == [True] * 8
    assert page.locator(".mt-below").evaluate("part => part.clientHeight") >= 160
