"""`<mini-tape>`: a program in any web page, with its picture. minitape runs each program, too."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import minitape as tf
from minitape_widgets import TapeView
from tests.explorable_programs import EXAMPLES, list_differences, run_in_minitape, write_programs
from tests.jupyterlab_page import read_box, wait_for_frame

from .test_view import hash_of

find_explorables = runpy.run_path(str(Path(tf.__file__).parents[1] / "docs" / "site" / "explorables.py"))[
    "find_explorables"
]
pytestmark = pytest.mark.browser

SCRIPT = Path(tf.__file__).parents[1] / "widgets" / "minitape_widgets" / "static" / "minitape.js"
SNAPSHOTS = """programs => programs.map(([program, at]) => {
    try { return customElements.get("mini-tape").snapshotOf(program, { at }); }
    catch (error) { return { error: `line ${error.span?.line}: ${error.message}` }; }
})"""


def open_page(page: Any, body: str) -> Any:
    """Show a page that includes the script."""
    page.set_content(f"<!doctype html><html><body>{body}<script>{SCRIPT.read_text('utf-8')}</script></body></html>")
    page.wait_for_function("[...document.querySelectorAll('mini-tape')].every(one => one.shadowRoot)")
    wait_for_frame(page)
    return page


def type_over(page: Any, program: str) -> None:
    """Replace the program of the first explorable as a reader does."""
    page.locator("mini-tape textarea").first.fill(program)
    wait_for_frame(page)


def run_in_browser(page: Any, programs: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    open_page(page, "")
    return json.loads(json.dumps(page.evaluate(SNAPSHOTS, programs)))


def test_the_script_is_that_of_the_sources():
    source = hash_of("element", "evaluator", "src")
    first = SCRIPT.read_text(encoding="utf-8").splitlines()[0]
    assert first == f"/* minitape element, source {source} */", "run `npm run build` in widgets/frontend"
    assert len(SCRIPT.read_bytes()) <= 270_000
    assert set(re.findall(r"https?://[\w./-]+", SCRIPT.read_text(encoding="utf-8"))) <= {"http://www.w3.org/2000/svg"}


def test_a_start_value_keeps_its_name_when_the_name_is_assigned_again(page):
    """minitape itself calls the start value of such a name h₀."""
    loop = "for i in range(8):\n    h = tanh(w * h + 0.2)\nL = h * h"
    own = tf.Variable(0.1)
    (snapshot,) = run_in_browser(page, [(loop, {"w": 0.9, "h": 0.1})])
    assert sorted(row["name"] for row in snapshot["rows"] if row["kind"] == "variable") == ["h₀", "w"]
    assert sorted(source["name"] for source in snapshot["results"][0]["sources"]) == ["h₀", "w"]
    h, w = own, tf.Variable(0.9, name="w")
    with tf.GradientTape() as tape:
        for _ in range(8):
            h = tf.tanh(w * h + 0.2)
        final = h * h
    gradient = tape.gradient(final, own)
    found = {source["name"]: source["gradient"]["data"] for source in snapshot["results"][0]["sources"]}
    assert found["h₀"] == pytest.approx(float(gradient), rel=1e-4)


def test_a_script_in_the_head_waits_for_the_programs(page):
    """Without `defer`, it runs before the browser has read the text of any program."""
    script = SCRIPT.read_text(encoding="utf-8")
    page.set_content(
        f"<!doctype html><html><head><meta charset=utf-8><script>{script}</script></head><body>"
        "<p>a text before</p><mini-tape>y = x * sin(x)</mini-tape><mini-tape>z = a * a</mini-tape></body></html>"
    )
    page.locator("mini-tape .mt-node").first.wait_for()
    wait_for_frame(page)
    values = page.locator("mini-tape").evaluate_all("all => all.map(one => one.value)")
    assert values == ["y = x * sin(x)", "z = a * a"]
    assert page.locator("mini-tape .mt-node").count() == 5


def list_page_examples() -> list[tuple[str, dict[str, Any]]]:
    """Return the programs of the documentation, with the values of names that their `at` gives."""
    examples = []
    for path in sorted((Path(tf.__file__).parents[1] / "docs").rglob("*.md")):
        for program, attributes in find_explorables(path.read_text(encoding="utf-8")):
            given = re.search(r'\bat="([^"]*)"', attributes)
            pairs = (part.split("=") for part in given[1].split(";")) if given else ()
            examples.append((program, {name.strip(): json.loads(value, parse_int=float) for name, value in pairs}))
    return examples


def test_pages_show_what_minitape_computes(page):
    examples = list_page_examples()
    found = run_in_browser(page, examples)
    refused = [program for (program, _), snapshot in zip(examples, found, strict=True) if "error" in snapshot]
    assert refused == ["y = np.sin(x)\n"]  # which a page shows on purpose
    assert len(examples) > len(refused) and not any(
        list_differences(snapshot, run_in_minitape(program, given))
        for (program, given), snapshot in zip(examples, found, strict=True)
        if program not in refused
    )


def test_a_recorded_picture_is_shown_from_its_file(page, tmp_path):
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = tf.sin(x) * x
    tape.gradient(y, x)
    TapeView(tape).save(tmp_path / "tape.json")
    text = (tmp_path / "tape.json").read_text(encoding="utf-8")
    page.route("https://site.test/**", lambda route: route.fulfill(
        body=text if "json" in route.request.url else "<!doctype html><body></body>",
        content_type="application/json" if "json" in route.request.url else "text/html",
    ))  # fmt: skip
    page.goto("https://site.test/")
    page.add_script_tag(content=SCRIPT.read_text("utf-8"))
    page.evaluate('document.body.innerHTML = \'<mini-tape src="tape.json" step="end"></mini-tape>\'')
    page.locator("mini-tape .mt-node").first.wait_for()
    assert page.locator("mini-tape .mt-count").inner_text() == "backward 2 / 2"
    assert page.locator("mini-tape").evaluate("one => one.number('dy/dx')") == tape_gradient(text)
    page.evaluate("document.body.innerHTML = '<mini-tape src=\"nothing.txt\"></mini-tape>'")
    page.locator("mini-tape .error", has_text="nothing.txt cannot be shown").wait_for()


def tape_gradient(text: str) -> str:
    return json.loads(text)["results"][0]["sources"][0]["gradient"]["text"]


def test_examples_give_the_numbers_of_minitape(page):
    found = run_in_browser(page, EXAMPLES)
    differences = [
        (program, list_differences(snapshot, run_in_minitape(program, given)))
        for (program, given), snapshot in zip(EXAMPLES, found, strict=True)
    ]
    assert [one for one in differences if one[1]] == []


def test_random_programs_give_the_numbers_of_minitape(page, request):
    count = 500 if request.config.getoption("--long") else 40
    programs: list[tuple[str, dict[str, Any]]] = [(program, {}) for program in write_programs(7, count)]
    found = run_in_browser(page, programs)
    differences = [
        (program, list_differences(snapshot, run_in_minitape(program, given)))
        for (program, given), snapshot in zip(programs, found, strict=True)
    ]
    assert [one for one in differences if one[1]] == []


@pytest.mark.parametrize(
    "program, reason",
    [
        ("y = np.sin(x)", "line 1: np needs Python; write sin(x) or tf.sin(x) here"),
        ("y = x * torch.sin(x)", "line 1: torch needs Python; write sin(x) or tf.sin(x) here"),
        ("y = tf.nothing(x)", "line 1: tf.nothing does not exist"),
        ("y = tf.argmax(x)", "line 1: tf.argmax needs Python"),
        ("x = 1.0\ny = x *", "line 2: something is missing here"),
        ("y = foo(x)", "line 1: foo is not a function"),
        ("y = sinn(x)", "line 1: sinn is not a function; do you mean sin?"),
        ("y = (x + 1)(x)", "line 1: this is not a function"),
        ("x = tf.Variable(2)\nwith tf.GradientTape() as t:\n    y = x * 2\nt.gradient(y, x)", "line 1: whole numbers"),
        ("import numpy as np\ny = x", "line 1: import numpy needs Python"),
        ("y = [1.0, 2.0] * x + [1.0, 2.0, 3.0]", "line 1: the shapes (2,), (3,) do not fit +"),
        ("while x > 0:\n    x = x - 1", "line 1: while needs Python"),
        ("x = [1.0, 2.0]\ny = x[5]", "line 2: this index does not fit the shape (2,)"),
        ("y = 3", "line 1: nothing is computed from a variable"),
        ("x = 1.0\ny = sum(x, axis=3)", "line 2: an array with 0 axes does not have this axis"),
        ("y = sum(stack([x]) * zeros([100]))", "line 1: an array has at most 64 elements here"),
        ("x = tf.Variable(1.0)\nwith tf.GradientTape() as t:\n    x.assign(2.0)", "line 3: an assignment on a tape"),
        ("y = x // 0 + 1 / 0", "line 1: division by zero"),
        ("y = x.numpy() * 2.0", "line 1: values from .numpy() need Python"),
        ("y = stack([x, x])\nd = grad(sum(y * y), x)", "line 2: the second derivative of stack needs Python"),
    ],
)
def test_what_is_not_known_is_refused_with_its_reason(page, program, reason):
    (found,) = run_in_browser(page, [(program, {})])
    assert found.get("error", "").startswith(reason)


def test_the_picture_follows_each_key_and_is_stale_while_the_program_is_wrong(page):
    open_page(page, '<mini-tape at="x=3">y = x * sin(x)</mini-tape>')
    picture = page.locator("mini-tape")
    assert picture.evaluate("one => [one.number('y'), one.number('dy/dx')]") == ["0.42336", "-2.8288574"]
    type_over(page, "y = x * cos(x")
    assert page.locator("mini-tape .error").inner_text() == "line 1: “)” is expected here"
    assert page.locator("mini-tape .stale").count() == 1
    type_over(page, "y = x * cos(x)")
    assert page.locator("mini-tape .stale").count() == 0
    assert "cos" in page.locator("mini-tape .mt-scene").text_content()
    assert picture.evaluate("one => one.number('dy/dx')") == "-1.4133525"


def test_a_number_of_the_program_is_pulled_and_can_be_brought_back(page):
    open_page(page, "<mini-tape>x = 1.5\ny = x * x</mini-tape>")
    box = read_box(page.locator("mini-tape pre .number").first)
    page.mouse.move(box["x"] + 4, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 44, box["y"] + 8, steps=5)
    page.mouse.up()
    assert page.locator("mini-tape").evaluate("one => [one.value, one.number('dy/dx')]") == [
        "x = 2.5\ny = x * x",
        "5.0",
    ]
    page.locator("mini-tape textarea").press("Control+z")
    assert page.locator("mini-tape").evaluate("one => one.value") == "x = 1.5\ny = x * x"


def test_a_leaf_of_the_picture_is_pulled_and_the_program_changes(page):
    open_page(page, "<mini-tape>x = 1.5\ny = x * x</mini-tape>")
    box = read_box(page.locator("mini-tape .mt-node[data-id]").first)
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 20, steps=4)
    page.mouse.up()
    assert page.locator("mini-tape").evaluate("one => one.value") == "x = 2.5\ny = x * x"


def test_attributes_and_methods_lead_the_picture(page):
    open_page(page, '<mini-tape step="back:2" mode="slopes" wrt="x" of="a">a = x * w\nb = a * 2.0</mini-tape>')
    picture = page.locator("mini-tape")
    assert page.locator("mini-tape .mt-count").inner_text() == "backward 1 / 1"
    assert page.locator("mini-tape .mt-sloping").count() == 1
    assert "∂a" in page.locator("mini-tape .mt-results").inner_text()
    picture.evaluate("one => one.goto('start')")
    assert page.locator("mini-tape .mt-count").inner_text().startswith("forward 0")
    picture.evaluate("one => one.setAttribute('of', 'b')")
    assert picture.evaluate("one => one.number('db/dx')") == "2.0"
    picture.evaluate("one => one.set('x', 4)")
    assert picture.evaluate("one => [one.number('b'), one.snapshot.rows.length]") == ["8.0", 5]
    for call in ("one.goto('nowhere')", "one.set('q', 1)"):
        with pytest.raises(Exception, match=r"mini-tape has no step|the program has no number"):
            picture.evaluate(f"one => {call}")


def test_a_prediction_has_a_field_for_its_number(page):
    open_page(page, '<mini-tape mode="predict" at="a=2; b=3">c = a * b\ny = c * c + a</mini-tape>')
    answer = page.locator("mini-tape .mt-answer")
    assert answer.is_visible()
    answer.fill("5")
    page.locator("mini-tape").get_by_role("button", name="check").click()
    assert page.locator("mini-tape .mt-said").inner_text() == "not yet: local derivative × g"
    answer.fill("1")
    answer.press("Enter")
    assert page.locator("mini-tape .mt-count").inner_text() == "backward 1 / 3"
    assert not page.locator("mini-tape :is(.mt-stepbar .mt-jump, .mt-stepbar .mt-select)").first.is_visible()


COLUMN = "<style>body { width: 680px; margin: 0 }</style>"
OUTSIDE = """() => {
  const root = document.querySelector("mini-tape").shadowRoot, box = (one) => one.getBoundingClientRect();
  const { left, right } = box(root.querySelector(".mt-pane"));
  const parts = [...root.querySelectorAll(".mt-node .mt-box, .mt-frame rect")].map(box);
  return [parts.length > 0, parts.filter((one) => one.left < left || one.right > right).length];
}"""
SECOND_DERIVATIVE = """x = tf.Variable(3.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = x ** 3
    dy = inner.gradient(y, x)
d2y = outer.gradient(dy, x)"""


def test_two_storeys_fit_into_the_column_of_an_article(page):
    open_page(page, f'{COLUMN}<mini-tape step="end">{SECOND_DERIVATIVE}</mini-tape>')
    assert page.evaluate(OUTSIDE) == [True, 0]


PLACES = """() => [...document.querySelector("mini-tape").shadowRoot.querySelectorAll(".mt-node .mt-box")]
  .map((one) => one.getBoundingClientRect()).map(({ x, y }) => [Math.round(x), Math.round(y)])"""


def test_few_columns_run_down_the_column_of_an_article_and_more_stand_three_in_a_line(page):
    open_page(page, f'{COLUMN}<mini-tape mode="cut" at="x=0.7">u = exp(x)\ny = sin(u) * u + x</mini-tape>')
    places = page.evaluate(PLACES)
    tops = [top for _, top in places]
    assert len(places) == 5 and tops == sorted({*tops})  # no edge runs back to the next line
    assert page.evaluate(OUTSIDE) == [True, 0]
    type_over(page, "w = 0.8\nb = -0.3\np = sigmoid(w * 1.5 + b)\nloss = -log(p)")
    assert page.evaluate(OUTSIDE) == [True, 0]
    assert len({left for left, _ in page.evaluate(PLACES)[-3:]}) == 3  # p, log and loss share a line
    assert len({top for _, top in page.evaluate(PLACES)[-3:]}) == 1


def test_prose_follows_and_leads_a_picture(page):
    open_page(
        page,
        '<mini-tape id="a" at="x=3">y = x * x</mini-tape><p><mini-tape-value for="a" of="dy/dx"></mini-tape-value></p>'
        '<mini-tape-step for="a" step="end">the end</mini-tape-step><mini-tape-step for="a" step="start">the start'
        "</mini-tape-step>",
    )
    assert page.locator("mini-tape-value").inner_text() == "6"
    page.locator("mini-tape").evaluate("one => one.set('x', 0.25)")
    assert page.locator("mini-tape-value").inner_text() == "0.5"
    page.get_by_text("the end").click()
    assert page.locator("mini-tape .mt-count").inner_text() == "backward 1 / 1"
    page.get_by_text("the start").click()
    assert page.locator("mini-tape .mt-count").inner_text().startswith("forward 0")
    assert page.locator("mini-tape-step[current]").inner_text() == "the start"


def test_events_tell_a_page_what_happens(page):
    open_page(page, "<mini-tape>y = x * x</mini-tape>")
    page.evaluate(
        "() => { window.heard = []; for (const name of ['change', 'step', 'error', 'ready'])"
        " addEventListener(`minitape-${name}`, event => heard.push([name, event.detail])); }"
    )
    type_over(page, "y = x * x * x")
    page.locator("mini-tape").evaluate("one => one.goto('back:1')")
    type_over(page, "y = x *")
    heard = page.evaluate("heard.map(([name, detail]) => [name, detail.program ?? detail.step ?? detail.message])")
    assert heard == [
        ["change", "y = x * x * x"],
        ["step", "back:1"],
        ["error", "line 1: something is missing here"],
    ]


def test_nodes_stay_what_they_are_when_the_program_grows(page):
    page.emulate_media(reduced_motion="no-preference")
    open_page(page, '<mini-tape at="x=3">y = x * sin(x)</mini-tape>')
    page.evaluate(
        "() => { window.places = []; const root = document.querySelector('mini-tape').shadowRoot;"
        " new MutationObserver(() => places.push(root.querySelector('[data-id] .mt-title').parentNode"
        ".getAttribute('transform'))).observe(root.querySelector('.mt-scene'), {subtree: true, attributes: true,"
        " attributeFilter: ['transform']}); }"
    )
    type_over(page, "y = x * sin(x) + cos(x) * 2.0 + exp(x)")
    page.wait_for_function("!document.querySelector('mini-tape').shadowRoot.querySelector('.mt-gliding')")
    assert len(set(page.evaluate("places"))) > 2  # the node of x went there in several frames


def test_a_strict_policy_is_no_hindrance(page_with_policy, tmp_path):
    page, said = page_with_policy, []
    page.on("console", lambda message: said.append(message.text))
    policy = "default-src 'none'; script-src https://site.test; style-src 'none'"
    html = (
        f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<script src="https://site.test/m.js" defer></script>'
        '<mini-tape step="end" mode="cell">x = [[1.0, 2.0], [3.0, 4.0]]\ny = sum(x @ x)</mini-tape>'
    )
    page.route("https://site.test/**", lambda route: route.fulfill(
        body=SCRIPT.read_text("utf-8") if route.request.url.endswith("m.js") else html,
        content_type="text/javascript" if route.request.url.endswith("m.js") else "text/html",
    ))  # fmt: skip
    page.goto("https://site.test/")
    page.locator("mini-tape .mt-node").first.wait_for()
    assert said == []
    assert page.locator("mini-tape .frame").evaluate("one => getComputedStyle(one).borderTopWidth") == "1px"


def test_a_picture_in_a_shadow_tree_keeps_its_keys(page):
    open_page(page, '<mini-tape step="start">y = x * x * x</mini-tape>')
    page.locator("mini-tape .mt-view").focus()
    page.keyboard.press("End")
    assert page.locator("mini-tape .mt-count").inner_text() == "backward 2 / 2"
    page.locator("mini-tape textarea").focus()
    page.keyboard.press("Home")
    assert page.locator("mini-tape .mt-count").inner_text() == "backward 2 / 2"  # the key was for the program
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    assert page.locator("mini-tape .mt-count").inner_text().startswith("forward 0")


def test_pointing_links_the_program_and_the_picture(page):
    open_page(page, '<mini-tape at="x=3">y = x * sin(x)</mini-tape>')
    page.locator("mini-tape .mt-node", has_text="sin").hover()
    assert page.locator("mini-tape pre .on").all_inner_texts() == ["sin", "(", "x", ")"]
    box = read_box(page.locator("mini-tape pre span", has_text="sin"))
    page.mouse.move(box["x"] + 3, box["y"] + 5)
    assert "sin" in page.locator("mini-tape .mt-hover").text_content()


def test_its_words_are_those_of_the_page(page):
    texts = json.dumps({"line {0}: {1}": "第 {0} 行：{1}", "something is missing here": "这里缺少内容"})
    script = f'<script type="application/json" data-minitape-texts>{texts}</script>'
    open_page(page, f"{script}<mini-tape>y = x *</mini-tape>")
    assert page.locator("mini-tape .error").inner_text() == "第 1 行：这里缺少内容"


@pytest.mark.parametrize("controls", ["results", "code", "sliders", None])
def test_controls_govern_the_sliders(controls, page):
    attribute = "" if controls is None else f'controls="{controls}"'
    page = open_page(page, f'<mini-tape {attribute} at="x=2">y = x ** 3</mini-tape>')
    for part, selector in [("sliders", ".sliders"), ("code", ".code")]:
        assert page.locator(f"mini-tape {selector}").is_visible() == (controls in (part, None))
