"""The playground while one types: its picture needs no Python for a program that the browser understands."""

import json
from pathlib import Path
from typing import Any

import pytest

from minitape.cli.playground_page import write_playground_pages
from tests.jupyterlab_page import read_box, wait_for_frame

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def playground(page: Any, tmp_path: Path) -> Any:
    """The page on a site without Python."""
    (tmp_path / "pyodide-lock.json").write_text(json.dumps({"packages": {}}), encoding="utf-8")
    write_playground_pages(tmp_path, ".", "./pyodide.mjs")
    kinds = {".html": "text/html", ".js": "text/javascript"}

    def answer(route: Any) -> None:
        file = tmp_path / route.request.url.partition("?")[0].rpartition("/")[2]
        if file.is_file():
            route.fulfill(body=file.read_text("utf-8"), content_type=kinds.get(file.suffix, "application/json"))
        else:
            route.fulfill(status=404)

    page.route("https://site.test/**", answer)
    page.goto("https://site.test/index.html")
    page.wait_for_selector("html[data-shown]")
    return page


def type_at_end(page: Any, line: str, text: str) -> None:
    """Type behind a line of the program."""
    page.locator(".cm-line", has_text=line).click()
    page.keyboard.press("End")
    page.keyboard.type(text)
    wait_for_frame(page)


def test_the_picture_follows_what_one_types_without_python(playground: Any) -> None:
    assert playground.locator(".mt-node").count() == 3
    type_at_end(playground, "y = x * tf.sin(x)", " + tf.exp(x)")
    assert playground.locator(".mt-node").count() == 5
    assert playground.locator("#picture.stale").count() == 0
    assert "∂y" in playground.locator(".mt-results").inner_text()
    assert playground.locator("#output").inner_text() == ""  # Python was not asked for


def test_the_whole_picture_is_in_view_after_one_typed(playground: Any) -> None:
    type_at_end(playground, "y = x * tf.sin(x)", " + tf.exp(x)")
    playground.wait_for_timeout(300)
    pane = read_box(playground.locator(".mt-pane"))
    for box in playground.locator(".mt-node .mt-box").all():
        place = read_box(box)
        assert pane["x"] <= place["x"] and place["x"] + place["width"] <= pane["x"] + pane["width"]
    view = read_box(playground.locator(".mt-view"))
    assert view["y"] + view["height"] <= playground.viewport_size["height"]


def test_what_only_python_can_run_is_said_and_the_picture_turns_pale(playground: Any) -> None:
    type_at_end(playground, "y = x * tf.sin(x)", " + tf.nothing(x)")
    assert playground.locator("#picture.stale").count() == 1
    assert "tf.nothing does not exist" in playground.locator("#state").inner_text()
    for _ in " + tf.nothing(x)":
        playground.keyboard.press("Backspace")
    wait_for_frame(playground)
    assert playground.locator("#picture.stale").count() == 0


def test_the_line_of_a_step_is_marked_in_the_one_program_that_there_is(playground: Any) -> None:
    assert not playground.locator(".mt-source").is_visible()
    playground.locator(".mt-view").focus()
    playground.keyboard.press("Home")
    playground.keyboard.press("ArrowRight")
    assert "tf.sin(x)" in playground.locator(".cm-at").inner_text()
