"""The page with the map of a model: what it shows, and how a reader moves in it."""

from __future__ import annotations

from typing import Any

import pytest

from minitape_widgets.model_map import MAP_BUNDLE, build_map_page

from .test_view import hash_of

NAMES = {"net.emb.weight": 6000, "net.blocks.0.w": 2000, "net.blocks.1.w": 2000, "net.blocks.1.b": 10}


def build_data() -> dict[str, Any]:
    """A model of two steps, whose last block gets no gradient in the second step."""
    parameters = []
    for number, (name, size) in enumerate(NAMES.items()):
        is_blocked = name.startswith("net.blocks.1")
        parameters.append(
            {
                "name": name,
                "path": name.split("."),
                "shape": [size],
                "size": size,
                "norms": [10.0**-number, "none" if is_blocked else 2 * 10.0**-number],
                "updates": [0.001, "from 0"],
                "causes": [-1, 0 if is_blocked else -1],
            }
        )
    problem = {
        "name": "net.blocks.1.w",
        "kind": "cut",
        "cause": "detach",
        "message": "detach (line 7) blocks the gradient to net.blocks.1.w.",
        "fix": "Leave out .detach().",
        "place": "a.py:7",
        "code": "h = h.detach() # <script>alert(1)</script>",
    }
    return {
        "title": "Net",
        "root": ["net"],
        "steps": 2,
        "parameters": parameters,
        "classes": {"blocks.0": "Block", "blocks.1": "Block"},
        "explanations": [problem],
        "modules": {
            "blocks.1": [[5, "h = relu", [2, 3], 7, 0.5], [6, "×", [2, 3], 8, "none"]],
            "": [[9, "sum", [], 9, 1.0]],
        },
    }


def test_the_bundle_is_that_of_the_sources() -> None:
    first = MAP_BUNDLE.read_text(encoding="utf-8").splitlines()[0]
    assert first == f"/* minitape map of a model, source {hash_of('map', 'src')} */", "run `npm run build`"


@pytest.mark.browser
def test_a_reader_sees_the_modules_and_asks_for_one(page: Any) -> None:
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.set_viewport_size({"width": 1200, "height": 800})
    page.set_content(build_map_page(build_data()))
    page.wait_for_selector(".mt-map-box")

    def list_boxes() -> dict[str, tuple[float, float]]:
        script = "boxes => boxes.map(b => [b.getAttribute('aria-label'), b.offsetLeft, b.offsetHeight])"
        return {label: (left, height) for label, left, height in page.locator(".mt-map-box").evaluate_all(script)}

    boxes = list_boxes()
    heights = {label.split(",")[0]: height for label, (_, height) in boxes.items()}
    assert heights["emb"] / heights["net"] == pytest.approx(6000 / 10010, abs=0.01)
    assert page.locator(".mt-map-swatch").all_text_contents() == [
        "10⁻³",
        "10⁻²",
        "10⁻¹",
        "10⁰",
        "None",
        "has a problem",
    ]
    marked = page.locator(".mt-map-box.mt-map-marked > span").all_text_contents()
    assert marked[:3] == ["net", "blocks", "1 Block"]

    page.locator(".mt-map-box", has_text="1 Block").click()
    panel = page.locator(".mt-map-panel").inner_text()
    assert "blocks.1" in panel and "norm of the gradient: None" in panel and "h = relu" in panel
    assert "sum" not in panel
    assert "This is also true of one more parameter." in panel and "<script>" in panel
    slider = page.locator("input[type=range]")
    assert slider.get_attribute("aria-valuetext") == "step 2 of 2, 1: norm of the gradient: None"
    assert page.locator(".mt-map [aria-live], .mt-map output").count() == 0  # only what changed is said
    slider.focus()
    page.keyboard.press("ArrowLeft")
    panel = page.locator(".mt-map-panel").inner_text()
    assert "norm of the gradient: 0.01\n" in panel and "detach" not in panel
    assert page.locator(".mt-map-box.mt-map-marked").count() == 0

    page.locator(".mt-map-box", has_text="1 Block").click()  # The second click enlarges it.
    assert {label.split(",")[0] for label in list_boxes()} == {"1", "w", "b"}
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert "emb" in {label.split(",")[0] for label in list_boxes()}
    page.keyboard.press("ArrowRight")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("emb, 6,000 elements")

    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("document.querySelector('.mt-map-panel').getBoundingClientRect().left < 50")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert faults == []
