"""The playground works in a browser alone, even with a missing gradient, an endless loop, or a stranger's link."""

import base64
import hashlib
import json
import re
import zlib
from pathlib import Path

import pytest

from minitape.cli.playground_page import EXAMPLES_FOLDER, PAGE_FOLDER, build_playground_example
from minitape.common.translation import detect_language
from minitape_widgets.playground import Playground

SOURCES = Path(__file__).parents[2] / "widgets" / "frontend" / "playground"
PATIENCE = 120_000  # The number of milliseconds on a busy machine.
in_browser = [pytest.mark.long, pytest.mark.browser, pytest.mark.lite]
HOSTILE = """# </script><img src=x onerror="document.title='taken'">
import minitape as tf
import js
print("<img src=x onerror=\\"document.title='taken'\\">")
print([name for name in ("indexedDB", "caches", "BroadcastChannel", "Worker") if getattr(js, name, None)])
js.fetch("https://example.com/?told")
"""


@pytest.mark.parametrize("path", sorted(EXAMPLES_FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_an_example_has_a_picture_and_says_what_to_look_for(path):
    found = build_playground_example(path)
    assert found["snapshot"]["rows"] and found["snapshot"]["sweep"]
    assert found["program"].splitlines()[1].startswith("# Notice ")


@pytest.mark.parametrize("path", sorted(EXAMPLES_FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_an_example_in_chinese_computes_the_same_and_says_it_in_chinese(path):
    english, chinese = build_playground_example(path), build_playground_example(path, "zh")
    words = [line for line in chinese["program"].splitlines() if line.startswith("#")]
    assert len(words) == 2 and all(re.search("[\u4e00-\u9fff]", line) for line in words)
    values = [[row["value"] for row in one["snapshot"]["rows"]] for one in (english, chinese)]
    assert values[0] == values[1]
    assert detect_language() == "en"


@pytest.mark.parametrize(
    "fault, name", {"1 / 0": "ZeroDivisionError", "tf.Variable(2.0) * tf.constant(3)": "InvalidArgumentError"}.items()
)
def test_a_program_that_fails_says_its_own_lines_only(fault, name):
    heard = []
    program = f"import minitape as tf\ndef f():\n    return {fault}\nf()\n"
    Playground(lambda text, data: heard.append(json.loads(text))).run(program)
    failed = next(one["text"] for one in heard if one["kind"] == "failed")
    assert failed.count("File") == failed.count("program.py") == 2 and name in failed
    assert heard[-1] == {"kind": "ended", "tape": False}


def test_the_fix_of_a_missing_gradient_is_said_by_line():
    heard = []
    playground = Playground(lambda text, data: heard.append(json.loads(text)))
    playground.run((EXAMPLES_FOLDER / "06_none_watch.txt").read_text(encoding="utf-8"))
    (answer,) = next(one["answers"] for one in heard if one["kind"] == "why")
    assert answer["patch_line"] == answer["line"] and "tape.watch(x)" in answer["patch"]


def test_the_script_is_that_of_its_sources():
    digest = hashlib.sha256()
    files = [
        file
        for folder in (SOURCES.with_name("evaluator"), SOURCES)
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
    ]
    for file in files:
        digest.update(f"{file.name}\n".encode())
        digest.update(file.read_text(encoding="utf-8").replace("\r\n", "\n").encode())
    with (PAGE_FOLDER / "playground.js").open(encoding="utf-8") as script:
        assert digest.hexdigest()[:16] in script.readline(), "run `npm ci && npm run build` in widgets/frontend"


@pytest.fixture(scope="module")
def playground(context, site):
    """Return the page after Python has loaded."""
    page = context.new_page()
    page.goto(f"{site}/playground/index.html")
    page.wait_for_selector("html[data-shown]")
    assert page.locator(".mt-node").count() == 3  # This picture appears before Python has loaded.
    yield page
    page.close()


def run_program(page):
    page.click("#run")
    page.wait_for_function("document.documentElement.dataset.running === 'false'", timeout=PATIENCE)
    return page.inner_text("#output")


class TestInBrowser:
    pytestmark = in_browser

    def test_a_missing_gradient_is_explained_and_fixed(self, playground):
        playground.select_option("#examples", "5")
        assert run_program(playground).strip() == "None"
        playground.click("#why button")
        playground.wait_for_function("document.querySelector('#output').innerText.includes('6.0')")
        playground.wait_for_function("document.querySelector('#picture').innerText.includes('backward 1')")
        assert "    tape.watch(x)\n    y = x * x" in playground.inner_text(".cm-content")

    def test_in_chinese_page_reasons_and_fixes_are_chinese_and_a_link_leads_to_the_other_page(
        self, playground, context
    ):
        other = context.new_page()
        other.goto(playground.url.split("#")[0].replace("index.html", "zh.html"))
        other.wait_for_selector("html[data-shown]")
        seen = "els => els.map(el => el.innerText || el.ariaLabel)"
        said = other.locator("#run, #stop, #share, #title, #examples option").evaluate_all(seen)
        assert len(said) > 15 and all(re.search("[\u4e00-\u9fff]", text) for text in [*said, other.title()])
        other.select_option("#examples", "5")
        assert run_program(other).strip() == "None"
        assert "改好代码第 7 行" in other.inner_text("#why button") and "没有监视它" in other.inner_text("#why")
        other.click("#share")
        other.wait_for_function("location.hash.startsWith('#p=')")
        other.click("#languages a")
        other.wait_for_function("document.querySelector('#state')?.innerText.includes('press Run')")
        assert "tf.constant(3.0)" in other.inner_text(".cm-content")
        other.close()

    def test_an_endless_loop_is_stopped_and_the_next_program_runs(self, playground):
        playground.click(".cm-content")
        playground.keyboard.press("Control+a")
        playground.keyboard.type("while True: pass")
        playground.keyboard.press("Shift+Enter")
        playground.wait_for_timeout(500)
        assert playground.is_disabled("#run") and playground.input_value("#examples") == "-1"
        playground.click("#stop")
        playground.wait_for_function("document.querySelector('#output').innerText.includes('(stopped)')")
        playground.select_option("#examples", "0")
        assert run_program(playground).startswith("0.07")

    def test_a_link_brings_the_program_and_runs_nothing(self, playground, context):
        playground.select_option("#examples", "4")
        playground.click("#share")
        playground.wait_for_function("location.hash.startsWith('#p=')")
        other = context.new_page()
        other.goto(playground.url)
        other.wait_for_selector("html[data-shown]")
        assert "Newton" in other.inner_text(".cm-content") and "press Run" in other.inner_text("#state")
        assert other.inner_text("#output") == "" and not other.locator(".mt-view").count()
        other.goto("about:blank")
        other.goto(playground.url.split("#")[0] + "#p=!!!")
        other.wait_for_selector("html[data-shown]")
        assert "damaged" in other.inner_text(".cm-content")
        bomb = zlib.compress(bytes(300_000_000), 9, -zlib.MAX_WBITS)
        fragment = base64.urlsafe_b64encode(bomb).decode().rstrip("=")
        other.evaluate("letters => location.hash = `p=${letters}`", fragment)
        other.wait_for_function("document.querySelector('.cm-content').innerText.includes('too long')")
        other.close()

    def test_a_frame_that_follows_its_height_does_not_grow_with_it(self, playground, context):
        other = context.new_page()
        other.set_content(f"""<iframe width="700" height="400" src="{playground.url.split("#")[0]}"></iframe><script>
            addEventListener("message", ({{ data }}) => document.querySelector("iframe").height = data.tapeview)
        </script>""")
        other.frame_locator("iframe").locator(".mt-view").wait_for()
        other.evaluate("""() => new Promise((done) => {
            const next = (more) => (more ? requestAnimationFrame(() => next(more - 1)) : done());
            next(30);
        })""")
        assert 600 < int(other.get_attribute("iframe", "height")) < 1600
        other.close()

    def test_a_hostile_program_is_text_until_it_runs_and_then_reaches_no_other_site(self, playground):
        playground.evaluate("location.hash = ''")
        playground.click(".cm-content")
        playground.keyboard.press("Control+a")
        playground.keyboard.insert_text(HOSTILE)
        playground.click("#share")
        playground.wait_for_function("location.hash.startsWith('#p=')")
        playground.reload()
        playground.wait_for_selector("html[data-shown]")
        assert "onerror" in playground.inner_text(".cm-content") and playground.inner_text("#output") == ""
        said = run_program(playground)  # An outgoing request would fail the test when the browser closes.
        assert "<img src=x" in said and "[]" in said
        assert playground.title() == "minitape: a playground for gradients"
