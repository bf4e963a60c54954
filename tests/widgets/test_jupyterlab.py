"""The view in a real JupyterLab: it grows while its cell runs, steps, survives a reload, goes away quietly."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from minitape.cli.save import run_and_save_notebook
from tests.jupyterlab_page import Notebook, read_box, wait_for_frame, write_notebook

pytestmark = pytest.mark.browser

IMPORTS = (
    "import time\nimport minitape as tf\nfrom minitape_widgets import TapeView\nfrom IPython.display import display\n"
)
SESSIONS = re.compile(r".*/api/sessions(\?.*)?$")  # the server's notebooks with their kernels, and how to add one
# ipywidgets, of a notebook whose kernel failed to start, or that is closed at once
NO_SESSION = "Cannot read properties of null (reading 'kernel')"
SHOW = IMPORTS + 'x = tf.Variable(2.0, name="x")\ntape = tf.GradientTape()\nview = TapeView(tape)\nview'
GROW = """with tape:
    y = x * x
    for _ in range(12):
        time.sleep(0.12)
        y = tf.sin(y) + x
g = tape.gradient(y, x)
print("gradient", g.numpy())"""


def shown(number):
    """A number as the picture shows it: rounded to four digits."""
    return float(f"{float(number):.4g}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="module")
def address(start_lab: Any, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server whose page hands out its application, which opens a notebook where a test needs no page of its own."""
    settings = tmp_path_factory.mktemp("settings") / "jupyter_server_config.json"
    settings.write_text('{"LabApp": {"expose_app_in_browser": true}}')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_CONFIG_PATH", str(settings.parent))
        yield start_lab(folder)


class Views(Notebook):
    """A notebook with views."""

    def open_and_run_early(self, cell: int) -> None:
        """Opens it and runs a cell, while the server is slow with the answer after which JupyterLab looks for the
        kernel.
        """
        waiting: list[Any] = []
        over: list[bool] = []
        self.page.route(re.compile(r".*/checkpoints(\?.*)?$"), lambda r: r.continue_() if over else waiting.append(r))
        self.page.goto(self.url)
        while not waiting:
            self.page.wait_for_timeout(20)
        self.start_cell(cell)
        self.page.wait_for_timeout(300)  # what JupyterLab does too early is done by now
        over.append(True)
        for route in waiting:
            route.continue_()

    def shows(self, rows: str) -> None:
        """Waits until a view says how many rows it shows."""
        self.wait_until(f"[...document.querySelectorAll('.mt-name')].some(e => e.textContent === '{rows}')")

    def name(self) -> str:
        return self.page.locator(".mt-name").first.inner_text()

    def count(self) -> str:
        wait_for_frame(self.page)
        return self.page.locator(".mt-count").first.inner_text()


CLOSE = """async () => {
    const tab = jupyterapp.shell.currentWidget;
    await tab.context.sessionContext.shutdown();
    tab.dispose();
}"""


class Tab(Views):
    """Such a notebook in a page that was there before."""

    def open_page(self) -> None:
        self.page.evaluate("async path => { await jupyterapp.commands.execute('docmanager:open', {path}); }", self.file)
        self.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=300_000)

    def close(self) -> None:
        self.page.evaluate(CLOSE)


@pytest.fixture(scope="module")
def lab_page(new_page: Any, address: str) -> Any:
    """JupyterLab, loaded once for several tests."""
    page = new_page()
    page.goto(address.replace("/lab", "/lab/workspaces/tabs", 1))
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=300_000)
    page.evaluate(CLOSE)
    return page


@pytest.fixture
def tab(lab_page: Any, address: str, folder: Path, request: pytest.FixtureRequest) -> Any:
    """For tests that need no page of their own."""
    opened: list[Tab] = []

    def make(*cells: str) -> Tab:
        write_notebook(folder / f"{request.node.name}.ipynb", *cells)
        opened.append(Tab(lab_page, address, request.node.name))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
        assert {*one.errors} <= {NO_SESSION}, one.errors  # it may be of the notebook before, in the same page
        assert not one.page.locator("dialog.jp-Dialog").all_inner_texts()


@pytest.fixture
def notebook(page: Any, address: str, folder: Path, request: pytest.FixtureRequest) -> Any:
    opened: list[Views] = []

    def make(*cells: str, **how: bool) -> Views:
        name = request.node.name.replace("[", "-").rstrip("]")
        write_notebook(folder / f"{name}.ipynb", *cells)
        opened.append(Views(page, address, name, **how))
        return opened[-1]

    yield make
    for one in opened:
        assert not one.errors, one.errors
        assert not one.page.locator("dialog.jp-Dialog").all_inner_texts()


def test_it_grows_while_the_cell_runs_and_steps_with_the_arrow_keys(tab):
    book = tab(SHOW, GROW)
    book.run_cell(0)
    book.wait_until("document.querySelector('.mt-view')")
    empty = read_box(book.page.locator(".mt-view"))["height"]
    assert empty < 580  # it fits below the cell that records, in a window of 900 pixels
    book.start_cell(1)
    seen: list[str] = []
    while not seen or seen[-1] != "26 rows":
        assert len(seen) < 400
        if (name := book.name()) not in seen[-1:]:
            seen.append(name)
        book.page.wait_for_timeout(20)
    assert len(seen) > 6, seen
    # more rows want more room, and fit into the window; the output is drawn anew when the cell has ended
    height = "(document.querySelector('.mt-view')?.getBoundingClientRect().height ?? 0)"
    book.wait_until(f"{empty} < {height} && {height} < 860")
    book.wait_until("document.querySelector('.mt-slider').max > 26")
    gradient = book.read_output(1).split()[1]
    book.page.locator(".mt-view").focus()
    book.page.keyboard.press("Home")
    assert book.count() == "forward 0 / 26"
    book.page.keyboard.press("ArrowRight")
    assert book.count() == "forward 1 / 26"
    book.page.keyboard.press("End")
    book.wait_until("document.querySelector('.mt-lines [data-row=\"0\"] .mt-c-adjoint')?.textContent")
    assert float(book.page.locator(".mt-lines [data-row='0'] .mt-c-adjoint").inner_text()) == pytest.approx(
        float(gradient), rel=5e-4
    )
    assert book.page.locator(".mt-view:focus").count() == 1  # JupyterLab's own shortcuts did not take the keys


@pytest.mark.long
def test_a_page_that_was_too_slow_for_anywidget_still_hears_the_kernel(notebook, page):
    page.add_init_script(
        "const timeout = AbortSignal.timeout.bind(AbortSignal); AbortSignal.timeout = () => timeout(0)"
    )
    question = 'from minitape.course import predict\npredict("slow.p1", "Which?", ["this", "that"])'
    book = notebook(IMPORTS + question, SHOW, GROW)
    for cell in (0, 1, 2):
        book.run_cell(cell)
    page.get_by_role("button", name="that").click()
    page.get_by_text("You say that. Let's find out: press Shift+Enter twice.").wait_for()
    book.shows("26 rows")


@pytest.mark.long
def test_stepping_needs_no_kernel_and_a_reload_brings_the_view_back(notebook):
    book = notebook(SHOW, GROW)
    book.run_cell(0)
    book.run_cell(1)
    book.shows("26 rows")
    book.wait_until("document.querySelector('.mt-slider').max > 26")
    book.page.locator(".mt-view").focus()
    book.page.keyboard.press("Control+s")  # the view takes the keys, but not this one
    book.wait_until("!document.querySelector('.jp-mod-dirty')")
    book.open_page()
    book.shows("26 rows")
    book.page.locator(".mt-view").focus()
    book.page.keyboard.press("End")
    assert book.count().startswith("backward")


def started(page: Any) -> list[str]:
    """The kernels that a page asks for from now on."""
    asked: list[str] = []
    page.on("request", lambda r: asked.append(r.post_data) if r.method == "POST" and SESSIONS.match(r.url) else None)
    return asked


@pytest.mark.long
def test_a_cell_that_is_run_before_the_kernel_is_found_waits_for_it(notebook, page):
    book = notebook(SHOW, "print('x is', x.numpy())")
    book.run_cell(0)
    kernels = started(page)
    book.open_and_run_early(1)
    book.wait_until(
        "document.body.textContent.includes('x is 2.0')"
    )  # JupyterLab alone starts another kernel, and ends this one
    assert not kernels


@pytest.mark.long
def test_a_cell_that_is_run_while_a_new_notebook_loads_starts_one_kernel(notebook, page):
    book = notebook(SHOW, opens=False)
    kernels = started(page)
    book.open_and_run_early(0)
    book.shows("0 rows")
    assert len(kernels) == 1


@pytest.mark.long
def test_the_picture_comes_also_where_the_first_start_of_a_kernel_failed(notebook, page):
    book = notebook(SHOW, opens=False)

    failed: list[Any] = []

    def fail(route: Any) -> None:
        if route.request.method == "POST" and not failed:
            failed.append(route)
            route.fulfill(status=500, body='{"message": "too busy"}')
        else:
            route.continue_()

    page.route(SESSIONS, fail)
    page.goto(book.url)
    page.get_by_text("too busy").wait_for()
    page.locator("dialog.jp-Dialog button.jp-mod-accept").click()  # "Ok"; then JupyterLab asks for a kernel
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']")
    book.run_cell(0)
    book.shows("0 rows")
    assert NO_SESSION in book.errors  # what it did not do is made good
    book.errors.clear()


@pytest.mark.long
def test_a_closed_view_and_a_restarted_kernel_leave_no_error(tab):
    book = tab(
        SHOW, GROW, "view.close()\nwith tf.GradientTape() as t2:\n    v2 = TapeView(t2)\n    display(v2)\n    z = x * x"
    )
    book.run_cell(0)
    book.run_cell(1)
    book.shows("26 rows")
    book.run_cell(2)
    book.shows("2 rows")
    book.page.get_by_role("menuitem", name="Kernel").click()
    book.page.get_by_text("Restart Kernel…").click()
    book.page.get_by_role("button", name="Confirm Kernel Restart").click()
    book.page.wait_for_timeout(4000)  # longer than a restart, and a view before it asks whether it has everything
    book.page.locator(".mt-view").last.focus()
    book.page.keyboard.press("Home")
    book.run_cell(0)
    book.shows("0 rows")


@pytest.mark.long
def test_a_slider_runs_the_function_again(tab):
    cell = IMPORTS + 'x = tf.Variable(3.0, name="x")\nTapeView.interact(lambda: x * x, x, -5, 5, 0.5)'
    book = tab(cell)
    book.run_cell(0)
    slider = book.page.get_by_role("slider", name="x")
    slider.wait_for()
    node = book.page.locator(".mt-node[data-id=r1]")
    before = node.get_attribute("transform")
    slider.fill("-2.5")
    book.wait_until("document.querySelector('.mt-node[data-id=r1] .mt-value').textContent === '6.25'")
    book.page.locator(".mt-view").focus()
    book.page.keyboard.press("End")
    wait_for_frame(book.page)
    assert "∂ -5.0" in book.page.locator(".mt-node[data-id=r0]").text_content()
    assert node.get_attribute("transform") == before


@pytest.mark.long
def test_paths_ask_the_engine_why_no_gradient_flows(tab):
    cell = (
        IMPORTS + 'w = tf.Variable(2.0, name="w")\nwith tf.GradientTape() as tape:\n'
        "    y = tf.stop_gradient(w) * 2.0\nTapeView(tape, y, w)"
    )
    book = tab(cell, "e = tape.explain(y, w)\nprint(e.message, e.fix)")
    book.run_cell(0)
    book.run_cell(1)
    book.wait_until("document.querySelector('.mt-view')")
    book.page.locator(".mt-view").focus()
    book.page.keyboard.press("p")
    said = book.read_output(1).strip()
    book.page.locator(".mt-pathtext p").nth(1).wait_for()
    assert book.page.locator(".mt-pathtext p").nth(1).text_content() == said


@pytest.mark.long
def test_twenty_views_share_one_bundle(notebook):
    cell = IMPORTS + "x = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = x * x"
    book = notebook(cell, "display(*[TapeView(tape) for _ in range(20)])")
    book.run_cell(0)
    book.run_cell(1)
    book.wait_until("document.querySelectorAll('.mt-view .mt-node').length === 40")
    assert book.page.evaluate("Object.keys(globalThis.__minitape_engines).length") == 1
    assert book.page.evaluate("document.querySelectorAll('style[data-minitape]').length") == 1


LOSE = """send = view.send
lost = []
def sometimes(content, buffers=None):
    if content["kind"] == "rows" and len(lost) < 40 and content["sequence"] % 3 != 1:
        lost.append(content)
    else:
        send(content, buffers)
view.send = sometimes"""


@pytest.mark.long
def test_messages_that_the_server_drops_are_asked_for_again(tab):
    book = tab(SHOW + "\n", LOSE + "\n" + GROW + "\nprint('lost', len(lost) > 2)")
    book.run_cell(0)
    book.wait_until("document.querySelector('.mt-view')")
    book.run_cell(1)
    assert "lost True" in book.read_output(1)
    book.shows("26 rows")
    book.wait_until("document.querySelector('.mt-slider').max > 26")


@pytest.mark.long
def test_nothing_is_dropped_of_a_long_recording(tab):
    cell = IMPORTS + "tape = tf.GradientTape()\nview = TapeView(tape)\nview"
    run = (
        "x = tf.Variable(1.0)\nw = tf.Variable(0.999)\nwith tape:\n    y = x * w\n"
        "    for _ in range(10000): y = y * w + x\nprint(y.numpy())"
    )
    book = tab(cell, run)
    book.run_cell(0)
    book.wait_until("document.querySelector('.mt-view')")
    book.run_cell(1)
    book.shows("20,003 rows")
    book.page.locator(".mt-view").focus()
    book.page.keyboard.press("End")
    book.page.wait_for_selector(".mt-lines [data-row='20002']")
    last = book.page.locator(".mt-lines [data-row='20002'] .mt-c-value").inner_text()
    assert float(last) == shown(book.read_output(1))


@pytest.mark.long
def test_a_long_sweep_is_stepped_into_page_by_page(tab):
    run = (
        'x = tf.Variable(1.0, name="x")\nw = tf.Variable(0.9999, name="w")\nwith tf.GradientTape() as tape:\n'
        "    y = x * w\n    for _ in range(15000): y = y * w + x\nprint(tape.gradient(y, w).numpy())\nTapeView(tape)"
    )
    book = tab(IMPORTS + run)
    book.run_cell(0)
    book.shows("30,003 rows")
    book.page.locator(".mt-view").focus()
    book.page.keyboard.press("End")  # to the end of the rows; the steps behind it are computed now
    book.wait_until("document.querySelector('.mt-count').textContent === 'backward 30001 / 30001'")
    gradient = book.page.locator(".jp-OutputArea-output").first.inner_text()
    book.wait_until(
        "Number(document.querySelector('.mt-lines [data-row=\"1\"] .mt-c-adjoint').textContent) === "
        f"{shown(gradient)!r}"
    )
    book.page.keyboard.press("ArrowLeft")
    assert book.count() == "backward 30000 / 30001"


@pytest.mark.long
def test_without_subshells_and_in_the_dark_theme_it_works_the_same(page, start_lab, tmp_path, monkeypatch):
    settings = tmp_path / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "kernels-settings.jupyterlab-settings").write_text(json.dumps({"commsOverSubshells": "disabled"}))
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": "JupyterLab Dark"}))
    monkeypatch.setenv("JUPYTERLAB_SETTINGS_DIR", str(tmp_path / "settings"))
    folder = tmp_path / "work"
    folder.mkdir()
    write_notebook(folder / "plain.ipynb", SHOW, GROW)
    book = Views(page, start_lab(folder), "plain")
    book.run_cell(0)
    book.wait_until("document.querySelector('.mt-view')")
    book.run_cell(1)
    book.shows("26 rows")
    assert "mt-dark" in page.locator(".mt-view").get_attribute("class")
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")  # what JupyterLab does when the theme is changed
    book.wait_until("!document.querySelector('.mt-view').classList.contains('mt-dark')")
    assert not book.errors


SAVED = """import minitape as tf
from minitape_widgets import TapeView
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
TapeView(tape)"""


@pytest.fixture(scope="module")
def saved(folder: Path) -> Path:
    """A notebook as lessons are saved: run, its widgets taken out, the pictures left."""
    write_notebook(folder / "saved.ipynb", SAVED)
    run_and_save_notebook(folder / "saved.ipynb")
    return folder / "saved.ipynb"


def test_a_saved_notebook_keeps_an_image_and_no_widget(saved):
    text = saved.read_text(encoding="utf-8")
    assert "widget-view" not in text and "widget-state" not in text
    (output,) = json.loads(text)["cells"][0]["outputs"]
    html = "".join(output["data"]["text/html"])
    assert html.startswith('<img src="data:image/svg+xml;base64,') and "Tape of 2 rows" in html
    assert "".join(output["data"]["text/plain"]) == "TapeView(2 rows, 1 tape)"


def test_nbconvert_shows_the_picture(saved, page):
    from nbconvert import HTMLExporter

    text, _ = HTMLExporter().from_filename(str(saved))
    body = re.sub(r"<script\b.*?</script>", "", text, flags=re.DOTALL)  # the page would fetch scripts from elsewhere
    page.set_content(body)
    assert (
        page.locator(".jp-OutputArea-output img[alt^='Tape of 2 rows']").evaluate(
            "img => img.decode().then(() => img.naturalWidth)"
        )
        > 200
    )


@pytest.mark.long
def test_an_untrusted_jupyterlab_shows_the_picture(saved, page, address):
    base, token = address.split("/lab")[0], address.split("token=")[1]
    page.goto(f"{base}/lab/workspaces/saved/tree/saved.ipynb?token={token}")
    image = page.locator(".jp-OutputArea-output img[alt^='Tape of 2 rows']")
    image.wait_for(timeout=300_000)
    assert image.evaluate("img => img.decode().then(() => img.naturalWidth)") > 200
