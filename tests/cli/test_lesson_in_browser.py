"""Lesson 1 as a newcomer meets it: `minitape lab`, a browser, Run All Cells."""

import re
import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from minitape.cli.new_lesson import write_lesson_skeleton

from .test_predictions import LESSONS, QUESTION

pytestmark = pytest.mark.browser
LONG = 300_000
TWO_NODES_IN_VIEW = """scene => {
    const pane = scene.getBoundingClientRect();
    return [...scene.querySelectorAll(".mt-node")].filter(node => {
        const box = node.getBoundingClientRect();
        const across = box.right > pane.left && box.left < pane.right;
        return box.width && across && box.bottom > pane.top && box.top < pane.bottom;
    }).length >= 2;
}"""


def wait_for_kernel(page):
    """Wait until a lesson is open and its kernel is idle."""
    page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=LONG)
    expect(page.get_by_text(re.compile(r"Python 3 \(ipykernel\) \| Idle"))).to_be_visible(timeout=LONG)
    return page


def run_lesson(page):
    """Run all cells in the fresh kernel."""
    page.get_by_text("Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    expect(page.locator(".jp-Notebook")).to_contain_text(re.compile(r"Lesson 01: .* of 5 solved"), timeout=LONG)
    expect(page.get_by_text(re.compile(r"Python 3 \(ipykernel\) \| Idle"))).to_be_visible(timeout=LONG)
    return page


@pytest.fixture(scope="module")
def server(start_lab, tmp_path_factory):
    """Return the folder and the address of a server for all tests, so that JupyterLab is loaded only once."""
    folder = tmp_path_factory.mktemp("lessons")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINITAPE_PROGRESS", str(folder / "progress.json"))
        return folder, start_lab(folder)


def open_fresh_lesson(page, server, name):
    """Open a copy of lesson 1 for a learner without answers, and wait for its kernel."""
    folder, address = server
    shutil.copy(folder / "01_the_first_tape.ipynb", folder / f"{name}.ipynb")
    (folder / "progress.json").unlink(missing_ok=True)
    page.goto(address.replace("/tree/00-course-map", f"/workspaces/{name}/tree/{name}"))
    return wait_for_kernel(page)


@pytest.fixture(scope="module")
def unread(new_page, server):
    """Return a fresh page. The first test that uses it needs it unchanged, and the last test leaves it."""
    return open_fresh_lesson(new_page(), server, "unread")


@pytest.fixture(scope="module")
def opened(new_page, server):
    """Return a fresh page for two tests that run the cells from the first one on."""
    return open_fresh_lesson(new_page(), server, "opened")


@pytest.fixture(scope="module")
def kept(new_page, server):
    """Return a page on which all cells were run.

    The tests that use it do not change the pictures or each other's cells. Only the last test restarts the kernel.
    """
    return run_lesson(open_fresh_lesson(new_page(), server, "kept"))


def find_code_cell(page, text):
    """Scroll to the code cell whose source contains this text, and return the cell."""
    found = page.locator(".jp-CodeCell").filter(has=page.locator(".jp-InputArea", has_text=text)).first
    found.scroll_into_view_if_needed()
    return found


def find_first_question(page):
    """Return the cell with the first prediction, whose code is hidden. It precedes the cell that reveals the answer."""
    return find_code_cell(page, 'reveal("01.p1"').locator(
        "xpath=preceding-sibling::div[contains(@class, 'jp-CodeCell')][1]"
    )


def scroll_to_top(page):
    page.locator(".jp-WindowedPanel-outer").first.evaluate("panel => panel.scrollTo(0, 0)")


@pytest.mark.long
def test_a_lesson_that_was_only_opened_counts_as_saved(unread):
    # The debugger's button comes when the kernel has said what its language is.
    unread.locator(".jp-DebuggerBugButton").wait_for(timeout=LONG)
    expect(unread.locator(".jp-mod-dirty")).to_have_count(0)
    expect(unread.locator(".jp-OutputArea-output")).to_have_count(0)


@pytest.mark.long
def test_a_skeleton_that_was_only_opened_counts_as_saved(page, server):
    folder, address = server
    write_lesson_skeleton(str(folder / "90_mine"), None)
    page.goto(address.replace("00-course-map", "90_mine"))
    page.locator(".jp-DebuggerBugButton").wait_for(timeout=LONG)
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)


@pytest.mark.long
def test_who_goes_on_in_the_middle_of_a_lesson_is_told_what_to_run(unread):
    middle = find_code_cell(unread, "TapeView(g)")
    middle.locator(".cm-content").click()
    unread.keyboard.press("Control+Enter")
    expect(middle).to_contain_text("name 'TapeView' is not defined", timeout=LONG)
    expect(middle).to_contain_text("run that cell first: menu Run, Run All Above Selected Cell.")


@pytest.mark.long
def test_a_fresh_lesson_shows_questions_and_no_answers(unread):
    scroll_to_top(unread)
    find_code_cell(unread, "import minitape as tf").locator(".cm-content").click()
    unread.keyboard.press("Control+Enter")
    question = find_first_question(unread)
    question.locator(".jp-InputPrompt").click()
    unread.keyboard.press("Control+Enter")
    expect(question).to_contain_text("What does the next cell print for the gradient of y", timeout=LONG)
    question.get_by_role("button", name="9.0").click()
    expect(question).to_contain_text("You say 9.0. Let's find out: press Shift+Enter twice.", timeout=LONG)
    expect(unread.locator(".jp-Notebook")).not_to_contain_text("The answer:")
    unread.keyboard.press("Escape")
    reveal = find_code_cell(unread, 'reveal("01.p1"')
    reveal.locator(".cm-content").click()
    unread.keyboard.press("Control+Enter")
    expect(reveal).to_contain_text("You predicted 9.0. The answer: 6.0", timeout=LONG)
    expect(reveal.get_by_role("link", name="shape")).to_be_visible()


def click_glossary_word(page):
    """Click the word "tape" in the lesson, and return its heading in the glossary."""
    scroll_to_top(page)
    page.get_by_role("link", name="tape", exact=True).first.click()
    heading = re.compile(r"^Tape\W*$")  # JupyterLab adds ¶ while the mouse is over it.
    return page.locator(".jp-Notebook:visible").get_by_role("heading", name=heading)


@pytest.mark.long
def test_a_click_on_a_word_opens_the_glossary_there(unread):
    try:
        expect(click_glossary_word(unread)).to_be_in_viewport(timeout=60_000)
    except AssertionError:
        # On a busy machine JupyterLab sometimes scrolls before the cells above have their height.
        # A reader who clicks once more gets there.
        unread.get_by_role("tab", name="unread.ipynb").click()
        expect(click_glossary_word(unread)).to_be_in_viewport(timeout=LONG)


@pytest.mark.long
def test_a_picture_moves_by_its_slider_and_plays(kept):
    lesson = kept
    scroll_to_top(lesson)
    moving = lesson.locator(".minitape-moving").first
    moving.scroll_into_view_if_needed()
    image, slider = moving.locator("img"), moving.get_by_role("slider")
    expect(image).to_have_attribute("alt", re.compile("ball at x = -0.20 after 0 steps"))
    slider.press("ArrowRight")
    expect(image).to_have_attribute("alt", re.compile("after 1 steps"))
    expect(moving.locator("output")).to_have_text("step = 1")
    moving.get_by_role("button", name="Play").click()
    expect(moving.locator("output")).to_have_text("step = 18", timeout=LONG)
    expect(image).to_have_attribute("alt", re.compile("after 18 steps"))
    expect(moving.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.long
def test_every_picture_shows_its_nodes_also_when_it_was_made_out_of_sight(kept):
    pictures = kept.locator(".jp-OutputArea .mt-scene")
    assert pictures.count() == 6
    for picture in pictures.element_handles():
        picture.evaluate("scene => scene.scrollIntoView({block: 'center'})")
        kept.wait_for_function(TWO_NODES_IN_VIEW, arg=picture, timeout=300_000)


READABLE = """question => {
    let cell = question.closest(".jp-Cell").nextElementSibling;
    const seen = [];
    while ((cell = cell?.nextElementSibling) && cell.getBoundingClientRect().top < innerHeight) {
        if (cell.querySelector(".minitape-choices")) break;
        if (!getComputedStyle(cell).filter.includes("blur")) seen.push(cell.innerText);
    }
    return seen;
}"""


@pytest.mark.long
def test_nothing_after_an_open_question_can_be_read(kept):
    check_nothing_readable_after(kept, LESSONS[0])


@pytest.mark.longest
@pytest.mark.parametrize("path", LESSONS[1:], ids=lambda path: path.stem)
def test_the_same_holds_for_each_lesson(path, page, server):
    folder, address = server
    (folder / "progress.json").unlink(missing_ok=True)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(address.replace("/tree/00-course-map", f"/workspaces/{path.stem}/tree/{path.stem}"))
    wait_for_kernel(page)
    page.get_by_text("Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.get_by_text(re.compile(r"Python 3 \(ipykernel\) \| Busy")).wait_for(timeout=LONG)
    page.get_by_text(re.compile(r"Python 3 \(ipykernel\) \| Idle")).wait_for(timeout=LONG)
    check_nothing_readable_after(page, path)
    question = page.locator(".minitape-open").last
    question.locator("button").first.click()
    page.wait_for_function("() => document.querySelectorAll('.minitape-choices:not(.minitape-open)').length > 0")


def check_nothing_readable_after(page, path):
    """Check a lesson that was run without an answer: all cells after an open question must be unreadable."""
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


@pytest.mark.long
def test_lesson_1_runs_and_its_exercises_answer(kept):
    lesson = kept
    mime = "application/vnd.jupyter"
    assert lesson.locator(f".jp-OutputArea-output[data-mime-type='{mime}.stderr']").count() == 0
    assert lesson.locator(f".jp-OutputArea-output[data-mime-type='{mime}.error']").count() == 0

    scroll_to_top(lesson)
    question, reveal = find_first_question(lesson), find_code_cell(lesson, 'reveal("01.p1"')
    expect(reveal).to_contain_text("Pick an answer above to see the explanation here.")
    expect(reveal.get_by_text("The answer:")).not_to_be_visible()
    question.get_by_role("button", name="6.0").click()
    expect(question).to_contain_text("You predicted 6.0.")
    expect(reveal).to_contain_text("You said 6.0, and that's right.")  # It appears without running the cell again.

    exercise = find_code_cell(lesson, 'check("01.1"')
    exercise.locator(".cm-content").click()
    lesson.keyboard.press("ControlOrMeta+a")
    lesson.keyboard.type('check("01.1", 8.0)')
    lesson.keyboard.press("Control+Enter")
    expect(exercise).to_contain_text("8 is y itself. (It's also 4 + 4")
    exercise.locator(".cm-content").click()
    lesson.keyboard.press("ControlOrMeta+a")
    lesson.keyboard.type('check("01.1", 12.0)')
    lesson.keyboard.press("Control+Enter")
    expect(exercise).to_contain_text("Exercise 01.1: correct.")


BROKEN = """() => [...document.querySelectorAll(".jupyter-widgets-disconnected")].filter(
    part => getComputedStyle(part, "::before").content !== "none"
).map(part => part.className)"""


@pytest.mark.long
def test_after_a_restart_nothing_looks_broken_and_after_another_load_neither(kept):
    lesson = kept
    scroll_to_top(lesson)
    question = find_first_question(lesson)
    question.get_by_role("button", name="6.0").click()
    expect(question).to_contain_text("You predicted 6.0.")
    lesson.get_by_role("menuitem", name="Kernel").click()
    lesson.get_by_text("Restart Kernel…").click()
    with lesson.expect_response(re.compile("/api/kernels/.*/restart")):
        lesson.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(question).to_contain_text("The kernel was restarted. To choose, run this cell again.", timeout=LONG)
    for button in question.get_by_role("group").get_by_role("button").all():
        expect(button).to_be_disabled()
    assert lesson.evaluate(BROKEN) == []
    for place in (
        find_code_cell(lesson, "import minitape as tf").locator(".cm-content"),
        question.locator(".jp-InputPrompt").first,
    ):
        place.click()
        lesson.keyboard.press("Control+Enter")
    expect(question).to_contain_text("Last time, you predicted: 6.0. What do you predict today?", timeout=LONG)
    expect(question.get_by_role("button", pressed=True)).to_have_count(0)

    lesson.keyboard.press("ControlOrMeta+s")
    expect(lesson.locator(".jp-mod-dirty")).to_have_count(0)
    lesson.reload()
    picture = find_code_cell(lesson, "TapeView(g)").locator("img[src^='data:image/svg']")
    picture.wait_for(timeout=LONG)
    expect(lesson.locator(".jp-Notebook")).not_to_contain_text("model not found")
    assert lesson.locator(".mt-view").count() == 0


@pytest.mark.long
def test_the_first_picture_is_seen_whole_and_a_reload_shows_the_cell_where_one_was(opened):
    opened.locator(".jp-Notebook .jp-Cell").first.click()
    for executed in (0, 1, 1, 2):
        opened.keyboard.press("Shift+Enter")
        if executed:
            opened.get_by_text(f"[{executed}]:", exact=True).wait_for(timeout=LONG)
    for part in ("img", "button"):
        expect(opened.locator(f".minitape-moving {part}").first).to_be_in_viewport(ratio=1, timeout=LONG)
    chosen = opened.locator(".jp-Notebook .jp-Cell.jp-mod-active")
    expect(chosen).to_contain_text("It comes to rest where the ground is flat")
    opened.reload()
    expect(chosen).to_contain_text("It comes to rest where the ground is flat", timeout=LONG)
    expect(chosen).to_be_in_viewport(timeout=LONG)


@pytest.mark.long
def test_on_a_small_screen_shift_enter_shows_the_graph_and_not_the_lower_half_of_the_view(opened):
    opened.set_viewport_size({"width": 1366, "height": 648})  # This fits a 1366 x 768 laptop.
    scroll_to_top(opened)
    opened.locator(".jp-Notebook .jp-Cell").first.click()
    for _ in range(30):
        opened.keyboard.press("Shift+Enter")
        if "TapeView(g)" in (opened.locator(".jp-Cell.jp-mod-active").text_content() or ""):
            break
        opened.wait_for_timeout(100)
    opened.keyboard.press("Shift+Enter")
    nodes = opened.locator(".mt-view").first.locator(".mt-node")
    nodes.first.wait_for(timeout=LONG)
    opened.wait_for_timeout(1500)  # JupyterLab scrolls in this time.
    for node in (nodes.first, nodes.last):
        expect(node).to_be_in_viewport(ratio=1)
    expect(opened.locator(".jp-Cell.jp-mod-active")).to_contain_text("There are just two rows")


WRONG = """\
import minitape as tf
from minitape.course import check
from minitape_widgets import TapeView

def derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x) * x
    return tape.gradient(y, x)

check("01.2", derivative)"""


@pytest.mark.long
def test_a_wrong_program_is_opened_beside_the_solution(page, server):
    folder, address = server
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(WRONG)], metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / "91_wrong.ipynb")
    page.goto(address.replace("/tree/00-course-map", "/workspaces/wrong/tree/91_wrong"))
    wait_for_kernel(page)
    find_code_cell(page, "import minitape as tf").locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    output = page.locator(".jp-OutputArea").first
    expect(output).to_contain_text(
        "Your tape and the solution's differ at the line y = f(x) * x",
        timeout=LONG,
    )
    expect(page.locator(".mt-view")).to_have_count(0)
    output.get_by_text("Your tape next to the solution's tape").click()
    output.get_by_text("Both tapes, step by step").click()
    expect(page.locator(".mt-view")).to_have_count(2, timeout=LONG)
    expect(page.locator(".mt-view .mt-differs").first).to_be_attached(timeout=LONG)
