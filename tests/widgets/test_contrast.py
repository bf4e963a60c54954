"""Every text of the view can be read: WCAG's contrast for small text, on the themes of JupyterLab and on a page's
own.
"""

from typing import Any

import pytest

import minitape as tf
from minitape_widgets.saved_page import build_html_page as page_text
from tests.jupyterlab_page import wait_for_frame

from .conftest import custom_pair, nested, states

pytestmark = [pytest.mark.browser, pytest.mark.long]

LEAST = 4.5
# what JupyterLab's two themes say of the colours that the view takes from them; a page of its own says nothing
THEMES = {
    "page light": ("light", {}),
    "page dark": ("dark", {}),
    "JupyterLab Light": (
        "light",
        {
            "layout-color0": "white",
            "layout-color1": "white",
            "layout-color2": "#eee",
            "content-font-color1": "rgba(0, 0, 0, 0.87)",
            "border-color2": "#e0e0e0",
        },
    ),
    "forced light": ("light", {}),
    # and a light theme of JupyterLab
    "forced dark": ("dark", {"layout-color0": "white", "layout-color1": "white", "content-font-color1": "black"}),
    "JupyterLab Dark": (
        "dark",
        {
            "layout-color0": "#111",
            "layout-color1": "#212121",
            "layout-color2": "#424242",
            "content-font-color1": "#fff",
            "border-color2": "#424242",
        },
    ),
}

# Every text with the ratio of its luminance to that of what is behind it. Colours are blended from the back to the
# front; in the drawing, the shape behind a text is the rectangle before it in its group.
RATIOS = """() => {
    const parse = text => { const n = (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number); return [n[0], n[1], n[2], \
n[3] ?? 1]; };
    const over = (front, back) => [0, 1, 2].map(i => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
    const light = color => color.slice(0, 3).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / \
1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const style = el => getComputedStyle(el);
    const once = (make, known = new Map()) => el => known.get(el) ?? known.set(el, make(el)).get(el);
    const behind = once(el => el ? over(parse(style(el).backgroundColor), behind(el.parentElement)) : [255, 255, \
255, 1]);
    const shown = once(el => el ? style(el).opacity * shown(el.parentElement) : 1);
    const rectangle = el => [...el.parentElement.children].filter(one => one.tagName === "rect" && \
one.compareDocumentPosition(el) & 4).pop();
    const shape = (el, back) => {
        const rect = rectangle(el);
        if (!rect || style(rect).fill === "none") return back;
        const [r, g, b, a] = parse(style(rect).fill);
        return over([r, g, b, a * style(rect).fillOpacity * style(rect).opacity], back);
    };
    const found = [];
    for (const el of document.querySelectorAll(".mt-view *")) {
        const own = [...el.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        if (!own || !el.getClientRects().length || el.tagName === "OPTION" || el.tagName === "title") continue;
        const drawn = el.tagName === "text";
        const back = drawn ? shape(el, behind(el.closest(".mt-pane") ?? el.closest("svg"))) : behind(el);  // in the \
drawing, or in a curve
        const [r, g, b, a] = parse(drawn ? style(el).fill : style(el).color);
        const [one, other] = [light(over([r, g, b, a * shown(el)], back)), light(back)].sort((x, y) => y - x);
        found.push([(one + 0.05) / (other + 0.05), `${el.textContent.slice(0, 40)} <${el.getAttribute("class")}> in \
<${el.parentElement.getAttribute("class")}>`]);
    }
    return found;
}"""


def forgotten() -> tuple[Any, Any, Any]:
    """Operations that ran on no tape, a constant, and frames in all colours."""
    x, w = tf.constant(2.0), tf.Variable(3.0, name="w")
    with tf.GradientTape() as tape, tf.GradientTape(), tf.GradientTape(), tf.GradientTape():
        y = x * x * w + 1.0
    return tape, y, w


def trained() -> tuple[Any, Any, Any]:
    """A variable that was assigned after the gradient, whose row is filled in the last step."""
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        y = w * w * 3.0
    w.assign_sub(0.1 * tape.gradient(y, w))
    return tape, None, None


# Lines and boxes of the drawing beside what is behind them: WCAG asks for 3 of what has to be seen.
LINES = (
    RATIOS[: RATIOS.index("const found")]
    + """
    const back = behind(document.querySelector(".mt-pane"));
    return [...document.querySelectorAll(".mt-node:not(.mt-todo) .mt-box, .mt-edge:not(.mt-todo)")].map(el => {
        const [one, other] = [light(over(parse(style(el).stroke), back)), light(back)].sort((x, y) => y - x);
        return (one + 0.05) / (other + 0.05);
    });
}"""
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colours_are_those_of_the_system_in_the_drawing_too(scheme, browser):
    """Also where the theme of the page is the other one; what is current and what was sent is told apart without
    colours.
    """
    page = browser.new_page(color_scheme=scheme, forced_colors="active", reduced_motion="reduce")
    try:
        page.set_content(page_text(tf.snapshot(*nested())))
        page.wait_for_selector(".mt-node")
        page.evaluate(
            "theme => document.documentElement.dataset.theme = theme", "light" if scheme == "dark" else "dark"
        )
        page.locator(".mt-view").focus()
        for keys in ("End", "ArrowLeft"):
            page.keyboard.press(keys)
            wait_for_frame(page)
        ratios = page.evaluate(LINES)
        assert len(ratios) > 10 and min(ratios) >= 3
        widths = "els => els.map(el => parseFloat(getComputedStyle(el).strokeWidth))"
        current = page.locator(".mt-current .mt-box").evaluate_all(widths)
        assert min(current) > max(
            page.locator(".mt-node:not(.mt-current):not(.mt-target) .mt-box").evaluate_all(widths)
        )
        canvas = page.evaluate(
            "() => { document.body.style.background = 'Canvas'; return "
            "getComputedStyle(document.body).backgroundColor }"
        )
        fills = "els => [...new Set(els.map(el => getComputedStyle(el).fill))]"
        assert page.locator(".mt-node .mt-box").evaluate_all(fills) == [canvas]
    finally:
        page.close()


CASES = [(theme, program) for theme in THEMES for program in (states, nested, custom_pair, forgotten)]


@pytest.mark.long(sample=10)
@pytest.mark.parametrize(
    ("theme", "program"),
    [*CASES[::2], *CASES[1::8], *CASES[7::8], ("page light", trained), ("page dark", trained)],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_texts_stand_out_from_what_is_behind_them(theme, program, browser):
    scheme, variables = THEMES[theme]
    tape, target, sources = program()
    forced = "active" if theme.startswith("forced") else "none"
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce", forced_colors=forced)
    try:
        page.set_content(page_text(tf.snapshot(tape, target, sources)))
        page.wait_for_selector(".mt-node")
        for name, value in variables.items():
            page.evaluate("([n, v]) => document.documentElement.style.setProperty(n, v)", [f"--jp-{name}", value])
        page.locator(".mt-view").focus()
        for keys in ("Home", "ArrowRight", "End", "ArrowLeft", "ArrowUp", "?"):
            page.keyboard.press(keys)
            wait_for_frame(page)
            ratios = page.evaluate(RATIOS)
            assert len(ratios) > 20
            faint = [f"{ratio:.2f}  {text}" for ratio, text in ratios if ratio < LEAST]
            assert not faint, f"after {keys}:\n" + "\n".join(faint)
    finally:
        page.close()
